/* Branches, exits and the barriers of a block. */
#include "cluster.h"

bool sim_only_exits(const ptxsim_function *f, int pc) {
    return (f->code[pc].op->flags & SIM_OP_EXIT) && f->code[pc].guard == SIM_NO_REGISTER &&
           f->code[pc].exec == sim_ret;
}

/* Goes on with the path that waits on top of the stack. */
static void next_path(struct sim_warp *warp) {
    do {
        const struct sim_path *path = &warp->path[--warp->depth];
        warp->active = path->mask;
        warp->pc = warp->next_pc = path->pc;
        warp->reconverge = path->reconverge;
    } while (warp->depth > 0 && (warp->active == 0 || warp->pc == warp->reconverge));
}

void sim_reconverge(struct sim_warp *warp) {
    if (warp->depth > 0) next_path(warp);
}

void sim_exit_lanes(struct sim_warp *warp, uint32_t mask) {
    if (warp->block->async) sim_async_exit(warp, mask);
    warp->alive &= ~mask;
    warp->active &= ~mask;
    for (int i = 0; i < warp->depth; i++) warp->path[i].mask &= ~mask;
    if (!warp->alive && warp->block->launch->clustered) sim_cluster_exit(warp, __builtin_ctz(mask));
    if (warp->active == 0 && warp->depth > 0) next_path(warp);
}

void sim_push_path(struct sim_warp *warp, int pc, int reconverge, uint32_t mask) {
    warp->path[warp->depth++] = (struct sim_path){pc, reconverge, mask};
}

bool sim_switch_path(struct sim_warp *warp) {
    if (warp->depth == 0) return false;
    struct sim_path *other = &warp->path[warp->depth - 1], here = {warp->pc, warp->reconverge, warp->active};
    if (other->reconverge != here.reconverge || other->pc == other->reconverge || other->mask == 0)
        return false;
    warp->pc = other->pc;
    warp->active = other->mask;
    *other = here;
    return true;
}

/* Lanes in MASK branch and run first, OTHERS go on after them. Both stop where they meet. */
static void split(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask, uint32_t others) {
    int join = insn->reconverge;
    if (warp->reconverge != join) sim_push_path(warp, join, warp->reconverge, warp->active);
    sim_push_path(warp, warp->pc + 1, join, others);
    warp->reconverge = join;
    warp->active = mask;
    warp->next_pc = insn->target;
}

void sim_exit_early(struct sim_warp *warp, uint32_t mask) {
    warp->block->counts.thread_instructions += (unsigned)__builtin_popcount(mask);
    sim_exit_lanes(warp, mask);
}

void sim_bra(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask) {
    const ptxsim_function *f = warp->block->launch->function;
    uint32_t others = warp->active & ~mask;
    if (others == 0) {
        warp->next_pc = insn->target;
    } else if (insn->modifiers & SIM_UNI) {
        sim_fault_at(warp, insn, __builtin_ctz(others), PTXSIM_TRAP,
                     "bra.uni, and the lanes of the warp disagree");
    } else if (sim_only_exits(f, insn->target)) {
        sim_exit_early(warp, mask);
    } else if (sim_only_exits(f, warp->pc + 1)) {
        warp->next_pc = insn->target;
        sim_exit_early(warp, others);
    } else {
        split(warp, insn, mask, others);
    }
}

void sim_ret(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask) {
    (void)insn;
    sim_exit_lanes(warp, mask);
}

void sim_trap(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask) {
    sim_fault_at(warp, insn, __builtin_ctz(mask), PTXSIM_TRAP, "trap");
}

void sim_nop(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask) {
    (void)warp;
    (void)insn;
    (void)mask;
}

/* ISA, "exit": threads that have exited hold up no barrier of all threads; a barrier with a count does not
 * count them. */
static bool is_complete(const struct sim_block *block, const struct sim_barrier *barrier) {
    uint32_t here = barrier->waiting | barrier->arrived;
    if (barrier->threads) return (unsigned)__builtin_popcount(here) * SIM_LANES >= barrier->threads;
    for (int i = 0; i < block->warp_count; i++)
        if (block->warps[i].alive && !(here >> i & 1)) return false;
    return true;
}

static bool is_reduction(const struct sim_insn *insn) {
    return insn->exec == sim_bar_red_popc || insn->exec == sim_bar_red_and || insn->exec == sim_bar_red_or;
}

/* The lanes of a waiting warp whose predicate is true. */
static uint32_t votes_of(const struct sim_warp *warp, const struct sim_insn *insn) {
    return sim_predicate(warp, &insn->value[3]) & warp->active;
}

static void put_reduction(struct sim_warp *warp, const struct sim_insn *insn, uint32_t votes,
                          uint32_t voters) {
    uint32_t r[SIM_LANES];
    bool verdict = insn->exec == sim_bar_red_and ? votes == voters : votes > 0;
    SIM_EACH_LANE(l) r[l] = votes;
    if (insn->exec != sim_bar_red_popc)
        sim_put_predicate(warp, &insn->value[0], verdict ? SIM_FULL_MASK : 0, warp->active);
    else sim_put(warp, &insn->value[0], r, sizeof *r, warp->active);
}

/* bar.red: the predicates of all threads that wait. Their registers have not changed since they arrived. */
static void reduce(struct sim_block *block, const struct sim_barrier *barrier) {
    const struct sim_insn *code = block->launch->function->code;
    uint32_t votes = 0, voters = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < block->warp_count; i++) {
            struct sim_warp *warp = &block->warps[i];
            if (!(barrier->waiting >> i & 1) || !is_reduction(&code[warp->barrier_pc])) continue;
            if (pass == 1) put_reduction(warp, &code[warp->barrier_pc], votes, voters);
            else votes += (uint32_t)__builtin_popcount(votes_of(warp, &code[warp->barrier_pc]));
            if (pass == 0) voters += (uint32_t)__builtin_popcount(warp->active);
        }
}

static void release(struct sim_block *block, struct sim_barrier *barrier) {
    reduce(block, barrier);
    for (int i = 0; i < block->warp_count; i++) {
        if (!(barrier->waiting >> i & 1)) continue;
        block->warps[i].barrier = SIM_NOT_WAITING;
        sim_race_release(&block->warps[i], barrier->seen);
        if (block->async) sim_view_leave(&block->warps[i], (int)(barrier - block->barrier));
    }
    *barrier = (struct sim_barrier){0};
}

void sim_barriers_check(struct sim_block *block) {
    for (int i = 0; i < SIM_BARRIERS; i++)
        if (block->barrier[i].in_use && is_complete(block, &block->barrier[i]))
            release(block, &block->barrier[i]);
}

/* The operand's value, which the ISA wants equal in all lanes of the warp. */
static bool uniform_value(struct sim_warp *warp, const struct sim_insn *insn, const struct sim_value *value,
                          uint32_t mask, uint32_t *result) {
    int first = __builtin_ctz(mask);
    *result = sim_lane_u32(warp, value, first);
    SIM_EACH_LANE(l) {
        if (!SIM_ACTIVE(mask, l) || sim_lane_u32(warp, value, l) == *result) continue;
        sim_fault_at(warp, insn, l, PTXSIM_TRAP,
                     "the lanes of the warp disagree on an operand: %u here, %u in lane %d",
                     sim_lane_u32(warp, value, l), *result, first);
        return false;
    }
    return true;
}

static bool barrier_operands(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask, uint32_t *id,
                             uint32_t *threads) {
    const struct sim_value *value = insn->value + insn->destination_count;
    int lane = __builtin_ctz(mask);
    *threads = 0;
    if (!uniform_value(warp, insn, &value[0], mask, id)) return false;
    if (*id >= SIM_BARRIERS) {
        sim_fault_at(warp, insn, lane, PTXSIM_TRAP, "barrier %u: there are %d", *id, SIM_BARRIERS);
        return false;
    }
    if (value[1].kind == SIM_SINK) return true;
    if (!uniform_value(warp, insn, &value[1], mask, threads)) return false;
    if (*threads > 0 && *threads % SIM_LANES == 0 &&
        *threads <= (unsigned)warp->block->warp_count * SIM_LANES)
        return true;
    sim_fault_at(warp, insn, lane, PTXSIM_TRAP,
                 "a barrier of %u threads: a multiple of %d, and no more than the block has, is needed",
                 *threads, SIM_LANES);
    return false;
}

static bool can_arrive(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask,
                       const struct sim_barrier *b, uint32_t threads) {
    const char *reason = NULL;
    if (b->in_use && b->threads != threads)
        reason = "the warps disagree on how many threads the barrier awaits";
    if ((b->waiting | b->arrived) >> warp->index & 1)
        reason = "the warp arrives at the barrier twice before it completes";
    if (reason) sim_fault_at(warp, insn, __builtin_ctz(mask), PTXSIM_BARRIER, "%s", reason);
    return !reason;
}

static void arrive(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask, bool waits) {
    uint32_t id, threads, bit = 1u << warp->index;
    if (!barrier_operands(warp, insn, mask, &id, &threads)) return;
    struct sim_barrier *b = &warp->block->barrier[id];
    if (!can_arrive(warp, insn, mask, b, threads)) return;
    *(waits ? &b->waiting : &b->arrived) |= bit;
    if (warp->block->async) sim_view_arrive(warp, (int)id, !b->in_use, waits);
    sim_race_arrive(warp, b->seen, waits);
    b->in_use = true;
    b->threads = threads;
    if (waits) warp->barrier = (int)id;
    warp->barrier_pc = warp->pc;
    warp->block->counts.barriers++;
    sim_barriers_check(warp->block);
}

void sim_bar_sync(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask) {
    arrive(warp, insn, mask, true);
}

void sim_bar_arrive(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask) {
    arrive(warp, insn, mask, false);
}

#define BAR_RED(name)                                                                                        \
    void sim_bar_red_##name(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask) {             \
        arrive(warp, insn, mask, true);                                                                      \
    }
BAR_RED(popc)
BAR_RED(and)
BAR_RED(or)
