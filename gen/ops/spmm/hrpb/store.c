/* The epilogue of the solver `hrpb`: a lane has two neighbouring columns of C of each mma, in rows g and
 * g + 8 of each brick row. They are stored together where C allows it, else one by one. */
#include "ops/spmm/hrpb/emit.h"

typedef struct storing {
    hrpb_emitter *e;
    out_factors factors;
    out_residual residual;
    mc_reg col; /* the lane's first column of C */
} storing;

static int rows_of(const hrpb_plan *plan) { return plan->block.brick_rows * HRPB_HALVES; }

static out_columns columns_of(const hrpb_emitter *e, int whole) {
    const spmm_plan *base = &e->plan->base;
    const bool full = base->n != MC_OPEN && base->n % base->tile_n == 0;
    return (out_columns){dim_operand(base->n, e->at.n), !full, whole};
}

static void load_factors(storing *s) {
    hrpb_emitter *e = s->e;
    const hrpb_plan *plan = e->plan;
    const out_kind *output = &plan->base.output;
    heading(e->b, "Scales and biases");
    out_declare_factors(&s->factors, e->b, output, columns_of(e, 1), rows_of(plan),
                        hrpb_mma(plan) * HRPB_LANE_N);
    out_declare_result(&s->factors);
    for (int r = 0; r < rows_of(plan); r++)
        out_load_row_factors(&s->factors, r, e->row, r * HRPB_TILE_ROWS / HRPB_HALVES, e->has_row[r]);
    for (int n = 0; n < hrpb_mma(plan); n++)
        out_load_column_factors(&s->factors, n * HRPB_LANE_N, s->col, n * HRPB_N, HRPB_LANE_N);
}

static void store_row(storing *s, out_writer *w, int r) {
    hrpb_emitter *e = s->e;
    for (int n = 0; n < hrpb_mma(e->plan); n++) {
        const mc_reg *sums = hrpb_acc(e, r / HRPB_HALVES, n) + r % HRPB_HALVES * HRPB_LANE_N;
        out_load_residual(w, 0, s->col, n * HRPB_N, HRPB_LANE_N);
        out_store_run(w, &s->factors,
                      &(out_run){.col = s->col,
                                 .offset = n * HRPB_N,
                                 .count = HRPB_LANE_N,
                                 .sums = sums,
                                 .factor_row = r,
                                 .factor_column = n * HRPB_LANE_N});
    }
}

/* Stores of COLUMNS neighbouring columns. */
static void store_by(storing *s, int columns) {
    hrpb_emitter *e = s->e;
    mc_builder *b = e->b;
    const int step = HRPB_TILE_ROWS / HRPB_HALVES;
    out_writer w = {.b = b,
                    .output = &e->plan->base.output,
                    .columns = columns_of(e, columns),
                    .ldc = dim_operand(e->plan->base.ldc, e->at.ldc),
                    .c_array = e->at.c_array,
                    .in_rows = e->has_row[0],
                    .store = columns,
                    .residual = s->residual};
    w.residual.load = 1;
    w.residual.count = HRPB_LANE_N;
    out_declare_writer(&w);
    EMIT(b, mov_b32, w.row, e->row);
    out_c_address(&w, w.row, s->col);
    for (int r = 0; r < rows_of(e->plan); r++) {
        if (r > 0) {
            out_advance_c(&w, step);
            out_guard_rows(&w, e->has_row[r]);
            EMIT(b, add_s32, w.row, w.row, I(step));
        }
        out_residual_address(&w, w.row, s->col);
        store_row(s, &w, r);
    }
}

/* Goes to SINGLE where two columns of C are not always inside of n together, or not aligned. */
static void test_pairs(storing *s, mc_label single) {
    hrpb_emitter *e = s->e;
    mc_builder *b = e->b;
    const spmm_plan *base = &e->plan->base;
    const int bytes = (int)out_bytes(base->output.element, HRPB_LANE_N);
    mc_reg bits = b32(b, "pair_bits");
    EMIT(b, or_b32, bits, dim_operand(base->n, e->at.n), dim_operand(base->ldc, e->at.ldc));
    EMIT(b, and_b32, bits, bits, I(HRPB_LANE_N - 1));
    if (base->align < bytes) {
        mc_reg low = and_b32(b, "c_odd", cvt_low(b, "c_low", e->at.c_array), I(bytes - 1));
        EMIT(b, or_b32, bits, bits, low);
    }
    EMIT_IF(b, setp_ne(b, "is_odd", bits, I(0)), bra_uni, TO(single));
}

void spmm_hrpb_emit_store(hrpb_emitter *e) {
    mc_builder *b = e->b;
    const spmm_plan *base = &e->plan->base;
    mc_label single = label(b, "SINGLE"), stored = label(b, "STORED");
    mc_reg col = mad_s32(b, "lane_col", e->at.place.t, I(HRPB_LANE_N), e->at.tile_col);
    if (e->warp_col.id) col = add_s32(b, "lane_warp_col", col, e->warp_col);
    storing s = {.e = e, .col = col, .residual = spmm_emit_residual(&e->at)};
    load_factors(&s);
    const bool odd = (base->n != MC_OPEN && base->n % HRPB_LANE_N != 0) ||
                     (base->ldc != MC_OPEN && base->ldc % HRPB_LANE_N != 0);
    if (!odd) {
        heading(b, "Store: two columns of C together");
        test_pairs(&s, single);
        store_by(&s, HRPB_LANE_N);
        EMIT(b, bra_uni, TO(stored));
    }
    heading(b, "Store: column by column");
    set_label(b, single);
    b->prefix = "single_";
    store_by(&s, 1);
    b->prefix = NULL;
    set_label(b, stored);
}
