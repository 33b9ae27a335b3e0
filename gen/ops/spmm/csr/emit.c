/* The csr kernel's instructions, from its plan.
 *
 *   rows.c (this group's row) -> [wide path] -> [edge path]
 *   a path: [segmented.c] -> loop.c (the row's sums) -> join.c (of long rows) -> store
 *   without a list: block_rows.c leads from there back to loop.c until no long row is left
 *
 * The kernel with `stream` is in stream.c. */
#include "ops/spmm/csr/emit.h"
#include "parts/fragment.h"
#include <stdio.h>

/* -- Which path --------------------------------------------------------------------------------------- */

static void emit_choice(csr_emitter *e, mc_label edge) {
    const csr_plan *plan = e->plan;
    const csr_path *wide = &plan->wide;
    const csr_checks *c = &plan->checks;
    const spmm_emitter *at = &e->at;
    int load = wide->load * csr_element_bytes(plan),
        store = wide->store * out_element_bytes(plan->base.output.element),
        residual = wide->residual * out_residual_bytes(&plan->base.output);
    heading(e->b, "Wide path or edge path: what the spec leaves open");
    const spmm_choice choices[] = {
        {c->ldb, at->ldb, NULL, wide->load, "rows of B are not aligned for vector loads"},
        {c->b_address, at->b_array, "b_low", load, "B itself is not"},
        {c->ldc, at->ldc, NULL, wide->store, "rows of C are not aligned for vector stores"},
        {c->c_address, at->c_array, "c_low", store, "C itself is not"},
        {c->ldr, e->residual.ld, NULL, wide->residual,
         "rows of the residual are not aligned for vector loads"},
        {c->r_address, e->residual.array, "residual_low", residual, "the residual itself is not"}};
    spmm_emit_choice(at, c->full_tile, choices, sizeof choices / sizeof *choices, edge);
}

/* -- The kernel --------------------------------------------------------------------------------------- */

static void emit_path(csr_emitter *e, const csr_path *path) {
    mc_builder *b = e->b;
    const bool shares = csr_by_blocks(e->plan);
    mc_label end = label(b, "END"), row = label(b, "ROW");
    if (shares) e->long_rows.next = label(b, "NEXT_ROW");
    mc_reg lane_col = mad_s32(b, "lane_col", e->column, I(path->load), e->at.tile_col);
    if (e->plan->segmented) spmm_csr_emit_segments(e, path, lane_col);
    if (shares) set_label(b, row);
    spmm_csr_emit_loop(e, path, lane_col);
    if (e->plan->deal) spmm_csr_emit_join(e, path, end);
    if (shares) spmm_csr_emit_block_join(e, path);
    spmm_csr_emit_store(e, path, lane_col);
    if (shares) spmm_csr_emit_next_row(e, row);
    if (e->plan->deal) set_label(b, end);
    EMIT_RET(b);
}

static void emit_kernel(csr_emitter *e) {
    mc_builder *b = e->b;
    const csr_plan *plan = e->plan;
    emit_launch_next(b, plan->base.overlap);
    spmm_emit_shapes(&e->at);
    spmm_csr_emit_rows(e);
    if (csr_by_blocks(plan)) spmm_csr_find_block_rows(e);
    e->col_idx = load_array(b, "col_idx"), e->values = load_array(b, "values");
    e->at.b_array = load_array(b, "b"), e->at.c_array = load_array(b, "c");
    e->residual = spmm_emit_residual(&e->at);
    spmm_emit_row_bytes(&e->at);
    emit_grid_wait(b, plan->base.overlap, "B");
    mc_label edge = label(b, "EDGE");
    if (plan->wide.emitted && plan->edge.emitted) emit_choice(e, edge);
    if (plan->wide.emitted) {
        heading(b, "Wide path: whole tiles of aligned rows");
        emit_path(e, &plan->wide);
    }
    if (!plan->edge.emitted) return;
    b->prefix = "edge_";
    heading(b, "Edge path: any rows, any columns");
    set_label(b, edge);
    emit_path(e, &plan->edge);
}

/* One more warp in flight hides more latency than the registers that ptxas would like to have. Where a lane
   has many sums it spills without some more. */
enum { FEW_SUMS = 8, MANY_IN_FLIGHT = 32, SPARE_OF_FEW = -8, SPARE_OF_MANY = 8, SPARE_OF_SEGMENTED = -24 };
/* ptxas needs no registers of their own for what finds the next long row and joins it: no row of B is in
   flight there. */
enum { SPARE_OF_ROWS = -8 };

static int spare_of(const csr_plan *plan) {
    int spare = csr_sums(plan) <= FEW_SUMS ? SPARE_OF_FEW : SPARE_OF_MANY;
    if (plan->segmented && csr_sums(plan) * plan->ahead < MANY_IN_FLIGHT) spare = SPARE_OF_SEGMENTED;
    if (!csr_by_blocks(plan) || plan->base.warps == 1 || plan->base.output.act || csr_sums(plan) > FEW_SUMS)
        return spare;
    if (csr_sums(plan) < FEW_SUMS && csr_sums(plan) * plan->ahead >= MANY_IN_FLIGHT / 2)
        spare += SPARE_OF_ROWS;
    return spare + SPARE_OF_ROWS;
}

void spmm_csr_emit(const void *data, mc_builder *b) {
    const csr_plan *plan = data;
    csr_emitter e = {.plan = plan, .b = b, .at = {.plan = &plan->base, .b = b}};
    if (csr_partial_bytes(plan)) shared_array(b, "partial", (unsigned)csr_partial_bytes(plan), 16);
    if (plan->stream) {
        spmm_csr_emit_stream(&e);
        return;
    }
    if (plan->segmented)
        shared_array(b, CSR_SEGMENTS, (unsigned)(plan->base.warps * csr_segment_bytes(plan)), 16);
    b->spare += spare_of(plan);
    emit_kernel(&e);
}
