/* setmaxnreg. How many registers a warp has changes nothing that it computes. What the ISA asks of the
 * program is checked: the four warps of a warpgroup execute the same ones, in step: none goes on to its
 * next before all have come to the last; .inc does not take registers away, nor .dec give some; and .inc
 * waits until others have given back what it takes. A block begins with as many registers a thread as
 * .maxnreg says, or as .maxntid and .minnctapersm leave, but not with more than a setmaxnreg.inc asks for (so
 * ptxas); without these directives setmaxnreg does nothing (ISA), and only the first of these is checked. */
#include "exec.h"

enum { GROUP = 4, ALL_REGISTERS = 65536, MOST_REGISTERS = 256 };

static struct sim_warp *group_of(const struct sim_warp *warp) {
    return warp->block->warps + warp->index / GROUP * GROUP;
}

static void check_peer(struct sim_warp *warp, const struct sim_insn *insn, const struct sim_warp *peer,
                       int lane) {
    int behind = warp->maxnreg_count - peer->maxnreg_count;
    if (behind > 1)
        sim_fault_at(
            warp, insn, lane, PTXSIM_BARRIER,
            "warp %d has not come to the setmaxnreg before this one: a warpgroup synchronises in between",
            peer->index);
    if (behind == 0 && peer->maxnreg_pc != warp->maxnreg_pc)
        sim_fault_at(warp, insn, lane, PTXSIM_BARRIER,
                     "warp %d of the warpgroup executed the one in line %d instead", peer->index,
                     warp->block->launch->function->code[peer->maxnreg_pc].line);
}

/* -- The pool -------------------------------------------------------------------------------------------- */

/* The most that a setmaxnreg.inc of F asks for: ptxas begins a kernel with no more. Without any, it begins
   with what the directives allow. */
static int most_asked(const ptxsim_function *f) {
    int most = 0;
    for (int i = 0; i < f->code_count; i++) {
        if (f->code[i].exec != sim_setmaxnreg || !(f->code[i].modifiers & SIM_INCREASE)) continue;
        const int asked = (int)*(const uint32_t *)f->code[i].value[0].lanes;
        if (most < asked) most = asked;
    }
    return most ? most : MOST_REGISTERS;
}

static int lesser(int a, int b) { return a < b ? a : b; }

int sim_first_registers(const ptxsim_function *f) {
    const int asked = most_asked(f);
    if (f->maxnreg) return lesser(asked, (int)f->maxnreg);
    if (!f->maxntid) return 0;
    const unsigned blocks = f->minnctapersm ? f->minnctapersm : 1,
                   threads = (f->maxntid + SIM_LANES - 1) / SIM_LANES * SIM_LANES;
    const int most = (int)(ALL_REGISTERS / (threads * blocks)) / 8 * 8;
    return lesser(asked, lesser(most, MOST_REGISTERS));
}

/* The registers a thread that no warp has, summed over warps. */
static int free_registers(const struct sim_block *block) {
    int left = block->warp_count * block->launch->registers;
    for (int i = 0; i < block->warp_count; i++) left -= block->warps[i].registers;
    return left;
}

/* Warps that wait for registers try again. */
static void wake(struct sim_block *block) {
    for (int i = 0; i < block->warp_count; i++)
        if (block->warps[i].barrier == SIM_AT_REGISTERS) block->warps[i].barrier = SIM_NOT_WAITING;
}

/* The warp has not executed the instruction, so that nothing is counted. */
static void wait_for_registers(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask) {
    struct sim_block *block = warp->block;
    ptxsim_line *line = &block->lines[insn - block->launch->function->code];
    const unsigned lanes = (unsigned)__builtin_popcount(mask);
    warp->barrier = SIM_AT_REGISTERS;
    warp->barrier_pc = warp->next_pc = warp->pc;
    block->counts.warp_instructions--;
    block->counts.thread_instructions -= lanes;
    line->warp_instructions--;
    line->thread_instructions -= lanes;
}

/* False: a fault, or the warp waits. */
static bool take_registers(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask) {
    const int want = (int)*(const uint32_t *)insn->value[0].lanes;
    const bool takes = insn->modifiers & SIM_INCREASE;
    if (warp->block->launch->registers == 0) return true;
    if (takes ? want < warp->registers : want > warp->registers) {
        sim_fault_at(warp, insn, __builtin_ctz(mask), PTXSIM_TRAP,
                     "setmaxnreg.%s to %d registers, and there are %d", takes ? "inc" : "dec", want,
                     warp->registers);
        return false;
    }
    if (takes && want - warp->registers > free_registers(warp->block)) {
        wait_for_registers(warp, insn, mask);
        return false;
    }
    warp->registers = want;
    wake(warp->block);
    return true;
}

void sim_setmaxnreg(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask) {
    struct sim_warp *group = group_of(warp);
    int lane = __builtin_ctz(mask);
    if (group + GROUP > warp->block->warps + warp->block->warp_count) {
        sim_fault_at(warp, insn, lane, PTXSIM_BARRIER, "warp %d is in no warpgroup: the block has %d warps",
                     warp->index, warp->block->warp_count);
        return;
    }
    const int first = warp->block->launch->registers;
    if (first * SIM_LANES * warp->block->warp_count > ALL_REGISTERS) {
        sim_fault_at(warp, insn, lane, PTXSIM_TRAP,
                     "%d warps of %d registers a thread do not fit, so that no GPU runs the block",
                     warp->block->warp_count, first);
        return;
    }
    if (!take_registers(warp, insn, mask)) return;
    warp->maxnreg_count++;
    warp->maxnreg_pc = warp->pc;
    for (int i = 0; i < GROUP; i++)
        if (&group[i] != warp) check_peer(warp, insn, &group[i], lane);
}

/* -- The end -------------------------------------------------------------------------------------------- */

bool sim_setmaxnreg_waits(struct sim_block *block) {
    const struct sim_insn *code = block->launch->function->code;
    for (int i = 0; i < block->warp_count; i++) {
        struct sim_warp *warp = &block->warps[i];
        if (!warp->alive || warp->barrier != SIM_AT_REGISTERS) continue;
        sim_fault_at(warp, &code[warp->barrier_pc], __builtin_ctz(warp->alive), PTXSIM_BARRIER,
                     "waits forever for %u registers: the warp has %d, and %d are free for all its threads",
                     *(const uint32_t *)code[warp->barrier_pc].value[0].lanes, warp->registers,
                     free_registers(block));
        return true;
    }
    return false;
}

bool sim_setmaxnreg_finish(struct sim_block *block) {
    if (sim_setmaxnreg_waits(block)) return false;
    for (int i = 0; i < block->warp_count; i++) {
        struct sim_warp *warp = &block->warps[i], *group = group_of(warp);
        for (int j = 0; j < GROUP && warp->maxnreg_count > 0; j++)
            if (group[j].maxnreg_count < warp->maxnreg_count)
                sim_fault_at(warp, &block->launch->function->code[warp->maxnreg_pc], 0, PTXSIM_BARRIER,
                             "warp %d of the warpgroup never executed this", group[j].index);
    }
    return block->fault.status == PTXSIM_OK;
}
