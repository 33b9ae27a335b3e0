/* gemm: C[m,n] = A[m,k] B[k,n], all dense. */
#include "base/memory.h"
#include "ops/gemm/bounds.h"
#include "ops/operator.h"

extern const mc_operator operator_gemm;

enum { A, B, SCALE, BIAS, B_SCALE, C_SCALE, ZERO, RESIDUAL, C };

static const operand_row operands[] = {
    [A] = {.name = "a",
           .kind = OPERAND_DENSE,
           .type = MEMBER_lhs,
           .rows = MEMBER_m,
           .cols = MEMBER_k,
           .ld = MEMBER_lda,
           .major = MEMBER_a_major,
           .argument = offsetof(mc_args, a)},
    [B] = {.name = "b",
           .kind = OPERAND_DENSE,
           .type = MEMBER_rhs,
           .rows = MEMBER_k,
           .cols = MEMBER_n,
           .ld = MEMBER_ldb,
           .by_layout = true,
           .argument = offsetof(mc_args, b)},
    [SCALE] = {.name = "scale",
               .kind = OPERAND_FACTOR,
               .per = MEMBER_scale,
               .argument = offsetof(mc_args, scale),
               .fill = mc_scale_fill},
    [BIAS] = {.name = "bias",
              .kind = OPERAND_FACTOR,
              .per = MEMBER_bias,
              .argument = offsetof(mc_args, bias),
              .fill = mc_bias_fill},
    [B_SCALE] = {.name = "b_scale",
                 .kind = OPERAND_FACTOR,
                 .per = MEMBER_b_scale,
                 .fill = operand_fill_b_scale},
    [C_SCALE] = {.name = "c_scale",
                 .kind = OPERAND_FACTOR,
                 .per = MEMBER_c_scale,
                 .fill = operand_fill_c_scale},
    [ZERO] = {.name = "zero", .kind = OPERAND_FACTOR, .per = MEMBER_zero, .fill = mc_bias_fill},
    [RESIDUAL] = {.name = "residual",
                  .kind = OPERAND_DENSE,
                  .type = MEMBER_residual,
                  .rows = MEMBER_m,
                  .cols = MEMBER_n,
                  .ld = MEMBER_ldr,
                  .only_if = MEMBER_residual},
    [C] = {.name = "c",
           .kind = OPERAND_DENSE,
           .out = true,
           .type = MEMBER_out,
           .rows = MEMBER_m,
           .cols = MEMBER_n,
           .ld = MEMBER_ldc,
           .argument = offsetof(mc_args, c)},
};

/* -- Checks ------------------------------------------------------------------------------------------- */

static mc_status check(const plan_problem *problem, mc_type matrix, mc_diag *diag) {
    (void)matrix;
    mc_status status = check_product_sides("a", "b", false, problem, diag);
    const output_types types = {.bytes = true, .pairs = true};
    if (status == MC_OK) status = check_product_output(&operator_gemm, problem, types, diag);
    if (status == MC_OK && problem->m > 0 && problem->n > 0 && problem->k == 0)
        status = mc_fail(diag, MC_CANNOT, "k is 0, and there are kernels for 1 and more");
    return status == MC_OK ? check_product_factors(problem, diag) : status;
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

typedef mc_status product(const mc_vsparse *a, const mc_dense *b, mc_dense *c, mc_diag *diag);

/* What MULTIPLY makes of A and of B, whose rows are brought together first. */
static mc_status multiply_by(const plan_problem *problem, const mc_dense *all, const mc_dense *b,
                             product *multiply, mc_dense *result, mc_diag *diag) {
    mc_vsparse a = {0};
    mc_dense rows = {0};
    bool turned = operand_is_turned(problem, &operands[B]);
    mc_status status = as_vectors(all, &a, diag);
    if (status == MC_OK && turned) status = mc_dense_transpose(b, b->rows, &rows, diag);
    if (status == MC_OK) status = multiply(&a, turned ? &rows : b, result, diag);
    mc_dense_free(&rows);
    mc_vsparse_free(&a);
    return status;
}

static mc_status sums(const host_operands *o, mc_dense *result, mc_diag *diag) {
    return multiply_by(o->problem, o->inputs[A], o->inputs[B], mc_reference_spmm, result, diag);
}

/* Of floats of 8 bits. */
static mc_status byte_bounds(const host_operands *o, mc_dense *result, mc_diag *diag) {
    mc_dense a = {0}, b = {0};
    const mc_dense *lhs = o->inputs[A], *rhs = o->inputs[B];
    mc_status status = mc_dense_convert(lhs, "A", lhs->type, lhs->cols, &a, diag);
    if (status == MC_OK) status = mc_dense_convert(rhs, "B", rhs->type, rhs->cols, &b, diag);
    if (status == MC_OK) {
        gemm_take_magnitudes(&a);
        gemm_take_magnitudes(&b);
        status = multiply_by(o->problem, &a, &b, mc_reference_spmm, result, diag);
    }
    if (status == MC_OK) gemm_bound_bytes(result, o->problem->k);
    mc_dense_free(&a);
    mc_dense_free(&b);
    return status;
}

static mc_status bounds(const host_operands *o, mc_dense *result, mc_diag *diag) {
    const mc_type type = o->inputs[A]->type;
    if (mc_type_is_real(type) && mc_type_bits(type) == 8) return byte_bounds(o, result, diag);
    return multiply_by(o->problem, o->inputs[A], o->inputs[B], mc_reference_spmm_bounds, result, diag);
}

static mc_factors factors_of(const host_operands *o) {
    return (mc_factors){.scale = o->factors[SCALE],
                        .b_scale = o->factors[B_SCALE],
                        .bias = o->factors[BIAS],
                        .c_scale = o->factors[C_SCALE],
                        .zero = o->factors[ZERO],
                        .residual = o->inputs[RESIDUAL]};
}

static mc_status finish(const host_operands *o, const mc_dense *exact, mc_dense *c, mc_diag *diag) {
    const mc_output output = operator_output(o->problem);
    const mc_factors factors = factors_of(o);
    return mc_reference_output(&output, &factors, exact, c, diag);
}

static mc_status range(const host_operands *o, const sum_range *within, reference_result *want,
                       mc_diag *diag) {
    const mc_output output = operator_output(o->problem);
    const mc_factors factors = factors_of(o);
    return mc_reference_range(&output, &factors, within, want, diag);
}

const mc_operator operator_gemm = {
    .op = MC_OP_GEMM,
    .name = "gemm",
    .title = "gemm",
    .spec = "arch = \"sm_90a\"\n",
    .members = HAS(op) | HAS(lhs) | HAS(rhs) | HAS(out) | HAS(scale) | HAS(bias) | HAS(activation) |
               HAS(layout) | HAS(shapes) | HAS(align) | HAS(m) | HAS(n) | HAS(k) | HAS(lda) | HAS(ldb) |
               HAS(ldc) | HAS(b_scale) | HAS(c_scale) | HAS(zero) | HAS(residual) | HAS(ldr) | HAS(a_major),
    .matrix = {.rows = MEMBER_m, .cols = MEMBER_k},
    .size = MEMBER_n,
    .operands = operands,
    .operand_count = sizeof operands / sizeof *operands,
    .estimates = true,
    .check = check,
    .sums = sums,
    .bounds = bounds,
    .finish = finish,
    .range = range,
};
