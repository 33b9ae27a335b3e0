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

/* Collects the sums of run C in row 2t + ROW. Its columns are those of one mma after another, or, after the
   exchange, both of one mma. */
static void run_of_sums(const ring_emitter *r, int c, int row, mc_reg *sums) {
    int run = ring_run(r->plan);
    for (int i = 0; i < run; i++)
        sums[i] = exchanges(r->plan) ? r->sums.acc[c * 4 + frag_c_reg(i, row)]
                                     : r->sums.acc[(run * (c / 2) + i) * 4 + frag_c_reg(c % 2, row)];
}

void ring_emit_column(ring_emitter *r) {
    mc_builder *b = r->e.b;
    const ring_plan *plan = r->plan;
    mc_reg col = r->col = b32(b, "col");
    if (exchanges(plan)) {
        note(b, "lane g: columns g and g + 1 of each %d, or where g is odd g + 7 and g + 8", PAIR_COLUMNS);
        EMIT(b, and_b32, col, r->e.place.g, I(1));
        EMIT(b, mad_s32, col, col, I(PAIR_COLUMNS / 2 - 1), r->e.place.g);
        EMIT(b, add_s32, col, col, r->e.tile_col);
    } else EMIT(b, mad_s32, col, r->e.place.g, I(ring_run(plan)), r->e.tile_col);
    if (plan->base.split > 1) EMIT(b, mad_s32, col, r->e.part, I(plan->base.tile_n / plan->base.split), col);
}

/* Exchanges sums with the neighbour in g. Before, a lane has columns g and g + 8 of an mma; after it, two
   neighbouring columns. */
static void emit_exchange(ring_emitter *r) {
    mc_builder *b = r->e.b;
    if (!exchanges(r->plan)) return;
    heading(b, "Neighbours in g exchange sums: two columns beside one another for each");
    mc_reg odd = pred(b, "odd_g"), give = b32(b, "give"), got = b32(b, "got");
    EMIT(b, and_b32, give, r->e.place.g, I(1));
    EMIT(b, setp_eq, odd, give, I(1));
    for (int i = 0; i < ring_acc_count(r->plan) / r->plan->base.split; i += 4)
        for (int row = 0; row < 2; row++) {
            mc_reg first = r->sums.acc[i + frag_c_reg(0, row)], second = r->sums.acc[i + frag_c_reg(1, row)];
            EMIT(b, selp_b32, give, first, second, odd);
            EMIT(b, shfl_bfly, got, give, I(1 << FRAG_GROUP_SHIFT), I(MC_WARP - 1), H(0xffffffff));
            EMIT(b, selp_b32, first, got, first, odd);
            EMIT(b, selp_b32, second, second, got, odd);
        }
}

static void emit_store(ring_emitter *r, bool clamp, int store) {
    mc_builder *b = r->e.b;
    spmm_emitter *e = &r->e;
    int run = ring_run(r->plan), apart = 8 * run;
    out_writer w = {.b = b,
                    .output = &r->plan->base.output,
                    .columns = {dim_operand(r->plan->base.n, e->n), clamp, 1},
                    .ldc = dim_operand(r->plan->base.ldc, e->ldc),
                    .c_array = e->c_array,
                    .in_rows = e->stores,
                    .store = store};
    out_factors *f = &r->factors;
    f->columns = w.columns;
    out_declare_writer(&w);
    EMIT(b, shl_b32, w.row, r->c_row_block, I(log2_of(r->plan->base.vec)));
    EMIT(b, mad_s32, w.row, e->place.t, I(2), w.row);
    for (int c = 0; c < runs(r->plan); c++) out_load_column_factors(f, run * c, r->col, apart * c, run);
    for (int row = 0; row < 2; row++) {
        if (row) EMIT(b, add_s32, w.row, w.row, I(1));
        out_c_address(&w, w.row, r->col);
        for (int c = 0; c < runs(r->plan); c++) {
            mc_reg sums[OUT_MAX_RUN];
            run_of_sums(r, c, row, sums);
            out_store_run(&w, f,
                          &(out_run){.col = r->col,
                                     .offset = apart * c,
                                     .count = run,
                                     .sums = sums,
                                     .factor_row = row,
                                     .factor_column = run * c});
        }
    }
    if (r->plan->resident) EMIT(b, bra_uni, TO(r->next));
    else EMIT_RET(b);
}

static int run_bytes(const ring_plan *plan) {
    return ring_run(plan) * out_element_bytes(plan->base.output.element);
}

static void branch_if_not_whole(ring_emitter *r, mc_label edge) {
    mc_builder *b = r->e.b;
    const ring_plan *plan = r->plan;
    mc_reg odd = pred(b, "odd_end"), test = b32(b, "test");
    if (plan->base.n == MC_OPEN || plan->base.n % plan->base.tile_n) {
        note(b, "the tile reaches beyond n");
        EMIT(b, add_s32, test, r->e.tile_col, I(plan->base.tile_n));
        EMIT(b, setp_gt, odd, test, dim_operand(plan->base.n, r->e.n));
        EMIT_IF(b, odd, bra_uni, TO(edge));
    }
    if (plan->base.ldc == MC_OPEN) {
        note(b, "rows of C are not aligned for %s columns at once", ring_run(plan) == 2 ? "two" : "four");
        EMIT(b, and_b32, test, r->e.ldc, I(ring_run(plan) - 1));
        EMIT(b, setp_ne, odd, test, I(0));
        EMIT_IF(b, odd, bra_uni, TO(edge));
    }
    if (plan->base.align < run_bytes(plan)) {
        note(b, "C itself is not");
        EMIT(b, cvt_low, test, r->e.c_array);
        EMIT(b, and_b32, test, test, I(run_bytes(plan) - 1));
        EMIT(b, setp_ne, odd, test, I(0));
        EMIT_IF(b, odd, bra_uni, TO(edge));
    }
}

void ring_emit_output(ring_emitter *r) {
    mc_builder *b = r->e.b;
    const ring_plan *plan = r->plan;
    int run = ring_run(plan);
    bool aligned = plan->base.ldc == MC_OPEN || plan->base.ldc % run == 0;
    bool always = aligned && plan->base.ldc != MC_OPEN && plan->base.n != MC_OPEN &&
                  plan->base.n % plan->base.tile_n == 0 && plan->base.align >= run_bytes(plan);
    mc_label edge = label(b, "EDGE");
    sums_settle(&r->sums, SPMM_PAIR_ODD, (mc_reg){0});
    ring_emit_sum(r);
    emit_exchange(r);
    if (r->plan->tensor) emit_grid_wait(r->e.b, r->plan->base.overlap, "B");
    if (aligned) {
        if (!always) branch_if_not_whole(r, edge);
        heading(b, "Store: rows 2 t and 2 t + 1 of the row block, %s columns of each %d",
                run == 2 ? "two" : "four", 8 * run);
        emit_store(r, false, run);
    }
    if (always) return;
    b->prefix = "edge_";
    heading(b, "Store, column by column, what lies inside n");
    set_label(b, edge);
    emit_store(r, true, 1);
}

void ring_declare_factors(ring_emitter *r) {
    spmm_emitter *e = &r->e;
    out_columns columns = {dim_operand(r->plan->base.n, e->n), true, 1};
    out_declare_factors(&r->factors, e->b, &r->plan->base.output, columns, 2,
                        r->plan->base.tile_n / r->plan->base.split / 8);
}

void ring_emit_row_factors(ring_emitter *r) {
    mc_builder *b = r->e.b;
    spmm_emitter *e = &r->e;
    if (!out_by_rows(&r->plan->base.output)) return;
    mc_reg row = b32(b, "factor_row");
    EMIT(b, shl_b32, row, r->c_row_block, I(log2_of(r->plan->base.vec)));
    EMIT(b, mad_s32, row, e->place.t, I(2), row);
    for (int odd = 0; odd < 2; odd++) out_load_row_factors(&r->factors, odd, row, odd, e->stores);
}
