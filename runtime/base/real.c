#include "base/real.h"
#include <math.h>
#include <string.h>

/* IEEE 754 formats narrower than binary32, which has 8 and 23. */
typedef struct format {
    int exponent_bits, fraction_bits;
} format;

static const format half = {5, 10}, brain = {8, 7};

static int bias_of(format f) { return (1 << (f.exponent_bits - 1)) - 1; }

static uint32_t bits_of(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* significand / 2^DROP, to nearest even. */
static uint32_t round_off(uint32_t significand, int drop) {
    if (drop > 25) return 0;
    uint32_t kept = significand >> drop, rest = significand - (kept << drop), tie = (uint32_t)1 << (drop - 1);
    return kept + (rest > tie || (rest == tie && (kept & 1)));
}

static uint32_t narrow(format f, float value) {
    uint32_t bits = bits_of(value), sign_shift = (uint32_t)(f.exponent_bits + f.fraction_bits);
    uint32_t sign = bits >> 31 << sign_shift;
    uint32_t infinity = (((uint32_t)1 << f.exponent_bits) - 1) << f.fraction_bits;
    if (isnan(value)) return ((uint32_t)1 << sign_shift) - 1;
    int field = (int)(bits >> 23 & 0xff), least = 1 - bias_of(f);
    int exponent = field ? field - 127 : -126, drop = 23 - f.fraction_bits;
    uint32_t significand = (bits & 0x7fffff) | (field ? 0x800000u : 0);
    if (exponent < least) {
        drop += least - exponent;
        exponent = least;
    }
    /* The leading bit counts one step of the exponent, and so does a carry out of the fraction. */
    uint32_t magnitude = ((uint32_t)(exponent - least) << f.fraction_bits) + round_off(significand, drop);
    return sign | (magnitude < infinity ? magnitude : infinity);
}

static float widen(format f, uint32_t bits) {
    uint32_t fraction = bits & (((uint32_t)1 << f.fraction_bits) - 1);
    int top = (1 << f.exponent_bits) - 1, field = (int)(bits >> f.fraction_bits) & top;
    bool negative = bits >> (f.exponent_bits + f.fraction_bits) & 1;
    int least = 1 - bias_of(f) - f.fraction_bits;
    uint32_t significand = field ? fraction | (uint32_t)1 << f.fraction_bits : fraction;
    float magnitude = field < top ? ldexpf((float)significand, least + (field ? field - 1 : 0))
                      : fraction  ? NAN
                                  : INFINITY;
    return negative ? -magnitude : magnitude;
}

uint32_t real_to_bits(mc_type type, float value) {
    return type == MC_F32 ? bits_of(value) : narrow(type == MC_F16 ? half : brain, value);
}

float real_from_bits(mc_type type, uint32_t bits) {
    float value;
    if (type != MC_F32) return widen(type == MC_F16 ? half : brain, bits);
    memcpy(&value, &bits, sizeof value);
    return value;
}
