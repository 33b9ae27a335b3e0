#include "async.h"

static struct sim_warp_view *view_of_warp(const struct sim_warp *warp) {
    return &warp->block->async->view[warp->index];
}

/* What LANE knows. */
static const struct sim_view *view_of(const struct sim_warp *warp, int lane) {
    const struct sim_warp_view *v = view_of_warp(warp);
    return SIM_ACTIVE(v->own, lane) ? &v->lane[lane] : &v->common;
}

/* The same, to be changed for this lane alone. */
static struct sim_view *own_view(const struct sim_warp *warp, int lane) {
    struct sim_warp_view *v = view_of_warp(warp);
    if (!SIM_ACTIVE(v->own, lane)) v->lane[lane] = v->common;
    v->own |= 1u << lane;
    return &v->lane[lane];
}

static void raise(uint32_t *to, uint32_t from) {
    if (*to < from) *to = from;
}

void sim_blocks_join(struct sim_blocks *to, const struct sim_blocks *from) {
    if (from->first == 0) return;
    if (to->first == 0 || from->first < to->first) to->first = from->first;
    raise(&to->last, from->last);
}

void sim_known_join(struct sim_known *to, const struct sim_known *from) {
    for (int i = 0; i < SIM_MAX_WARPS; i++) {
        raise(&to->all[i], from->all[i]);
        raise(&to->some[i], from->some[i]);
        to->lanes[i] |= from->lanes[i];
    }
    for (int i = 0; i < SIM_MAX_MBARRIERS; i++) raise(&to->phases[i], from->phases[i]);
    sim_blocks_join(&to->blocks, &from->blocks);
}

static void join_far(struct sim_far *to, const struct sim_far *from) {
    if (!from->any) return;
    to->any = true;
    for (int rank = 0; rank < SIM_MAX_CLUSTER; rank++) {
        for (int i = 0; i < SIM_MAX_WARPS; i++) raise(&to->seen[rank][i], from->seen[rank][i]);
        for (int i = 0; i < SIM_MAX_MBARRIERS; i++) raise(&to->phases[rank][i], from->phases[rank][i]);
    }
}

void sim_view_join(struct sim_view *to, const struct sim_view *from) {
    for (int i = 0; i < SIM_PROXIES; i++) sim_known_join(&to->by[i], &from->by[i]);
    join_far(&to->far, &from->far);
}

/* Joins what the lanes in MASK know, each by itself. */
static void join_lanes(const struct sim_warp *warp, uint32_t mask, struct sim_view *to) {
    const struct sim_warp_view *v = view_of_warp(warp);
    if (mask & ~v->own) sim_view_join(to, &v->common);
    for (uint32_t left = mask & v->own; left; left &= left - 1)
        sim_view_join(to, &v->lane[__builtin_ctz(left)]);
}

/* The lanes whose accesses up to now come before what LANE does next. */
static uint32_t lanes_before(const struct sim_clock *c, int lane) {
    uint32_t mask = 1u << lane;
    if (!c->partial) return mask;
    SIM_EACH_LANE(of) if (c->synced[lane][of] > c->floor) mask |= 1u << of;
    return mask;
}

/* What the warp's clock knows, as the lanes in MASK leave it. */
static void join_clock(const struct sim_warp *warp, uint32_t mask, struct sim_known *to) {
    const struct sim_clock *c = &warp->clock;
    int me = warp->index;
    for (int i = 0; i < warp->block->warp_count; i++) raise(&to->all[i], c->seen[i]);
    raise(&to->all[me], mask == warp->alive ? c->now : c->floor);
    if (mask == warp->alive) return;
    for (uint32_t left = mask; left; left &= left - 1) to->lanes[me] |= lanes_before(c, __builtin_ctz(left));
    raise(&to->some[me], c->now);
}

void sim_view_release(struct sim_warp *warp, uint32_t mask, struct sim_view *into) {
    join_lanes(warp, mask, into);
    join_clock(warp, mask, &into->by[SIM_PROXY_GENERIC]);
    warp->clock.now++;
}

void sim_view_release_to(struct sim_warp *warp, uint32_t mask, const struct sim_block *owner,
                         struct sim_view *into) {
    if (owner == warp->block) {
        sim_view_release(warp, mask, into);
        return;
    }
    struct sim_view mine = {0};
    sim_view_release(warp, mask, &mine);
    const struct sim_known *known = &mine.by[SIM_PROXY_GENERIC];
    for (int i = 0; i < SIM_MAX_WARPS; i++) {
        raise(&into->by[SIM_PROXY_GENERIC].all[i], mine.far.seen[owner->rank][i]);
        raise(&mine.far.seen[warp->block->rank][i], known->all[i]);
        raise(&mine.far.seen[warp->block->rank][i], known->some[i]);
    }
    for (int i = 0; i < SIM_MAX_MBARRIERS; i++) {
        raise(&into->by[SIM_PROXY_GENERIC].phases[i], mine.far.phases[owner->rank][i]);
        raise(&mine.far.phases[warp->block->rank][i], known->phases[i]);
    }
    mine.far.any = true;
    join_far(&into->far, &mine.far);
    sim_blocks_join(&into->by[SIM_PROXY_GENERIC].blocks, &known->blocks);
}

/* What the whole warp knows goes into its clock, where it is found faster. */
static void to_clock(struct sim_warp *warp, const struct sim_known *known) {
    struct sim_clock *c = &warp->clock;
    for (int i = 0; i < warp->block->warp_count; i++)
        if (i != warp->index) raise(&c->seen[i], known->all[i]);
    raise(&c->floor, known->all[warp->index]);
}

void sim_view_acquire(struct sim_warp *warp, uint32_t mask, const struct sim_view *from) {
    struct sim_warp_view *v = view_of_warp(warp);
    if (mask == warp->alive) {
        sim_view_join(&v->common, from);
        to_clock(warp, &from->by[SIM_PROXY_GENERIC]);
        mask = v->own;
    }
    for (uint32_t left = mask; left; left &= left - 1)
        sim_view_join(own_view(warp, __builtin_ctz(left)), from);
}

void sim_view_warp_sync(struct sim_warp *warp, uint32_t mask) {
    struct sim_warp_view *v = view_of_warp(warp);
    if (v->own == 0) return;
    struct sim_view all = {0};
    join_lanes(warp, mask, &all);
    if (mask == warp->alive) {
        v->own = 0;
        sim_view_join(&v->common, &all);
        to_clock(warp, &all.by[SIM_PROXY_GENERIC]);
        return;
    }
    for (uint32_t left = mask; left; left &= left - 1) *own_view(warp, __builtin_ctz(left)) = all;
}

void sim_view_gather(const struct sim_warp *warp, struct sim_view *into) {
    join_lanes(warp, warp->alive, into);
}

void sim_view_arrive(struct sim_warp *warp, int id, bool first, bool waits) {
    struct sim_view *barrier = &warp->block->async->barrier[id];
    if (first) *barrier = (struct sim_view){0};
    sim_view_gather(warp, barrier);
    if (waits) sim_view_warp_sync(warp, warp->alive);
    warp->block->async->changes++;
}

void sim_view_leave(struct sim_warp *warp, int id) {
    sim_view_acquire(warp, warp->alive, &warp->block->async->barrier[id]);
}

/* What LANE, fencing together with the others in MASK, makes known to the async proxy. */
static struct sim_known fenced_by(const struct sim_warp *warp, int lane, uint32_t mask) {
    struct sim_known known = view_of(warp, lane)->by[SIM_PROXY_GENERIC];
    join_clock(warp, mask == warp->alive ? mask : 1u << lane, &known);
    return known;
}

void sim_view_fence(struct sim_warp *warp, uint32_t mask, bool shared, bool global) {
    struct sim_warp_view *v = view_of_warp(warp);
    if (mask == warp->alive) {
        struct sim_known known = v->common.by[SIM_PROXY_GENERIC];
        join_clock(warp, mask, &known);
        if (shared) sim_known_join(&v->common.by[SIM_PROXY_ASYNC_SHARED], &known);
        if (global) sim_known_join(&v->common.by[SIM_PROXY_ASYNC_GLOBAL], &known);
    }
    for (uint32_t left = mask == warp->alive ? v->own : mask; left; left &= left - 1) {
        int lane = __builtin_ctz(left);
        struct sim_known known = fenced_by(warp, lane, mask);
        if (shared) sim_known_join(&own_view(warp, lane)->by[SIM_PROXY_ASYNC_SHARED], &known);
        if (global) sim_known_join(&own_view(warp, lane)->by[SIM_PROXY_ASYNC_GLOBAL], &known);
    }
    warp->clock.now++;
}

bool sim_known_holds(const struct sim_known *known, unsigned thread, uint32_t clock) {
    unsigned warp = thread / SIM_LANES, lane = thread % SIM_LANES;
    return clock <= known->all[warp] || (SIM_ACTIVE(known->lanes[warp], lane) && clock <= known->some[warp]);
}

bool sim_view_holds(const struct sim_warp *warp, int lane, enum sim_proxy proxy, unsigned thread,
                    uint32_t clock) {
    return sim_known_holds(&view_of(warp, lane)->by[proxy], thread, clock);
}

bool sim_view_holds_some(const struct sim_warp *warp, int lane, int other, uint32_t clock) {
    const struct sim_known *known = &view_of(warp, lane)->by[SIM_PROXY_GENERIC];
    return clock <= known->all[other] || clock <= known->some[other];
}

const struct sim_blocks *sim_view_blocks(const struct sim_warp *warp, int lane) {
    return &view_of(warp, lane)->by[SIM_PROXY_GENERIC].blocks;
}

uint32_t sim_view_far(const struct sim_warp *warp, int lane, unsigned rank, unsigned of) {
    return view_of(warp, lane)->far.seen[rank][of];
}

uint32_t sim_view_far_phases(const struct sim_warp *warp, int lane, unsigned rank, int mbarrier) {
    return view_of(warp, lane)->far.phases[rank][mbarrier];
}

uint32_t sim_view_most_far(const struct sim_warp *warp, unsigned rank, int of) {
    const struct sim_warp_view *v = view_of_warp(warp);
    uint32_t most = v->common.far.seen[rank][of];
    for (uint32_t left = v->own; left; left &= left - 1)
        raise(&most, v->lane[__builtin_ctz(left)].far.seen[rank][of]);
    return most;
}

uint32_t sim_view_phases(const struct sim_warp *warp, int lane, int mbarrier) {
    return view_of(warp, lane)->by[SIM_PROXY_GENERIC].phases[mbarrier];
}
