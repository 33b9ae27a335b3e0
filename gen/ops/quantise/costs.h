/* What the model adds to a GPU's rates. `mcbench fit` fits it to measured times. */
#ifndef MC_QUANTISE_COSTS_H
#define MC_QUANTISE_COSTS_H

#include "schema/family.h"

/* X(name, what it is): microseconds, but for parts and factors. A patch's row has a few elements of A for
   each lane of a warp; costs are of eight. */
#define QUANTISE_COST_LIST(X)                                                                                \
    X(launch, "a launch behind another kernel")                                                              \
    X(start_warp, "a multiprocessor starts a warp")                                                          \
    X(tail, "thread blocks that come late: a part of a wave")                                                \
    X(l2, "a megabyte of A out of L2, by all multiprocessors")                                               \
    X(sectors, "a thousand pieces of C, each inside of a sector, into L2")                                   \
    X(shared_sectors, "the same for each further tile that writes to these sectors")                         \
    X(memory, "a megabyte of A or C that is not in L2")                                                      \
    X(held, "megabytes that L2 keeps from launch to launch")                                                 \
    X(store, "a thousand pieces of C that a multiprocessor stores")                                          \
    X(token_first, "token: first reads")                                                                     \
    X(token_join, "token: a warp's turn of making a row's scale of all warps' ends")                         \
    X(token_lanes, "token: a step of joining a patch row's ends over the lanes")                             \
    X(token_cluster, "token: thread blocks of a cluster wait for each other")                                \
    X(token_member, "token: the same, of the multiprocessor, for each thread block of the cluster")          \
    X(token_again, "token: latency of a step that is not on the chip")                                       \
    X(token_step, "token: latency of making a step of C")                                                    \
    X(token_kept, "token: latency of a step that is read in shared memory")                                  \
    X(token_read, "token: a kilobyte of A")                                                                  \
    X(token_reach, "token: instructions of a patch's row for its ends")                                      \
    X(token_convert, "token: the same for elements of C, by conversions")                                    \
    X(token_add, "token: by additions")                                                                      \
    X(token_byte, "token: storing a byte of each lane, where A's end cuts the tile")                         \
    X(tile_first, "tile: first reads")                                                                       \
    X(tile_step, "tile: latency of a step")                                                                  \
    X(tile_read, "tile: a kilobyte of A")                                                                    \
    X(tile_convert, "tile: instructions of a patch's row")                                                   \
    X(tile_store, "tile: instructions of 16 bytes of C for each lane")                                       \
    X(tile_narrow, "tile: a thousand columns of C, of which a tile stores less than 64 bytes")               \
    X(tile_reach, "tile: in the first pass, latency of a tile")                                              \
    X(tile_join, "tile: in the second pass, the scale of what the first one left")                           \
    X(edge_first, "edge path, scales computed: barriers")                                                    \
    X(edge_reach, "edge path: latency of an element of each lane, for its row's ends")                       \
    X(edge_element, "edge path: latency of making an element of each thread")                                \
    X(edge_fresh, "edge path: and more where it is read the first time, in whole sectors")                   \
    X(edge_work, "edge path: instructions of a warp for an element of each lane")                            \
    X(edge_row, "edge path: a row that lanes of a warp read at once")

typedef struct quantise_costs {
#define X(name, doc) double name;
    QUANTISE_COST_LIST(X)
#undef X
} quantise_costs;

extern const mc_cost_table quantise_cost_table;

#endif
