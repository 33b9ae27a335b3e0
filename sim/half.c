#include "half.h"

#include <math.h>

float sim_half_to_float(uint16_t half) {
    int exponent = half >> 10 & 31, fraction = half & 1023;
    float magnitude = exponent == 31 ? (fraction ? NAN : INFINITY)
                      : exponent     ? ldexpf((float)(1024 + fraction), exponent - 25)
                                     : ldexpf((float)fraction, -24);
    return half >> 15 ? -magnitude : magnitude;
}

/* The spacing of halves near x is 2^(exponent - 10), and no finer than 2^-24: scaled by it, x rounds to an
   integer. A carry into the next exponent is what adding to the bits does. */
uint16_t sim_double_to_half(double x) {
    if (x != x) return 0x7fff;
    uint16_t sign = signbit(x) ? 0x8000 : 0;
    double magnitude = fabs(x);
    if (magnitude >= 65520) return sign | 0x7c00; /* halfway from the largest half to 2^16 */
    int exponent = magnitude > 0 ? ilogb(magnitude) : -15;
    if (exponent < -14) return (uint16_t)(sign | (unsigned)nearbyint(ldexp(magnitude, 24)));
    unsigned rounded = (unsigned)nearbyint(ldexp(magnitude, 10 - exponent)); /* 1024 to 2048 */
    return (uint16_t)(sign | (((unsigned)(exponent + 15) << 10) + rounded - 1024));
}
