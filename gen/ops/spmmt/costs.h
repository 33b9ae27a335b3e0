/* What the model adds to a GPU's rates. `mcbench fit` fits it to measured times. */
#ifndef MC_SPMMT_COSTS_H
#define MC_SPMMT_COSTS_H

#include "schema/family.h"

/* X(name, what it is): microseconds, but for parts. */
#define SPMMT_COST_LIST(X)                                                                                   \
    X(launch, "a launch behind another kernel")                                                              \
    X(tile, "a kilobyte of accumulators made zero, and stored as C")                                         \
    X(step, "latency of a step: accumulators read, multiplied, written")                                     \
    X(slot, "latency of 16 more slots of a step, for 16 columns")                                            \
    X(issue, "a scheduler's time for a step's own instructions")                                             \
    X(work, "a scheduler's time for 16 slots and 16 columns")                                                \
    X(shared, "a kilobyte of accumulators, values and rows of B read or written in shared memory")           \
    X(conflict, "a part of accumulators that waits for another row of the same banks")                       \
    X(l2, "a megabyte of A or B to all multiprocessors")                                                     \
    X(memory, "a megabyte that is not in L2")

typedef struct spmmt_costs {
#define X(name, doc) double name;
    SPMMT_COST_LIST(X)
#undef X
} spmmt_costs;

extern const mc_cost_table spmmt_cost_table;

#endif
