#include "ops/gemm/product.h"
#include <stdlib.h>
#include "base/memory.h"
#include "ops/gemm/bounds.h"

static bool is_byte(mc_type type) { return mc_type_is_real(type) && mc_type_bits(type) == 8; }

static mc_status check_sums(const plan_problem *p, mc_diag *diag) {
    bool bytes = is_byte(p->lhs) && is_byte(p->rhs), halves = p->lhs == MC_F16 && p->rhs == MC_F16;
    if (p->sums == MC_SUMS_PROMOTED && !bytes)
        return mc_fail(diag, MC_USAGE, "sums are promoted of floats of 8 bits, not of %s by %s",
                       mc_type_text(p->lhs), mc_type_text(p->rhs));
    if (p->sums == MC_SUMS_F16 && !halves)
        return mc_fail(diag, MC_USAGE, "sums are f16 of f16 by f16, not of %s by %s", mc_type_text(p->lhs),
                       mc_type_text(p->rhs));
    return MC_OK;
}

static bool is_nibble(mc_type type) { return mc_type_bits(type) == 4; }

static mc_status check_widths(const char *lhs, const plan_problem *p, mc_diag *diag) {
    if (is_nibble(p->lhs) == is_nibble(p->rhs)) return MC_OK;
    return mc_fail(diag, MC_CANNOT, "%s is %s, b is %s: 4 bits are multiplied by 4 bits", lhs,
                   mc_type_text(p->lhs), mc_type_text(p->rhs));
}

mc_status gemm_check(const mc_operator *o, const char *lhs, const plan_problem *problem, mc_diag *diag) {
    mc_status status = check_product_sides(lhs, "b", false, problem, diag);
    if (status == MC_OK) status = check_widths(lhs, problem, diag);
    if (status == MC_OK) status = check_sums(problem, diag);
    const output_types types = {.bytes = true, .pairs = true};
    if (status == MC_OK) status = check_product_output(o, problem, types, diag);
    if (status == MC_OK && problem->m > 0 && problem->n > 0) status = operator_check_k(o, problem->k, diag);
    return status == MC_OK ? check_product_factors(problem, diag) : status;
}

/* -- The reference -------------------------------------------------------------------------------------- */

/* The index of B in the list of the problem's operator. */
static int b_of(const host_operands *o) { return operator_operand(operator_of(o->problem->op), "b"); }

typedef mc_status product(const mc_vsparse *a, const mc_dense *b, mc_dense *c, mc_diag *diag);

/* What MULTIPLY makes of A and of B, whose rows are brought together first. */
static mc_status multiply_by(const host_operands *o, const mc_vsparse *a, const mc_dense *b,
                             product *multiply, mc_dense *result, mc_diag *diag) {
    mc_dense rows = {0};
    bool turned = operand_is_turned(o->problem, &operator_of(o->problem->op)->operands[b_of(o)]);
    mc_status status = turned ? mc_dense_transpose(b, type_leading(b->type, b->rows), &rows, diag) : MC_OK;
    if (status == MC_OK) status = multiply(a, turned ? &rows : b, result, diag);
    mc_dense_free(&rows);
    return status;
}

mc_status gemm_sums(const host_operands *o, const mc_vsparse *a, mc_dense *result, mc_diag *diag) {
    return multiply_by(o, a, o->inputs[b_of(o)], mc_reference_spmm, result, diag);
}

/* A, whose values are the caller's to free, with magnitudes for values. */
static mc_status take_magnitudes(const mc_vsparse *a, mc_vsparse *magnitudes, mc_diag *diag) {
    mc_dense values;
    const mc_dense all = {.type = a->type, .rows = a->vectors, .cols = 1, .ld = 1, .data = a->values};
    mc_status status = mc_dense_convert(&all, "A", a->type, 1, &values, diag);
    if (status != MC_OK) return status;
    gemm_take_magnitudes(&values);
    *magnitudes = *a;
    magnitudes->values = values.data;
    return MC_OK;
}

/* Sums of the products of magnitudes. The call creates RESULT. */
static mc_status magnitude_sums(const host_operands *o, const mc_vsparse *lhs, mc_dense *result,
                                mc_diag *diag) {
    const mc_dense *rhs = o->inputs[b_of(o)];
    mc_vsparse a = {0};
    mc_dense b = {0};
    mc_status status = take_magnitudes(lhs, &a, diag);
    if (status == MC_OK) status = mc_dense_convert(rhs, "B", rhs->type, rhs->cols, &b, diag);
    if (status == MC_OK) {
        gemm_take_magnitudes(&b);
        status = multiply_by(o, &a, &b, mc_reference_spmm, result, diag);
    }
    free(a.values);
    mc_dense_free(&b);
    return status;
}

/* Of sums in f32. */
static mc_status float_bounds(const host_operands *o, const mc_vsparse *a, mc_dense *result, mc_diag *diag) {
    return multiply_by(o, a, o->inputs[b_of(o)], mc_reference_spmm_bounds, result, diag);
}

/* Of floats of 8 bits. */
static mc_status byte_bounds(const host_operands *o, const mc_vsparse *a, mc_dense *result, mc_diag *diag) {
    mc_status status = magnitude_sums(o, a, result, diag);
    if (status == MC_OK) gemm_bound_bytes(result, o->problem->k, o->problem->sums == MC_SUMS_PROMOTED);
    return status;
}

/* Of sums of f16: those of sums of f32, and what rounding to f16 adds. */
static mc_status half_bounds(const host_operands *o, const mc_vsparse *a, mc_dense *result, mc_diag *diag) {
    mc_dense magnitudes = {0};
    mc_status status = magnitude_sums(o, a, &magnitudes, diag);
    if (status == MC_OK) status = float_bounds(o, a, result, diag);
    if (status == MC_OK) gemm_bound_halves(&magnitudes, o->problem->k, result);
    mc_dense_free(&magnitudes);
    return status;
}

mc_status gemm_bounds(const host_operands *o, const mc_vsparse *a, mc_dense *result, mc_diag *diag) {
    if (is_byte(a->type)) return byte_bounds(o, a, result, diag);
    if (o->problem->sums == MC_SUMS_F16) return half_bounds(o, a, result, diag);
    return float_bounds(o, a, result, diag);
}

/* -- What becomes of sums ------------------------------------------------------------------------------- */

static mc_factors factors_of(const host_operands *o) {
    const int first = b_of(o);
    return (mc_factors){.scale = o->factors[first + PRODUCT_SCALE],
                        .b_scale = o->factors[first + PRODUCT_B_SCALE],
                        .bias = o->factors[first + PRODUCT_BIAS],
                        .c_scale = o->factors[first + PRODUCT_C_SCALE],
                        .zero = o->factors[first + PRODUCT_ZERO],
                        .residual = o->inputs[first + PRODUCT_RESIDUAL]};
}

mc_status gemm_finish(const host_operands *o, const mc_dense *sums, mc_dense *c, mc_diag *diag) {
    const mc_output output = operator_output(o->problem);
    const mc_factors factors = factors_of(o);
    return mc_reference_output(&output, &factors, sums, c, diag);
}

mc_status gemm_range(const host_operands *o, const sum_range *within, reference_result *want, mc_diag *diag) {
    const mc_output output = operator_output(o->problem);
    const mc_factors factors = factors_of(o);
    return mc_reference_range(&output, &factors, within, want, diag);
}
