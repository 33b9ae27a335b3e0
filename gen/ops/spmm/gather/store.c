/* The gather SpMM's epilogue: sums become elements of C, through shared memory where warps share a row block.
 *
 * After the mma of columns 4 word + 2 two and the next, a lane's four accumulators are two of the first
 * column, then two of the second: those of rows 2t and 2t + 1, or in the paper's order those of lane groups
 * 2t and 2t + 1 (fragment.h, frag_c_reg; gather.h, gather_lane_sums). So a lane owns two runs of neighbouring
 * columns; of vectors of 16 rows these are apart (gather_sets_apart). */
#include "ops/spmm/gather/store.h"

/* -- One warp a row block: from registers ------------------------------------------------------------- */

static gather_lane_sums lane_sums(const gather_emitter *e, const gather_path *path) {
    return gather_stored_sums(e->plan, path);
}

/* Sets ROW to the lane's first row of C; FIRST_ROW is the row block's. */
static void emit_lane_row(const gather_emitter *e, const gather_path *path, mc_reg row, mc_reg first_row) {
    mc_builder *b = e->b;
    if (e->plan->base.math.order == SPMM_SWAPPED)
        EMIT(b, mad_s32, row, e->at.place.t, I(lane_sums(e, path).rows), first_row);
    else EMIT(b, add_s32, row, e->at.place.g, first_row);
}

/* The lane's first column of C. It is where the lane loads B from, unless the lane loads for others, or the
   paper's order gives it other sums. */
static mc_reg c_column(const gather_emitter *e, const gather_path *path, mc_reg path_col, mc_reg lane_col) {
    bool swapped = e->plan->base.math.order == SPMM_SWAPPED;
    if (swapped && !path->copy) return lane_col;
    mc_reg group = swapped ? e->at.place.g : e->at.place.t;
    return mad_s32(e->b, "c_first_col", group, I(lane_sums(e, path).lane_step), path_col);
}

/* Which of the row block's rows are the lane's. */
static const char *rows_text(const gather_emitter *e, gather_lane_sums k) {
    if (e->plan->base.vec == 1) return "the row";
    return k.row_step == 1 ? "rows 2 t and 2 t + 1" : k.rows == 2 ? "rows g and g + 8" : "row g";
}

static out_factors emit_direct_factors(gather_emitter *e, const gather_path *path) {
    mc_builder *b = e->b;
    const out_kind *output = &e->plan->base.output;
    gather_lane_sums k = lane_sums(e, path);
    out_factors factors = {0};
    out_declare_factors(&factors, b, output, spmm_gather_columns_of(e, path), k.rows, k.run);
    out_declare_result(&factors);
    if (!out_by_rows(output)) return factors;
    for (int r = 0; e->plan->reorder && r < k.rows; r++)
        out_load_row_factors(&factors, r, e->panel.row[r], 0, spmm_gather_guard(e, r));
    if (e->plan->reorder) return factors;
    mc_reg row = b32(b, "factor_row");
    EMIT(b, shl_b32, row, e->row_block, spmm_gather_log_vec(e));
    emit_lane_row(e, path, row, row);
    for (int r = 0; r < k.rows; r++)
        out_load_row_factors(&factors, r, row, r * k.row_step, spmm_gather_guard(e, r));
    return factors;
}

/* ROW: the number of the next row among the lane's. Of a panel it may be beyond C. */
static void go_to_next_row(const gather_emitter *e, out_writer *w, int step, int row, mc_reg col) {
    if (e->plan->reorder) {
        out_guard_rows(w, spmm_gather_guard(e, row));
        EMIT(e->b, mov_b32, w->row, e->panel.row[row]);
        out_c_address(w, w->row, col);
        out_residual_address(w, w->row, col);
        return;
    }
    out_advance_c(w, step);
    if (!e->plan->base.panels) {
        out_advance_residual(w, step);
        return;
    }
    out_guard_rows(w, spmm_gather_guard(e, row));
    EMIT(e->b, add_s32, w->row, w->row, I(step));
    out_residual_address(w, w->row, col);
}

/* Stores from registers. Scales and biases of up to 16 columns are too many registers to hold through the
   loop: they are loaded here, all at once for a run. */
static void emit_direct(gather_emitter *e, const gather_path *path, mc_reg path_col, mc_reg lane_col,
                        out_factors *factors) {
    mc_builder *b = e->b;
    gather_lane_sums k = lane_sums(e, path);
    heading(b, "Store: %s of the row block", rows_text(e, k));
    out_writer w = spmm_gather_declare_writer(e, path, k.run);
    if (e->plan->reorder) EMIT(b, mov_b32, w.row, e->panel.row[0]);
    else emit_lane_row(e, path, w.row, shl_b32(b, "first_row", e->row_block, spmm_gather_log_vec(e)));
    mc_reg col = c_column(e, path, path_col, lane_col);
    for (int i = 0; i < k.runs; i++) {
        mc_reg sums[OUT_MAX_RUN];
        int row = gather_run_row(k, i), column = gather_run_column(k, i);
        bool next_row = i > 0 && row != gather_run_row(k, i - 1);
        if (i == 0 || column != gather_run_column(k, i - 1))
            out_load_column_factors(factors, 0, col, column, k.run);
        if (i == 0) out_c_address(&w, w.row, col);
        if (i == 0) out_residual_address(&w, w.row, col);
        spmm_gather_run_of_sums(e, 0, i, k.run, sums);
        if (next_row) go_to_next_row(e, &w, k.row_step, row, col);
        out_load_residual(&w, 0, col, column, k.run);
        out_store_run(
            &w, factors,
            &(out_run){.col = col, .offset = column, .count = k.run, .sums = sums, .factor_row = row});
    }
}

/* The same of a column-major C. */
static void emit_direct_columns(gather_emitter *e, const gather_path *path, mc_reg path_col,
                                out_factors *factors) {
    mc_builder *b = e->b;
    bool swapped = e->plan->base.math.order == SPMM_SWAPPED;
    gather_lane_sums k = lane_sums(e, path);
    heading(b, "Elements of C to the tile: %s of the row block", rows_text(e, k));
    mc_reg row = swapped ? mul_s32(b, "lane_row", e->at.place.t, I(k.rows)) : e->at.place.g;
    mc_reg col = mul_s32(b, "lane_column", swapped ? e->at.place.g : e->at.place.t, I(k.columns));
    spmm_gather_emit_direct_columns(e, path, path_col, row, col, factors);
}

/* -- Both --------------------------------------------------------------------------------------------- */

out_factors spmm_gather_emit_factors(gather_emitter *e, const gather_path *path, mc_reg path_col,
                                     mc_reg inside) {
    const out_kind *output = &e->plan->base.output;
    if (out_is_scaled(output->element)) heading(e->b, "Scales and biases");
    /* Arrays of them may be, like B, what the kernel before this one writes. */
    if (out_by_rows(output) || out_by_columns(output)) emit_grid_wait(e->b, e->plan->base.overlap, "B");
    if (e->plan->base.split == 1) return emit_direct_factors(e, path);
    return spmm_gather_emit_shared_factors(e, path, path_col, inside);
}

void spmm_gather_emit_epilogue(gather_emitter *e, const gather_path *path, mc_reg path_col, mc_reg lane_col,
                               out_factors *factors) {
    if (e->plan->base.split == 1 && e->plan->base.c_columns) emit_direct_columns(e, path, path_col, factors);
    else if (e->plan->base.split == 1) emit_direct(e, path, path_col, lane_col, factors);
    else spmm_gather_emit_shared_sums(e, path, path_col, factors);
}
