/* Bulk copies and their groups (ISA, "cp.async.bulk"). */
#include "cluster.h"
#include "lanes.h"

#include <stdlib.h>

enum { SMALL = 16 }; /* bytes that a bulk copy is made of */

/* Shared bytes of a bulk copy: there, and neither in use by another copy nor unknown to the async proxy. */
bool sim_bulk_shared(struct sim_warp *warp, const struct sim_block *owner, const struct sim_insn *insn,
                     int lane, uint64_t at, unsigned bytes, enum sim_access access) {
    uint32_t size = owner->launch->shared_bytes;
    if (at > size || bytes > size - at) {
        sim_fault_at(warp, insn, lane, PTXSIM_BOUNDS, "a bulk copy of shared 0x%llx: the block has %u bytes",
                     (unsigned long long)at, size);
        return false;
    }
    if (!sim_async_touch_shared(warp, owner, insn, lane, at, bytes, access)) return false;
    size_t first =
        access == SIM_READ ? sim_shadow_first_unwritten(owner->shared_shadow, at, bytes) : at + bytes;
    if (first < at + bytes) {
        sim_fault_at(warp, insn, lane, PTXSIM_UNINIT, "a bulk copy from shared 0x%llx, which nothing wrote",
                     (unsigned long long)first);
        return false;
    }
    return !owner->launch->races || sim_race_bulk(warp, owner, insn, lane, at, bytes, access);
}

unsigned char *sim_bulk_global(struct sim_warp *warp, const struct sim_insn *insn, int lane, uint64_t address,
                               unsigned bytes, enum sim_access access) {
    const struct sim_block *block = warp->block;
    if (insn->reduction) access = SIM_UPDATE;
    unsigned char *global = sim_access_space(warp, insn, lane, SIM_GLOBAL, address, bytes, access);
    if (!global || access != SIM_READ || !block->launch->races) return global;
    const struct sim_allocation *a = block->hit[insn - block->launch->function->code];
    return sim_race_fenced(warp, insn, lane, a, address - a->base, bytes) ? global : NULL;
}

/* -- Where loads go -------------------------------------------------------------------------------------- */

static bool add_target(struct sim_warp *warp, const struct sim_insn *insn, int lane, struct sim_block *block,
                       uint64_t at, uint64_t signal, struct sim_destinations *targets) {
    struct sim_mbarrier *m = block ? sim_mbarrier_at(warp, block, insn, lane, signal) : NULL;
    if (!m || !sim_mbarrier_is_fenced(warp, insn, lane, m)) return false;
    targets->to[targets->count].block = block;
    targets->to[targets->count].mbarrier = m;
    targets->to[targets->count++].at = at;
    return true;
}

/* An address without and with the block's rank in the cluster. */
static uint64_t place_of(uint64_t address) { return address & ((UINT64_C(1) << SIM_RANK_AT) - 1); }

static unsigned rank_of(const struct sim_warp *warp, uint64_t address) {
    return address >> SIM_RANK_AT ? (unsigned)(address >> SIM_RANK_AT) - 1 : warp->block->rank;
}

/* ISA, "cp.async.bulk": the mbarrier of a copy to another block is that block's. */
static bool add_one(struct sim_warp *warp, const struct sim_insn *insn, int lane, uint64_t to,
                    uint64_t signal, struct sim_destinations *targets) {
    const unsigned rank = rank_of(warp, to);
    if (rank_of(warp, signal) != rank) {
        sim_fault_at(warp, insn, lane, PTXSIM_ASYNC,
                     "the copy goes to the block of rank %u, and its mbarrier is in that of rank %u", rank,
                     rank_of(warp, signal));
        return false;
    }
    struct sim_block *peer = sim_cluster_peer(warp, insn, lane, rank, place_of(to));
    return add_target(warp, insn, lane, peer, place_of(to), place_of(signal), targets);
}

bool sim_bulk_destinations(struct sim_warp *warp, const struct sim_insn *insn, int lane,
                           const struct sim_value *to, const struct sim_value *signal,
                           const struct sim_value *mask, struct sim_destinations *targets) {
    const uint64_t at = sim_operand_address(warp, to, lane), m = sim_operand_address(warp, signal, lane);
    targets->count = 0;
    if (!mask) return add_one(warp, insn, lane, at, m, targets);
    const unsigned ranks = ((const uint16_t *)sim_source(warp, mask))[lane];
    if (ranks == 0) sim_fault_at(warp, insn, lane, PTXSIM_ASYNC, "a multicast to no block");
    for (unsigned rank = 0; rank < 16; rank++) {
        if (!(ranks >> rank & 1)) continue;
        struct sim_block *peer = sim_cluster_peer(warp, insn, lane, rank, place_of(at));
        if (!add_target(warp, insn, lane, peer, place_of(at), place_of(m), targets)) return false;
    }
    return ranks != 0;
}

/* -- Pieces ---------------------------------------------------------------------------------------------- */

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
    struct sim_block *owner = m ? m->owner : warp->block;
    uint32_t index = sim_copy_new(warp, owner, insn, lane, m ? SIM_COPY_LOAD : SIM_COPY_STORE, pieces);
    if (!index) return 0;
    struct sim_copy *copy = &owner->async->copies[index];
    copy->bytes = bytes;
    copy->type = insn->type;
    copy->group[lane] = warp->block->async->bulk_groups[warp->index][lane];
    if (m) copy->mbarrier = sim_mbarrier_index(m);
    return index;
}

bool sim_bulk_issue(struct sim_warp *warp, struct sim_block *owner, uint32_t index,
                    const ptxsim_counts *before) {
    struct sim_block *block = warp->block;
    const struct sim_copy *copy = &owner->async->copies[index];
    block->counts.global_load_bytes = before->global_load_bytes;
    block->counts.global_store_bytes = before->global_store_bytes;
    block->counts.bulk_bytes += copy->bytes;
    block->lines[copy->insn - block->launch->function->code].bulk_bytes += copy->bytes;
    block->request.mask = 0;
    return sim_copy_issue(owner, index);
}

static bool add_piece(struct sim_warp *warp, struct sim_block *owner, uint32_t index, uint64_t at,
                      uint64_t address) {
    const struct sim_copy *copy = &owner->async->copies[index];
    const struct sim_insn *insn = copy->insn;
    int lane = copy->lane;
    bool load = copy->kind == SIM_COPY_LOAD;
    unsigned char *global = sim_bulk_global(warp, insn, lane, address, SMALL, load ? SIM_READ : SIM_WRITE);
    if (!global || !sim_bulk_shared(warp, owner, insn, lane, at, SMALL, load ? SIM_WRITE : SIM_READ))
        return false;
    sim_copy_add(owner->async, index, lane, at, address, global, SMALL);
    return true;
}

/* M: NULL for a store. */
static bool bulk(struct sim_warp *warp, const struct sim_insn *insn, int lane, const struct sim_mbarrier *m,
                 uint64_t shared, uint64_t global, uint32_t size) {
    struct sim_block *owner = m ? m->owner : warp->block;
    ptxsim_counts before = warp->block->counts;
    if (size == 0) return true;
    if (size > SIM_MAX_SHARED) return sim_bulk_shared(warp, owner, insn, lane, shared, size, SIM_WRITE);
    uint32_t index = sim_bulk_new(warp, insn, lane, m, size, (int)(size / SMALL) + 1);
    if (!index) return false;
    for (uint32_t at = 0; at < size; at += SMALL)
        if (!add_piece(warp, owner, index, shared + at, global + at)) return false;
    return sim_bulk_issue(warp, owner, index, &before);
}

/* -- The instructions ------------------------------------------------------------------------------------ */

/* Where each operand of a copy begins; a store has the first three. */
enum { TO = 0, FROM = 2, SIZE = 4, MBARRIER = 5 };

/* What one lane copies. */
struct bytes {
    uint64_t to, from;
    uint32_t size;
};

static bool read_operands(struct sim_warp *warp, const struct sim_insn *insn, int lane, struct bytes *c) {
    c->to = sim_operand_address(warp, &insn->value[TO], lane);
    c->from = sim_operand_address(warp, &insn->value[FROM], lane);
    c->size = sim_lane_u32(warp, &insn->value[SIZE], lane);
    return check_bulk(warp, insn, lane, c->to, c->from, c->size);
}

/* The operand of a multicast's blocks, behind the mbarrier's address; NULL: no multicast. */
static const struct sim_value *ranks_of(const struct sim_insn *insn, int operand) {
    return insn->modifiers & SIM_MULTICAST ? &insn->value[operand] : NULL;
}

void sim_bulk_load(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask) {
    enum { RANKS = 7 };
    struct sim_destinations targets;
    SIM_EACH_LANE(l) {
        if (!SIM_ACTIVE(mask, l)) continue;
        struct bytes c;
        if (!read_operands(warp, insn, l, &c)) return;
        if (!sim_bulk_destinations(warp, insn, l, &insn->value[TO], &insn->value[MBARRIER],
                                   ranks_of(insn, RANKS), &targets))
            return;
        for (unsigned i = 0; i < targets.count; i++)
            if (!bulk(warp, insn, l, targets.to[i].mbarrier, targets.to[i].at, c.from, c.size)) return;
    }
}

/* What shared memory holds at FROM, as the fill of a copy, which may be long after it was written over:
   nobody judges that. */
static bool bulk_between(struct sim_warp *warp, const struct sim_insn *insn, int lane,
                         const struct sim_destinations *targets, uint64_t from, uint32_t size) {
    struct sim_block *owner = targets->to[0].block;
    ptxsim_counts before = warp->block->counts;
    if (size == 0) return true;
    if (!sim_bulk_shared(warp, warp->block, insn, lane, from, size, SIM_READ)) return false;
    uint32_t index = sim_bulk_new(warp, insn, lane, targets->to[0].mbarrier, size, (int)(size / SMALL) + 1);
    if (!index) return false;
    unsigned char *data = malloc(size + 1);
    owner->async->copies[index].data = data;
    if (!data) {
        sim_fault_at(warp, insn, lane, PTXSIM_NOMEM, "no memory for a copy in flight");
        return false;
    }
    memcpy(data, warp->block->shared + from, size);
    for (uint32_t at = 0; at < size; at += SMALL) {
        if (!sim_bulk_shared(warp, owner, insn, lane, targets->to[0].at + at, SMALL, SIM_WRITE)) return false;
        sim_copy_add(owner->async, index, lane, targets->to[0].at + at, 0, data + at, SMALL);
    }
    return sim_bulk_issue(warp, owner, index, &before);
}

void sim_bulk_share(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask) {
    struct sim_destinations targets;
    SIM_EACH_LANE(l) {
        if (!SIM_ACTIVE(mask, l)) continue;
        struct bytes c;
        if (!read_operands(warp, insn, l, &c)) return;
        if (!sim_bulk_destinations(warp, insn, l, &insn->value[TO], &insn->value[MBARRIER], NULL, &targets) ||
            !bulk_between(warp, insn, l, &targets, c.from, c.size))
            return;
    }
}

void sim_bulk_store(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask) {
    SIM_EACH_LANE(l) {
        if (!SIM_ACTIVE(mask, l)) continue;
        struct bytes c;
        if (!read_operands(warp, insn, l, &c)) return;
        if (!bulk(warp, insn, l, NULL, c.from, c.to, c.size)) return;
    }
}

void sim_bulk_prefetch(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask) {
    enum { BEGINS = 0, BYTES = 2 };
    SIM_EACH_LANE(l)
    if (SIM_ACTIVE(mask, l) &&
        !check_bulk(warp, insn, l, 0, sim_operand_address(warp, &insn->value[BEGINS], l),
                    sim_lane_u32(warp, &insn->value[BYTES], l)))
        return;
}

void sim_bulk_commit(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask) {
    (void)insn;
    sim_commit(warp->block->async->bulk_groups[warp->index], mask);
}

void sim_bulk_wait(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask) {
    sim_copy_wait_bulk(warp, mask, *(const uint32_t *)insn->value[0].lanes, insn->modifiers & SIM_READ_ONLY);
}
