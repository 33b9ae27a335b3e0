/* What the ways to store of the ring kernel have in common: which sums are a lane's, and what is loaded for
 * them. */
#include "parts/fragment.h"
#include "ops/spmm/ring/store.h"

bool ring_exchanges(const ring_plan *plan) {
    return spmm_pair_columns(&plan->base.math) == 1 && !ring_is_tall(plan);
}

int ring_runs(const ring_plan *plan) { return plan->base.tile_n / ring_owners(plan) / ring_run_span(plan); }

int ring_residual_columns(const ring_plan *plan) {
    const spmm_plan *base = &plan->base;
    int most = base->c_columns ? ring_pair_rows(plan) : ring_run(plan);
    while (most * out_residual_bytes(&base->output) > RING_STORE_BYTES) most /= 2;
    bool fits = base->ldr == MC_OPEN || base->ldr % most == 0;
    return base->output.residual == OUT_NO_ADDEND ? 0 : fits ? most : 1;
}

bool ring_loads_late(const ring_plan *plan) {
    return plan->base.output.b_scale || plan->base.output.residual != OUT_NO_ADDEND ||
           (ring_is_tall(plan) && ring_run(plan) * ring_runs(plan) > RING_EARLY_COLUMNS);
}

/* Of words: an mma has two neighbouring columns, those of its rows g and g + 8. With vectors of 16 rows each
   of four mma has one column of both halves of the run. */
static void words_of_sums(const ring_epilogue *e, int c, int row, mc_reg *sums) {
    enum { LOAD = 4 /* columns of a load */ };
    bool tall = ring_is_tall(e->r->plan);
    int run = ring_run(e->r->plan);
    for (int i = 0; i < run; i++) {
        int mma = tall ? LOAD * c + i % LOAD : LOAD / 2 * c + i / 2;
        sums[i] = e->sums->acc[4 * mma + (tall ? frag_c_reg(row, i / LOAD) : frag_c_reg(i % 2, row))];
    }
}

/* A run's columns are those of one mma after another, or, after the exchange, both of one mma. With vectors
   of 16 rows they are those of two pairs, of which each mma has a column. */
void ring_run_of_sums(const ring_epilogue *e, int c, int row, mc_reg *sums) {
    const ring_plan *plan = e->r->plan;
    int run = ring_run(plan), pair = spmm_pair_columns(&plan->base.math);
    if (ring_reads_words(plan)) {
        words_of_sums(e, c, row, sums);
        return;
    }
    for (int i = 0; i < run; i++)
        sums[i] = ring_is_tall(plan) ? e->sums->acc[(pair * c + i % pair) * 4 + frag_c_reg(row, i / pair)]
                  : ring_exchanges(plan) || ring_is_narrow(plan)
                      ? e->sums->acc[c * 4 + frag_c_reg(i, row)]
                      : e->sums->acc[(run * (c / 2) + i) * 4 + frag_c_reg(c % 2, row)];
}

/* -- Rows and columns ---------------------------------------------------------------------------------- */

void ring_emit_row(const ring_epilogue *e, mc_reg row) {
    mc_builder *b = e->r->at.b;
    EMIT(b, shl_b32, row, e->row_block, I(log2_of(e->r->at.plan->vec)));
    if (ring_is_tall(e->r->plan)) EMIT(b, add_s32, row, row, e->r->at.place.g);
    else EMIT(b, mad_s32, row, e->r->at.place.t, I(2), row);
}

void ring_load_columns_of(ring_epilogue *e, int c, int count, int column) {
    int run = ring_run(e->r->plan);
    for (int i = 0; i < count; i++)
        out_load_column_factors(&e->factors, column + run * i, e->col, ring_run_span(e->r->plan) * (c + i),
                                run);
}
