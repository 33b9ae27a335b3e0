/* The costs of the model: what `mcbench fit` printed for an H200, from 14 masks in f16, none of which
   bytes limit. So those of L2 and memory are of quantise (gen/ops/quantise/costs.c). An H100 was not
   measured. */
#include "ops/softmax/costs.h"
#include "parts/model.h"

static const mc_cost costs[] = {
#define X(name, doc) {#name, doc},
    SOFTMAX_COST_LIST(X)
#undef X
};

static const softmax_costs h200 = {
    .launch = 1.242,
    .start_warp = 0.05899,
    .tail = 0,
    .l2 = 0.118,
    .memory = 0.309,
    .held = 49.3,
    .first = 0.1497,
    .step = 0.1026,
    .work = 0.01914,
};

const mc_cost_table softmax_cost_table = {
    .costs = costs,
    .count = sizeof costs / sizeof *costs,
    .values = {[MC_GPU_H200] = MODEL_VALUES(h200), [MC_GPU_H100] = MODEL_VALUES(h200)},
};
