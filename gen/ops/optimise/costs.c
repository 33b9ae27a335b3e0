/* The costs of the model. None is measured: those of launches, L2 and memory are of quantise
   (gen/ops/quantise/costs.c); instructions are counted, of which a multiprocessor issues 4 a clock; the
   others are set by hand until `mcbench fit` has records. */
#include "ops/optimise/costs.h"
#include "parts/model.h"

static const mc_cost costs[] = {
#define X(name, doc) {#name, doc},
    OPTIMISE_COST_LIST(X)
#undef X
};

static const optimise_costs h200 = {
    .launch = 1.2,
    .start_warp = 0.000241,
    .l2 = 0.15,
    .memory = 0.27,
    .held = 49.3,
    .split = 1.1,
    .turn = 0.9,
    .unit = 0.1,
    .piece = 0.0006,
    .sgd = 0.0012,
    .adam = 0.006,
};

const mc_cost_table optimise_cost_table = {
    .costs = costs,
    .count = sizeof costs / sizeof *costs,
    .values = {[MC_GPU_H200] = MODEL_VALUES(h200), [MC_GPU_H100] = MODEL_VALUES(h200)},
};
