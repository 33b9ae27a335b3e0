/* Calls of functions and jumps by tables. A call is a path: its lanes run from the function's first
 * instruction until all of them are at its end, as those of a branch run until they meet; then the path
 * below goes on behind the call. */
#include "exec.h"

const struct sim_op sim_leave_op = {"ret (the end of a function)", "", NULL, sim_leave, 0};

static unsigned char *own(const struct sim_warp *warp, int lane, uint32_t at) {
    return warp->own + (size_t)lane * warp->block->launch->function->thread_bytes + at;
}

static void set_written(struct sim_warp *warp, int lane, uint32_t at, uint32_t bytes, bool written) {
    size_t first = (size_t)lane * warp->block->launch->function->thread_bytes + at;
    for (size_t i = first; i < first + bytes; i++) {
        unsigned bit = 1u << i % 8, old = warp->own_shadow[i / 8];
        warp->own_shadow[i / 8] = (unsigned char)(written ? old | bit : old & ~bit);
    }
}

static bool is_written(const struct sim_warp *warp, int lane, uint32_t at) {
    size_t i = (size_t)lane * warp->block->launch->function->thread_bytes + at;
    return warp->own_shadow[i / 8] >> i % 8 & 1;
}

/* Bytes that nothing wrote stay so. */
static void copy(struct sim_warp *warp, const struct sim_room *to, const struct sim_room *from,
                 uint32_t mask) {
    for (; mask; mask &= mask - 1) {
        int lane = __builtin_ctz(mask);
        memcpy(own(warp, lane, to->at), own(warp, lane, from->at), from->bytes);
        for (uint32_t i = 0; i < from->bytes; i++)
            set_written(warp, lane, to->at + i, 1, is_written(warp, lane, from->at + i));
    }
}

/* The function's registers and memory, as they are where a call begins. */
static void forget(struct sim_warp *warp, const struct sim_callee *callee, uint32_t mask) {
    const ptxsim_function *f = warp->block->launch->function;
    for (int i = callee->first_register; i < callee->end_register; i++) warp->defined[i] &= ~mask;
    for (int i = 0; i < f->special_count; i++) warp->defined[f->specials[i].reg] = SIM_FULL_MASK;
    for (; mask; mask &= mask - 1)
        set_written(warp, __builtin_ctz(mask), callee->first_byte, callee->end_byte - callee->first_byte,
                    false);
}

void sim_call(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask) {
    const struct sim_call *call = insn->value[0].lanes;
    const struct sim_callee *callee = call->callee;
    if (callee->missing) {
        sim_fault_at(warp, insn, __builtin_ctz(mask), PTXSIM_UNSUPPORTED,
                     "calls `%.100s`, which the module does not define", callee->name);
        return;
    }
    forget(warp, callee, mask);
    for (int i = 0; i < callee->param_count; i++) copy(warp, &callee->params[i], &call->params[i], mask);
    sim_push_path(warp, warp->pc + 1, warp->reconverge, warp->active);
    warp->active = mask;
    warp->reconverge = callee->end + 1;
    warp->next_pc = callee->start;
}

/* The call that the warp's lanes are in: the topmost path that waits outside of the function. */
static const struct sim_call *call_of(const struct sim_warp *warp, const struct sim_callee *callee) {
    int at = warp->depth - 1;
    while (warp->path[at].pc >= callee->start && warp->path[at].pc <= callee->end + 1) at--;
    return warp->block->launch->function->code[warp->path[at].pc - 1].value[0].lanes;
}

/* The function's end. Lanes that are in it elsewhere come here later, or exit; then the caller's path goes
   on. */
void sim_leave(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask) {
    const struct sim_callee *callee = insn->value[0].lanes;
    const struct sim_call *call = call_of(warp, callee);
    for (int i = 0; i < callee->result_count; i++) copy(warp, &call->results[i], &callee->results[i], mask);
}

/* -- brx.idx ------------------------------------------------------------------------------------------ */

/* Lanes that go on at one place. */
struct group {
    int target;
    uint32_t mask;
};

struct groups {
    struct group item[SIM_LANES + 1];
    int count;
};

static void add(struct groups *g, int target, uint32_t mask) {
    int i = 0;
    while (i < g->count && g->item[i].target != target) i++;
    if (i == g->count) g->item[g->count++] = (struct group){target, 0};
    g->item[i].mask |= mask;
}

static bool gather(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask, struct groups *g) {
    const struct sim_targets *targets = insn->value[1].lanes;
    uint32_t others = warp->active & ~mask;
    for (uint32_t left = mask; left; left &= left - 1) {
        int lane = __builtin_ctz(left);
        uint32_t index = sim_lane_u32(warp, &insn->value[0], lane);
        if (index >= (uint32_t)targets->count) {
            sim_fault_at(warp, insn, lane, PTXSIM_TRAP, "brx.idx %u: the table has %d targets", index,
                         targets->count);
            return false;
        }
        add(g, targets->at[index], 1u << lane);
    }
    if (others) add(g, warp->pc + 1, others);
    return true;
}

/* Lanes whose target only ends them end now, as a branch's do (exec_flow.c); the others are left in G. */
static void exit_groups(struct sim_warp *warp, struct groups *g) {
    int kept = 0;
    for (int i = 0; i < g->count; i++)
        if (!sim_only_exits(warp->block->launch->function, g->item[i].target)) g->item[kept++] = g->item[i];
    if (kept == g->count) return;
    uint32_t stay = 0;
    for (int i = 0; i < kept; i++) stay |= g->item[i].mask;
    g->count = kept;
    if (kept) warp->next_pc = g->item[0].target; /* it is overwritten where nobody stays */
    sim_exit_early(warp, warp->active & ~stay);
}

void sim_brx_idx(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask) {
    struct groups g = {.count = 0};
    if (!gather(warp, insn, mask, &g)) return;
    if (g.count > 1 && insn->modifiers & SIM_UNI)
        sim_fault_at(warp, insn, __builtin_ctz(g.item[1].mask), PTXSIM_TRAP,
                     "brx.idx.uni, and the lanes of the warp disagree");
    if (g.count > 1) exit_groups(warp, &g);
    if (g.count == 0) return;
    warp->next_pc = g.item[0].target;
    if (g.count == 1) return;
    int join = insn->reconverge;
    if (warp->reconverge != join) sim_push_path(warp, join, warp->reconverge, warp->active);
    for (int i = g.count - 1; i > 0; i--) sim_push_path(warp, g.item[i].target, join, g.item[i].mask);
    warp->reconverge = join;
    warp->active = g.item[0].mask;
}
