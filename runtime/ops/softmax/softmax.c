/* softmax: over the rows of a V x 1 matrix. docs/softmax.md says what is computed, to the bit; mc_softmax.h
   has the steps. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "mc_activation.h"
#include "mc_softmax.h"
#include "base/memory.h"
#include "base/real.h"
#include "ops/operator.h"
#include "ops/output.h"

extern const mc_operator operator_softmax;

enum { X, SCALE, C_SCALE, LSE, C };

/* Of scores around 1. */
static void fill_scale(float *scale, int64_t count, mc_value_law law, uint64_t seed) {
    mc_scale_fill(scale, count, law, seed);
    for (int64_t i = 0; i < count && law == MC_VALUES_FULL; i++) scale[i] = ldexpf(scale[i], 10);
}

/* Of probabilities. */
static void fill_c_scale(float *scale, int64_t count, mc_value_law law, uint64_t seed) {
    mc_scale_fill(scale, count, law, seed);
    for (int64_t i = 0; i < count; i++) scale[i] = fabsf(scale[i]);
}

static const operand_row operands[] = {
    [X] = {.name = "x",
           .kind = OPERAND_SAMPLED,
           .type = MEMBER_lhs,
           .stride = MEMBER_a_stride,
           .argument = offsetof(mc_args, a)},
    [SCALE] = {.name = "scale",
               .kind = OPERAND_FACTOR,
               .per = MEMBER_scale,
               .argument = offsetof(mc_args, scale),
               .fill = fill_scale},
    [C_SCALE] = {.name = "c_scale", .kind = OPERAND_FACTOR, .per = MEMBER_c_scale, .fill = fill_c_scale},
    [LSE] = {.name = "lse",
             .kind = OPERAND_FACTOR,
             .per = MEMBER_lse,
             .computed = MEMBER_lse,
             .fill = mc_bias_fill},
    [C] = {.name = "c",
           .kind = OPERAND_SAMPLED,
           .out = true,
           .type = MEMBER_out,
           .stride = MEMBER_c_stride,
           .argument = offsetof(mc_args, c)},
};

/* -- What there are no kernels for */

static bool is_real(mc_type type) { return type == MC_F32 || type == MC_F16 || type == MC_BF16; }
static bool is_integer(mc_type type) {
    return type == MC_S8 || type == MC_U8 || type == MC_S16 || type == MC_U16;
}

static bool is_one(mc_per per) { return per == MC_PER_NONE || per == MC_PER_TENSOR; }

static mc_status check(const plan_problem *p, mc_type matrix, mc_diag *diag) {
    if (!is_real(p->lhs) && p->lhs != MC_S32)
        return mc_fail(diag, MC_CANNOT, "a is %s, a softmax takes f32, f16, bf16 or s32",
                       mc_type_text(p->lhs));
    if (!is_real(p->out) && !is_integer(p->out))
        return mc_fail(diag, MC_CANNOT, "c is %s, a softmax gives f32, f16, bf16, s8, u8, s16 or u16",
                       mc_type_text(p->out));
    if (p->mask_values && matrix != MC_F32)
        return mc_fail(diag, MC_USAGE, "mask_values wants a matrix of f32, this one is of %s",
                       mc_type_text(matrix));
    if (!is_one(p->scale) || !is_one(p->c_scale))
        return mc_fail(diag, MC_USAGE, "scale and c_scale must be MC_PER_NONE or MC_PER_TENSOR");
    if (p->c_scale != MC_PER_NONE && is_real(p->out))
        return mc_fail(diag, MC_USAGE, "c is %s: c_scale goes with s8, u8, s16 and u16",
                       mc_type_text(p->out));
    if (p->lse != MC_PER_NONE && p->lse != MC_PER_ROW)
        return mc_fail(diag, MC_USAGE, "lse must be MC_PER_NONE or MC_PER_ROW");
    return MC_OK;
}

/* -- The reference */

/* As max.NaN.f32. */
static float greater(float a, float b) { return isnan(a) || a > b ? a : b; }

static float value_of(mc_type type, int64_t bits) {
    return type == MC_S32 ? (float)bits : real_from_bits(type, (uint32_t)bits);
}

/* X, scaled, with the mask's values: vectors x vec. */
static mc_status scores(const host_operands *o, mc_dense *result, mc_diag *diag) {
    const plan_problem *p = o->problem;
    const mc_vsparse *mask = o->matrix;
    mc_dense x;
    mc_status status = mc_sampled_collect(mask, p->order, o->inputs[X], &x, diag);
    if (status == MC_OK) status = mc_dense_create(MC_F32, x.rows, x.cols, x.cols, result, diag);
    for (int64_t v = 0; status == MC_OK && v < x.rows; v++)
        for (int r = 0; r < mask->vec; r++) {
            float value = value_of(p->lhs, mc_dense_get(&x, v, r));
            if (p->scale != MC_PER_NONE) value *= *o->factors[SCALE];
            if (p->mask_values) value += output_mask_value(mask, v, r);
            ((float *)result->data)[v * mask->vec + r] = value;
        }
    mc_dense_free(&x);
    return status;
}

/* Of a row: the element VALUES[i * STEP], COUNT of them. */
typedef struct score_row {
    const float *values;
    int64_t count, step;
} score_row;

typedef struct row_sum {
    float greatest, shift, sum;
} row_sum;

static float power_of(float value, float shift) {
    float t = greater((value - shift) * SOFTMAX_LOG2_E, ACTIVATION_LEAST_POWER);
    return isnan(t) ? t : mc_power_of(t) - SOFTMAX_LEAST;
}

/* 1 + E in units of 2^-23, less 1. */
static int64_t units_of(float e) {
    float more = 1 + e;
    uint32_t bits;
    memcpy(&bits, &more, sizeof bits);
    return (int64_t)bits - SOFTMAX_ONE_BITS;
}

static row_sum sum_row(const score_row *row) {
    row_sum made = {.greatest = -INFINITY};
    int64_t units = 0;
    for (int64_t i = 0; i < row->count; i++)
        made.greatest = greater(made.greatest, row->values[i * row->step]);
    for (int64_t i = 0; i < row->count; i++)
        if (isnan(row->values[i * row->step])) made.greatest = NAN;
    made.shift = greater(made.greatest, SOFTMAX_LOWEST);
    if (isnan(made.shift) || isinf(made.shift)) return made; /* of which nothing but a NaN comes */
    for (int64_t i = 0; i < row->count; i++)
        units += units_of(power_of(row->values[i * row->step], made.shift));
    made.sum = greater((float)units * SOFTMAX_UNIT, 1);
    return made;
}

static float factor_of(const host_operands *o, const row_sum *row) {
    const plan_problem *p = o->problem;
    float by = fmaf(row->shift, 0, 1 / row->sum);
    if (is_real(p->out)) return by;
    return by * (p->c_scale != MC_PER_NONE ? 1 / *o->factors[C_SCALE] : (float)mc_type_max(p->out));
}

static void finish_row(const host_operands *o, const score_row *row, mc_dense *c, int64_t first, int r) {
    const row_sum sum = sum_row(row);
    bool none = isnan(sum.shift) || isinf(sum.shift);
    float by = none ? NAN : factor_of(o, &sum);
    for (int64_t i = 0; i < row->count; i++) {
        float e = none ? 0 : power_of(row->values[i * row->step], sum.shift);
        mc_dense_set(c, first + i, r, output_element(o->problem->out, e * by, NULL));
    }
}

static mc_status finish(const host_operands *o, const mc_dense *exact, mc_dense *c, mc_diag *diag) {
    const mc_vsparse *mask = o->matrix;
    mc_dense vectors;
    mc_status status = mc_dense_create(o->problem->out, mask->vectors, mask->vec, mask->vec, &vectors, diag);
    for (int64_t b = 0; status == MC_OK && b < mask->row_blocks; b++)
        for (int r = 0; r < mask->vec; r++) {
            int64_t first = mask->row_ptr[b];
            const float *values = (const float *)exact->data + first * mask->vec + r;
            finish_row(o, &(score_row){values, mask->row_ptr[b + 1] - first, mask->vec}, &vectors, first, r);
        }
    if (status == MC_OK) status = mc_sampled_arrange(mask, o->problem->order, &vectors, c, diag);
    mc_dense_free(&vectors);
    return status;
}

static float ln_of(float s) {
    static const float terms[] = SOFTMAX_LN_TERMS;
    enum { TERMS = sizeof terms / sizeof *terms, FRACTION_BITS = 23 };
    int32_t bits;
    float m;
    memcpy(&bits, &s, sizeof bits);
    int32_t power = (bits - SOFTMAX_ROOT_BITS) >> FRACTION_BITS,
            rest = bits - (int32_t)((uint32_t)power << FRACTION_BITS);
    memcpy(&m, &rest, sizeof m);
    float z = (m - 1) / (m + 1), square = z * z, q = terms[TERMS - 1];
    for (int i = TERMS - 2; i >= 0; i--) q = fmaf(q, square, terms[i]);
    return fmaf((float)power, SOFTMAX_LN_2, q * z);
}

/* The logarithms of the rows' sums. */
static mc_status other(const host_operands *o, const mc_dense *exact, size_t index, mc_dense *out,
                       mc_diag *diag) {
    const mc_vsparse *mask = o->matrix;
    (void)index;
    mc_status status = mc_dense_create(MC_F32, 1, mask->rows, mask->rows, out, diag);
    for (int64_t row = 0; status == MC_OK && row < mask->rows; row++) {
        int64_t b = row / mask->vec, first = mask->row_ptr[b];
        const float *values = (const float *)exact->data + first * mask->vec + row % mask->vec;
        const row_sum sum = sum_row(&(score_row){values, mask->row_ptr[b + 1] - first, mask->vec});
        bool whole = !isnan(sum.shift) && !isinf(sum.shift);
        ((float *)out->data)[row] = whole ? sum.greatest + ln_of(sum.sum) : sum.greatest;
    }
    return status;
}

/* -- The row */

const mc_operator operator_softmax = {
    .op = MC_OP_SOFTMAX,
    .name = "softmax",
    .title = "softmax",
    .members = HAS(op) | HAS(lhs) | HAS(out) | HAS(scale) | HAS(c_scale) | HAS(mask_values) | HAS(lse) |
               HAS(order) | HAS(shapes) | HAS(align) | HAS(vec) | HAS(m) | HAS(n) | HAS(batch) |
               HAS(a_stride) | HAS(c_stride),
    .matrix = {true, "the mask", "MASK", NO_MEMBER, MEMBER_m, MEMBER_n, MEMBER_mask_values},
    .size = MEMBER_batch,
    .operands = operands,
    .operand_count = sizeof operands / sizeof *operands,
    .estimates = true,
    .check = check,
    .sums = scores,
    .finish = finish,
    .other = other,
};
