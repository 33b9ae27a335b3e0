/* Runs the blocks of a cluster by turns. */
#include "cluster.h"

#include <stdlib.h>

/* -- Making one --------------------------------------------------------------------------------------- */

static bool allocate(struct sim_cluster *c) {
    const struct sim_launch *launch = c->launch;
    if (launch->clustered) c->state = calloc(1, sizeof *c->state);
    if (launch->clustered && !c->state) return false;
    if (launch->ordered && !sim_messages_open(&c->messages, launch)) return false;
    for (unsigned i = 0; i < c->count; i++) {
        c->block[i] = sim_block_new(c, i);
        if (!c->block[i]) return false;
    }
    return true;
}

struct sim_cluster *sim_cluster_new(const struct sim_launch *launch) {
    struct sim_cluster *c = calloc(1, sizeof *c);
    if (!c) return NULL;
    c->launch = launch;
    c->count = launch->cluster_blocks;
    c->readers.width = (size_t)c->count * SIM_MAX_WARPS;
    if (allocate(c)) return c;
    sim_cluster_free(c);
    return NULL;
}

void sim_cluster_free(struct sim_cluster *c) {
    if (!c) return;
    for (unsigned i = 0; i < c->count; i++) sim_block_free(c->block[i]);
    sim_readers_free(&c->readers);
    sim_messages_close(&c->messages);
    free(c->state);
    free(c);
}

/* -- Turns -------------------------------------------------------------------------------------------- */

/* Block RANK of cluster INDEX, in the grid (ISA, "%cluster_ctarank": ranks count along x first). */
static ptxsim_dim3 place_of(const struct sim_launch *launch, ptxsim_dim3 index, unsigned rank) {
    ptxsim_dim3 size = launch->cluster, within = sim_index_of(rank, size);
    return (ptxsim_dim3){index.x * size.x + within.x, index.y * size.y + within.y,
                         index.z * size.z + within.z};
}

static void start(struct sim_cluster *c, ptxsim_dim3 index) {
    c->first_shared_id = (sim_record)(c->generation++ % (SIM_BLOCK_NUMBERS / c->count)) * c->count + 1;
    sim_readers_reset(&c->readers);
    for (unsigned i = 0; i < c->count; i++) sim_block_start(c->block[i], place_of(c->launch, index, i));
    c->random = ~c->block[0]->random;
    if (c->state) sim_cluster_barrier_start(c);
}

/* The order in which blocks get their turns is that of a block's warps. */
static struct sim_block *block_at_turn(struct sim_cluster *c, unsigned turn) {
    if (c->count == 1) return c->block[0];
    switch (c->launch->order) {
    case PTXSIM_REVERSED: turn = c->count - 1 - turn; break;
    case PTXSIM_SEEDED: turn = (sim_draw(&c->random) + turn) % c->count; break;
    default: break;
    }
    return c->block[turn];
}

/* The launch's limit is one for all blocks. */
static void set_limit(const struct sim_cluster *c, struct sim_block *block) {
    uint64_t most = c->launch->max_instructions, others = 0;
    for (unsigned i = 0; i < c->count; i++)
        if (c->block[i] != block) others += c->block[i]->counts.warp_instructions;
    block->limit = most > others ? most - others : 0;
}

static bool can_run(const struct sim_cluster *c) {
    for (unsigned i = 0; i < c->count; i++)
        if (sim_block_can_run(c->block[i])) return true;
    return false;
}

/* Runs a block until it waits, or, in seeded schedules, for a while. */
static bool run_block(const struct sim_cluster *c, struct sim_block *block) {
    set_limit(c, block);
    while (sim_block_can_run(block)) {
        if (!sim_block_turn(block)) return false;
        if (c->launch->order == PTXSIM_SEEDED) return true;
    }
    return true;
}

static bool take_turns(struct sim_cluster *c) {
    while (can_run(c))
        for (unsigned turn = 0; turn < c->count; turn++)
            if (!run_block(c, block_at_turn(c, turn))) return false;
    return true;
}

/* -- When nobody can run ------------------------------------------------------------------------------ */

static bool is_stalled(const struct sim_block *block) { return block->async && sim_async_is_stalled(block); }

bool sim_cluster_has_faulted(const struct sim_cluster *c) {
    for (unsigned i = 0; i < c->count; i++)
        if (c->block[i]->fault.status != PTXSIM_OK) return true;
    return false;
}

/* Whether something changed since the last call. */
static bool moves(const struct sim_cluster *c) {
    bool any = false;
    for (unsigned i = 0; i < c->count; i++) {
        struct sim_async *async = c->block[i]->async;
        any |= async->changes != async->changes_seen;
        async->changes_seen = async->changes;
    }
    return any;
}

/* Sets warps going that wait for mbarriers: by copies that land, or, where none is left, by waits that give
   up. False: there are none, or a fault. */
static bool stir(struct sim_cluster *c) {
    bool stalled = false, runs = false;
    for (unsigned i = 0; i < c->count; i++) {
        if (!is_stalled(c->block[i])) continue;
        stalled = true;
        runs |= sim_async_land(c->block[i]);
    }
    if (runs || !stalled || sim_cluster_has_faulted(c)) return runs && !sim_cluster_has_faulted(c);
    bool moving = moves(c);
    for (unsigned i = 0; i < c->count; i++)
        if (is_stalled(c->block[i])) runs |= sim_async_give_up(c->block[i], moving);
    return runs && !sim_cluster_has_faulted(c);
}

/* -- The end ------------------------------------------------------------------------------------------ */

/* A live warp that has not arrived at the barrier. If nobody can run, it waits at a barrier of its block. */
static const struct sim_warp *missing_warp(const struct sim_cluster *c) {
    for (unsigned i = 0; i < c->count; i++)
        for (int w = 0; w < c->block[i]->warp_count; w++)
            if (c->block[i]->warps[w].alive && c->state->warp[i][w].arrived == c->state->phases)
                return &c->block[i]->warps[w];
    return NULL;
}

static void fault_waiting(struct sim_warp *warp) {
    const struct sim_cluster *c = warp->block->cluster;
    const struct sim_insn *code = c->launch->function->code;
    const struct sim_warp *missing = missing_warp(c);
    if (!missing) return;
    ptxsim_dim3 i = missing->block->index;
    sim_fault_at(warp, &code[warp->barrier_pc], __builtin_ctz(warp->alive), PTXSIM_BARRIER,
                 "waits forever at the barrier of the cluster: %u of %u warps arrived; warp %d of block "
                 "(%u,%u,%u), which waits in line %d, did not",
                 c->state->live - c->state->awaited, c->state->live, missing->index, i.x, i.y, i.z,
                 code[missing->barrier_pc].line);
}

static void fault_deadlock(struct sim_cluster *c) {
    for (unsigned i = 0; c->state && i < c->count; i++)
        for (int w = 0; w < c->block[i]->warp_count; w++) {
            struct sim_warp *warp = &c->block[i]->warps[w];
            if (!warp->alive || warp->barrier != SIM_AT_CLUSTER) continue;
            fault_waiting(warp);
            return;
        }
}

static bool finish(struct sim_cluster *c) {
    if (sim_cluster_has_faulted(c)) return false;
    fault_deadlock(c);
    for (unsigned i = 0; i < c->count && !sim_cluster_has_faulted(c); i++) sim_block_finish(c->block[i]);
    return !sim_cluster_has_faulted(c);
}

bool sim_cluster_run(struct sim_cluster *c, ptxsim_dim3 index) {
    start(c, index);
    do {
        if (!take_turns(c)) return false;
    } while (stir(c));
    return finish(c);
}
