/* The ring kernel's epilogue: a warp's accumulators become its rows of C, with scales and biases.
 *
 * A lane has the columns of one pair of bytes in each 16 bytes. Where that pair is one column (a B of 12 or
 * 16 bits), the lanes of g and g + 1, g even, exchange sums first: the even one gets both columns of the even
 * 16 bytes, the odd one both columns of the odd ones. Stores then have the same width, and touch as many
 * sectors, as with 8 bits. */
#include "parts/fragment.h"
#include "ops/spmm/ring/ring.h"

enum { PAIR_COLUMNS = 16 }; /* columns of an mma: 8 pairs */

static bool exchanges(const ring_plan *plan) { return spmm_pair_columns(&plan->base.math) == 1; }

/* Runs of neighbouring columns that a lane has in this warp's part of the tile. They are 8 runs apart. */
static int runs(const ring_plan *plan) { return plan->base.tile_n / plan->base.split / (8 * ring_run(plan)); }

/* With scales of B, too, a column has up to three factors: more than there are registers for in a tile. They
   come behind the loop then, a run's where the run is stored. */
static bool loads_late(const ring_plan *plan) { return plan->base.output.b_scale; }

/* Collects the sums of run C in row 2t + ROW. Its columns are those of one mma after another, or, after the
   exchange, both of one mma. */
static void run_of_sums(const ring_epilogue *e, int c, int row, mc_reg *sums) {
    const ring_plan *plan = e->r->plan;
    int run = ring_run(plan);
    for (int i = 0; i < run; i++)
        sums[i] = exchanges(plan) ? e->sums->acc[c * 4 + frag_c_reg(i, row)]
                                  : e->sums->acc[(run * (c / 2) + i) * 4 + frag_c_reg(c % 2, row)];
}

/* -- Before the loop over strides --------------------------------------------------------------------- */

static mc_reg emit_column(const ring_emitter *r) {
    mc_builder *b = r->at.b;
    const ring_plan *plan = r->plan;
    mc_reg col = b32(b, "col"), g = r->at.place.g;
    if (exchanges(plan)) {
        note(b, "lane g: columns g and g + 1 of each %d, or where g is odd g + 7 and g + 8", PAIR_COLUMNS);
        EMIT(b, and_b32, col, g, I(1));
        EMIT(b, mad_s32, col, col, I(PAIR_COLUMNS / 2 - 1), g);
        EMIT(b, add_s32, col, col, r->at.tile_col);
    } else EMIT(b, mad_s32, col, g, I(ring_run(plan)), r->at.tile_col);
    if (plan->base.split > 1) EMIT(b, mad_s32, col, r->at.part, I(plan->base.tile_n / plan->base.split), col);
    return col;
}

void ring_emit_epilogue_start(ring_epilogue *e) {
    const ring_emitter *r = e->r;
    const spmm_plan *plan = r->at.plan;
    out_columns columns = {dim_operand(plan->n, r->at.n), true, 1};
    e->col = emit_column(r);
    e->sum = ring_emit_sum_place(r);
    int count = loads_late(r->plan) ? ring_run(r->plan) : plan->tile_n / plan->split / 8;
    out_declare_factors(&e->factors, r->at.b, &plan->output, columns, 2, count);
    if (!loads_late(r->plan)) out_declare_result(&e->factors);
}

/* This lane's first row of C, of two. */
static void emit_row(const ring_epilogue *e, mc_reg row) {
    mc_builder *b = e->r->at.b;
    EMIT(b, shl_b32, row, e->row_block, I(log2_of(e->r->at.plan->vec)));
    EMIT(b, mad_s32, row, e->r->at.place.t, I(2), row);
}

void ring_emit_row_factors(ring_epilogue *e) {
    const ring_emitter *r = e->r;
    if (!out_by_rows(&r->at.plan->output)) return;
    mc_reg row = b32(r->at.b, "factor_row");
    emit_row(e, row);
    for (int odd = 0; odd < 2; odd++) out_load_row_factors(&e->factors, odd, row, odd, r->at.stores);
}

/* -- Behind it ---------------------------------------------------------------------------------------- */

/* Exchanges sums with the neighbour in g. Before, a lane has columns g and g + 8 of an mma; after it, two
   neighbouring columns. */
static void emit_exchange(const ring_epilogue *e) {
    const ring_emitter *r = e->r;
    mc_builder *b = r->at.b;
    if (!exchanges(r->plan)) return;
    heading(b, "Neighbours in g exchange sums: two columns beside one another for each");
    mc_reg give = b32(b, "give"), got = b32(b, "got");
    EMIT(b, and_b32, give, r->at.place.g, I(1));
    mc_reg odd = setp_eq(b, "odd_g", give, I(1));
    for (int i = 0; i < ring_acc_count(r->plan) / r->plan->base.split; i += 4)
        for (int row = 0; row < 2; row++) {
            mc_reg first = e->sums->acc[i + frag_c_reg(0, row)],
                   second = e->sums->acc[i + frag_c_reg(1, row)];
            EMIT(b, selp_b32, give, first, second, odd);
            EMIT(b, shfl_bfly, got, give, I(1 << FRAG_GROUP_SHIFT), I(MC_WARP - 1), H(0xffffffff));
            EMIT(b, selp_b32, first, got, first, odd);
            EMIT(b, selp_b32, second, second, got, odd);
        }
}

static void emit_run(const ring_epilogue *e, out_writer *w, int row, int c, int column) {
    int run = ring_run(e->r->plan);
    mc_reg sums[OUT_MAX_RUN];
    run_of_sums(e, c, row, sums);
    out_store_run(w, &e->factors,
                  &(out_run){.col = e->col,
                             .offset = 8 * run * c,
                             .count = run,
                             .sums = sums,
                             .factor_row = row,
                             .factor_column = column});
}

/* One row behind the other. */
static void emit_store_rows(ring_epilogue *e, out_writer *w) {
    int run = ring_run(e->r->plan);
    for (int c = 0; c < runs(e->r->plan); c++)
        out_load_column_factors(&e->factors, run * c, e->col, 8 * run * c, run);
    for (int row = 0; row < 2; row++) {
        if (row) EMIT(w->b, add_s32, w->row, w->row, I(1));
        out_c_address(w, w->row, e->col);
        for (int c = 0; c < runs(e->r->plan); c++) emit_run(e, w, row, c, run * c);
    }
}

/* Each run of both rows: what is loaded for its columns is not kept. */
static void emit_store_runs(ring_epilogue *e, out_writer *w) {
    int run = ring_run(e->r->plan);
    mc_reg at[2] = {w->at, b64(w->b, "c_at_next")};
    out_c_address(w, w->row, e->col);
    EMIT(w->b, mov_b64, at[1], at[0]);
    w->at = at[1];
    out_advance_c(w, 1);
    for (int c = 0; c < runs(e->r->plan); c++) {
        out_load_column_factors(&e->factors, 0, e->col, 8 * run * c, run);
        for (int row = 0; row < 2; row++) {
            w->at = at[row];
            emit_run(e, w, row, c, 0);
        }
    }
}

static void emit_store(ring_epilogue *e, bool clamp, int store) {
    const ring_emitter *r = e->r;
    mc_builder *b = r->at.b;
    out_writer w = {.b = b,
                    .output = &r->at.plan->output,
                    .columns = {dim_operand(r->at.plan->n, r->at.n), clamp, 1},
                    .ldc = dim_operand(r->at.plan->ldc, r->at.ldc),
                    .c_array = r->at.c_array,
                    .in_rows = r->at.stores,
                    .store = store};
    e->factors.columns = w.columns;
    out_declare_writer(&w);
    if (loads_late(r->plan)) out_declare_result(&e->factors);
    emit_row(e, w.row);
    if (loads_late(r->plan)) emit_store_runs(e, &w);
    else emit_store_rows(e, &w);
    if (r->plan->resident) EMIT(b, bra_uni, TO(e->next));
    else EMIT_RET(b);
}

static int run_bytes(const ring_plan *plan) {
    return ring_run(plan) * out_element_bytes(plan->base.output.element);
}

/* Goes to EDGE where TEST, in which bits of an address or distance are left, is not 0. */
static void branch_if_odd(mc_builder *b, mc_reg odd, mc_reg test, mc_label edge) {
    EMIT(b, setp_ne, odd, test, I(0));
    EMIT_IF(b, odd, bra_uni, TO(edge));
}

static void branch_if_not_whole(const ring_emitter *r, mc_label edge) {
    mc_builder *b = r->at.b;
    const spmm_plan *plan = r->at.plan;
    int run = ring_run(r->plan);
    mc_reg odd = pred(b, "odd_end"), test = b32(b, "test");
    if (plan->n == MC_OPEN || plan->n % plan->tile_n) {
        note(b, "the tile reaches beyond n");
        EMIT(b, add_s32, test, r->at.tile_col, I(plan->tile_n));
        EMIT(b, setp_gt, odd, test, dim_operand(plan->n, r->at.n));
        EMIT_IF(b, odd, bra_uni, TO(edge));
    }
    if (plan->ldc == MC_OPEN) {
        note(b, "rows of C are not aligned for %s columns at once", run == 2 ? "two" : "four");
        EMIT(b, and_b32, test, r->at.ldc, I(run - 1));
        branch_if_odd(b, odd, test, edge);
    }
    if (plan->align < run_bytes(r->plan)) {
        note(b, "C itself is not");
        EMIT(b, cvt_low, test, r->at.c_array);
        EMIT(b, and_b32, test, test, I(run_bytes(r->plan) - 1));
        branch_if_odd(b, odd, test, edge);
    }
}

/* The wide path, which leaves what is odd to EDGE. */
static void emit_wide(ring_epilogue *e, bool always, mc_label edge) {
    int run = ring_run(e->r->plan);
    if (!always) branch_if_not_whole(e->r, edge);
    heading(e->r->at.b, "Store: rows 2 t and 2 t + 1 of the row block, %s columns of each %d",
            run == 2 ? "two" : "four", 8 * run);
    emit_store(e, false, run);
}

void ring_emit_output(ring_epilogue *e) {
    mc_builder *b = e->r->at.b;
    const spmm_plan *plan = e->r->at.plan;
    bool aligned = plan->ldc == MC_OPEN || plan->ldc % ring_run(e->r->plan) == 0;
    bool always = aligned && plan->ldc != MC_OPEN && plan->n != MC_OPEN && plan->n % plan->tile_n == 0 &&
                  plan->align >= run_bytes(e->r->plan);
    mc_label edge = label(b, "EDGE");
    sums_settle(e->sums, SPMM_PAIR_ODD, (mc_reg){0});
    ring_emit_sum(e->r, e->sum, e->sums);
    emit_exchange(e);
    if (e->r->plan->tensor) emit_grid_wait(b, plan->overlap, "B");
    if (aligned) emit_wide(e, always, edge);
    if (always) return;
    b->prefix = "edge_";
    heading(b, "Store, column by column, what lies inside n");
    set_label(b, edge);
    emit_store(e, true, 1);
}
