/* The barrier of a cluster (ISA, "barrier.cluster"), and what it orders. */
#include "cluster.h"

static struct sim_cluster_phase *phase_at(struct sim_cluster_state *state, uint32_t number) {
    return &state->phase[number % SIM_CLUSTER_PHASES];
}

static void clear_phase(const struct sim_cluster *c, struct sim_cluster_phase *phase) {
    memset(phase->seen, 0, sizeof *phase->seen * c->count);
    memset(phase->inits, 0, sizeof *phase->inits * c->count);
    if (c->launch->async) memset(phase->view, 0, sizeof *phase->view * c->count);
}

static void start_warp(struct sim_cluster_warp *warp, unsigned blocks) {
    warp->arrived = warp->waited = warp->fenced = 0;
    memset(warp->seen, 0, sizeof *warp->seen * blocks);
    memset(warp->inits, 0, sizeof *warp->inits * blocks);
}

void sim_cluster_barrier_start(struct sim_cluster *c) {
    struct sim_cluster_state *state = c->state;
    int warps = c->block[0]->warp_count;
    state->phases = 0;
    state->live = state->awaited = c->count * (unsigned)warps;
    clear_phase(c, phase_at(state, 0));
    memset(state->end, 0, sizeof state->end);
    for (unsigned i = 0; i < c->count; i++) {
        for (int w = 0; w < warps; w++) start_warp(&state->warp[i][w], c->count);
        for (unsigned of = 0; of < c->count; of++)
            memset(state->visit[i][of], 0, sizeof *state->visit[i][of] * (size_t)warps);
    }
}

/* -- Knowledge ---------------------------------------------------------------------------------------- */

static void raise(uint32_t *to, const uint32_t *from, int count) {
    for (int i = 0; i < count; i++)
        if (to[i] < from[i]) to[i] = from[i];
}

/* What WARP did up to CLOCK and what it is ordered after goes into the phase. */
static void release(struct sim_warp *warp, uint32_t clock, struct sim_cluster_phase *phase) {
    const struct sim_block *block = warp->block;
    const struct sim_cluster_warp *of = sim_cluster_warp_of(warp);
    for (unsigned r = 0; r < block->cluster->count; r++)
        raise(phase->seen[r], r == block->rank ? warp->clock.seen : of->seen[r], block->warp_count);
    phase->seen[block->rank][warp->index] = clock;
    if (block->async) sim_view_gather(warp, &phase->view[block->rank]);
    warp->clock.now++;
}

/* A fence and a relaxed arrival behind it are a release pattern. What was learned in between is taken for
   known before the fence. */
static void release_fenced(struct sim_warp *warp, struct sim_cluster_phase *phase) {
    const uint32_t fenced = sim_cluster_warp_of(warp)->fenced;
    phase->inits[warp->block->rank][warp->index] = warp->clock.now;
    if (fenced) release(warp, fenced, phase);
    else warp->clock.now++;
}

/* The phase of WARP's last arrival is complete, and it goes on. */
static void acquire(struct sim_warp *warp) {
    const struct sim_block *block = warp->block;
    struct sim_cluster_warp *to = sim_cluster_warp_of(warp);
    const struct sim_cluster_phase *phase = phase_at(block->cluster->state, to->waited++);
    uint32_t mine = phase->seen[block->rank][warp->index];
    for (unsigned r = 0; r < block->cluster->count; r++) {
        raise(r == block->rank ? warp->clock.seen : to->seen[r], phase->seen[r], block->warp_count);
        raise(to->inits[r], phase->inits[r], block->warp_count);
    }
    if (warp->clock.floor < mine) warp->clock.floor = mine;
    if (block->async) sim_view_acquire(warp, warp->alive, &phase->view[block->rank]);
    warp->barrier = SIM_NOT_WAITING;
}

uint32_t sim_cluster_phases(const struct sim_warp *warp, const struct sim_block *owner, int mbarrier) {
    struct sim_cluster_state *state = owner->cluster->state;
    uint32_t waited = sim_cluster_warp_of(warp)->waited;
    if (waited == 0) return 0;
    const struct sim_view *view = &phase_at(state, waited - 1)->view[owner->rank];
    return view->by[SIM_PROXY_GENERIC].phases[mbarrier];
}

/* -- Phases ------------------------------------------------------------------------------------------- */

/* What the blocks know of each other, and what each released, all know from here on. */
static void share_far(const struct sim_cluster *c, struct sim_cluster_phase *phase) {
    const int warps = c->block[0]->warp_count;
    if (c->count == 1) return;
    for (unsigned r = 0; r < c->count; r++)
        for (unsigned i = 0; i < c->count; i++) raise(phase->seen[r], phase->view[i].far.seen[r], warps);
    for (unsigned i = 0; i < c->count; i++) {
        phase->view[i].far.any = true;
        for (unsigned r = 0; r < c->count; r++) {
            raise(phase->view[i].far.seen[r], phase->seen[r], warps);
            raise(phase->view[i].far.phases[r], phase->view[r].by[SIM_PROXY_GENERIC].phases,
                  SIM_MAX_MBARRIERS);
        }
    }
}

/* What an earlier phase made known of mbarriers stays known. What one block knows of other clusters, all
   blocks of its cluster know from here on. */
static void join_views(struct sim_cluster *c) {
    const struct sim_cluster_phase *before = phase_at(c->state, c->state->phases - 1);
    struct sim_cluster_phase *now = phase_at(c->state, c->state->phases);
    struct sim_blocks others = {0};
    share_far(c, now);
    for (unsigned i = 0; i < c->count; i++) {
        if (c->state->phases > 0) sim_view_join(&now->view[i], &before->view[i]);
        sim_blocks_join(&others, &now->view[i].by[SIM_PROXY_GENERIC].blocks);
    }
    for (unsigned i = 0; i < c->count; i++)
        sim_blocks_join(&now->view[i].by[SIM_PROXY_GENERIC].blocks, &others);
}

static void wake(struct sim_cluster *c) {
    for (unsigned i = 0; i < c->count; i++)
        for (int w = 0; w < c->block[i]->warp_count; w++) {
            struct sim_warp *warp = &c->block[i]->warps[w];
            if (warp->alive && warp->barrier == SIM_AT_CLUSTER) acquire(warp);
        }
}

/* The phase is complete when all warps that have not exited have arrived. */
static void check_phase(struct sim_cluster *c) {
    struct sim_cluster_state *state = c->state;
    if (state->awaited > 0 || state->live == 0) return;
    if (c->launch->async) join_views(c);
    state->phases++;
    state->awaited = state->live;
    clear_phase(c, phase_at(state, state->phases));
    wake(c);
}

void sim_cluster_exit(struct sim_warp *warp, int lane) {
    struct sim_cluster *c = warp->block->cluster;
    c->state->live--;
    if (sim_cluster_warp_of(warp)->arrived == c->state->phases) c->state->awaited--;
    check_phase(c);
    for (int i = 0; i < warp->block->warp_count; i++)
        if (warp->block->warps[i].alive) return;
    sim_cluster_end_block(warp, lane);
}

/* -- The instructions --------------------------------------------------------------------------------- */

void sim_cluster_arrive(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask) {
    struct sim_cluster *c = warp->block->cluster;
    struct sim_cluster_warp *of = sim_cluster_warp_of(warp);
    if (of->arrived > of->waited) {
        sim_fault_at(warp, insn, __builtin_ctz(mask), PTXSIM_BARRIER,
                     "arrives at the barrier of the cluster twice, without a wait in between");
        return;
    }
    if (insn->relaxed) release_fenced(warp, phase_at(c->state, of->arrived));
    else release(warp, warp->clock.now, phase_at(c->state, of->arrived));
    of->arrived++;
    warp->block->counts.barriers++;
    if (warp->block->async) warp->block->async->changes++;
    c->state->awaited--;
    check_phase(c);
}

void sim_cluster_wait(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask) {
    const struct sim_cluster_warp *of = sim_cluster_warp_of(warp);
    if (of->arrived == of->waited) {
        sim_fault_at(warp, insn, __builtin_ctz(mask), PTXSIM_BARRIER,
                     "waits at the barrier of the cluster without having arrived there");
        return;
    }
    warp->barrier_pc = warp->pc;
    if (of->waited < warp->block->cluster->state->phases) acquire(warp);
    else warp->barrier = SIM_AT_CLUSTER;
}
