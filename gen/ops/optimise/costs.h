/* What the model adds to a GPU's rates. `mcbench fit` fits it to measured times. */
#ifndef MC_OPTIMISE_COSTS_H
#define MC_OPTIMISE_COSTS_H

#include "schema/family.h"

/* X(name, what it is): microseconds, but for parts and factors. */
#define OPTIMISE_COST_LIST(X)                                                                                \
    X(launch, "a launch behind another kernel")                                                              \
    X(start_warp, "a multiprocessor starts a warp")                                                          \
    X(l2, "a megabyte that is read or written, in L2")                                                       \
    X(memory, "a megabyte that is not in L2")                                                                \
    X(held, "megabytes that L2 keeps from launch to launch")                                                 \
    X(split, "factor of bytes in sectors that two loads or stores share")                                    \
    X(turn, "latency of a turn")                                                                             \
    X(unit, "more of it for each unit")                                                                      \
    X(piece, "a warp's load or store")                                                                       \
    X(sgd, "a warp's instructions for an element of each lane")                                              \
    X(adam, "the same of Adam's step")

typedef struct optimise_costs {
#define X(name, doc) double name;
    OPTIMISE_COST_LIST(X)
#undef X
} optimise_costs;

extern const mc_cost_table optimise_cost_table;

#endif
