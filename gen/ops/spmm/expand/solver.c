/* The solver `expand`, of staging "expand": contract, facts, name and header. */
#include <stdio.h>
#include "ops/spmm/expand/expand.h"
#include "ops/spmm/by_columns.h"
#include "ops/spmm/solvers.h"
#include "parts/emit.h"

static void add_a(const expand_plan *plan, mc_contract *c) {
    c->format = "bitmap-bcrs";
    add_array(
        c, 16,
        (mc_array){"masks", "s32", "words * 2 + 2",
                   "row block by row block, for each 32 columns, up to whole 128: the number of their first "
                   "vector, and a bit for each column that has one; then the number of all vectors"});
    add_array(c, 16,
              (mc_array){"values", plan->base.math.value_type,
                         plan->base.vec > TILE_LINES ? "vectors * 16 + 32" : "vectors * 8 + 32",
                         "vectors, one behind another, by row blocks and columns"});
}

static void add_c(const expand_plan *plan, mc_contract *c) {
    const wgmma_plan *product = &plan->product;
    const int bytes = out_element_bytes(plan->base.output.element),
              span = store_span(wgmma_result_columns(product), bytes);
    add_map(c,
            (mc_map_param){.param = "c_map",
                           .array = "c",
                           .type = "out",
                           .rows = "n",
                           .cols = "m",
                           .ld = "ldc",
                           .box_rows = (unsigned)wgmma_slots(product).rows,
                           .box_cols = (unsigned)(span / bytes),
                           .swizzle = (unsigned)span,
                           .element_bytes = (unsigned)bytes,
                           .per_byte = 1},
            plan->base.c_doc);
}

/* Elements of which columns of C are multiples. */
static unsigned c_multiple(const expand_plan *plan) {
    const int bytes = out_element_bytes(plan->base.output.element);
    return plan->product.store == STORE_TENSOR ? (unsigned)(MC_TENSOR_MAP_ALIGN / bytes) : 2;
}

static void add_limits(const expand_plan *plan, mc_contract *c) {
    const wgmma_plan *product = &plan->product;
    const bool adds = plan->base.output.residual != OUT_NO_ADDEND;
    spmm_add_tile_limits(product->tile_n, product->tile_m, c);
    add_constraint(c, (mc_constraint){"ldc", c_multiple(plan), 0, NULL});
    if (adds)
        add_constraint(
            c, (mc_constraint){"ldr",
                               gemm_multiple(gemm_residual_load(&product->problem, wgmma_store_run(product))),
                               0, NULL});
    spmm_add_sums_by_columns(&plan->base, c);
}

static void make_contract(const void *data, mc_contract *c) {
    const expand_plan *plan = data;
    const spmm_plan *base = &plan->base;
    const wgmma_plan *product = &plan->product;
    const shared_tile b_tile = wgmma_lhs(product);
    const bool tensor = product->store == STORE_TENSOR;
    add_a(plan, c);
    if (tensor) out_add_factors(&base->output, c);
    else out_add_dense(&base->output, base->c_doc, (unsigned)base->align, c);
    out_add_residual(&base->output, true, (unsigned)base->align, c);
    spmm_add_shapes_by_columns(base, !tensor, c);
    spmm_add_b_by_columns(&b_tile, c);
    if (tensor) add_c(plan, c);
    add_limits(plan, c);
    c->shared_dynamic = base->shared_bytes;
    c->grid[0] = (mc_grid_axis){"n", product->tile_m};
    c->columns = (mc_grid_axis){"m", product->tile_n};
    c->grid[1] = (mc_grid_axis){NULL, product->split};
    c->grid[2] = (mc_grid_axis){NULL, 1};
    if (wgmma_is_split(product)) c->cluster[0] = c->cluster[2] = 1, c->cluster[1] = (unsigned)product->split;
    c->turn_k = INT32_MAX;
    c->overlap = base->overlap;
    c->block[0] = (unsigned)base->threads;
    c->block[1] = c->block[2] = 1;
}

static void make_facts(const void *data, mc_facts *facts) {
    const expand_plan *plan = data;
    const wgmma_plan *product = &plan->product;
    add_fact(facts, "tile_rows", product->tile_n, "rows of C a thread block");
    add_fact(facts, "tile_columns", product->tile_m, "columns of C a thread block");
    add_fact(facts, "threads", plan->base.threads, "a thread block");
    add_fact(facts, "shared_bytes", plan->base.shared_bytes, "of a thread block");
    add_fact(facts, "stage_k", wgmma_rhs(product).k, "of k, a stage");
    add_fact(facts, "stage_bytes", wgmma_stage_bytes(product), "of A, expanded, and B, a stage");
    if (wgmma_is_split(product))
        add_fact(facts, "parts", product->split, "thread blocks of a cluster, each with a part of k");
}

static void entry_name(const void *data, char name[MC_MAX_ENTRY]) {
    const expand_plan *plan = data;
    const spmm_plan *base = &plan->base;
    const wgmma_plan *product = &plan->product;
    snprintf(name, MC_MAX_ENTRY, "spmm_%s%s%s%s%s_v%d_expand_m%d_n%d_s%d_p%d", base->math.lhs, base->math.rhs,
             out_element_name(base->output.element), out_act_link(&base->output), out_act_text(&base->output),
             base->vec, product->tile_n, product->tile_m, product->stages, product->split);
}

static void emit(const void *data, mc_builder *b) {
    const expand_plan *plan = data;
    wgmma_emit(&plan->product, b);
}

static const char *how(const void *data) {
    (void)data;
    return "The transpose is computed, C^T = B^T A^T, by wgmma. One thread copies tiles of B into stages in\n"
           "shared memory, and helpers expand A's bitmaps beside them into dense tiles, zeros included, "
           "ahead of\n"
           "the warpgroups that multiply. Thread blocks stay, and take tiles in turn.";
}

const mc_solver spmm_expand = {
    .name = "expand",
    .plan = spmm_expand_make_plan,
    .contract = make_contract,
    .facts = make_facts,
    .emit = emit,
    .entry_name = entry_name,
    .estimate = spmm_expand_estimate,
    .computes = spmm_computes_by_columns,
    .how = how,
};
