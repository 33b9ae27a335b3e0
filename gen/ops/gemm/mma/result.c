/* What becomes of a warp's sums, which go straight to C. */
#include "ops/gemm/mma/mma.h"
#include "parts/product_result.h"
#include "parts/fragment.h"

static gemm_result begin_result(const mma_kernel *g) {
    mc_builder *b = g->b;
    note(b, "the lane's first row of C, and its first column");
    mc_reg first_row = add_s32(b, "c_warp_row", g->row, g->warp_row);
    mc_reg first_column = add_s32(b, "c_warp_column", g->column, g->warp_column);
    mc_reg line = add_s32(b, "c_first_line", first_row, g->place.g);
    mc_reg col = add_s32(b, "c_first_col", first_column, shl_b32(b, "c_pair_at", g->place.t, I(1)));
    gemm_result r = {.b = b,
                     .problem = &g->plan->problem,
                     .store = g->plan->store,
                     .direct = true,
                     .m = g->m,
                     .n = g->n,
                     .line = line,
                     .row = b32(b, "c_at_row"),
                     .col = col};
    gemm_begin_result(&r);
    return r;
}

/* Makes C of an mma's sums. */
static void make_octet(gemm_result *r, const mma_plan *plan, const mc_reg *sums, const mc_reg *wide,
                       int offset) {
    if (plan->form.halves) gemm_widen_sums(r->b, sums, wide);
    gemm_make_octet(r, plan->form.halves ? wide : sums, offset);
}

void mma_emit_result(const mma_kernel *g, mma_sums sums) {
    mc_reg wide[MMA_SUMS];
    heading(g->b, "C: what the output makes of the sums");
    if (g->plan->form.halves) b32_array(g->b, "wide_sum", MMA_SUMS, wide);
    gemm_result r = begin_result(g);
    for (int i = 0; i < mma_row_tiles(g->plan); i++) {
        note(g->b, "rows %d to %d of the warp's", i * MMA_ROWS, i * MMA_ROWS + MMA_ROWS - 1);
        gemm_place_rows(&r, (mc_reg){0}, i * MMA_ROWS);
        for (int j = 0; j < mma_column_tiles(g->plan); j++)
            make_octet(&r, g->plan, sums[i][j], wide, j * MMA_COLUMNS);
    }
}
