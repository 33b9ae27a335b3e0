#include "base/real.h"
#include <math.h>
#include <string.h>
#include "base/type.h"

/* A format narrower than binary32, which has 8 and 23. */
typedef struct format {
    int exponent_bits, fraction_bits;
    bool finite; /* without infinities */
} format;

static format format_of(mc_type type) {
    const element_row *row = &element_rows[type];
    return (format){row->exponent, row->bits - row->exponent - 1, row->kind == ELEMENT_FINITE};
}

/* The bits of the greatest magnitude: infinity, or the greatest finite value. Finite formats have that one
   below their NaN, which has all bits set. */
static uint32_t greatest(format f) {
    uint32_t fraction_end = (uint32_t)1 << f.fraction_bits;
    if (f.finite) return (fraction_end << f.exponent_bits) - 2;
    return (((uint32_t)1 << f.exponent_bits) - 1) << f.fraction_bits;
}

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
    return sign | (magnitude < greatest(f) ? magnitude : greatest(f));
}

/* Of most numbers binary32 has the same fraction, and another exponent: faster than ldexpf. */
static float normal(format f, bool negative, int field, uint32_t fraction) {
    uint32_t exponent = (uint32_t)(field - bias_of(f) + 127);
    uint32_t bits = (uint32_t)negative << 31 | exponent << 23 | fraction << (23 - f.fraction_bits);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static float widen(format f, uint32_t bits) {
    uint32_t fraction = bits & (((uint32_t)1 << f.fraction_bits) - 1);
    int top = (1 << f.exponent_bits) - 1, field = (int)(bits >> f.fraction_bits) & top;
    bool negative = bits >> (f.exponent_bits + f.fraction_bits) & 1;
    int least = 1 - bias_of(f) - f.fraction_bits;
    if (field != 0 && field != top) return normal(f, negative, field, fraction);
    uint32_t significand = field ? fraction | (uint32_t)1 << f.fraction_bits : fraction;
    bool number = f.finite ? (bits & (greatest(f) + 1)) != greatest(f) + 1 : field < top;
    float magnitude = number     ? ldexpf((float)significand, least + (field ? field - 1 : 0))
                      : fraction ? NAN
                                 : INFINITY;
    return negative ? -magnitude : magnitude;
}

float real_most(mc_type type) {
    format f = format_of(type);
    return widen(f, greatest(f) - !f.finite);
}

uint32_t real_to_bits(mc_type type, float value) {
    return element_rows[type].bits == 32 ? bits_of(value) : narrow(format_of(type), value);
}

float real_from_bits(mc_type type, uint32_t bits) {
    float value;
    if (element_rows[type].bits < 32) return widen(format_of(type), bits);
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* A carry out of the fraction is one step of the exponent, which ends at infinity. A NaN may have its bits
   among those alone that an mma ignores, and would be an infinity there: so it is where bits are cut off. */
uint32_t real_factor(mc_type type, uint32_t bits) {
    const uint32_t dropped = 1 << (23 - 10), nan = 0x7fffffff;
    if (element_rows[type].kind == ELEMENT_CUT) return bits & -dropped;
    if (element_rows[type].kind != ELEMENT_ROUNDED) return bits;
    return isnan(real_from_bits(type, bits)) ? nan : (bits + dropped / 2) & -dropped;
}

uint32_t real_packed(mc_type type, uint32_t bits) {
    return element_rows[type].kind == ELEMENT_CUT ? bits : real_factor(type, bits);
}
