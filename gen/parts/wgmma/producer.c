/* The producer of a wgmma kernel: one thread copies tiles of A and B, as far ahead as stages are empty. */
#include "parts/wgmma/wgmma.h"
#include "parts/atom_copy.h"
#include "parts/emit.h"
#include "parts/packed24.h"
#include "parts/tensor_copy.h"

/* A producer's place: in its tile, and in the pipeline. */
typedef struct producer {
    const wgmma_kernel *g;
    mc_builder *b;
    tensor_copy lhs, rhs;
    atom_copy values, meta; /* sparse: A, in the place of lhs */
    tile_schedule tiles;
    pipeline_producer stage;
    mc_reg left, a_k, k; /* stages of the tile that are still to be copied, and where the next one is */
    mc_reg last;         /* sparse: the last row block */
    mc_reg more;         /* scratch */
    mc_reg block, atom;  /* sparse: scratch */
} producer;

/* The first stage of k, which is stage 0 where there is none. */
static mc_reg first_stage(const producer *p) {
    return p->g->plan->stream ? p->tiles.line.first : p->g->k_first;
}

/* The first element of k, of which a stage has STEP. */
static void begin_k(const producer *p, mc_reg k, int step) {
    mc_reg first = first_stage(p);
    if (first.id) EMIT(p->b, mul_s32, k, first, I(step));
    else EMIT(p->b, mov_b32, k, I(0));
}

/* -- A: a tile by tensor copies, or, sparse, atoms ------------------------------------------------------ */

static void begin_atoms(producer *p) {
    const wgmma_kernel *g = p->g;
    mc_builder *b = p->b;
    const atom_copy all = {
        .b = b, .blocks = g->plan->tile_m / PACKED24_ROWS, .once = g->plan->once, .first = first_stage(p)};
    p->values = p->meta = all;
    p->values.name = p->values.param = "values", p->values.bytes = packed24_values();
    p->meta.name = p->meta.param = "meta", p->meta.bytes = packed24_meta(g->lhs.bytes);
    p->meta.at = wgmma_meta_at(g->plan);
    atom_copy_begin(&p->values);
    atom_copy_begin(&p->meta);
    mc_reg end = add_s32(b, "last_row", g->m, I(-1));
    p->last = shr_u32(b, "last_block", end, I(log2_of(PACKED24_ROWS)));
    p->block = b32(b, "row_block"), p->atom = b32(b, "atom");
}

static void begin_a(producer *p) {
    const wgmma_kernel *g = p->g;
    p->lhs = (tensor_copy){.b = p->b,
                           .name = "a",
                           .param = wgmma_lhs_map(g->plan),
                           .tile = &g->lhs,
                           .once = g->plan->once,
                           .map = g->a_map,
                           .product = g->a_product};
    if (g->plan->problem.sparse) begin_atoms(p);
    else tensor_copy_begin(&p->lhs);
}

static void begin_tile_of_a(const producer *p) {
    const wgmma_kernel *g = p->g;
    if (!g->plan->problem.sparse) {
        tensor_copy_row(&p->lhs, p->tiles.row);
        begin_k(p, p->a_k, g->lhs.k);
        return;
    }
    mc_reg steps = wgmma_is_split(g->plan) ? g->k_all : g->k_stages;
    EMIT(p->b, shr_u32, p->block, p->tiles.row, I(log2_of(PACKED24_ROWS)));
    atom_copy_row(&p->values, p->block, steps, p->last, p->atom);
    atom_copy_row(&p->meta, p->block, steps, p->last, p->atom);
}

static void copy_a(const producer *p) {
    if (!p->g->plan->problem.sparse) {
        tensor_copy_tile(&p->lhs, p->a_k, p->stage.to, p->stage.full);
        return;
    }
    atom_copy_step(&p->values, p->stage.to, p->stage.full);
    atom_copy_step(&p->meta, p->stage.to, p->stage.full);
}

/* -- All of it ------------------------------------------------------------------------------------------ */

static producer begin_producer(const wgmma_kernel *g) {
    mc_builder *b = g->b;
    producer p = {.g = g, .b = b};
    p.rhs = (tensor_copy){.b = b,
                          .name = "b",
                          .param = "b_map",
                          .tile = &g->rhs,
                          .at = tile_bytes(&g->lhs),
                          .sharers = g->plan->cluster,
                          .rank = g->roles.rank,
                          .map = g->b_map,
                          .product = g->b_product};
    if (g->plan->stream) p.tiles = wgmma_schedule(g, (mc_reg){0});
    begin_a(&p);
    if (!g->plan->expand_vec) tensor_copy_begin(&p.rhs);
    p.stage = pipeline_produce(&g->pipe);
    if (!g->plan->stream) p.tiles = wgmma_schedule(g, (mc_reg){0});
    return p;
}

static void declare_place(producer *p) {
    mc_builder *b = p->b;
    p->left = b32(b, "stages_left"), p->more = pred(b, "more");
    if (!p->g->plan->expand_vec) p->k = b32(b, "k");
    if (!p->g->plan->problem.sparse) p->a_k = b32(b, "a_k");
}

static void begin_tile(const producer *p) {
    const wgmma_kernel *g = p->g;
    begin_tile_of_a(p);
    if (!g->plan->expand_vec) tensor_copy_row(&p->rhs, p->tiles.column);
    EMIT(p->b, mov_b32, p->left, g->plan->stream ? p->tiles.line.length : g->k_stages);
    if (!g->plan->expand_vec) begin_k(p, p->k, g->rhs.k);
}

/* Goes on to the next stage, and to LOOP if COUNT, which becomes less, says that there is one. */
static void next_stage(const producer *p, mc_reg count, bool of_a, bool of_b, mc_label loop) {
    mc_builder *b = p->b;
    pipeline_filled(&p->g->pipe, &p->stage);
    if (of_a && p->a_k.id) EMIT(b, add_s32, p->a_k, p->a_k, I(p->g->lhs.k));
    if (of_b) EMIT(b, add_s32, p->k, p->k, I(p->g->rhs.k));
    EMIT(b, add_s32, count, count, I(-1));
    EMIT(b, setp_gt, p->more, count, I(0));
    EMIT_IF(b, p->more, bra, TO(loop));
}

static void emit_copies(const producer *p, mc_label stage) {
    const wgmma_kernel *g = p->g;
    mc_builder *b = p->b;
    note(b, "the stage is empty; it is full when %d bytes have arrived%s", wgmma_copied_bytes(g->plan),
         g->plan->expand_vec ? ", and the helpers' part is stored" : "");
    set_label(b, stage);
    pipeline_await_empty(&g->pipe, &p->stage, "EMPTY");
    pipeline_expect(&g->pipe, &p->stage);
    copy_a(p);
    if (!g->plan->expand_vec) tensor_copy_tile(&p->rhs, p->k, p->stage.to, p->stage.full);
    next_stage(p, p->left, true, !g->plan->expand_vec, stage);
}

/* The first tile's first stages: A before the kernel ahead has ended, B behind that. All stages are empty. */
static void emit_early(const producer *p, mc_label end, mc_label stage, mc_label next) {
    const wgmma_kernel *g = p->g;
    const pipeline *pipe = &g->pipe;
    mc_builder *b = p->b;
    mc_label a_stage = label(b, "EARLY_A"), b_stage = label(b, "EARLY_B");
    schedule_take(&p->tiles, end);
    begin_tile(p);
    note(b, "as much of A as there are stages for, which nothing ahead may be writing");
    mc_reg early = min_s32(b, "early_stages", p->left, I(pipe->stages)), count = carried(b, "early", early);
    set_label(b, a_stage);
    pipeline_expect(pipe, &p->stage);
    copy_a(p);
    next_stage(p, count, true, false, a_stage);
    emit_grid_wait(b, true, "B");
    note(b, "B's part of the same stages");
    pipeline_rewind(pipe, &p->stage);
    EMIT(b, mov_b32, count, early);
    set_label(b, b_stage);
    tensor_copy_tile(&p->rhs, p->k, p->stage.to, p->stage.full);
    next_stage(p, count, false, true, b_stage);
    EMIT(b, sub_s32, p->left, p->left, early);
    EMIT(b, setp_gt, p->more, p->left, I(0));
    EMIT_IF(b, p->more, bra, TO(stage));
    EMIT(b, bra, TO(next));
}

void wgmma_emit_producer(const wgmma_kernel *g, mc_label producer_label, mc_label end) {
    mc_builder *b = g->b;
    bool early = g->plan->early;
    heading(b,
            "The producer: one thread copies what the consumers multiply, as far ahead as stages are empty");
    b->prefix = "load_";
    roles_producer(&g->roles, producer_label, end);
    mc_label tile = label(b, "TILE");
    producer p = begin_producer(g);
    mc_label stage = label(b, "STAGE"), next = early ? label(b, "NEXT_TILE") : (mc_label){0};
    if (early) declare_place(&p), emit_early(&p, end, stage, next);
    else emit_grid_wait(b, g->plan->overlap != OVERLAP_OFF, "A or B");
    set_label(b, tile);
    schedule_take(&p.tiles, end);
    if (!early) declare_place(&p);
    begin_tile(&p);
    emit_copies(&p, stage);
    if (early) set_label(b, next);
    schedule_next(&p.tiles);
    EMIT(b, bra, TO(tile));
    b->prefix = NULL;
}
