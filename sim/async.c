#include "cluster.h"

#include <stdlib.h>

/* Waits in vain of all warps, one after another, until the block is taken to hang: a kernel may poll a few
   times before it does something else. */
enum { MAX_POLLS = 64 };

/* -- The state of a block ------------------------------------------------------------------------------- */

static size_t tag_count(const struct sim_launch *launch) { return launch->shared_bytes / SIM_TAG_BYTES + 2; }

struct sim_async *sim_async_new(const struct sim_launch *launch, int warps) {
    struct sim_async *async = calloc(1, sizeof *async);
    if (!async) return NULL;
    async->tag = calloc(tag_count(launch), sizeof *async->tag);
    async->view = calloc((size_t)warps, sizeof *async->view);
    if (async->tag && async->view) return async;
    sim_async_free(async);
    return NULL;
}

static void drop_copies(struct sim_async *async) {
    for (uint32_t i = 1; i < async->copy_count; i++) sim_copy_drop(async, i);
    async->copy_count = 1;
    async->free_copies = 0;
}

void sim_async_free(struct sim_async *async) {
    if (!async) return;
    drop_copies(async);
    free(async->tag);
    free(async->view);
    free(async->copies);
    free(async->late);
    free(async);
}

void sim_async_start(struct sim_block *block) {
    struct sim_async *a = block->async;
    drop_copies(a);
    memset(a->tag, 0, tag_count(block->launch) * sizeof *a->tag);
    memset(a->open, 0, sizeof a->open);
    memset(a->groups, 0, sizeof a->groups);
    memset(a->bulk_groups, 0, sizeof a->bulk_groups);
    memset(a->mbarrier, 0, sizeof *a->mbarrier * (size_t)a->mbarrier_count);
    for (int i = 0; i < block->warp_count; i++) {
        a->view[i].own = 0;
        a->view[i].common = (struct sim_view){0};
    }
    a->late_first = a->late_count = 0;
    a->loads = a->stores = a->mbarrier_count = a->polls = 0;
    a->changes = a->changes_seen = 0;
    a->random = block->launch->seed * UINT64_C(0x9e3779b97f4a7c15) + block->global_id;
}

/* -- Who holds which bytes of shared memory -------------------------------------------------------------- */

void sim_async_hold(struct sim_async *async, size_t at, unsigned bytes, uint32_t tag) {
    for (size_t i = at / SIM_TAG_BYTES; i <= (at + bytes - 1) / SIM_TAG_BYTES; i++) async->tag[i] = tag;
}

void sim_async_let_go(struct sim_async *async, size_t at, unsigned bytes, uint32_t tag) {
    for (size_t i = at / SIM_TAG_BYTES; i <= (at + bytes - 1) / SIM_TAG_BYTES; i++)
        if (async->tag[i] == tag) async->tag[i] = 0;
}

static const char *const verbs[] = {[SIM_READ] = "reads", [SIM_WRITE] = "writes", [SIM_UPDATE] = "updates"};

static uint32_t phases_known(const struct sim_warp *warp, const struct sim_block *owner, int lane,
                             int mbarrier) {
    if (owner == warp->block) return sim_view_phases(warp, lane, mbarrier);
    const uint32_t waited = sim_cluster_phases(warp, owner, mbarrier),
                   far = sim_view_far_phases(warp, lane, owner->rank, mbarrier);
    return waited > far ? waited : far;
}

/* A load's bytes are there for those who know that the phase which it completed is over. */
static const char *why_loading(const struct sim_warp *warp, const struct sim_block *owner, int lane,
                               const struct sim_copy *copy) {
    if (copy->landed && phases_known(warp, owner, lane, copy->mbarrier) > copy->phase) return NULL;
    bool complete = copy->landed && owner->async->mbarrier[copy->mbarrier].phase > copy->phase;
    return complete ? "and has not waited for the mbarrier's phase that completed with the copy of"
                    : "into which a copy is in flight whose mbarrier nobody waited for, that of";
}

/* Why LANE may not access OWNER's bytes that COPY holds; NULL: it may. */
static const char *why_held(const struct sim_warp *warp, const struct sim_block *owner, int lane,
                            const struct sim_copy *copy, enum sim_access access) {
    switch (copy->kind) {
    case SIM_COPY_MBARRIER: return "which is part of the mbarrier initialised in";
    case SIM_COPY_LANES:
        return copy->tracked ? "and nobody has waited for the mbarrier behind the cp.async of"
                             : "and its thread has not waited for the cp.async of";
    case SIM_COPY_STORE:
        return access == SIM_READ ? NULL : "and nobody has waited until it was read by the bulk copy of";
    case SIM_COPY_LOAD: return why_loading(warp, owner, lane, copy);
    default: return NULL;
    }
}

bool sim_async_held(struct sim_warp *warp, const struct sim_block *owner, const struct sim_insn *insn,
                    int lane, uint32_t tag, size_t at, enum sim_access access) {
    struct sim_async *async = owner->async;
    const struct sim_copy *copy = &async->copies[tag];
    const char *why = why_held(warp, owner, lane, copy, access);
    char name[SIM_SHARED_NAME];
    if (why)
        sim_fault_at(warp, insn, lane, PTXSIM_ASYNC, "%s %s 0x%llx, %s line %d", verbs[access],
                     sim_shared_name(name, warp, owner), (unsigned long long)at, why, copy->insn->line);
    else if (copy->kind == SIM_COPY_LOAD && access != SIM_READ)
        sim_async_let_go(async, at, SIM_TAG_BYTES, tag);
    return !why;
}

/* The lane that knows most of the bytes that TAG's copy holds. */
static int lane_that_knows(const struct sim_warp *warp, uint32_t tag) {
    const struct sim_copy *copy = &warp->block->async->copies[tag];
    for (int l = 1; copy->kind == SIM_COPY_LOAD && l < SIM_LANES; l++)
        if (!why_held(warp, warp->block, l, copy, SIM_READ)) return l;
    return 0;
}

bool sim_async_touch_together(struct sim_warp *warp, const struct sim_insn *insn, size_t at, unsigned bytes) {
    const struct sim_async *async = warp->block->async;
    uint32_t read = 0; /* the last tag that was found readable */
    for (size_t i = at / SIM_TAG_BYTES; i <= (at + bytes - 1) / SIM_TAG_BYTES; i++) {
        const uint32_t tag = async->tag[i];
        if (tag == 0 || tag == read) continue;
        int lane =
            why_held(warp, warp->block, 0, &async->copies[tag], SIM_READ) ? lane_that_knows(warp, tag) : 0;
        if (!sim_async_held(warp, warp->block, insn, lane, tag, i * SIM_TAG_BYTES, SIM_READ)) return false;
        read = tag;
    }
    return true;
}

/* -- Global memory that copies read or write ------------------------------------------------------------- */

static bool is_within(const struct sim_bounds *bounds, uint64_t address, unsigned bytes) {
    return address < bounds->high && bounds->low < address + bytes;
}

/* Of pieces that ascend, the first that does not end before ADDRESS. */
static int first_behind(const struct sim_copy *copy, uint64_t address) {
    int low = 0, high = copy->piece_count;
    while (low < high) {
        const int middle = (low + high) / 2;
        const struct sim_piece *p = &copy->pieces[middle];
        if (p->address + p->bytes <= address) low = middle + 1;
        else high = middle;
    }
    return low;
}

static bool overlaps(const struct sim_copy *copy, uint64_t address, unsigned bytes) {
    if (!is_within(&copy->global, address, bytes)) return false;
    for (int i = copy->ascends ? first_behind(copy, address) : 0; i < copy->piece_count; i++) {
        const struct sim_piece *p = &copy->pieces[i];
        if (copy->ascends && p->address >= address + bytes) return false;
        if (p->address && p->address < address + bytes && address < p->address + p->bytes) return true;
    }
    return false;
}

/* Whether LANE is behind a wait for COPY into or out of OWNER's memory. */
static bool is_over(const struct sim_warp *warp, const struct sim_block *owner, int lane,
                    const struct sim_copy *copy) {
    return copy->kind == SIM_COPY_LOAD && copy->landed &&
           phases_known(warp, owner, lane, copy->mbarrier) > copy->phase;
}

/* Whether global bytes may be accessed, as far as OWNER's copies go. */
static bool touch_copies(struct sim_warp *warp, const struct sim_block *owner, const struct sim_insn *insn,
                         int lane, uint64_t address, unsigned bytes, enum sim_access access) {
    const struct sim_async *async = owner->async;
    const bool stored = async->stores > 0 && is_within(&async->stored, address, bytes);
    const bool loaded = async->loads > 0 && access != SIM_READ && is_within(&async->loaded, address, bytes);
    if (!stored && !loaded) return true;
    for (uint32_t i = 1; i < async->copy_count; i++) {
        const struct sim_copy *copy = &async->copies[i];
        bool store = copy->kind == SIM_COPY_STORE;
        if ((access == SIM_READ && !store) || (insn->reduction && copy->insn->reduction)) continue;
        if (!overlaps(copy, address, bytes) || is_over(warp, owner, lane, copy)) continue;
        sim_fault_at(warp, insn, lane, PTXSIM_ASYNC,
                     "%s global 0x%llx, which the copy of line %d %s, and nobody has waited for it",
                     verbs[access], (unsigned long long)address, copy->insn->line,
                     store ? "writes" : "reads");
        return false;
    }
    return true;
}

bool sim_async_touch_global(struct sim_warp *warp, const struct sim_insn *insn, int lane, uint64_t address,
                            unsigned bytes, enum sim_access access) {
    const struct sim_cluster *cluster = warp->block->cluster;
    warp->block->async->changes += access != SIM_READ;
    for (unsigned i = 0; i < cluster->count; i++)
        if (!touch_copies(warp, cluster->block[i], insn, lane, address, bytes, access)) return false;
    return true;
}

/* -- When nobody can run --------------------------------------------------------------------------------- */

static bool is_stalled(const struct sim_warp *warp) { return warp->alive && warp->barrier == SIM_STALLED; }

static bool fault_hang(struct sim_block *block) {
    if (sim_setmaxnreg_waits(block)) return false;
    for (int i = 0; i < block->warp_count; i++) {
        if (!is_stalled(&block->warps[i])) continue;
        const struct sim_stall *s = &block->async->stall[i];
        const struct sim_mbarrier *m = &block->async->mbarrier[s->mbarrier];
        sim_fault_at(&block->warps[i], s->insn, s->lane, PTXSIM_BARRIER,
                     "waits for phase %u (parity %u) of the mbarrier at 0x%x, which nothing will complete: "
                     "%u arrivals and %lld bytes are missing",
                     s->phase - m->first, (s->phase - m->first) & 1, m->at, m->pending, (long long)m->bytes);
        break;
    }
    return false;
}

/* The next copy to land: the first that was issued, or, in seeded schedules, any. */
static uint32_t next_to_land(struct sim_block *block) {
    struct sim_async *async = block->async;
    uint32_t *first = &async->late[async->late_first], left = async->late_count - async->late_first;
    uint32_t *chosen = block->launch->order == PTXSIM_SEEDED ? first + sim_async_draw(async, left) : first;
    uint32_t index = *chosen;
    *chosen = *first;
    async->late_first++;
    return index;
}

bool sim_async_land(struct sim_block *block) {
    struct sim_async *async = block->async;
    while (async->late_first < async->late_count) {
        sim_copy_land(block, next_to_land(block));
        if (sim_cluster_has_faulted(block->cluster)) return false;
        if (sim_block_can_run(block)) return true;
    }
    async->late_first = async->late_count = 0;
    return false;
}

/* Every wait in vain returns false once (ISA, "mbarrier.try_wait": after a time that the system sets), or
   lets lanes run that a branch separated: each thread makes progress of its own. */
static bool give_up_waits(struct sim_block *block) {
    struct sim_async *async = block->async;
    bool any = false;
    for (int i = 0; i < block->warp_count; i++) {
        if (!is_stalled(&block->warps[i])) continue;
        any = true;
        if (async->polls % 2 == 0 || !sim_switch_path(&block->warps[i])) async->stall[i].give_up = true;
        block->warps[i].barrier = SIM_NOT_WAITING;
    }
    return any;
}

bool sim_async_is_stalled(const struct sim_block *block) {
    for (int i = 0; i < block->warp_count; i++)
        if (is_stalled(&block->warps[i])) return true;
    return false;
}

bool sim_async_give_up(struct sim_block *block, bool moves) {
    struct sim_async *async = block->async;
    async->polls = moves ? 0 : async->polls + 1;
    return async->polls > MAX_POLLS ? fault_hang(block) : give_up_waits(block);
}

/* -- Threads and blocks that end ------------------------------------------------------------------------- */

static void fault_left(const struct sim_copy *copy, int lane, const char *what) {
    sim_fault_at(copy->by, copy->insn, lane, PTXSIM_ASYNC, "%s", what);
}

void sim_async_exit(struct sim_warp *warp, uint32_t mask) {
    struct sim_async *async = warp->block->async;
    async->changes++;
    for (uint32_t i = async->open[warp->index]; i; i = async->copies[i].next) {
        const struct sim_copy *copy = &async->copies[i];
        uint32_t left = copy->flying & ~copy->tracked & mask;
        if (copy->kind == SIM_COPY_LANES && left)
            fault_left(copy, __builtin_ctz(left), "the thread exits without having waited for this cp.async");
        if (copy->kind == SIM_COPY_STORE && !copy->read && SIM_ACTIVE(mask, copy->lane))
            fault_left(copy, copy->lane,
                       "the thread exits without having waited until this bulk copy has read its source");
    }
}

bool sim_async_finish(struct sim_block *block) {
    struct sim_async *async = block->async;
    for (uint32_t i = 1; i < async->copy_count; i++) {
        const struct sim_copy *copy = &async->copies[i];
        if (copy->kind == SIM_COPY_STORE && !sim_copy_write_back(block, i)) return false;
        bool load = copy->kind == SIM_COPY_LOAD || copy->kind == SIM_COPY_ARRIVAL;
        if (!load || (copy->landed && async->mbarrier[copy->mbarrier].observed > copy->phase)) continue;
        fault_left(copy, copy->lane, "the block ends, and no thread has waited for this copy");
        return false;
    }
    return true;
}
