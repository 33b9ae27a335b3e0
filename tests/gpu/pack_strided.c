/* How long a matrix takes that is made from device memory, and packed there as strided-bcrs: what mc_matrix_from_device,
 * mc_matrix_from_device_dense with a mask, and packing for the gather SpMM take, each until the host may go on. What is packed is
 * compared with what packing on the host makes. Run by hand:
 *
 *   pack_strided_gpu DEVICE ROWS COLS SPARSITY      a uniform random matrix of 8x1 vectors; DEVICE is cuda:0, or sim
 *
 * A line has the type, where memory comes from (the driver, or a pool as an application may have one), and microseconds, the median
 * of 21 calls behind one that makes the kernels: of BCRS, of the dense matrix, of packing, and the two sums. Exit status 77: no GPU. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/clock.h"
#include "context/matrix.h"
#include "matrix/dense.h"
#include "matrix/vsparse.h"
#include "mcrt_internal.h"

enum { VEC = 8, CALLS = 21, POOL = 256 };

typedef struct bench {
    mc_context *context;
    mc_diag *diag;
    mc_kernel *kernel;
    mc_vsparse host;
    mc_address row_ptr, columns, values, dense, mask;
} bench;

static const struct form {
    const char *fields;
    mc_type type;
} forms[] = {{"op=spmm lhs=f16 rhs=f16 out=f16 tile_n=64", MC_F16}, {"op=spmm lhs=s8 rhs=s8", MC_S8}};

/* -- A pool: blocks of the same size are given again */

static struct {
    mc_address address;
    size_t bytes;
    bool used;
} pool[POOL];
static mc_context *pool_context;

static mc_address take(void *user, size_t bytes) {
    int i = 0;
    (void)user;
    while (i < POOL && pool[i].address != 0 && (pool[i].used || pool[i].bytes != bytes)) i++;
    if (i == POOL) return 0;
    if (pool[i].address == 0 && mc_memory_create(pool_context, bytes, &pool[i].address, NULL) != MC_OK)
        return 0;
    pool[i].bytes = bytes;
    pool[i].used = true;
    return pool[i].address;
}

static void give(void *user, mc_address address) {
    (void)user;
    for (int i = 0; i < POOL; i++)
        if (pool[i].address == address) pool[i].used = false;
}

static void empty_pool(void) {
    for (int i = 0; i < POOL; i++) mc_memory_destroy(pool_context, pool[i].address);
    memset(pool, 0, sizeof pool);
}

/* -- The matrix */

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

static mc_status upload(bench *t, const void *data, int64_t bytes, mc_address *address) {
    mc_status status = mc_memory_create(t->context, (size_t)bytes, address, t->diag);
    return status == MC_OK ? mc_memory_write(t->context, *address, data, (size_t)bytes, t->diag) : status;
}

static mc_status upload_bcrs(bench *t) {
    const mc_vsparse *a = &t->host;
    int32_t *offsets = malloc((size_t)(a->row_blocks + 1) * sizeof *offsets);
    for (int64_t b = 0; b <= a->row_blocks; b++) offsets[b] = (int32_t)a->row_ptr[b];
    mc_status status = upload(t, offsets, (a->row_blocks + 1) * 4, &t->row_ptr);
    if (status == MC_OK) status = upload(t, a->col_idx, a->vectors * 4, &t->columns);
    if (status == MC_OK) status = upload(t, a->values, mc_type_size(a->type, a->vectors * VEC), &t->values);
    free(offsets);
    return status;
}

static mc_status upload_dense(bench *t) {
    const mc_vsparse *a = &t->host;
    mc_dense dense = {.type = a->type, .rows = a->rows, .cols = a->cols, .ld = a->cols};
    unsigned char *mask = calloc(1, (size_t)(a->rows * a->cols) + 1);
    dense.data = calloc(1, (size_t)mc_type_size(a->type, a->rows * a->cols) + 1);
    for (int64_t b = 0; b < a->row_blocks; b++)
        for (int64_t v = a->row_ptr[b]; v < a->row_ptr[b + 1]; v++)
            for (int r = 0; r < VEC; r++) {
                mc_dense_set(&dense, b * VEC + r, a->col_idx[v], mc_vsparse_value(a, v, r));
                mask[(b * VEC + r) * a->cols + a->col_idx[v]] = 1;
            }
    mc_status status = upload(t, dense.data, mc_type_size(a->type, a->rows * a->cols), &t->dense);
    if (status == MC_OK) status = upload(t, mask, a->rows * a->cols, &t->mask);
    free(dense.data);
    free(mask);
    return status;
}

/* -- What is timed */

static mc_status make_bcrs(bench *t, mc_matrix **matrix) {
    const mc_device_matrix_config config = {.size = sizeof config,
                                            .type = t->host.type,
                                            .vec = VEC,
                                            .rows = t->host.rows,
                                            .cols = t->host.cols,
                                            .row_ptr = t->row_ptr,
                                            .col_idx = t->columns,
                                            .values = t->values};
    return mc_matrix_from_device(t->context, &config, NULL, matrix, t->diag);
}

static mc_status make_dense(bench *t, mc_matrix **matrix) {
    const mc_device_dense_config config = {.size = sizeof config,
                                           .type = t->host.type,
                                           .vec = VEC,
                                           .rows = t->host.rows,
                                           .cols = t->host.cols,
                                           .data = t->dense,
                                           .mask = t->mask};
    return mc_matrix_from_device_dense(t->context, &config, NULL, matrix, t->diag);
}

static mc_status compare(bench *t, const matrix_packing *packing) {
    mc_packed want;
    mc_status status = mc_pack(t->kernel, &t->host, &want, t->diag);
    for (size_t i = 0; i < want.array_count && status == MC_OK; i++) {
        size_t bytes = (size_t)mc_type_size(want.arrays[i].type, want.arrays[i].count);
        unsigned char *got = malloc(bytes + 1);
        status = mc_memory_read(t->context, packing->arrays[i], got, bytes, t->diag);
        if (status == MC_OK && memcmp(got, want.arrays[i].data, bytes) != 0)
            status = mc_fail(t->diag, MC_DEVICE, "%s is packed otherwise", want.arrays[i].name);
        free(got);
    }
    mc_packed_free(&want);
    return status;
}

typedef mc_status maker(bench *t, mc_matrix **matrix);

/* Of making the matrix, and of packing it. */
static mc_status time_once(bench *t, maker *make, bool check, double us[2]) {
    mc_matrix *matrix = NULL;
    matrix_packing *packing = NULL;
    context_visit visit;
    double begin = clock_seconds();
    mc_status status = make(t, &matrix);
    us[0] = 1e6 * (clock_seconds() - begin);
    if (status != MC_OK) return status;
    status = context_enter(t->context, &visit, t->diag);
    begin = clock_seconds();
    if (status == MC_OK) status = matrix_pack_for(matrix, t->kernel, &packing, t->diag);
    us[1] = 1e6 * (clock_seconds() - begin);
    if (status == MC_OK && check) status = compare(t, packing);
    if (packing != NULL) matrix_unpack(matrix, packing);
    context_leave(t->context, &visit);
    mc_matrix_destroy(matrix);
    return status;
}

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static mc_status time_maker(bench *t, maker *make, double us[2]) {
    double all[2][CALLS], one[2];
    mc_status status = time_once(t, make, true, one);
    for (int i = 0; i < CALLS && status == MC_OK; i++) {
        status = time_once(t, make, false, one);
        all[0][i] = one[0], all[1][i] = one[1];
    }
    for (int i = 0; i < 2 && status == MC_OK; i++) {
        qsort(all[i], CALLS, sizeof all[i][0], by_size);
        us[i] = all[i][CALLS / 2];
    }
    return status;
}

static mc_status try_form(bench *t, const struct form *form, const char *memory) {
    double bcrs[2], dense[2];
    mc_status status = time_maker(t, make_bcrs, bcrs);
    if (status == MC_OK) status = time_maker(t, make_dense, dense);
    if (status == MC_OK)
        printf("%-4s memory of %s: BCRS %.1f us, dense and mask %.1f, packing %.1f; %.1f from BCRS, %.1f "
               "from dense and mask\n",
               mc_type_text(form->type), memory, bcrs[0], dense[0], bcrs[1], bcrs[0] + bcrs[1],
               dense[0] + dense[1]);
    return status;
}

static mc_status run(bench *t, const char *device, bool pooled, int64_t rows, int64_t cols, double sparsity) {
    mc_context_config config = {
        .size = sizeof config, .device = device, .cache = MC_CACHE_MEMORY, .records = ""};
    if (pooled) config.allocate = take, config.release = give;
    mc_status status = mc_context_create(&config, &t->context, t->diag);
    pool_context = t->context;
    for (size_t i = 0; i < sizeof forms / sizeof *forms && status == MC_OK; i++) {
        status = uniform(rows, cols, sparsity, forms[i].type, &t->host, t->diag);
        if (status == MC_OK) status = mc_kernel_from_fields(forms[i].fields, &t->kernel, t->diag);
        if (status == MC_OK) status = upload_bcrs(t);
        if (status == MC_OK) status = upload_dense(t);
        if (status == MC_OK) status = try_form(t, &forms[i], pooled ? "a pool" : "the driver");
        const mc_address used[] = {t->row_ptr, t->columns, t->values, t->dense, t->mask};
        for (size_t j = 0; j < sizeof used / sizeof *used; j++) mc_memory_destroy(t->context, used[j]);
        mc_kernel_destroy(t->kernel);
        mc_vsparse_free(&t->host);
        *t = (bench){.context = t->context, .diag = t->diag};
    }
    empty_pool();
    mc_context_destroy(t->context);
    return status;
}

int main(int argc, char **argv) {
    if (argc != 5) return fprintf(stderr, "usage: pack_strided_gpu DEVICE ROWS COLS SPARSITY\n"), 2;
    if (strncmp(argv[1], "cuda", 4) == 0 && mc_device_cuda_count() == 0)
        return printf("SKIPPED: no GPU\n"), 77;
    bench t = {.diag = mc_diag_create()};
    mc_status status = MC_OK;
    for (int pooled = 0; pooled < 2 && status == MC_OK; pooled++)
        status = run(&t, argv[1], pooled == 1, atoll(argv[2]), atoll(argv[3]), atof(argv[4]));
    if (status != MC_OK) fprintf(stderr, "%s\n", mc_diag_text(t.diag));
    mc_diag_destroy(t.diag);
    return status != MC_OK;
}
