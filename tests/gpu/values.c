/* How long new values from device memory take, for the packed forms of one matrix: every number of groups a thread, from vectors and
 * from the dense matrix, each compared with what packing on the host makes. Times are of launches in a graph, all operands in L2
 * where they fit. Run by hand, in the root of the repository:
 *
 *   values_gpu DEVICE ROWS COLS SPARSITY      a uniform random matrix of 8x1 vectors; DEVICE is cuda:0, or sim, which has no time
 *
 * A line has the form, the bytes that are moved (elements that are read, packed values, slots), and microseconds for hold = 1, 2,
 * 4 and 8. Exit status 77: no GPU. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "formats/slots.h"
#include "matrix/random.h"
#include "matrix/vsparse.h"
#include "problem/bind.h"
#include "mcrt_internal.h"

enum { VEC = 8, HOLDS = 4, LAUNCHES = 16, ROUNDS = 20 };

typedef struct bench {
    mc_device *device;
    mc_vsparse host;
    mc_packed packed;
    packed_slots slots;
    const mc_packed_array *values;
    uint64_t out, pieces, where, source;
    mc_diag *diag;
} bench;

static const struct form {
    const char *name, *fields, *arguments; /* of the kernel that reads it, and of the one that writes */
    mc_type type;
} forms[] = {
    {"gather f16", "op=spmm lhs=f16 rhs=f16 out=f16 tile_n=64", "lhs=f16 unit=element", MC_F16},
    {"ring f16", "op=spmm staging=tma arch=sm_90 lhs=f16 rhs=f16 out=f16 tile_n=64 window=64",
     "lhs=f16 unit=element", MC_F16},
    {"gather s8", "op=spmm lhs=s8 rhs=s8", "lhs=s8 unit=byte", MC_S8},
    {"ring s8", "op=spmm staging=tma arch=sm_90 lhs=s8 rhs=s8 window=64", "lhs=s8 unit=byte", MC_S8},
    {"gather s16", "op=spmm lhs=s16 rhs=s8", "lhs=s16 unit=byte", MC_S16},
    {"int4 s4", "op=spmm mma=int4 lhs=s4 rhs=s4", "lhs=s4 unit=half", MC_S4},
    {"gather tf32", "op=spmm lhs=tf32 rhs=tf32 out=f32 tile_n=32", "lhs=tf32 unit=rounded", MC_TF32},
};

static mc_status uniform(int64_t rows, int64_t cols, double sparsity, mc_type type, mc_vsparse *host,
                         mc_diag *diag) {
    int64_t blocks = rows / VEC, each = (int64_t)((1 - sparsity) * (double)cols + 0.5), v = 0;
    mc_status status = mcrt_vsparse_create(type, VEC, blocks, cols, blocks * each, host, diag);
    uint64_t state = 12345;
    for (int64_t b = 0; b < blocks && status == MC_OK; host->row_ptr[++b] = v)
        for (int64_t j = 0, left = each; j < cols; j++) {
            state = state * 6364136223846793005U + 1442695040888963407U;
            if ((int64_t)((state >> 33) % (uint64_t)(cols - j)) < left)
                host->col_idx[v++] = (int32_t)j, left--;
        }
    if (status == MC_OK) mc_vsparse_fill(host, MC_VALUES_FULL, 1, NULL);
    return status;
}

static mc_status upload(bench *t, const void *data, size_t bytes, uint64_t *address) {
    mc_status status = mc_device_alloc(t->device, bytes, address, t->diag);
    return status == MC_OK ? mc_device_upload(t->device, *address, data, bytes, t->diag) : status;
}

static mc_status put_source(bench *t, int from, int64_t *bytes) {
    const mc_vsparse *a = &t->host;
    int64_t count = from == 0 ? a->vectors * VEC : a->rows * a->cols;
    *bytes = mc_type_size(a->type, count);
    if (from == 0) return upload(t, a->values, (size_t)*bytes, &t->source);
    mc_dense dense = {.type = a->type, .rows = a->rows, .cols = a->cols, .ld = from == 1 ? a->cols : a->rows};
    dense.data = calloc(1, (size_t)*bytes + 1);
    for (int64_t b = 0; b < a->row_blocks; b++)
        for (int64_t v = a->row_ptr[b]; v < a->row_ptr[b + 1]; v++)
            for (int r = 0; r < VEC; r++) {
                int64_t row = b * VEC + r, col = a->col_idx[v];
                mc_dense_set(&dense, from == 1 ? row : col, from == 1 ? col : row, mc_vsparse_value(a, v, r));
            }
    mc_status status = upload(t, dense.data, (size_t)*bytes, &t->source);
    free(dense.data);
    return status;
}

static mc_status put_where(bench *t, int from) {
    const mc_vsparse *a = &t->host;
    int64_t count = t->slots.groups * t->slots.group;
    if (from == 0) return upload(t, t->slots.vectors, (size_t)count * sizeof(int32_t), &t->where);
    int32_t *block = malloc((size_t)a->vectors * sizeof *block),
            *all = malloc((size_t)count * 2 * sizeof *all);
    for (int64_t b = 0; b < a->row_blocks; b++)
        for (int64_t v = a->row_ptr[b]; v < a->row_ptr[b + 1]; v++) block[v] = (int32_t)(b * VEC);
    for (int64_t i = 0; i < count; i++) {
        int32_t v = t->slots.vectors[i];
        all[2 * i] = v < 0 ? -1 : block[v], all[2 * i + 1] = v < 0 ? 0 : a->col_idx[v];
    }
    mc_status status = upload(t, all, (size_t)count * 2 * sizeof *all, &t->where);
    free(block);
    free(all);
    return status;
}

static mc_status time_kernel(bench *t, const char *fields, int from, double *us) {
    mc_kernel *kernel = NULL;
    mc_module *module = NULL;
    mc_launch launch;
    const mc_vsparse *a = &t->host;
    const mc_binding bindings[] = {{"slots", (int64_t)t->where},
                                   {"pieces", (int64_t)t->pieces},
                                   {"source", (int64_t)t->source},
                                   {"values", (int64_t)t->out},
                                   {"groups", t->slots.groups},
                                   {"lds", from == 1 ? a->cols : a->rows},
                                   {"m", 0}};
    size_t bytes = (size_t)mc_type_size(t->values->type, t->values->count);
    mc_status status = mc_kernel_from_fields(fields, &kernel, t->diag);
    if (status == MC_OK)
        status = mc_module_load(t->device, mc_kernel_ptx(kernel), mc_kernel_contract(kernel)->entry, &module,
                                t->diag);
    if (status == MC_OK)
        status = mc_bind(kernel, bindings, sizeof bindings / sizeof *bindings, &launch, t->diag);
    if (status == MC_OK) status = mc_device_fill(t->device, t->out, 0x77, bytes, t->diag);
    if (status == MC_OK) status = mc_module_launch(module, &launch, t->diag);
    unsigned char *got = malloc(bytes);
    if (status == MC_OK) status = mc_device_read(t->device, t->out, got, bytes, t->diag);
    if (status == MC_OK && memcmp(got, t->values->data, bytes) != 0)
        status = mc_fail(t->diag, MC_DEVICE, "%s: wrong values", fields);
    free(got);
    *us = 0;
    if (status == MC_OK && mc_device_get_info(t->device)->kind == MC_DEVICE_CUDA)
        status = mc_module_time(module, &launch, LAUNCHES, ROUNDS, us, t->diag);
    mc_module_unload(module);
    mc_kernel_destroy(kernel);
    return status;
}

static mc_status try_source(bench *t, const struct form *form, int from) {
    static const char *const froms[] = {"vectors", "rows", "columns"};
    int64_t source_bytes = 0, moved;
    double us[HOLDS] = {0};
    char fields[200];
    mc_status status = put_source(t, from, &source_bytes);
    if (status == MC_OK) status = put_where(t, from);
    for (int h = 0; h < HOLDS && status == MC_OK; h++) {
        if (t->host.type == MC_S4 && h == HOLDS - 1) continue; /* more pieces than a thread holds */
        snprintf(fields, sizeof fields, "op=values arch=sm_90 %s from=%s vec=%d group=%d hold=%d",
                 form->arguments, froms[from], VEC, t->slots.group, 1 << h);
        status = time_kernel(t, fields, from, &us[h]);
    }
    moved = mc_type_size(t->host.type, t->host.vectors * VEC) +
            mc_type_size(t->values->type, t->values->count) +
            t->slots.groups * t->slots.group * (from == 0 ? 4 : 8);
    if (status == MC_OK)
        printf("%-12s %-8s %9" PRId64 " bytes  %6.2f %6.2f %6.2f %6.2f us\n", form->name, froms[from], moved,
               us[0], us[1], us[2], us[3]);
    mc_device_free(t->device, t->source);
    mc_device_free(t->device, t->where);
    t->source = t->where = 0;
    return status;
}

static mc_status try_form(bench *t, const struct form *form, int64_t rows, int64_t cols, double sparsity) {
    mc_kernel *reader = NULL;
    mc_status status = uniform(rows, cols, sparsity, form->type, &t->host, t->diag);
    if (status == MC_OK) status = mc_kernel_from_fields(form->fields, &reader, t->diag);
    if (status == MC_OK) status = mc_pack(reader, &t->host, &t->packed, t->diag);
    if (status == MC_OK) status = mc_pack_slots(reader, &t->host, &t->slots, t->diag);
    if (status == MC_OK) t->values = mc_packed_find(&t->packed, "values");
    if (status == MC_OK)
        status = mc_device_alloc(t->device, (size_t)mc_type_size(t->values->type, t->values->count), &t->out,
                                 t->diag);
    if (status == MC_OK)
        status = upload(t, t->slots.pieces, (size_t)t->slots.period * sizeof *t->slots.pieces, &t->pieces);
    for (int from = 0; from < 3 && status == MC_OK; from++) status = try_source(t, form, from);
    mc_device_free(t->device, t->out);
    mc_device_free(t->device, t->pieces);
    t->out = t->pieces = 0;
    packed_slots_free(&t->slots);
    mc_packed_free(&t->packed);
    mc_kernel_destroy(reader);
    mc_vsparse_free(&t->host);
    return status;
}

int main(int argc, char **argv) {
    if (argc != 5) return fprintf(stderr, "usage: values_gpu DEVICE ROWS COLS SPARSITY\n"), 2;
    bench t = {.diag = mc_diag_create()};
    mc_status status = mc_device_open(argv[1], &t.device, t.diag);
    if (status != MC_OK) return printf("SKIPPED: %s\n", mc_diag_text(t.diag)), 77;
    for (size_t i = 0; i < sizeof forms / sizeof *forms && status == MC_OK; i++)
        status = try_form(&t, &forms[i], atoll(argv[2]), atoll(argv[3]), atof(argv[4]));
    if (status != MC_OK) fprintf(stderr, "%s\n", mc_diag_text(t.diag));
    mc_device_close(t.device);
    mc_diag_destroy(t.diag);
    return status != MC_OK;
}
