/* SpMM: C[m,n] = A[m,k] B[k,n], A sparse. */
#include "ops/operator.h"
#include "ops/spmm/panel_zeros.h"

extern const mc_operator operator_spmm;

enum { VALUES, B, SCALE, BIAS, B_SCALE, C_SCALE, ZERO, RESIDUAL, BETA, C };

static const operand_row operands[] = {
    [VALUES] = {.name = "values",
                .kind = OPERAND_VALUES,
                .type = MEMBER_lhs,
                .only_if = MEMBER_given_values,
                .stride = MEMBER_values_stride},
    [B] = {.name = "b",
           .kind = OPERAND_DENSE,
           .type = MEMBER_rhs,
           .rows = MEMBER_k,
           .cols = MEMBER_n,
           .ld = MEMBER_ldb,
           .major = MEMBER_b_major,
           .transposed = true,
           .stride = MEMBER_b_stride,
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
                  .major = MEMBER_c_major,
                  .only_if = MEMBER_residual,
                  .stride = MEMBER_r_stride},
    [BETA] = {.name = "beta", .kind = OPERAND_FACTOR, .per = MEMBER_beta, .fill = mc_bias_fill},
    [C] = {.name = "c",
           .kind = OPERAND_DENSE,
           .out = true,
           .type = MEMBER_out,
           .rows = MEMBER_m,
           .cols = MEMBER_n,
           .ld = MEMBER_ldc,
           .major = MEMBER_c_major,
           .stride = MEMBER_c_stride,
           .argument = offsetof(mc_args, c)},
};

static const gradient_row gradients[] = {
    {.of = "b", .by = "spmmt", .inputs = {{"a", "values", false}, {"b", NULL, false}}},
    {.of = "values", .by = "sddmm", .inputs = {{"a", NULL, false}, {"b", "b", true}}},
    {.of = "bias"},
    {.of = "residual"},
};

/* What may lie by columns. */
static mc_status check_majors(const plan_problem *p, mc_diag *diag) {
    if (p->c_major == MC_MAJOR_COLUMN && mc_type_bytes(p->out) == 0)
        return mc_fail(diag, MC_CANNOT,
                       "c is %s, of which two columns share a byte: c_major must be MC_MAJOR_ROW",
                       mc_type_text(p->out));
    return MC_OK;
}

/* The residual's factor. */
static mc_status check_beta(const plan_problem *p, mc_diag *diag) {
    if (p->beta == MC_PER_NONE) return MC_OK;
    if (p->beta != MC_PER_TENSOR) return mc_fail(diag, MC_USAGE, "beta must be MC_PER_NONE or MC_PER_TENSOR");
    if (p->residual == MC_RESIDUAL_NONE)
        return mc_fail(diag, MC_USAGE, "beta is set, which goes with residual");
    return p->c_major == MC_MAJOR_ROW ? MC_OK
                                      : mc_fail(diag, MC_CANNOT, "beta wants a c by rows: MC_MAJOR_ROW");
}

/* What kernels take as another one wrote it. */
static mc_status check_given(const plan_problem *p, mc_diag *diag) {
    int bits = mc_type_bits(p->lhs);
    if (bits != 4 && bits != 8 && bits != 16)
        return mc_fail(diag, MC_CANNOT, "given_values wants a matrix of 4, 8 or 16 bits, this one is of %s",
                       mc_type_text(p->lhs));
    if (bits == 4 && mc_type_is_real(p->rhs))
        return mc_fail(diag, MC_CANNOT, "given_values of %s want a b of integers, not of %s",
                       mc_type_text(p->lhs), mc_type_text(p->rhs));
    return p->exact ? mc_fail(diag, MC_CANNOT, "given_values has no exact sums: they are s32") : MC_OK;
}

static mc_status check(const plan_problem *problem, mc_type matrix, mc_diag *diag) {
    (void)matrix; /* which is lhs */
    mc_status status = check_product_sides("the matrix's type", "b", true, problem, diag);
    if (status == MC_OK && problem->given_values) status = check_given(problem, diag);
    const output_types types = {.s64 = true, .bytes = true, .pairs = true};
    if (status == MC_OK) status = check_product_output(&operator_spmm, problem, types, diag);
    if (status == MC_OK) status = check_product_factors(problem, diag);
    if (status == MC_OK) status = check_beta(problem, diag);
    return status == MC_OK ? check_majors(problem, diag) : status;
}

/* Sets *ROWS to the input AT as rows: to TURNED, which the caller frees, where it lies in columns. */
static mc_status input_rows(const host_operands *o, int at, mc_dense *turned, const mc_dense **rows,
                            mc_diag *diag) {
    *turned = (mc_dense){0};
    *rows = o->inputs[at];
    if (*rows == NULL || (*rows)->data == NULL || !operand_is_turned(o->problem, &operands[at])) return MC_OK;
    const mc_dense *given = *rows;
    *rows = turned;
    return mc_dense_transpose(given, given->rows, turned, diag);
}

typedef mc_status reference(const mc_vsparse *a, const mc_dense *b, mc_dense *result, mc_diag *diag);

static mc_status of_rows(const host_operands *o, reference *compute, mc_dense *result, mc_diag *diag) {
    const mc_dense *b;
    mc_dense turned;
    mc_status status = input_rows(o, B, &turned, &b, diag);
    if (status == MC_OK) status = compute(o->matrix, b, result, diag);
    mc_dense_free(&turned);
    return status;
}

static mc_status sums(const host_operands *o, mc_dense *result, mc_diag *diag) {
    return of_rows(o, mc_reference_spmm, result, diag);
}

static mc_status bounds(const host_operands *o, mc_dense *result, mc_diag *diag) {
    return of_rows(o, mc_reference_spmm_bounds, result, diag);
}

/* ADDED: the residual, row-major. */
static mc_factors factors_of(const host_operands *o, const mc_dense *added) {
    return (mc_factors){.scale = o->factors[SCALE],
                        .b_scale = o->factors[B_SCALE],
                        .bias = o->factors[BIAS],
                        .c_scale = o->factors[C_SCALE],
                        .zero = o->factors[ZERO],
                        .beta = o->factors[BETA],
                        .residual = added};
}

static bool is_turned(const host_operands *o) { return operand_is_turned(o->problem, &operands[C]); }

/* C, which is row-major, becomes what is stored. */
static mc_status turn(const host_operands *o, mc_dense *c, mc_diag *diag) {
    mc_dense turned;
    if (!is_turned(o) || c->data == NULL) return MC_OK;
    mc_status status = mc_dense_transpose(c, c->rows, &turned, diag);
    mc_dense_free(c);
    if (status == MC_OK) *c = turned;
    return status;
}

static mc_status finish(const host_operands *o, const mc_dense *exact, mc_dense *c, mc_diag *diag) {
    const mc_output output = operator_output(o->problem);
    const mc_dense *added;
    mc_dense turned;
    mc_status status = input_rows(o, RESIDUAL, &turned, &added, diag);
    const mc_factors factors = factors_of(o, added);
    if (status == MC_OK) status = mc_reference_output(&output, &factors, exact, c, diag);
    mc_dense_free(&turned);
    return status == MC_OK ? turn(o, c, diag) : status;
}

static mc_status range(const host_operands *o, const sum_range *within, reference_result *want,
                       mc_diag *diag) {
    const mc_output output = operator_output(o->problem);
    const mc_dense *added;
    mc_dense turned;
    mc_status status = input_rows(o, RESIDUAL, &turned, &added, diag);
    const mc_factors factors = factors_of(o, added);
    if (status == MC_OK) status = mc_reference_range(&output, &factors, within, want, diag);
    mc_dense_free(&turned);
    if (status != MC_OK) return status;
    status = turn(o, &want->low, diag);
    if (status == MC_OK) status = turn(o, &want->high, diag);
    if (status != MC_OK) mc_result_free(want);
    return status;
}

static mc_status multiplied(const mc_kernel *kernel, const host_operands *o, mc_vsparse *with_zeros,
                            mc_diag *diag) {
    return panel_zeros_add(kernel, o->matrix, o->inputs[B], with_zeros, diag);
}

const mc_operator operator_spmm = {
    .op = MC_OP_SPMM,
    .name = "spmm",
    .title = "SpMM",
    .spec = "tile_n = {128, 64, 32}\n",
    .other_spec = "staging = \"csr\"\ntile_n = 32\n", /* f32 */
    .members = HAS(op) | HAS(lhs) | HAS(rhs) | HAS(out) | HAS(scale) | HAS(bias) | HAS(activation) |
               HAS(exact) | HAS(shapes) | HAS(align) | HAS(vec) | HAS(m) | HAS(n) | HAS(k) | HAS(ldb) |
               HAS(ldc) | HAS(batch) | HAS(b_stride) | HAS(c_stride) | HAS(values_stride) |
               HAS(given_values) | HAS(b_scale) | HAS(c_scale) | HAS(zero) | HAS(residual) | HAS(ldr) |
               HAS(r_stride) | HAS(c_major) | HAS(b_major) | HAS(beta),
    .matrix = {true, "A", "MATRIX", MEMBER_lhs, MEMBER_m, MEMBER_k, NO_MEMBER},
    .dense = {"gemm", "a", .turned = "b"},
    .size = MEMBER_n,
    .operands = operands,
    .operand_count = sizeof operands / sizeof *operands,
    .estimates = true,
    .csr = true,
    .gradients = gradients,
    .gradient_count = sizeof gradients / sizeof *gradients,
    .plain = HAS(scale) | HAS(b_scale) | HAS(c_scale) | HAS(zero) | HAS(activation) | HAS(exact) | HAS(beta),
    .check = check,
    .sums = sums,
    .bounds = bounds,
    .finish = finish,
    .range = range,
    .multiplied = multiplied,
};
