/* Instructions that exchange data between the lanes of a warp. */
#include "lanes.h"

/* The lanes of a .sync instruction: its member mask must be the same in all of them, name each of them, and
 * name no lane that is elsewhere. (The ISA lets threads wait for each other; a warp whose paths have split
 * would wait for ever or, on a GPU, depend on how the compiler joins paths.) Returns false after a fault. */
bool sim_members_are_here(struct sim_warp *warp, const struct sim_insn *insn, const struct sim_value *value,
                          uint32_t mask) {
    int first = __builtin_ctz(mask);
    uint32_t members = sim_lane_u32(warp, value, first);
    for (uint32_t left = mask; left; left &= left - 1) {
        int lane = __builtin_ctz(left);
        if (sim_lane_u32(warp, value, lane) == members && members >> lane & 1) continue;
        sim_fault_at(warp, insn, lane, PTXSIM_BARRIER,
                     "the member mask is 0x%08x here and 0x%08x in lane %d; it must name each lane",
                     sim_lane_u32(warp, value, lane), members, first);
        return false;
    }
    uint32_t missing = members & warp->alive & ~mask;
    if (!missing) return true;
    sim_fault_at(
        warp, insn, __builtin_ctz(missing), PTXSIM_BARRIER,
        "this thread is a member of 0x%08x and does not execute the instruction with the others (0x%08x)",
        members, mask);
    return false;
}

void sim_bar_warp_sync(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask) {
    if (sim_members_are_here(warp, insn, &insn->value[0], mask)) sim_race_warp_sync(warp, mask);
}

enum shuffle { UP, DOWN, BFLY, IDX };

/* The lane that LANE reads from, and in *IN_RANGE the predicate (ISA, "shfl.sync"). C holds the segment mask
 * and the clamp. */
static int source_lane(enum shuffle mode, int lane, uint32_t b, uint32_t c, bool *in_range) {
    int offset = (int)(b & 31), clamp = (int)(c & 31), segment = (int)(c >> 8 & 31);
    int most = (lane & segment) | (clamp & ~segment), least = lane & segment, from = lane;
    switch (mode) {
    case UP: from = lane - offset; break;
    case DOWN: from = lane + offset; break;
    case BFLY: from = lane ^ offset; break;
    case IDX: from = least | (offset & ~segment); break;
    }
    *in_range = mode == UP ? from >= most : from <= most;
    return *in_range ? from : lane;
}

/* What is read from a lane that does not take part is undefined: the destination is left so. */
static void shuffle(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask, enum shuffle mode) {
    if (!sim_members_are_here(warp, insn, &insn->value[5], mask)) return;
    const uint32_t *a = sim_source(warp, &insn->value[2]);
    uint32_t r[SIM_LANES] = {0}, predicate = 0, undefined = 0;
    SIM_EACH_LANE(l) {
        bool in_range;
        if (!SIM_ACTIVE(mask, l)) continue;
        int from = source_lane(mode, l, sim_lane_u32(warp, &insn->value[3], l),
                               sim_lane_u32(warp, &insn->value[4], l), &in_range);
        r[l] = a[from];
        predicate |= (uint32_t)in_range << l;
        undefined |= (uint32_t)!SIM_ACTIVE(mask, from) << l;
    }
    sim_put(warp, &insn->value[0], r, sizeof *r, mask);
    if (insn->value[0].kind == SIM_REGISTER) warp->defined[insn->value[0].reg] &= ~undefined;
    sim_put_predicate(warp, &insn->value[1], predicate, mask);
}

#define SHUFFLE(name, mode)                                                                                  \
    static void name(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask) {                    \
        shuffle(warp, insn, mask, mode);                                                                     \
    }                                                                                                        \
    sim_exec *const sim_##name[SIM_TYPE_COUNT] = {[SIM_b32] = name};
SHUFFLE(shfl_up, UP)
SHUFFLE(shfl_down, DOWN)
SHUFFLE(shfl_bfly, BFLY)
SHUFFLE(shfl_idx, IDX)

/* The votes of the lanes in MASK. */
static bool votes(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask, uint32_t *yes) {
    *yes = sim_predicate(warp, &insn->value[1]) & mask;
    return sim_members_are_here(warp, insn, &insn->value[2], mask);
}

static void put_verdict(struct sim_warp *warp, const struct sim_insn *insn, bool verdict, uint32_t mask) {
    sim_put_predicate(warp, &insn->value[0], verdict ? SIM_FULL_MASK : 0, mask);
}

void sim_vote_all(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask) {
    uint32_t yes;
    if (votes(warp, insn, mask, &yes)) put_verdict(warp, insn, yes == mask, mask);
}

void sim_vote_any(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask) {
    uint32_t yes;
    if (votes(warp, insn, mask, &yes)) put_verdict(warp, insn, yes != 0, mask);
}

void sim_vote_uni(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask) {
    uint32_t yes;
    if (votes(warp, insn, mask, &yes)) put_verdict(warp, insn, yes == 0 || yes == mask, mask);
}

static void put_alike(struct sim_warp *warp, const struct sim_value *value, uint32_t bits, uint32_t mask) {
    uint32_t r[SIM_LANES];
    SIM_EACH_LANE(l) r[l] = bits;
    sim_put(warp, value, r, sizeof *r, mask);
}

void sim_vote_ballot(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask) {
    uint32_t yes;
    if (votes(warp, insn, mask, &yes)) put_alike(warp, &insn->value[0], yes, mask);
}

void sim_activemask(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask) {
    put_alike(warp, &insn->value[0], mask, mask);
}

#define REDUX(name, T, expression)                                                                           \
    static void name(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask) {                    \
        const T *a = sim_source(warp, &insn->value[1]);                                                      \
        if (!sim_members_are_here(warp, insn, &insn->value[2], mask)) return;                                \
        T x = a[__builtin_ctz(mask)];                                                                        \
        for (uint32_t left = mask & (mask - 1); left; left &= left - 1) {                                    \
            T y = a[__builtin_ctz(left)];                                                                    \
            x = expression;                                                                                  \
        }                                                                                                    \
        put_alike(warp, &insn->value[0], (uint32_t)x, mask);                                                 \
    }
REDUX(redux_add_u32, uint32_t, x + y)
REDUX(redux_min_u32, uint32_t, x < y ? x : y)
REDUX(redux_max_u32, uint32_t, x > y ? x : y)
REDUX(redux_min_s32, int32_t, x < y ? x : y)
REDUX(redux_max_s32, int32_t, x > y ? x : y)
REDUX(redux_and_b32, uint32_t, x &y)
REDUX(redux_or_b32, uint32_t, x | y)
REDUX(redux_xor_b32, uint32_t, x ^ y)
sim_exec *const sim_redux_add[SIM_TYPE_COUNT] = {[SIM_u32] = redux_add_u32, [SIM_s32] = redux_add_u32};
sim_exec *const sim_redux_min[SIM_TYPE_COUNT] = {[SIM_u32] = redux_min_u32, [SIM_s32] = redux_min_s32};
sim_exec *const sim_redux_max[SIM_TYPE_COUNT] = {[SIM_u32] = redux_max_u32, [SIM_s32] = redux_max_s32};
sim_exec *const sim_redux_and[SIM_TYPE_COUNT] = {[SIM_b32] = redux_and_b32};
sim_exec *const sim_redux_or[SIM_TYPE_COUNT] = {[SIM_b32] = redux_or_b32};
sim_exec *const sim_redux_xor[SIM_TYPE_COUNT] = {[SIM_b32] = redux_xor_b32};

static uint64_t lane_value(const struct sim_warp *warp, const struct sim_insn *insn, int operand, int lane) {
    const void *lanes = sim_source(warp, &insn->value[operand]);
    return insn->type == SIM_b64 ? ((const uint64_t *)lanes)[lane] : ((const uint32_t *)lanes)[lane];
}

static uint32_t lanes_alike(const struct sim_warp *warp, const struct sim_insn *insn, int operand,
                            uint64_t value, uint32_t mask) {
    uint32_t alike = 0;
    for (uint32_t left = mask; left; left &= left - 1) {
        int lane = __builtin_ctz(left);
        if (lane_value(warp, insn, operand, lane) == value) alike |= 1u << lane;
    }
    return alike;
}

static void match_any(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask) {
    uint32_t r[SIM_LANES];
    if (!sim_members_are_here(warp, insn, &insn->value[2], mask)) return;
    SIM_EACH_LANE(l) r[l] = lanes_alike(warp, insn, 1, lane_value(warp, insn, 1, l), mask);
    sim_put(warp, &insn->value[0], r, sizeof *r, mask);
}

static void match_all(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask) {
    if (!sim_members_are_here(warp, insn, &insn->value[3], mask)) return;
    uint64_t first = lane_value(warp, insn, 2, __builtin_ctz(mask));
    bool all = lanes_alike(warp, insn, 2, first, mask) == mask;
    put_alike(warp, &insn->value[0], all ? mask : 0, mask);
    sim_put_predicate(warp, &insn->value[1], all ? SIM_FULL_MASK : 0, mask);
}
sim_exec *const sim_match_any[SIM_TYPE_COUNT] = {[SIM_b32] = match_any, [SIM_b64] = match_any};
sim_exec *const sim_match_all[SIM_TYPE_COUNT] = {[SIM_b32] = match_all, [SIM_b64] = match_all};

/* The ISA leaves the choice open; this takes the lowest lane. */
void sim_elect(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask) {
    if (!sim_members_are_here(warp, insn, &insn->value[2], mask)) return;
    put_alike(warp, &insn->value[0], (uint32_t)__builtin_ctz(mask), mask);
    sim_put_predicate(warp, &insn->value[1], mask & (0 - mask), mask);
}
