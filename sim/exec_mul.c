/* Integer products. U is the unsigned type of an operand, S the signed one, W and V those of twice the width.
 */
#include "lanes.h"

__extension__ typedef unsigned __int128 uint128_t;
__extension__ typedef __int128 int128_t;

#define HIGH(width, P, T, x, y) ((P)(T)(x) * (P)(T)(y) >> width)

#define PRODUCTS(width, U, S, W, V)                                                                          \
    SIM_BINARY(mul_lo_u##width, U, (W)x *y)                                                                  \
    SIM_BINARY(mul_hi_u##width, U, HIGH(width, W, U, x, y))                                                  \
    SIM_BINARY(mul_hi_s##width, U, HIGH(width, V, S, x, y))                                                  \
    SIM_TERNARY(mad_lo_u##width, U, (W)x *y + z)                                                             \
    SIM_TERNARY(mad_hi_u##width, U, (W)HIGH(width, W, U, x, y) + z)                                          \
    SIM_TERNARY(mad_hi_s##width, U, (W)HIGH(width, V, S, x, y) + z)

PRODUCTS(16, uint16_t, int16_t, uint32_t, int32_t)
PRODUCTS(32, uint32_t, int32_t, uint64_t, int64_t)
PRODUCTS(64, uint64_t, int64_t, uint128_t, int128_t)

#define LOW_TABLE(op)                                                                                        \
    {                                                                                                        \
        [SIM_u16] = op##_u16, [SIM_s16] = op##_u16, [SIM_u32] = op##_u32, [SIM_s32] = op##_u32,              \
        [SIM_u64] = op##_u64, [SIM_s64] = op##_u64                                                           \
    }
#define HIGH_TABLE(op)                                                                                       \
    {                                                                                                        \
        [SIM_u16] = op##_u16, [SIM_s16] = op##_s16, [SIM_u32] = op##_u32, [SIM_s32] = op##_s32,              \
        [SIM_u64] = op##_u64, [SIM_s64] = op##_s64                                                           \
    }

sim_exec *const sim_mul_lo[SIM_TYPE_COUNT] = LOW_TABLE(mul_lo);
sim_exec *const sim_mad_lo[SIM_TYPE_COUNT] = LOW_TABLE(mad_lo);
sim_exec *const sim_mul_hi[SIM_TYPE_COUNT] = HIGH_TABLE(mul_hi);
sim_exec *const sim_mad_hi[SIM_TYPE_COUNT] = HIGH_TABLE(mad_hi);

#define WIDE(type, T, P, W)                                                                                  \
    SIM_BINARY2(mul_wide_##type, W, T, T, (P)x *(P)y)                                                        \
    SIM_TERNARY2(mad_wide_##type, W, T, T, W, (W)((P)x * (P)y) + z)
WIDE(u16, uint16_t, uint32_t, uint32_t)
WIDE(s16, int16_t, int32_t, uint32_t)
WIDE(u32, uint32_t, uint64_t, uint64_t)
WIDE(s32, int32_t, int64_t, uint64_t)

#define WIDE_TABLE(op)                                                                                       \
    { [SIM_u16] = op##_u16, [SIM_s16] = op##_s16, [SIM_u32] = op##_u32, [SIM_s32] = op##_s32 }

sim_exec *const sim_mul_wide[SIM_TYPE_COUNT] = WIDE_TABLE(mul_wide);
sim_exec *const sim_mad_wide[SIM_TYPE_COUNT] = WIDE_TABLE(mad_wide);

/* The operands' low 24 bits, sign-extended for .s32. */
static int64_t low24(uint32_t x) { return (int64_t)(x & 0xffffff) - (x >> 23 & 1 ? 1 << 24 : 0); }

SIM_BINARY(mul24_lo_u32, uint32_t, (uint64_t)(x & 0xffffff) * (y & 0xffffff))
SIM_BINARY(mul24_lo_s32, uint32_t, low24(x) * low24(y))
sim_exec *const sim_mul24_lo[SIM_TYPE_COUNT] = {[SIM_u32] = mul24_lo_u32, [SIM_s32] = mul24_lo_s32};

/* Four products of bytes, signed or not, summed onto c. */
static uint32_t dot4(uint32_t a, uint32_t b, uint32_t c, bool a_signed, bool b_signed) {
    for (int i = 0; i < 4; i++) {
        int x = (int)(a >> 8 * i & 0xff), y = (int)(b >> 8 * i & 0xff);
        if (a_signed) x = (int8_t)x;
        if (b_signed) y = (int8_t)y;
        c += (uint32_t)(x * y);
    }
    return c;
}

static void dp4a(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask) {
    const uint32_t *a = sim_source(warp, &insn->value[1]), *b = sim_source(warp, &insn->value[2]);
    const uint32_t *c = sim_source(warp, &insn->value[3]);
    uint32_t r[SIM_LANES];
    SIM_EACH_LANE(l) r[l] = dot4(a[l], b[l], c[l], insn->type == SIM_s32, insn->type2 == SIM_s32);
    sim_put(warp, &insn->value[0], r, sizeof *r, mask);
}
sim_exec *const sim_dp4a[SIM_TYPE_COUNT] = {[SIM_u32] = dp4a, [SIM_s32] = dp4a};
