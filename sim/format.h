/* Floating-point formats of up to 32 bits, and correctly rounded arithmetic on them. Values are held as
 * double, which holds every value of every format; a result that double cannot hold is held rounded to odd,
 * so that rounding it once more, to a format of at most 51 significant bits, gives what rounding the exact
 * result would (Boldo and Melquiond, "Emulation of FMA and correctly rounded sums: proved algorithms using
 * rounding to odd", 2008). */
#ifndef SIM_FORMAT_H
#define SIM_FORMAT_H

#include "module.h"

#include <string.h>

struct sim_format {
    int exponent_bits, fraction_bits;
    int unused_bits;  /* below the fraction: tf32 lies in the upper bits of a word */
    bool no_infinity; /* e4m3: all exponents are numbers, all ones in all bits is the NaN */
    uint32_t nan;     /* the canonical one of the ISA */
};

/* The format of a scalar type, or of each half of a packed one; NULL for f64 and what is no float. */
const struct sim_format *sim_format_of(unsigned type);

/* 2 to the power of EXPONENT, which a normal double can have. */
static inline double sim_power(int exponent) {
    uint64_t bits = (uint64_t)(exponent + 1023) << 52;
    double power;
    memcpy(&power, &bits, sizeof power);
    return power;
}

/* Of X as a double, normal and finite. */
static inline int sim_exponent(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return (int)(bits >> 52 & 0x7ff) - 1023;
}

/* Of normal numbers. */
int sim_least_exponent(const struct sim_format *format);

double sim_decode(const struct sim_format *format, uint32_t bits);

/* Rounds X, which may be an exact value or one rounded to odd. Where it overflows, FINITE yields the largest
   finite value, for infinities too. */
uint32_t sim_encode(const struct sim_format *format, double x, enum sim_rounding rounding, bool finite);

/* The zero of its sign if X is subnormal in the format (ISA, ".ftz"). */
double sim_flush(const struct sim_format *format, double x);

/* Rounded to odd. ROUNDING decides only the sign of a zero that is the sum of two values that cancel. */
double sim_sum(double x, double y, enum sim_rounding rounding);
double sim_quotient(double x, double y);
double sim_square_root(double x);
double sim_from_integer(uint64_t magnitude, bool negative);

#endif
