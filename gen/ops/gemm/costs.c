/* The costs of the model. They are not fitted: they were read off 576 times of one product, 4096 cubed in
   four types, on an H100 (docs/measurements.md, 2026-11-27). An H200's are taken to be the same but for its
   memory. Those of L2, and of tiles that are split, are guesses from what the hardware is said to do. */
#include "ops/gemm/costs.h"
#include "parts/model.h"

static const mc_cost costs[] = {
#define X(name, doc) {#name, doc},
    GEMM_COST_LIST(X)
#undef X
};

#define HOPPER                                                                                               \
    .launch = 3.0, .tile = 0.6, .product = 0.086, .latency = 1.05, .fill = 0.0112, .tensor = 0.05,           \
    .pairs = 0.17, .single = 0.45, .cache = 0.2, .cached = 40, .exchange = 0.6, .part = 0.02

static const gemm_costs h200 = {HOPPER, .memory = 0.309}, h100 = {HOPPER, .memory = 0.42};

const mc_cost_table gemm_cost_table = {
    .costs = costs,
    .count = sizeof costs / sizeof *costs,
    .values = {[MC_GPU_H200] = MODEL_VALUES(h200), [MC_GPU_H100] = MODEL_VALUES(h100)},
};
