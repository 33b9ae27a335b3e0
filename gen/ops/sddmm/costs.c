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
    .launch = 1.61,
    .start_warp = 0.0007203,
    .tail = 0.1046,
    .gather_first = 0.01042,
    .gather_step = 0.185,
    .gather_next = 0.1788,
    .gather_store = 0.02278,
    .gather_b = 0.01288,
    .gather_a = 0.01006,
    .gather_group = 0.0006289,
    .window_first = 0.1753,
    .window_copy = 0.004858,
    .window_item = 0.03975,
    .window_group = 0.02297,
    .window_ahead = 12.11,
    .window_turns = 0.7866,
    .window_tensor = 0.9835,
    .window_b = 0.006319,
    .window_a = 0.005658,
    .window_items = 0.01361,
    .window_groups = 0.001711,
    .dense_first = 0.06929,
    .dense_load = 0.01084,
    .dense_mma = 0.03374,
    .dense_sample = 0.06476,
    .dense_taken = 0.03616,
    .dense_shared = 7.227,
};

const mc_cost_table sddmm_cost_table = {
    .costs = costs,
    .count = sizeof costs / sizeof *costs,
    .values = {[MC_GPU_H200] = MODEL_VALUES(h200), [MC_GPU_H100] = MODEL_VALUES(h200)},
};
