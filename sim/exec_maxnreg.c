/* setmaxnreg. How many registers a warp has changes nothing here. What the ISA asks of the program is
 * checked: the four warps of a warpgroup execute the same ones, in step: none goes on to its next before all
 * have come to the last. */
#include "exec.h"

enum { GROUP = 4 };

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

void sim_setmaxnreg(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask) {
    struct sim_warp *group = group_of(warp);
    int lane = __builtin_ctz(mask);
    warp->maxnreg_count++;
    warp->maxnreg_pc = warp->pc;
    if (group + GROUP > warp->block->warps + warp->block->warp_count) {
        sim_fault_at(warp, insn, lane, PTXSIM_BARRIER, "warp %d is in no warpgroup: the block has %d warps",
                     warp->index, warp->block->warp_count);
        return;
    }
    for (int i = 0; i < GROUP; i++)
        if (&group[i] != warp) check_peer(warp, insn, &group[i], lane);
}

bool sim_setmaxnreg_finish(struct sim_block *block) {
    for (int i = 0; i < block->warp_count; i++) {
        struct sim_warp *warp = &block->warps[i], *group = group_of(warp);
        for (int j = 0; j < GROUP && warp->maxnreg_count > 0; j++)
            if (group[j].maxnreg_count < warp->maxnreg_count)
                sim_fault_at(warp, &block->launch->function->code[warp->maxnreg_pc], 0, PTXSIM_BARRIER,
                             "warp %d of the warpgroup never executed this", group[j].index);
    }
    return block->fault.status == PTXSIM_OK;
}
