/* What becomes of a warp's sums: the output's arithmetic in registers (output.h), two neighbouring columns at
   a time, and from there to C. */
#include "ops/gemm/mma/mma.h"
#include "parts/fragment.h"

enum { RUN = 2, HALVES = 2 }; /* columns that a lane has side by side; rows that it has of an mma's 16 */

typedef struct mma_result {
    const mma_kernel *g;
    mc_builder *b;
    out_writer writer;
    out_factors factors;
    mc_reg line, col;                                       /* the lane's first row and column of C */
    mc_reg row, at_col;                                     /* scratch */
    mc_reg inside[HALVES], at[HALVES], residual_at[HALVES]; /* of the two rows at hand */
} mma_result;

static mc_operand leading(mc_builder *b, const char *name, int64_t fixed) {
    return dim_operand(fixed, load_shape(b, name, fixed == MC_OPEN));
}

static out_residual residual_of(const mma_kernel *g) {
    const gemm_problem *p = &g->plan->problem;
    if (p->output.residual == OUT_NO_ADDEND) return (out_residual){0};
    return (out_residual){.array = load_array(g->b, "residual"),
                          .ld = leading(g->b, "ldr", p->ldr),
                          .load = mma_residual_load(g->plan),
                          .count = RUN};
}

static void begin_writer(mma_result *r) {
    const mma_kernel *g = r->g;
    const gemm_problem *p = &g->plan->problem;
    mc_builder *b = r->b;
    r->writer = (out_writer){
        .b = b,
        .output = &p->output,
        .columns = {.n = dim_operand(p->n, g->n), .clamp = true, .whole = g->plan->store},
        .in_rows = pred(b, "in_rows"),
        .store = g->plan->store,
        .residual = residual_of(g),
        .c_array = load_array(b, "c"),
        .ldc = leading(b, "ldc", p->ldc),
    };
    out_declare_factors(&r->factors, b, &p->output, (out_columns){.n = r->writer.columns.n}, HALVES, RUN);
    if (out_by_columns(&p->output)) r->factors.inside = pred(b, "in_columns"), r->at_col = b32(b, "at_col");
    out_declare_result(&r->factors);
    out_declare_writer(&r->writer);
}

static void declare_rows(mma_result *r) {
    mc_builder *b = r->b;
    r->inside[0] = r->writer.in_rows, r->at[0] = r->writer.at, r->residual_at[0] = r->writer.residual.at;
    r->inside[1] = pred(b, "in_rows_below"), r->at[1] = b64(b, "c_at_below");
    if (r->residual_at[0].id) r->residual_at[1] = b64(b, "residual_at_below");
    r->row = b32(b, "c_at_row");
}

static void begin_result(mma_result *r) {
    const mma_kernel *g = r->g;
    mc_builder *b = r->b;
    note(b, "the lane's first row of C, and its first column");
    mc_reg first_row = add_s32(b, "c_warp_row", g->row, g->warp_row);
    mc_reg first_column = add_s32(b, "c_warp_column", g->column, g->warp_column);
    r->line = add_s32(b, "c_first_line", first_row, g->place.g);
    r->col = add_s32(b, "c_first_col", first_column, shl_b32(b, "c_pair_at", g->place.t, I(1)));
    begin_writer(r);
    declare_rows(r);
}

/* The output's writer of one of the lane's two rows. */
static void take_row(mma_result *r, int half) {
    r->writer.in_rows = r->inside[half], r->writer.at = r->at[half];
    r->writer.residual.at = r->residual_at[half];
}

/* Where the lane's rows of the warp's OFFSET-th and 15 more are: of C, and of the residual. */
static void place_rows(mma_result *r, int offset) {
    mc_builder *b = r->b;
    for (int half = 0; half < HALVES; half++) {
        take_row(r, half);
        EMIT(b, add_s32, r->row, r->line, I(offset + half * MMA_COLUMNS));
        EMIT(b, setp_lt, r->writer.in_rows, r->row, r->g->m);
        out_load_row_factors(&r->factors, half, r->row, 0, r->writer.in_rows);
        out_c_address(&r->writer, r->row, r->col);
        out_residual_address(&r->writer, r->row, r->col);
    }
}

/* The factors of the lane's two columns OFFSET columns on, of those that there are. */
static void load_columns(mma_result *r, int offset) {
    mc_builder *b = r->b;
    int step = r->g->plan->store;
    for (int i = 0; i < RUN && r->factors.inside.id; i += step) {
        EMIT(b, add_s32, r->at_col, r->col, I(offset + i));
        EMIT(b, setp_lt, r->factors.inside, r->at_col, r->g->n);
        out_load_column_factors(&r->factors, i, r->col, offset + i, step);
    }
}

/* The sums of one mma. */
static void store_octet(mma_result *r, const mc_reg *sums, int offset) {
    load_columns(r, offset);
    for (int half = 0; half < HALVES; half++) {
        const out_run run = {.col = r->col,
                             .offset = offset,
                             .count = RUN,
                             .sums = &sums[frag_c_reg(half, 0)],
                             .factor_row = half};
        take_row(r, half);
        out_load_residual(&r->writer, 0, r->col, offset, RUN);
        out_store_run(&r->writer, &r->factors, &run);
    }
}

void mma_emit_result(const mma_kernel *g, mma_sums sums) {
    mma_result r = {.g = g, .b = g->b};
    heading(g->b, "C: what the output makes of the sums");
    begin_result(&r);
    for (int i = 0; i < mma_row_tiles(g->plan); i++) {
        note(g->b, "rows %d to %d of the warp's", i * MMA_ROWS, i * MMA_ROWS + MMA_ROWS - 1);
        place_rows(&r, i * MMA_ROWS);
        for (int j = 0; j < mma_column_tiles(g->plan); j++) store_octet(&r, sums[i][j], j * MMA_COLUMNS);
    }
}
