/* The costs of the model on each GPU that was measured: what `mcbench fit` printed. docs/choice.md says from
   which measurements. */
#include "ops/spmm/costs.h"
#include "parts/model.h"

static const mc_cost costs[] = {
#define X(name, doc) {#name, doc},
    SPMM_COST_LIST(X)
#undef X
};

/* What multiprocessors cost, which both have alike. */
#define HOPPER                                                                                               \
    .launch = 0.6037, .alone = 0.6207, .begin = 0.135, .uneven = 0.497, .start_warp = 0.008162,              \
    .tail = 0.3087, .l2 = 0.005145, .column_piece = 0.0008, .cold = 0.8898, .direct_step = 0.162,            \
    .direct_chain = 0.3697, .direct_width = 0.05477, .direct_columns = 0.01224, .direct_sum = 0.004903,      \
    .direct_edge = 0.08815, .direct_single = 2.76, .direct_several = 1.65, .direct_groups = 1.019,           \
    .shared_step = 1.066, .shared_columns = 0.9068, .shared_narrow = 5.32, .ring_block = 0.2688,             \
    .ring_step = 0.09176, .ring_cramped = 0.06332, .ring_stay = 0.1683, .ring_turn = 0.1934,                 \
    .ring_sum = 0.2856, .ring_window = 0.04575, .ring_refill = 0.2168, .ring_leave = 0.0002554,              \
    .ring_copy = 0.007492, .ring_narrow = 4.764, .ring_async = 1.267, .ring_far = 0.6998,                    \
    .ring_asked = 0.8073, .ring_taken = 0.0505, .ring_ask = 0.004964, .ring_meet = 0.9896,                   \
    .panel_first = 0.1156, .panel_copy = 0.08254, .panel_warps = 0.1576, .panel_step = 0.1225,               \
    .panel_width = 0.3497, .panel_masks = 0.1376, .panel_sum = 0.3443, .panel_piece = 0.592,                 \
    .panel_pieces = 0.3657, .panel_tail = 0.7632, .panel_l1 = 1.236, .panel_words = 0.01396,                 \
    .panel_round = 0.01348, .csr_first = 1.195, .csr_step = 0.2046, .csr_end = 0.1694,                       \
    .csr_word = 0.0003825, .csr_convert = 0.0002511, .csr_walk = 0.001658, .csr_l1 = 1.013,                  \
    .csr_l2 = 0.7077, .csr_tail = 0.1254

/* What comes out of memory. */
static const spmm_costs h200 = {HOPPER, .memory = 0.08249, .held = 46.91, .ring_memory = 1.731};
static const spmm_costs h100 = {HOPPER, .memory = 0.04629, .held = 26.6, .ring_memory = 4.185};

const mc_cost_table spmm_cost_table = {
    .costs = costs,
    .count = sizeof costs / sizeof *costs,
    .values = {[MC_GPU_H200] = MODEL_VALUES(h200), [MC_GPU_H100] = MODEL_VALUES(h100)},
};
