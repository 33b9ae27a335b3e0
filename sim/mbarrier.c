/* mbarrier objects (ISA, "mbarrier"): 8 opaque bytes of shared memory, whose state is kept here by
   address. */
#include "cluster.h"
#include "lanes.h"

enum { MAX_COUNT = (1 << 20) - 1 }; /* of arrivals and of bytes */

int sim_mbarrier_index(const struct sim_mbarrier *m) { return (int)(m - m->owner->async->mbarrier); }

struct sim_block *sim_shared_owner(struct sim_warp *warp, const struct sim_insn *insn, int lane, bool far,
                                   uint64_t *address) {
    const bool generic = insn->space != SIM_SHARED && insn->space != SIM_SHARED_CLUSTER;
    const uint64_t written = *address;
    if (generic) *address -= SIM_SHARED_WINDOW;
    if (*address < 1u << SIM_RANK_AT) return warp->block;
    const bool is_shared = *address < SIM_PARAM_WINDOW - SIM_SHARED_WINDOW;
    if (is_shared && far && insn->space != SIM_SHARED)
        return sim_cluster_owner(warp, insn, lane, address, SIM_UPDATE);
    sim_fault_at(warp, insn, lane, PTXSIM_BOUNDS, "0x%llx is not in %s", (unsigned long long)written,
                 is_shared ? "the block's own shared memory" : "shared memory");
    return NULL;
}

static bool is_placed(struct sim_warp *warp, const struct sim_insn *insn, int lane, uint64_t at) {
    uint32_t size = warp->block->launch->shared_bytes;
    const char *why = NULL;
    if (at % SIM_MBARRIER_BYTES) why = "an mbarrier is aligned to 8 bytes";
    else if (at > size || size - at < SIM_MBARRIER_BYTES) why = "out of the block's shared memory";
    if (!why) return true;
    sim_fault_at(warp, insn, lane, at % SIM_MBARRIER_BYTES ? PTXSIM_ALIGN : PTXSIM_BOUNDS,
                 "an mbarrier at shared 0x%llx: %s", (unsigned long long)at, why);
    return false;
}

static struct sim_moment now(const struct sim_warp *warp, const struct sim_insn *insn, int lane) {
    return (struct sim_moment){insn, (unsigned)(warp->index * SIM_LANES + lane), warp->clock.now};
}

static struct sim_mbarrier *live_at(struct sim_async *async, uint64_t at) {
    uint32_t tag = async->tag[at / SIM_TAG_BYTES];
    if (!tag || async->copies[tag].kind != SIM_COPY_MBARRIER) return NULL;
    return &async->mbarrier[async->copies[tag].mbarrier];
}

/* Whether WARP has waited at the cluster's barrier behind the fence.mbarrier_init of M. */
static bool is_after_fence(const struct sim_warp *warp, const struct sim_mbarrier *m) {
    if (!m->fence.insn || !warp->block->cluster->state) return false;
    return m->fence.clock <= sim_cluster_warp_of(warp)->inits[m->owner->rank][m->fence.thread / SIM_LANES];
}

static bool is_after_init(struct sim_warp *warp, const struct sim_insn *insn, int lane,
                          const struct sim_mbarrier *m) {
    if (sim_race_ordered_in(warp, m->owner, lane, m->init.thread, m->init.clock)) return true;
    if (is_after_fence(warp, m)) return true;
    ptxsim_fault *fault = &warp->block->fault;
    ptxsim_dim3 thread = sim_index_of(m->init.thread, warp->block->launch->block);
    if (fault->status == PTXSIM_OK) {
        fault->race = PTXSIM_WRITE_READ;
        fault->address = m->at;
        fault->other = (ptxsim_side){m->init.insn->line, m->owner->index, thread};
    }
    sim_fault_at(warp, insn, lane, PTXSIM_RACE,
                 "uses the mbarrier at 0x%x, and nothing orders this after line %d, thread (%u,%u,%u), which "
                 "initialises it",
                 m->at, m->init.insn->line, thread.x, thread.y, thread.z);
    return false;
}

struct sim_mbarrier *sim_mbarrier_at(struct sim_warp *warp, struct sim_block *owner,
                                     const struct sim_insn *insn, int lane, uint64_t at) {
    if (!is_placed(warp, insn, lane, at)) return NULL;
    struct sim_mbarrier *m = live_at(owner->async, at);
    if (!m || m->at != at) {
        sim_fault_at(warp, insn, lane, PTXSIM_ASYNC, "there is no initialised mbarrier at shared 0x%llx",
                     (unsigned long long)at);
        return NULL;
    }
    return is_after_init(warp, insn, lane, m) ? m : NULL;
}

bool sim_mbarrier_find(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask, bool far,
                       struct sim_mbarrier *found[SIM_LANES]) {
    uint64_t address[SIM_LANES];
    sim_addresses(warp, insn, address);
    SIM_EACH_LANE(l) {
        if (!SIM_ACTIVE(mask, l)) continue;
        struct sim_block *owner = sim_shared_owner(warp, insn, l, far, &address[l]);
        found[l] = owner ? sim_mbarrier_at(warp, owner, insn, l, address[l]) : NULL;
        if (!found[l]) return false;
    }
    return true;
}

uint32_t sim_mbarrier_lanes(struct sim_mbarrier *const found[SIM_LANES], uint32_t mask, int lane) {
    uint32_t same = 0;
    SIM_EACH_LANE(l) if (SIM_ACTIVE(mask, l) && found[l] == found[lane]) same |= 1u << l;
    return same;
}

/* Whether LANE is ordered after what M's block did at WHEN, if that was. */
static bool is_after(const struct sim_warp *warp, int lane, const struct sim_mbarrier *m,
                     const struct sim_moment *when) {
    return when->insn && sim_race_ordered_in(warp, m->owner, lane, when->thread, when->clock);
}

bool sim_mbarrier_is_fenced(struct sim_warp *warp, const struct sim_insn *insn, int lane,
                            const struct sim_mbarrier *m) {
    if (is_after(warp, lane, m, &m->fence) || is_after(warp, lane, m, &m->proxied) || is_after_fence(warp, m))
        return true;
    if (m->owner == warp->block &&
        sim_view_holds(warp, lane, SIM_PROXY_ASYNC_SHARED, m->init.thread, m->init.clock))
        return true;
    sim_fault_at(warp, insn, lane, PTXSIM_ASYNC,
                 "a copy signals the mbarrier that line %d initialised, and no fence.mbarrier_init or "
                 "fence.proxy.async in between tells the async proxy of it",
                 m->init.insn->line);
    return false;
}

/* -- Phases ---------------------------------------------------------------------------------------------- */

static void wake(struct sim_block *block) {
    for (int i = 0; i < block->warp_count; i++)
        if (block->warps[i].barrier == SIM_STALLED) block->warps[i].barrier = SIM_NOT_WAITING;
}

/* ISA, "mbarrier: phase completion": no arrivals and no bytes are pending. */
static void complete_phases(struct sim_mbarrier *m) {
    struct sim_block *block = m->owner;
    block->async->changes++;
    if (m->pending || m->bytes) return;
    int index = sim_mbarrier_index(m);
    m->phase++;
    m->pending = m->expected;
    sim_view_join(&m->completed, &m->arriving);
    m->completed.by[SIM_PROXY_GENERIC].phases[index] = m->phase;
    m->arriving = (struct sim_view){0};
    sim_copy_end_loads(block->async, m, m->phase - 1);
    wake(block);
}

bool sim_mbarrier_expect(struct sim_warp *warp, const struct sim_insn *insn, int lane, struct sim_mbarrier *m,
                         int64_t bytes) {
    m->bytes += bytes;
    if (m->bytes > MAX_COUNT || m->bytes < -MAX_COUNT) {
        sim_fault_at(warp, insn, lane, PTXSIM_ASYNC,
                     "the mbarrier's bytes pending become %lld: past 2^20 - 1", (long long)m->bytes);
        return false;
    }
    complete_phases(m);
    return true;
}

bool sim_mbarrier_arrive(struct sim_warp *warp, const struct sim_insn *insn, int lane, struct sim_mbarrier *m,
                         uint32_t count) {
    if (count == 0 || count > m->pending) {
        sim_fault_at(warp, insn, lane, PTXSIM_ASYNC,
                     "arrives %u times at the mbarrier at 0x%x, whose phase still awaits %u", count, m->at,
                     m->pending);
        return false;
    }
    m->pending -= count;
    complete_phases(m);
    return true;
}

/* -- Life ------------------------------------------------------------------------------------------------ */

/* An object made anew where one was before counts phases on, so that what threads know of the old one stays
   below. */
static struct sim_mbarrier *new_object(struct sim_warp *warp, const struct sim_insn *insn, int lane,
                                       uint64_t at) {
    struct sim_async *async = warp->block->async;
    for (int i = 0; i < async->mbarrier_count; i++)
        if (async->mbarrier[i].at == at) return &async->mbarrier[i];
    if (async->mbarrier_count < SIM_MAX_MBARRIERS) return &async->mbarrier[async->mbarrier_count++];
    sim_fault_at(warp, insn, lane, PTXSIM_LIMIT, "more than %d mbarriers in a block", SIM_MAX_MBARRIERS);
    return NULL;
}

static void init(struct sim_warp *warp, const struct sim_insn *insn, int lane, uint64_t at, uint32_t count) {
    struct sim_async *async = warp->block->async;
    if (count == 0 || count > MAX_COUNT) {
        sim_fault_at(warp, insn, lane, PTXSIM_ASYNC,
                     "an mbarrier for %u arrivals: 1 to 2^20 - 1 are possible", count);
        return;
    }
    if (!is_placed(warp, insn, lane, at)) return;
    if (!sim_access_space(warp, insn, lane, SIM_SHARED, at, SIM_MBARRIER_BYTES, SIM_WRITE)) return;
    struct sim_mbarrier *m = new_object(warp, insn, lane, at);
    uint32_t tag = m ? sim_copy_new(warp, warp->block, insn, lane, SIM_COPY_MBARRIER, 0) : 0;
    if (!tag) return;
    uint32_t first = m->init.insn ? m->phase + 1 : 0;
    sim_copy_end_loads(async, m, first);
    *m = (struct sim_mbarrier){.owner = warp->block,
                               .live = true,
                               .at = (uint32_t)at,
                               .expected = count,
                               .pending = count,
                               .first = first,
                               .phase = first,
                               .tag = tag,
                               .init = now(warp, insn, lane)};
    async->copies[tag].mbarrier = sim_mbarrier_index(m);
    sim_async_hold(async, at, SIM_MBARRIER_BYTES, tag);
}

/* Whether no copy is on its way that will tell M. */
static bool is_left_alone(struct sim_warp *warp, const struct sim_insn *insn, int lane,
                          const struct sim_mbarrier *m) {
    const struct sim_async *async = m->owner->async;
    for (uint32_t i = 1; i < async->copy_count; i++) {
        const struct sim_copy *copy = &async->copies[i];
        const bool tells = copy->kind == SIM_COPY_LOAD || copy->kind == SIM_COPY_ARRIVAL;
        if (!tells || copy->landed || copy->mbarrier != sim_mbarrier_index(m)) continue;
        sim_fault_at(warp, insn, lane, PTXSIM_ASYNC,
                     "the copy of line %d has yet to tell the mbarrier at 0x%x", copy->insn->line, m->at);
        return false;
    }
    return true;
}

static void invalidate(struct sim_warp *warp, const struct sim_insn *insn, int lane, uint64_t at) {
    struct sim_block *block = warp->block;
    struct sim_mbarrier *m = sim_mbarrier_at(warp, block, insn, lane, at);
    if (!m || !is_left_alone(warp, insn, lane, m)) return;
    for (int i = 0; i < block->warp_count; i++) {
        if (block->warps[i].barrier != SIM_STALLED) continue;
        if (block->async->stall[i].mbarrier != sim_mbarrier_index(m)) continue;
        sim_fault_at(warp, insn, lane, PTXSIM_ASYNC, "the mbarrier at 0x%x is waited for in line %d", m->at,
                     block->async->stall[i].insn->line);
        return;
    }
    sim_async_let_go(block->async, at, SIM_MBARRIER_BYTES, m->tag);
    m->live = false;
    unsigned char *shadow = &block->shared_shadow[at / SIM_MBARRIER_BYTES]; /* a bit a byte */
    *shadow = 0;
    if (block->launch->races) sim_race_shared(warp, block, insn, lane, at, SIM_MBARRIER_BYTES, SIM_WRITE);
}

void sim_mbarrier_init(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask) {
    uint64_t address[SIM_LANES];
    sim_addresses(warp, insn, address);
    SIM_EACH_LANE(l)
    if (SIM_ACTIVE(mask, l) && sim_shared_owner(warp, insn, l, false, &address[l]))
        init(warp, insn, l, address[l], sim_lane_u32(warp, &insn->value[0], l));
    warp->block->request.mask = 0;
}

void sim_mbarrier_inval(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask) {
    uint64_t address[SIM_LANES];
    sim_addresses(warp, insn, address);
    SIM_EACH_LANE(l)
    if (SIM_ACTIVE(mask, l) && sim_shared_owner(warp, insn, l, false, &address[l]))
        invalidate(warp, insn, l, address[l]);
}

/* A fence of initialisations that threads in MASK made themselves. */
static void fence_inits(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask, bool proxy) {
    struct sim_async *async = warp->block->async;
    for (int i = 0; i < async->mbarrier_count; i++) {
        struct sim_mbarrier *m = &async->mbarrier[i];
        struct sim_moment *when = proxy ? &m->proxied : &m->fence;
        unsigned lane = m->init.thread % SIM_LANES;
        bool mine = m->live && m->init.thread / SIM_LANES == (unsigned)warp->index && SIM_ACTIVE(mask, lane);
        if (mine && !when->insn) *when = now(warp, insn, (int)lane);
    }
}

void sim_fence_mbarrier_init(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask) {
    fence_inits(warp, insn, mask, false);
}

void sim_mbarrier_fence_proxy(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask) {
    fence_inits(warp, insn, mask, true);
}
