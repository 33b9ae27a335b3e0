/* Bulk copies and their groups (ISA, "cp.async.bulk"). */
#include "async.h"
#include "lanes.h"

enum { SMALL = 16 }; /* bytes that a bulk copy is made of */

/* Shared bytes of a bulk copy: there, and neither in use by another copy nor unknown to the async proxy. */
bool sim_bulk_shared(struct sim_warp *warp, const struct sim_insn *insn, int lane, uint64_t at,
                     unsigned bytes, enum sim_access access) {
    struct sim_block *block = warp->block;
    uint32_t size = block->launch->shared_bytes;
    if (at >> SIM_RANK_AT) {
        sim_fault_at(warp, insn, lane, PTXSIM_UNSUPPORTED,
                     "a bulk copy of shared 0x%llx: at an address of mapa it is not simulated",
                     (unsigned long long)at);
        return false;
    }
    if (at > size || bytes > size - at) {
        sim_fault_at(warp, insn, lane, PTXSIM_BOUNDS, "a bulk copy of shared 0x%llx: the block has %u bytes",
                     (unsigned long long)at, size);
        return false;
    }
    if (!sim_async_touch_shared(warp, block, insn, lane, at, bytes, access)) return false;
    size_t first =
        access == SIM_READ ? sim_shadow_first_unwritten(block->shared_shadow, at, bytes) : at + bytes;
    if (first < at + bytes) {
        sim_fault_at(warp, insn, lane, PTXSIM_UNINIT, "a bulk copy from shared 0x%llx, which nothing wrote",
                     (unsigned long long)first);
        return false;
    }
    return !block->launch->races || sim_race_bulk(warp, insn, lane, at, bytes, access);
}

unsigned char *sim_bulk_global(struct sim_warp *warp, const struct sim_insn *insn, int lane, uint64_t address,
                               unsigned bytes, enum sim_access access) {
    const struct sim_block *block = warp->block;
    unsigned char *global = sim_access_space(warp, insn, lane, SIM_GLOBAL, address, bytes, access);
    if (!global || access != SIM_READ || !block->launch->races) return global;
    const struct sim_allocation *a = block->hit[insn - block->launch->function->code];
    return sim_race_fenced(warp, insn, lane, a, address - a->base, bytes) ? global : NULL;
}

struct sim_mbarrier *sim_bulk_mbarrier(struct sim_warp *warp, const struct sim_insn *insn, int lane,
                                       const struct sim_value *value) {
    struct sim_mbarrier *m = sim_mbarrier_at(warp, insn, lane, sim_operand_address(warp, value, lane));
    return m && sim_mbarrier_is_fenced(warp, insn, lane, m) ? m : NULL;
}

static bool check_bulk(struct sim_warp *warp, const struct sim_insn *insn, int lane, uint64_t to,
                       uint64_t from, uint32_t size) {
    if (size % SMALL)
        sim_fault_at(warp, insn, lane, PTXSIM_ALIGN, "a bulk copy of %u bytes: not a multiple of 16", size);
    else if (to % SMALL || from % SMALL)
        sim_fault_at(warp, insn, lane, PTXSIM_ALIGN,
                     "a bulk copy %s 0x%llx, which is not aligned to 16 bytes", to % SMALL ? "to" : "from",
                     (unsigned long long)(to % SMALL ? to : from));
    else return true;
    return false;
}

uint32_t sim_bulk_new(struct sim_warp *warp, const struct sim_insn *insn, int lane,
                      const struct sim_mbarrier *m, uint32_t bytes, int pieces) {
    struct sim_async *async = warp->block->async;
    uint32_t index = sim_copy_new(warp, insn, lane, m ? SIM_COPY_LOAD : SIM_COPY_STORE, pieces);
    if (!index) return 0;
    async->copies[index].bytes = bytes;
    async->copies[index].group[lane] = async->bulk_groups[warp->index][lane];
    if (m) async->copies[index].mbarrier = sim_mbarrier_index(async, m);
    return index;
}

bool sim_bulk_issue(struct sim_warp *warp, uint32_t index, const ptxsim_counts *before) {
    struct sim_block *block = warp->block;
    const struct sim_copy *copy = &block->async->copies[index];
    block->counts.global_load_bytes = before->global_load_bytes;
    block->counts.global_store_bytes = before->global_store_bytes;
    block->counts.bulk_bytes += copy->bytes;
    block->lines[copy->insn - block->launch->function->code].bulk_bytes += copy->bytes;
    block->request.mask = 0;
    return sim_copy_issue(block, index);
}

static bool add_piece(struct sim_warp *warp, uint32_t index, uint64_t at, uint64_t address) {
    const struct sim_copy *copy = &warp->block->async->copies[index];
    const struct sim_insn *insn = copy->insn;
    int lane = copy->lane;
    bool load = copy->kind == SIM_COPY_LOAD;
    unsigned char *global = sim_bulk_global(warp, insn, lane, address, SMALL, load ? SIM_READ : SIM_WRITE);
    if (!global || !sim_bulk_shared(warp, insn, lane, at, SMALL, load ? SIM_WRITE : SIM_READ)) return false;
    sim_copy_add(warp->block->async, index, lane, at, address, global, SMALL);
    return true;
}

/* M: NULL for a store. */
static bool bulk(struct sim_warp *warp, const struct sim_insn *insn, int lane, const struct sim_mbarrier *m,
                 uint64_t shared, uint64_t global, uint32_t size) {
    ptxsim_counts before = warp->block->counts;
    if (size > SIM_MAX_SHARED) return sim_bulk_shared(warp, insn, lane, shared, size, SIM_WRITE);
    uint32_t index = sim_bulk_new(warp, insn, lane, m, size, (int)(size / SMALL) + 1);
    if (!index) return false;
    for (uint32_t at = 0; at < size; at += SMALL)
        if (!add_piece(warp, index, shared + at, global + at)) return false;
    return sim_bulk_issue(warp, index, &before);
}

void sim_bulk_load(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask) {
    enum { TO = 0, FROM = 2, SIZE = 4, MBARRIER = 5 };
    SIM_EACH_LANE(l) {
        if (!SIM_ACTIVE(mask, l)) continue;
        uint64_t to = sim_operand_address(warp, &insn->value[TO], l),
                 from = sim_operand_address(warp, &insn->value[FROM], l);
        uint32_t size = sim_lane_u32(warp, &insn->value[SIZE], l);
        if (!check_bulk(warp, insn, l, to, from, size)) return;
        struct sim_mbarrier *m = sim_bulk_mbarrier(warp, insn, l, &insn->value[MBARRIER]);
        if (!m || !bulk(warp, insn, l, m, to, from, size)) return;
    }
}

void sim_bulk_store(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask) {
    enum { TO = 0, FROM = 2, SIZE = 4 };
    SIM_EACH_LANE(l) {
        if (!SIM_ACTIVE(mask, l)) continue;
        uint64_t to = sim_operand_address(warp, &insn->value[TO], l),
                 from = sim_operand_address(warp, &insn->value[FROM], l);
        uint32_t size = sim_lane_u32(warp, &insn->value[SIZE], l);
        if (!check_bulk(warp, insn, l, to, from, size)) return;
        if (!bulk(warp, insn, l, NULL, from, to, size)) return;
    }
}

void sim_bulk_prefetch(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask) {
    enum { FROM = 0, SIZE = 2 };
    SIM_EACH_LANE(l)
    if (SIM_ACTIVE(mask, l) && !check_bulk(warp, insn, l, 0, sim_operand_address(warp, &insn->value[FROM], l),
                                           sim_lane_u32(warp, &insn->value[SIZE], l)))
        return;
}

void sim_bulk_commit(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask) {
    (void)insn;
    sim_commit(warp->block->async->bulk_groups[warp->index], mask);
}

void sim_bulk_wait(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask) {
    sim_copy_wait_bulk(warp, mask, *(const uint32_t *)insn->value[0].lanes, insn->modifiers & SIM_READ_ONLY);
}
