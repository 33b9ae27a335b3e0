#include "matrix/calibrate.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/memory.h"
#include "base/type.h"

typedef struct samples {
    int64_t count;
    float *values;
} samples;

/* How far the type's range reaches. Of signed types ABOVE is for both sides. */
typedef struct reach {
    float above, below;
} reach;

/* -- Samples */

static mc_status take_samples(const mc_dense *x, samples *s, mc_diag *diag) {
    *s = (samples){.count = mcrt_product(x->rows, x->cols)};
    if (s->count == 0) return mc_fail(diag, MC_CANNOT, "there are no activations to find a scale by");
    s->values = mcrt_array(s->count, sizeof *s->values);
    if (s->values == NULL) return mcrt_no_memory(diag, s->count, "activations");
    for (int64_t i = 0; i < x->rows; i++)
        for (int64_t j = 0; j < x->cols; j++) {
            double value = mc_dense_real(x, i, j);
            if (!isfinite(value))
                return mc_fail(diag, MC_CANNOT, "activation [%" PRId64 "][%" PRId64 "] is %g", i, j, value);
            s->values[i * x->cols + j] = (float)value;
        }
    return MC_OK;
}

/* -- Percentiles */

typedef enum side { BOTH, ABOVE, BELOW } side;

static float magnitude(float value, side which) {
    return which == BOTH ? fabsf(value) : fmaxf(which == ABOVE ? value : -value, 0);
}

/* Of magnitudes the order of the bits is that of the values. */
static uint32_t bits_of(float value, side which) {
    float m = magnitude(value, which) + 0.0F; /* no -0 */
    uint32_t bits;
    memcpy(&bits, &m, sizeof bits);
    return bits;
}

enum { HALF_BITS = 16, HALVES = 1 << HALF_BITS };

/* The place in COUNTS that holds the element *RANK, counted from 1; *RANK becomes that within the place. */
static uint32_t find_rank(const int64_t *counts, int64_t *rank) {
    uint32_t place = 0;
    while (*rank > counts[place]) *rank -= counts[place++];
    return place;
}

/* The element of this rank among the magnitudes: its upper half first, then its lower one. */
static float magnitude_of_rank(const samples *s, side which, int64_t rank, int64_t counts[HALVES]) {
    memset(counts, 0, HALVES * sizeof *counts);
    for (int64_t i = 0; i < s->count; i++) counts[bits_of(s->values[i], which) >> HALF_BITS]++;
    uint32_t upper = find_rank(counts, &rank), bits;
    memset(counts, 0, HALVES * sizeof *counts);
    for (int64_t i = 0; i < s->count; i++) {
        bits = bits_of(s->values[i], which);
        if (bits >> HALF_BITS == upper) counts[bits & (HALVES - 1)]++;
    }
    bits = upper << HALF_BITS | find_rank(counts, &rank);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static mc_status reach_of_percentile(const samples *s, bool zero, double percentile, reach *r,
                                     mc_diag *diag) {
    int64_t *counts = mcrt_array(HALVES, sizeof *counts);
    int64_t rank = (int64_t)ceil(percentile * (double)s->count / 100);
    if (counts == NULL) return mcrt_no_memory(diag, HALVES, "counts");
    if (rank < 1) rank = 1;
    if (rank > s->count) rank = s->count;
    r->above = magnitude_of_rank(s, zero ? ABOVE : BOTH, rank, counts);
    r->below = zero ? magnitude_of_rank(s, BELOW, rank, counts) : 0;
    free(counts);
    if (r->above > 0 || r->below > 0) return MC_OK;
    return mc_fail(diag, MC_CANNOT, "%g %% of the activations are 0: this percentile gives no scale",
                   percentile);
}

static reach reach_of_all(const samples *s, bool zero) {
    reach r = {0, 0};
    for (int64_t i = 0; i < s->count; i++) {
        r.above = fmaxf(r.above, magnitude(s->values[i], zero ? ABOVE : BOTH));
        r.below = fmaxf(r.below, magnitude(s->values[i], BELOW));
    }
    if (!zero) r.below = 0;
    return r;
}

/* -- Least squares */

/* The samples by the upper 20 bits of their f32: a sign, an exponent and 11 bits of a fraction. All values of
   a bin are one where samples are f16 or bf16; of f32 the mean stands for them. */
enum { BIN_BITS = 20, BINS = 1 << BIN_BITS };

typedef struct bin {
    double count, value; /* value: the sum, then the mean */
} bin;

typedef struct histogram {
    bin *bins; /* those that are not empty */
    int64_t count;
} histogram;

static mc_status count_bins(const samples *s, histogram *h, mc_diag *diag) {
    *h = (histogram){.bins = mcrt_array(BINS, sizeof *h->bins)};
    if (h->bins == NULL) return mcrt_no_memory(diag, BINS, "bins");
    for (int64_t i = 0; i < s->count; i++) {
        uint32_t bits;
        memcpy(&bits, &s->values[i], sizeof bits);
        bin *b = &h->bins[bits >> (32 - BIN_BITS)];
        b->count++;
        b->value += (double)s->values[i];
    }
    for (int64_t i = 0; i < BINS; i++) {
        const bin b = h->bins[i];
        if (b.count > 0) h->bins[h->count++] = (bin){b.count, b.value / b.count};
    }
    return MC_OK;
}

static double off(const quantiser *q, double value) {
    double got = (double)(quantiser_apply(q, (float)value) - quantiser_zero(q)) * (double)q->scale;
    return (value - got) * (value - got);
}

/* The sum of squared errors, but for what values differ from the mean of their bins. */
static double error_of(const histogram *h, mc_type type, bool zero, reach r) {
    const quantiser q = quantiser_of(type, zero, r.above, r.below);
    double sum = 0;
    if (!isfinite(q.scale)) return INFINITY;
    for (int64_t i = 0; i < h->count; i++) sum += h->bins[i].count * off(&q, h->bins[i].value);
    return sum;
}

typedef struct search {
    const histogram *h;
    mc_type type;
    bool zero;
    double least; /* the error at BEST */
    reach best;
} search;

/* Tries STEPS values of one reach, from FROM on, each RATIO times the one before. */
static void try_steps(search *s, bool above, double from, double ratio, int steps) {
    for (int i = 0; i < steps; i++, from *= ratio) {
        reach r = s->best;
        *(above ? &r.above : &r.below) = (float)from;
        double error = error_of(s->h, s->type, s->zero, r);
        if (error < s->least) s->least = error, s->best = r;
    }
}

/* First from twice the reach of the samples down to 2^-16 of it in sixteenths of an octave, then around the
   best so far, a sixteenth to each side, in 512ths. */
static void search_reach(search *s, bool above, float all) {
    static const double down = 0x1.ea4afa2a490dap-1, up = 0x1.0058c86da1c0ap+0; /* 2^(-1/16), 2^(1/512) */
    enum { COARSE = 16 * 17 + 1, FINE = 2 * 32 + 1 };
    if (!(all > 0)) return;
    try_steps(s, above, 2 * (double)all, down, COARSE);
    double centre = (double)(above ? s->best.above : s->best.below);
    try_steps(s, above, centre * down, up, FINE);
}

/* One side after the other, until neither gains. */
static mc_status reach_of_least_squares(const samples *s, mc_type type, bool zero, reach *r, mc_diag *diag) {
    enum { MOST_ROUNDS = 4 };
    const reach all = *r;
    histogram h;
    mc_status status = count_bins(s, &h, diag);
    if (status != MC_OK) return status;
    search found = {&h, type, zero, error_of(&h, type, zero, all), all};
    for (int round = 0; round < MOST_ROUNDS; round++) {
        double before = found.least;
        search_reach(&found, true, all.above);
        if (zero) search_reach(&found, false, all.below);
        if (!zero || found.least >= before) break;
    }
    *r = found.best;
    free(h.bins);
    return MC_OK;
}

/* -- The whole */

static mc_status check(const mc_calibrate_config *config, mc_diag *diag) {
    bool narrow = !mc_type_is_real(config->type) && mc_type_bits(config->type) <= 8;
    if (!narrow)
        return mc_fail(diag, MC_USAGE, "%s: activations are quantised to s8, u8, s4 or u4",
                       mc_type_text(config->type));
    if (config->by == MC_CALIBRATE_PERCENTILE && !(config->percentile > 0 && config->percentile <= 100))
        return mc_fail(diag, MC_USAGE, "a percentile of %g: must be above 0, and at most 100",
                       config->percentile);
    return MC_OK;
}

static mc_status find_reach(const samples *s, const mc_calibrate_config *config, bool zero, reach *r,
                            mc_diag *diag) {
    *r = reach_of_all(s, zero);
    if (config->by == MC_CALIBRATE_ABSMAX || (r->above <= 0 && r->below <= 0)) return MC_OK;
    return config->by == MC_CALIBRATE_PERCENTILE ? reach_of_percentile(s, zero, config->percentile, r, diag)
                                                 : reach_of_least_squares(s, config->type, zero, r, diag);
}

/* What quantising the samples so costs, of each of them. */
static mc_calibration measure(const samples *s, quantiser how) {
    mc_calibration c = {.how = how};
    double energy = 0;
    for (int64_t i = 0; i < s->count; i++) {
        double value = (double)s->values[i];
        c.saturated += quantiser_level(&how, s->values[i]) != quantiser_apply(&how, s->values[i]);
        c.error += off(&how, value);
        energy += value * value;
    }
    c.saturated /= (double)s->count;
    c.error = energy > 0 ? c.error / energy : 0;
    return c;
}

static mc_status calibrate(const samples *s, const mc_calibrate_config *config, mc_calibration *out,
                           mc_diag *diag) {
    bool zero = mc_type_min(config->type) == 0;
    const reach all = reach_of_all(s, zero);
    reach r;
    mc_status status = find_reach(s, config, zero, &r, diag);
    if (status != MC_OK) return status;
    quantiser how = quantiser_of(config->type, zero, r.above, r.below);
    if (!isfinite(how.scale))
        return mc_fail(diag, MC_CANNOT, "activations from %g to %g have no scale in f32",
                       -(double)(zero ? r.below : r.above), (double)r.above);
    *out = measure(s, how);
    if (config->by != MC_CALIBRATE_LEAST_SQUARES) return MC_OK;
    const mc_calibration plain = measure(s, quantiser_of(config->type, zero, all.above, all.below));
    if (plain.error < out->error) *out = plain; /* of f32, bins tell errors nearly */
    return MC_OK;
}

mc_status mc_calibrate(const mc_dense *x, const mc_calibrate_config *config, mc_calibration *out,
                       mc_diag *diag) {
    samples s = {0};
    *out = (mc_calibration){.saturated = 0};
    mc_status status = check(config, diag);
    if (status == MC_OK) status = take_samples(x, &s, diag);
    if (status == MC_OK) status = calibrate(&s, config, out, diag);
    free(s.values);
    return status;
}
