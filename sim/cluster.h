/* A cluster of thread blocks while it runs (ISA, "Cluster of Cooperative Thread Arrays", "barrier.cluster",
 * "mapa"). A worker has one, whose blocks run by turns. Blocks of a kernel without .reqnctapercluster are
 * clusters of one block each. */
#ifndef SIM_CLUSTER_H
#define SIM_CLUSTER_H

#include "async.h"
#include "order.h"
#include "readers.h"

/* In sim_warp.barrier: the warp waits for the barrier of the cluster. */
enum { SIM_AT_CLUSTER = -3 };

/* The phases of the barrier that some warp may still ask about: the one that gathers arrivals, the last that
   is complete, and the one before, of warps that have yet to wait for the last. */
enum { SIM_CLUSTER_PHASES = 3 };

/* A phase of the barrier. */
struct sim_cluster_phase {
    uint32_t seen[SIM_MAX_CLUSTER][SIM_MAX_WARPS]; /* by rank and warp: what was released up to which clock */
    /* the same of mbarriers that fence.mbarrier_init made known, which a relaxed arrival passes on */
    uint32_t inits[SIM_MAX_CLUSTER][SIM_MAX_WARPS];
    struct sim_view view[SIM_MAX_CLUSTER]; /* by rank: what its warps knew; only where blocks have a view */
};

struct sim_cluster_warp {
    uint32_t arrived, waited; /* phases of the barrier that it has arrived at, and has waited for */
    uint32_t
        fenced; /* the clock at its last fence with the cluster's scope: a relaxed arrival releases that */
    uint32_t seen[SIM_MAX_CLUSTER][SIM_MAX_WARPS];  /* as sim_clock.seen, of the cluster's other blocks */
    uint32_t inits[SIM_MAX_CLUSTER][SIM_MAX_WARPS]; /* as sim_cluster_phase.inits, of all blocks */
};

/* The last access of a warp to another block's shared memory, or the exit of a block's last warp. */
struct sim_visit {
    const struct sim_insn *insn; /* NULL: none */
    int warp, lane;
    uint32_t clock;
    uint64_t at;
    enum sim_access access;
};

struct sim_cluster_state {
    uint32_t phases;        /* complete ones */
    unsigned live, awaited; /* warps that have not exited; of these, those that have not arrived */
    struct sim_cluster_phase phase[SIM_CLUSTER_PHASES];           /* phase i at i % SIM_CLUSTER_PHASES */
    struct sim_cluster_warp warp[SIM_MAX_CLUSTER][SIM_MAX_WARPS]; /* by rank and warp */
    struct sim_visit visit[SIM_MAX_CLUSTER][SIM_MAX_CLUSTER][SIM_MAX_WARPS]; /* by owner, rank and warp */
    struct sim_visit end[SIM_MAX_CLUSTER];                                   /* by rank */
};

struct sim_cluster {
    const struct sim_launch *launch;
    unsigned count;
    struct sim_block *block[SIM_MAX_CLUSTER]; /* by rank */
    uint32_t generation;                      /* clusters that ran here */
    sim_record first_shared_id;               /* the shared_id of rank 0; ranks count on */
    uint64_t random;
    struct sim_reader_pool readers;
    struct sim_messages messages;
    struct sim_cluster_state *state; /* NULL unless launch->clustered */
};

/* -- cluster.c: the blocks run ------------------------------------------------------------------------ */

/* NULL: out of memory. */
struct sim_cluster *sim_cluster_new(const struct sim_launch *launch);
void sim_cluster_free(struct sim_cluster *cluster);
bool sim_cluster_has_faulted(const struct sim_cluster *cluster);
/* Runs cluster INDEX of the grid to its end or to a fault (then false). */
bool sim_cluster_run(struct sim_cluster *cluster, ptxsim_dim3 index);

/* -- cluster_memory.c: the shared memory of the others ------------------------------------------------ */

/* The block in whose shared memory a .shared::cluster address lies; *ADDRESS becomes the address there. NULL
   after a fault: no such block, or one that may not have started or may have ended. */
struct sim_block *sim_cluster_owner(struct sim_warp *warp, const struct sim_insn *insn, int lane,
                                    uint64_t *address, enum sim_access access);
/* The block of a rank, if it may have started and cannot have ended when LANE accesses AT there; NULL after
   a fault. Unlike above, the block's end need not be ordered after the access: what a copy brings, the
   block waits for. */
struct sim_block *sim_cluster_peer(struct sim_warp *warp, const struct sim_insn *insn, int lane,
                                   unsigned rank, uint64_t at);
/* Called when LANE of WARP was the last thread of a block to exit: what others did to the block's memory must
   be ordered before. */
void sim_cluster_end_block(struct sim_warp *warp, int lane);

/* -- cluster_barrier.c: barrier.cluster --------------------------------------------------------------- */

void sim_cluster_barrier_start(struct sim_cluster *cluster);
/* LANE was the last one of WARP to exit: the barrier waits for it no more. */
void sim_cluster_exit(struct sim_warp *warp, int lane);
/* How many phases of an mbarrier of OWNER are known to WARP, of another block, to have completed. */
uint32_t sim_cluster_phases(const struct sim_warp *warp, const struct sim_block *owner, int mbarrier);

static inline struct sim_cluster_warp *sim_cluster_warp_of(const struct sim_warp *warp) {
    return &warp->block->cluster->state->warp[warp->block->rank][warp->index];
}

/* The rank of the block that has a number in shared or in global records (race.h); -1: not of this cluster,
   or not of the one that runs now. */
static inline int sim_cluster_rank(const struct sim_cluster *cluster, sim_record number, bool shared) {
    if (shared) {
        sim_record rank = number - cluster->first_shared_id;
        return rank < cluster->count ? (int)rank : -1;
    }
    for (unsigned i = 0; i < cluster->count; i++)
        if (cluster->block[i]->global_id == number) return (int)i;
    return -1;
}

#endif
