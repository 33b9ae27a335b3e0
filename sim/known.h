/* What threads are ordered after where a warp's clock (race.h) does not tell: what an mbarrier's phase
 * carries from those that arrived to those that waited, lane by lane; which phases were seen to complete; and
 * what a proxy fence made known to the async proxy (ISA, "Memory Consistency Model": proxy-preserved base
 * causality order). Kernels without asynchronous instructions have none of this. */
#ifndef SIM_KNOWN_H
#define SIM_KNOWN_H

#include "race.h"

enum { SIM_MAX_MBARRIERS = 64 }; /* of a block */

/* The accesses of threads, by warp: of all lanes up to ALL, of the lanes in LANES up to SOME; and by mbarrier
   how many phases were seen to complete. Where two sets of lanes join, the greater SOME stands for both: more
   than is true, so that no order is missed. */
struct sim_blocks {
    uint32_t first, last; /* block numbers as in records (race.h), from the first to the last; 0: none */
};

struct sim_known {
    uint32_t all[SIM_MAX_WARPS];
    uint32_t lanes[SIM_MAX_WARPS], some[SIM_MAX_WARPS];
    uint32_t phases[SIM_MAX_MBARRIERS];
    struct sim_blocks blocks; /* other blocks: what they released (order.h). Those in between count, too */
};

/* What is known to a thread, and what of it the async proxy sees in shared and in global memory. */
enum sim_proxy { SIM_PROXY_GENERIC, SIM_PROXY_ASYNC_SHARED, SIM_PROXY_ASYNC_GLOBAL, SIM_PROXIES };

/* Of the cluster's other blocks, by rank: their warps' accesses, up to which clock, and how many phases of
   their mbarriers were seen to complete. Of lanes that made something known without the others of their
   warp, the whole warp counts. */
struct sim_far {
    bool any;
    uint32_t seen[SIM_MAX_CLUSTER][SIM_MAX_WARPS];
    uint32_t phases[SIM_MAX_CLUSTER][SIM_MAX_MBARRIERS];
};

struct sim_view {
    struct sim_known by[SIM_PROXIES];
    struct sim_far far;
};

/* What a warp knows: what all its lanes know, and for the lanes in OWN what each of them knows. */
struct sim_warp_view {
    struct sim_view common;
    uint32_t own;
    struct sim_view lane[SIM_LANES];
};

void sim_blocks_join(struct sim_blocks *to, const struct sim_blocks *from);
void sim_known_join(struct sim_known *to, const struct sim_known *from);
/* Whether what THREAD did up to CLOCK is known. */
bool sim_known_holds(const struct sim_known *known, unsigned thread, uint32_t clock);
void sim_view_join(struct sim_view *to, const struct sim_view *from);
/* Lanes in MASK make known to INTO what they did and know. */
void sim_view_release(struct sim_warp *warp, uint32_t mask, struct sim_view *into);
/* The same into a view of another block of the cluster. */
void sim_view_release_to(struct sim_warp *warp, uint32_t mask, const struct sim_block *owner,
                         struct sim_view *into);
/* Lanes in MASK learn FROM. */
void sim_view_acquire(struct sim_warp *warp, uint32_t mask, const struct sim_view *from);
/* bar.warp.sync */
void sim_view_warp_sync(struct sim_warp *warp, uint32_t mask);
/* What all lanes of the warp know goes into INTO; what they did does not. */
void sim_view_gather(const struct sim_warp *warp, struct sim_view *into);
/* Barrier ID: the first to arrive empties it. */
void sim_view_arrive(struct sim_warp *warp, int id, bool first, bool waits);
void sim_view_leave(struct sim_warp *warp, int id);
/* fence.proxy.async for shared memory, global memory or both. */
void sim_view_fence(struct sim_warp *warp, uint32_t mask, bool shared, bool global);

/* Whether what THREAD did up to CLOCK is known to LANE of WARP, or to the async proxy through it. */
bool sim_view_holds(const struct sim_warp *warp, int lane, enum sim_proxy proxy, unsigned thread,
                    uint32_t clock);
/* Whether what some lane of warp OTHER did up to CLOCK is known to LANE. */
bool sim_view_holds_some(const struct sim_warp *warp, int lane, int other, uint32_t clock);
/* The blocks that LANE is ordered after. */
const struct sim_blocks *sim_view_blocks(const struct sim_warp *warp, int lane);
/* Up to which clock LANE, or the lane that knows most, is ordered after a warp of another block. */
uint32_t sim_view_far(const struct sim_warp *warp, int lane, unsigned rank, unsigned of);
uint32_t sim_view_most_far(const struct sim_warp *warp, unsigned rank, int of);
/* How many phases of an mbarrier of the block of RANK, another one, LANE knows to have completed. */
uint32_t sim_view_far_phases(const struct sim_warp *warp, int lane, unsigned rank, int mbarrier);
/* How many phases of an mbarrier LANE knows to have completed. */
uint32_t sim_view_phases(const struct sim_warp *warp, int lane, int mbarrier);

#endif
