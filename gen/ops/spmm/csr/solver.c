/* The solver `csr`: contract, facts, name and header. */
#include "ops/spmm/csr/csr.h"
#include "ops/spmm/solvers.h"
#include <stdio.h>

static void add_rows(const csr_plan *plan, mc_contract *c) {
    unsigned bytes = (unsigned)csr_element_bytes(plan);
    static const char *const items[] = {
        "an item a warp, those of long rows first: the first of its rows, the one behind the last, 0, 0; or "
        "a "
        "long row, the first of the nonzeros that it takes of that, the one behind the last, and how the row "
        "is shared",
        "an item a warp, those of long rows first: the first of its rows, how many rows and nonzeros, the "
        "first of these, 0; or a long row, the first of the nonzeros that it takes of that, the one behind "
        "the last, and how the row is shared"};
    if (plan->deal) add_array(c, 16, (mc_array){"items", "s32", "item_count * 4", items[plan->segmented]});
    add_array(c, 4, (mc_array){"row_ptr", "s32", "m + 1", "first nonzero of each row, then their number"});
    add_array(c, 4, (mc_array){"col_idx", "s32", "nonzeros", "column of each nonzero"});
    add_array(c, bytes, (mc_array){"values", plan->base.math.value_type, "nonzeros", "row by row"});
}

/* Nonzeros side by side. */
static void add_items(const csr_plan *plan, mc_contract *c) {
    static const mc_array items[] = {
        [CSR_COLUMNS_S32] =
            {"items", "s32", "item_count * 4",
             "an item a warp, those of long rows first: the first row, how many rows, the most lanes of a "
             "row, and how a long row is shared"},
        [CSR_COLUMNS_U16] = {
            "items", "s32", "item_count * 4",
            "an item a warp, those of long rows first: the first row, how many rows and 256 times the most "
            "lanes of a row, the least column, and how a long row is shared"}};
    static const mc_array columns[] = {
        [CSR_COLUMNS_S32] = {"col_idx", "s32", "item_count * share * 32", "column of each slot"},
        [CSR_COLUMNS_SORTED] = {"col_idx", "s32", "item_count * share * 32",
                                "of each slot its column, and in the low bits the place of its product"},
        [CSR_COLUMNS_U16] = {"col_idx", "u16", "item_count * share * 32",
                             "column of each slot, less the least one of the item"}};
    add_array(c, 16, items[plan->column_form == CSR_COLUMNS_U16]);
    add_array(
        c, 16,
        (mc_array){
            "parts", "u16", "item_count * 32",
            "of each lane the end of its products in the item, and how many lanes of the row follow it"});
    add_array(c, 16, columns[plan->column_form]);
    add_array(c, 16,
              (mc_array){"values", plan->base.math.value_type, "item_count * share * 32",
                         "of each slot, 0 where there is no nonzero"});
}

static void make_contract(const void *data, mc_contract *c) {
    const csr_plan *plan = data;
    c->format = plan->stream ? "csr-stream" : "csr";
    (plan->stream ? add_items : add_rows)(plan, c);
    spmm_add_b(&plan->base, c);
    spmm_contract(&plan->base, false, true, c);
    c->shared_static = plan->base.shared_bytes;
    if (!plan->deal) return;
    c->grid[0] = (mc_grid_axis){"item_count", plan->base.warps};
    add_workspace(c, (unsigned)spmm_csr_piece_bytes(plan), 16,
                  "where thread blocks leave sums of rows that several of them share");
    c->workspace_each = (mc_grid_axis){"n", plan->base.tile_n};
}

static void make_facts(const void *data, mc_facts *facts) {
    const csr_plan *plan = data;
    const spmm_plan *base = &plan->base;
    add_fact(facts, "tile_rows", csr_rows(plan), "rows of C a thread block");
    add_fact(facts, "tile_columns", base->tile_n, "columns of C a thread block");
    add_fact(facts, "threads", base->threads, "a thread block");
    add_fact(facts, "shared_bytes", base->shared_bytes, "of a thread block");
    add_fact(facts, "row_lanes", plan->lanes * plan->columns, "lanes that share a row");
    add_fact(facts, "in_flight", csr_sums(plan) * plan->ahead, "elements of B that a lane asks for at once");
    add_fact(facts, "wide_path", plan->wide.emitted, "vector loads of B");
    add_fact(facts, "edge_path", plan->edge.emitted, "guarded narrow loads of B");
}

static void entry_name(const void *data, char name[MC_MAX_ENTRY]) {
    const csr_plan *plan = data;
    const spmm_plan *base = &plan->base;
    static const char *const streams[] = {"_stream", "_stream_u16", "_stream_sorted"};
    char share[24] = "";
    if (!plan->deal) snprintf(share, sizeof share, "_b%d", plan->share);
    else
        snprintf(share, sizeof share, "_h%d%s", plan->share,
                 plan->stream      ? streams[plan->column_form]
                 : plan->segmented ? "_segmented"
                                   : "");
    snprintf(name, MC_MAX_ENTRY, "spmm_%s%s%s%s%s_csr_n%d_w%d_l%d_u%d%s", base->math.lhs, base->math.rhs,
             out_element_name(base->output.element), out_act_link(&base->output), out_act_text(&base->output),
             base->tile_n, base->warps, plan->lanes, plan->ahead, share);
}

static const char *how(const void *data) {
    static const char *const ways[] = {
        "Lanes multiply what they load of B by fused multiply-adds. A is CSR, as it comes; long rows are "
        "their "
        "thread block's.",
        "Lanes multiply what they load of B by fused multiply-adds. A is CSR; long rows are dealt out."};
    const csr_plan *plan = data;
    if (plan->stream)
        return "Lanes multiply the nonzeros of several rows side by side, and add up rows in shared memory.";
    if (plan->segmented)
        return "A warp walks through the nonzeros of several rows as one sequence, and multiplies what it "
               "loads "
               "of B by fused multiply-adds.";
    return ways[plan->deal];
}

const mc_solver spmm_csr = {
    .name = "csr",
    .plan = spmm_csr_make_plan,
    .contract = make_contract,
    .facts = make_facts,
    .emit = spmm_csr_emit,
    .entry_name = entry_name,
    .estimate = spmm_csr_estimate,
    .computes = spmm_computes,
    .how = how,
};
