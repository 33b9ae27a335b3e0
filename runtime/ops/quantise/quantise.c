/* quantise: C = A[m,n] with other elements, transposed. docs/quantise.md says what is computed, to the bit.
   */
#include <math.h>
#include "base/element.h"
#include "base/quantiser.h"
#include "base/real.h"
#include "ops/operator.h"

extern const mc_operator operator_quantise;

enum { X, SCALE, ZERO, C };

/* Of activations around 1; on the way back, of sums. */
static void fill_scales(float *scale, int64_t count, mc_value_law law, uint64_t seed) {
    mc_scale_fill(scale, count, law, seed);
    for (int64_t i = 0; i < count && law == MC_VALUES_FULL; i++) scale[i] = ldexpf(scale[i], 6);
}

static const operand_row operands[] = {
    [X] = {.name = "x",
           .kind = OPERAND_DENSE,
           .type = MEMBER_lhs,
           .rows = MEMBER_m,
           .cols = MEMBER_n,
           .ld = MEMBER_lda,
           .stride = MEMBER_a_stride,
           .argument = offsetof(mc_args, a)},
    [SCALE] = {.name = "scale",
               .kind = OPERAND_FACTOR,
               .per = MEMBER_scale,
               .computed = MEMBER_computed,
               .argument = offsetof(mc_args, scale),
               .fill = fill_scales},
    [ZERO] = {.name = "zero",
              .kind = OPERAND_FACTOR,
              .per = MEMBER_zero,
              .computed = MEMBER_computed,
              .fill = mc_bias_fill},
    [C] = {.name = "c",
           .kind = OPERAND_DENSE,
           .out = true,
           .type = MEMBER_out,
           .rows = MEMBER_m,
           .cols = MEMBER_n,
           .ld = MEMBER_ldc,
           .stride = MEMBER_c_stride,
           .by_layout = true,
           .argument = offsetof(mc_args, c)},
};

/* -- What there are no kernels for */

static bool is_narrow(mc_type type) {
    return type == MC_S8 || type == MC_U8 || type == MC_S4 || type == MC_U4;
}

static mc_status check_back(const plan_problem *p, mc_diag *diag) {
    if (!mc_type_is_real(p->lhs) && p->lhs != MC_S32)
        return mc_fail(diag, MC_CANNOT, "x is %s, the way back takes s32, f16, bf16 or f32",
                       mc_type_text(p->lhs));
    if (p->zero == MC_PER_NONE && !p->computed) return MC_OK;
    return mc_fail(diag, MC_USAGE, "c is %s: zero points and computed scales go with s8, u8, s4 and u4",
                   mc_type_text(p->out));
}

/* Whether elements stay as they are. */
static bool moves(const plan_problem *p) {
    bool integer = p->out == MC_S4 || p->out == MC_S8 || p->out == MC_S16 || p->out == MC_S32;
    return p->lhs == p->out && p->scale == MC_PER_NONE && p->zero == MC_PER_NONE && !p->computed &&
           (integer || mc_type_is_real(p->out));
}

static mc_status check_scale(const plan_problem *p, mc_diag *diag) {
    if (p->scale == MC_PER_NONE)
        return mc_fail(diag, MC_USAGE, "c is %s, which wants a scale", mc_type_text(p->out));
    if (p->scale == MC_PER_COLUMN)
        return mc_fail(diag, MC_CANNOT,
                       "scale is by column: there are kernels for one scale, and one for each row");
    if (p->zero == MC_PER_NONE || p->zero == p->scale) return MC_OK;
    return mc_fail(diag, MC_USAGE, "zero points go as scales do: zero must be MC_PER_NONE, or as scale");
}

static mc_status check(const plan_problem *p, mc_type matrix, mc_diag *diag) {
    (void)matrix;
    if (moves(p)) return MC_OK;
    if (mc_type_is_real(p->out)) return check_back(p, diag);
    if (!is_narrow(p->out))
        return mc_fail(diag, MC_CANNOT,
                       "c is %s, a quantise gives s8, u8, s4 or u4, and back f16, bf16 or f32",
                       mc_type_text(p->out));
    if (!mc_type_is_real(p->lhs))
        return mc_fail(diag, MC_CANNOT, "x is %s, a quantise takes f16, bf16 or f32", mc_type_text(p->lhs));
    return check_scale(p, diag);
}

/* -- The reference */

static float farther(float reach, float value) { return isnan(reach) || value <= reach ? reach : value; }

/* How far elements reach above and below zero; without zero points above is the greatest magnitude. */
typedef struct reach {
    float above, below;
} reach;

static reach reach_of(const plan_problem *p, const mc_dense *x, int64_t row) {
    bool zero = p->zero != MC_PER_NONE;
    reach r = {0, 0};
    for (int64_t j = 0; j < x->cols; j++) {
        float value = (float)mc_dense_real(x, row, j);
        r.above = farther(r.above, zero ? value : fabsf(value));
        r.below = farther(r.below, -value);
    }
    return r;
}

static reach reach_of_all(const plan_problem *p, const mc_dense *x) {
    reach all = {0, 0};
    for (int64_t i = 0; i < x->rows; i++) {
        const reach r = reach_of(p, x, i);
        all = (reach){farther(all.above, r.above), farther(all.below, r.below)};
    }
    return all;
}

static quantiser compute(const plan_problem *p, reach r) {
    return quantiser_of(p->out, p->zero != MC_PER_NONE, r.above, r.below);
}

static quantiser given(const host_operands *o, int64_t row) {
    const plan_problem *p = o->problem;
    int64_t i = p->scale == MC_PER_ROW ? row : 0;
    bool scaled = p->scale != MC_PER_NONE && o->factors[SCALE] != NULL;
    return (quantiser){.type = p->out,
                       .scale = scaled ? o->factors[SCALE][i] : 1,
                       .zero = p->zero != MC_PER_NONE && o->factors[ZERO] != NULL ? o->factors[ZERO][i] : 0};
}

/* The factors of each row: m x 2. */
static mc_status sums(const host_operands *o, mc_dense *result, mc_diag *diag) {
    const mc_dense *x = o->inputs[X];
    const plan_problem *p = o->problem;
    bool tensor = p->computed && p->scale == MC_PER_TENSOR;
    const reach all = tensor ? reach_of_all(p, x) : (reach){0, 0};
    mc_status status = mc_dense_create(MC_F32, x->rows, 2, 2, result, diag);
    for (int64_t i = 0; status == MC_OK && i < x->rows; i++) {
        const quantiser f = p->computed ? compute(p, tensor ? all : reach_of(p, x, i)) : given(o, i);
        mc_dense_set(result, i, 0, real_to_bits(MC_F32, f.scale));
        mc_dense_set(result, i, 1, real_to_bits(MC_F32, f.zero));
    }
    return status;
}

static int64_t back(const host_operands *o, float value, quantiser f, int64_t col) {
    const plan_problem *p = o->problem;
    float scale = p->scale == MC_PER_COLUMN ? o->factors[SCALE][col] : f.scale;
    return real_to_bits(p->out, p->scale == MC_PER_NONE ? value : value * scale);
}

/* What element (I, J) of A becomes. */
static int64_t make(const host_operands *o, int64_t i, int64_t j, const quantiser *f) {
    const mc_dense *x = o->inputs[X];
    if (moves(o->problem)) return mc_dense_get(x, i, j);
    float value = (float)mc_dense_real(x, i, j);
    return mc_type_is_real(o->problem->out) ? back(o, value, *f, j) : quantiser_apply(f, value);
}

static mc_status finish(const host_operands *o, const mc_dense *exact, mc_dense *c, mc_diag *diag) {
    const plan_problem *p = o->problem;
    const mc_dense *x = o->inputs[X];
    bool turned = p->layout == MC_LAYOUT_COLUMNS, pairs = mc_type_bytes(p->out) == 0;
    int64_t rows = turned ? x->cols : x->rows, cols = turned ? x->rows : x->cols;
    mc_status status = mc_dense_create(p->out, rows, cols, cols + (pairs && cols % 2), c, diag);
    for (int64_t i = 0; status == MC_OK && i < x->rows; i++) {
        const quantiser f = {p->out, real_from_bits(MC_F32, (uint32_t)mc_dense_get(exact, i, 0)),
                             real_from_bits(MC_F32, (uint32_t)mc_dense_get(exact, i, 1))};
        for (int64_t j = 0; j < x->cols; j++)
            mc_dense_set(c, turned ? j : i, turned ? i : j, make(o, i, j, &f));
    }
    return status;
}

/* Scales, or zero points: of the tensor those of any row. */
static mc_status other(const host_operands *o, const mc_dense *exact, size_t index, reference_result *out,
                       mc_diag *diag) {
    *out = (reference_result){0};
    int64_t count = operand_factors(o->problem, &operands[index]);
    mc_status status = mc_dense_create(MC_F32, 1, count, count, &out->low, diag);
    for (int64_t i = 0; status == MC_OK && i < count && i < exact->rows; i++)
        mc_dense_set(&out->low, 0, i, mc_dense_get(exact, i, index == ZERO));
    return status;
}

/* -- The row */

/* A has a row for each token; on the way back, a column. */
static problem_member tokens(const plan_problem *p) { return mc_type_is_real(p->out) ? MEMBER_n : MEMBER_m; }
static problem_member features(const plan_problem *p) {
    return mc_type_is_real(p->out) ? MEMBER_m : MEMBER_n;
}

static const size_alias aliases[] = {
    {"tokens", "rows of activations", tokens}, {"features", "columns of activations", features}, {0}};

const mc_operator operator_quantise = {
    .op = MC_OP_QUANTISE,
    .name = "quantise",
    .title = "quantise",
    .members = HAS(op) | HAS(lhs) | HAS(out) | HAS(scale) | HAS(zero) | HAS(computed) | HAS(layout) |
               HAS(shapes) | HAS(align) | HAS(m) | HAS(n) | HAS(lda) | HAS(ldc) | HAS(batch) | HAS(a_stride) |
               HAS(c_stride),
    .matrix = {.rows = MEMBER_m},
    .size = MEMBER_n,
    .transposes = true,
    .operands = operands,
    .operand_count = sizeof operands / sizeof *operands,
    .check = check,
    .sums = sums,
    .finish = finish,
    .other = other,
    .aliases = aliases,
};
