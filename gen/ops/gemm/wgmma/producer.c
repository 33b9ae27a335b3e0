/* The producer of a wgmma kernel: one thread copies tiles of A and B, as far ahead as stages are empty. */
#include "ops/gemm/wgmma/wgmma.h"
#include "parts/atom_copy.h"
#include "parts/emit.h"
#include "parts/packed24.h"
#include "parts/tensor_copy.h"

/* What a stage is made of: A, which is dense or packed, and B. */
typedef struct stage_copies {
    const wgmma_kernel *g;
    bool sparse;
    tensor_copy lhs, rhs;
    mc_reg a_k, k;          /* of A and B: where the stage begins */
    atom_copy values, meta; /* sparse */
    mc_reg last, block, scratch;
} stage_copies;

static void begin_atoms(stage_copies *c) {
    const wgmma_kernel *g = c->g;
    mc_builder *b = g->b;
    int blocks = g->plan->tile_m / PACKED24_ROWS, bytes = g->lhs.bytes;
    c->values = (atom_copy){
        .b = b, .name = "values", .param = "values", .bytes = packed24_values(), .blocks = blocks};
    c->meta = (atom_copy){.b = b,
                          .name = "meta",
                          .param = "meta",
                          .bytes = packed24_meta(bytes),
                          .blocks = blocks,
                          .at = wgmma_meta_at(g->plan)};
    atom_copy_begin(&c->values);
    atom_copy_begin(&c->meta);
    mc_reg end = add_s32(b, "last_row", g->m, I(-1));
    c->last = shr_u32(b, "last_block", end, I(log2_of(PACKED24_ROWS)));
    c->block = b32(b, "row_block"), c->scratch = b32(b, "atoms");
}

static void begin_copies(stage_copies *c) {
    const wgmma_kernel *g = c->g;
    mc_builder *b = g->b;
    c->lhs = (tensor_copy){.b = b, .name = "a", .param = "a_map", .tile = &g->lhs};
    c->rhs = (tensor_copy){.b = b, .name = "b", .param = "b_map", .tile = &g->rhs, .at = tile_bytes(&g->lhs)};
    c->rhs.sharers = g->plan->cluster, c->rhs.rank = g->roles.rank;
    if (c->sparse) begin_atoms(c);
    else tensor_copy_begin(&c->lhs);
    tensor_copy_begin(&c->rhs);
}

static void begin_tile(const stage_copies *c, const tile_schedule *s) {
    mc_builder *b = c->g->b;
    if (c->sparse) {
        EMIT(b, shr_u32, c->block, s->row, I(log2_of(PACKED24_ROWS)));
        atom_copy_row(&c->values, c->block, c->g->k_stages, c->last, c->scratch);
        atom_copy_row(&c->meta, c->block, c->g->k_stages, c->last, c->scratch);
    } else {
        tensor_copy_row(&c->lhs, s->row);
        EMIT(b, mov_b32, c->a_k, I(0));
    }
    tensor_copy_row(&c->rhs, s->column);
    EMIT(b, mov_b32, c->k, I(0));
}

static void copy_stage(const stage_copies *c, mc_reg to, mc_reg full) {
    if (c->sparse) {
        atom_copy_step(&c->values, to, full);
        atom_copy_step(&c->meta, to, full);
    } else {
        tensor_copy_tile(&c->lhs, c->a_k, to, full);
    }
    tensor_copy_tile(&c->rhs, c->k, to, full);
}

static void emit_copies(const stage_copies *c, const tile_schedule *s, pipeline_producer *w) {
    const wgmma_kernel *g = c->g;
    mc_builder *b = g->b;
    mc_label stage = label(b, "STAGE");
    mc_reg left = b32(b, "stages_left"), more = pred(b, "more");
    EMIT(b, mov_b32, left, g->k_stages);
    begin_tile(c, s);
    note(b, "the stage is empty; it is full when %d bytes have arrived", wgmma_stage_bytes(g->plan));
    set_label(b, stage);
    pipeline_await_empty(&g->pipe, w, "EMPTY");
    pipeline_expect(&g->pipe, w);
    copy_stage(c, w->to, w->full);
    pipeline_filled(&g->pipe, w);
    if (!c->sparse) EMIT(b, add_s32, c->a_k, c->a_k, I(g->lhs.k));
    EMIT(b, add_s32, c->k, c->k, I(g->rhs.k));
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
    stage_copies copies = {.g = g, .sparse = g->plan->problem.sparse};
    begin_copies(&copies);
    pipeline_producer w = pipeline_produce(&g->pipe);
    tile_schedule s = wgmma_schedule(g, (mc_reg){0});
    copies.a_k = b32(b, "a_k"), copies.k = b32(b, "k");
    set_label(b, tile);
    schedule_take(&s, end);
    emit_copies(&copies, &s, &w);
    schedule_next(&s);
    EMIT(b, bra, TO(tile));
    b->prefix = NULL;
}
