/* Arriving at mbarriers and waiting for them (ISA, "mbarrier.arrive", "mbarrier.test_wait, try_wait"). */
#include "async.h"
#include "lanes.h"
#include "order.h"

/* -- Arrive ---------------------------------------------------------------------------------------------- */

/* What an arrival returns, as wait and pending_count read it. */
enum { PENDING_AT = 32, INDEX_AT = 52, MARK_AT = 58, MARK = 0x2b };

static uint64_t state_of(const struct sim_mbarrier *m) {
    return (uint64_t)MARK << MARK_AT | (uint64_t)sim_mbarrier_index(m) << INDEX_AT |
           (uint64_t)m->pending << PENDING_AT | m->phase;
}

enum arrival { PLAIN, EXPECTS = 1, DROPS = 2, NEVER_LAST = 4 };

/* The operand behind the address: bytes to expect, or how often to arrive. */
static bool arrive(struct sim_warp *warp, const struct sim_insn *insn, int lane, struct sim_mbarrier *m,
                   enum arrival how) {
    const struct sim_value *operand = &insn->value[1];
    uint32_t value = operand->kind == SIM_SINK ? 1 : sim_lane_u32(warp, operand, lane);
    uint32_t count = how & EXPECTS ? 1 : value;
    if ((how & NEVER_LAST) && count >= m->pending) {
        sim_fault_at(warp, insn, lane, PTXSIM_ASYNC, ".noComplete, and these %u arrivals complete the phase",
                     count);
        return false;
    }
    if ((how & EXPECTS) && !sim_mbarrier_expect(warp, insn, lane, m, value)) return false;
    if ((how & DROPS) && count <= m->expected) m->expected -= count;
    return sim_mbarrier_arrive(warp, insn, lane, m, count);
}

/* All lanes make known what they did before any of them arrives: they may arrive at one object. */
static void release_all(struct sim_warp *warp, uint32_t mask, struct sim_mbarrier *const found[SIM_LANES]) {
    for (uint32_t left = mask; left;) {
        int first = __builtin_ctz(left);
        uint32_t same = sim_mbarrier_lanes(found, mask, first);
        sim_view_release_to(warp, same, found[first]->owner, &found[first]->arriving);
        left &= ~same;
    }
}

static void arrive_all(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask, enum arrival how) {
    struct sim_mbarrier *found[SIM_LANES];
    uint64_t state[SIM_LANES];
    if (!sim_mbarrier_find(warp, insn, mask, true, found)) return;
    if (!insn->relaxed || sim_order_is_fenced(warp, mask)) release_all(warp, mask, found);
    SIM_EACH_LANE(l) {
        if (!SIM_ACTIVE(mask, l)) continue;
        state[l] = state_of(found[l]);
        if (!arrive(warp, insn, l, found[l], how)) return;
    }
    sim_put(warp, &insn->value[0], state, sizeof *state, mask);
}

#define ARRIVE(name, how)                                                                                    \
    void sim_mbarrier_##name(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask) {            \
        arrive_all(warp, insn, mask, (enum arrival)(how));                                                   \
    }
ARRIVE(arrive_plain, PLAIN)
ARRIVE(arrive_expect, EXPECTS)
ARRIVE(arrive_no_complete, NEVER_LAST)
ARRIVE(drop_plain, DROPS)
ARRIVE(drop_expect, DROPS | EXPECTS)
ARRIVE(drop_no_complete, DROPS | NEVER_LAST)

static void change_bytes(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask, int sign) {
    struct sim_mbarrier *found[SIM_LANES];
    if (!sim_mbarrier_find(warp, insn, mask, true, found)) return;
    SIM_EACH_LANE(l) {
        if (!SIM_ACTIVE(mask, l)) continue;
        int64_t bytes = sim_lane_u32(warp, &insn->value[0], l);
        if (!sim_mbarrier_expect(warp, insn, l, found[l], sign * bytes)) return;
    }
}

void sim_mbarrier_expect_tx(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask) {
    change_bytes(warp, insn, mask, 1);
}

void sim_mbarrier_complete_tx(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask) {
    change_bytes(warp, insn, mask, -1);
}

void sim_mbarrier_pending_count(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask) {
    const uint64_t *state = sim_source(warp, &insn->value[1]);
    uint32_t r[SIM_LANES];
    SIM_EACH_LANE(l) {
        r[l] = (uint32_t)(state[l] >> PENDING_AT) & ((1u << (INDEX_AT - PENDING_AT)) - 1);
        if (SIM_ACTIVE(mask, l) && state[l] >> MARK_AT != MARK)
            sim_fault_at(warp, insn, l, PTXSIM_ASYNC, "0x%llx is not a state that an arrival returned",
                         (unsigned long long)state[l]);
    }
    sim_put(warp, &insn->value[0], r, sizeof *r, mask);
}

/* -- Wait ------------------------------------------------------------------------------------------------ */

/* The phase that a lane waits for, by parity: the current one, or the one before, which is over. */
static uint32_t phase_of_parity(const struct sim_mbarrier *m, uint32_t parity) {
    return ((m->phase - m->first) & 1) == parity ? m->phase : m->phase - 1;
}

static bool awaited_phase(struct sim_warp *warp, const struct sim_insn *insn, int lane,
                          const struct sim_mbarrier *m, bool by_parity, uint32_t *phase) {
    const struct sim_value *operand = &insn->value[1];
    if (by_parity) {
        uint32_t parity = sim_lane_u32(warp, operand, lane);
        *phase = phase_of_parity(m, parity);
        if (parity > 1) sim_fault_at(warp, insn, lane, PTXSIM_ASYNC, "a phase parity of %u", parity);
        return parity <= 1;
    }
    uint64_t state = ((const uint64_t *)sim_source(warp, operand))[lane];
    int index = (int)(state >> INDEX_AT & (SIM_MAX_MBARRIERS - 1));
    *phase = (uint32_t)state;
    const char *why = NULL;
    if (state >> MARK_AT != MARK || index != sim_mbarrier_index(m))
        why = "waits with a state that no arrival at this mbarrier returned";
    else if (m->phase - *phase > 1)
        why = "waits for a phase that is neither the current one nor the one before";
    if (why) sim_fault_at(warp, insn, lane, PTXSIM_ASYNC, "%s", why);
    return !why;
}

/* The warp goes on here when a phase completes; it has not executed the instruction, so nothing is
   counted. */
static void stall(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask, int lane,
                  const struct sim_mbarrier *m, uint32_t phase) {
    struct sim_block *block = warp->block;
    ptxsim_line *line = &block->lines[insn - block->launch->function->code];
    unsigned lanes = (unsigned)__builtin_popcount(mask);
    block->async->stall[warp->index] = (struct sim_stall){insn, sim_mbarrier_index(m), lane, phase, false};
    warp->barrier = SIM_STALLED;
    warp->next_pc = warp->pc;
    block->counts.warp_instructions--;
    block->counts.thread_instructions -= lanes;
    line->warp_instructions--;
    line->thread_instructions -= lanes;
}

static void observe(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask,
                    struct sim_mbarrier *const found[SIM_LANES]) {
    for (uint32_t left = mask; left;) {
        struct sim_mbarrier *m = found[__builtin_ctz(left)];
        uint32_t same = sim_mbarrier_lanes(found, mask, __builtin_ctz(left));
        if (insn->relaxed) sim_order_observe(warp, same, &m->completed);
        else sim_view_acquire(warp, same, &m->completed);
        m->observed = m->phase;
        left &= ~same;
    }
}

/* In seeded schedules: a kernel has to take false for an answer. */
static bool may_return_false(const struct sim_block *block) {
    return block->launch->order == PTXSIM_SEEDED && sim_async_draw(block->async, 2);
}

static void wait(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask, bool by_parity) {
    struct sim_mbarrier *found[SIM_LANES];
    struct sim_stall *stalled = &warp->block->async->stall[warp->index];
    uint32_t complete = 0, phase[SIM_LANES] = {0};
    if (!sim_mbarrier_find(warp, insn, mask, false, found)) return;
    SIM_EACH_LANE(l) {
        if (!SIM_ACTIVE(mask, l)) continue;
        if (!awaited_phase(warp, insn, l, found[l], by_parity, &phase[l])) return;
        if (phase[l] != found[l]->phase) complete |= 1u << l;
    }
    int first = complete == mask ? 0 : __builtin_ctz(mask & ~complete);
    if (complete != mask && !stalled->give_up && !may_return_false(warp->block)) {
        stall(warp, insn, mask, first, found[first], phase[first]);
        return;
    }
    stalled->give_up = false;
    observe(warp, insn, complete, found);
    sim_put_predicate(warp, &insn->value[0], complete, mask);
}

void sim_mbarrier_wait_state(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask) {
    wait(warp, insn, mask, false);
}

void sim_mbarrier_wait_parity(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask) {
    wait(warp, insn, mask, true);
}
