/* The costs of the model. Those of launches, L2 and memory are quantise's (gen/ops/quantise/costs.c); the
   others are set by hand until `mcbench fit` has records. */
#include "ops/slide24/costs.h"
#include "parts/model.h"

static const mc_cost costs[] = {
#define X(name, doc) {#name, doc},
    SLIDE24_COST_LIST(X)
#undef X
};

static const slide24_costs h200 = {
    .launch = 1.2,
    .l2 = 0.15,
    .memory = 0.27,
    .held = 49.3,
    .block = 0.05,
    .edge = 6,
};

const mc_cost_table slide24_cost_table = {
    .costs = costs,
    .count = sizeof costs / sizeof *costs,
    .values = {[MC_GPU_H200] = MODEL_VALUES(h200), [MC_GPU_H100] = MODEL_VALUES(h200)},
};
