#include <math.h>
#include "pruned_peers.h"

enum { UNIT_A = 32, UNIT_N = 16, ALIGNMENT = 16, LEAST_VERSION = 800 /* 0.8 */ };
enum { A, B, C, DESCS };
enum { SEED_A = 1, SEED_B, SEED_MASK };

/* -- Library --------------------------------------------------------------------------------------------- */

mc_status pruned_library_open(pruned_library *library, mc_diag *diag) {
    *library = (pruned_library){0};
    const cusparselt *lts = &library->lts;
    mc_status status = cusparselt_open(&library->lts, diag);
    if (status == MC_OK) status = LTS_CALL(lts, diag, Init, &library->handle);
    library->open = status == MC_OK;
    if (status == MC_OK) status = LTS_CALL(lts, diag, GetVersion, &library->handle, &library->version);
    if (status == MC_OK && library->version < LEAST_VERSION)
        status =
            mc_fail(diag, MC_CANNOT, "libcusparseLt is of version %d, the bench knows %d (0.8) and later",
                    library->version, LEAST_VERSION);
    return status;
}

void pruned_library_close(pruned_library *library) {
    if (library->open) (void)library->lts.Destroy(&library->handle);
    *library = (pruned_library){0};
}

/* -- Descriptors ----------------------------------------------------------------------------------------- */

static int64_t round_up(int64_t value, int64_t unit) { return (value + unit - 1) / unit * unit; }

void pruned_set_shape(pruned_product *p, const peer_problem *problem) {
    p->m = round_up(problem->m, UNIT_A);
    p->k = round_up(problem->k, UNIT_A);
    p->n = round_up(problem->n, UNIT_N);
    p->padded = p->n - problem->n;
}

static mc_status describe_dense(pruned_product *p, int which, int64_t rows, int64_t cols, mc_type type,
                                int order, mc_diag *diag) {
    const cusparselt *lts = &p->library->lts;
    int64_t ld = order == LTS_ORDER_ROW ? cols : rows;
    mc_status status = LTS_CALL(lts, diag, DenseDescriptorInit, &p->library->handle, &p->descs[which], rows,
                                cols, ld, ALIGNMENT, vendor_type(type), order);
    if (status == MC_OK) p->desc_count = which + 1;
    return status;
}

/* B is described as the n x k that it is stored as, and transposed. */
static mc_status describe(pruned_product *p, mc_diag *diag) {
    const cusparselt *lts = &p->library->lts;
    const lts_object *handle = &p->library->handle;
    mc_type type = p->kind->operand;
    int compute = type == MC_S8 ? LTS_COMPUTE_32I : LTS_COMPUTE_32F;
    int order = p->by_columns ? LTS_ORDER_COL : LTS_ORDER_ROW;
    mc_status status = LTS_CALL(lts, diag, StructuredDescriptorInit, handle, &p->descs[A], p->m, p->k, p->k,
                                ALIGNMENT, vendor_type(type), LTS_ORDER_ROW, LTS_HALF);
    if (status == MC_OK) p->desc_count = A + 1;
    if (status == MC_OK) status = describe_dense(p, B, p->n, p->k, type, LTS_ORDER_ROW, diag);
    if (status == MC_OK) status = describe_dense(p, C, p->m, p->n, p->kind->result, order, diag);
    if (status != MC_OK) return status;
    return LTS_CALL(lts, diag, MatmulDescriptorInit, handle, &p->matmul, LTS_OP_N, LTS_OP_T, &p->descs[A],
                    &p->descs[B], &p->descs[C], &p->descs[C], compute);
}

/* -- Operands -------------------------------------------------------------------------------------------- */

/* Dense, with its zeros. The caller frees. */
static mc_status draw_a(const pruned_product *p, gpu_device *gpu, helpers *h, uint64_t *a, mc_diag *diag) {
    mc_type type = p->kind->operand;
    uint64_t count = (uint64_t)(p->m * p->k);
    mc_status status = mc_device_alloc(gpu->device, count * mc_type_bytes(type), a, diag);
    if (status == MC_OK) status = helpers_fill(h, type, p->law, *a, count, SEED_A, diag);
    return status == MC_OK ? helpers_mask24(h, type, *a, count, SEED_MASK, diag) : status;
}

/* Into every set. */
static mc_status compress(pruned_product *p, gpu_device *gpu, uint64_t a, size_t buffer_bytes,
                          mc_diag *diag) {
    const cusparselt *lts = &p->library->lts;
    uint64_t buffer = 0;
    mc_status status = mc_device_alloc(gpu->device, buffer_bytes + 1, &buffer, diag);
    for (int set = 0; set < p->slab.sets && status == MC_OK; set++)
        status = LTS_CALL(lts, diag, SpMMACompress2, &p->library->handle, &p->descs[A], true, LTS_OP_N, a,
                          slab_address(&p->slab, p->a, set), buffer, gpu->stream);
    if (status == MC_OK) status = CUDA_CALL(gpu->driver, diag, StreamSynchronize, gpu->stream);
    mc_device_free(gpu->device, buffer);
    return status;
}

static mc_status make_operands(pruned_product *p, gpu_device *gpu, helpers *h, uint64_t a, bool cold,
                               mc_diag *diag) {
    const cusparselt *lts = &p->library->lts;
    mc_type type = p->kind->operand;
    uint64_t b_count = (uint64_t)(p->n * p->k);
    size_t bytes = 0, buffer_bytes = 0;
    mc_status status =
        LTS_CALL(lts, diag, SpMMACompressedSize2, &p->library->handle, &p->descs[A], &bytes, &buffer_bytes);
    if (status != MC_OK) return status;
    p->a = slab_part(&p->slab, bytes);
    p->b = slab_part(&p->slab, b_count * mc_type_bytes(type));
    p->d = slab_part(&p->slab, (size_t)(p->m * p->n) * mc_type_bytes(p->kind->result));
    status = slab_create(gpu, &p->slab, gpu_sets(gpu, &p->slab, cold), diag);
    if (status == MC_OK) status = compress(p, gpu, a, buffer_bytes, diag);
    for (int set = 0; set < p->slab.sets && status == MC_OK; set++)
        status = helpers_fill(h, type, p->law, slab_address(&p->slab, p->b, set), b_count, SEED_B, diag);
    return status;
}

/* -- What must come out ---------------------------------------------------------------------------------- */

static double spread_of(const pruned_product *p) {
    double deviation = helpers_deviation(p->kind->operand, p->law);
    return deviation * deviation;
}

/* The power of two that makes the deviation of the results one of 16 to 32. */
static float alpha_of(const pruned_product *p) {
    if (p->kind->operand != MC_S8 || p->kind->result == MC_S32) return 1;
    double deviation = spread_of(p) * sqrt((double)p->k / 2);
    return ldexpf(1, 5 - (int)ceil(log2(deviation)));
}

/* Of results that the sums are multiplied for. */
static mc_status scale_want(pruned_product *p, gpu_device *gpu, helpers *h, mc_diag *diag) {
    const float factors[] = {p->alpha, 0};
    uint64_t constants = 0;
    mc_status status = mc_device_alloc(gpu->device, sizeof factors, &constants, diag);
    if (status == MC_OK) status = mc_device_write(gpu->device, constants, factors, sizeof factors, diag);
    const output_rule rule = {.scale = constants, .bias = constants + sizeof(float), .least = -INFINITY};
    if (status == MC_OK)
        status = helpers_output(h, p->kind->result, p->want, p->want, p->m, p->n, &rule, diag);
    mc_device_free(gpu->device, constants);
    return status;
}

/* As C lies. C^T = B^T A^T is row-major where C lies by columns. */
static mc_status make_reference(pruned_product *p, gpu_device *gpu, helpers *h, uint64_t a, mc_diag *diag) {
    mc_type type = p->kind->operand;
    uint64_t b = slab_address(&p->slab, p->b, 0);
    mc_status status = mc_device_alloc(gpu->device, (size_t)(p->m * p->n) * 4, &p->want, diag);
    const dense_product product = {.a = p->by_columns ? b : a,
                                   .b = p->by_columns ? a : b,
                                   .c = p->want,
                                   .m = p->by_columns ? p->n : p->m,
                                   .n = p->by_columns ? p->m : p->n,
                                   .k = p->k,
                                   .lda = p->k,
                                   .b_k = 1,
                                   .b_n = p->k};
    if (status == MC_OK) status = helpers_reference(h, type, type, &product, diag);
    bool scaled = type == MC_S8 && p->kind->result != MC_S32;
    return status == MC_OK && scaled ? scale_want(p, gpu, h, diag) : status;
}

/* Of floats as in dense.c. Of integers the sums are exact; a result in s8 may be one off, one in f16 or bf16
   rounded otherwise. */
tolerance pruned_allowed(const pruned_product *p) {
    double rounding = type_rounding(p->kind->result), terms = (double)p->k / 2;
    if (p->kind->result == MC_S32) return (tolerance){0, 0};
    if (p->kind->result == MC_S8) return (tolerance){0x1p-20, 0x1p20};
    if (p->kind->operand == MC_S8) return (tolerance){2 * rounding, 0};
    double each = mc_type_bits(p->kind->operand) == 8 ? 0x1p-13 / 32 : 0x1p-23;
    return (tolerance){rounding + (double)p->k * each, 4 * sqrt(terms) * spread_of(p)};
}

/* -- The whole ------------------------------------------------------------------------------------------- */

mc_status pruned_product_open(pruned_product *p, gpu_device *gpu, helpers *h, bool cold, mc_diag *diag) {
    uint64_t a = 0;
    p->alpha = alpha_of(p);
    mc_status status = describe(p, diag);
    if (status == MC_OK) status = draw_a(p, gpu, h, &a, diag);
    if (status == MC_OK) status = make_operands(p, gpu, h, a, cold, diag);
    if (status == MC_OK) status = make_reference(p, gpu, h, a, diag);
    mc_device_free(gpu->device, a);
    return status;
}

void pruned_product_close(pruned_product *p, gpu_device *gpu) {
    for (int i = 0; i < PRUNED_KEPT; i++) pruned_call_free(p->kept[i], gpu);
    for (int i = 0; i < p->desc_count; i++) (void)p->library->lts.MatDescriptorDestroy(&p->descs[i]);
    mc_device_free(gpu->device, p->want);
    slab_free(gpu, &p->slab);
    *p = (pruned_product){0};
}
