/* What the model adds to a GPU's rates. `mcbench fit` fits it to measured times. */
#ifndef MC_SOFTMAX_GRAD_COSTS_H
#define MC_SOFTMAX_GRAD_COSTS_H

#include "schema/family.h"

/* X(name, what it is): microseconds, but for parts and factors. */
#define GRAD_COST_LIST(X)                                                                                    \
    X(launch, "a launch behind another kernel")                                                              \
    X(start_warp, "a multiprocessor starts a warp")                                                          \
    X(l2, "a megabyte of operands in L2")                                                                    \
    X(memory, "a megabyte of operands that is not in L2")                                                    \
    X(held, "megabytes that L2 keeps from launch to launch")                                                 \
    X(first, "first reads of a row block, and what its threads exchange")                                    \
    X(exchange, "more of that for each row that a thread has")                                               \
    X(step, "latency of eight elements of each thread")                                                      \
    X(work, "instructions of a warp for eight elements of each lane")                                        \
    X(join, "a warp's instructions of exchanging a row of each lane")

typedef struct grad_costs {
#define X(name, doc) double name;
    GRAD_COST_LIST(X)
#undef X
} grad_costs;

extern const mc_cost_table grad_cost_table;

#endif
