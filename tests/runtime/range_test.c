/* Ranges of results: whatever sums lie between two, their C lies in the range that the two have, through every step of
   the output; and the range is no wider than rounding makes it. */
#include <math.h>
#include "base/real.h"
#include "matrix/random.h"
#include "scratch.h"

enum { STEPS = 40 };

static float between(float low, float high, int step) {
    return step == STEPS ? high : low + (high - low) * (float)step / STEPS;
}

/* -- Activations -------------------------------------------------------------------------------------- */

static void check_interval(mc_activation activation, float from, float to) {
    float low = from, high = to, least = INFINITY, most = -INFINITY;
    activation_range(activation, &low, &high);
    for (int step = 0; step <= STEPS; step++) {
        float y = mc_activation_of(activation, between(from, to, step));
        CHECK(y >= low && y <= high, "activation %d of %a to %a: %a is not from %a to %a", (int)activation,
              (double)from, (double)to, (double)y, (double)low, (double)high);
        least = fminf(least, y), most = fmaxf(most, y);
    }
    /* What a scan in steps misses of a trough, and what steps that are not monotone are given. */
    float slack = activation < MC_ACTIVATION_SILU
                      ? 0
                      : (to - from) / STEPS / STEPS + 0x1p-20F * (fabsf(fmaxf(from, -128)) + fabsf(to));
    CHECK(low >= least - slack && high <= most + slack, "activation %d of %a to %a: %a to %a, seen %a to %a",
          (int)activation, (double)from, (double)to, (double)low, (double)high, (double)least, (double)most);
}

static void test_intervals(void) {
    mcrt_random random = random_start(1, 0);
    for (int a = MC_ACTIVATION_NONE; a <= MC_ACTIVATION_GELU_TANH; a++)
        for (int i = 0; i < 4000; i++) {
            float from = (float)ldexp(random_normal(&random), i % 7 - 3),
                  width = (float)ldexp(random_unit(&random), i % 23 - 20);
            check_interval((mc_activation)a, from, from + width);
        }
}

/* Below its minimum a function falls, and what lies between is less than both ends. */
static void test_troughs(void) {
    static const struct {
        mc_activation activation;
        float from, to, least;
    } cases[] = {{MC_ACTIVATION_SILU, -3, 1, -0.27846455F},
                 {MC_ACTIVATION_SILU, -1.4F, -1.2F, -0.27846455F},
                 {MC_ACTIVATION_GELU, -2, -0.5F, -0.16997121F},
                 {MC_ACTIVATION_GELU_TANH, -2, 0, -0.17004075F},
                 {MC_ACTIVATION_SILU, -INFINITY, 5, -0.27846455F}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        float low = cases[i].from, high = cases[i].to;
        activation_range(cases[i].activation, &low, &high);
        CHECK(low <= cases[i].least && low > cases[i].least - 1e-4F, "case %d: %g", (int)i, (double)low);
    }
    float low = -1e30F, high = -1e20F;
    activation_range(MC_ACTIVATION_SILU, &low, &high);
    CHECK(low > -1e-4F && high < 1e-4F, "far below: %g to %g", (double)low, (double)high);
    low = high = NAN;
    activation_range(MC_ACTIVATION_GELU, &low, &high);
    CHECK(isnan(low) && isnan(high), "NaN");
}

/* -- All steps ---------------------------------------------------------------------------------------- */

static const mc_type outs[] = {MC_F32, MC_F16, MC_BF16, MC_S8, MC_U8, MC_S4};
enum { OUTS = sizeof outs / sizeof *outs };

typedef struct row {
    float least, most, scale, b_scale, bias, residual, c_scale, zero;
} row;

static row draw_row(uint64_t seed) {
    mcrt_random random = random_start(seed, 3);
    row r = {.c_scale = 0.25F, .zero = (float)(seed % 5) - 2};
    r.least = (float)ldexp(random_normal(&random), (int)(seed % 5) - 2);
    r.most = r.least + (float)ldexp(random_unit(&random), (int)(seed % 13) - 12);
    r.scale = (float)random_normal(&random);
    r.b_scale = (float)random_normal(&random);
    r.bias = (float)random_normal(&random);
    r.residual = (float)random_normal(&random);
    if (seed % 3 == 0) r.c_scale = -r.c_scale;
    return r;
}

/* Which steps there are, by bits of STEPS. */
static mc_output output_of(mc_type type, mc_activation activation, unsigned steps) {
    bool integer = !mc_type_is_real(type);
    return (mc_output){.type = type,
                       .activation = activation,
                       .scale = integer || (steps & 1) ? MC_PER_TENSOR : MC_PER_NONE,
                       .b_scale = steps & 2 ? MC_PER_COLUMN : MC_PER_NONE,
                       .bias = steps & 4 ? MC_PER_ROW : MC_PER_NONE,
                       .c_scale = integer && (steps & 16) ? MC_PER_TENSOR : MC_PER_NONE,
                       .zero = integer && (steps & 16) ? MC_PER_TENSOR : MC_PER_NONE};
}

static mc_status finish_one(const mc_output *o, const mc_factors *f, float sum, mc_dense *c, mc_diag *diag) {
    const mc_dense sums = {MC_F32, 1, 1, 1, &sum};
    return mc_reference_output(o, f, &sums, c, diag);
}

static void expect_range(const mc_output *o, const mc_factors *f, float least, float most,
                         reference_result *want, mc_diag *diag) {
    const sum_range sums = {{MC_F32, 1, 1, 1, &least}, {MC_F32, 1, 1, 1, &most}};
    expect_ok("range", mc_reference_range(o, f, &sums, want, diag), diag);
}

static void check_row(const mc_output *o, row *r, unsigned steps, mc_diag *diag) {
    const mc_dense residual = {MC_F32, 1, 1, 1, &r->residual};
    const mc_factors f = {.scale = &r->scale,
                          .b_scale = &r->b_scale,
                          .bias = &r->bias,
                          .c_scale = &r->c_scale,
                          .zero = &r->zero,
                          .residual = steps & 8 ? &residual : NULL};
    reference_result want, one;
    mc_dense c;
    expect_range(o, &f, r->least, r->most, &want, diag);
    for (int step = 0; step <= STEPS; step++) {
        expect_ok("output", finish_one(o, &f, between(r->least, r->most, step), &c, diag), diag);
        expect_ok("within", mc_result_compare(&c, &want, diag), diag);
        if (o->activation <= MC_ACTIVATION_RELU && step % STEPS == 0)
            CHECK(mc_dense_get(&c, 0, 0) == mc_dense_get(&want.low, 0, 0) ||
                      mc_dense_get(&c, 0, 0) == mc_dense_get(&want.high, 0, 0),
                  "%s: an end", mc_type_text(o->type));
        mc_dense_free(&c);
    }
    expect_range(o, &f, r->least, r->least, &one, diag);
    expect_ok("output", finish_one(o, &f, r->least, &c, diag), diag);
    CHECK(mc_dense_get(&one.low, 0, 0) == mc_dense_get(&c, 0, 0) &&
              mc_dense_get(&one.high, 0, 0) == mc_dense_get(&c, 0, 0),
          "%s: one sum", mc_type_text(o->type));
    mc_dense_free(&c);
    mc_result_free(&one);
    mc_result_free(&want);
}

static void test_steps(mc_diag *diag) {
    for (int t = 0; t < OUTS; t++)
        for (int a = MC_ACTIVATION_NONE; a <= MC_ACTIVATION_GELU_TANH; a++)
            for (unsigned steps = 0; steps < 32; steps++)
                for (uint64_t seed = 0; seed < 6; seed++) {
                    const mc_output o = output_of(outs[t], (mc_activation)a, steps);
                    row r = draw_row(seed * 32 + steps);
                    check_row(&o, &r, steps, diag);
                }
}

/* -- Ends --------------------------------------------------------------------------------------------- */

static void check_end_case(mc_type type, float least, float most, float scale, float got, mc_status status,
                           mc_diag *diag) {
    const mc_output o = {.type = type, .scale = MC_PER_TENSOR};
    const mc_factors f = {.scale = &scale};
    reference_result want;
    int64_t element = mc_type_is_real(type) ? real_to_bits(type, got) : (int64_t)got;
    mc_dense c;
    expect_ok("create", mc_dense_create(type, 1, 2, 2, &c, diag), diag);
    c.cols = 1;
    mc_dense_set(&c, 0, 0, element);
    expect_range(&o, &f, least, most, &want, diag);
    CHECK(mc_result_compare(&c, &want, diag) == status, "%g from %g to %g times %g", (double)got,
          (double)least, (double)most, (double)scale);
    mc_diag_clear(diag);
    mc_dense_free(&c);
    mc_result_free(&want);
}

static void test_ends(mc_diag *diag) {
    const float inf = INFINITY;
    check_end_case(MC_F32, -inf, inf, 0, 0, MC_OK, diag);
    check_end_case(MC_F32, -inf, inf, 0, NAN, MC_OK, diag);
    check_end_case(MC_F16, -inf, inf, 1, NAN, MC_OK, diag);
    check_end_case(MC_S8, -inf, inf, 0, 0, MC_OK, diag);
    check_end_case(MC_S8, -inf, inf, 1, 100, MC_OK, diag);
    check_end_case(MC_F32, 0, 1, inf, NAN, MC_OK, diag);
    check_end_case(MC_F32, 0, 1, inf, 1, MC_OK, diag);
    check_end_case(MC_F32, 1, 2, inf, NAN, MC_MISMATCH, diag);
    check_end_case(MC_F32, 1, 2, NAN, NAN, MC_OK, diag);
    check_end_case(MC_F32, 1, 2, NAN, 1, MC_MISMATCH, diag);
    check_end_case(MC_F32, NAN, NAN, 1, NAN, MC_OK, diag);
    check_end_case(MC_F32, inf, inf, 1, inf, MC_OK, diag);
    check_end_case(MC_F32, inf, inf, 1, NAN, MC_MISMATCH, diag);
    check_end_case(MC_E4M3, -inf, inf, 1, NAN, MC_OK, diag);
    check_end_case(MC_E4M3, -inf, inf, 1, -448, MC_OK, diag);
    check_end_case(MC_E5M2, -inf, inf, 1, NAN, MC_OK, diag);
    check_end_case(MC_E4M3, 1, 2, 1, NAN, MC_MISMATCH, diag);
    check_end_case(MC_E4M3, NAN, NAN, 1, NAN, MC_OK, diag);
    check_end_case(MC_E4M3, NAN, NAN, 1, 1, MC_MISMATCH, diag);
    check_end_case(MC_F32, 1, 2, -1, -1.5F, MC_OK, diag);
    check_end_case(MC_F32, 1, 2, -1, -2.5F, MC_MISMATCH, diag);
}

/* A sum that has left f32 may be anything, also where the reference's own has become infinite. */
static void test_sums(mc_diag *diag) {
    float sum[] = {INFINITY, 1, NAN, NAN, INFINITY}, bound[] = {INFINITY, 0.5F, INFINITY, 0, 0};
    const float least[] = {-INFINITY, 0.5F, -INFINITY, NAN, INFINITY},
                most[] = {INFINITY, 1.5F, INFINITY, NAN, INFINITY};
    enum { SUMS = sizeof sum / sizeof *sum };
    const mc_dense sums = {MC_F32, 1, SUMS, SUMS, sum}, bounds = {MC_F32, 1, SUMS, SUMS, bound};
    sum_range range;
    expect_ok("range", mc_sum_range_make(&sums, &bounds, &range, diag), diag);
    for (int i = 0; i < SUMS; i++) {
        float low = ((const float *)range.least.data)[i], high = ((const float *)range.most.data)[i];
        CHECK(low == least[i] || (isnan(low) && isnan(least[i])), "sum %d: from %g", i, (double)low);
        CHECK(high == most[i] || (isnan(high) && isnan(most[i])), "sum %d: to %g", i, (double)high);
    }
    mc_sum_range_free(&range);
    int64_t exact = 3;
    const mc_dense integers = {MC_S64, 1, 1, 1, &exact};
    expect_failure("s64", mc_sum_range_make(&integers, &bounds, &range, diag), MC_USAGE, diag,
                   "sums of s64 with bounds of f32: both must be f32");
}

/* -- Sampled sums ------------------------------------------------------------------------------------- */

static void test_sampled(mc_diag *diag) {
    int64_t row_ptr[] = {0, 2};
    int32_t columns[] = {0, 3};
    float values[] = {2, -1, 0, 0}, least[] = {1, 1, 1, -INFINITY}, most[] = {2, 2, 2, INFINITY};
    float low[] = {2, -2, 0, -INFINITY}, high[] = {4, -1, 0, INFINITY};
    const mc_vsparse mask = {MC_F32, 2, 2, 4, 1, 2, row_ptr, columns, values, {0}};
    const sum_range sums = {{MC_F32, 2, 2, 2, least}, {MC_F32, 2, 2, 2, most}};
    const mc_output o = {.type = MC_F32, .masked = true};
    reference_result want;
    expect_ok("sampled", mc_reference_sampled_range(&o, &mask, MC_ORDER_BCRS, NULL, &sums, &want, diag),
              diag);
    CHECK(want.low.rows * want.low.cols == 4, "%lld x %lld", (long long)want.low.rows,
          (long long)want.low.cols);
    for (int i = 0; i < 4; i++) {
        CHECK(((const float *)want.low.data)[i] == low[i], "low %d: %g", i,
              (double)((const float *)want.low.data)[i]);
        CHECK(((const float *)want.high.data)[i] == high[i], "high %d", i);
    }
    mc_result_free(&want);
}

int main(void) {
    mc_diag *diag = mc_diag_create();
    test_intervals();
    test_troughs();
    test_steps(diag);
    test_ends(diag);
    test_sums(diag);
    test_sampled(diag);
    mc_diag_destroy(diag);
    return check_end();
}
