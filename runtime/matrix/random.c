#include <math.h>
#include "matrix/random.h"
#include "base/real.h"

/* SplitMix64 (Steele, Lea, Flood, OOPSLA 2014): one 64-bit counter, mixed. */
static uint64_t splitmix(uint64_t *counter) {
    uint64_t z = *counter += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

mcrt_random random_start(uint64_t seed, uint64_t stream) {
    uint64_t counter = stream;
    counter = splitmix(&counter) ^ seed;
    mcrt_random random;
    for (int i = 0; i < 4; i++) random.state[i] = splitmix(&counter);
    return random;
}

static uint64_t rotate_left(uint64_t x, int count) { return x << count | x >> (64 - count); }

/* xoshiro256** (Blackman and Vigna, "Scrambled linear pseudorandom number generators", 2018). */
uint64_t random_next(mcrt_random *random) {
    uint64_t *s = random->state;
    uint64_t result = rotate_left(s[1] * 5, 7) * 9;
    uint64_t shifted = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= shifted;
    s[3] = rotate_left(s[3], 45);
    return result;
}

double random_unit(mcrt_random *random) { return (double)((random_next(random) >> 11) + 1) * 0x1p-53; }

double random_normal(mcrt_random *random) {
    uint64_t sum = 0;
    for (int i = 0; i < 12; i++) sum += random_next(random) >> 32;
    return (double)sum * 0x1p-32 - 6;
}

/* FULL: +-[1, 2) * 2^e with e from -8 to 3, and one in 64 is 0. EXTREME: the ends of the type, what lies near
   zero, and what is no number. */
static float real_value(uint64_t bits, mc_value_law law) {
    static const float extremes[] = {0,           -0.0F,     0x1p-149F, -0x1p-24F, 0x1p-14F,
                                     65504,       -65504,    INFINITY,  -INFINITY, NAN,
                                     0x1.fep127F, -0x1p127F, 0x1p-133F, 1};
    enum { EXTREMES = sizeof extremes / sizeof *extremes };
    if (law == MC_VALUES_ONES) return 1;
    if (law == MC_VALUES_EXTREME) return extremes[bits % EXTREMES];
    float fraction = 1 + (float)(bits >> 41) * 0x1p-23F;
    if (bits % 64 == 0) return 0;
    return ldexpf(bits >> 40 & 1 ? -fraction : fraction, (int)(bits >> 8 & 0xff) % 12 - 8);
}

int64_t random_value(mcrt_random *random, mc_type type, mc_value_law law) {
    if (mc_type_is_real(type)) return real_to_bits(type, real_value(random_next(random), law));
    if (law == MC_VALUES_ONES) return 1;
    uint64_t bits = random_next(random);
    if (law == MC_VALUES_EXTREME) return bits >> 63 ? mc_type_max(type) : mc_type_min(type);
    int spare = 64 - mc_type_bits(type); /* the top bits are taken */
    return mc_type_min(type) < 0 ? (int64_t)bits >> spare : (int64_t)(bits >> spare);
}

/* ln(m 2^e) = e ln 2 + 2 atanh((m - 1) / (m + 1)) with m in [1/sqrt 2, sqrt 2), where the eleventh term of
   the series is below 1e-18. */
double portable_log(double x) {
    int exponent;
    double m = frexp(x, &exponent);
    if (m < 0x1.6a09e667f3bcdp-1) {
        m *= 2;
        exponent--;
    }
    double z = (m - 1) / (m + 1), square = z * z, sum = 0;
    for (int term = 21; term >= 1; term -= 2) sum = sum * square + 1.0 / term;
    return 2 * z * sum + exponent * 0x1.62e42fefa39efp-1;
}

/* exp(x) = exp(x / 2^12)^(2^12), the inner one by its series: |x / 2^12| <= 2^-6. */
double portable_exp(double x) {
    double small = x * 0x1p-12, sum = 1;
    for (int term = 8; term >= 1; term--) sum = 1 + small / term * sum;
    for (int i = 0; i < 12; i++) sum *= sum;
    return sum;
}
