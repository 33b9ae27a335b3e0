/* SDDMM: C = A[m,k] B[k,n] where a mask of m x n has its nonzero vectors. */
#include "ops/operator.h"

extern const mc_operator operator_sddmm;

enum { A, B, SCALE, C };

static const operand_row operands[] = {
    [A] = {.name = "a",
           .kind = OPERAND_DENSE,
           .type = MEMBER_lhs,
           .rows = MEMBER_m,
           .cols = MEMBER_k,
           .ld = MEMBER_lda,
           .stride = MEMBER_a_stride,
           .argument = offsetof(mc_args, a)},
    [B] = {.name = "b",
           .kind = OPERAND_DENSE,
           .type = MEMBER_rhs,
           .rows = MEMBER_k,
           .cols = MEMBER_n,
           .ld = MEMBER_ldb,
           .stride = MEMBER_b_stride,
           .by_layout = true,
           .argument = offsetof(mc_args, b)},
    [SCALE] = {.name = "scale",
               .kind = OPERAND_FACTOR,
               .per = MEMBER_scale,
               .argument = offsetof(mc_args, scale),
               .fill = mc_scale_fill},
    [C] = {.name = "c",
           .kind = OPERAND_SAMPLED,
           .out = true,
           .type = MEMBER_out,
           .stride = MEMBER_c_stride,
           .argument = offsetof(mc_args, c)},
};

static const gradient_row gradients[] = {
    {.of = "a",
     .by = "spmm",
     .set = MEMBER_given_values,
     .inputs = {{"values", NULL, false}, {"b", "b", true}}},
    {.of = "b", .by = "spmmt", .transposed = true, .inputs = {{"a", NULL, false}, {"b", "a", false}}},
};

static mc_status check(const plan_problem *problem, mc_type matrix, mc_diag *diag) {
    if (problem->mask_values && matrix != MC_F32)
        return mc_fail(diag, MC_USAGE, "mask_values wants a matrix of f32, this one is of %s",
                       mc_type_text(matrix));
    mc_status status = check_product_sides("a", "b", false, problem, diag);
    return status == MC_OK
               ? check_product_output(&operator_sddmm, problem, (output_types){.bytes = true}, diag)
               : status;
}

static mc_status sums(const host_operands *o, mc_dense *result, mc_diag *diag) {
    return mc_reference_sddmm(o->matrix, o->inputs[A], o->inputs[B], o->problem->layout, result, diag);
}

static mc_status bounds(const host_operands *o, mc_dense *result, mc_diag *diag) {
    return mc_reference_sddmm_bounds(o->matrix, o->inputs[A], o->inputs[B], o->problem->layout, result, diag);
}

static mc_status finish(const host_operands *o, const mc_dense *exact, mc_dense *c, mc_diag *diag) {
    const mc_output output = operator_output(o->problem);
    return mc_reference_sampled(&output, o->matrix, o->problem->order, o->factors[SCALE], exact, c, diag);
}

static mc_status range(const host_operands *o, const sum_range *within, reference_result *want,
                       mc_diag *diag) {
    const mc_output output = operator_output(o->problem);
    return mc_reference_sampled_range(&output, o->matrix, o->problem->order, o->factors[SCALE], within, want,
                                      diag);
}

const mc_operator operator_sddmm = {
    .op = MC_OP_SDDMM,
    .name = "sddmm",
    .title = "SDDMM",
    .members = HAS(op) | HAS(lhs) | HAS(rhs) | HAS(out) | HAS(scale) | HAS(mask_values) | HAS(layout) |
               HAS(order) | HAS(shapes) | HAS(align) | HAS(vec) | HAS(m) | HAS(n) | HAS(k) | HAS(lda) |
               HAS(ldb) | HAS(batch) | HAS(a_stride) | HAS(b_stride) | HAS(c_stride),
    .matrix = {true, "the mask", "MASK", NO_MEMBER, MEMBER_m, MEMBER_n, MEMBER_mask_values},
    .size = MEMBER_k,
    .operands = operands,
    .operand_count = sizeof operands / sizeof *operands,
    .spec = "tile_k = {256, 64}\n",
    .other_spec = "method = \"csr\"\ntile_k = 64\n", /* f32 */
    .estimates = true,
    .gradients = gradients,
    .gradient_count = sizeof gradients / sizeof *gradients,
    .plain = HAS(scale) | HAS(mask_values),
    .check = check,
    .sums = sums,
    .bounds = bounds,
    .finish = finish,
    .range = range,
};
