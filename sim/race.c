#include "cluster.h"

enum {
    THREAD_AT = 1,
    CLOCK_AT = 11,
    PC_AT = 28,
    BLOCK_AT = 44,
    LAST_CLOCK = (1 << 17) - 1, /* a block that synchronises more often is not judged from there on */
    LAST_PC = (1 << 16) - 1
};

static unsigned thread_of(sim_record r) { return r >> THREAD_AT & (SIM_MAX_BLOCK - 1); }
static uint32_t clock_of(sim_record r) { return r >> CLOCK_AT & LAST_CLOCK; }
static int pc_of(sim_record r) { return (int)(r >> PC_AT & LAST_PC); }
static sim_record block_of(sim_record r) { return r >> BLOCK_AT; }

/* -- What is ordered ------------------------------------------------------------------------------------ */

void sim_race_start_warp(struct sim_warp *warp) {
    struct sim_clock *c = &warp->clock;
    c->now = 1;
    c->floor = 0;
    c->partial = false;
    memset(c->seen, 0, sizeof c->seen);
}

static void partial_sync(struct sim_clock *c, uint32_t mask) {
    uint32_t known[SIM_LANES] = {0};
    if (!c->partial) memset(c->synced, 0, sizeof c->synced);
    c->partial = true;
    SIM_EACH_LANE(l) {
        if (!SIM_ACTIVE(mask, l)) continue;
        c->synced[l][l] = c->now;
        for (int of = 0; of < SIM_LANES; of++)
            if (known[of] < c->synced[l][of]) known[of] = c->synced[l][of];
    }
    SIM_EACH_LANE(l) if (SIM_ACTIVE(mask, l)) memcpy(c->synced[l], known, sizeof known);
}

void sim_race_warp_sync(struct sim_warp *warp, uint32_t mask) {
    if (mask == warp->alive) warp->clock.floor = warp->clock.now;
    else partial_sync(&warp->clock, mask);
    if (warp->block->async) sim_view_warp_sync(warp, mask);
    warp->clock.now++;
}

void sim_race_arrive(struct sim_warp *warp, uint32_t seen[SIM_MAX_WARPS], bool waits) {
    struct sim_clock *c = &warp->clock;
    for (int i = 0; i < SIM_MAX_WARPS; i++)
        if (seen[i] < c->seen[i]) seen[i] = c->seen[i];
    seen[warp->index] = c->now;
    if (waits) c->floor = c->now;
    c->now++;
}

void sim_race_release(struct sim_warp *warp, const uint32_t seen[SIM_MAX_WARPS]) {
    memcpy(warp->clock.seen, seen, sizeof warp->clock.seen);
}

static bool is_ordered_by_clock(const struct sim_warp *warp, int lane, unsigned thread, uint32_t clock) {
    const struct sim_clock *c = &warp->clock;
    int other = (int)(thread / SIM_LANES), of = (int)(thread % SIM_LANES);
    if (other != warp->index) return clock <= c->seen[other];
    if (of == lane || clock <= c->floor) return true;
    return c->partial && clock <= c->synced[lane][of];
}

bool sim_race_ordered(const struct sim_warp *warp, int lane, unsigned thread, uint32_t clock) {
    if (is_ordered_by_clock(warp, lane, thread, clock)) return true;
    return warp->block->async && sim_view_holds(warp, lane, SIM_PROXY_GENERIC, thread, clock);
}

bool sim_race_ordered_in(const struct sim_warp *warp, const struct sim_block *owner, int lane,
                         unsigned thread, uint32_t clock) {
    if (owner == warp->block) return sim_race_ordered(warp, lane, thread, clock);
    return clock <= sim_cluster_warp_of(warp)->seen[owner->rank][thread / SIM_LANES] ||
           clock <= sim_view_far(warp, lane, owner->rank, thread / SIM_LANES);
}

/* What a wgmma read, all lanes of its warp have read once they waited: whichever of them makes something
   known makes this known, too. */
static bool is_ordered_together(const struct sim_warp *warp, int lane, sim_record r) {
    const struct sim_trait *traits = warp->block->launch->traits;
    const int other = (int)(thread_of(r) / SIM_LANES);
    if (pc_of(r) == LAST_PC || !traits[pc_of(r)].together) return false;
    return other == warp->index || sim_view_holds_some(warp, lane, other, clock_of(r));
}

static bool is_ordered_in_block(const struct sim_warp *warp, int lane, sim_record r) {
    return sim_race_ordered(warp, lane, thread_of(r), clock_of(r)) || is_ordered_together(warp, lane, r);
}

/* -- The cells ------------------------------------------------------------------------------------------ */

/* An access on its way through its cells. */
struct probe {
    struct sim_warp *warp;
    const struct sim_insn *insn;
    int lane;
    sim_record me;
    bool shared, parallel;
    enum sim_access access;
    const struct sim_block *owner; /* of shared memory */
    bool alone;                    /* clusters have one block */
};

static inline bool is_strong(sim_record r) { return r & 1; }

/* A set of reads in the place of one: no access has this clock, and thread and pc are the set's number. */
static inline bool is_set(sim_record r) { return clock_of(r) == LAST_CLOCK; }
static inline uint32_t set_of(sim_record r) { return (uint32_t)pc_of(r) << 10 | thread_of(r); }
static inline sim_record set_record(sim_record of_block, uint32_t index) {
    return block_of(of_block) << BLOCK_AT | (sim_record)(index >> 10) << PC_AT |
           (sim_record)LAST_CLOCK << CLOCK_AT | (sim_record)(index & (SIM_MAX_BLOCK - 1)) << THREAD_AT;
}

/* The rank of the block that R is of; -1: it is of another cluster than the probe's. */
static inline int rank_of(const struct probe *p, sim_record r) {
    const struct sim_block *block = p->warp->block;
    if (block_of(r) == block_of(p->me)) return (int)block->rank;
    return p->alone ? -1 : sim_cluster_rank(block->cluster, block_of(r), p->shared);
}

static inline bool is_of_my_cluster(const struct probe *p, sim_record r) { return rank_of(p, r) >= 0; }

/* Whether R, of another block, comes before the probe's access. What earlier clusters left in shared memory
   does. */
static bool is_ordered_across(const struct probe *p, sim_record r) {
    const struct sim_cluster *cluster = p->warp->block->cluster;
    sim_record number = block_of(r);
    int rank = rank_of(p, r);
    if (rank < 0 && p->shared) return true;
    if (rank >= 0) {
        const unsigned of = thread_of(r) / SIM_LANES;
        if (clock_of(r) <= sim_cluster_warp_of(p->warp)->seen[rank][of]) return true;
        if (p->warp->block->async && clock_of(r) <= sim_view_far(p->warp, p->lane, (unsigned)rank, of))
            return true;
        number = cluster->block[rank]->global_id;
    }
    return sim_order_holds(p->warp, p->lane, number, thread_of(r), clock_of(r));
}

/* Whether R, or nothing, comes before the probe's access. */
static inline bool precedes(const struct probe *p, sim_record r) {
    if (r == 0) return true;
    if (block_of(r) == block_of(p->me)) return is_ordered_in_block(p->warp, p->lane, r);
    if (p->shared && p->alone) return true;
    return is_ordered_across(p, r);
}

/* Whether both accesses are strong, and with a scope that holds both threads (ISA: morally strong). */
static bool are_strong(const struct probe *p, sim_record r) {
    const struct sim_trait *traits = p->warp->block->launch->traits;
    if (!is_strong(r) || !is_strong(p->me)) return false;
    if (block_of(r) == block_of(p->me) || pc_of(r) == LAST_PC || pc_of(p->me) == LAST_PC) return true;
    if (traits[pc_of(r)].wide && traits[pc_of(p->me)].wide) return true;
    return traits[pc_of(r)].reaches && traits[pc_of(p->me)].reaches && is_of_my_cluster(p, r);
}

static inline bool collides(const struct probe *p, sim_record r) {
    return !precedes(p, r) && !are_strong(p, r);
}

static inline sim_record load(const sim_record *at) { return __atomic_load_n(at, __ATOMIC_RELAXED); }

/* Replaces OLD. Of two blocks that access a granule at once, one must see the other: hence sequentially
   consistent, before the look at the other side. */
static inline bool replace(const struct probe *p, sim_record *at, sim_record old, sim_record with) {
    if (p->parallel)
        return __atomic_compare_exchange_n(at, &old, with, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    *at = with;
    return true;
}

static inline bool is_of_my_warp(const struct probe *p, sim_record r) {
    return block_of(r) == block_of(p->me) && thread_of(r) / SIM_LANES == thread_of(p->me) / SIM_LANES;
}

/* The place of R's warp in a set of reads. */
static inline int place_in_set(const struct probe *p, sim_record r) {
    return rank_of(p, r) * SIM_MAX_WARPS + (int)(thread_of(r) / SIM_LANES);
}

/* Notes a read of more than two warps of the cluster: the cell's second read becomes a set of all three. */
static bool begin_set(const struct probe *p, struct sim_race_cell *cell, sim_record first,
                      sim_record second) {
    struct sim_reader_pool *pool = &p->warp->block->cluster->readers;
    uint32_t index = sim_readers_new(pool);
    if (index == 0) {
        sim_fault_at(p->warp, p->insn, p->lane, PTXSIM_NOMEM, "no memory to watch for races");
        return true;
    }
    const sim_record members[] = {first, second, p->me};
    for (int i = 0; i < 3; i++) sim_readers_of(pool, index)[place_in_set(p, members[i])] = members[i];
    if (replace(p, &cell->read[1], second, set_record(p->me, index))) return true;
    sim_readers_drop(pool, index);
    return false;
}

static inline bool are_of_two_clusters(const struct probe *p, sim_record a, sim_record b) {
    if (block_of(a) == block_of(b)) return false;
    return p->alone || is_of_my_cluster(p, a) != is_of_my_cluster(p, b);
}

/* The first read and the last of another warp that is not ordered after it; if there is a third warp's, a
   set. Of a warp, the last stands for all. Reads of two clusters need no third, since any write races with
   one of them. */
static inline void note_read(const struct probe *p, struct sim_race_cell *cell) {
    for (;;) {
        sim_record first = load(&cell->read[0]), second = load(&cell->read[1]);
        if (first == p->me || second == p->me) return;
        if (is_set(second) && is_of_my_cluster(p, second)) {
            sim_readers_of(&p->warp->block->cluster->readers, set_of(second))[place_in_set(p, p->me)] = p->me;
            return;
        }
        if (precedes(p, first)) {
            if (!replace(p, &cell->read[0], first, p->me)) continue;
            if (second && precedes(p, second)) replace(p, &cell->read[1], second, 0);
            return;
        }
        if (!p->shared && second && are_of_two_clusters(p, first, second)) return;
        if (!is_of_my_cluster(p, first) || precedes(p, second) || is_of_my_warp(p, second)) {
            if (replace(p, &cell->read[1], second, p->me)) return;
        } else if (is_of_my_warp(p, first)) {
            if (replace(p, &cell->read[0], first, p->me)) return;
        } else if (begin_set(p, cell, first, second)) {
            return;
        }
    }
}

/* The earlier access that races with a read, 0 if there is none. */
static inline sim_record probe_read(const struct probe *p, struct sim_race_cell *cell) {
    note_read(p, cell);
    sim_record write = load(&cell->write);
    return collides(p, write) ? write : 0;
}

/* A read of the cell's set that races with the probe's write. A set whose reads all come before it ends. */
static sim_record probe_set(const struct probe *p, struct sim_race_cell *cell, sim_record set) {
    struct sim_reader_pool *pool = &p->warp->block->cluster->readers;
    const sim_record *reads = sim_readers_of(pool, set_of(set)), *end = reads + pool->width;
    bool past = true;
    for (; reads < end; reads += SIM_MAX_WARPS)
        for (int i = 0; i < p->warp->block->warp_count; i++) {
            if (collides(p, reads[i])) return reads[i];
            past &= precedes(p, reads[i]);
        }
    if (past && replace(p, &cell->read[1], set, 0)) sim_readers_drop(pool, set_of(set));
    return 0;
}

/* The earlier access that races with a write; *READER says whether it was a read. */
static inline sim_record probe_write(const struct probe *p, struct sim_race_cell *cell, bool *reader) {
    sim_record old;
    if (p->parallel) {
        old = __atomic_exchange_n(&cell->write, p->me, __ATOMIC_SEQ_CST);
    } else {
        old = cell->write;
        cell->write = p->me;
    }
    *reader = false;
    if (collides(p, old)) return old;
    *reader = true;
    for (int i = 0; i < 2; i++) {
        sim_record read = load(&cell->read[i]);
        if (read == 0) continue;
        if (is_set(read) && is_of_my_cluster(p, read)) return probe_set(p, cell, read);
        if (collides(p, read)) return read;
        if (precedes(p, read)) replace(p, &cell->read[i], read, 0);
    }
    return 0;
}

/* -- Reports -------------------------------------------------------------------------------------------- */

static ptxsim_dim3 block_index(const struct probe *p, sim_record r) {
    int rank = rank_of(p, r);
    if (rank >= 0) return p->warp->block->cluster->block[rank]->index;
    ptxsim_dim3 grid = p->warp->block->launch->grid;
    unsigned linear = (unsigned)block_of(r) - 1;
    return (ptxsim_dim3){linear % grid.x, linear / grid.x % grid.y, linear / grid.x / grid.y};
}

static void report(const struct probe *p, bool reader, sim_record r, uint64_t address) {
    static const char *const verbs[] = {[PTXSIM_WRITE_WRITE] = "both write",
                                        [PTXSIM_READ_WRITE] = "it read, this writes",
                                        [PTXSIM_WRITE_READ] = "it wrote, this reads"};
    ptxsim_fault *fault = &p->warp->block->fault;
    const struct sim_launch *launch = p->warp->block->launch;
    if (fault->status != PTXSIM_OK) return;
    fault->race = p->access == SIM_READ ? PTXSIM_WRITE_READ : reader ? PTXSIM_READ_WRITE : PTXSIM_WRITE_WRITE;
    fault->address = address;
    fault->other.line = pc_of(r) == LAST_PC ? 0 : launch->function->code[pc_of(r)].line;
    fault->other.block = block_index(p, r);
    fault->other.thread = sim_index_of(thread_of(r), launch->block);
    ptxsim_side o = fault->other;
    char name[SIM_SHARED_NAME];
    sim_fault_at(p->warp, p->insn, p->lane, PTXSIM_RACE,
                 "race on %s 0x%llx with line %d, block (%u,%u,%u), thread (%u,%u,%u): %s",
                 p->shared ? sim_shared_name(name, p->warp, p->owner) : "global", (unsigned long long)address,
                 o.line, o.block.x, o.block.y, o.block.z, o.thread.x, o.thread.y, o.thread.z,
                 verbs[fault->race]);
}

/* What tells a word from all others that the cluster accesses: its generic address, in shared memory that for
   the block of rank 0. */
static uint64_t name_of_word(const struct probe *p, uint64_t address) {
    if (!p->shared) return address;
    uint64_t rank = p->alone ? 0 : p->owner->rank + 1;
    return SIM_SHARED_WINDOW + (rank << SIM_RANK_AT) + address;
}

static inline bool visit(const struct probe *p, struct sim_race_cell *cells, uint64_t base, size_t at,
                         unsigned bytes, int shift) {
    bool reader = false;
    for (size_t i = at >> shift, end = (at + bytes - 1) >> shift; i <= end; i++) {
        sim_record r = p->access == SIM_READ ? probe_read(p, &cells[i]) : probe_write(p, &cells[i], &reader);
        if (!r) continue;
        report(p, reader, r, base + (i << shift));
        return false;
    }
    if (!is_strong(p->me) || !p->warp->block->order) return true;
    return sim_order_access(p->warp, p->insn, p->lane, name_of_word(p, base + at), p->access);
}

static inline sim_record record_of(const struct sim_warp *warp, const struct sim_insn *insn, int lane,
                                   sim_record block) {
    const struct sim_launch *launch = warp->block->launch;
    sim_record pc = (sim_record)(insn - launch->function->code);
    bool strong = launch->traits[pc].strong;
    if (pc > LAST_PC) pc = LAST_PC;
    return block << BLOCK_AT | pc << PC_AT | (sim_record)warp->clock.now << CLOCK_AT |
           ((sim_record)warp->index * SIM_LANES + (sim_record)lane) << THREAD_AT | strong;
}

static inline struct probe probe_shared(struct sim_warp *warp, const struct sim_block *owner,
                                        const struct sim_insn *insn, int lane, enum sim_access access) {
    const struct sim_block *block = warp->block;
    return (struct probe){.warp = warp,
                          .insn = insn,
                          .lane = lane,
                          .me = record_of(warp, insn, lane, block->shared_id),
                          .shared = true,
                          .access = access,
                          .owner = owner,
                          .alone = block->launch->cluster_blocks == 1};
}

static inline struct probe probe_global(struct sim_warp *warp, const struct sim_insn *insn, int lane,
                                        enum sim_access access) {
    const struct sim_block *block = warp->block;
    return (struct probe){.warp = warp,
                          .insn = insn,
                          .lane = lane,
                          .me = record_of(warp, insn, lane, block->global_id),
                          .parallel = block->launch->parallel,
                          .access = access,
                          .alone = block->launch->cluster_blocks == 1};
}

bool sim_race_shared(struct sim_warp *warp, const struct sim_block *owner, const struct sim_insn *insn,
                     int lane, size_t at, unsigned bytes, enum sim_access access) {
    if (warp->clock.now >= LAST_CLOCK) return true;
    struct probe p = probe_shared(warp, owner, insn, lane, access);
    return visit(&p, owner->shared_cells, 0, at, bytes, owner->launch->shared_shift);
}

static bool is_known_to_proxy(const struct probe *p, sim_record write, uint64_t address) {
    enum sim_proxy proxy = p->shared ? SIM_PROXY_ASYNC_SHARED : SIM_PROXY_ASYNC_GLOBAL;
    if (write == 0 || block_of(write) != block_of(p->me)) return true;
    if (pc_of(write) != LAST_PC && p->warp->block->launch->traits[pc_of(write)].bulk) return true;
    if (sim_view_holds(p->warp, p->lane, proxy, thread_of(write), clock_of(write))) return true;
    sim_fault_at(p->warp, p->insn, p->lane, PTXSIM_ASYNC,
                 "missing proxy fence: the async proxy %s %s 0x%llx, and no fence.proxy.async lies between "
                 "this and the store of line %d",
                 p->access == SIM_READ ? "reads" : "writes", p->shared ? "shared" : "global",
                 (unsigned long long)address, p->warp->block->launch->function->code[pc_of(write)].line);
    return false;
}

bool sim_race_fenced(struct sim_warp *warp, const struct sim_insn *insn, int lane,
                     const struct sim_allocation *a, size_t at, unsigned bytes) {
    int shift = warp->block->launch->global_shift;
    if (warp->clock.now >= LAST_CLOCK) return true;
    struct probe p = probe_global(warp, insn, lane, SIM_READ);
    for (size_t i = at >> shift, end = (at + bytes - 1) >> shift; i <= end; i++)
        if (!is_known_to_proxy(&p, load(&a->cells[i].write), a->base + (i << shift))) return false;
    return true;
}

bool sim_race_bulk(struct sim_warp *warp, const struct sim_block *block, const struct sim_insn *insn,
                   int lane, size_t at, unsigned bytes, enum sim_access access) {
    int shift = block->launch->shared_shift;
    if (warp->clock.now >= LAST_CLOCK) return true;
    struct probe p = probe_shared(warp, block, insn, lane, access);
    const bool is_generic = !warp->block->launch->traits[insn - warp->block->launch->function->code].bulk;
    for (size_t i = at >> shift, end = (at + bytes - 1) >> shift; i <= end; i++) {
        struct sim_race_cell *cell = &block->shared_cells[i];
        sim_record write = cell->write, r = collides(&p, write) ? write : 0;
        bool reader = false;
        if (access != SIM_READ) r = probe_write(&p, cell, &reader);
        if (r) report(&p, reader, r, i << shift);
        if (r || (!is_generic && !is_known_to_proxy(&p, write, i << shift))) return false;
        if (access != SIM_READ) *cell = (struct sim_race_cell){0};
    }
    return true;
}

/* Whether LANE is ordered after the last write, and the async proxy knows of it through that lane. */
static bool knows_write(const struct probe *p, sim_record write) {
    if (collides(p, write)) return false;
    return write == 0 || block_of(write) != block_of(p->me) ||
           sim_view_holds(p->warp, p->lane, SIM_PROXY_ASYNC_SHARED, thread_of(write), clock_of(write));
}

bool sim_race_together(struct sim_warp *warp, const struct sim_insn *insn, size_t at, unsigned bytes) {
    const struct sim_block *block = warp->block;
    int shift = block->launch->shared_shift;
    if (warp->clock.now >= LAST_CLOCK) return true;
    for (size_t i = at >> shift, end = (at + bytes - 1) >> shift; i <= end; i++) {
        sim_record write = block->shared_cells[i].write;
        bool known = write == 0;
        for (int l = 0; l < SIM_LANES && !known; l++) {
            struct probe p = probe_shared(warp, block, insn, l, SIM_READ);
            known = knows_write(&p, write);
        }
        if (known) continue;
        struct probe p = probe_shared(warp, block, insn, 0, SIM_READ);
        if (collides(&p, write)) report(&p, false, write, i << shift);
        return is_known_to_proxy(&p, write, i << shift) && block->fault.status == PTXSIM_OK;
    }
    return true;
}

/* Whether the access needs no note, since A is only read so far. Of a block that reads and one that writes
   first, one sees the other's mark: hence sequentially consistent. */
static inline bool is_only_read(struct sim_allocation *a, enum sim_access access) {
    if (access == SIM_READ && !__atomic_load_n(&a->read, __ATOMIC_SEQ_CST))
        __atomic_store_n(&a->read, true, __ATOMIC_SEQ_CST);
    return access == SIM_READ && !__atomic_load_n(&a->watched, __ATOMIC_SEQ_CST);
}

/* The first write to A. False if reads went unnoted before. */
static bool begin_watch(struct sim_warp *warp, const struct sim_insn *insn, int lane,
                        struct sim_allocation *a) {
    __atomic_store_n(&a->watched, true, __ATOMIC_SEQ_CST);
    if (!__atomic_load_n(&a->read, __ATOMIC_SEQ_CST)) return true;
    warp->block->restart = true;
    sim_fault_at(warp, insn, lane, PTXSIM_RACE, "starts again");
    return false;
}

bool sim_race_global(struct sim_warp *warp, const struct sim_insn *insn, int lane, struct sim_allocation *a,
                     size_t at, unsigned bytes, enum sim_access access) {
    if (is_only_read(a, access)) return true;
    if (!__atomic_load_n(&a->watched, __ATOMIC_RELAXED) && !begin_watch(warp, insn, lane, a)) return false;
    if (warp->clock.now >= LAST_CLOCK) return true;
    struct probe p = probe_global(warp, insn, lane, access);
    return visit(&p, a->cells, a->base, at, bytes, warp->block->launch->global_shift);
}
