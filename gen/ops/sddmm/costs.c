/* The costs of the model: what `mcbench fit` printed for an H200. An H100 was not measured; it has the same
   multiprocessors. docs/choice.md says from which measurements. */
#include "ops/sddmm/costs.h"
#include "parts/model.h"

static const mc_cost costs[] = {
#define X(name, doc) {#name, doc},
    SDDMM_COST_LIST(X)
#undef X
};

static const sddmm_costs h200 = {
    .launch = 1.48,
    .start_warp = 0.00236,
    .tail = 0.165,
    .gather_first = 0.0693,
    .gather_step = 0.182,
    .gather_next = 0.0898,
    .gather_store = 0.0216,
    .gather_b = 0.0102,
    .gather_a = 0.00608,
    .gather_group = 0.00329,
    .window_first = 0.691,
    .window_copy = 0.00643,
    .window_item = 0.0473,
    .window_group = 0.0806,
    .window_ahead = 1.35,
    .window_b = 0.00791,
    .window_a = 0.00633,
    .window_items = 0.00873,
    .window_groups = 0.004,
    .dense_first = 0.385,
    .dense_load = 0.0293,
    .dense_mma = 0.0323,
    .dense_sample = 0.0831,
    .dense_taken = 0.146,
    .dense_shared = 2.03,
};

const mc_cost_table sddmm_cost_table = {
    .costs = costs,
    .count = sizeof costs / sizeof *costs,
    .values = {[MC_GPU_H200] = MODEL_VALUES(h200), [MC_GPU_H100] = MODEL_VALUES(h200)},
};
