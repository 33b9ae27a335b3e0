/* cp.async, its groups and its mbarriers, and the proxy fences (ISA, "cp.async", "membar/fence"). */
#include "async.h"
#include "lanes.h"

#include <stdlib.h>

enum { SMALL = 16 }; /* bytes at most */

static const unsigned char zeros[SMALL];

uint64_t sim_operand_address(const struct sim_warp *warp, const struct sim_value *value, int lane) {
    uint64_t offset = *(const uint64_t *)value[1].lanes;
    if (value[0].kind == SIM_SINK) return offset;
    if (sim_types[value[0].type].bytes == 4) return (uint32_t)(sim_lane_u32(warp, &value[0], lane) + offset);
    return ((const uint64_t *)sim_source(warp, &value[0]))[lane] + offset;
}

static uint32_t constant_of(const struct sim_value *value) { return *(const uint32_t *)value->lanes; }

/* -- cp.async -------------------------------------------------------------------------------------------- */

enum { CP_TO = 0, CP_FROM = 2, CP_SOURCE_SIZE = 5 };

/* How many bytes are read; the rest is zero. */
static uint32_t source_bytes(const struct sim_warp *warp, const struct sim_insn *insn, int lane,
                             uint32_t size) {
    const struct sim_value *v = &insn->value[CP_SOURCE_SIZE];
    if (v->kind == SIM_SINK) return size;
    if (v->type == SIM_pred) return SIM_ACTIVE(sim_predicate(warp, v), lane) ? 0 : size;
    return sim_lane_u32(warp, v, lane);
}

/* Reads COUNT bytes, by accesses of powers of two; where they lie, or NULL. */
static unsigned char *read_global(struct sim_warp *warp, const struct sim_insn *insn, int lane,
                                  uint64_t address, uint32_t count) {
    unsigned char *from = NULL;
    for (uint32_t at = 0, bytes = SMALL; bytes; bytes /= 2) {
        if (!(count & bytes)) continue;
        unsigned char *p = sim_access_space(warp, insn, lane, SIM_GLOBAL, address + at, bytes, SIM_READ);
        if (!p) return NULL;
        if (!from) from = p;
        at += bytes;
    }
    return from;
}

static bool check_cp(struct sim_warp *warp, const struct sim_insn *insn, int lane, uint64_t from,
                     uint32_t size, uint32_t count) {
    if (count > size)
        sim_fault_at(warp, insn, lane, PTXSIM_ASYNC, "cp.async of %u bytes reads %u", size, count);
    else if (count && from % size)
        sim_fault_at(warp, insn, lane, PTXSIM_ALIGN, "cp.async of %u bytes from misaligned address 0x%llx",
                     size, (unsigned long long)from);
    else return true;
    return false;
}

/* Global reads are counted as a request of their own, before the shared writes are. */
static bool read_sources(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask, uint32_t size,
                         unsigned char *from[SIM_LANES], uint32_t count[SIM_LANES]) {
    struct sim_block *block = warp->block;
    SIM_EACH_LANE(l) {
        if (!SIM_ACTIVE(mask, l)) continue;
        uint64_t address = sim_operand_address(warp, &insn->value[CP_FROM], l);
        count[l] = source_bytes(warp, insn, l, size);
        if (!check_cp(warp, insn, l, address, size, count[l])) return false;
        from[l] = count[l] ? read_global(warp, insn, l, address, count[l]) : NULL;
        if (count[l] && !from[l]) return false;
        if (count[l]) block->request.address[l] = address;
    }
    block->request.bytes = size;
    if (block->request.mask) {
        ptrdiff_t pc = insn - block->launch->function->code;
        sim_metric_request(&block->lines[pc], &block->request, block->launch->traits[pc].service);
    }
    block->request.mask = 0;
    return true;
}

static void add_lane(struct sim_warp *warp, uint32_t index, int lane, uint64_t to, uint64_t from,
                     unsigned char *bytes, uint32_t count, uint32_t size) {
    struct sim_async *async = warp->block->async;
    async->copies[index].group[lane] = async->groups[warp->index][lane];
    if (count) sim_copy_add(async, index, lane, to, from, bytes, count);
    if (count < size)
        sim_copy_add(async, index, lane, to + count, 0, (unsigned char *)(uintptr_t)zeros, size - count);
}

void sim_cp_async(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask) {
    uint32_t size = constant_of(&insn->value[SIM_COPY_SIZE]), count[SIM_LANES];
    unsigned char *from[SIM_LANES];
    if (!read_sources(warp, insn, mask, size, from, count)) return;
    uint32_t index = sim_copy_new(warp, warp->block, insn, 0, SIM_COPY_LANES, 2 * SIM_LANES);
    if (!index) return;
    SIM_EACH_LANE(l) {
        if (!SIM_ACTIVE(mask, l)) continue;
        uint64_t to = sim_operand_address(warp, &insn->value[CP_TO], l);
        if (!sim_access_space(warp, insn, l, SIM_SHARED, to, size, SIM_WRITE)) return;
        add_lane(warp, index, l, to, sim_operand_address(warp, &insn->value[CP_FROM], l), from[l], count[l],
                 size);
    }
    sim_copy_issue(warp->block, index);
}

void sim_commit(uint32_t groups[SIM_LANES], uint32_t mask) {
    SIM_EACH_LANE(l) groups[l] += SIM_ACTIVE(mask, l);
}

void sim_cp_async_commit(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask) {
    (void)insn;
    sim_commit(warp->block->async->groups[warp->index], mask);
}

void sim_cp_async_wait(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask) {
    sim_copy_wait(warp, mask, constant_of(&insn->value[0]), false);
}

/* ISA, "cp.async.wait_all": commits, and waits for all groups. */
void sim_cp_async_wait_all(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask) {
    (void)insn;
    sim_commit(warp->block->async->groups[warp->index], mask);
    sim_copy_wait(warp, mask, 0, true);
}

/* -- cp.async.mbarrier.arrive ---------------------------------------------------------------------------- */

static void track_copies(struct sim_warp *warp, uint32_t lanes) {
    struct sim_async *async = warp->block->async;
    for (uint32_t i = async->open[warp->index]; i; i = async->copies[i].next)
        if (async->copies[i].kind == SIM_COPY_LANES) async->copies[i].tracked |= lanes;
}

/* Without .noinc the phase awaits one arrival more of each lane: the one that follows. */
static bool arrive_later(struct sim_warp *warp, const struct sim_insn *insn, uint32_t lanes,
                         struct sim_mbarrier *m) {
    struct sim_async *async = warp->block->async;
    int lane = __builtin_ctz(lanes);
    uint32_t index = sim_copy_new(warp, warp->block, insn, lane, SIM_COPY_ARRIVAL, 0);
    struct sim_view *released = index ? calloc(1, sizeof *released) : NULL;
    if (!index) return false;
    if (!released) {
        sim_fault_at(warp, insn, lane, PTXSIM_NOMEM, "no memory for an arrival");
        return false;
    }
    sim_view_release(warp, lanes, released);
    async->copies[index].released = released;
    async->copies[index].mbarrier = sim_mbarrier_index(m);
    async->copies[index].flying = lanes;
    if (!(insn->modifiers & SIM_NOINC)) m->pending += (uint32_t)__builtin_popcount(lanes);
    track_copies(warp, lanes);
    return sim_copy_issue(warp->block, index);
}

void sim_cp_async_arrive(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask) {
    struct sim_mbarrier *found[SIM_LANES];
    if (!sim_mbarrier_find(warp, insn, mask, false, found)) return;
    for (uint32_t left = mask; left;) {
        int lane = __builtin_ctz(left);
        uint32_t lanes = sim_mbarrier_lanes(found, left, lane);
        if (!arrive_later(warp, insn, lanes, found[lane])) return;
        left &= ~lanes;
    }
}

/* -- Fences ---------------------------------------------------------------------------------------------- */

void sim_fence_async(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask) {
    const bool only_shared = insn->space == SIM_SHARED || insn->space == SIM_SHARED_CLUSTER;
    if (insn->space != SIM_GLOBAL) sim_mbarrier_fence_proxy(warp, insn, mask);
    sim_view_fence(warp, mask, insn->space != SIM_GLOBAL, !only_shared);
}
