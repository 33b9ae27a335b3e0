/* What the model adds to a GPU's rates. `mcbench fit` fits it to measured times. */
#ifndef MC_GEMM_COSTS_H
#define MC_GEMM_COSTS_H

#include "schema/family.h"

/* X(name, what it is): microseconds, but for `cached` and `apart`. */
#define GEMM_COST_LIST(X)                                                                                    \
    X(launch, "a launch behind another kernel, and the first stage's copies")                                \
    X(overlapped, "the same where the launch overlaps the kernel before")                                    \
    X(tile, "a tile's begin and end, for whoever multiplies")                                                \
    X(product, "wgmma of a stage, for 64 x 64 sums")                                                         \
    X(latency, "a copy of a stage, from asking to arrival")                                                  \
    X(fill, "a kilobyte of a stage, where others arrive all the time")                                       \
    X(tensor, "1024 elements of C stored by tensor copies")                                                  \
    X(pairs, "1024 elements of C stored in pairs")                                                           \
    X(single, "1024 elements of C stored one by one")                                                        \
    X(memory, "a megabyte that is not in L2")                                                                \
    X(cache, "a megabyte that is in L2, read once")                                                          \
    X(cached, "megabytes of operands that L2 keeps from one launch to the next")                             \
    X(exchange, "sums of a tile that is split, from the last product to the slice's sums")                   \
    X(part, "1024 sums that come in from the parts")                                                         \
    X(piece, "1024 sums of a piece of a tile, left to another thread block or taken")                        \
    X(apart, "times as long as else a stage takes, of a tile that is dealt out along k")                     \
    X(promote, "a stage's sums, of a consumer, waited for and added to their totals")

typedef struct gemm_costs {
#define X(name, doc) double name;
    GEMM_COST_LIST(X)
#undef X
} gemm_costs;

extern const mc_cost_table gemm_cost_table;

/* Products of a launch. */
static inline double gemm_products(const mc_problem *p) { return p->batch > 1 ? (double)p->batch : 1; }

#endif
