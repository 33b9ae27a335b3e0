/* The costs of the model on each GPU that was measured: what `mcbench fit` printed. docs/choice.md says from
   which measurements. */
#include "ops/spmm/costs.h"
#include <string.h>

static const mc_cost costs[] = {
#define X(name, doc) {#name, doc},
    SPMM_COST_LIST(X)
#undef X
};

static const spmm_costs h200 = {
    .launch = 0.5308,
    .alone = 0.5505,
    .begin = 0.135,
    .uneven = 0.497,
    .start_warp = 0.01786,
    .tail = 0.286,
    .l2 = 0.004684,
    .memory = 0.1539,
    .held = 95.36,
    .cold = 1.083,
    .direct_step = 0.1738,
    .direct_chain = 0.3683,
    .direct_width = 0.06306,
    .direct_columns = 0.009028,
    .direct_sum = 0.00871,
    .direct_edge = 0.2283,
    .direct_single = 3.139,
    .direct_groups = 1.005,
    .shared_step = 0.9176,
    .shared_columns = 0.8271,
    .shared_narrow = 5.477,
    .ring_block = 0.2276,
    .ring_step = 0.1031,
    .ring_cramped = 0.2163,
    .ring_stay = 0.1846,
    .ring_turn = 0.2482,
    .ring_sum = 0.2916,
    .ring_window = 0.0621,
    .ring_refill = 0.2045,
    .ring_leave = 0.0002609,
    .ring_copy = 0.007172,
    .ring_narrow = 4.168,
    .ring_memory = 2.88,
    .ring_async = 1.237,
};

static const spmm_costs h100 = {
    .launch = 0.9121,
    .alone = 0.772,
    .begin = 0.135,
    .uneven = 0.497,
    .start_warp = 0.0009911,
    .tail = 0.3269,
    .l2 = 0.008292,
    .memory = 0.02678,
    .held = 24.9,
    .cold = 0.913,
    .direct_step = 0.1517,
    .direct_chain = 0.3576,
    .direct_width = 0.035,
    .direct_columns = 0.01162,
    .direct_sum = 0.00314,
    .direct_edge = 0.3955,
    .direct_single = 3.025,
    .direct_groups = 1.003,
    .shared_step = 1.497,
    .shared_columns = 0.6633,
    .shared_narrow = 5.236,
    .ring_block = 1.345,
    .ring_step = 0.07778,
    .ring_cramped = 0.08174,
    .ring_stay = 0.6594,
    .ring_turn = 0.335,
    .ring_sum = 0.1463,
    .ring_window = 0.04163,
    .ring_refill = 0.1584,
    .ring_leave = 9.498e-05,
    .ring_copy = 0.007093,
    .ring_narrow = 4.128,
    .ring_memory = 16.38,
    .ring_async = 1.222,
};

/* As an array of doubles. */
#define VALUES(of) (const double *)&(of)

const mc_cost_table spmm_cost_table = {
    .costs = costs,
    .count = sizeof costs / sizeof *costs,
    .values = {[MC_GPU_H200] = VALUES(h200), [MC_GPU_H100] = VALUES(h100)},
};

spmm_costs spmm_costs_on(const mc_gpu *gpu) {
    spmm_costs here;
    memcpy(&here, costs_on(&spmm_cost_table, gpu), sizeof here);
    return here;
}
