/* How a wgmma kernel makes C of its sums: by result.h; then straight to C, or through shared memory by tensor
   copies (tile_store.h). */
#include "parts/wgmma/wgmma.h"
#include "parts/emit.h"
#include "parts/fragment.h"

enum { OCTET_SUMS = RESULT_ROWS * RESULT_RUN };

static bool is_direct(const wgmma_kernel *g) { return g->plan->store != STORE_TENSOR; }

/* -- Begin -------------------------------------------------------------------------------------------- */

static void begin_store(wgmma_result *r) {
    const wgmma_kernel *g = r->g;
    const wgmma_plan *plan = g->plan;
    r->store = (tile_store){.b = g->b,
                            .param = "c_map",
                            .columns = wgmma_result_columns(plan),
                            .bytes = out_element_bytes(plan->problem.output.element),
                            .adds = plan->adds,
                            .slots = wgmma_slots(g->plan),
                            .warp = g->roles.warp,
                            .lane = g->roles.lane,
                            .warp_row = g->roles.warp_row,
                            .product = g->product};
    int stages = plan->stages * wgmma_stage_bytes(plan);
    r->store.first = add_s32(g->b, "slots", g->pipe.first, I(stages));
    store_begin(&r->store);
}

/* Whether a row of C matters for more than its sums. */
static bool looks_at_rows(const wgmma_kernel *g) {
    const out_kind *output = &g->plan->problem.output;
    return is_direct(g) || out_by_rows(output) || output->residual != OUT_NO_ADDEND;
}

static bool looks_at_columns(const wgmma_kernel *g) {
    const out_kind *output = &g->plan->problem.output;
    return is_direct(g) || out_by_columns(output) || output->residual != OUT_NO_ADDEND;
}

void wgmma_begin_result(wgmma_result *r, const wgmma_kernel *g) {
    mc_builder *b = g->b;
    *r = (wgmma_result){.g = g};
    if (!is_direct(g)) begin_store(r);
    if (wgmma_stores_sums(g->plan)) return;
    r->lane = (gemm_result){.b = b,
                            .problem = &g->plan->problem,
                            .store = wgmma_store_run(g->plan),
                            .direct = is_direct(g),
                            .m = g->m,
                            .n = g->n};
    mc_reg lane = g->roles.lane;
    if (looks_at_rows(g)) {
        note(b, "the lane's first row of C, of 64");
        mc_reg line = shr_u32(b, "c_g", lane, I(FRAG_GROUP_SHIFT));
        r->lane.line = add_s32(b, "c_first_line", g->roles.warp_row, line);
        r->lane.row = b32(b, "c_at_row");
    }
    if (looks_at_columns(g)) {
        note(b, "its first column, of 8");
        r->pair = shl_b32(b, "c_pair_at", and_b32(b, "c_thread", lane, I(FRAG_THREAD_MASK)), I(1));
        r->lane.col = b32(b, "c_at_col");
    }
    gemm_begin_result(&r->lane);
    if (wgmma_has_halves(g->plan)) b32_array(b, "wide_sum", wgmma_result_columns(g->plan) / 2, r->wide);
}

/* -- A block of 64 rows --------------------------------------------------------------------------------- */

static int octets(const wgmma_result *r) { return wgmma_result_columns(r->g->plan) / RESULT_OCTET; }

static void make_rows(wgmma_result *r, const mc_reg *sums, mc_reg row, int offset, mc_reg column) {
    mc_builder *b = r->g->b;
    bool halves = wgmma_has_halves(r->g->plan);
    note(b, "what the output makes of the sums");
    if (r->lane.col.id) EMIT(b, add_s32, r->lane.col, column, r->pair);
    gemm_place_rows(&r->lane, row, offset);
    for (int i = 0; i < octets(r); i++) {
        if (halves) gemm_widen_sums(b, &sums[i * RESULT_ROWS], &r->wide[i * OCTET_SUMS]);
        gemm_make_octet(&r->lane, halves ? &r->wide[i * OCTET_SUMS] : &sums[i * OCTET_SUMS],
                        i * RESULT_OCTET);
    }
}

/* The registers that have two elements each, of those that have sums. */
static void take_pairs(const mc_reg *sums, int count, mc_reg *pairs) {
    for (int i = 0; i < count / RESULT_RUN; i++) pairs[i] = sums[i * RESULT_RUN];
}

void wgmma_store_result(wgmma_result *r, const mc_reg *sums, mc_reg row, int offset, mc_reg column) {
    mc_reg pairs[WGMMA_SUMS / RESULT_RUN];
    bool as_they_are = wgmma_stores_sums(r->g->plan);
    if (!as_they_are) make_rows(r, sums, row, offset, column);
    if (is_direct(r->g)) return;
    if (!as_they_are && wgmma_has_halves(r->g->plan)) sums = r->wide;
    if (!as_they_are && r->store.bytes != WORD) {
        take_pairs(sums, octets(r) * OCTET_SUMS, pairs);
        sums = pairs;
    }
    store_tile(&r->store, sums, row, offset, column);
}

void wgmma_end_result(const wgmma_result *r) {
    if (!is_direct(r->g)) store_end(&r->store);
}
