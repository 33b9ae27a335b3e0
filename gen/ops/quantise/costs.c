/* The costs of the model, fitted by `mcbench fit` to 20 problems on an H200, those of `token` to 36 records.
   An H100, whose multiprocessors are the same, was not measured. Four are set by hand, since no record
   tells: edge_work is about 14 instructions; tile_reach and tile_join, of two passes, come of the three
   shapes of docs/quantise.md; tile_narrow of transposes of 4 bits there. */
#include "ops/quantise/costs.h"
#include "parts/model.h"

static const mc_cost costs[] = {
#define X(name, doc) {#name, doc},
    QUANTISE_COST_LIST(X)
#undef X
};

static const quantise_costs h200 = {
    .launch = 1.17,
    .start_warp = 0.000241,
    .tail = 0.244,
    .l2 = 0.118,
    .sectors = 0.00674,
    .shared_sectors = 0.00148,
    .memory = 0.309,
    .held = 49.3,
    .store = 0.535,
    .token_first = 0.0000372,
    .token_join = 0.0898,
    .token_lanes = 0.00185,
    .token_cluster = 0.805,
    .token_member = 0.0151,
    .token_again = 0.111,
    .token_step = 0.0000102,
    .token_kept = 0.302,
    .token_read = 0.000558,
    .token_reach = 0.0016,
    .token_convert = 0.00719,
    .token_add = 0.00596,
    .token_byte = 0.000027,
    .tile_first = 0.0997,
    .tile_step = 0.162,
    .tile_read = 0.00284,
    .tile_convert = 0.00173,
    .tile_store = 0.00105,
    .tile_narrow = 0.002,
    .tile_reach = 0.5,
    .tile_join = 0.3,
    .edge_first = 0.968,
    .edge_reach = 0.0305,
    .edge_element = 0.015,
    .edge_fresh = 0.0294,
    .edge_work = 0.0018,
    .edge_row = 0.000068,
};

const mc_cost_table quantise_cost_table = {
    .costs = costs,
    .count = sizeof costs / sizeof *costs,
    .values = {[MC_GPU_H200] = MODEL_VALUES(h200), [MC_GPU_H100] = MODEL_VALUES(h200)},
};
