/* The costs of the model. They are those of the softmax (gen/ops/softmax/costs.c), with as many instructions
   an element as the hardware's exponential takes there: kernels of this operator were not measured yet. */
#include "ops/softmax_grad/costs.h"
#include "parts/model.h"

static const mc_cost costs[] = {
#define X(name, doc) {#name, doc},
    GRAD_COST_LIST(X)
#undef X
};

static const grad_costs h200 = {
    .launch = 1.241,
    .start_warp = 0.02915,
    .l2 = 0.118,
    .memory = 0.309,
    .held = 49.3,
    .first = 0.1203,
    .exchange = 0.02438,
    .step = 0.0689,
    .work = 0.01286,
    .join = 0.001636,
};

const mc_cost_table grad_cost_table = {
    .costs = costs,
    .count = sizeof costs / sizeof *costs,
    .values = {[MC_GPU_H200] = MODEL_VALUES(h200), [MC_GPU_H100] = MODEL_VALUES(h200)},
};
