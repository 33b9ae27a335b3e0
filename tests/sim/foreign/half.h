/* f16 and bf16 in C: conversions, each rounded to nearest even. */
#ifndef TESTS_SIM_FOREIGN_HALF_H
#define TESTS_SIM_FOREIGN_HALF_H

#include <math.h>
#include <stdint.h>
#include <string.h>

static inline float float_of(uint16_t half) {
    int exponent = half >> 10 & 31, fraction = half & 1023;
    float magnitude =
        exponent == 0 ? ldexpf((float)fraction, -24) : ldexpf((float)(fraction | 1024), exponent - 25);
    if (exponent == 31) magnitude = fraction ? NAN : INFINITY;
    return half >> 15 ? -magnitude : magnitude;
}

/* The f16 that X, which may be exact beyond f32, rounds to. */
static inline uint16_t half_of(double x) {
    uint16_t sign = signbit(x) ? 0x8000 : 0;
    double magnitude = fabs(x), unit;
    int exponent;
    if (x != x) return 0x7fff;
    if (magnitude >= 65520) return sign | 0x7c00;
    frexp(magnitude, &exponent);
    exponent = magnitude < 0x1p-14 ? -14 : exponent - 1;
    unit = ldexp(1, exponent - 10);
    double units = nearbyint(magnitude / unit); /* up to 2048 */
    if (units >= 2048) units /= 2, exponent++;
    if (units < 1024) return (uint16_t)(sign | (unsigned)units); /* subnormal, or zero */
    return (uint16_t)(sign | (unsigned)(exponent + 15) << 10 | ((unsigned)units - 1024));
}

static inline float round_half(double x) { return float_of(half_of(x)); }

/* The bf16 that X rounds to, as a float; X is exact in double and not subnormal. */
static inline float round_brain(double x) {
    int exponent;
    if (x == 0 || x != x || isinf(x)) return (float)x;
    double fraction = frexp(x, &exponent);
    return (float)ldexp(nearbyint(ldexp(fraction, 8)), exponent - 8);
}

#endif
