#include "format.h"

#include <math.h>
#include <string.h>

static const struct sim_format f16 = {5, 10, 0, false, 0x7fff}, bf16 = {8, 7, 0, false, 0x7fff},
                               tf32 = {8, 10, 13, false, 0x7fffffff}, f32 = {8, 23, 0, false, 0x7fffffff},
                               e4m3 = {4, 3, 0, true, 0x7f}, e5m2 = {5, 2, 0, false, 0x7f};

const struct sim_format *sim_format_of(unsigned type) {
    static const struct sim_format *const formats[SIM_TYPE_COUNT] = {
        [SIM_f16] = &f16,   [SIM_f16x2] = &f16,   [SIM_bf16] = &bf16, [SIM_bf16x2] = &bf16,
        [SIM_tf32] = &tf32, [SIM_f32] = &f32,     [SIM_e4m3] = &e4m3, [SIM_e4m3x2] = &e4m3,
        [SIM_e5m2] = &e5m2, [SIM_e5m2x2] = &e5m2,
    };
    return formats[type];
}

static int bias_of(const struct sim_format *f) { return (1 << (f->exponent_bits - 1)) - 1; }

int sim_least_exponent(const struct sim_format *f) { return 1 - bias_of(f); }

double sim_decode(const struct sim_format *f, uint32_t bits) {
    bits >>= f->unused_bits;
    uint32_t ones = (1u << f->exponent_bits) - 1;
    uint32_t fraction = bits & ((1u << f->fraction_bits) - 1), exponent = bits >> f->fraction_bits & ones;
    bool negative = bits >> (f->exponent_bits + f->fraction_bits) & 1;
    double magnitude;
    const bool is_nan = f->no_infinity ? (bits & 0x7f) == f->nan : exponent == ones && fraction;
    if (is_nan) return copysign((double)NAN, negative ? -1 : 1);
    if (exponent == ones && !f->no_infinity) magnitude = (double)INFINITY;
    else if (exponent == 0) magnitude = fraction * sim_power(1 - bias_of(f) - f->fraction_bits);
    else
        magnitude =
            (fraction + (1u << f->fraction_bits)) * sim_power((int)exponent - bias_of(f) - f->fraction_bits);
    return negative ? -magnitude : magnitude;
}

/* X >= 0 to an integral value. */
static double round_magnitude(double x, enum sim_rounding rounding, bool negative) {
    double down = floor(x), rest = x - down;
    bool up;
    switch (rounding) {
    case SIM_RZ: up = false; break;
    case SIM_RM: up = negative && rest > 0; break;
    case SIM_RP: up = !negative && rest > 0; break;
    case SIM_RNA: up = rest >= 0.5; break;
    default: up = rest > 0.5 || (rest == 0.5 && fmod(down, 2) != 0);
    }
    return up ? down + 1 : down;
}

/* What stands for a magnitude beyond the largest finite one, MOST. */
static uint64_t overflow(const struct sim_format *f, uint64_t most, bool infinite, enum sim_rounding rounding,
                         bool negative, bool finite) {
    bool inwards = rounding == SIM_RZ || rounding == (negative ? SIM_RP : SIM_RM);
    if (finite || (inwards && !infinite)) return most;
    return f->no_infinity ? f->nan : most + 1;
}

/* The exponent and the fraction are one integer: a fraction that rounds up to the next power of two carries
   into the exponent. */
uint32_t sim_encode(const struct sim_format *f, double x, enum sim_rounding rounding, bool finite) {
    if (x != x) return f->nan;
    bool negative = signbit(x);
    double magnitude = fabs(x);
    uint64_t one = UINT64_C(1) << f->fraction_bits,
             most = (((UINT64_C(1) << f->exponent_bits) - 1) << f->fraction_bits) - 1, bits;
    if (f->no_infinity) most += one - 1;
    if (isinf(x)) {
        bits = overflow(f, most, true, rounding, negative, finite);
    } else {
        int least = 1 - bias_of(f), exponent = magnitude > 0 ? ilogb(magnitude) : least;
        if (exponent < least) exponent = least;
        double scaled = ldexp(magnitude, f->fraction_bits - exponent);
        bits = ((uint64_t)(exponent + bias_of(f)) << f->fraction_bits) +
               (uint64_t)round_magnitude(scaled, rounding, negative) - one;
        if (bits > most) bits = overflow(f, most, false, rounding, negative, finite);
    }
    bits |= (uint64_t)negative << (f->exponent_bits + f->fraction_bits);
    return (uint32_t)(bits << f->unused_bits);
}

double sim_flush(const struct sim_format *f, double x) {
    return fabs(x) < ldexp(1, 1 - bias_of(f)) ? copysign(0, x) : x;
}

/* X is the nearest double to a value that lies off it in the direction that ERROR has: of the two doubles
   around the value, takes the one whose last bit is set. */
static double to_odd(double x, double error) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    if (error == 0 || bits & 1 || !isfinite(x)) return x;
    bits = signbit(x) == signbit(error) ? bits + 1 : bits - 1;
    memcpy(&x, &bits, sizeof x);
    return x;
}

double sim_sum(double x, double y, enum sim_rounding rounding) {
    double sum = x + y, part = sum - x, error = (x - (sum - part)) + (y - part);
    if (!isfinite(sum)) return sum;
    bool cancel = sum == 0 && (x != 0 || signbit(x) != signbit(y));
    if (cancel) return rounding == SIM_RM ? -0.0 : 0.0;
    return to_odd(sum, error);
}

double sim_quotient(double x, double y) {
    double q = x / y;
    if (!isfinite(q) || isinf(y)) return q;
    double rest = fma(-q, y, x);
    return to_odd(q, signbit(y) ? -rest : rest);
}

double sim_square_root(double x) {
    double root = sqrt(x);
    return isfinite(root) ? to_odd(root, fma(-root, root, x)) : root;
}

/* Beyond 53 bits the ones below collapse into the last bit that is kept. */
double sim_from_integer(uint64_t magnitude, bool negative) {
    double x = magnitude >> 53 ? ldexp((double)(magnitude >> 11 | ((magnitude & 0x7ff) != 0)), 11)
                               : (double)magnitude;
    return negative ? -x : x;
}
