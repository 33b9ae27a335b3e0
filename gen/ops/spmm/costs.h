/* What the model adds to a GPU's rates. `mcbench fit` fits it to measured times. */
#ifndef MC_SPMM_COSTS_H
#define MC_SPMM_COSTS_H

#include "schema/family.h"

/* X(name, what it is): microseconds, but for parts and factors. */
#define SPMM_COST_LIST(X)                                                                                    \
    X(launch, "a launch that overlaps the one before it")                                                    \
    X(alone, "and more where it waits for the end of that one")                                              \
    X(begin, "a thread block of a launch that overlaps: they begin one after another")                       \
    X(uneven, "how uneven their multiprocessors' numbers are: 0 to 1")                                       \
    X(start_warp, "a multiprocessor starts a warp")                                                          \
    X(tail, "thread blocks that come late: a part of a wave")                                                \
    X(l2, "a multiprocessor takes a kilobyte out of L2")                                                     \
    X(column_piece, "a multiprocessor stores a piece of a column of C that is less than a line")             \
    X(memory, "a megabyte of A or B that comes out of memory")                                               \
    X(held, "megabytes that L2 keeps from launch to launch")                                                 \
    X(cold, "first reads, where L2 has nothing")                                                             \
    X(direct_step, "direct: latency of a stride whose indices were prefetched")                              \
    X(direct_chain, "direct: latency of a stride that waits for its indices first")                          \
    X(direct_width, "direct: latency of a stride's 32 slots x 32 columns, and of storing 32 columns")        \
    X(direct_columns, "direct: instructions of 32 slots x 32 columns")                                       \
    X(direct_sum, "direct: sum over the warps of a row block")                                               \
    X(direct_edge, "direct: factor of the instructions on the edge path")                                    \
    X(direct_single, "direct: that factor where each load takes one element; the width's, too")              \
    X(direct_several, "direct: factor of that where a row has more than one column")                         \
    X(direct_groups, "direct: factor of both where the tile has several groups of the edge path's columns")  \
    X(shared_step, "shared: factor of a stride's latency")                                                   \
    X(shared_columns, "shared: factor of the instructions")                                                  \
    X(shared_narrow, "shared: factor of copying rows that begin inside of a sector")                         \
    X(ring_block, "tma: barriers, first copy's latency and store of a thread block")                         \
    X(ring_step, "tma: latency of a stride")                                                                 \
    X(ring_cramped, "tma: that much longer if it has half the registers it wants, a part")                   \
    X(ring_stay, "tma: a thread block that may stay, whether or not it does")                                \
    X(ring_turn, "tma: from a warp's row block to its next")                                                 \
    X(ring_sum, "tma: sum over the warps of a row block")                                                    \
    X(ring_window, "tma: latency of a window, waited for and left")                                          \
    X(ring_refill, "tma: of one that first waits for room in the ring")                                      \
    X(ring_leave, "tma: instructions of a warp at a window")                                                 \
    X(ring_copy, "tma: a kilobyte of B, copied")                                                             \
    X(ring_narrow, "tma: factor of copying rows that begin inside of a sector")                              \
    X(ring_memory, "tma: factor of what comes out of memory")                                                \
    X(ring_far, "tma: latency of a stride that comes out of memory")                                         \
    X(ring_asked, "tma: factor of it behind a row block's first stride, where L2 was asked ahead")           \
    X(ring_taken, "tma: latency of a stride that comes out of a queue")                                      \
    X(ring_ask, "tma: instructions of a warp that asks for a stride ahead")                                  \
    X(ring_meet, "tma: a launch of clusters, meetings of their thread blocks included")                      \
    X(ring_async, "async: factor of the whole")                                                              \
    X(panel_first, "panels: latency of a warp's item, its first indices and its store")                      \
    X(panel_copy, "panels, shared: that much more of it, before the first rows have arrived")                \
    X(panel_warps, "panels: a thread block waits for its longest warp: of each doubling of its warps")       \
    X(panel_step, "panels: latency of a stride, but for what follows")                                       \
    X(panel_width, "panels: for each 128 bytes that a tile takes of a row of B")                             \
    X(panel_masks, "panels, nonzeros: and more, for masks that say where values belong")                     \
    X(panel_sum, "panels: sum over the warps that share a panel")                                            \
    X(panel_piece, "panels: a thread block waits for others that share its panel")                           \
    X(panel_pieces, "panels: and reads the sums of a piece, of those that a warp reads")                     \
    X(panel_tail, "panels: thread blocks that come late: a part of a wave")                                  \
    X(panel_l1, "panels, direct: factor of gathering rows out of L1")                                        \
    X(panel_words, "panels: instructions of a stride for each 128 bytes of a row")                           \
    X(panel_round, "panels, shared: and of 32-bit elements, which are rounded")                              \
    X(csr_first, "csr: latency of a warp's item, its first columns and its last store")                      \
    X(csr_step, "csr: latency of the rows of B that a lane has in flight at once")                           \
    X(csr_end, "csr, segmented: latency of the end of a row")                                                \
    X(csr_word, "csr: instructions of a nonzero for each word of its row of B that a lane has")              \
    X(csr_convert, "csr: and more where it is made an f32, or rounded")                                      \
    X(csr_walk, "csr, segmented: and other instructions of a nonzero")                                       \
    X(csr_l1, "csr: factor of gathering rows out of L1")                                                     \
    X(csr_l2, "csr: factor of what comes out of L2")                                                         \
    X(csr_tail, "csr: thread blocks that come late: a part of a wave")

typedef struct spmm_costs {
#define X(name, doc) double name;
    SPMM_COST_LIST(X)
#undef X
} spmm_costs;

extern const mc_cost_table spmm_cost_table;

#endif
