/* How long packing panels and csr on the device takes, beside the product that reads them, with N = 128. What is packed is compared with
 * what packing on the host makes. Run by hand:
 *
 *   pack_panels_gpu DEVICE MATRIX...      .mtx or .smtx; DEVICE is cuda:0, or sim, whose times are none
 *
 * A line has the matrix, its nonzeros, the kernel's panels or items, and microseconds: a product, and the steps of packing, both replayed in a
 * graph; packing until the host may go on, with memory of the driver and of a pool, the median of 11 calls; and packing on the host.
 * Behind them how many products the steps take, and packing with the pool. Exit status 77: no GPU. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/clock.h"
#include "context/device_pack_csr.h"
#include "context/device_pack_panels.h"
#include "context/matrix.h"
#include "matrix/csr.h"
#include "matrix/vsparse.h"
#include "replay.h"

enum { N = 128, CALLS = 11, POOL = 256 };

typedef struct bench {
    mc_context *context;
    mc_diag *diag;
    mc_type type;
    mc_vsparse host;
    mc_matrix *matrix;
    mc_plan *plan;
    mc_args args;
    mc_address workspace;
    const mc_kernel *kernel; /* of the plan's packing, with the fields that packing reads */
    const struct form *form;
    device_pattern pattern;
    panels_packer panels;
    csr_packer csr;
    csr_sizes csr_sizes;
    device_packed room;
    int64_t strides; /* that there is room for */
    mc_address buffers[8];
    size_t buffer_count;
    bool on_gpu;
} bench;

/* Who reads what is packed, and the steps of packing by themselves. */
struct form {
    const char *spec;
    mc_type type, out;
    mc_status (*open)(bench *t);
    mc_status (*put)(device_work *work, const bench *t, mc_diag *diag);
    void (*say)(const bench *t);
};

/* -- A pool: blocks of the same size are given again */

static struct {
    mc_address address;
    size_t bytes;
    bool used;
} pool[POOL];
static mc_context *pool_context;
static bool pooled;

static mc_address take(void *user, size_t bytes) {
    int i = 0;
    mc_address address = 0;
    (void)user;
    if (!pooled) return mc_memory_create(pool_context, bytes, &address, NULL) == MC_OK ? address : 0;
    while (i < POOL && pool[i].address != 0 && (pool[i].used || pool[i].bytes != bytes)) i++;
    if (i == POOL) return 0;
    if (pool[i].address == 0 && mc_memory_create(pool_context, bytes, &pool[i].address, NULL) != MC_OK)
        return 0;
    pool[i].bytes = bytes;
    pool[i].used = true;
    return pool[i].address;
}

static void give(void *user, mc_address address) {
    int i = 0;
    (void)user;
    while (i < POOL && pool[i].address != address) i++;
    if (i < POOL) pool[i].used = false;
    else mc_memory_destroy(pool_context, address);
}

static void empty_pool(void) {
    for (int i = 0; i < POOL; i++) mc_memory_destroy(pool_context, pool[i].address);
    memset(pool, 0, sizeof pool);
}

/* -- The matrix, and a plan */

static mc_status reserve(bench *t, size_t bytes, mc_address *address) {
    mc_status status = mc_memory_create(t->context, bytes > 0 ? bytes : 1, address, t->diag);
    if (status == MC_OK) t->buffers[t->buffer_count++] = *address;
    return status;
}

static mc_status upload(bench *t, const void *data, size_t bytes, mc_address *address) {
    mc_status status = reserve(t, bytes, address);
    return status == MC_OK && bytes > 0 ? mc_memory_write(t->context, *address, data, bytes, t->diag)
                                        : status;
}

static mc_status zeros(bench *t, size_t bytes, mc_address *address) {
    void *data = calloc(bytes + 1, 1);
    mc_status status = upload(t, data, bytes, address);
    free(data);
    return status;
}

static mc_status make_matrix(bench *t) {
    const mc_vsparse *a = &t->host;
    mc_device_matrix_config config = {
        .size = sizeof config, .type = a->type, .vec = 1, .rows = a->rows, .cols = a->cols};
    int32_t *offsets = malloc((size_t)(a->rows + 1) * sizeof *offsets);
    for (int64_t r = 0; r <= a->rows; r++) offsets[r] = (int32_t)a->row_ptr[r];
    mc_status status = upload(t, offsets, (size_t)(a->rows + 1) * sizeof *offsets, &config.row_ptr);
    if (status == MC_OK)
        status = upload(t, a->col_idx, (size_t)a->vectors * sizeof *a->col_idx, &config.col_idx);
    if (status == MC_OK)
        status = upload(t, a->values, (size_t)mc_type_size(a->type, a->vectors), &config.values);
    free(offsets);
    return status == MC_OK ? mc_matrix_from_device(t->context, &config, NULL, &t->matrix, t->diag) : status;
}

static mc_status make_plan(bench *t, const struct form *form) {
    const char *const specs[] = {form->spec};
    const mc_plan_config config = {.size = sizeof config,
                                   .op = MC_OP_SPMM,
                                   .matrix = t->matrix,
                                   .n = N,
                                   .b = form->type,
                                   .c = form->out,
                                   .specs = specs,
                                   .spec_count = 1};
    t->args = (mc_args){.size = sizeof t->args};
    mc_status status = mc_plan_create(t->context, &config, &t->plan, t->diag);
    if (status == MC_OK) status = zeros(t, (size_t)mc_type_size(form->type, t->host.cols * N), &t->args.b);
    if (status == MC_OK) status = zeros(t, (size_t)mc_type_size(form->out, t->host.rows * N), &t->args.c);
    if (status == MC_OK) status = zeros(t, mc_plan_workspace(t->plan), &t->workspace);
    if (status == MC_OK) t->kernel = t->matrix->packings->kernel;
    return status;
}

/* -- Steps alone, into arrays that are there */

static mc_status open_panels(bench *t) {
    const mc_panels form = panels_form_of(t->kernel);
    mc_address scratch = 0;
    mc_status status = panels_packer_open(&t->pattern, &form, &t->panels, t->diag);
    if (status == MC_OK) status = reserve(t, panels_packer_scratch(&t->panels, 0), &scratch);
    (void)panels_packer_scratch(&t->panels, scratch);
    const panel_sizes most = panels_packer_most(&t->panels);
    t->strides = most.strides;
    return status == MC_OK
               ? panels_outline(&form, t->host.type, &most, &t->room.shape, &t->room.slots, t->diag)
               : status;
}

static mc_status put_panels(device_work *work, const bench *t, mc_diag *diag) {
    mc_status status = panels_put_sizes(work, &t->panels, diag);
    return status == MC_OK ? panels_put_arrays(work, &t->panels, t->strides, &t->room, diag) : status;
}

static void say_panels(const bench *t) {
    printf("panels of %d, %s", (int)mc_kernel_field(t->kernel, "panel"),
           mc_kernel_field(t->kernel, "values") != 0 ? "nonzeros" : "slots");
}

/* Sizes are read here, once. */
static mc_status open_csr(bench *t) {
    const mc_csr_form form = csr_form_of(t->kernel, t->host.type);
    const mc_vsparse a = device_outline(&t->pattern, t->host.type);
    mc_address scratch = 0;
    device_work work;
    mc_status status = csr_packer_open(&t->pattern, &form, t->host.type, &t->csr, t->diag);
    if (status == MC_OK) status = reserve(t, csr_packer_scratch(&t->csr, 0), &scratch);
    if (status == MC_OK) status = work_begin_own(&work, t->context, t->diag);
    if (status != MC_OK) return status;
    (void)csr_packer_scratch(&t->csr, scratch);
    status = csr_put_sizes(&work, &t->csr, t->diag);
    if (status == MC_OK) status = csr_read_sizes(&work, &t->csr, &t->csr_sizes, t->diag);
    status = work_end(&work, status, t->diag);
    return status == MC_OK ? csr_outline(&form, &a, &t->csr_sizes, &t->room.shape, &t->room.slots, t->diag)
                           : status;
}

static mc_status put_csr(device_work *work, const bench *t, mc_diag *diag) {
    mc_status status = csr_put_sizes(work, &t->csr, diag);
    return status == MC_OK ? csr_put_arrays(work, &t->csr, &t->room, diag) : status;
}

static void say_csr(const bench *t) {
    printf("csr of %" PRId64 " items, %" PRId64 " pieces", t->csr_sizes.items, t->csr_sizes.pieces);
}

static const struct form forms[] = {
    {"spmm_csr_f16", MC_F16, MC_F16, open_panels, put_panels, say_panels},
    {"spmm_csr_tf32", MC_TF32, MC_F32, open_panels, put_panels, say_panels},
    {"spmm_csr_f32", MC_F32, MC_F32, open_csr, put_csr, say_csr},
    {"spmm_csr_f32_segmented", MC_F32, MC_F32, open_csr, put_csr, say_csr},
};

static mc_status open_steps(bench *t) {
    t->pattern = (device_pattern){.vec = 1,
                                  .rows = t->host.rows,
                                  .cols = t->host.cols,
                                  .row_blocks = t->host.rows,
                                  .vectors = t->host.vectors,
                                  .row_ptr = t->matrix->host.row_ptr,
                                  .offsets = t->matrix->offsets,
                                  .columns = t->matrix->columns};
    mc_status status = t->form->open(t);
    return status == MC_OK ? device_packed_create(t->context, &t->room, t->diag) : status;
}

static mc_status pass_steps(const void *user, void *stream, mc_diag *diag) {
    const bench *t = user;
    device_work work = {.context = t->context, .stream = stream};
    mc_status status = t->form->put(&work, t, diag);
    work.running = false;
    return work_end(&work, status, diag);
}

static mc_status pass_product(const void *user, void *stream, mc_diag *diag) {
    const bench *t = user;
    return mc_execute(t->plan, &t->args, t->workspace, stream, diag);
}

/* HELD keeps the steps' kernels loaded. */
static mc_status time_passes(bench *t, double *product, double *steps) {
    const cuda_driver *driver = NULL;
    const char *why = "";
    cuda_stream stream = NULL;
    device_work held;
    double us[3] = {0};
    mc_status status = work_begin_own(&held, t->context, t->diag);
    if (status == MC_OK) status = t->form->put(&held, t, t->diag);
    if (status == MC_OK && t->on_gpu && cuda_driver_get(&driver, &why) == CUDA_READY) {
        status = CUDA_CALL(driver, t->diag, StreamCreate, &stream, 1);
        if (status == MC_OK) status = replay_time(driver, stream, pass_product, t, us, t->diag);
        *product = us[0];
        if (status == MC_OK) status = replay_time(driver, stream, pass_steps, t, us, t->diag);
        *steps = us[0];
        (void)CUDA_CALL(driver, NULL, StreamDestroy, stream);
    }
    return work_end(&held, status, t->diag);
}

/* -- Packing as plans have it */

static mc_status compare(bench *t, const matrix_packing *packing, double *host_us) {
    mc_packed want;
    const double begin = clock_seconds();
    mc_status status = mc_pack(t->kernel, &t->host, &want, t->diag);
    *host_us = 1e6 * (clock_seconds() - begin);
    for (size_t i = 0; i < want.array_count && status == MC_OK; i++) {
        const size_t bytes = (size_t)mc_type_size(want.arrays[i].type, want.arrays[i].count);
        unsigned char *got = malloc(bytes + 1);
        if (bytes > 0) status = mc_memory_read(t->context, packing->arrays[i], got, bytes, t->diag);
        if (status == MC_OK && memcmp(got, want.arrays[i].data, bytes) != 0)
            status = mc_fail(t->diag, MC_DEVICE, "%s is packed otherwise", want.arrays[i].name);
        free(got);
    }
    mc_packed_free(&want);
    return status;
}

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static mc_status time_packing(bench *t, double *us) {
    double all[CALLS];
    mc_status status = MC_OK;
    for (int i = -1; i < CALLS && status == MC_OK; i++) {
        matrix_packing packing = {.next = NULL};
        const double begin = clock_seconds();
        status = matrix_pack_on_device(t->matrix, t->kernel, &packing, t->diag);
        if (i >= 0) all[i] = 1e6 * (clock_seconds() - begin);
        packing_empty(t->context, &packing);
    }
    qsort(all, CALLS, sizeof *all, by_size);
    *us = all[CALLS / 2];
    return status;
}

static mc_status measure(bench *t, const char *name) {
    double product = 0, steps = 0, driver = 0, pool_us = 0, host = 0;
    context_visit visit;
    mc_status status = context_enter(t->context, &visit, t->diag);
    if (status == MC_OK) status = open_steps(t);
    if (status == MC_OK) status = compare(t, t->matrix->packings, &host);
    if (status == MC_OK) status = time_passes(t, &product, &steps);
    if (status == MC_OK) status = time_packing(t, &driver);
    pooled = true;
    if (status == MC_OK) status = time_packing(t, &pool_us);
    pooled = false;
    if (status == MC_OK) {
        printf("%s %s: %" PRId64 " nonzeros, ", name, t->form->spec, t->host.vectors);
        t->form->say(t);
    }
    if (status == MC_OK && t->on_gpu)
        printf("; product %.1f us, steps %.1f, packing %.1f, pool %.1f, host %.0f; %.1f and %.1f products",
               product, steps, driver, pool_us, host, steps / product, pool_us / product);
    if (status == MC_OK) printf("\n");
    device_packed_free(t->context, &t->room);
    context_leave(t->context, &visit);
    return status;
}

static mc_status run(bench *t, const mc_csr *csr, const char *name, const struct form *form) {
    t->form = form;
    mc_status status = mc_vsparse_dilate(csr, 1, form->type, &t->host, t->diag);
    if (status == MC_OK) mc_vsparse_fill(&t->host, MC_VALUES_FULL, 1, NULL);
    if (status == MC_OK) status = make_matrix(t);
    if (status == MC_OK) status = make_plan(t, form);
    if (status == MC_OK) status = measure(t, name);
    mc_plan_destroy(t->plan);
    mc_matrix_destroy(t->matrix);
    for (size_t i = 0; i < t->buffer_count; i++) mc_memory_destroy(t->context, t->buffers[i]);
    mc_vsparse_free(&t->host);
    *t = (bench){.context = t->context, .diag = t->diag, .on_gpu = t->on_gpu};
    empty_pool();
    return status;
}

int main(int argc, char **argv) {
    if (argc < 3) return fprintf(stderr, "usage: pack_panels_gpu DEVICE MATRIX...\n"), 2;
    bench t = {.diag = mc_diag_create(), .on_gpu = strncmp(argv[1], "cuda", 4) == 0};
    if (t.on_gpu && mc_device_cuda_count() == 0) return printf("SKIPPED: no GPU\n"), 77;
    const mc_context_config config = {.size = sizeof config,
                                      .device = argv[1],
                                      .cache = MC_CACHE_MEMORY,
                                      .records = "",
                                      .allocate = take,
                                      .release = give};
    mc_status status = mc_context_create(&config, &t.context, t.diag);
    pool_context = t.context;
    for (int i = 2; i < argc && status == MC_OK; i++) {
        mc_csr csr = {0};
        status = mc_csr_read(argv[i], &csr, t.diag);
        for (size_t f = 0; f < sizeof forms / sizeof *forms && status == MC_OK; f++)
            status = run(&t, &csr, argv[i], &forms[f]);
        mc_csr_free(&csr);
    }
    if (status != MC_OK) fprintf(stderr, "%s\n", mc_diag_text(t.diag));
    mc_context_destroy(t.context);
    mc_diag_destroy(t.diag);
    return status != MC_OK;
}
