#include "reduce.h"

#include "format.h"

#include <math.h>

/* One element at TO and at FROM. */
typedef void combine(unsigned char *to, const unsigned char *from);

#define COMBINE(name, T, expression)                                                                         \
    static void name(unsigned char *to, const unsigned char *from) {                                         \
        T x, y;                                                                                              \
        memcpy(&x, to, sizeof x);                                                                            \
        memcpy(&y, from, sizeof y);                                                                          \
        x = (T)(expression);                                                                                 \
        memcpy(to, &x, sizeof x);                                                                            \
    }

/* A NaN is the canonical one, as of atom.add.f32. Subnormals stay. */
static float add_single(float x, float y) {
    const uint32_t nan = 0x7fffffff;
    float sum = x + y;
    if (sum != sum) memcpy(&sum, &nan, sizeof sum);
    return sum;
}

/* Of f16 and bf16, whose bits are X and Y. A minimum or maximum of a number and a NaN is the number. */
static uint16_t add_half(unsigned type, uint16_t x, uint16_t y) {
    const struct sim_format *f = sim_format_of(type);
    return (uint16_t)sim_encode(f, sim_sum(sim_decode(f, x), sim_decode(f, y), SIM_RN), SIM_RN, false);
}

static uint16_t least_half(unsigned type, uint16_t x, uint16_t y, bool largest) {
    const struct sim_format *f = sim_format_of(type);
    const double a = sim_decode(f, x), b = sim_decode(f, y);
    if (a != a && b != b) return (uint16_t)f->nan;
    if (a != a || b != b) return a != a ? y : x;
    if (a == b) return (signbit(a) != 0) == largest ? y : x; /* -0 is below +0 */
    return (a < b) == largest ? y : x;
}

COMBINE(add_u32, uint32_t, x + y)
COMBINE(add_u64, uint64_t, x + y)
COMBINE(add_f32, float, add_single(x, y))
COMBINE(add_f64, double, x + y)
COMBINE(add_f16, uint16_t, add_half(SIM_f16, x, y))
COMBINE(add_bf16, uint16_t, add_half(SIM_bf16, x, y))
COMBINE(min_u32, uint32_t, x < y ? x : y)
COMBINE(min_s32, int32_t, x < y ? x : y)
COMBINE(min_u64, uint64_t, x < y ? x : y)
COMBINE(min_s64, int64_t, x < y ? x : y)
COMBINE(min_f16, uint16_t, least_half(SIM_f16, x, y, false))
COMBINE(min_bf16, uint16_t, least_half(SIM_bf16, x, y, false))
COMBINE(max_u32, uint32_t, x > y ? x : y)
COMBINE(max_s32, int32_t, x > y ? x : y)
COMBINE(max_u64, uint64_t, x > y ? x : y)
COMBINE(max_s64, int64_t, x > y ? x : y)
COMBINE(max_f16, uint16_t, least_half(SIM_f16, x, y, true))
COMBINE(max_bf16, uint16_t, least_half(SIM_bf16, x, y, true))
COMBINE(and_b64, uint64_t, x &y)
COMBINE(and_b32, uint32_t, x &y)
COMBINE(or_b64, uint64_t, x | y)
COMBINE(or_b32, uint32_t, x | y)
COMBINE(xor_b64, uint64_t, x ^ y)
COMBINE(xor_b32, uint32_t, x ^ y)
COMBINE(inc_u32, uint32_t, x >= y ? 0 : x + 1)
COMBINE(dec_u32, uint32_t, x == 0 || x > y ? y : x - 1)

/* A tensor's elements have no untyped bits: those of unsigned and signed types count. */
static combine *const combines[][SIM_TYPE_COUNT] = {
    [SIM_ADD] = {[SIM_u32] = add_u32, [SIM_s32] = add_u32, [SIM_u64] = add_u64, [SIM_f32] = add_f32,
                 [SIM_f64] = add_f64, [SIM_f16] = add_f16, [SIM_bf16] = add_bf16},
    [SIM_MIN] = {[SIM_u32] = min_u32, [SIM_s32] = min_s32, [SIM_u64] = min_u64, [SIM_s64] = min_s64,
                 [SIM_f16] = min_f16, [SIM_bf16] = min_bf16},
    [SIM_MAX] = {[SIM_u32] = max_u32, [SIM_s32] = max_s32, [SIM_u64] = max_u64, [SIM_s64] = max_s64,
                 [SIM_f16] = max_f16, [SIM_bf16] = max_bf16},
    [SIM_AND] = {[SIM_b32] = and_b32, [SIM_b64] = and_b64, [SIM_u32] = and_b32, [SIM_s32] = and_b32,
                 [SIM_u64] = and_b64, [SIM_s64] = and_b64},
    [SIM_OR] = {[SIM_b32] = or_b32, [SIM_b64] = or_b64, [SIM_u32] = or_b32, [SIM_s32] = or_b32,
                [SIM_u64] = or_b64, [SIM_s64] = or_b64},
    [SIM_XOR] = {[SIM_b32] = xor_b32, [SIM_b64] = xor_b64, [SIM_u32] = xor_b32, [SIM_s32] = xor_b32,
                 [SIM_u64] = xor_b64, [SIM_s64] = xor_b64},
    [SIM_INC] = {[SIM_u32] = inc_u32},
    [SIM_DEC] = {[SIM_u32] = dec_u32},
};

bool sim_reduces(unsigned reduction, unsigned type) { return combines[reduction][type] != NULL; }

void sim_reduce(unsigned reduction, unsigned type, unsigned char *to, const unsigned char *from, unsigned bytes) {
    const unsigned size = sim_types[type].bytes;
    for (unsigned at = 0; at < bytes; at += size) combines[reduction][type](to + at, from + at);
}
