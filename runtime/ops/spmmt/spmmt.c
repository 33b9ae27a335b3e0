/* spmmt: C[k,n] = A^T B, where A[m,k] is the sparse matrix, of which the values come with each execution in
   the order bcrs (docs/transposed.md). */
#include "ops/operator.h"

extern const mc_operator operator_spmmt;

enum { A, B, C };

static const operand_row operands[] = {
    [A] = {.name = "a", .kind = OPERAND_SAMPLED, .type = MEMBER_lhs, .argument = offsetof(mc_args, a)},
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
           .rows = MEMBER_k,
           .cols = MEMBER_n,
           .ld = MEMBER_ldc,
           .argument = offsetof(mc_args, c)},
};

static const gradient_row gradients[] = {
    {.of = "a", .by = "sddmm", .inputs = {{"a", "b", false}, {"b", NULL, true}}},
    {.of = "b",
     .by = "spmm",
     .set = MEMBER_given_values,
     .inputs = {{"values", "a", false}, {"b", NULL, false}}},
};

static bool is_half(mc_type type) { return type == MC_F16 || type == MC_BF16; }

static mc_status check(const plan_problem *p, mc_type matrix, mc_diag *diag) {
    (void)matrix; /* its values do not count */
    if (!is_half(p->lhs) || p->rhs != p->lhs)
        return mc_fail(diag, MC_CANNOT, "a is %s, b is %s: both must be f16, or both bf16",
                       mc_type_text(p->lhs), mc_type_text(p->rhs));
    if (!is_half(p->out) && p->out != MC_F32)
        return mc_fail(diag, MC_CANNOT, "c is %s, must be f16, bf16 or f32", mc_type_text(p->out));
    return MC_OK;
}

/* -- The reference: a product with the transposed matrix, of vectors of one element */

/* Where each column's elements begin: [cols + 1]. */
static void count_columns(const mc_vsparse *a, int64_t *start) {
    for (int64_t v = 0; v < a->vectors; v++) start[a->col_idx[v] + 1] += a->vec;
    for (int64_t c = 0; c < a->cols; c++) start[c + 1] += start[c];
}

/* START becomes where they end. Rows ascend in each column, for row blocks do. */
static void put_elements(const mc_vsparse *a, const mc_dense *values, int64_t *start, mc_vsparse *to) {
    for (int64_t b = 0; b < a->row_blocks; b++)
        for (int64_t v = a->row_ptr[b]; v < a->row_ptr[b + 1]; v++)
            for (int r = 0; r < a->vec; r++) {
                int64_t place = start[a->col_idx[v]]++;
                to->col_idx[place] = (int32_t)(b * a->vec + r);
                mc_vsparse_set_value(to, place, 0, mc_dense_get(values, v, r));
            }
}

static mc_status transpose(const host_operands *o, mc_vsparse *to, mc_diag *diag) {
    const mc_vsparse *a = o->matrix;
    mc_dense values;
    *to = (mc_vsparse){0};
    mc_status status = mc_sampled_collect(a, MC_ORDER_BCRS, o->inputs[A], &values, diag);
    if (status == MC_OK)
        status = mcrt_vsparse_create(o->problem->lhs, 1, a->cols, a->rows, a->vectors * a->vec, to, diag);
    if (status == MC_OK) {
        count_columns(a, to->row_ptr);
        put_elements(a, &values, to->row_ptr, to);
        for (int64_t c = a->cols; c > 0; c--) to->row_ptr[c] = to->row_ptr[c - 1];
        to->row_ptr[0] = 0;
    }
    mc_dense_free(&values);
    return status;
}

typedef mc_status (*product)(const mc_vsparse *a, const mc_dense *b, mc_dense *result, mc_diag *diag);

static mc_status multiply(const host_operands *o, product of, mc_dense *result, mc_diag *diag) {
    mc_vsparse turned;
    *result = (mc_dense){0};
    mc_status status = transpose(o, &turned, diag);
    if (status == MC_OK) status = of(&turned, o->inputs[B], result, diag);
    mc_vsparse_free(&turned);
    return status;
}

static mc_status sums(const host_operands *o, mc_dense *result, mc_diag *diag) {
    return multiply(o, mc_reference_spmm, result, diag);
}

static mc_status bounds(const host_operands *o, mc_dense *result, mc_diag *diag) {
    return multiply(o, mc_reference_spmm_bounds, result, diag);
}

static mc_status finish(const host_operands *o, const mc_dense *exact, mc_dense *c, mc_diag *diag) {
    const mc_output output = operator_output(o->problem);
    return mc_reference_output(&output, NULL, exact, c, diag);
}

static mc_status range(const host_operands *o, const sum_range *within, reference_result *want,
                       mc_diag *diag) {
    const mc_output output = operator_output(o->problem);
    return mc_reference_range(&output, NULL, within, want, diag);
}

const mc_operator operator_spmmt = {
    .op = MC_OP_SPMMT,
    .name = "spmmt",
    .title = "SpMM^T",
    .members = HAS(op) | HAS(lhs) | HAS(rhs) | HAS(out) | HAS(shapes) | HAS(vec) | HAS(m) | HAS(n) | HAS(k) |
               HAS(ldb) | HAS(ldc),
    .matrix = {true, "A", "MATRIX", NO_MEMBER, MEMBER_m, MEMBER_k, NO_MEMBER},
    .size = MEMBER_n,
    .operands = operands,
    .operand_count = sizeof operands / sizeof *operands,
    .estimates = true,
    .gradients = gradients,
    .gradient_count = sizeof gradients / sizeof *gradients,
    .check = check,
    .sums = sums,
    .bounds = bounds,
    .finish = finish,
    .range = range,
};
