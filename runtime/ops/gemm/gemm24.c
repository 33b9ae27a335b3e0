/* gemm24: C[m,n] = A[m,k] B[k,n], where A, the matrix, is 2:4 sparse and B dense. */
#include "matrix/sparse24_groups.h"
#include "ops/gemm/product.h"

extern const mc_operator operator_gemm24;

enum { FIRST, LAST = FIRST + PRODUCT_OPERANDS };

static const operand_row operands[] = {
#include "ops/gemm/operands.def"
};

static mc_status check(const plan_problem *problem, mc_type matrix, mc_diag *diag) {
    (void)matrix; /* which is lhs */
    if (problem->vec > 1)
        return mc_fail(diag, MC_CANNOT, "a 2:4 matrix has vectors of one row, this one of %d", problem->vec);
    return gemm_check(&operator_gemm24, "the matrix's type", problem, diag);
}

/* Kernels multiply all that groups keep: a zero of A by an infinity is a NaN. */
static mc_status sums(const host_operands *o, mc_dense *result, mc_diag *diag) {
    mc_vsparse a = {0};
    mc_status status = sparse24_fill(o->matrix, &a, diag);
    if (status == MC_OK) status = gemm_sums(o, &a, result, diag);
    mc_vsparse_free(&a);
    return status;
}

static mc_status bounds(const host_operands *o, mc_dense *result, mc_diag *diag) {
    return gemm_bounds(o, o->matrix, result, diag);
}

const mc_operator operator_gemm24 = {
    .op = MC_OP_GEMM24,
    .name = "gemm24",
    .title = "gemm24",
    .spec = PRODUCT_SPEC,
    .other_spec = PRODUCT_OTHER_SPEC,
    .members = PRODUCT_MEMBERS | HAS(vec) | HAS(pattern),
    .matrix = {true, "A", "MATRIX", MEMBER_lhs, MEMBER_m, MEMBER_k, NO_MEMBER},
    .dense = {"gemm", "a", NULL},
    .size = MEMBER_n,
    .operands = operands,
    .operand_count = sizeof operands / sizeof *operands,
    .estimates = true,
    .some_k = true,
    .coarse = true,
    .two_of_four = true,
    .check = check,
    .sums = sums,
    .bounds = bounds,
    .finish = gemm_finish,
    .range = gemm_range,
};
