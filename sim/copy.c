/* Copies from issue to completion. */
#include "async.h"
#include "reduce.h"

#include <stdlib.h>

static void fault_memory(struct sim_warp *warp, const struct sim_insn *insn, int lane) {
    sim_fault_at(warp, insn, lane, PTXSIM_NOMEM, "no memory for a copy in flight");
}

static bool grow(void **items, uint32_t count, uint32_t *capacity, size_t size) {
    if (count < *capacity) return true;
    uint32_t more = *capacity ? 2 * *capacity : 64;
    void *grown = realloc(*items, more * size);
    if (!grown) return false;
    *items = grown;
    *capacity = more;
    return true;
}

/* -- The table of copies ------------------------------------------------------------------------------- */

static uint32_t take_entry(struct sim_async *async) {
    uint32_t index = async->free_copies;
    if (index) {
        async->free_copies = async->copies[index].next;
        return index;
    }
    void *copies = async->copies;
    if (!grow(&copies, async->copy_count, &async->copy_capacity, sizeof *async->copies)) return 0;
    async->copies = copies;
    async->copies[async->copy_count] = (struct sim_copy){.kind = SIM_COPY_FREE};
    return async->copy_count++;
}

unsigned sim_async_draw(struct sim_async *async, unsigned below) { /* splitmix64 */
    uint64_t z = async->random += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return (unsigned)(z >> 32) % below;
}

/* As the launch says, or, in seeded schedules, as chance does. */
static bool draw_late(struct sim_block *block) {
    const struct sim_launch *launch = block->launch;
    if (launch->landing != PTXSIM_LANDING_ANY) return launch->landing == PTXSIM_LANDING_LAST;
    return launch->order != PTXSIM_SEEDED || sim_async_draw(block->async, 2);
}

uint32_t sim_copy_new(struct sim_warp *warp, struct sim_block *owner, const struct sim_insn *insn, int lane,
                      enum sim_copy_kind kind, int pieces) {
    struct sim_async *async = owner->async;
    uint32_t index = take_entry(async);
    struct sim_piece *list = pieces && index ? malloc((size_t)pieces * sizeof *list) : NULL;
    if (!index || (pieces && !list)) {
        fault_memory(warp, insn, lane);
        return 0;
    }
    async->copies[index] = (struct sim_copy){.kind = kind,
                                             .insn = insn,
                                             .by = warp,
                                             .lane = lane,
                                             .serial = ++async->serial,
                                             .late = draw_late(owner),
                                             .pieces = list};
    return index;
}

static void drop_pieces(struct sim_copy *copy) {
    free(copy->pieces);
    free(copy->data);
    free(copy->released);
    copy->pieces = NULL;
    copy->data = NULL;
    copy->released = NULL;
    copy->piece_count = 0;
}

void sim_copy_drop(struct sim_async *async, uint32_t index) {
    drop_pieces(&async->copies[index]);
    async->copies[index].kind = SIM_COPY_FREE;
    async->copies[index].next = async->free_copies;
    async->free_copies = index;
}

struct sim_piece *sim_copy_add(struct sim_async *async, uint32_t index, int lane, size_t at, uint64_t address,
                               unsigned char *global, unsigned bytes) {
    struct sim_copy *copy = &async->copies[index];
    struct sim_piece *piece = &copy->pieces[copy->piece_count++];
    *piece = (struct sim_piece){global, address, (uint32_t)at, (uint8_t)bytes, (uint8_t)lane};
    sim_async_hold(async, at, bytes, index);
    if (copy->kind == SIM_COPY_LANES) copy->flying |= 1u << lane;
    return piece;
}

/* -- Moving the bytes ----------------------------------------------------------------------------------- */

static void move_in(struct sim_block *block, const struct sim_copy *copy, uint32_t lanes) {
    for (int i = 0; i < copy->piece_count; i++) {
        const struct sim_piece *p = &copy->pieces[i];
        if (!SIM_ACTIVE(lanes, p->lane)) continue;
        memcpy(block->shared + p->at, p->global, p->bytes);
        sim_shadow_write_range(block->shared_shadow, p->at, p->bytes);
    }
}

/* A store reads its source: from here on it holds the bytes itself. */
static void read_source(struct sim_block *block, struct sim_copy *copy) {
    unsigned char *to = copy->data;
    for (int i = 0; i < copy->piece_count; i++) {
        memcpy(to, block->shared + copy->pieces[i].at, copy->pieces[i].bytes);
        to += copy->pieces[i].bytes;
    }
}

static void write_out(struct sim_copy *copy) {
    const unsigned char *from = copy->data;
    for (int i = 0; i < copy->piece_count; i++) {
        unsigned char *to = copy->pieces[i].global;
        if (copy->insn->reduction)
            sim_reduce(copy->insn->reduction, copy->type, to, from, copy->pieces[i].bytes);
        else memcpy(to, from, copy->pieces[i].bytes);
        from += copy->pieces[i].bytes;
    }
    copy->landed = true;
}

/* -- Issue ---------------------------------------------------------------------------------------------- */

static void widen(struct sim_bounds *bounds, uint64_t low, uint64_t high) {
    if (bounds->low > low) bounds->low = low;
    if (bounds->high < high) bounds->high = high;
}

static void count_in_flight(struct sim_async *async, struct sim_copy *copy) {
    const bool is_store = copy->kind == SIM_COPY_STORE;
    struct sim_bounds *all = is_store ? &async->stored : &async->loaded;
    int *count = is_store ? &async->stores : &async->loads;
    if (*count == 0) *all = (struct sim_bounds){UINT64_MAX, 0};
    *count += 1;
    copy->global = (struct sim_bounds){UINT64_MAX, 0};
    copy->ascends = true;
    for (int i = 0; i < copy->piece_count; i++) {
        const struct sim_piece *p = &copy->pieces[i];
        copy->ascends &= p->address >= copy->global.high && p->address;
        if (p->address) widen(&copy->global, p->address, p->address + p->bytes);
    }
    widen(all, copy->global.low, copy->global.high);
}

static bool issue_lanes(struct sim_block *block, uint32_t index) {
    struct sim_async *async = block->async;
    struct sim_copy *copy = &async->copies[index];
    copy->next = async->open[copy->by->index];
    async->open[copy->by->index] = index;
    if (!copy->late) move_in(block, copy, SIM_FULL_MASK);
    return true;
}

static bool issue_store(struct sim_block *block, uint32_t index) {
    struct sim_async *async = block->async;
    struct sim_copy *copy = &async->copies[index];
    copy->data = malloc((size_t)copy->piece_count * 16 + 1);
    copy->next = async->open[copy->by->index];
    async->open[copy->by->index] = index;
    if (!copy->data) {
        fault_memory(copy->by, copy->insn, copy->lane);
        return false;
    }
    if (copy->late) return true;
    read_source(block, copy);
    write_out(copy);
    return true;
}

static bool issue_late(struct sim_block *block, uint32_t index) {
    struct sim_async *async = block->async;
    struct sim_copy *copy = &async->copies[index];
    void *late = async->late;
    if (!copy->late) {
        sim_copy_land(block, index);
        return block->fault.status == PTXSIM_OK && copy->by->block->fault.status == PTXSIM_OK;
    }
    if (!grow(&late, async->late_count, &async->late_capacity, sizeof *async->late)) {
        fault_memory(copy->by, copy->insn, copy->lane);
        return false;
    }
    async->late = late;
    async->late[async->late_count++] = index;
    return true;
}

bool sim_copy_issue(struct sim_block *block, uint32_t index) {
    struct sim_copy *copy = &block->async->copies[index];
    block->async->changes++;
    if (copy->kind != SIM_COPY_ARRIVAL) count_in_flight(block->async, copy);
    switch (copy->kind) {
    case SIM_COPY_LANES: return issue_lanes(block, index);
    case SIM_COPY_STORE: return issue_store(block, index);
    default: return issue_late(block, index);
    }
}

/* -- cp.async: waits, and mbarriers that track ----------------------------------------------------------- */

static void let_go(struct sim_async *async, uint32_t index, uint32_t lanes) {
    const struct sim_copy *copy = &async->copies[index];
    for (int i = 0; i < copy->piece_count; i++)
        if (SIM_ACTIVE(lanes, copy->pieces[i].lane))
            sim_async_let_go(async, copy->pieces[i].at, copy->pieces[i].bytes, index);
}

/* LANES of a cp.async have their bytes. */
static void complete_lanes(struct sim_block *block, uint32_t index, uint32_t lanes) {
    struct sim_copy *copy = &block->async->copies[index];
    if (copy->late) move_in(block, copy, lanes);
    let_go(block->async, index, lanes);
    copy->flying &= ~lanes;
    if (!copy->flying) block->async->loads--;
}

/* The bytes are now those of a plain write by the thread that waited. */
static void note_writes(struct sim_block *block, const struct sim_copy *copy, uint32_t lanes) {
    for (int i = 0; block->launch->races && i < copy->piece_count; i++) {
        const struct sim_piece *p = &copy->pieces[i];
        if (SIM_ACTIVE(lanes, p->lane))
            sim_race_shared(copy->by, block, copy->insn, p->lane, p->at, p->bytes, SIM_WRITE);
    }
}

/* Takes copies that are over out of the warp's list. */
static void sweep(struct sim_async *async, int warp) {
    uint32_t *link = &async->open[warp];
    while (*link) {
        uint32_t index = *link;
        struct sim_copy *copy = &async->copies[index];
        bool over = copy->kind == SIM_COPY_LANES ? !copy->flying : copy->kind == SIM_COPY_FREE;
        if (!over) {
            link = &copy->next;
            continue;
        }
        *link = copy->next;
        sim_copy_drop(async, index);
    }
}

static uint32_t lanes_of_groups(const struct sim_copy *copy, const uint32_t committed[SIM_LANES],
                                uint32_t mask, uint32_t keep) {
    uint32_t lanes = 0;
    SIM_EACH_LANE(l)
    if (SIM_ACTIVE(mask, l) && committed[l] >= keep && copy->group[l] < committed[l] - keep) lanes |= 1u << l;
    return lanes;
}

void sim_copy_wait(struct sim_warp *warp, uint32_t mask, uint32_t keep, bool all) {
    struct sim_async *async = warp->block->async;
    for (uint32_t i = async->open[warp->index]; i; i = async->copies[i].next) {
        const struct sim_copy *copy = &async->copies[i];
        if (copy->kind != SIM_COPY_LANES) continue;
        uint32_t lanes = mask & copy->flying;
        if (!all) lanes = lanes_of_groups(copy, async->groups[warp->index], lanes, keep);
        if (!lanes) continue;
        note_writes(warp->block, copy, lanes & ~copy->tracked);
        complete_lanes(warp->block, i, lanes);
    }
    sweep(async, warp->index);
}

/* -- Bulk copies ----------------------------------------------------------------------------------------- */

static void note_reads(struct sim_block *block, const struct sim_copy *copy) {
    for (int i = 0; block->launch->races && i < copy->piece_count; i++)
        sim_race_shared(copy->by, block, copy->insn, copy->lane, copy->pieces[i].at, copy->pieces[i].bytes,
                        SIM_READ);
}

static void finish_read(struct sim_block *block, uint32_t index) {
    struct sim_copy *copy = &block->async->copies[index];
    if (copy->late) read_source(block, copy);
    copy->read = true;
    let_go(block->async, index, 1u << copy->lane);
    note_reads(block, copy);
}

bool sim_copy_write_back(struct sim_block *block, uint32_t index) {
    struct sim_copy *copy = &block->async->copies[index];
    if (!copy->landed) write_out(copy);
    block->async->stores--;
    drop_pieces(copy);
    copy->kind = SIM_COPY_FREE;
    return block->fault.status == PTXSIM_OK;
}

void sim_copy_wait_bulk(struct sim_warp *warp, uint32_t mask, uint32_t keep, bool read) {
    struct sim_async *async = warp->block->async;
    for (uint32_t i = async->open[warp->index]; i; i = async->copies[i].next) {
        const struct sim_copy *copy = &async->copies[i];
        if (copy->kind != SIM_COPY_STORE || !SIM_ACTIVE(mask, copy->lane)) continue;
        uint32_t lane = 1u << copy->lane;
        if (!lanes_of_groups(copy, async->bulk_groups[warp->index], lane, keep)) continue;
        if (!copy->read) finish_read(warp->block, i);
        if (!read) sim_copy_write_back(warp->block, i);
    }
    sweep(async, warp->index);
}

/* cp.async.mbarrier.arrive: the lanes' copies up to it are complete, and they arrive. */
static void land_arrival(struct sim_block *block, uint32_t index) {
    struct sim_async *async = block->async;
    struct sim_copy *copy = &async->copies[index];
    struct sim_mbarrier *m = &async->mbarrier[copy->mbarrier];
    uint32_t lanes = copy->flying;
    for (uint32_t i = async->open[copy->by->index]; i; i = async->copies[i].next) {
        struct sim_copy *other = &async->copies[i];
        bool earlier = other->kind == SIM_COPY_LANES && other->serial < copy->serial;
        if (earlier && (other->flying & lanes)) complete_lanes(block, i, other->flying & lanes);
    }
    sweep(async, copy->by->index);
    sim_view_join(&m->arriving, copy->released);
    copy->phase = m->phase;
    copy->landed = true;
    sim_mbarrier_arrive(copy->by, copy->insn, copy->lane, m, (uint32_t)__builtin_popcount(lanes));
}

static void land_load(struct sim_block *block, uint32_t index) {
    struct sim_async *async = block->async;
    struct sim_copy *copy = &async->copies[index];
    struct sim_mbarrier *m = &async->mbarrier[copy->mbarrier];
    move_in(block, copy, SIM_FULL_MASK);
    copy->phase = m->phase;
    copy->landed = true;
    copy->next = m->loads;
    m->loads = index;
    sim_mbarrier_expect(copy->by, copy->insn, copy->lane, m, -(int64_t)copy->bytes);
}

void sim_copy_land(struct sim_block *block, uint32_t index) {
    const struct sim_copy *copy = &block->async->copies[index];
    if (!block->async->mbarrier[copy->mbarrier].live) {
        sim_fault_at(copy->by, copy->insn, copy->lane, PTXSIM_ASYNC,
                     "the mbarrier of this copy is no more when it completes");
        return;
    }
    if (copy->kind == SIM_COPY_ARRIVAL) land_arrival(block, index);
    else land_load(block, index);
}

void sim_copy_end_loads(struct sim_async *async, struct sim_mbarrier *m, uint32_t phase) {
    uint32_t *link = &m->loads;
    while (*link) {
        struct sim_copy *copy = &async->copies[*link];
        if (copy->phase >= phase) {
            link = &copy->next;
            continue;
        }
        *link = copy->next;
        drop_pieces(copy);
        async->loads--;
    }
}
