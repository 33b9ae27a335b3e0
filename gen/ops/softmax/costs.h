/* What the model adds to a GPU's rates. `mcbench fit` fits it to measured times. */
#ifndef MC_SOFTMAX_COSTS_H
#define MC_SOFTMAX_COSTS_H

#include "schema/family.h"

/* X(name, what it is): microseconds, but for parts and factors. */
#define SOFTMAX_COST_LIST(X)                                                                                 \
    X(launch, "a launch behind another kernel")                                                              \
    X(start_warp, "a multiprocessor starts a warp")                                                          \
    X(tail, "thread blocks that come late: a part of a wave")                                                \
    X(l2, "a megabyte of A or C in L2")                                                                      \
    X(memory, "a megabyte of A or C that is not in L2")                                                      \
    X(held, "megabytes that L2 keeps from launch to launch")                                                 \
    X(first, "first reads of a row block, and what its threads exchange")                                    \
    X(exchange, "more of that for each row that a thread has")                                               \
    X(step, "latency of eight elements of each thread")                                                      \
    X(work, "instructions of a warp for eight elements of each lane")                                        \
    X(approx, "factor of both where the hardware makes exponentials")                                        \
    X(join, "a warp's instructions of exchanging a row of each lane")

typedef struct softmax_costs {
#define X(name, doc) double name;
    SOFTMAX_COST_LIST(X)
#undef X
} softmax_costs;

extern const mc_cost_table softmax_cost_table;

#endif
