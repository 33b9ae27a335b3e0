/* gemm: C[m,n] = A[m,k] B[k,n], all dense. */
#include "base/memory.h"
#include "ops/gemm/product.h"
#include "ops/gemm/scaled.h"

extern const mc_operator operator_gemm;

enum { A, FIRST, A_BLOCKS = FIRST + PRODUCT_OPERANDS, B_BLOCKS, LAST };

static const operand_row operands[] = {
    [A] = {.name = "a",
           .kind = OPERAND_DENSE,
           .type = MEMBER_lhs,
           .rows = MEMBER_m,
           .cols = MEMBER_k,
           .ld = MEMBER_lda,
           .major = MEMBER_a_major,
           .transposed = true,
           .early = true,
           .stride = MEMBER_a_stride,
           .argument = offsetof(mc_args, a)},
#include "ops/gemm/operands.def"
    [A_BLOCKS] = {.name = "a_blocks",
                  .kind = OPERAND_DENSE,
                  .rows = MEMBER_m,
                  .cols = MEMBER_k,
                  .col_block = GEMM_BLOCK,
                  .only_if = MEMBER_block_scales,
                  .major = MEMBER_a_blocks_major},
    [B_BLOCKS] = {.name = "b_blocks",
                  .kind = OPERAND_DENSE,
                  .rows = MEMBER_n,
                  .cols = MEMBER_k,
                  .row_block = GEMM_BLOCK,
                  .col_block = GEMM_BLOCK,
                  .only_if = MEMBER_block_scales},
};

static mc_status check(const plan_problem *problem, mc_type matrix, mc_diag *diag) {
    (void)matrix;
    mc_status status = gemm_check(&operator_gemm, "a", problem, diag);
    return status == MC_OK ? gemm_check_block_scales(problem, diag) : status;
}

/* -- The reference -------------------------------------------------------------------------------------- */

/* A as a matrix whose every element is a nonzero vector of one row. */
static mc_status as_vectors(const mc_dense *a, mc_vsparse *all, mc_diag *diag) {
    mc_status status =
        mcrt_vsparse_create(a->type, 1, a->rows, a->cols, mcrt_product(a->rows, a->cols), all, diag);
    for (int64_t i = 0; status == MC_OK && i < a->rows; i++) {
        all->row_ptr[i + 1] = (i + 1) * a->cols;
        for (int64_t j = 0; j < a->cols; j++) {
            all->col_idx[i * a->cols + j] = (int32_t)j;
            mc_vsparse_set_value(all, i * a->cols + j, 0, mc_dense_get(a, i, j));
        }
    }
    return status;
}

static mc_status plain_sums(const host_operands *o, mc_dense *result, mc_diag *diag) {
    mc_vsparse a = {0};
    mc_status status = as_vectors(o->inputs[A], &a, diag);
    if (status == MC_OK) status = gemm_sums(o, &a, result, diag);
    mc_vsparse_free(&a);
    return status;
}

static mc_status plain_bounds(const host_operands *o, mc_dense *result, mc_diag *diag) {
    mc_vsparse a = {0};
    mc_status status = as_vectors(o->inputs[A], &a, diag);
    if (status == MC_OK) status = gemm_bounds(o, &a, result, diag);
    mc_vsparse_free(&a);
    return status;
}

static const unscaled_product unscaled = {A, FIRST + PRODUCT_B, plain_sums, plain_bounds};

static block_scales scales_of(const host_operands *o) {
    return (block_scales){o->inputs[A_BLOCKS], o->inputs[B_BLOCKS], o->problem->a_blocks_major};
}

static mc_status sums(const host_operands *o, mc_dense *result, mc_diag *diag) {
    const block_scales scales = scales_of(o);
    if (!o->problem->block_scales) return plain_sums(o, result, diag);
    return gemm_scaled_sums(o, &unscaled, &scales, result, diag);
}

static mc_status bounds(const host_operands *o, mc_dense *result, mc_diag *diag) {
    const block_scales scales = scales_of(o);
    if (!o->problem->block_scales) return plain_bounds(o, result, diag);
    return gemm_scaled_bounds(o, &unscaled, &scales, result, diag);
}

const mc_operator operator_gemm = {
    .op = MC_OP_GEMM,
    .name = "gemm",
    .title = "gemm",
    .spec = PRODUCT_SPEC,
    .other_spec = PRODUCT_OTHER_SPEC,
    .members =
        PRODUCT_MEMBERS | HAS(lda) | HAS(a_major) | HAS(a_stride) | HAS(block_scales) | HAS(a_blocks_major),
    .matrix = {.rows = MEMBER_m, .cols = MEMBER_k},
    .size = MEMBER_n,
    .operands = operands,
    .operand_count = sizeof operands / sizeof *operands,
    .estimates = true,
    .some_k = true,
    .coarse = true,
    .check = check,
    .sums = sums,
    .bounds = bounds,
    .finish = gemm_finish,
    .range = gemm_range,
};
