/* The solver `fragments`, of staging "fragments": contract, facts, name and header. */
#include "ops/spmm/fragments/fragments.h"
#include <stdio.h>
#include "ops/spmm/by_columns.h"
#include "ops/spmm/solvers.h"

static void add_a(const fragments_plan *plan, mc_contract *c) {
    c->format = "bitmap-tiles";
    add_array(
        c, 4,
        (mc_array){"starts", "s32", "tiles * stages + 1",
                   "the number of the first slot of each stage of 128 columns of each tile of block_rows "
                   "rows, and that of all slots"});
    add_array(
        c, 16,
        (mc_array){"masks", "s32", "tiles * stages * row_blocks * 4",
                   "stage by stage, for each 32 columns, of each of the tile's row blocks: a bit for each "
                   "pair of columns that has a slot, and above these the number of the first one in the "
                   "stage"});
    add_array(c, 16,
              (mc_array){"values", plan->base.math.value_type,
                         plan->base.vec > TILE_LINES ? "slots * 32" : "slots * 16",
                         "slots in the masks' order: of each 8 rows, row by row, elements of both columns"});
}

static void add_limits(const fragments_plan *plan, mc_contract *c) {
    spmm_add_tile_limits(plan->tile_rows, plan->base.tile_n, c);
    if (fragments_store_rows(plan) > 1)
        add_constraint(c, (mc_constraint){"ldc", (unsigned)fragments_store_rows(plan), 0, NULL});
    spmm_add_sums_by_columns(&plan->base, c);
}

/* Stream: as many thread blocks as run at once. */
static void add_stream(const fragments_plan *plan, mc_contract *c) {
    const stream_sums sums = fragments_pieces(plan);
    if (!plan->stream) return;
    c->columns = (mc_grid_axis){"n", plan->base.tile_n};
    c->grid[2] = (mc_grid_axis){NULL, 1};
    c->turn_k = INT32_MAX;
    stream_add_contract(&sums, c);
    if (plan->base.k == MC_OPEN)
        add_constraint(c, (mc_constraint){"k", 0, fragments_stream_k(plan), "stages are counted in s32"});
}

static void make_contract(const void *data, mc_contract *c) {
    const fragments_plan *plan = data;
    const spmm_plan *base = &plan->base;
    const shared_tile b_tile = fragments_b(plan);
    add_a(plan, c);
    out_add_dense(&base->output, base->c_doc, (unsigned)base->align, c);
    out_add_residual(&base->output, true, (unsigned)base->align, c);
    spmm_add_shapes_by_columns(base, true, c);
    spmm_add_b_by_columns(&b_tile, c);
    add_limits(plan, c);
    c->shared_dynamic = base->shared_bytes;
    c->grid[0] = (mc_grid_axis){"m", plan->tile_rows};
    c->grid[1] = (mc_grid_axis){NULL, plan->parts};
    c->grid[2] = (mc_grid_axis){"n", base->tile_n};
    if (fragments_are_split(plan)) c->cluster[0] = c->cluster[2] = 1, c->cluster[1] = (unsigned)plan->parts;
    c->overlap = base->overlap;
    c->block[0] = (unsigned)base->threads;
    c->block[1] = c->block[2] = 1;
    add_stream(plan, c);
}

static void make_facts(const void *data, mc_facts *facts) {
    const fragments_plan *plan = data;
    add_fact(facts, "tile_rows", plan->tile_rows, "rows of C a thread block");
    add_fact(facts, "tile_columns", plan->base.tile_n, "columns of C a thread block");
    add_fact(facts, "threads", plan->base.threads, "a thread block");
    add_fact(facts, "shared_bytes", plan->base.shared_bytes, "of a thread block");
    add_fact(facts, "stage_k", FRAGMENTS_K, "of k, a stage");
    add_fact(facts, "stage_bytes", fragments_stage_bytes(plan), "of B, and of A without zeros, a stage");
    if (fragments_are_split(plan))
        add_fact(facts, "parts", plan->parts, "thread blocks of a cluster, each with a part of k");
}

static void entry_name(const void *data, char name[MC_MAX_ENTRY]) {
    const fragments_plan *plan = data;
    const spmm_plan *base = &plan->base;
    snprintf(name, MC_MAX_ENTRY, "spmm_%s%s%s%s%s_v%d_fragments_m%d_n%d_s%d_p%d%s", base->math.lhs,
             base->math.rhs, out_element_name(base->output.element), out_act_link(&base->output),
             out_act_text(&base->output), base->vec, plan->tile_rows, base->tile_n, plan->stages, plan->parts,
             plan->stream ? "_stream" : "");
}

static const char *how(const void *data) {
    const fragments_plan *plan = data;
    if (plan->stream)
        return "One thread copies A as it is packed, and tiles of B, into stages in shared memory. "
               "Warpgroups\n"
               "expand A to fragments in their registers, zeros included, and multiply by wgmma. Thread "
               "blocks\n"
               "stay, and take tiles of C in turn. The last tiles are dealt out along k, and sums of their\n"
               "pieces added up through a workspace.";
    return "One thread copies A as it is packed, and tiles of B, into stages in shared memory. Warpgroups\n"
           "expand A to fragments in their registers, zeros included, and multiply by wgmma. A thread block\n"
           "has one tile of C.";
}

const mc_solver spmm_fragments = {
    .name = "fragments",
    .plan = spmm_fragments_make_plan,
    .contract = make_contract,
    .facts = make_facts,
    .emit = spmm_fragments_emit,
    .entry_name = entry_name,
    .estimate = spmm_fragments_estimate,
    .computes = spmm_computes_by_columns,
    .how = how,
};
