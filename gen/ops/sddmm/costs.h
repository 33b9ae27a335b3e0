/* What the model adds to a GPU's rates. `mcbench fit` fits it to measured times. */
#ifndef MC_SDDMM_COSTS_H
#define MC_SDDMM_COSTS_H

#include "schema/family.h"

/* X(name, what it is): microseconds, but for parts and factors. */
#define SDDMM_COST_LIST(X)                                                                                   \
    X(launch, "a launch behind another kernel")                                                              \
    X(start_warp, "a multiprocessor starts a warp")                                                          \
    X(tail, "warps that come late: a part of a wave")                                                        \
    X(gather_first, "gather: an item's words and indices")                                                   \
    X(gather_step, "gather: latency of a group's panel")                                                     \
    X(gather_next, "gather: the same where its columns of B were loaded ahead")                              \
    X(gather_store, "gather: latency of a group's store")                                                    \
    X(gather_b, "gather: a kilobyte of columns of B")                                                        \
    X(gather_a, "gather: a kilobyte of rows of A")                                                           \
    X(gather_group, "gather: instructions of a group and 256 bytes")                                         \
    X(window_first, "window: barriers and an item's words")                                                  \
    X(window_copy, "window: a kilobyte of B, copied")                                                        \
    X(window_item, "window: latency of an item")                                                             \
    X(window_group, "window: latency of a group and 256 bytes")                                              \
    X(window_ahead, "window: factor of an item's latency where rows of A are loaded ahead")                  \
    X(window_turns, "window: factor of a group's latency where two groups' mma take turns")                  \
    X(window_tensor, "window: factor of copying where tensor copies do it")                                  \
    X(window_b, "window: a kilobyte of columns of B, read in shared memory")                                 \
    X(window_a, "window: a kilobyte of rows of A")                                                           \
    X(window_items, "window: instructions of an item")                                                       \
    X(window_groups, "window: instructions of a group")                                                      \
    X(dense_first, "dense: a tile's first copies")                                                           \
    X(dense_load, "dense: a kilobyte of A or B, copied")                                                     \
    X(dense_mma, "dense: 2^20 multiplications by 8 warps")                                                   \
    X(dense_sample, "dense: looking at 4096 elements of a tile, by 8 warps")                                 \
    X(dense_taken, "dense: the same if all of them are in the mask")                                         \
    X(dense_shared, "dense: the part of looking that tiles of a multiprocessor do not share")

typedef struct sddmm_costs {
#define X(name, doc) double name;
    SDDMM_COST_LIST(X)
#undef X
} sddmm_costs;

extern const mc_cost_table sddmm_cost_table;

#endif
