/* Arithmetic with the carry flag CC.CF, of which each thread has one (ISA, "Extended-Precision Integer
 * Arithmetic Instructions"). A subtraction adds the complement and a flag that stands for "no borrow": the
 * ISA does not say what addc finds behind sub.cc, but nvcc's own code (divisions of 128 bits) needs it so.
 * To read a flag that nothing set is a fault. */
#include "lanes.h"

__extension__ typedef unsigned __int128 uint128_t;

/* The flag of each lane in MASK; false after a fault. */
static bool flags_known(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask) {
    uint32_t unknown = mask & ~warp->carry_known;
    if (!unknown) return true;
    sim_fault_at(warp, insn, __builtin_ctz(unknown), PTXSIM_UNINIT,
                 "reads the carry flag, which nothing set");
    return false;
}

static void set_flags(struct sim_warp *warp, const struct sim_insn *insn, uint32_t flags, uint32_t mask) {
    if (!(insn->modifiers & SIM_SET_CARRY)) return;
    warp->carry = (warp->carry & ~mask) | (flags & mask);
    warp->carry_known |= mask;
}

static uint64_t operand(const struct sim_warp *warp, const struct sim_insn *insn, int i, int lane) {
    const void *lanes = sim_source(warp, &insn->value[i]);
    return sim_types[insn->type].bytes == 8 ? ((const uint64_t *)lanes)[lane]
                                            : ((const uint32_t *)lanes)[lane];
}

/* The addend and the flag as a number; a result's bit above the type's is the new flag. */
typedef uint128_t operation(uint64_t a, uint64_t b, uint64_t c, uint64_t flag, unsigned width);

static void compute(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask, operation *op,
                    bool with_flag) {
    unsigned bytes = sim_types[insn->type].bytes, width = 8 * bytes;
    bool three = insn->value_count > 3;
    uint32_t flags = 0, r32[SIM_LANES];
    uint64_t r64[SIM_LANES];
    if (with_flag && !flags_known(warp, insn, mask)) return;
    SIM_EACH_LANE(l) {
        uint64_t c = three ? operand(warp, insn, 3, l) : 0, flag = with_flag && warp->carry >> l & 1;
        uint128_t sum = op(operand(warp, insn, 1, l), operand(warp, insn, 2, l), c, flag, width);
        r64[l] = (uint64_t)sum;
        r32[l] = (uint32_t)sum;
        flags |= (uint32_t)(sum >> width & 1) << l;
    }
    sim_put(warp, &insn->value[0], bytes == 8 ? (const void *)r64 : r32, bytes, mask);
    set_flags(warp, insn, flags, mask);
}

static uint64_t low_of(uint128_t x, unsigned width) {
    return width == 64 ? (uint64_t)x : (uint64_t)x & ((UINT64_C(1) << width) - 1);
}

static uint64_t low_product(uint64_t a, uint64_t b, unsigned width) {
    return low_of((uint128_t)a * b, width);
}

static uint128_t sum_of(uint64_t a, uint64_t b, uint64_t c, uint64_t flag, unsigned width) {
    (void)c, (void)width;
    return (uint128_t)a + b + flag;
}

static uint128_t difference_of(uint64_t a, uint64_t b, uint64_t c, uint64_t flag, unsigned width) {
    (void)c;
    return (uint128_t)a + low_of(~b, width) + flag;
}

static uint128_t whole_difference(uint64_t a, uint64_t b, uint64_t c, uint64_t flag, unsigned width) {
    (void)flag;
    return difference_of(a, b, c, 1, width);
}

static uint128_t low_sum(uint64_t a, uint64_t b, uint64_t c, uint64_t flag, unsigned width) {
    return (uint128_t)low_product(a, b, width) + c + flag;
}

static uint128_t high_sum(uint64_t a, uint64_t b, uint64_t c, uint64_t flag, unsigned width) {
    return (uint128_t)low_of((uint128_t)a * b >> width, width) + c + flag;
}

static uint64_t sign_of(uint64_t x, unsigned width) { return x >> (width - 1) & 1; }

/* The signed product's high half is the unsigned one's, less the other factor for each that is negative. */
static uint128_t high_sum_signed(uint64_t a, uint64_t b, uint64_t c, uint64_t flag, unsigned width) {
    uint128_t high = (uint128_t)a * b >> width;
    if (sign_of(a, width)) high -= b;
    if (sign_of(b, width)) high -= a;
    return (uint128_t)low_of(high, width) + c + flag;
}

#define CARRY(name, operation, with_flag)                                                                    \
    static void name(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask) {                    \
        compute(warp, insn, mask, operation, with_flag);                                                     \
    }
#define EVERY(name)                                                                                          \
    sim_exec *const sim_##name[SIM_TYPE_COUNT] = {                                                           \
        [SIM_u32] = name, [SIM_s32] = name, [SIM_u64] = name, [SIM_s64] = name};
CARRY(add_cc, sum_of, false)
CARRY(addc, sum_of, true)
CARRY(sub_cc, whole_difference, false)
CARRY(subc, difference_of, true)
CARRY(mad_lo_cc, low_sum, false)
CARRY(madc_lo, low_sum, true)
CARRY(mad_hi_cc, high_sum, false)
CARRY(mad_hi_cc_signed, high_sum_signed, false)
CARRY(madc_hi, high_sum, true)
CARRY(madc_hi_signed, high_sum_signed, true)
EVERY(add_cc)
EVERY(addc)
EVERY(sub_cc)
EVERY(subc)
EVERY(mad_lo_cc)
EVERY(madc_lo)
sim_exec *const sim_mad_hi_cc[SIM_TYPE_COUNT] = {
    [SIM_u32] = mad_hi_cc, [SIM_s32] = mad_hi_cc_signed, [SIM_u64] = mad_hi_cc, [SIM_s64] = mad_hi_cc_signed};
sim_exec *const sim_madc_hi[SIM_TYPE_COUNT] = {
    [SIM_u32] = madc_hi, [SIM_s32] = madc_hi_signed, [SIM_u64] = madc_hi, [SIM_s64] = madc_hi_signed};
