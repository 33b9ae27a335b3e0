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

static const gradient_row gradients[] = {
    {.of = "x",
     .by = "softmax_grad",
     .same = HAS(scale) | HAS(order),
     .inputs = {{"p", "c", false}, {"dp", NULL, false}, {"scale", "scale", false}}},
};

/* Whether two elements share a byte. */
static bool is_pair(mc_type type) { return type == MC_S4 || type == MC_U4; }
static bool is_integer(mc_type type) {
    return type == MC_S8 || type == MC_U8 || type == MC_S16 || type == MC_U16 || is_pair(type);
}

static bool is_one(mc_per per) { return per == MC_PER_NONE || per == MC_PER_TENSOR; }

static mc_status check(const plan_problem *p, mc_type matrix, mc_diag *diag) {
    if (!type_is_wide_real(p->lhs) && p->lhs != MC_S32)
        return mc_fail(diag, MC_CANNOT, "a is %s, a softmax takes f32, f16, bf16 or s32",
                       mc_type_text(p->lhs));
    if (!type_is_wide_real(p->out) && !is_integer(p->out))
        return mc_fail(diag, MC_CANNOT, "c is %s, a softmax gives f32, f16, bf16, s8, u8, s16, u16, s4 or u4",
                       mc_type_text(p->out));
    if (p->mask_values && matrix != MC_F32)
        return mc_fail(diag, MC_USAGE, "mask_values wants a matrix of f32, this one is of %s",
                       mc_type_text(matrix));
    if (!is_one(p->scale) || !is_one(p->c_scale))
        return mc_fail(diag, MC_USAGE, "scale and c_scale must be MC_PER_NONE or MC_PER_TENSOR");
    if (p->c_scale != MC_PER_NONE && type_is_wide_real(p->out))
        return mc_fail(diag, MC_USAGE, "c is %s: c_scale goes with integers", mc_type_text(p->out));
    if (is_pair(p->out) && p->order == MC_ORDER_BCRS && p->vec == 1)
        return mc_fail(diag, MC_CANNOT, "c is %s: in the order bcrs vectors of one element would share bytes",
                       mc_type_text(p->out));
    if (p->lse != MC_PER_NONE && p->lse != MC_PER_ROW)
        return mc_fail(diag, MC_USAGE, "lse must be MC_PER_NONE or MC_PER_ROW");
    return MC_OK;
}

/* -- The reference */

/* Whether the scale goes into the exponent's factor, and its sign alone to the values. */
static bool is_late(const plan_problem *p) {
    return p->exp == MC_EXP_APPROX && mc_type_bytes(p->lhs) == 2 && !p->mask_values;
}

/* The element X of A's, and with VALUE of the mask's. */
static float score_of(const host_operands *o, float x, float value) {
    const plan_problem *p = o->problem;
    bool scaled = p->scale != MC_PER_NONE;
    if (is_late(p)) return scaled && signbit(*o->factors[SCALE]) ? -x : x;
    if (scaled) x *= *o->factors[SCALE];
    return p->mask_values ? x + value : x;
}

/* X: vectors x vec. */
static mc_status scores(const host_operands *o, mc_dense *result, mc_diag *diag) {
    const mc_vsparse *mask = o->matrix;
    bool masked = o->problem->mask_values;
    mc_dense x;
    mc_status status = mc_sampled_collect(mask, o->problem->order, o->inputs[X], &x, diag);
    if (status == MC_OK) status = mc_dense_create(MC_F32, x.rows, x.cols, x.cols, result, diag);
    for (int64_t v = 0; status == MC_OK && v < x.rows; v++)
        for (int r = 0; r < mask->vec; r++)
            ((float *)result->data)[v * mask->vec + r] =
                score_of(o, (float)mc_dense_real(&x, v, r), masked ? output_mask_value(mask, v, r) : 0);
    mc_dense_free(&x);
    return status;
}

static bool is_exact(const plan_problem *p) { return p->exp == MC_EXP_POLYNOMIAL; }

/* Scores are exact; a range comes of exponentials. */
static mc_status no_bounds(const host_operands *o, mc_dense *bounds, mc_diag *diag) {
    return mc_dense_create(MC_F32, o->matrix->vectors, o->matrix->vec, o->matrix->vec, bounds, diag);
}

/* Of a row: the element VALUES[i * STEP], COUNT of them; and what all rows have alike. */
typedef struct score_row {
    const float *values;
    int64_t count, step;
    bool approx;
    float magnitude; /* that scores are still to be multiplied by; 1: they are as they are */
    float by;        /* what makes exponents of them: its product with log2(e) */
    bool once;       /* kernels may make sums with one exchange */
    double gap; /* then: binary places by which the row's greatest element may be below the row block's */
} score_row;

/* A kernel with one exchange leaves a row whose sum, of count exponentials, is too small. */
static double gap_of(int64_t count) {
    return SOFTMAX_LEAST_SUM_POWER + (count > 1 ? log2((double)count) : 0);
}

static score_row row_of(const host_operands *o, const mc_dense *scores, int64_t block, int r) {
    const plan_problem *p = o->problem;
    const mc_vsparse *mask = o->matrix;
    int64_t first = mask->row_ptr[block];
    bool late = is_late(p) && p->scale != MC_PER_NONE;
    float magnitude = late ? real_greater(fabsf(*o->factors[SCALE]), SOFTMAX_LEAST) : 1;
    int64_t count = mask->row_ptr[block + 1] - first;
    return (score_row){.values = (const float *)scores->data + first * mask->vec + r,
                       .count = count,
                       .once = p->exp == MC_EXP_APPROX && p->lse == MC_PER_NONE,
                       .gap = gap_of(count),
                       .step = mask->vec,
                       .approx = p->exp == MC_EXP_APPROX,
                       .magnitude = magnitude,
                       .by = magnitude * SOFTMAX_LOG2_E};
}

/* Which end of a range. Where a polynomial makes exponentials both are one. */
typedef enum end { LOW, HIGH, ENDS } end;

typedef struct row_sum {
    float greatest, shift, sums[ENDS];
} row_sum;

/* How far 2^T may be off, as a part of it. With one exchange it is the product of two exponentials, rounded,
   as is the factor of its quotient; the two exponents are together at most |t| + gap, and off by at most two
   roundings each, where T itself has two, too. */
static double error_of(const score_row *row, double t) {
    const double one_rounding = 0x1p-24;
    if (!row->once) return SOFTMAX_APPROX_ERROR;
    double exponents = 2 * one_rounding * (2 * fabs(t) + row->gap);
    return 2 * SOFTMAX_APPROX_ERROR + 2 * one_rounding + 0.7 * exponents; /* 0.7: above ln(2) */
}

/* Below which exponentials are 0, as ex2.approx.ftz.f32 makes them. With one exchange it has another
   exponent: they may be 0 where they are as many places greater, or a product that is smaller still. */
static double least_power(const score_row *row, end at) {
    if (!row->once) return (double)SOFTMAX_LEAST;
    return at == LOW ? ldexp(exp2(row->gap), -126) : 0;
}

/* The least or the greatest of what makes 2^T. */
static float approximate(const score_row *row, float t, end at) {
    bool is_one = fabsf(t) < SOFTMAX_LEAST && !row->once;
    if (isnan(t) || is_one) return isnan(t) ? t : 1;
    double error = error_of(row, (double)t), e = exp2((double)t) * (1 + (at == LOW ? -error : error));
    if (isinf(t) || e < least_power(row, at)) return 0;
    float rounded = (float)e;
    if (at == LOW && (double)rounded > e) return nextafterf(rounded, 0);
    return at == HIGH && (double)rounded < e ? nextafterf(rounded, INFINITY) : rounded;
}

static float power_of(const score_row *row, int64_t i, float shift, end at) {
    float d = row->values[i * row->step] - shift;
    if (row->approx) return approximate(row, d * row->by, at);
    float t = real_greater(d * SOFTMAX_LOG2_E, ACTIVATION_LEAST_POWER);
    return isnan(t) ? t : mc_power_of(t) - SOFTMAX_LEAST;
}

/* 1 + E in units of 2^-23, less 1. */
static int64_t units_of(float e) { return (int64_t)real_to_bits(MC_F32, 1 + e) - SOFTMAX_ONE_BITS; }

static bool is_number(const row_sum *sum, const score_row *row) {
    return isfinite(sum->shift) && isfinite(row->by);
}

/* SUM as kernels may have it: with one exchange from additions in f32, where it itself counts whole units. */
static float added(const score_row *row, float sum, end at) {
    if (!row->once) return sum;
    double off = 0x1p-24 * (double)(row->count + SOFTMAX_ADDS);
    return (float)((double)sum * (1 + (at == LOW ? -off : off)));
}

static row_sum sum_row(const score_row *row) {
    row_sum made = {.greatest = -INFINITY};
    for (int64_t i = 0; i < row->count; i++)
        made.greatest = real_greater(made.greatest, row->values[i * row->step]);
    for (int64_t i = 0; i < row->count; i++)
        if (isnan(row->values[i * row->step])) made.greatest = NAN;
    made.shift = real_greater(made.greatest, SOFTMAX_LOWEST);
    if (!is_number(&made, row)) return made; /* of which nothing but a NaN comes */
    for (end at = LOW; at < ENDS; at++) {
        int64_t units = 0;
        for (int64_t i = 0; i < row->count; i++) units += units_of(power_of(row, i, made.shift, at));
        made.sums[at] = added(row, real_greater((float)units * SOFTMAX_UNIT, 1), at);
        if (!row->approx) made.sums[HIGH] = made.sums[LOW];
        if (!row->approx) break;
    }
    return made;
}

/* What exponentials are multiplied by, of a row of which the sum is SUM. */
static float factor_of(const host_operands *o, float sum) {
    const plan_problem *p = o->problem;
    float by = 1 / sum;
    if (type_is_wide_real(p->out)) return by;
    return by * (p->c_scale != MC_PER_NONE ? 1 / *o->factors[C_SCALE] : (float)mc_type_max(p->out));
}

/* An end of the elements of row R of vectors from FIRST on. With a factor below 0 the greatest exponentials
   give the least elements. */
static void finish_row(const host_operands *o, const score_row *row, const row_sum *sum, end at, mc_dense *c,
                       int64_t first, int r) {
    bool none = !is_number(sum, row), turned = factor_of(o, 1) < 0;
    end of_powers = turned ? (end)(HIGH - at) : at;
    float by = none ? NAN : factor_of(o, sum->sums[HIGH - of_powers]);
    for (int64_t i = 0; i < row->count; i++) {
        float e = none ? 0 : power_of(row, i, sum->shift, of_powers);
        mc_dense_set(c, first + i, r, output_element(o->problem->out, e * by, NULL));
    }
}

static void finish_rows(const host_operands *o, const mc_dense *scores, int ends, mc_dense *vectors) {
    const mc_vsparse *mask = o->matrix;
    for (int64_t b = 0; b < mask->row_blocks; b++)
        for (int r = 0; r < mask->vec; r++) {
            const score_row row = row_of(o, scores, b, r);
            const row_sum sum = sum_row(&row);
            for (int at = LOW; at < ends; at++)
                finish_row(o, &row, &sum, (end)at, &vectors[at], mask->row_ptr[b], r);
        }
}

/* Elements of vectors one behind the other, also of an odd number of those that share bytes. */
static mc_status create_vectors(mc_type type, const mc_vsparse *mask, mc_dense *vectors, mc_diag *diag) {
    int64_t count = mask->vectors * mask->vec, whole = is_pair(type) ? count + count % 2 : count;
    mc_status status = mc_dense_create(type, 1, whole, whole, vectors, diag);
    if (status == MC_OK) vectors->rows = mask->vectors, vectors->cols = vectors->ld = mask->vec;
    return status;
}

/* ENDS of C: the one there is, or both. */
static mc_status finish_ends(const host_operands *o, const mc_dense *scores, int ends, mc_dense *const *c,
                             mc_diag *diag) {
    const mc_vsparse *mask = o->matrix;
    mc_dense vectors[ENDS] = {{0}};
    mc_status status = MC_OK;
    for (int at = LOW; at < ends && status == MC_OK; at++)
        status = create_vectors(o->problem->out, mask, &vectors[at], diag);
    if (status == MC_OK) finish_rows(o, scores, ends, vectors);
    for (int at = LOW; at < ends && status == MC_OK; at++)
        status = mc_sampled_arrange(mask, o->problem->order, &vectors[at], c[at], diag);
    for (int at = LOW; at < ends; at++) mc_dense_free(&vectors[at]);
    return status;
}

static mc_status finish(const host_operands *o, const mc_dense *exact, mc_dense *c, mc_diag *diag) {
    return finish_ends(o, exact, 1, &c, diag);
}

static mc_status range(const host_operands *o, const sum_range *sums, reference_result *want, mc_diag *diag) {
    *want = (reference_result){0};
    mc_dense *const ends[ENDS] = {&want->low, &want->high};
    mc_status status = finish_ends(o, &sums->least, ENDS, ends, diag);
    if (status != MC_OK) mc_result_free(want);
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

/* The steps of ln() are monotone but for their own errors, which are below 2^-23 of it each. */
static float log_of_end(const score_row *row, const row_sum *sum, end at) {
    float ln = ln_of(sum->sums[at]);
    if (row->approx) ln += (at == LOW ? -0x1p-21F : 0x1p-21F) * fabsf(ln);
    return ln + sum->greatest * row->magnitude;
}

static mc_status log_rows(const host_operands *o, const mc_dense *scores, end at, mc_dense *out,
                          mc_diag *diag) {
    const mc_vsparse *mask = o->matrix;
    mc_status status = mc_dense_create(MC_F32, 1, mask->rows, mask->rows, out, diag);
    for (int64_t i = 0; status == MC_OK && i < mask->rows; i++) {
        const score_row row = row_of(o, scores, i / mask->vec, (int)(i % mask->vec));
        const row_sum sum = sum_row(&row);
        ((float *)out->data)[i] =
            is_number(&sum, &row) ? log_of_end(&row, &sum, at) : sum.greatest * row.magnitude + row.by * 0;
    }
    return status;
}

/* The logarithms of the rows' sums. */
static mc_status other(const host_operands *o, const mc_dense *exact, size_t index, reference_result *out,
                       mc_diag *diag) {
    (void)index;
    *out = (reference_result){0};
    mc_status status = log_rows(o, exact, LOW, &out->low, diag);
    if (status == MC_OK && !is_exact(o->problem)) status = log_rows(o, exact, HIGH, &out->high, diag);
    return status;
}

/* -- The row */

const mc_operator operator_softmax = {
    .op = MC_OP_SOFTMAX,
    .name = "softmax",
    .title = "softmax",
    .members = HAS(op) | HAS(lhs) | HAS(out) | HAS(scale) | HAS(c_scale) | HAS(mask_values) | HAS(lse) |
               HAS(exp) | HAS(order) | HAS(shapes) | HAS(align) | HAS(vec) | HAS(m) | HAS(n) | HAS(batch) |
               HAS(a_stride) | HAS(c_stride),
    .matrix = {true, "the mask", "MASK", NO_MEMBER, MEMBER_m, MEMBER_n, MEMBER_mask_values},
    .size = MEMBER_batch,
    .operands = operands,
    .operand_count = sizeof operands / sizeof *operands,
    .estimates = true,
    .gradients = gradients,
    .gradient_count = sizeof gradients / sizeof *gradients,
    .plain = HAS(c_scale),
    .check = check,
    .sums = scores,
    .exact = is_exact,
    .bounds = no_bounds,
    .finish = finish,
    .range = range,
    .other = other,
};
