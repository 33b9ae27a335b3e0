/* The costs of the model. Those of an H200 are fitted to 6,396 times of 266 problems, layers of language
   models in four types, dense and 2:4, and `promote` to 630 of 35 (docs/measurements.md, 2026-11-27): a
   launch is one behind another in a graph. An H100's were read off 576 times of one product, 4096 cubed;
   of L2, of tiles that are split, and `promote`, they are guesses. So is `piece` of both: what a
   multiprocessor's part of the L2 cache's rate gives. `apart` was read off 35 times of stream on an H200. */
#include "ops/gemm/costs.h"
#include "parts/model.h"

static const mc_cost costs[] = {
#define X(name, doc) {#name, doc},
    GEMM_COST_LIST(X)
#undef X
};

static const gemm_costs h200 = {.launch = 0.19,
                                .overlapped = 0.42,
                                .tile = 0.034,
                                .product = 0.087,
                                .latency = 1.12,
                                .fill = 0.0099,
                                .tensor = 0.116,
                                .pairs = 0.12,
                                .single = 0.45,
                                .memory = 0.229,
                                .cache = 0.131,
                                .cached = 45,
                                .exchange = 0.23,
                                .part = 0.228,
                                .piece = 0.1,
                                .apart = 1.6,
                                .promote = 0.14},
                        h100 = {.launch = 3.0,
                                .overlapped = 1.5,
                                .tile = 0.6,
                                .product = 0.086,
                                .latency = 1.05,
                                .fill = 0.0112,
                                .tensor = 0.05,
                                .pairs = 0.17,
                                .single = 0.45,
                                .memory = 0.42,
                                .cache = 0.2,
                                .cached = 40,
                                .exchange = 0.6,
                                .part = 0.02,
                                .piece = 0.1,
                                .apart = 1.6,
                                .promote = 0.14};

const mc_cost_table gemm_cost_table = {
    .costs = costs,
    .count = sizeof costs / sizeof *costs,
    .values = {[MC_GPU_H200] = MODEL_VALUES(h200), [MC_GPU_H100] = MODEL_VALUES(h100)},
};
