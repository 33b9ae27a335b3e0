#include "gemm.h"
#include "parts/emit.h"
#include "parts/fragment.h"
#include "parts/metadata.h"
#include "parts/pipeline.h"
#include "parts/schedule.h"
#include "parts/tile_store.h"
#include <stdio.h>

/* -- The configuration -------------------------------------------------------------------------------- */

static const wgmma_form *form_of(const gemm_config *c) { return wgmma_form_of(c->lhs, c->rhs, c->sums); }

shared_tile gemm_lhs(const gemm_config *c) {
    int bytes = form_of(c)->bytes;
    return (shared_tile){.rows = c->tile_m,
                         .k = GEMM_K / bytes,
                         .bytes = bytes,
                         .span = c->span ? c->span : GEMM_K,
                         .mn_major = c->a_mn_major};
}

shared_tile gemm_rhs(const gemm_config *c) {
    shared_tile lhs = gemm_lhs(c), rhs = lhs;
    rhs.rows = c->tile_n, rhs.k = lhs.k * (c->sparse ? 2 : 1), rhs.mn_major = c->b_mn_major;
    return rhs;
}

int gemm_out_bytes(const gemm_config *c) { return strcmp(c->out, "f16") ? WORD : WORD / 2; }

static int stage_bytes(const gemm_config *c) {
    shared_tile lhs = gemm_lhs(c), rhs = gemm_rhs(c);
    return tile_bytes(&lhs) + tile_bytes(&rhs);
}

static int consumer_warps(const gemm_config *c) { return c->consumers * WARPGROUP_WARPS; }
static int slot_bytes(const gemm_config *c) {
    return c->direct ? 0 : store_bytes(consumer_warps(c), GEMM_SLOTS);
}

int gemm_shared(const gemm_config *c) { return pipeline_bytes(c->stages, stage_bytes(c)) + slot_bytes(c); }
int gemm_threads(const gemm_config *c) { return roles_threads(c->consumers); }

static mc_opcode convert_of(const gemm_config *c) {
    return strcmp(c->out, "f16") == 0 && strcmp(c->sums, "f32") == 0 ? OP_cvt_f16x2 : OP_mov_b32;
}

/* -- The kernel --------------------------------------------------------------------------------------- */

typedef struct gemm {
    const gemm_config *c;
    mc_builder *b;
    shared_tile lhs, rhs;
    warp_roles roles;
    pipeline pipe;
    mc_reg m, n, k_stages; /* of C; how many stages k takes */
} gemm;

static tile_schedule begin_schedule(const gemm *g, mc_reg turn) {
    const gemm_config *c = g->c;
    tile_schedule s = {.b = g->b,
                       .tile_rows = c->tile_m,
                       .tile_columns = c->tile_n,
                       .group = GEMM_GROUP,
                       .cluster = c->cluster,
                       .rank = g->roles.rank,
                       .turn = turn,
                       .turns = turn.id ? c->consumers : 1};
    schedule_begin(&s, g->m, g->n);
    return s;
}

/* -- The producer */

static void emit_copies(const gemm *g, const tensor_copy *a, const tensor_copy *rhs, const tile_schedule *s,
                        pipeline_producer *w) {
    mc_builder *b = g->b;
    mc_label stage = label(b, "STAGE");
    mc_reg left = b32(b, "stages_left"), more = pred(b, "more"), a_k = b32(b, "a_k"), k = b32(b, "k");
    tensor_copy_row(a, s->row);
    tensor_copy_row(rhs, s->column);
    EMIT(b, mov_b32, left, g->k_stages);
    EMIT(b, mov_b32, a_k, I(0));
    EMIT(b, mov_b32, k, I(0));
    note(b, "the stage is empty; it is full when %d bytes have arrived", stage_bytes(g->c));
    set_label(b, stage);
    pipeline_await_empty(&g->pipe, w, "EMPTY");
    pipeline_expect(&g->pipe, w);
    tensor_copy_tile(a, a_k, w->to, w->full);
    tensor_copy_tile(rhs, k, w->to, w->full);
    pipeline_filled(&g->pipe, w);
    EMIT(b, add_s32, a_k, a_k, I(g->lhs.k));
    EMIT(b, add_s32, k, k, I(g->rhs.k));
    EMIT(b, add_s32, left, left, I(-1));
    EMIT(b, setp_gt, more, left, I(0));
    EMIT_IF(b, more, bra, TO(stage));
}

static void emit_producer(const gemm *g, mc_label producer, mc_label end) {
    mc_builder *b = g->b;
    heading(b,
            "The producer: one thread copies what the consumers multiply, as far ahead as stages are empty");
    b->prefix = "load_";
    roles_producer(&g->roles, producer, end);
    mc_label tile = label(b, "TILE");
    tensor_copy a = {.b = b, .name = "a", .param = "a_map", .tile = &g->lhs};
    tensor_copy rhs = {.b = b, .name = "b", .param = "b_map", .tile = &g->rhs, .at = tile_bytes(&g->lhs)};
    rhs.sharers = g->c->cluster, rhs.rank = g->roles.rank;
    tensor_copy_begin(&a);
    tensor_copy_begin(&rhs);
    pipeline_producer w = pipeline_produce(&g->pipe);
    tile_schedule s = begin_schedule(g, (mc_reg){0});
    set_label(b, tile);
    schedule_take(&s, end);
    emit_copies(g, &a, &rhs, &s, &w);
    schedule_next(&s);
    EMIT(b, bra, TO(tile));
    b->prefix = NULL;
}

/* -- A consumer */

typedef struct consumer {
    const gemm *g;
    mc_builder *b;
    pipeline_consumer stage;
    tile_schedule tiles;
    warpgroup_mma mma;
    tile_store store;
    role_turns turns;
    mc_reg copies;                      /* with turns: stages that the producer filled before this tile's */
    mc_reg c_array, ldc, line, column;  /* direct: C, and the lane's place in a warp's rows, in 8 columns */
    mc_reg c_at, c_scratch[3], c_in[2]; /* scratch of it */
    wgmma_metadata meta;                /* sparse */
} consumer;

/* Sparse: A's metadata, with the bytes that a stage has of each row. */
static void begin_metadata(consumer *w) {
    mc_builder *b = w->b;
    mc_reg k = ld_param_s32(b, "k_all", NAME("k"));
    int elements = w->g->lhs.bytes == 4 ? 4 : 8; /* for which a row has a byte */
    w->meta = (wgmma_metadata){.b = b,
                               .bytes = w->g->lhs.bytes,
                               .array = load_array(b, "e"),
                               .row_bytes = shr_u32(b, "meta_row_bytes", k, I(log2_of(elements))),
                               .lane = w->g->roles.lane,
                               .warp_row = w->g->roles.warp_row};
    metadata_begin(&w->meta);
    b32_array(b, "meta", STAGE_STEPS, w->mma.meta[0]);
    b32_array(b, "meta_too", STAGE_STEPS, w->mma.meta[1]);
}

static void begin_metadata_tile(const consumer *w, mc_reg own_row) {
    mc_builder *b = w->b;
    mc_reg last = add_s32(b, "last_row", w->g->m, I(-1));
    mc_reg row = own_row.id ? add_s32(b, "meta_first", w->tiles.row, own_row) : w->tiles.row;
    metadata_rows(&w->meta, row, last);
}

static void begin_direct(consumer *w) {
    mc_builder *b = w->b;
    mc_reg lane = w->g->roles.lane;
    w->c_array = load_array(b, "c");
    w->ldc = ld_param_s32(b, "ldc", NAME("ldc"));
    mc_reg g = shr_u32(b, "g", lane, I(FRAG_GROUP_SHIFT)), t = and_b32(b, "t", lane, I(FRAG_THREAD_MASK));
    w->line = add_s32(b, "c_row", w->g->roles.warp_row, g);
    w->column = shl_b32(b, "c_column", t, I(1));
    w->c_at = b64(b, "c_at");
    b32_array(b, "c_place", 3, w->c_scratch);
    pred_array(b, "in_c", 2, w->c_in);
}

static void begin_store(consumer *w) {
    const gemm *g = w->g;
    w->store = (tile_store){.b = w->b,
                            .param = "c_map",
                            .columns = g->c->tile_n,
                            .bytes = gemm_out_bytes(g->c),
                            .convert = convert_of(g->c),
                            .adds = g->c->adds,
                            .slots = GEMM_SLOTS,
                            .warp = g->roles.warp,
                            .lane = g->roles.lane,
                            .warp_row = g->roles.warp_row};
    w->store.first = add_s32(w->b, "slots", g->pipe.first, I(g->c->stages * stage_bytes(g->c)));
    store_begin(&w->store);
}

/* The rows of a tile that a consumer has: with turns all, else its share. Returns none for the first row. */
static mc_reg first_row(const gemm *g) {
    if (g->c->turns || g->c->consumers == 1) return (mc_reg){0};
    return mul_s32(g->b, "own_rows", g->roles.warpgroup, I(g->c->tile_m / g->c->consumers));
}

static void begin_mma(consumer *w, mc_reg row) {
    const gemm *g = w->g;
    const gemm_config *c = g->c;
    w->mma = (warpgroup_mma){.b = w->b,
                             .form = form_of(c),
                             .lhs = &g->lhs,
                             .rhs = &g->rhs,
                             .rhs_at = tile_bytes(&g->lhs),
                             .stage_bytes = stage_bytes(c),
                             .n = c->tile_n,
                             .blocks = c->tile_m / WARPGROUP_ROWS / (c->turns ? 1 : c->consumers),
                             .from_registers = c->a_registers,
                             .sparse = c->sparse};
    warpgroup_begin(&w->mma, g->pipe.first, row, g->roles.warp_row, g->roles.lane);
}

/* Multiplies the stage at hand. The stage before is left now that its wgmma have ended. */
static void emit_stage(consumer *w, int set) {
    const gemm *g = w->g;
    mc_builder *b = w->b;
    mc_label first = set == 0 ? label(b, "STAGE_KEPT") : (mc_label){0};
    if (g->c->sparse) metadata_load(&w->meta);
    pipeline_wait(&g->pipe, &w->stage, set ? "FULL_TOO" : "FULL");
    if (g->c->sparse) metadata_take(&w->meta, w->mma.meta[set]);
    warpgroup_issue(&w->mma, set);
    warpgroup_next(&w->mma, w->stage.wrap);
    warpgroup_wait(&w->mma, 1);
    if (set == 0) EMIT_IF(b, NOT(w->mma.adds), bra, TO(first));
    note(b, "the stage before has been read by now");
    pipeline_leave(&g->pipe, &w->stage);
    if (set == 0) set_label(b, first);
}

/* Multiplies a tile: `stage` counts its stages, of which a turn of the loop has one for each set of
   registers. */
static void emit_stages(consumer *w) {
    mc_builder *b = w->b;
    int sets = warpgroup_sets(&w->mma);
    mc_label next = label(b, "STAGE"), done = sets > 1 ? label(b, "STAGES_DONE") : (mc_label){0};
    mc_reg more = pred(b, "more"), stage = carried(b, "stage", I(0));
    note(b, "a stage at a time: a tile's first wgmma writes the sums, the others add to them");
    set_label(b, next);
    for (int set = 0; set < sets; set++) {
        EMIT(b, setp_gt, w->mma.adds, stage, I(0));
        emit_stage(w, set);
        EMIT(b, add_s32, stage, stage, I(1));
        EMIT(b, setp_lt, more, stage, w->g->k_stages);
        if (set + 1 < sets) EMIT_IF(b, NOT(more), bra, TO(done));
        else EMIT_IF(b, more, bra, TO(next));
    }
    if (sets > 1) set_label(b, done);
}

static void emit_direct(consumer *w, const mc_reg *sums, mc_reg row, int offset) {
    mc_builder *b = w->b;
    mc_reg at = w->c_at, line = w->c_scratch[0], column = w->c_scratch[1], end = w->c_scratch[2];
    mc_reg in_rows = w->c_in[0], in = w->c_in[1];
    for (int half = 0; half < 2; half++) {
        EMIT(b, add_s32, line, row, w->line);
        EMIT(b, add_s32, line, line, I(offset + 8 * half));
        EMIT(b, setp_lt, in_rows, line, w->g->m);
        EMIT(b, add_s32, column, w->tiles.column, w->column);
        EMIT(b, mul_wide, at, line, w->ldc);
        EMIT(b, shl_b64, at, at, I(2));
        EMIT(b, add_s64, at, at, w->c_array);
        EMIT(b, mad_wide, at, column, I(WORD), at);
        EMIT(b, sub_s32, end, w->g->n, column);
        for (int j = 0; j < w->mma.n / 8; j++) {
            EMIT(b, setp_ge_and, in, end, I(8 * j + 2), in_rows);
            EMIT_IF(b, in, stg_v2, AT(at, 8 * j * WORD), V2(&sums[4 * j + 2 * half]));
        }
    }
}

static void emit_store(consumer *w, mc_reg own_row) {
    mc_builder *b = w->b;
    mc_reg row = own_row.id ? add_s32(b, "first_row", w->tiles.row, own_row) : w->tiles.row;
    for (int block = 0; block < w->mma.blocks; block++) {
        int offset = block * WARPGROUP_ROWS;
        if (w->g->c->direct) emit_direct(w, w->mma.sums[block], row, offset);
        else store_tile(&w->store, w->mma.sums[block], row, offset, w->tiles.column);
    }
}

/* With turns: goes to the stages that the producer has filled for this tile. */
static void begin_turn(consumer *w) {
    const gemm *g = w->g;
    mc_builder *b = w->b;
    note(b, "the stages of this tile, and the turn");
    mc_reg stage = pipeline_seek(&g->pipe, &w->stage, "turn", w->copies);
    warpgroup_seek(&w->mma, stage);
    roles_await_turn(&g->roles, &w->turns);
}

static void end_turn(consumer *w, mc_reg more) {
    mc_builder *b = w->b;
    note(b, "all is issued: the other consumer may multiply, while this one stores");
    roles_pass_turn(&w->g->roles, &w->turns, more);
    EMIT(b, add_s32, w->copies, w->copies, w->g->k_stages);
    EMIT(b, add_s32, w->copies, w->copies, w->g->k_stages);
}

static void emit_tile(consumer *w, mc_reg own_row) {
    const gemm *g = w->g;
    mc_builder *b = w->b;
    if (g->c->sparse) begin_metadata_tile(w, own_row);
    if (g->c->turns) begin_turn(w);
    emit_stages(w);
    if (g->c->turns) end_turn(w, schedule_is_more(&w->tiles, "other_has_tile"));
    note(b, "the sums are there, and the last stage has been read");
    warpgroup_wait(&w->mma, 0);
    pipeline_leave(&g->pipe, &w->stage);
    emit_store(w, own_row);
}

static void begin_turns(consumer *w) {
    const gemm *g = w->g;
    mc_builder *b = w->b;
    w->copies = mul_s32(b, "first_copies", g->roles.warpgroup, g->k_stages);
    w->copies = carried(b, "copies", w->copies);
    mc_reg block = sub_s32(b, "first_tile", w->tiles.tile, w->tiles.turn_step);
    w->turns = roles_turns(&g->roles, setp_lt(b, "any", block, w->tiles.count));
}

static void emit_consumer(const gemm *g, mc_label end) {
    mc_builder *b = g->b;
    consumer w = {.g = g, .b = b};
    mc_label tile = label(b, "TILE"), done = label(b, "DONE");
    heading(b, g->c->turns ? "The consumers: a warpgroup multiplies a tile while the other one stores one"
                           : "The consumers: each warpgroup has its rows of every tile");
    w.stage = pipeline_consume(&g->pipe, g->roles.arrives);
    w.tiles = begin_schedule(g, g->c->turns ? g->roles.warpgroup : (mc_reg){0});
    mc_reg own_row = first_row(g);
    begin_mma(&w, own_row);
    if (g->c->direct) begin_direct(&w);
    else begin_store(&w);
    if (g->c->sparse) begin_metadata(&w);
    if (g->c->turns) begin_turns(&w);
    heading(b, "A tile of C");
    set_label(b, tile);
    schedule_take(&w.tiles, done);
    emit_tile(&w, own_row);
    schedule_next(&w.tiles);
    EMIT(b, bra, TO(tile));
    set_label(b, done);
    if (!g->c->direct) store_end(&w.store);
    EMIT(b, bra, TO(end));
}

/* -- Both */

static void begin_pipeline(gemm *g) {
    mc_builder *b = g->b;
    const gemm_config *c = g->c;
    mc_label ready = label(b, "READY");
    g->pipe = (pipeline){.b = b, .stages = c->stages, .stage_bytes = stage_bytes(c), .gap = slot_bytes(c)};
    g->pipe.consumers = c->turns ? WARPGROUP_WARPS : consumer_warps(c);
    g->pipe.cluster = c->cluster, g->pipe.peer = g->roles.peer;
    g->pipe.first = mov_shared(b, "stages", NAME("room"));
    pipeline_place(&g->pipe);
    EMIT_IF(b, NOT(g->roles.first_thread), bra, TO(ready));
    pipeline_init(&g->pipe);
    set_label(b, ready);
    roles_meet(&g->roles);
}

static void emit_gemm(mc_builder *b, const gemm_config *c) {
    gemm g = {.c = c, .b = b, .lhs = gemm_lhs(c), .rhs = gemm_rhs(c)};
    mc_label producer = label(b, "PRODUCER"), end = label(b, "END");
    shared_dynamic(b, "room", TILE_ALIGN);
    heading(b, "Who is who: %d warpgroups that multiply, and one that copies", c->consumers);
    g.roles = (warp_roles){.b = b, .consumers = c->consumers, .cluster = c->cluster};
    roles_begin(&g.roles);
    g.m = ld_param_s32(b, "m", NAME("m")), g.n = ld_param_s32(b, "n", NAME("n"));
    mc_reg k = ld_param_s32(b, "k_size", NAME("k"));
    mc_reg k_end = add_s32(b, "k_end", k, I(g.rhs.k - 1));
    g.k_stages = shr_u32(b, "k_stages", k_end, I(log2_of(g.rhs.k)));
    note(b, "%d stages of A and B, C on its way, and each stage's barriers", c->stages);
    begin_pipeline(&g);
    roles_produce(&g.roles, producer);
    emit_consumer(&g, end);
    emit_producer(&g, producer, end);
    roles_end(&g.roles, end);
}

/* -- The text ----------------------------------------------------------------------------------------- */

static void print_entry(const gemm_config *c, const char *name, const mc_builder *b, int version,
                        mc_text *text) {
    text_add(
        text,
        ".version %d.%d\n.target sm_90a\n.address_size 64\n\n.extern .shared .align %d .b8 room[];\n\n"
        ".visible .entry %s(\n    .param .u64 c,\n    .param .u64 e,\n    .param .s32 m,\n    .param .s32 "
        "n,\n"
        "    .param .s32 k,\n    .param .s32 ldc,\n    .param .align 64 .b8 a_map[128],\n"
        "    .param .align 64 .b8 b_map[128],\n    .param .align 64 .b8 c_map[128]\n)\n.reqntid %d, 1, 1\n",
        version / 10, version % 10, TILE_ALIGN, name, gemm_threads(c));
    if (c->cluster) text_add(text, ".reqnctapercluster %d, 1, 1\n", c->cluster);
    text_add(text, ".maxnreg %d\n", b->launch_registers);
}

char *gemm_ptx(const gemm_config *c, const char *name) {
    mc_builder b = {0};
    mc_text text = {0};
    int version = 0, registers = 0;
    for (int i = 0; mc_arch_names[i]; i++)
        if (strcmp(mc_arch_names[i], "sm_90a") == 0) b.arch = &mc_archs[i];
    emit_gemm(&b, c);
    bool good =
        builder_check(&b, &version, NULL) && builder_simplify(&b) && builder_check(&b, &version, &registers);
    if (good) {
        print_entry(c, name, &b, version, &text);
        print_body(&b, &text);
    } else {
        fprintf(stderr, "%s: %s\n", c->name, b.error);
    }
    builder_free(&b);
    return good ? text_take(&text) : NULL;
}
