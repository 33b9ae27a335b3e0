/* Integer addition, division, extrema and the like. Sums wrap; they are computed unsigned, since in C a
 * signed one must not overflow. */
#include "lanes.h"

#define UNSIGNED_TABLE(op)                                                                                   \
    {                                                                                                        \
        [SIM_u16] = op##_u16, [SIM_s16] = op##_u16, [SIM_u32] = op##_u32, [SIM_s32] = op##_u32,              \
        [SIM_u64] = op##_u64, [SIM_s64] = op##_u64                                                           \
    }
#define SIGNED_TABLE(op)                                                                                     \
    {                                                                                                        \
        [SIM_u16] = op##_u16, [SIM_s16] = op##_s16, [SIM_u32] = op##_u32, [SIM_s32] = op##_s32,              \
        [SIM_u64] = op##_u64, [SIM_s64] = op##_s64                                                           \
    }

SIM_BINARY(add_u16, uint16_t, x + y)
SIM_BINARY(add_u32, uint32_t, x + y)
SIM_BINARY(add_u64, uint64_t, x + y)
sim_exec *const sim_add[SIM_TYPE_COUNT] = UNSIGNED_TABLE(add);

SIM_BINARY(sub_u16, uint16_t, x - y)
SIM_BINARY(sub_u32, uint32_t, x - y)
SIM_BINARY(sub_u64, uint64_t, x - y)
sim_exec *const sim_sub[SIM_TYPE_COUNT] = UNSIGNED_TABLE(sub);

static int32_t clamp_s32(int64_t x) {
    return x > INT32_MAX ? INT32_MAX : x < INT32_MIN ? INT32_MIN : (int32_t)x;
}

SIM_BINARY(add_sat_s32, int32_t, clamp_s32((int64_t)x + y))
SIM_BINARY(sub_sat_s32, int32_t, clamp_s32((int64_t)x - y))
sim_exec *const sim_add_sat[SIM_TYPE_COUNT] = {[SIM_s32] = add_sat_s32};
sim_exec *const sim_sub_sat[SIM_TYPE_COUNT] = {[SIM_s32] = sub_sat_s32};

#define EXTREMA(type, T)                                                                                     \
    SIM_BINARY(min_##type, T, x < y ? x : y)                                                                 \
    SIM_BINARY(max_##type, T, x > y ? x : y)
EXTREMA(u16, uint16_t)
EXTREMA(s16, int16_t)
EXTREMA(u32, uint32_t)
EXTREMA(s32, int32_t)
EXTREMA(u64, uint64_t)
EXTREMA(s64, int64_t)
sim_exec *const sim_min[SIM_TYPE_COUNT] = SIGNED_TABLE(min);
sim_exec *const sim_max[SIM_TYPE_COUNT] = SIGNED_TABLE(max);

/* The least negative number is its own negative. */
#define NEGATE(width)                                                                                        \
    SIM_UNARY(neg_s##width, uint##width##_t, uint##width##_t, 0u - x)                                        \
    SIM_UNARY(abs_s##width, uint##width##_t, uint##width##_t, x >> (width - 1) ? 0u - x : x)
NEGATE(16)
NEGATE(32)
NEGATE(64)
sim_exec *const sim_neg[SIM_TYPE_COUNT] = {[SIM_s16] = neg_s16, [SIM_s32] = neg_s32, [SIM_s64] = neg_s64};
sim_exec *const sim_abs[SIM_TYPE_COUNT] = {[SIM_s16] = abs_s16, [SIM_s32] = abs_s32, [SIM_s64] = abs_s64};

#define SAD(type, T, U) SIM_TERNARY2(sad_##type, U, T, T, U, z + (x < y ? (U)y - (U)x : (U)x - (U)y))
SAD(u16, uint16_t, uint16_t)
SAD(s16, int16_t, uint16_t)
SAD(u32, uint32_t, uint32_t)
SAD(s32, int32_t, uint32_t)
SAD(u64, uint64_t, uint64_t)
SAD(s64, int64_t, uint64_t)
sim_exec *const sim_sad[SIM_TYPE_COUNT] = SIGNED_TABLE(sad);

/* A division by zero has no specified result: it is a fault. By -1 C's division may overflow where PTX's
 * wraps. */
#define DIVISION(name, T, expression)                                                                        \
    static void name(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask) {                    \
        const T *a = sim_source(warp, &insn->value[1]), *b = sim_source(warp, &insn->value[2]);              \
        T r[SIM_LANES] = {0};                                                                                \
        SIM_EACH_LANE(l) {                                                                                   \
            T x = a[l], y = b[l];                                                                            \
            if (!SIM_ACTIVE(mask, l)) continue;                                                              \
            if (y == 0) {                                                                                    \
                sim_fault_at(warp, insn, l, PTXSIM_TRAP, "integer division by zero");                        \
                return;                                                                                      \
            }                                                                                                \
            r[l] = (T)(expression);                                                                          \
        }                                                                                                    \
        sim_put(warp, &insn->value[0], r, sizeof *r, mask);                                                  \
    }
DIVISION(div_u16, uint16_t, x / y)
DIVISION(div_s16, int16_t, y == -1 ? (int16_t)(0u - (uint16_t)x) : (int16_t)(x / y))
DIVISION(div_u32, uint32_t, x / y)
DIVISION(div_s32, int32_t, y == -1 ? (int32_t)(0u - (uint32_t)x) : (int32_t)(x / y))
DIVISION(div_u64, uint64_t, x / y)
DIVISION(div_s64, int64_t, y == -1 ? (int64_t)(0u - (uint64_t)x) : (int64_t)(x / y))
sim_exec *const sim_div[SIM_TYPE_COUNT] = SIGNED_TABLE(div);

DIVISION(rem_u16, uint16_t, x % y)
DIVISION(rem_s16, int16_t, y == -1 ? 0 : x % y)
DIVISION(rem_u32, uint32_t, x % y)
DIVISION(rem_s32, int32_t, y == -1 ? 0 : x % y)
DIVISION(rem_u64, uint64_t, x % y)
DIVISION(rem_s64, int64_t, y == -1 ? 0 : x % y)
sim_exec *const sim_rem[SIM_TYPE_COUNT] = SIGNED_TABLE(rem);
