/* The frame of an mma kernel: which tile, which part of it is a warp's, and the order of its parts. */
#include "ops/gemm/mma/mma.h"

/* Registers for operands on their way, and addresses that ptxas makes ahead; and for what it makes of an mma
   that the GPU has not got. */
enum { SPARE = 16, EMULATION = 72 };

/* The thread block's tile: its number is the thread block's. */
static void take_tile(mma_kernel *g, mc_label end) {
    mc_builder *b = g->b;
    const mma_plan *plan = g->plan;
    tile_schedule s = {.b = b, .tile_rows = plan->tile_m, .tile_columns = plan->tile_n, .group = plan->group};
    schedule_begin(&s, g->m, g->n);
    schedule_take(&s, end);
    g->row = s.row, g->column = s.column;
}

static void take_part(mma_kernel *g) {
    mc_builder *b = g->b;
    const mma_plan *plan = g->plan;
    int log = log2_of(mma_warps_beside(plan));
    note(b, "the warp's part of the tile: %d x %d", plan->warp_m, plan->warp_n);
    if (mma_warps(plan) == 1) {
        g->warp_row = g->warp_column = mov_b32(b, "warp_first", I(0));
        return;
    }
    mc_reg below = shr_u32(b, "warp_below", g->place.warp, I(log));
    mc_reg beside = and_b32(b, "warp_beside", g->place.warp, I((1 << log) - 1));
    g->warp_row = mul_s32(b, "warp_row", below, I(plan->warp_m));
    g->warp_column = mul_s32(b, "warp_column", beside, I(plan->warp_n));
}

void mma_emit(const void *data, mc_builder *b) {
    const mma_plan *plan = data;
    const gemm_problem *p = &plan->problem;
    mma_kernel g = {.plan = plan, .b = b, .lhs = mma_lhs(plan), .rhs = mma_rhs(plan)};
    const gemm_batch batch = gemm_batch_of(p);
    mma_feed feed;
    mma_sums sums;
    mc_label end = label(b, "END");
    b->spare = SPARE;
    if (plan->form.emulated) b->spare += plan->form.two_in_byte ? MMA_EMULATION4 : EMULATION;
    shared_dynamic(b, "room", TILE_ALIGN);
    heading(b, "The thread block's tile of C, and the warp's part of it");
    if (p->batch) batch_begin(b, batch.arrays, batch.count);
    g.place = load_thread_place(b, mma_threads(plan));
    g.m = load_size(b, "m", "m", p->m), g.n = load_size(b, "n", "n", p->n);
    g.k = load_size(b, "k_size", "k", p->k);
    take_tile(&g, end);
    take_part(&g);
    mc_reg k_end = add_s32(b, "k_end", g.k, I(mma_stage_k(plan) - 1));
    g.k_stages = shr_u32(b, "k_stages", k_end, I(log2_of(mma_stage_k(plan))));
    g.k_held = plan->form.two_in_byte ? shr_u32(b, "k_bytes", add_s32(b, "k_even", g.k, I(1)), I(1)) : g.k;
    g.shared = mov_shared(b, "stages", NAME("room"));
    heading(b, "Copies: %d stages of %d bytes", plan->stages, mma_stage_bytes(plan));
    mma_begin_feed(&feed, &g);
    mma_emit_products(&g, &feed, sums);
    mma_emit_result(&g, sums);
    set_label(b, end);
    EMIT_RET(b);
    mma_emit_lines(&feed);
}
