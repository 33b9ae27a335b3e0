/* The costs of the model. They are not fitted: they follow from an H200's rates, 128 bytes of shared memory
   in a clock of 1.98 GHz, and from how long its instructions are said to take. */
#include "ops/spmmt/costs.h"
#include "parts/model.h"

static const mc_cost costs[] = {
#define X(name, doc) {#name, doc},
    SPMMT_COST_LIST(X)
#undef X
};

static const spmmt_costs h200 = {
    .launch = 1.5,
    .tile = 0.03,
    .step = 0.055,
    .slot = 0.01,
    .issue = 0.012,
    .work = 0.016,
    .shared = 0.00404,
    .conflict = 0.2,
    .l2 = 0.2,
    .memory = 0.309,
};

const mc_cost_table spmmt_cost_table = {
    .costs = costs,
    .count = sizeof costs / sizeof *costs,
    .values = {[MC_GPU_H200] = MODEL_VALUES(h200), [MC_GPU_H100] = MODEL_VALUES(h200)},
};
