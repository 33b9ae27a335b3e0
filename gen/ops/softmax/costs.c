/* The costs of the model. None is fitted, since nothing was measured: launches, starts and memory are those
   of quantise on an H200 (gen/ops/quantise/costs.c), work is some 22 instructions for an element, the others
   are guesses. */
#include "ops/softmax/costs.h"
#include "parts/model.h"

static const mc_cost costs[] = {
#define X(name, doc) {#name, doc},
    SOFTMAX_COST_LIST(X)
#undef X
};

static const softmax_costs h200 = {
    .launch = 1.17,
    .start_warp = 0.000241,
    .tail = 0.244,
    .l2 = 0.118,
    .memory = 0.309,
    .held = 49.3,
    .first = 1.2,
    .step = 0.1,
    .work = 0.025,
};

const mc_cost_table softmax_cost_table = {
    .costs = costs,
    .count = sizeof costs / sizeof *costs,
    .values = {[MC_GPU_H200] = MODEL_VALUES(h200), [MC_GPU_H100] = MODEL_VALUES(h200)},
};
