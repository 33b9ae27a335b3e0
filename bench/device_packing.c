#include "device_packing.h"
#include <stdlib.h>
#include <string.h>
#include "base/memory.h"
#include "context/matrix.h"
#include "stats.h"

enum { TRIALS = 5, ARRAYS = 3 };

/* -- The matrix ------------------------------------------------------------------------------------------ */

/* Its arrays on the device, as whoever made them there has them. */
typedef struct device_arrays {
    uint64_t at[ARRAYS]; /* row_ptr, col_idx, values */
} device_arrays;

static void free_arrays(gpu_device *gpu, device_arrays *arrays) {
    for (int i = 0; i < ARRAYS; i++) mc_device_free(gpu->device, arrays->at[i]);
}

static mc_status write_arrays(gpu_device *gpu, const mc_vsparse *a, const int32_t *row_ptr,
                              device_arrays *arrays, mc_diag *diag) {
    const struct {
        const void *data;
        size_t bytes;
    } of[ARRAYS] = {{row_ptr, (size_t)(a->row_blocks + 1) * sizeof *row_ptr},
                    {a->col_idx, (size_t)a->vectors * sizeof *a->col_idx},
                    {a->values, (size_t)mc_type_size(a->type, a->vectors * a->vec)}};
    mc_status status = MC_OK;
    for (int i = 0; i < ARRAYS && status == MC_OK; i++) {
        status = mc_device_alloc(gpu->device, of[i].bytes, &arrays->at[i], diag);
        if (status == MC_OK && of[i].bytes > 0)
            status = mc_device_write(gpu->device, arrays->at[i], of[i].data, of[i].bytes, diag);
    }
    return status;
}

static mc_status upload_arrays(gpu_device *gpu, const mc_vsparse *a, device_arrays *arrays, mc_diag *diag) {
    int32_t *row_ptr = mcrt_array(a->row_blocks + 1, sizeof *row_ptr);
    if (row_ptr == NULL) return mcrt_no_memory(diag, a->row_blocks, "row blocks");
    for (int64_t b = 0; b <= a->row_blocks; b++) row_ptr[b] = (int32_t)a->row_ptr[b];
    mc_status status = write_arrays(gpu, a, row_ptr, arrays, diag);
    free(row_ptr);
    return status;
}

/* The first trial loads kernels and takes memory, and does not count. The last one's matrix stays. */
static mc_status make_matrix(device_packing *kept, gpu_device *gpu, const mc_vsparse *a,
                             const device_arrays *arrays, mc_diag *diag) {
    const mc_device_matrix_config config = {.size = sizeof config,
                                            .type = a->type,
                                            .vec = a->vec,
                                            .rows = a->rows,
                                            .cols = a->cols,
                                            .row_ptr = arrays->at[0],
                                            .col_idx = arrays->at[1],
                                            .values = arrays->at[2]};
    double times[TRIALS + 1];
    mc_status status = MC_OK;
    for (int i = 0; i <= TRIALS && status == MC_OK; i++) {
        mc_matrix_destroy(kept->matrix);
        kept->matrix = NULL;
        double begin = timer_wall_us();
        status = mc_matrix_from_device(gpu->context, &config, NULL, &kept->matrix, diag);
        times[i] = timer_wall_us() - begin;
    }
    if (status == MC_OK) kept->matrix_us = box_of(times + 1, TRIALS).median;
    return status;
}

/* What is packed on the host alone has no need of a matrix there. */
static bool is_wanted(const variant_list *variants, const work *w) {
    if (w->a.source.span != 0 || w->a.vectors > INT32_MAX) return false;
    for (size_t i = 0; i < variants->packing_count; i++)
        if (matrix_packs_on_device(variants->packings[i])) return true;
    return false;
}

/* MC_CANNOT and MC_NOMEM: it is measured without. */
static mc_status without(mc_status status, mc_diag *diag) {
    if (status != MC_CANNOT && status != MC_NOMEM) return status;
    mc_diag_clear(diag);
    return MC_OK;
}

static mc_status open(device_packing *kept, gpu_device *gpu, const variant_list *variants, const work *w,
                      mc_diag *diag) {
    device_arrays arrays = {{0}};
    if (kept->of == w) return MC_OK;
    device_packing_forget(kept, gpu);
    kept->pack_us = calloc(variants->packing_count + 1, sizeof *kept->pack_us);
    if (kept->pack_us == NULL) return mc_fail(diag, MC_NOMEM, "out of memory");
    kept->of = w;
    for (size_t i = 0; i < variants->packing_count; i++) kept->pack_us[i] = -1;
    if (!is_wanted(variants, w)) return MC_OK;
    mc_status status = upload_arrays(gpu, &w->a, &arrays, diag);
    if (status == MC_OK) status = make_matrix(kept, gpu, &w->a, &arrays, diag);
    free_arrays(gpu, &arrays);
    return without(status, diag);
}

void device_packing_forget(device_packing *kept, gpu_device *gpu) {
    mc_matrix_destroy(kept->matrix);
    free(kept->pack_us);
    if (gpu->device != NULL) kept_empty(gpu);
    *kept = (device_packing){0};
}

/* -- Packing --------------------------------------------------------------------------------------------- */

static mc_status compare(gpu_device *gpu, const matrix_packing *got, const mc_packed *want, mc_diag *diag) {
    mc_status status = MC_OK;
    for (size_t i = 0; i < want->array_count && status == MC_OK; i++) {
        const mc_packed_array *array = &want->arrays[i], *other = &got->host.arrays[i];
        const size_t bytes = (size_t)mc_type_size(array->type, array->count);
        unsigned char *data = malloc(bytes + 1);
        if (data == NULL) return mc_fail(diag, MC_NOMEM, "out of memory");
        bool same = i < got->host.array_count && other->count == array->count && other->type == array->type;
        if (same && bytes > 0) status = mc_device_read(gpu->device, got->arrays[i], data, bytes, diag);
        same = same && memcmp(data, array->data, bytes) == 0;
        free(data);
        if (status == MC_OK && !same)
            status = mc_fail(diag, MC_MISMATCH, "%s is packed otherwise on the device", array->name);
    }
    return status;
}

/* WANT: what it must be. The first trial is the one that is compared, and does not count. */
static mc_status time_packing(device_packing *kept, gpu_device *gpu, const mc_kernel *kernel,
                              const mc_packed *want, double *us, mc_diag *diag) {
    double times[TRIALS + 1];
    mc_status status = MC_OK;
    for (int i = 0; i <= TRIALS && status == MC_OK; i++) {
        matrix_packing packing = {.next = NULL};
        double begin = timer_wall_us();
        status = matrix_pack_on_device(kept->matrix, kernel, &packing, diag);
        times[i] = timer_wall_us() - begin;
        if (status == MC_OK && i == 0) status = compare(gpu, &packing, want, diag);
        packing_empty(gpu->context, &packing);
    }
    if (status == MC_OK) *us = box_of(times + 1, TRIALS).median;
    return status;
}

static mc_status pack(device_packing *kept, gpu_device *gpu, const mc_kernel *kernel, const mc_packed *want,
                      double *us, mc_diag *diag) {
    context_visit visit;
    *us = 0;
    if (kept->matrix == NULL || !matrix_packs_on_device(kernel)) return MC_OK;
    mc_status status = context_enter(gpu->context, &visit, diag);
    if (status != MC_OK) return status;
    status = time_packing(kept, gpu, kernel, want, us, diag);
    context_leave(gpu->context, &visit);
    return without(status, diag);
}

mc_status device_packing_measure(device_packing *kept, gpu_device *gpu, const variant_list *variants,
                                 const work *w, size_t group, device_packing_time *time, mc_diag *diag) {
    *time = (device_packing_time){0};
    mc_status status = open(kept, gpu, variants, w, diag);
    if (status == MC_OK && kept->pack_us[group] < 0)
        status = pack(kept, gpu, variants->packings[group], &w->packings[group], &kept->pack_us[group], diag);
    if (status != MC_OK || kept->pack_us[group] <= 0) return status;
    *time = (device_packing_time){kept->matrix_us, kept->pack_us[group]};
    return MC_OK;
}
