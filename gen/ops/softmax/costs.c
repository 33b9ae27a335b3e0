/* The costs of the model: what `mcbench fit` printed for an H200, from 14 masks in f16 with either
   exponential, none of which bytes limit. So those of L2 and memory are of quantise
   (gen/ops/quantise/costs.c). An H100 was not measured. */
#include "ops/softmax/costs.h"
#include "parts/model.h"

static const mc_cost costs[] = {
#define X(name, doc) {#name, doc},
    SOFTMAX_COST_LIST(X)
#undef X
};

static const softmax_costs h200 = {
    .launch = 1.241,
    .start_warp = 0.02915,
    .tail = 0,
    .l2 = 0.118,
    .memory = 0.309,
    .held = 49.3,
    .first = 0.1203,
    .step = 0.1149,
    .work = 0.02143,
    .approx = 0.4796,
    .exchange = 0.02438,
    .join = 0.001636,
};

const mc_cost_table softmax_cost_table = {
    .costs = costs,
    .count = sizeof costs / sizeof *costs,
    .values = {[MC_GPU_H200] = MODEL_VALUES(h200), [MC_GPU_H100] = MODEL_VALUES(h200)},
};
