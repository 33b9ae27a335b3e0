/* The elements of floats that products are made of. */
#include "wide.h"

#include "format.h"

#include <math.h>

enum { F32_BIAS = 127, F32_FRACTION_BITS = 23 };

/* 8-bit elements are widened to f16, whose least exponent this is. */
enum { WIDENED_LEAST = -14 };

/* Products of exponents within this, and their units (product_real.c), are normal in f32. */
enum { NEAR = 48 };

/* COUNT elements, whose values and exponents come to lie STRIDE apart. */
struct element_job {
    const struct sim_format *format;
    const uint32_t *bits;
    int count, stride;
    float *value;
    int32_t *exponent;
    struct sim_real_kind *kind;
};

/* An infinity or a NaN. */
static float special_value(const struct sim_format *format, uint32_t bits) {
    return (float)sim_decode(format, bits);
}

/* The exponent is the one that the field says: that of a subnormal number the least of the format, unless it
   is widened. */
SIM_INLINE void put_eight(const struct element_job *j, const uint32_t *from, wide_int *to_value,
                          wide_int *to_exponent, wide_int *special, wide_int *far) {
    const struct sim_format f = *j->format;
    const int ones = (1 << f.exponent_bits) - 1, least = 1 - ones / 2, fraction = (1 << f.fraction_bits) - 1;
    wide_int bits, value, exponent;
    memcpy(&bits, from, sizeof bits);
    bits >>= f.unused_bits;
    const wide_int field = bits >> f.fraction_bits & ones, rest = bits & fraction,
                   /* cppcheck-suppress integerOverflow ; shifts of vectors are modular */
        sign = (bits >> (f.exponent_bits + f.fraction_bits) & 1) << 31, is_small = field == 0;
    *special = field == ones;
    if (f.no_infinity) *special &= rest == fraction;
    const wide_float small =
        __builtin_convertvector(rest, wide_float) * (float)sim_power(least - f.fraction_bits);
    memcpy(&value, &small, sizeof value);
    const wide_int normal =
        (field - ones / 2 + F32_BIAS) << F32_FRACTION_BITS | rest << (F32_FRACTION_BITS - f.fraction_bits);
    value = (value & is_small) | (normal & ~is_small);
    exponent = (((wide_int){0} + least) & is_small) | ((field - ones / 2) & ~is_small);
    if (j->kind->widened) {
        const wide_int own = (value >> F32_FRACTION_BITS) - F32_BIAS, bound = (wide_int){0} + WIDENED_LEAST;
        exponent = SIM_LARGER(own, bound);
    }
    const wide_int is_zero = value == 0;
    *far = ((exponent > NEAR) | (exponent < -NEAR)) & ~is_zero & ~*special;
    *to_exponent = ((((wide_int){0} + SIM_NO_EXPONENT) & is_zero) | (exponent & ~is_zero)) & ~*special;
    *to_value = value | sign;
}

SIM_INLINE void put_elements_body(const struct element_job *j) {
    for (int i = 0; i < j->count; i += SIM_WIDE) {
        const int there = j->count - i < SIM_WIDE ? j->count - i : SIM_WIDE;
        wide_int value, exponent, special, far;
        float values[SIM_WIDE];
        int32_t exponents[SIM_WIDE], specials[SIM_WIDE];
        uint32_t some[SIM_WIDE] = {0};
        const uint32_t *from = j->bits + i;
        if (there < SIM_WIDE) from = memcpy(some, from, (size_t)there * sizeof *some);
        put_eight(j, from, &value, &exponent, &special, &far);
        j->kind->far |= sim_any(&far);
        memcpy(values, &value, sizeof values);
        memcpy(exponents, &exponent, sizeof exponents);
        if (sim_any(&special)) {
            j->kind->special = true;
            memcpy(specials, &special, sizeof specials);
            for (int n = 0; n < there; n++)
                if (specials[n]) values[n] = special_value(j->format, from[n]);
        }
        for (int n = 0; n < there; n++) {
            j->value[(i + n) * j->stride] = values[n];
            j->exponent[(i + n) * j->stride] = exponents[n];
        }
    }
}
SIM_BY_PROCESSOR(put_elements, element_job)

void sim_row_put(struct sim_real_row *row, unsigned type, const uint32_t *bits, int count) {
    const struct element_job job = {sim_format_of(type), bits,          count,     1,
                                    row->value,          row->exponent, &row->kind};
    put_elements(&job);
}

void sim_column_put(struct sim_reals *b, int column, unsigned type, const uint32_t *bits) {
    const int at = sim_place_in_b(b->depth, 0, column);
    const struct element_job job = {sim_format_of(type), bits,    b->depth, SIM_WIDE, &b->value[at],
                                    &b->exponent[at],    &b->kind};
    put_elements(&job);
}
