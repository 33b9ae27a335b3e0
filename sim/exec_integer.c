/* Integer instructions that compilers make rarely: dot products of halves, products of 24 bits, masks,
 * selection by sign, pairs of 16 bits, and tests of floats. */
#include "lanes.h"

#include <math.h>

/* -- dp2a --------------------------------------------------------------------------------------------- */

/* Two halves of a times two bytes of b, the low or the high ones (ISA, "dp2a"). */
static uint32_t dot2(uint32_t a, uint32_t b, uint32_t c, bool a_signed, bool b_signed) {
    for (int i = 0; i < 2; i++) {
        int64_t x = a >> 16 * i & 0xffff, y = b >> 8 * i & 0xff;
        if (a_signed) x = (int16_t)x;
        if (b_signed) y = (int8_t)y;
        c += (uint32_t)(x * y);
    }
    return c;
}

static void dp2a(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask, unsigned shift) {
    const uint32_t *a = sim_source(warp, &insn->value[1]), *b = sim_source(warp, &insn->value[2]);
    const uint32_t *c = sim_source(warp, &insn->value[3]);
    uint32_t r[SIM_LANES];
    SIM_EACH_LANE(l) r[l] = dot2(a[l], b[l] >> shift, c[l], insn->type == SIM_s32, insn->type2 == SIM_s32);
    sim_put(warp, &insn->value[0], r, sizeof *r, mask);
}

static void dp2a_lo(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask) {
    dp2a(warp, insn, mask, 0);
}
static void dp2a_hi(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask) {
    dp2a(warp, insn, mask, 16);
}
sim_exec *const sim_dp2a_lo[SIM_TYPE_COUNT] = {[SIM_u32] = dp2a_lo, [SIM_s32] = dp2a_lo};
sim_exec *const sim_dp2a_hi[SIM_TYPE_COUNT] = {[SIM_u32] = dp2a_hi, [SIM_s32] = dp2a_hi};

/* -- Products of 24 bits (ISA, "mul24", "mad24"): .hi is bits 16 to 47 ---------------------------------- */

static uint64_t product24(uint32_t x, uint32_t y) { return (uint64_t)(x & 0xffffff) * (y & 0xffffff); }

static int64_t low24(uint32_t x) { return (int64_t)(x & 0xffffff) - (x >> 23 & 1 ? 1 << 24 : 0); }

static uint64_t product24_signed(uint32_t x, uint32_t y) { return (uint64_t)(low24(x) * low24(y)); }

static uint32_t add_saturated(int64_t x, int64_t y) {
    int64_t sum = x + y;
    return (uint32_t)(sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum);
}

static uint32_t high24_saturated(uint32_t x, uint32_t y, uint32_t z) {
    return add_saturated((int32_t)(uint32_t)(product24_signed(x, y) >> 16), (int32_t)z);
}

static uint32_t high_saturated(uint32_t x, uint32_t y, uint32_t z) {
    return add_saturated((int64_t)(int32_t)x * (int32_t)y >> 32, (int32_t)z);
}

SIM_BINARY(mul24_hi_u32, uint32_t, product24(x, y) >> 16)
SIM_BINARY(mul24_hi_s32, uint32_t, product24_signed(x, y) >> 16)
SIM_TERNARY(mad24_lo_u32, uint32_t, product24(x, y) + z)
SIM_TERNARY(mad24_lo_s32, uint32_t, product24_signed(x, y) + z)
SIM_TERNARY(mad24_hi_u32, uint32_t, (product24(x, y) >> 16) + z)
SIM_TERNARY(mad24_hi_s32, uint32_t, (product24_signed(x, y) >> 16) + z)
SIM_TERNARY(mad24_hi_sat_s32, uint32_t, high24_saturated(x, y, z))
SIM_TERNARY(mad_hi_sat_s32, uint32_t, high_saturated(x, y, z))
#define WORD_TABLE(op)                                                                                       \
    sim_exec *const sim_##op[SIM_TYPE_COUNT] = {[SIM_u32] = op##_u32, [SIM_s32] = op##_s32};
WORD_TABLE(mul24_hi)
WORD_TABLE(mad24_lo)
WORD_TABLE(mad24_hi)
sim_exec *const sim_mad24_hi_sat[SIM_TYPE_COUNT] = {[SIM_s32] = mad24_hi_sat_s32};
sim_exec *const sim_mad_hi_sat[SIM_TYPE_COUNT] = {[SIM_s32] = mad_hi_sat_s32};

/* -- Masks and fields --------------------------------------------------------------------------------- */

/* LENGTH ones from bit AT on. Clamped, both are at most 32; wrapped, they are taken modulo 32 (ISA,
   "bmsk"). */
static uint32_t ones_from(uint32_t at, uint32_t length) {
    uint64_t ones = length >= 32 ? UINT32_MAX : (UINT64_C(1) << length) - 1;
    return at >= 32 ? 0 : (uint32_t)(ones << at);
}

static uint32_t extend(uint32_t x, uint32_t length, bool is_signed) {
    if (length >= 32) return x;
    uint32_t keep = (1u << length) - 1;
    bool negative = is_signed && length > 0 && x >> (length - 1) & 1;
    return negative ? x | ~keep : x & keep;
}

SIM_BINARY(bmsk_clamp_b32, uint32_t, ones_from(x, y))
SIM_BINARY(bmsk_wrap_b32, uint32_t, ones_from(x & 31, y & 31))
SIM_BINARY(szext_clamp_u32, uint32_t, extend(x, y, false))
SIM_BINARY(szext_clamp_s32, uint32_t, extend(x, y, true))
SIM_BINARY(szext_wrap_u32, uint32_t, extend(x, y & 31, false))
SIM_BINARY(szext_wrap_s32, uint32_t, extend(x, y & 31, true))
sim_exec *const sim_bmsk_clamp[SIM_TYPE_COUNT] = {[SIM_b32] = bmsk_clamp_b32};
sim_exec *const sim_bmsk_wrap[SIM_TYPE_COUNT] = {[SIM_b32] = bmsk_wrap_b32};
WORD_TABLE(szext_clamp)
WORD_TABLE(szext_wrap)

/* The bit that is the OFFSET-th one set from bit BASE on, downwards if OFFSET is negative (ISA, "fns"). */
static uint32_t find_set(uint32_t mask, uint32_t base, int32_t offset) {
    int step = offset < 0 ? -1 : 1, left = offset < 0 ? -offset : offset;
    if (base > 31) return UINT32_MAX;
    if (offset == 0) return mask >> base & 1 ? base : UINT32_MAX;
    for (int at = (int)base; at >= 0 && at < 32; at += step)
        if (mask >> at & 1 && --left == 0) return (uint32_t)at;
    return UINT32_MAX;
}

SIM_TERNARY2(fns_b32, uint32_t, uint32_t, uint32_t, int32_t, find_set(x, y, z<-32 ? -33 : z> 32 ? 33 : z))
sim_exec *const sim_fns[SIM_TYPE_COUNT] = {[SIM_b32] = fns_b32};

/* a where c >= 0, b elsewhere: also where c is a NaN; -0 counts as 0 (ISA, "slct"). */
#define SLCT(width)                                                                                          \
    static void slct_##width(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask) {            \
        const uint##width##_t *a = sim_source(warp, &insn->value[1]),                                        \
                              *b = sim_source(warp, &insn->value[2]);                                        \
        const int32_t *c = sim_source(warp, &insn->value[3]);                                                \
        const float *f = sim_source(warp, &insn->value[3]);                                                  \
        uint##width##_t r[SIM_LANES];                                                                        \
        SIM_EACH_LANE(l) r[l] = (insn->type2 == SIM_f32 ? f[l] >= 0 : c[l] >= 0) ? a[l] : b[l];              \
        sim_put(warp, &insn->value[0], r, sizeof *r, mask);                                                  \
    }
SLCT(16)
SLCT(32)
SLCT(64)
sim_exec *const sim_slct[SIM_TYPE_COUNT] = {
    [SIM_b16] = slct_16, [SIM_u16] = slct_16, [SIM_s16] = slct_16, [SIM_b32] = slct_32,
    [SIM_u32] = slct_32, [SIM_s32] = slct_32, [SIM_f32] = slct_32, [SIM_b64] = slct_64,
    [SIM_u64] = slct_64, [SIM_s64] = slct_64, [SIM_f64] = slct_64};

/* -- Pairs of 16 bits --------------------------------------------------------------------------------- */

#define PAIR(x, y, T, expression)                                                                            \
    ((uint32_t)(uint16_t)pair_##expression((T)(x), (T)(y)) |                                                 \
     (uint32_t)(uint16_t)pair_##expression((T)((x) >> 16), (T)((y) >> 16)) << 16)
static uint32_t pair_sum(uint16_t x, uint16_t y) { return (uint32_t)x + y; }
static uint32_t pair_min_u(uint16_t x, uint16_t y) { return x < y ? x : y; }
static uint32_t pair_max_u(uint16_t x, uint16_t y) { return x > y ? x : y; }
static int32_t pair_min_s(int16_t x, int16_t y) { return x < y ? x : y; }
static int32_t pair_max_s(int16_t x, int16_t y) { return x > y ? x : y; }
SIM_BINARY(add_pair, uint32_t, PAIR(x, y, uint16_t, sum))
SIM_BINARY(min_u16x2, uint32_t, PAIR(x, y, uint16_t, min_u))
SIM_BINARY(max_u16x2, uint32_t, PAIR(x, y, uint16_t, max_u))
SIM_BINARY(min_s16x2, uint32_t, PAIR(x, y, int16_t, min_s))
SIM_BINARY(max_s16x2, uint32_t, PAIR(x, y, int16_t, max_s))
sim_exec *const sim_add_pair[SIM_TYPE_COUNT] = {[SIM_u16x2] = add_pair, [SIM_s16x2] = add_pair};
sim_exec *const sim_min_pair[SIM_TYPE_COUNT] = {[SIM_u16x2] = min_u16x2, [SIM_s16x2] = min_s16x2};
sim_exec *const sim_max_pair[SIM_TYPE_COUNT] = {[SIM_u16x2] = max_u16x2, [SIM_s16x2] = max_s16x2};

/* -- Signs and classes of floats ---------------------------------------------------------------------- */

SIM_BINARY(copysign_32, uint32_t, (x & 0x80000000u) | (y & 0x7fffffffu))
SIM_BINARY(copysign_64, uint64_t, (x & UINT64_C(1) << 63) | (y & ~(UINT64_C(1) << 63)))
sim_exec *const sim_copysign[SIM_TYPE_COUNT] = {[SIM_f32] = copysign_32, [SIM_f64] = copysign_64};

#define TESTP(name, T, condition)                                                                            \
    static void name(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask) {                    \
        const T *a = sim_source(warp, &insn->value[1]);                                                      \
        uint32_t bits = 0;                                                                                   \
        SIM_EACH_LANE(l) {                                                                                   \
            T x = a[l];                                                                                      \
            bits |= (uint32_t)((condition) != 0) << l;                                                       \
        }                                                                                                    \
        sim_put_predicate(warp, &insn->value[0], bits, mask);                                                \
    }
#define TESTS(op, condition)                                                                                 \
    TESTP(testp_##op##_f32, float, condition)                                                                \
    TESTP(testp_##op##_f64, double, condition)                                                               \
    sim_exec *const sim_testp_##op[SIM_TYPE_COUNT] = {                                                       \
        [SIM_f32] = testp_##op##_f32, [SIM_f64] = testp_##op##_f64};
TESTS(finite, isfinite(x))
TESTS(infinite, isinf(x))
TESTS(number, x == x)
TESTS(notanumber, x != x)
TESTS(normal, isnormal(x) || x == 0) /* zeros count (ISA, "testp") */
TESTS(subnormal, fpclassify(x) == FP_SUBNORMAL)
