/* Scales of activations from samples: how far they reach, what they cost, and what gives none. */
#include <math.h>
#include "scratch.h"
#include "matrix/calibrate.h"

enum { MOST_SAMPLES = 20000 };

static mc_dense make(int64_t rows, int64_t cols, const float *values, mc_diag *diag) {
    mc_dense x;
    expect_ok("create", mc_dense_create(MC_F32, rows, cols, cols, &x, diag), diag);
    memcpy(x.data, values, (size_t)(rows * cols) * sizeof *values);
    return x;
}

/* -- Few samples, whose scales are known */

static const float few[10] = {.5F, -2, 1, 0, 6, -3, .25F, 1.5F, 2, 4};

static const struct {
    mc_calibrate_config config;
    float reach, below; /* the scale: their sum over the type's steps */
    float zero;
    double saturated;
} known[] = {
    {{MC_S8, MC_CALIBRATE_ABSMAX, 0}, 6, 0, 0, 0},
    {{MC_S4, MC_CALIBRATE_ABSMAX, 0}, 6, 0, 0, 0},
    {{MC_U8, MC_CALIBRATE_ABSMAX, 0}, 6, 3, 85, 0},
    {{MC_U4, MC_CALIBRATE_ABSMAX, 0}, 6, 3, 5, 0},
    {{MC_S8, MC_CALIBRATE_PERCENTILE, 100}, 6, 0, 0, 0},
    {{MC_S8, MC_CALIBRATE_PERCENTILE, 90}, 4, 0, 0, .1},
    {{MC_S8, MC_CALIBRATE_PERCENTILE, 90.1}, 6, 0, 0, 0},
    {{MC_S8, MC_CALIBRATE_PERCENTILE, 10.5}, .25F, 0, 0, .8},
    {{MC_U8, MC_CALIBRATE_PERCENTILE, 90}, 4, 2, 85, .2},
    {{MC_U4, MC_CALIBRATE_PERCENTILE, 80}, 2, 0, 0, .4},
};

static int64_t steps(mc_type type) {
    return mc_type_min(type) < 0 ? mc_type_max(type) : mc_type_max(type) - mc_type_min(type);
}

static void test_known(mc_diag *diag) {
    mc_dense x = make(2, 5, few, diag);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        mc_calibration c;
        mc_type type = known[i].config.type;
        float scale = (known[i].reach + known[i].below) / (float)steps(type);
        double off = 0, all = 0;
        expect_ok("known", mc_calibrate(&x, &known[i].config, &c, diag), diag);
        for (int j = 0; j < 10; j++) {
            float value = few[j];
            double got = (double)scale * (double)(quantiser_apply(&c.how, value) - (int64_t)known[i].zero);
            off += ((double)value - got) * ((double)value - got), all += (double)value * (double)value;
        }
        CHECK(c.how.type == type && c.how.scale == scale && c.how.zero == known[i].zero,
              "%zu: scale %.9g, must be %.9g, zero point %g", i, (double)c.how.scale, (double)scale,
              (double)c.how.zero);
        CHECK(fabs(c.saturated - known[i].saturated) < 1e-12, "%zu: %g saturate", i, c.saturated);
        CHECK(fabs(c.error - off / all) < 1e-12, "%zu: error %g, must be %g", i, c.error, off / all);
    }
    mc_dense_free(&x);
}

/* -- Least squares */

/* Tries scales one by one, much finer than the search does. */
static double least_error(const mc_dense *x, mc_type type, float greatest) {
    double least = INFINITY;
    for (int step = 1; step <= 6000; step++) {
        const quantiser q = {type, greatest * 2 * (float)step / 6000 / (float)mc_type_max(type), 0};
        double error = 0;
        for (int64_t i = 0; i < x->cols; i++) {
            double value = (double)((float *)x->data)[i];
            double off = value - (double)quantiser_apply(&q, (float)value) * (double)q.scale;
            error += off * off;
        }
        least = fmin(least, error);
    }
    return least;
}

static double energy_of(const mc_dense *x) {
    double sum = 0;
    for (int64_t i = 0; i < x->cols; i++) sum += pow((double)((float *)x->data)[i], 2);
    return sum;
}

/* Sums of uniforms, with a few that lie far out; of all or of those above 0 alone. */
static void draw(float *values, int count, int outliers, bool positive) {
    uint32_t state = 1;
    for (int i = 0; i < count; i++) {
        double sum = 0;
        for (int j = 0; j < 12; j++) {
            state = state * 1664525 + 1013904223;
            sum += (double)(state >> 8) * 0x1p-24;
        }
        values[i] = (float)((sum - 6) * (i < outliers ? 20 : 1));
        if (positive && values[i] < 0) values[i] = 0;
    }
}

static void test_least_squares(mc_diag *diag) {
    static const struct {
        int count, outliers;
        bool positive;
    } sets[] = {{3000, 0, false}, {3000, 3, false}, {3000, 300, false}, {3000, 3, true}};
    static const mc_type types[] = {MC_S8, MC_S4, MC_U8, MC_U4};
    static float values[MOST_SAMPLES];
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++)
        for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
            const mc_calibrate_config least = {types[t], MC_CALIBRATE_LEAST_SQUARES, 0},
                                      most = {types[t], MC_CALIBRATE_ABSMAX, 0};
            mc_calibration found, again, plain;
            draw(values, sets[i].count, sets[i].outliers, sets[i].positive);
            mc_dense x = make(1, sets[i].count, values, diag);
            expect_ok("least squares", mc_calibrate(&x, &least, &found, diag), diag);
            expect_ok("again", mc_calibrate(&x, &least, &again, diag), diag);
            expect_ok("absmax", mc_calibrate(&x, &most, &plain, diag), diag);
            CHECK(memcmp(&found.how.scale, &again.how.scale, sizeof found.how.scale) == 0, "the same twice");
            CHECK(found.error <= plain.error, "%zu, %s: %g, absmax %g", i, mc_type_text(types[t]),
                  found.error, plain.error);
            CHECK(found.error < .9 * plain.error || sets[i].outliers != 3 || mc_type_bits(types[t]) == 8,
                  "%zu, %s: outliers rule: %g, %g", i, mc_type_text(types[t]), found.error, plain.error);
            if (mc_type_min(types[t]) < 0) {
                float greatest = plain.how.scale * (float)mc_type_max(types[t]);
                double best = least_error(&x, types[t], greatest) / energy_of(&x);
                CHECK(found.error <= 1.01 * best, "%zu, %s: %g, tried %g", i, mc_type_text(types[t]),
                      found.error, best);
            }
            mc_dense_free(&x);
        }
}

/* Its scale is above that of the greatest magnitude: where 99 (1 - s)^2 + (6.4 - 6 s)^2 is least. */
static void test_above(mc_diag *diag) {
    float values[100];
    for (int i = 0; i < 100; i++) values[i] = i > 0 ? 1 : 6.4F;
    const mc_calibrate_config least = {MC_S4, MC_CALIBRATE_LEAST_SQUARES, 0};
    mc_calibration c;
    mc_dense x = make(10, 10, values, diag);
    expect_ok("above", mc_calibrate(&x, &least, &c, diag), diag);
    CHECK(fabsf(c.how.scale - 137.4F / 135) < .002F, "scale %.9g", (double)c.how.scale);
    mc_dense_free(&x);
}

/* A type without a sign has two reaches: what lies far below zero is cut off where nothing does above. */
static void test_below(mc_diag *diag) {
    static float values[MOST_SAMPLES];
    for (int i = 0; i < MOST_SAMPLES; i++) values[i] = i > 0 ? (float)i / MOST_SAMPLES : -6;
    const mc_calibrate_config least = {MC_U4, MC_CALIBRATE_LEAST_SQUARES, 0},
                              most = {MC_U4, MC_CALIBRATE_ABSMAX, 0};
    mc_calibration found, plain;
    mc_dense x = make(1, MOST_SAMPLES, values, diag);
    expect_ok("below", mc_calibrate(&x, &least, &found, diag), diag);
    expect_ok("absmax", mc_calibrate(&x, &most, &plain, diag), diag);
    CHECK(found.error < plain.error / 4, "error %g, absmax %g", found.error, plain.error);
    mc_dense_free(&x);
}

/* Two samples of one bin on both sides of a tie: their mean tells the search that another scale is better, by
   less than they are nearer to their integers than it. */
static void test_tie(mc_diag *diag) {
    const mc_calibrate_config least = {MC_S4, MC_CALIBRATE_LEAST_SQUARES, 0},
                              most = {MC_S4, MC_CALIBRATE_ABSMAX, 0};
    const float step = 1.0F + 3 * .0137F, tie = 1.5F * step;
    float values[147];
    mc_calibration found, plain;
    for (int i = 0; i < 145; i++) values[i] = (float)(1 + i % 7) * step;
    values[145] = tie * (1 - 6e-5F), values[146] = tie * (1 + 6e-5F);
    mc_dense x = make(1, 147, values, diag);
    expect_ok("tie", mc_calibrate(&x, &least, &found, diag), diag);
    expect_ok("absmax", mc_calibrate(&x, &most, &plain, diag), diag);
    CHECK(found.error <= plain.error, "%.12g, absmax %.12g", found.error, plain.error);
    mc_dense_free(&x);
}

/* -- Samples of every type, and none */

static void test_types(mc_diag *diag) {
    static const mc_type types[] = {MC_F16, MC_BF16, MC_F32, MC_S8};
    const mc_calibrate_config config = {MC_S8, MC_CALIBRATE_LEAST_SQUARES, 0};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        mc_dense x;
        mc_calibration c;
        expect_ok("create", mc_dense_create(types[i], 20, 30, 33, &x, diag), diag);
        mc_dense_fill(&x, MC_VALUES_FULL, 1);
        expect_ok(mc_type_text(types[i]), mc_calibrate(&x, &config, &c, diag), diag);
        CHECK(c.error < 1e-3, "%s: %g", mc_type_text(types[i]), c.error);
        mc_dense_free(&x);
    }
}

static void test_zeros(mc_diag *diag) {
    static const float zeros[4] = {0, -0.0F, 0, 0};
    mc_dense x = make(2, 2, zeros, diag);
    for (int by = MC_CALIBRATE_ABSMAX; by <= MC_CALIBRATE_LEAST_SQUARES; by++) {
        mc_calibration c;
        const mc_calibrate_config config = {MC_U8, (mc_calibrate_by)by, 50};
        expect_ok("zeros", mc_calibrate(&x, &config, &c, diag), diag);
        CHECK(c.how.scale == 0x1p-126F && c.how.zero == 0 && c.error == 0 && c.saturated == 0, "%d", by);
    }
    mc_dense_free(&x);
}

static void test_refused(mc_diag *diag) {
    float values[4] = {1, 0, 0, 0};
    mc_calibrate_config config = {MC_S8, MC_CALIBRATE_PERCENTILE, 50};
    mc_calibration c;
    mc_dense x = make(2, 2, values, diag), none = {.type = MC_F32, .cols = 4};
    expect_failure("zeros", mc_calibrate(&x, &config, &c, diag), MC_CANNOT, diag,
                   "50 % of the activations are 0");
    config.percentile = 0;
    expect_failure("0 %", mc_calibrate(&x, &config, &c, diag), MC_USAGE, diag, "a percentile of 0");
    config.percentile = 100.5;
    expect_failure("100.5 %", mc_calibrate(&x, &config, &c, diag), MC_USAGE, diag, "a percentile of 100.5");
    config = (mc_calibrate_config){.type = MC_S12};
    expect_failure("s12", mc_calibrate(&x, &config, &c, diag), MC_USAGE, diag, "s12: activations are");
    config.type = MC_F16;
    expect_failure("f16", mc_calibrate(&x, &config, &c, diag), MC_USAGE, diag, "f16: activations are");
    config.type = MC_S8;
    expect_failure("none", mc_calibrate(&none, &config, &c, diag), MC_CANNOT, diag, "there are no");
    ((float *)x.data)[3] = NAN;
    expect_failure("NaN", mc_calibrate(&x, &config, &c, diag), MC_CANNOT, diag, "activation [1][1] is nan");
    ((float *)x.data)[2] = -INFINITY;
    expect_failure("infinity", mc_calibrate(&x, &config, &c, diag), MC_CANNOT, diag, "[1][0] is -inf");
    ((float *)x.data)[2] = 3e38F, ((float *)x.data)[3] = -3e38F;
    config.type = MC_U8;
    expect_failure("range", mc_calibrate(&x, &config, &c, diag), MC_CANNOT, diag,
                   "activations from -3e+38 to 3e+38 have no scale in f32");
    mc_dense_free(&x);
}

int main(void) {
    mc_diag *diag = mc_diag_create();
    test_known(diag);
    test_least_squares(diag);
    test_above(diag);
    test_below(diag);
    test_tie(diag);
    test_types(diag);
    test_zeros(diag);
    test_refused(diag);
    mc_diag_destroy(diag);
    return check_end();
}
