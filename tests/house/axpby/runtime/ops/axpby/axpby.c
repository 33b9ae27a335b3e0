/* axpby: C = 2 A - B of dense matrices, an operator without a sparse matrix. */
#include "ops/operator.h"

extern const mc_operator operator_axpby;

enum { A, B, C };

static const operand_row operands[] = {
    [A] = {.name = "a",
           .kind = OPERAND_DENSE,
           .type = MEMBER_lhs,
           .rows = MEMBER_m,
           .cols = MEMBER_n,
           .ld = MEMBER_lda,
           .argument = offsetof(mc_args, a)},
    [B] = {.name = "b",
           .kind = OPERAND_DENSE,
           .type = MEMBER_rhs,
           .rows = MEMBER_m,
           .cols = MEMBER_n,
           .ld = MEMBER_ldb,
           .argument = offsetof(mc_args, b)},
    [C] = {.name = "c",
           .kind = OPERAND_DENSE,
           .out = true,
           .type = MEMBER_out,
           .rows = MEMBER_m,
           .cols = MEMBER_n,
           .ld = MEMBER_ldc,
           .argument = offsetof(mc_args, c)},
};

static mc_status check(const plan_problem *problem, mc_type matrix, mc_diag *diag) {
    (void)matrix;
    if (problem->lhs == MC_S8 && problem->rhs == MC_S8 && problem->out == MC_S32) return MC_OK;
    return mc_fail(diag, MC_CANNOT, "an axpby takes a and b of s8, and gives s32");
}

static mc_status sums(const host_operands *o, mc_dense *result, mc_diag *diag) {
    const mc_dense *a = o->inputs[A], *b = o->inputs[B];
    mc_status status = mc_dense_create(MC_S64, a->rows, a->cols, a->cols, result, diag);
    for (int64_t i = 0; status == MC_OK && i < a->rows; i++)
        for (int64_t j = 0; j < a->cols; j++)
            mc_dense_set(result, i, j, 2 * mc_dense_get(a, i, j) - mc_dense_get(b, i, j));
    return status;
}

static mc_status finish(const host_operands *o, const mc_dense *exact, mc_dense *c, mc_diag *diag) {
    const mc_output output = operator_output(o->problem);
    return mc_reference_output(&output, NULL, exact, c, diag);
}

const mc_operator operator_axpby = {
    .op = MC_OP_AXPBY,
    .name = "axpby",
    .title = "axpby",
    .members = HAS(op) | HAS(lhs) | HAS(rhs) | HAS(out) | HAS(shapes) | HAS(m) | HAS(n) | HAS(lda) |
               HAS(ldb) | HAS(ldc),
    .matrix = {.rows = MEMBER_m},
    .size = MEMBER_n,
    .operands = operands,
    .operand_count = sizeof operands / sizeof *operands,
    .check = check,
    .sums = sums,
    .finish = finish,
};
