/* The gather SpMM's instructions, from its plan.
 *
 *   thread's place -> the row block's strides (stream.c) -> [wide path] -> [edge path: tiles of 32 columns in
 *   a loop]; a path: loop.c (where to read B, loop over strides), then store.c (epilogue)
 *
 * Slots and fragments are named as in fragment.h: lane = 4 g + t; lane t holds slots 8t .. 8t + 7 of each
 * 32. */
#include "ops/spmm/gather/emit.h"
#include <stdio.h>

/* Registers that ptxas 13 takes besides. Without them it spills in order paper for sm_100 and sm_120. */
enum { PAPER_SPARE = 32, WIDE_SPARE = 16 };
/* And in the output of 128 columns of floats and 16 rows, where these lie by columns and have residuals. */
enum { COLUMNS_SPARE = 16 };

/* -- The thread's place ------------------------------------------------------------------------------- */

static void emit_row_block(gather_emitter *e) {
    mc_builder *b = e->b;
    const spmm_plan *plan = &e->plan->base;
    e->row_block = b32(b, "row_block");
    EMIT(b, mov_special, e->row_block, NAME("ctaid.x"));
    if (plan->row_blocks == 1) return;
    note(b, "%d row blocks a thread block", plan->row_blocks);
    mc_reg local = shr_u32(b, "local_block", e->at.place.warp, I(log2_of(plan->split)));
    EMIT(b, mad_s32, e->row_block, e->row_block, I(plan->row_blocks), local);
}

/* Sets this thread's place, its row block (a panel is found later) and its column tile. */
static void emit_place(gather_emitter *e) {
    spmm_emit_lane(&e->at);
    if (!e->plan->base.panels) emit_row_block(e);
    spmm_emit_tile_column(&e->at);
}

/* -- Which path --------------------------------------------------------------------------------------- */

/* Chooses the path. Every thread of the block chooses alike, so that no warp is split here. */
static void emit_choice(gather_emitter *e, mc_label edge) {
    mc_builder *b = e->b;
    const gather_plan *plan = e->plan;
    const gather_checks *checks = &plan->checks;
    const spmm_emitter *at = &e->at;
    int store = plan->wide.store, bytes = (int)out_bytes(plan->base.output.element, store);
    int load = plan->wide.residual, load_bytes = load * out_residual_bytes(&plan->base.output);
    char stores[64];
    snprintf(stores, sizeof stores, "%s of C are not aligned for %d-byte stores",
             plan->base.c_columns ? "columns" : "rows", bytes);
    heading(b, "Wide path or edge path: what the spec leaves open");
    const spmm_choice choices[] = {
        {checks->ldb, at->ldb, NULL, gather_access_columns(plan),
         "rows of B are not aligned for vector loads"},
        {checks->b_address, at->b_array, "b_low", gather_access(&plan->wide), "B itself is not"},
        {checks->ldc, at->ldc, NULL, store, stores},
        {checks->c_address, at->c_array, "c_low", bytes, "C itself is not"},
        {checks->ldr, e->residual.ld, NULL, load,
         plan->base.c_columns ? "columns of the residual are not aligned for vector loads"
                              : "rows of the residual are not aligned for vector loads"},
        {checks->r_address, e->residual.array, "residual_low", load_bytes, "the residual itself is not"}};
    spmm_emit_choice(at, checks->full_tile, choices, sizeof choices / sizeof *choices, edge);
}

/* -- Paths -------------------------------------------------------------------------------------------- */

/* Loads the wide path's scales and biases, which are on their way together with the head and row_ptr. */
static out_factors emit_early_factors(gather_emitter *e) {
    mc_builder *b = e->b;
    const spmm_plan *plan = &e->plan->base;
    mc_reg inside = {0};
    if (e->plan->checks.full_tile && out_by_columns(&plan->output)) {
        mc_reg end = add_s32(b, "tile_end", e->at.tile_col, I(plan->tile_n - 1));
        inside = setp_lt(b, "full_tile", end, dim_operand(plan->n, e->at.n));
    }
    return spmm_gather_emit_factors(e, &e->plan->wide, e->at.tile_col, inside);
}

static void emit_edge_tile(gather_emitter *e, mc_reg col) {
    const gather_path *path = &e->plan->edge;
    out_factors factors = spmm_gather_emit_factors(e, path, col, (mc_reg){0});
    spmm_gather_emit_tile(e, path, col, &factors);
}

/* Takes the tile 32 columns at a time, so that the edge path stays short. */
static void emit_edge_tiles(gather_emitter *e) {
    mc_builder *b = e->b;
    const gather_plan *plan = e->plan;
    mc_reg end = b32(b, "part_end");
    mc_label loop = label(b, "COLUMNS");
    EMIT(b, add_s32, end, e->at.tile_col, I(plan->base.tile_n));
    EMIT(b, min_s32, end, end, dim_operand(plan->base.n, e->at.n));
    mc_reg col = carried(b, "part_col", e->at.tile_col);
    set_label(b, loop);
    emit_edge_tile(e, col);
    EMIT(b, add_s32, col, col, I(plan->edge.columns));
    mc_reg again = setp_lt(b, "again", col, end);
    if (plan->prefetch) {
        note(b, "the next columns, if any, start at the head again");
        spmm_gather_emit_load_head(e);
    }
    bool shares = plan->base.split > 1 || (plan->base.panels && plan->base.warps > 1);
    if (shares) note(b, "nobody overwrites partial sums that are still being read");
    else if (plan->base.c_columns) note(b, "nobody overwrites elements of C that are still being stored");
    if (shares || plan->base.c_columns) EMIT(b, bar_sync, I(0));
    EMIT_IF(b, again, bra_uni, TO(loop));
}

static void emit_wide(gather_emitter *e, out_factors *factors) {
    const gather_path *path = &e->plan->wide;
    heading(e->b, "Wide path: %d columns, %d bytes of each row of B a lane", path->columns, path->unit);
    spmm_gather_emit_tile(e, path, e->at.tile_col, factors);
    EMIT_RET(e->b);
}

/* Where the wide path copies rows the edge path, which reads them, has other indices for a lane. */
static void emit_edge(gather_emitter *e, mc_label edge) {
    mc_builder *b = e->b;
    const gather_plan *plan = e->plan;
    b->prefix = "edge_";
    heading(b, "Edge path: 32 columns at a time, B in loads of %d byte%s", plan->edge.unit,
            plan->edge.unit == 1 ? "" : "s");
    set_label(b, edge);
    if (plan->wide.copy && plan->wide.emitted) {
        spmm_gather_emit_index_lane(e, &plan->edge);
        if (plan->prefetch) spmm_gather_emit_load_head(e);
    }
    if (plan->base.tile_n == plan->edge.columns) emit_edge_tile(e, e->at.tile_col);
    else emit_edge_tiles(e);
    EMIT_RET(b);
}

/* -- The kernel --------------------------------------------------------------------------------------- */

static void emit_kernel(gather_emitter *e) {
    mc_builder *b = e->b;
    const gather_plan *plan = e->plan;
    emit_launch_next(b, plan->base.overlap);
    emit_place(e);
    spmm_emit_shapes(&e->at);
    if (plan->base.panels) spmm_gather_emit_item(e);
    else if (plan->heads) spmm_gather_emit_head(e);
    else spmm_gather_emit_strides(e);
    spmm_gather_emit_stream(e);
    if (plan->heads) spmm_gather_emit_strides(e);
    e->at.b_array = load_array(b, "b");
    e->at.c_array = load_array(b, "c");
    e->residual = spmm_emit_residual(&e->at);
    out_factors early = {0};
    if (plan->wide.emitted) early = emit_early_factors(e);
    gathered_declare(&e->gathered);
    sums_begin(&e->sums);
    spmm_emit_row_bytes(&e->at);
    mc_label edge = label(b, "EDGE");
    if (plan->wide.emitted && plan->edge.emitted) emit_choice(e, edge);
    if (plan->wide.emitted) emit_wide(e, &early);
    if (plan->edge.emitted) emit_edge(e, edge);
}

static bool spares_for_columns(const spmm_plan *plan) {
    return plan->math.kind->real && spmm_is_tall(&plan->math) && plan->tile_n == 128 && plan->c_columns &&
           plan->output.residual != OUT_NO_ADDEND;
}

/* The same of integers and panels of 16 rows; and of floats how many fewer kernels with panels of 8 rows get,
   where elements have 32 bits and others. */
enum { PANEL_SPARE = 16, PANEL_LEAN_WORDS = 40, PANEL_LEAN = 24 };
/* Panels are many and their strides few: one more warp in flight is worth more than the registers that ptxas
   would like to have. Kernels with 16 rows, and those of integers, have none to spare. */
static int panel_spare(const spmm_plan *plan) {
    if (!plan->panels) return 0;
    if (!plan->math.kind->real) return spmm_is_tall(&plan->math) ? PANEL_SPARE : 0;
    if (spmm_is_tall(&plan->math)) return 0;
    return plan->math.b_bits == 32 ? -PANEL_LEAN_WORDS : -PANEL_LEAN;
}

void spmm_gather_emit(const void *data, mc_builder *b) {
    const gather_plan *plan = data;
    spmm_batch batch = spmm_batch_of(&plan->base);
    gather_emitter e = {.plan = plan,
                        .b = b,
                        .at = {.plan = &plan->base, .b = b},
                        .sums = {.of = &plan->base.math, .b = b},
                        .gathered = {.sums = &e.sums}};
    if (plan->base.batch) batch_begin(b, batch.arrays, batch.count);
    if (plan->base.math.order == SPMM_PAPER && !spmm_is_tall(&plan->base.math)) b->spare += PAPER_SPARE;
    if (plan->base.tile_n > 128) b->spare += WIDE_SPARE;
    b->spare += panel_spare(&plan->base);
    if (plan->base.shared_bytes) shared_array(b, gather_shared_name(plan), plan->base.shared_bytes, 16);
    emit_kernel(&e);
    if (spares_for_columns(&plan->base) && b->spare < COLUMNS_SPARE) b->spare = COLUMNS_SPARE;
}
