/* The producer of a wgmma kernel: one thread copies tiles of A and B, as far ahead as stages are empty. */
#include "ops/gemm/wgmma/wgmma.h"
#include "parts/emit.h"
#include "parts/tensor_copy.h"

/* The first element of k, of which a stage has STEP. */
static void begin_k(const wgmma_kernel *g, mc_reg k, int step) {
    if (wgmma_is_split(g->plan)) EMIT(g->b, mul_s32, k, g->k_first, I(step));
    else EMIT(g->b, mov_b32, k, I(0));
}

static void emit_copies(const wgmma_kernel *g, const tensor_copy *lhs, const tensor_copy *rhs,
                        const tile_schedule *s, pipeline_producer *w) {
    mc_builder *b = g->b;
    mc_label stage = label(b, "STAGE");
    mc_reg left = b32(b, "stages_left"), more = pred(b, "more"), a_k = b32(b, "a_k"), k = b32(b, "k");
    tensor_copy_row(lhs, s->row);
    tensor_copy_row(rhs, s->column);
    EMIT(b, mov_b32, left, g->k_stages);
    begin_k(g, a_k, g->lhs.k);
    begin_k(g, k, g->rhs.k);
    note(b, "the stage is empty; it is full when %d bytes have arrived", wgmma_stage_bytes(g->plan));
    set_label(b, stage);
    pipeline_await_empty(&g->pipe, w, "EMPTY");
    pipeline_expect(&g->pipe, w);
    tensor_copy_tile(lhs, a_k, w->to, w->full);
    tensor_copy_tile(rhs, k, w->to, w->full);
    pipeline_filled(&g->pipe, w);
    EMIT(b, add_s32, a_k, a_k, I(g->lhs.k));
    EMIT(b, add_s32, k, k, I(g->rhs.k));
    EMIT(b, add_s32, left, left, I(-1));
    EMIT(b, setp_gt, more, left, I(0));
    EMIT_IF(b, more, bra, TO(stage));
}

void wgmma_emit_producer(const wgmma_kernel *g, mc_label producer, mc_label end) {
    mc_builder *b = g->b;
    heading(b,
            "The producer: one thread copies what the consumers multiply, as far ahead as stages are empty");
    b->prefix = "load_";
    roles_producer(&g->roles, producer, end);
    mc_label tile = label(b, "TILE");
    tensor_copy lhs = {.b = b, .name = "a", .param = "a_map", .tile = &g->lhs};
    tensor_copy rhs = {.b = b, .name = "b", .param = "b_map", .tile = &g->rhs, .at = tile_bytes(&g->lhs)};
    rhs.sharers = g->plan->cluster, rhs.rank = g->roles.rank;
    tensor_copy_begin(&lhs);
    tensor_copy_begin(&rhs);
    pipeline_producer w = pipeline_produce(&g->pipe);
    tile_schedule s = wgmma_schedule(g, (mc_reg){0});
    set_label(b, tile);
    schedule_take(&s, end);
    emit_copies(g, &lhs, &rhs, &s, &w);
    schedule_next(&s);
    EMIT(b, bra, TO(tile));
    b->prefix = NULL;
}
