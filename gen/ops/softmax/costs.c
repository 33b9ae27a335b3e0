/* The costs of the model: what `mcbench fit` printed for an H200, from seven masks in f16 that lay in L2. So
   those of L2 and memory are of quantise (gen/ops/quantise/costs.c). An H100 was not measured. */
#include "ops/softmax/costs.h"
#include "parts/model.h"

static const mc_cost costs[] = {
#define X(name, doc) {#name, doc},
    SOFTMAX_COST_LIST(X)
#undef X
};

static const softmax_costs h200 = {
    .launch = 1.091,
    .start_warp = 0.1748,
    .tail = 0.0197,
    .l2 = 0.118,
    .memory = 0.309,
    .held = 49.3,
    .first = 0.2889,
    .step = 0.1088,
    .work = 0.01394,
};

const mc_cost_table softmax_cost_table = {
    .costs = costs,
    .count = sizeof costs / sizeof *costs,
    .values = {[MC_GPU_H200] = MODEL_VALUES(h200), [MC_GPU_H100] = MODEL_VALUES(h200)},
};
