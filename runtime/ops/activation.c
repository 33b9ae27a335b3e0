/* The activations, operation by operation as kernels have them (mc_activation.h). */
#include <math.h>
#include <string.h>
#include "mc_activation.h"
#include "base/real.h"
#include "ops/reference.h"

enum { FRACTION_BITS = 23 };

static const float power_terms[] = ACTIVATION_POWER_TERMS, tail_terms[] = ACTIVATION_TAIL_TERMS,
                   tanh_terms[] = ACTIVATION_TANH_TERMS, inverse_terms[] = ACTIVATION_INVERSE_TERMS;
#define COUNT(terms) (sizeof(terms) / sizeof *(terms))

static float polynomial(const float *terms, size_t count, float x) {
    float sum = terms[count - 1];
    for (size_t i = count - 1; i-- > 0;) sum = fmaf(sum, x, terms[i]);
    return sum;
}

float mc_power_of(float t) {
    float whole = t + ACTIVATION_WHOLE, fraction = t - (whole - ACTIVATION_WHOLE);
    float result = polynomial(power_terms, COUNT(power_terms), fraction);
    uint32_t bits, exponent;
    memcpy(&bits, &result, sizeof bits);
    memcpy(&exponent, &whole, sizeof exponent);
    bits += exponent << FRACTION_BITS;
    memcpy(&result, &bits, sizeof result);
    return result;
}

/* 1 / -MINUS. */
static float inverse(float minus) {
    uint32_t bits;
    float near;
    memcpy(&bits, &minus, sizeof bits);
    bits = (ACTIVATION_INVERSE_BITS | 0x80000000U) - bits;
    memcpy(&near, &bits, sizeof near);
    near *= fmaf(minus * near, inverse_terms[1], inverse_terms[0]);
    return fmaf(near, fmaf(minus, near, 1.0F), near);
}

static float sigmoid_times(float y, float t) {
    return y * inverse(-1.0F - mc_power_of(real_greater(t, ACTIVATION_LEAST_POWER)));
}

static float silu(float x) {
    float y = real_greater(x, ACTIVATION_SILU_LEAST);
    return sigmoid_times(y, y * ACTIVATION_SILU_BY);
}

static float gelu_tanh(float x) {
    float y = real_greater(x, ACTIVATION_TANH_LEAST);
    return sigmoid_times(y, fmaf(y * y, tanh_terms[1], tanh_terms[0]) * y);
}

static float gelu(float x) {
    float minus = fabsf(x) < ACTIVATION_GELU_MOST ? -fabsf(x) : -ACTIVATION_GELU_MOST;
    float tail = mc_power_of(polynomial(tail_terms, COUNT(tail_terms), minus));
    return fmaf(minus, tail, real_greater(x, 0));
}

float mc_activation_of(mc_activation activation, float x) {
    switch (activation) {
    case MC_ACTIVATION_NONE: break;
    case MC_ACTIVATION_RELU: return real_greater(x, 0);
    case MC_ACTIVATION_SILU: return silu(x);
    case MC_ACTIVATION_GELU: return gelu(x);
    case MC_ACTIVATION_GELU_TANH: return gelu_tanh(x);
    }
    return x;
}

/* -- Ranges ------------------------------------------------------------------------------------------- */

/* Where a function that falls, then rises, is least, and what it is there: to the nearest f32. */
typedef struct trough {
    float at, value;
} trough;

static const trough troughs[] = {
    [MC_ACTIVATION_SILU] = {-0x1.474974p0F, -0x1.1d25dp-2F},
    [MC_ACTIVATION_GELU] = {-0x1.80ead2p-1F, -0x1.5c19dep-3F},
    [MC_ACTIVATION_GELU_TANH] = {-0x1.8142ap-1F, -0x1.5c3e54p-3F},
};

/* The functions above are at most 2^-22 of X off the exact ones (docs/output.md), and no further off than at
   -128 where X is below that. So two of their values may be in the wrong order by twice as much. */
static const float disorder = 2 * 0x1p-22F, far_below = -128;

void activation_range(mc_activation activation, float *low, float *high) {
    float from = *low, to = *high, a = mc_activation_of(activation, from),
          b = mc_activation_of(activation, to);
    *low = a <= b || isnan(a) ? a : b;
    *high = a <= b || isnan(a) ? b : a;
    if (activation < MC_ACTIVATION_SILU || !(from < to)) return;
    const trough *least = &troughs[activation];
    if (from < least->at && to > least->at) *low = least->value;
    float off = disorder * fmaxf(fabsf(fmaxf(from, far_below)), fabsf(fmaxf(to, far_below)));
    if (isinf(off)) return;
    *low -= off;
    *high += off;
}
