/* The gather SpMM's epilogue where C is column-major. A lane's rows of a row block are few bytes of a
 * column: so all warps put their elements into a tile in shared memory, in which the thread block's row
 * blocks adjoin, and its threads store whole pieces of columns. */
#include "ops/spmm/gather/store.h"

enum { CHUNK = 16 /* columns of a patch, at most */ };

/* The number of the thread block's first row in C. */
static mc_reg emit_block_row(const gather_emitter *e) {
    mc_builder *b = e->b;
    mc_reg block = load_special(b, "block_x", "ctaid.x");
    return mul_s32(b, "block_row", block, I((int64_t)e->plan->base.vec * e->plan->base.row_blocks));
}

/* ROW, which counts in the row block, counted in the thread block. */
static mc_reg emit_local_row(const gather_emitter *e, mc_reg row) {
    mc_builder *b = e->b;
    const spmm_plan *plan = &e->plan->base;
    if (plan->row_blocks == 1) return row;
    mc_reg block = shr_u32(b, "tile_block", e->at.place.warp, I(log2_of(plan->split)));
    return mad_s32(b, "tile_row", block, I(plan->vec), row);
}

mc_reg spmm_gather_emit_tile_at(const gather_emitter *e, const gather_path *path) {
    mc_builder *b = e->b;
    mc_reg shared = mov_shared(b, "tile_shared", NAME(gather_shared_name(e->plan)));
    int offset = spmm_gather_tile_offset(e->plan, path);
    return offset ? add_s32(b, "tile_at", shared, I(offset)) : shared;
}

column_writer spmm_gather_declare_columns(gather_emitter *e, const gather_path *path, mc_reg tile_at,
                                          int rows, int columns, mc_reg row, mc_reg col) {
    column_writer w = {.w = {.b = e->b,
                             .output = &e->plan->base.output,
                             .columns = spmm_gather_columns_of(e, path),
                             .ldc = dim_operand(e->plan->base.ldc, e->at.ldc),
                             .c_array = e->at.c_array,
                             .in_rows = e->at.stores,
                             .store = path->store,
                             .residual = e->residual},
                       .tile = spmm_gather_tile(e->plan, path)};
    w.w.residual.load = path->residual;
    columns_declare(&w, rows, columns);
    columns_put_at(&w, tile_at, emit_local_row(e, row), col);
    return w;
}

void spmm_gather_emit_tile_store(gather_emitter *e, column_writer *w, mc_reg path_col) {
    mc_builder *b = e->b;
    const spmm_plan *plan = &e->plan->base;
    heading(b, "Store: pieces of C's columns, once all rows of the thread block are there");
    EMIT(b, bar_sync, I(0));
    const tile_copy copy = {.thread = e->at.place.thread,
                            .threads = plan->threads,
                            .first_row = emit_block_row(e),
                            .first_col = path_col,
                            .m = dim_operand(plan->m, e->at.m),
                            .guard_rows = plan->guard_rows};
    columns_store_tile(w, &copy);
}

/* A lane's rows from the R-th on, PAIR of them, in COUNT columns from the COLUMN-th on of its run RUN of a
   row. */
static void emit_patch(gather_emitter *e, gather_lane_sums k, int r, int pair, int run, int column, int count,
                       mc_reg col, column_writer *w, const out_factors *factors) {
    mc_reg sums[PATCH_ROWS][OUT_MAX_RUN];
    int runs = k.columns / k.run, offset = run * k.run + column;
    for (int i = 0; i < pair; i++)
        spmm_gather_run_of_sums(e, column / 4, (r + i) * runs + run, count, sums[i]);
    columns_load_residual(w, col, offset, count, r * k.row_step, pair, 1);
    const out_patch patch = {.columns = count, .rows = pair, .sums = {sums[0], sums[1]}, .factor_row = r};
    columns_put(w, factors, &patch, r * k.row_step, offset);
}

/* Rows 2 t and 2 t + 1 make a patch together, rows g and g + 8 one each. */
static int rows_of_patch(gather_lane_sums k) { return k.row_step == 1 ? k.rows : 1; }

static void emit_patches(gather_emitter *e, gather_lane_sums k, mc_reg col, column_writer *w,
                         out_factors *factors) {
    int pair = rows_of_patch(k), count = k.run < CHUNK ? k.run : CHUNK;
    for (int run = 0; run < k.columns / k.run; run++)
        for (int column = 0; column < k.run; column += count) {
            out_load_column_factors(factors, 0, col, run * k.run + column, count);
            for (int r = 0; r < k.rows; r += pair)
                emit_patch(e, k, r, pair, run, column, count, col, w, factors);
        }
}

void spmm_gather_emit_direct_columns(gather_emitter *e, const gather_path *path, mc_reg path_col, mc_reg row,
                                     mc_reg col, out_factors *factors) {
    mc_builder *b = e->b;
    gather_lane_sums k = gather_lane_sums_of(&e->plan->base.math, path->columns);
    column_writer w = spmm_gather_declare_columns(e, path, spmm_gather_emit_tile_at(e, path),
                                                  rows_of_patch(k), k.run < CHUNK ? k.run : CHUNK, row, col);
    mc_reg first = shl_b32(b, "first_row", e->row_block, spmm_gather_log_vec(e));
    if (e->plan->base.output.residual != OUT_NO_ADDEND)
        columns_residual_address(&w, add_s32(b, "residual_first_row", first, row));
    emit_patches(e, k, add_s32(b, "c_first_col", path_col, col), &w, factors);
    spmm_gather_emit_tile_store(e, &w, path_col);
}
