/* The solver `gather`, of stagings "direct" and "shared": contract, facts, name and header. */
#include "ops/spmm/gather/gather.h"
#include "ops/spmm/solvers.h"
#include <stdio.h>

/* -- Contract and facts ------------------------------------------------------------------------------- */

/* What the contract says of col_idx: where the heads lie, which a warp finds without row_ptr, and whether
   indices are shuffled. By the split. */
#define HEADS(where)                                                                                         \
    {                                                                                                        \
        "column of each slot, -1 for padding; " where,                                                       \
            "column of each slot, -1 for padding, those of 8 slots at 0, 4, 1, 5, 2, 6, 3, 7; " where        \
    }
static const char *const heads[][2] = {
    [0] = HEADS("strides as row_ptr has them"),
    [1] = HEADS("row block b's first stride, its head, is stride b"),
    [2] = HEADS("row block b's first strides, its heads, are strides 2 b and 2 b + 1"),
    [4] = HEADS("row block b's first strides, its heads, are strides 4 b to 4 b + 3"),
    [8] = HEADS("row block b's first strides, its heads, are strides 8 b to 8 b + 7"),
};

static void add_strided(const gather_plan *plan, mc_contract *c) {
    static const char *const row_ptrs[] = {
        [1] = "m + 1", [2] = "m / 2 + 1", [4] = "m / 4 + 1", [8] = "m / 8 + 1", [16] = "m / 16 + 1"};
    const spmm_plan *base = &plan->base;
    bool permuted = spmm_permutes_slots(&base->math);
    c->format = spmm_strided_format(&base->math);
    add_array(c, 4,
              (mc_array){"row_ptr", "s32", row_ptrs[base->vec],
                         plan->heads
                             ? "first stride of each row block behind the heads, then the number of strides"
                             : "first stride of each row block, then the number of strides"});
    add_array(c, 16,
              (mc_array){"col_idx", "s32", base->stride == 64 ? "strides * 64" : "strides * 32",
                         heads[plan->heads ? base->split : 0][permuted]});
    spmm_add_values(base, false, c);
}

static void add_panels(const gather_plan *plan, mc_contract *c) {
    c->format = "panels";
    add_array(
        c, 16,
        (mc_array){"items", "s32", "item_count * 4",
                   "an item a warp: its panel, the first of its strides, the one behind the last, and how "
                   "the panel is shared"});
    add_array(
        c, 16,
        (mc_array){"col_idx", "s32", "strides * 32", "column of each slot, -1 for padding; panel by panel"});
    if (plan->reorder)
        add_array(
            c, 4,
            (mc_array){
                "row_of", "s32", "row_places",
                "row of A and C that each row of each panel is, and of one panel more; 2^31 - 1: none"});
    if (!plan->nonzeros) {
        spmm_add_values(&plan->base, false, c);
        return;
    }
    add_array(
        c, 8,
        (mc_array){"masks", "s32", plan->base.vec == 8 ? "strides * 16" : "strides * 32",
                   "[panel][2] for each stride: in which of its slots a row has something, and the number "
                   "of its first value"});
    add_array(c, 4,
              (mc_array){"values", plan->base.math.value_type, "nonzeros",
                         "stride by stride, row by row, slot by slot; rounded up to a multiple of 32"});
}

static void make_contract(const void *data, mc_contract *c) {
    const gather_plan *plan = data;
    const spmm_plan *base = &plan->base;
    if (base->panels) add_panels(plan, c);
    else add_strided(plan, c);
    if (plan->given) c->awaited = "values";
    spmm_add_b(base, c);
    spmm_contract(base, false, true, c);
    c->shared_static = base->shared_bytes;
    if (!base->panels) return;
    c->grid[0] = (mc_grid_axis){"item_count", base->warps};
    add_workspace(c, (unsigned)spmm_gather_piece_bytes(plan), 16,
                  "where thread blocks leave sums of panels that several of them share");
    c->workspace_each = (mc_grid_axis){"n", base->tile_n};
}

static void make_facts(const void *data, mc_facts *facts) {
    const gather_plan *plan = data;
    spmm_facts(&plan->base, facts);
    if (plan->base.output.exact)
        add_fact(facts, "flush_strides", plan->base.math.flush_strides,
                 "after which accumulators are added to sums in s64; 0: once, at the end");
    add_fact(facts, "wide_path", plan->wide.emitted, "vector loads of B");
    add_fact(facts, "edge_path", plan->edge.emitted, "guarded narrow loads of B");
}

static void entry_name(const void *data, char name[MC_MAX_ENTRY]) {
    const gather_plan *plan = data;
    const spmm_plan *base = &plan->base;
    char panel[40] = "";
    if (base->panels)
        snprintf(panel, sizeof panel, "_panels_h%d%s%s", plan->share, plan->nonzeros ? "_nz" : "",
                 plan->reorder ? "_rows" : "");
    snprintf(name, MC_MAX_ENTRY, "spmm_%s%s%s%s%s%s_v%d_k%d_n%d_w%d_s%d%s%s%s%s", base->math.lhs,
             base->math.rhs, out_element_name(base->output.element), base->output.exact ? "_exact" : "",
             out_act_link(&base->output), out_act_text(&base->output), base->vec, base->stride, base->tile_n,
             base->warps, base->split, plan->shared ? "_shared" : "", spmm_mma_suffix(&base->math),
             base->c_columns ? "_columns" : "", panel);
}

#define DIRECT "Rows of B are gathered from global memory straight into registers and transposed there."
#define SHARED                                                                                               \
    "Rows of B are copied to shared memory, read from there into registers and transposed, as in Magicube."

static const char *how(const void *data) {
    static const char *const ways[][SPMM_WAYS] = {SPMM_ALL_WAYS(DIRECT), SPMM_ALL_WAYS(SHARED)};
    const gather_plan *plan = data;
    return ways[plan->shared][spmm_way(&plan->base.math)];
}

const mc_solver spmm_gather = {
    .name = "gather",
    .plan = spmm_gather_make_plan,
    .contract = make_contract,
    .facts = make_facts,
    .emit = spmm_gather_emit,
    .entry_name = entry_name,
    .estimate = spmm_gather_estimate,
    .computes = spmm_computes,
    .how = how,
};
