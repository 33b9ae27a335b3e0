/* What the model adds to a GPU's rates. `mcbench fit` fits it to measured times. */
#ifndef MC_SLIDE24_COSTS_H
#define MC_SLIDE24_COSTS_H

#include "schema/family.h"

/* X(name, what it is): microseconds, but for megabytes and factors. */
#define SLIDE24_COST_LIST(X)                                                                                 \
    X(launch, "a launch behind another kernel")                                                              \
    X(l2, "a megabyte that is read or written, in L2")                                                       \
    X(memory, "a megabyte that is not in L2")                                                                \
    X(held, "megabytes that L2 keeps from launch to launch")                                                 \
    X(block, "a multiprocessor's thread block, its loads and stores")                                        \
    X(edge, "factor of the time where elements are moved one by one")

typedef struct slide24_costs {
#define X(name, doc) double name;
    SLIDE24_COST_LIST(X)
#undef X
} slide24_costs;

extern const mc_cost_table slide24_cost_table;

#endif
