/* The consumers of a wgmma kernel: warpgroups that multiply the stages that the producer fills, and make C of
   the sums. They share a tile, each with its rows, or take whole tiles in turn. */
#include "parts/wgmma/wgmma.h"
#include "parts/emit.h"
#include "parts/packed24.h"

typedef struct consumer {
    const wgmma_kernel *g;
    mc_builder *b;
    pipeline_consumer stage;
    tile_schedule tiles;
    warpgroup_mma mma;
    wgmma_result result;
    role_turns turns;
    mc_reg copies;       /* with turns: stages that the producer filled before this tile's */
    mc_reg turn;         /* with turns and stream: whose the next tile or piece is */
    wgmma_metadata meta; /* sparse */
    wgmma_scales scales; /* of blocks */
    mc_reg index, more;  /* stages of the tile that were begun; whether there are more */
    sum_exchange parts;  /* split */
    stream_sums pieces;  /* stream */
} consumer;

/* Sparse: the metadata of A's rows from ROW on, which lie behind A and B in a stage. */
static void begin_metadata(consumer *w, mc_reg row) {
    const wgmma_kernel *g = w->g;
    mc_builder *b = w->b;
    static const char *const names[WARPGROUP_SETS][WARPGROUP_BLOCKS] = {{"meta", "meta_of_below"},
                                                                        {"meta_too", "meta_too_of_below"}};
    w->meta = (wgmma_metadata){.b = b, .bytes = g->lhs.bytes, .stage_bytes = wgmma_stage_bytes(g->plan)};
    mc_reg first = add_s32(b, "meta_tile", g->pipe.first, I(wgmma_meta_at(g->plan)));
    metadata_begin(&w->meta, first, row, g->roles.warp_row, g->roles.lane);
    for (int set = 0; set < WARPGROUP_SETS; set++)
        for (int block = 0; block < w->mma.blocks; block++)
            b32_array(b, names[set][block], packed24_words(g->lhs.bytes), w->mma.meta[set][block]);
}

static void load_metadata(const consumer *w, int set) {
    note(w->b, "the lane's metadata: the stage before the last one, which read these registers, has ended");
    for (int block = 0; block < w->mma.blocks; block++)
        metadata_load(&w->meta, block, w->mma.meta[set][block]);
}

/* The rows of a tile that a consumer has: with turns all, else its share. Returns none for the first row. */
static mc_reg first_row(const wgmma_kernel *g) {
    const wgmma_plan *plan = g->plan;
    if (plan->turns || plan->consumers == 1) return (mc_reg){0};
    return mul_s32(g->b, "own_rows", g->roles.warpgroup, I(plan->tile_m / plan->consumers));
}

/* How many stages of k the tile at hand has. */
static mc_reg stages_of(const consumer *w) {
    return w->g->plan->stream ? w->tiles.line.length : w->g->k_stages;
}

static void begin_mma(consumer *w, mc_reg row) {
    const wgmma_kernel *g = w->g;
    const wgmma_plan *plan = g->plan;
    w->mma = (warpgroup_mma){.b = w->b,
                             .form = plan->form,
                             .lhs = &g->lhs,
                             .rhs = &g->rhs,
                             .rhs_at = tile_bytes(&g->lhs),
                             .stage_bytes = wgmma_stage_bytes(plan),
                             .n = plan->tile_n,
                             .blocks = wgmma_blocks(plan),
                             .from_registers = plan->a_registers,
                             .sparse = plan->problem.sparse,
                             .promoted = wgmma_is_promoted(plan),
                             .scaled = plan->problem.block_scales};
    warpgroup_begin(&w->mma, g->pipe.first, row, g->roles.warp_row, g->roles.lane);
}

/* The stage before is left now that its wgmma have ended. */
static void leave_last(consumer *w, int set) {
    const wgmma_kernel *g = w->g;
    mc_builder *b = w->b;
    mc_label first = set == 0 ? label(b, "STAGE_KEPT") : (mc_label){0};
    warpgroup_wait(&w->mma, 1);
    if (set == 0) EMIT_IF(b, NOT(w->mma.adds), bra, TO(first));
    note(b, "the stage before has been read by now");
    pipeline_leave(&g->pipe, &w->stage);
    if (set == 0) set_label(b, first);
}

static void promote(consumer *w) {
    note(w->b, "the stage's sums are there, and it has been read");
    warpgroup_wait(&w->mma, 0);
    pipeline_leave(&w->g->pipe, &w->stage);
    warpgroup_promote(&w->mma);
}

/* Multiplies the stage at hand. */
static void emit_stage(consumer *w, int set) {
    const wgmma_kernel *g = w->g;
    pipeline_wait(&g->pipe, &w->stage, set ? "FULL_TOO" : "FULL");
    if (g->plan->problem.sparse) load_metadata(w, set);
    warpgroup_issue(&w->mma, set);
    warpgroup_next(&w->mma, w->stage.wrap);
    if (g->plan->problem.sparse) metadata_next(&w->meta, w->stage.wrap);
    if (w->mma.scaled) wgmma_take_scales(&w->scales, w->mma.scales, w->more);
    if (w->mma.promoted) promote(w);
    else leave_last(w, set);
}

/* With scales of blocks that comes ahead of the stage, which loads those of the next one if there is one. */
static void count_stage(const consumer *w) {
    EMIT(w->b, add_s32, w->index, w->index, I(1));
    EMIT(w->b, setp_lt, w->more, w->index, stages_of(w));
}

/* Multiplies a tile: `stage` counts its stages, of which a turn of the loop has one for each set of
   registers. */
static void emit_stages(consumer *w) {
    mc_builder *b = w->b;
    int sets = warpgroup_sets(&w->mma);
    mc_label next = label(b, "STAGE"), done = sets > 1 ? label(b, "STAGES_DONE") : (mc_label){0};
    w->more = pred(b, "more"), w->index = carried(b, "stage", I(0));
    if (w->mma.promoted) warpgroup_clear_totals(&w->mma);
    note(b, "a stage at a time: a %s's first wgmma writes the sums, the others add to them",
         w->mma.promoted ? "stage" : "tile");
    set_label(b, next);
    for (int set = 0; set < sets; set++) {
        if (!w->mma.promoted) EMIT(b, setp_gt, w->mma.adds, w->index, I(0));
        if (w->mma.scaled) count_stage(w);
        emit_stage(w, set);
        if (!w->mma.scaled) count_stage(w);
        if (set + 1 < sets) EMIT_IF(b, NOT(w->more), bra, TO(done));
        else EMIT_IF(b, w->more, bra, TO(next));
    }
    if (sets > 1) set_label(b, done);
}

/* With turns: goes to the stages that the producer has filled for this tile. */
static void begin_turn(consumer *w) {
    const wgmma_kernel *g = w->g;
    mc_builder *b = w->b;
    note(b, "the stages of this tile, and the turn");
    mc_reg stage = pipeline_seek(&g->pipe, &w->stage, "turn", w->copies);
    warpgroup_seek(&w->mma, stage);
    if (g->plan->problem.sparse) metadata_seek(&w->meta, stage);
    roles_await_turn(&g->roles, &w->turns);
}

static void end_turn(consumer *w, mc_reg more) {
    mc_builder *b = w->b;
    note(b, "all is issued: the other consumer may multiply, while this one stores");
    roles_pass_turn(&w->g->roles, &w->turns, more);
    if (w->g->plan->stream) {
        EMIT(b, add_s32, w->copies, w->copies, stages_of(w));
        return;
    }
    EMIT(b, add_s32, w->copies, w->copies, w->g->k_stages);
    EMIT(b, add_s32, w->copies, w->copies, w->g->k_stages);
}

/* Split: C is made of the slice that this thread block has of all parts' sums, if it has one. */
static void emit_slice(consumer *w, mc_reg row) {
    const sum_exchange *parts = &w->parts;
    mc_builder *b = w->b;
    mc_label sent = label(b, "SENT");
    const warpgroup_block *sums = warpgroup_result(&w->mma);
    exchange_send(parts, sums);
    exchange_take(parts, sums[0], sent);
    mc_reg first = add_s32(b, "slice_first_row", row, parts->row);
    mc_reg column = add_s32(b, "slice_first_column", w->tiles.column, parts->column);
    wgmma_store_result(&w->result, sums[0], first, 0, column);
    set_label(b, sent);
}

static void emit_result(consumer *w, mc_reg own_row) {
    mc_reg row = own_row.id ? add_s32(w->b, "first_row", w->tiles.row, own_row) : w->tiles.row;
    if (wgmma_is_split(w->g->plan)) {
        emit_slice(w, row);
        return;
    }
    for (int block = 0; block < w->mma.blocks; block++)
        wgmma_store_result(&w->result, warpgroup_result(&w->mma)[block], row, block * WARPGROUP_ROWS,
                           w->tiles.column);
}

static void emit_tile(consumer *w, mc_reg own_row) {
    const wgmma_kernel *g = w->g;
    mc_builder *b = w->b;
    if (w->mma.scaled) wgmma_load_scales(&w->scales, w->tiles.row, w->tiles.column);
    if (g->plan->turns) begin_turn(w);
    emit_stages(w);
    if (g->plan->turns) end_turn(w, schedule_is_more(&w->tiles, "other_has_tile"));
    if (!w->mma.promoted) {
        note(b, "the sums are there, and the last stage has been read");
        warpgroup_wait(&w->mma, 0);
        pipeline_leave(&g->pipe, &w->stage);
    }
    mc_label left = g->plan->stream ? label(b, "PIECE_LEFT") : (mc_label){0};
    if (g->plan->stream) stream_join(&w->pieces, warpgroup_result(&w->mma), left);
    emit_result(w, own_row);
    if (g->plan->stream) set_label(b, left);
}

/* With turns, and pieces of any length: the other consumer's are counted, and left out. Goes on at TILE. */
static void pass_over(consumer *w, mc_label tile) {
    mc_builder *b = w->b;
    mc_label own = label(b, "OWN_TURN");
    note(b, "every other tile or piece is the other consumer's");
    mc_reg is_own = setp_eq(b, "is_own", w->turn, w->g->roles.warpgroup);
    EMIT(b, xor_b32, w->turn, w->turn, I(1));
    EMIT_IF(b, is_own, bra, TO(own));
    EMIT(b, add_s32, w->copies, w->copies, stages_of(w));
    schedule_next(&w->tiles);
    EMIT(b, bra, TO(tile));
    set_label(b, own);
}

static void begin_turns(consumer *w) {
    const wgmma_kernel *g = w->g;
    mc_builder *b = w->b;
    if (g->plan->stream) {
        w->copies = carried(b, "copies", I(0)), w->turn = carried(b, "turn_of", I(0));
        w->turns = roles_turns(&g->roles, stream_has(&w->tiles.line, "any", w->tiles.tile));
        return;
    }
    w->copies = mul_s32(b, "first_copies", g->roles.warpgroup, g->k_stages);
    w->copies = carried(b, "copies", w->copies);
    mc_reg block = sub_s32(b, "first_tile", w->tiles.tile, w->tiles.turn_step);
    w->turns = roles_turns(&g->roles, setp_lt(b, "any", block, w->tiles.count));
}

static void begin_exchange(consumer *w) {
    exchange_begin(&w->parts);
    roles_meet_cluster(&w->g->roles);
}

static void begin_pieces(consumer *w) {
    const wgmma_kernel *g = w->g;
    w->pieces = wgmma_stream(g->plan);
    w->pieces.b = w->b, w->pieces.line = &w->tiles.line;
    w->pieces.thread = g->roles.thread, w->pieces.warp = g->roles.warp, w->pieces.tells = g->roles.arrives;
    if (g->plan->turns) {
        w->pieces.thread = and_b32(w->b, "own_thread", g->roles.thread, I(WARPGROUP - 1));
        w->pieces.warp = and_b32(w->b, "own_warp", g->roles.warp, I(WARPGROUP_WARPS - 1));
    }
    stream_sums_begin(&w->pieces);
}

void wgmma_emit_consumer(const wgmma_kernel *g, mc_label end) {
    mc_builder *b = g->b;
    consumer w = {.g = g, .b = b, .parts = g->parts};
    bool turns = g->plan->turns;
    mc_label tile = label(b, "TILE"), done = label(b, "DONE");
    heading(b, turns ? "The consumers: a warpgroup multiplies a tile while the other one stores one"
                     : "The consumers: each warpgroup has its rows of every tile");
    emit_grid_wait(b, g->plan->overlap != OVERLAP_OFF, "operands");
    w.stage = pipeline_consume(&g->pipe, g->roles.arrives);
    w.tiles = wgmma_schedule(g, turns ? g->roles.warpgroup : (mc_reg){0});
    mc_reg own_row = first_row(g);
    begin_mma(&w, own_row);
    wgmma_begin_result(&w.result, g);
    if (g->plan->problem.sparse) begin_metadata(&w, own_row);
    if (w.mma.scaled) wgmma_begin_scales(&w.scales, g, own_row);
    if (wgmma_is_split(g->plan)) begin_exchange(&w);
    if (turns) begin_turns(&w);
    if (g->plan->stream) begin_pieces(&w);
    heading(b, "A tile of C");
    set_label(b, tile);
    schedule_take(&w.tiles, done);
    if (turns && g->plan->stream) pass_over(&w, tile);
    emit_tile(&w, own_row);
    schedule_next(&w.tiles);
    EMIT(b, bra, TO(tile));
    set_label(b, done);
    wgmma_end_result(&w.result);
    if (wgmma_is_split(g->plan)) exchange_end(&w.parts);
    EMIT(b, bra, TO(end));
}
