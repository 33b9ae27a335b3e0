/* The frame of a kernel of dense fragments: who is who, the thread block's tile and its part of k, the
   pipeline, and the order of the roles' parts. */
#include "ops/spmm/fragments/fragments.h"

static void begin_roles(fragments_kernel *f) {
    const fragments_plan *plan = f->plan;
    heading(f->b, "Who is who: %d warpgroups that expand and multiply, and one that copies", plan->consumers);
    f->roles = (warp_roles){
        .b = f->b, .consumers = plan->consumers, .paired = fragments_are_paired(plan), .parts = plan->parts};
    roles_begin(&f->roles);
}

static void begin_tile(fragments_kernel *f) {
    const fragments_plan *plan = f->plan;
    mc_builder *b = f->b;
    f->tile = load_special(b, "tile", "ctaid.x");
    f->row = mul_s32(b, "tile_row", f->tile, I(plan->tile_rows));
    f->column =
        mul_s32(b, "tile_column", load_special(b, "tile_of_columns", "ctaid.z"), I(plan->base.tile_n));
}

tile_schedule spmm_fragments_begin_tiles(const fragments_kernel *f) {
    enum { GROUP = 8 }; /* rows of tiles whose A is in L2 while they go by columns */
    tile_schedule tiles = {.b = f->b,
                           .tile_rows = f->plan->tile_rows,
                           .tile_columns = f->plan->base.tile_n,
                           .group = GROUP,
                           .stream = true,
                           .line = {.stages = f->k_stages}};
    schedule_begin(&tiles, f->m, f->n);
    return tiles;
}

void spmm_fragments_take_tile(fragments_kernel *f, const tile_schedule *tiles, mc_label end) {
    schedule_take(tiles, end);
    f->tile = tiles->unit_row, f->row = tiles->row, f->column = tiles->column;
    f->part = (k_part){tiles->line.first, tiles->line.length};
}

static void begin_problem(fragments_kernel *f) {
    const fragments_plan *plan = f->plan;
    mc_builder *b = f->b;
    note(b, plan->stream ? "how many stages k takes"
                         : "the thread block's tile of C, and how many stages k takes");
    f->m = load_size(b, "m", "m", plan->base.m), f->n = load_size(b, "n", "n", plan->base.n);
    mc_reg k = load_size(b, "k", "k", plan->base.k);
    if (!plan->stream) begin_tile(f);
    mc_reg k_end = add_s32(b, "k_end", k, I(FRAGMENTS_K - 1));
    f->k_stages = shr_u32(b, "k_stages", k_end, I(log2_of(FRAGMENTS_K)));
    f->part.stages = f->k_stages;
    if (fragments_are_split(plan)) f->part = k_part_of(b, f->roles.rank, plan->parts, f->k_stages);
}

/* Sums come in where stages were; their barriers lie behind those of the stages. */
static void place_parts(fragments_kernel *f) {
    const fragments_plan *plan = f->plan;
    if (!fragments_are_split(plan)) return;
    f->parts = (sum_exchange){.b = f->b,
                              .shape = fragments_exchange(plan),
                              .in_stages = true,
                              .first = f->pipe.first,
                              .rank = f->roles.rank,
                              .thread = f->roles.thread,
                              .lane = f->roles.lane,
                              .first_thread = f->roles.first_thread};
    f->parts.full = add_s32(f->b, "parts_full", f->pipe.empty, I(plan->stages * PIPELINE_BARRIER_BYTES));
    exchange_place(&f->parts);
}

static void put_zeros(fragments_kernel *f) {
    mc_builder *b = f->b;
    note(b, "a warp writes the zeros that stand for segments which are not there");
    f->zeros = add_s32(b, "zeros", f->pipe.first, I(fragments_zeros_at(f->plan)));
    mc_reg puts = setp_lt(b, "puts_zero", f->roles.thread, I(FRAGMENTS_ZEROS / WORD));
    mc_reg to = mad_s32(b, "zero_at", f->roles.thread, I(WORD), f->zeros);
    EMIT_IF(b, puts, sts_b32, AT(to, 0), mov_b32(b, "no_bits", I(0)));
}

static void begin_pipeline(fragments_kernel *f) {
    const fragments_plan *plan = f->plan;
    mc_builder *b = f->b;
    mc_label ready = label(b, "READY");
    note(b, "%d stages of B and of A's slots and bits, and each stage's barriers", plan->stages);
    f->pipe = (pipeline){.b = b,
                         .stages = plan->stages,
                         .stage_bytes = fragments_stage_bytes(plan),
                         .gap = fragments_gap(plan),
                         .consumers = plan->consumers * WARPGROUP_WARPS};
    f->pipe.first = mov_shared(b, "stages", NAME("room"));
    pipeline_place(&f->pipe);
    place_parts(f);
    put_zeros(f);
    EMIT_IF(b, NOT(f->roles.first_thread), bra, TO(ready));
    if (fragments_are_split(plan)) exchange_init(&f->parts, (mc_reg){0});
    pipeline_init(&f->pipe);
    set_label(b, ready);
    roles_meet(&f->roles);
}

/* Stream: tiles, or pieces of them, one after another. */
static void emit_tiles(fragments_kernel *f) {
    mc_builder *b = f->b;
    mc_label tile = label(b, "TILE"), left = label(b, "PIECE_LEFT"), done = label(b, "DONE");
    const fragments_multiplier m = spmm_fragments_begin_multiplier(f);
    const tile_schedule tiles = spmm_fragments_begin_tiles(f);
    stream_sums pieces = fragments_pieces(f->plan);
    pieces.b = b, pieces.line = &tiles.line;
    pieces.thread = f->roles.thread, pieces.warp = f->roles.warp, pieces.tells = f->roles.arrives;
    stream_sums_begin(&pieces);
    heading(b, "A tile of C");
    set_label(b, tile);
    spmm_fragments_take_tile(f, &tiles, done);
    spmm_fragments_begin_rows(f);
    spmm_fragments_multiply(&m);
    stream_join(&pieces, f->sums, left);
    spmm_fragments_store(f);
    set_label(b, left);
    schedule_next(&tiles);
    EMIT(b, bra, TO(tile));
    set_label(b, done);
}

static void emit_tile(fragments_kernel *f) {
    spmm_fragments_begin_rows(f);
    const fragments_multiplier m = spmm_fragments_begin_multiplier(f);
    spmm_fragments_multiply(&m);
    spmm_fragments_store(f);
}

static void emit_consumers(fragments_kernel *f, mc_label end) {
    mc_builder *b = f->b;
    heading(b, "The consumers: each warp has its rows of the tile");
    emit_grid_wait(b, f->plan->base.overlap != OVERLAP_OFF, "B");
    if (f->plan->stream) emit_tiles(f);
    else emit_tile(f);
    EMIT(b, bra, TO(end));
}

void spmm_fragments_emit(const void *data, mc_builder *b) {
    const fragments_plan *plan = data;
    fragments_kernel f = {.plan = plan, .b = b, .rhs = fragments_b(plan)};
    mc_label producer = label(b, "PRODUCER"), end = label(b, "END");
    shared_dynamic(b, "room", TILE_ALIGN);
    begin_roles(&f);
    begin_problem(&f);
    begin_pipeline(&f);
    roles_produce(&f.roles, producer);
    emit_consumers(&f, end);
    spmm_fragments_emit_producer(&f, producer, end);
    roles_end(&f.roles, end);
}
