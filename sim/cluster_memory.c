/* The shared memory of a cluster's other blocks: whose it is, and whether it is there. */
#include "cluster.h"
#include "lanes.h"

/* -- Faults ------------------------------------------------------------------------------------------- */

static ptxsim_dim3 thread_of(const struct sim_visit *v, const struct sim_launch *launch) {
    return sim_index_of((unsigned)(v->warp * SIM_LANES + v->lane), launch->block);
}

/* A block ended and another used its memory, and neither is ordered after the other. EARLIER, of block BY,
   came first. */
static void fault_lifetime(struct sim_warp *warp, const struct sim_insn *insn, int lane, ptxsim_race race,
                           const struct sim_visit *earlier, const struct sim_block *by, const char *what) {
    ptxsim_fault *fault = &warp->block->fault;
    ptxsim_dim3 i = by->index, t = thread_of(earlier, by->launch);
    if (fault->status != PTXSIM_OK) return;
    fault->race = race;
    fault->address = earlier->at;
    fault->other = (ptxsim_side){earlier->insn->line, i, t};
    sim_fault_at(warp, insn, lane, PTXSIM_RACE, "%s: line %d, block (%u,%u,%u), thread (%u,%u,%u)", what,
                 earlier->insn->line, i.x, i.y, i.z, t.x, t.y, t.z);
}

/* -- Access ------------------------------------------------------------------------------------------- */

static bool has_started(struct sim_warp *warp, const struct sim_insn *insn, int lane,
                        const struct sim_block *owner) {
    ptxsim_dim3 i = owner->index;
    if (sim_cluster_warp_of(warp)->waited > 0) return true;
    sim_fault_at(warp, insn, lane, PTXSIM_BARRIER,
                 "accesses the shared memory of block (%u,%u,%u), which may not have started: the warp has "
                 "waited at no barrier of the cluster",
                 i.x, i.y, i.z);
    return false;
}

/* The end of a block is as a write to all of its memory. */
static bool has_not_ended(struct sim_warp *warp, const struct sim_insn *insn, int lane,
                          const struct sim_block *owner, uint64_t at, enum sim_access access) {
    struct sim_visit end = warp->block->cluster->state->end[owner->rank];
    if (!end.insn) return true;
    end.at = at;
    fault_lifetime(warp, insn, lane, access == SIM_READ ? PTXSIM_WRITE_READ : PTXSIM_WRITE_WRITE, &end, owner,
                   "accesses the shared memory of a block all of whose threads have exited");
    return false;
}

struct sim_block *sim_cluster_owner(struct sim_warp *warp, const struct sim_insn *insn, int lane,
                                    uint64_t *address, enum sim_access access) {
    struct sim_block *block = warp->block;
    const struct sim_cluster *c = block->cluster;
    uint64_t above = *address >> SIM_RANK_AT, at = *address & ((1u << SIM_RANK_AT) - 1);
    if (above == 0) return block;
    if (above > c->count) {
        sim_fault_at(warp, insn, lane, PTXSIM_BOUNDS,
                     "0x%llx is no address in .shared::cluster: the cluster has %u blocks",
                     (unsigned long long)*address, c->count);
        return NULL;
    }
    struct sim_block *owner = c->block[above - 1];
    *address = at;
    if (owner == block) return block;
    if (!has_started(warp, insn, lane, owner) || !has_not_ended(warp, insn, lane, owner, at, access))
        return NULL;
    c->state->visit[owner->rank][block->rank][warp->index] =
        (struct sim_visit){insn, warp->index, lane, warp->clock.now, at, access};
    return owner;
}

struct sim_block *sim_cluster_peer(struct sim_warp *warp, const struct sim_insn *insn, int lane, unsigned rank,
                                   uint64_t at) {
    struct sim_cluster *c = warp->block->cluster;
    if (rank >= c->count) {
        sim_fault_at(warp, insn, lane, PTXSIM_BOUNDS, "rank %u of the cluster, which has %u blocks", rank, c->count);
        return NULL;
    }
    struct sim_block *peer = c->block[rank];
    if (peer == warp->block) return peer;
    const bool there = has_started(warp, insn, lane, peer) && has_not_ended(warp, insn, lane, peer, at, SIM_WRITE);
    return there ? peer : NULL;
}

/* -- The end of a block ------------------------------------------------------------------------------- */

/* Up to which clock some warp of BLOCK is ordered after warp INDEX of block RANK. */
static uint32_t known_to(const struct sim_block *block, unsigned rank, int index) {
    uint32_t most = 0;
    for (int i = 0; i < block->warp_count; i++) {
        uint32_t seen = block->cluster->state->warp[block->rank][i].seen[rank][index];
        uint32_t far = block->async ? sim_view_most_far(&block->warps[i], rank, index) : 0;
        if (most < seen) most = seen;
        if (most < far) most = far;
    }
    return most;
}

void sim_cluster_end_block(struct sim_warp *warp, int lane) {
    const struct sim_block *block = warp->block;
    struct sim_cluster *c = block->cluster;
    const struct sim_insn *insn = &c->launch->function->code[warp->pc];
    c->state->end[block->rank] = (struct sim_visit){insn, warp->index, lane, 0, 0, SIM_WRITE};
    for (unsigned r = 0; r < c->count; r++)
        for (int i = 0; i < block->warp_count; i++) {
            const struct sim_visit *v = &c->state->visit[block->rank][r][i];
            if (!v->insn || v->clock <= known_to(block, r, i)) continue;
            fault_lifetime(warp, insn, lane, v->access == SIM_READ ? PTXSIM_READ_WRITE : PTXSIM_WRITE_WRITE,
                           v, c->block[r],
                           "the block ends, and nothing orders this after an access to its shared memory");
            return;
        }
}

/* -- mapa --------------------------------------------------------------------------------------------- */

static bool can_map(struct sim_warp *warp, const struct sim_insn *insn, int lane, uint64_t at,
                    uint32_t rank) {
    unsigned blocks = warp->block->cluster->count;
    if (rank >= blocks)
        sim_fault_at(warp, insn, lane, PTXSIM_BOUNDS, "maps to rank %u of the cluster, which has %u blocks",
                     rank, blocks);
    else if (at >> SIM_RANK_AT)
        sim_fault_at(warp, insn, lane, PTXSIM_BOUNDS,
                     "maps an address that is not in the block's own shared memory");
    else return true;
    return false;
}

/* Of addresses of type T; the block's own shared memory begins at BASE. */
#define MAPA(name, T, BASE)                                                                                  \
    static void name(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask) {                    \
        const T *from = sim_source(warp, &insn->value[1]);                                                   \
        T result[SIM_LANES] = {0};                                                                           \
        SIM_EACH_LANE(l) {                                                                                   \
            uint32_t rank = sim_lane_u32(warp, &insn->value[2], l);                                          \
            if (!SIM_ACTIVE(mask, l)) continue;                                                              \
            if (!can_map(warp, insn, l, from[l] - (T)(BASE), rank)) return;                                  \
            result[l] = (T)(from[l] + ((T)(rank + 1) << SIM_RANK_AT));                                       \
        }                                                                                                    \
        sim_put(warp, &insn->value[0], result, sizeof *result, mask);                                        \
    }

MAPA(map_u32, uint32_t, 0)
MAPA(map_u64, uint64_t, 0)
MAPA(map_generic, uint64_t, SIM_SHARED_WINDOW)
sim_exec *const sim_mapa[SIM_TYPE_COUNT] = {[SIM_u32] = map_u32, [SIM_u64] = map_u64};
sim_exec *const sim_mapa_generic[SIM_TYPE_COUNT] = {[SIM_u64] = map_generic};
