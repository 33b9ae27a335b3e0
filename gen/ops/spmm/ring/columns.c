/* The ring kernel's epilogue where C is column-major. A lane's rows 2 t and 2 t + 1 of a column are one
 * store, and four lanes have the column's part of the row block. Row blocks of a thread block need not be
 * neighbours in C. Where some are (`together`), they go to C by way of shared memory (together.c).
 *
 * Rows g and g + 8, of vectors of 16 rows, are 8 elements apart. The wide path stores all columns of one and
 * then of the other. On the edge path each column is stored with both: ptxas would keep the addresses of all
 * columns for the second row, beside the sums, and spill. */
#include "ops/spmm/ring/store.h"
#include "parts/columns.h"

/* Registers that ptxas 13 takes for the tile of vectors of 16 rows besides, where elements have residuals. */
enum { RESIDUAL_SPARE = 16 };

/* Rows that a lane stores of a column before it goes to the next. */
static int rows_at_once(const ring_plan *plan, bool clamp) {
    return clamp ? ring_lane_rows(plan) : ring_pair_rows(plan);
}

static column_writer declare_writer(ring_epilogue *e, bool clamp) {
    const ring_emitter *r = e->r;
    mc_builder *b = r->at.b;
    int rows = rows_at_once(r->plan, clamp);
    column_writer w = {.w = {.b = b,
                             .output = &r->at.plan->output,
                             .columns = {dim_operand(r->at.plan->n, r->at.n), clamp, 1},
                             .ldc = dim_operand(r->at.plan->ldc, r->at.ldc),
                             .c_array = r->at.c_array,
                             .in_rows = r->at.stores,
                             .store = clamp                   ? 1
                                      : r->plan->together > 1 ? ring_tile_store(r->plan)
                                                              : ring_pair_rows(r->plan),
                             .residual = e->residual}};
    w.w.residual.load = clamp ? 1 : ring_residual_columns(r->plan);
    if (clamp || r->plan->together == 1) w.w.at = b64(b, "c_at");
    w.w.row = b32(b, clamp || r->plan->together == 1 ? "c_row" : "put_row");
    columns_declare(&w, rows, ring_run(r->plan));
    return w;
}

/* The lane's rows from the FIRST on, ROWS of them, in run C. */
static void emit_run(ring_epilogue *e, column_writer *w, int first, int rows, int c) {
    const ring_plan *plan = e->r->plan;
    int run = ring_run(plan), offset = ring_run_span(plan) * c;
    bool late = ring_loads_late(plan);
    mc_reg sums[PATCH_ROWS][OUT_MAX_RUN];
    for (int i = 0; i < rows; i++) ring_run_of_sums(e, c, first + i, sums[i]);
    if (late) ring_load_columns_of(e, c, 1, 0);
    columns_load_residual(w, e->col, offset, run, first * ring_row_step(plan), rows, ring_row_step(plan));
    const out_patch patch = {.columns = run,
                             .rows = rows,
                             .row_step = ring_row_step(plan),
                             .sums = {sums[0], sums[1]},
                             .factor_row = first,
                             .factor_column = late ? 0 : run * c};
    if (w->tile.columns > 0) {
        columns_put(w, &e->factors, &patch, first * ring_row_step(plan), offset);
        return;
    }
    columns_store_patch(w, &e->factors, &patch, e->col, offset);
    columns_advance(w, ring_run_span(plan) - run + 1);
}

void ring_emit_store_columns(ring_epilogue *e, bool clamp) {
    const ring_plan *plan = e->r->plan;
    column_writer w = declare_writer(e, clamp);
    int rows = rows_at_once(plan, clamp);
    e->factors.columns = w.w.columns;
    if (ring_loads_late(plan)) out_declare_result(&e->factors);
    else ring_load_columns_of(e, 0, ring_runs(plan), 0);
    ring_emit_row(e, w.w.row);
    columns_residual_address(&w, w.w.row);
    bool together = plan->together > 1 && !clamp;
    if (together && ring_is_tall(plan) && ring_residual_columns(plan) > 0) w.w.b->spare += RESIDUAL_SPARE;
    if (together) ring_emit_tile_start(e, &w);
    for (int first = 0; first < ring_lane_rows(plan); first += rows) {
        if (first && !together) EMIT(w.w.b, add_s32, w.w.row, w.w.row, I(ring_row_step(plan)));
        if (!together) columns_address(&w, w.w.row, e->col);
        for (int c = 0; c < ring_runs(plan); c++) emit_run(e, &w, first, rows, c);
    }
    if (together) ring_emit_tile_store(e, &w);
}
