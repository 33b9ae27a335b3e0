/* Panels of a matrix without vectors: which one is a warp's, and how warps that share one add up.
 *
 * A warp is told its work by an item (parts/panels.h), since panels are not alike: a graph may have a row
 * with a thousand times as many nonzeros as most have. What is not one warp's alone is added up in a fixed
 * order, so that the bits are the same every time:
 *
 *   parts    the warps of a thread block put their sums in shared memory, and the first of them adds these to
 *            its own, in the order of the parts
 *   pieces   all thread blocks but the last one leave their sums in the workspace, each with a flag. Warp w
 *            of the last one adds those of pieces w, w + warps, w + 2 warps and so on to its own, before the
 *            parts are added up
 *
 * Pieces lie in front of the one that waits for them, in thread blocks that begin no later. So nobody waits
 * in vain. */
#include "ops/spmm/gather/store.h"
#include "parts/panels.h"
#include "parts/stream.h"

enum { VECTOR = 4 /* sums that are loaded or stored at once */, VECTOR_BYTES = VECTOR * WORD };

static const char *const words[] = {"panel", "first", "last", "sharing"};

/* -- The item ----------------------------------------------------------------------------------------- */

/* Which of the lane's rows A has. */
static void find_rows(gather_emitter *e) {
    mc_builder *b = e->b;
    const spmm_plan *plan = &e->plan->base;
    gather_lane_sums k = gather_lane_sums_of(&plan->math, plan->tile_n);
    mc_reg first = mul_s32(b, "panel_row", e->row_block, I(plan->vec));
    mc_reg row = plan->math.order == SPMM_SWAPPED ? mad_s32(b, "lane_row", e->at.place.t, I(k.rows), first)
                                                  : add_s32(b, "lane_row", e->at.place.g, first);
    for (int r = 0; r < k.rows; r++) {
        mc_reg of = r ? add_s32(b, "next_row", row, I(r * k.row_step)) : row;
        e->panel.has_row[r] = setp_lt(b, r ? "has_next_row" : "has_row", of, dim_operand(plan->m, e->at.m));
    }
    e->at.stores = e->panel.has_row[0];
}

void spmm_gather_emit_item(gather_emitter *e) {
    mc_builder *b = e->b;
    const spmm_plan *plan = &e->plan->base;
    mc_reg word[PANEL_ITEM_WORDS], block = load_special(b, "block", "ctaid.x");
    heading(b, "This warp's item: a panel of %d rows, and which of its strides", plan->vec);
    mc_reg number = plan->warps > 1 ? mad_s32(b, "item", block, I(plan->warps), e->at.place.warp) : block;
    mc_reg at = mad_wide(b, "item_at", number, I(PANEL_ITEM_WORDS * WORD), load_array(b, "items"));
    for (int i = 0; i < PANEL_ITEM_WORDS; i++) word[i] = b32(b, words[i]);
    EMIT(b, ldr_v4, V4(word), AT(at, 0));
    e->row_block = word[0], e->stream.first = word[1], e->stream.last = word[2];
    e->panel.block = block, e->panel.sharing = word[3];
    find_rows(e);
}

mc_reg spmm_gather_guard(const gather_emitter *e, int row) {
    return e->plan->base.panels ? e->panel.has_row[row] : e->at.stores;
}

/* -- Where sums lie ----------------------------------------------------------------------------------- */

/* Bytes of the sums that a warp has of COLUMNS columns. */
static int sum_bytes(const gather_plan *plan, int columns) { return plan->base.vec * columns * WORD; }

int spmm_gather_panel_sums(const gather_plan *plan) {
    return plan->base.warps > 1 ? sum_bytes(plan, plan->base.tile_n) : 0;
}

int spmm_gather_piece_bytes(const gather_plan *plan) {
    return sum_bytes(plan, plan->base.tile_n) + PANEL_FLAGS;
}

/* A lane's vectors of sums lie as far apart as those of all lanes take. */
static mc_operand vector_at(mc_reg at, int i) { return AT(at, i * MC_WARP * VECTOR_BYTES); }
static int vectors(const gather_emitter *e) { return e->sums.count / VECTOR; }

typedef struct joining {
    gather_emitter *e;
    const mc_reg *sums;
    mc_reg path_col;
    mc_reg part, more_parts, piece, more_pieces; /* what the item says */
    mc_reg workspace, tiles, tile, in_piece, flag_in_piece, first_lane;
    mc_reg other[VECTOR], slot, at, flag_at, mark; /* scratch; `other`: what comes in */
} joining;

static void add_other(const joining *j, int vector) {
    for (int i = 0; i < VECTOR; i++) {
        mc_reg sum = j->sums[vector * VECTOR + i];
        builder_emit(j->e->b, (mc_reg){0}, sums_add(&j->e->sums), MC_OPERANDS(sum, sum, j->other[i]));
    }
}

/* -- Pieces ------------------------------------------------------------------------------------------- */

/* Where the pieces of this tile's columns lie, in the workspace: those of thread block 0, counted in pieces;
   and of these the path's columns, in bytes. */
static void find_tile(joining *j) {
    mc_builder *b = j->e->b;
    const gather_plan *plan = j->e->plan;
    j->workspace = load_array(b, MC_WORKSPACE);
    j->tiles = load_special(b, "tiles", "nctaid.y"), j->tile = load_special(b, "piece_tile", "ctaid.y");
    mc_reg column = sub_s32(b, "piece_column", j->path_col, j->e->at.tile_col);
    mc_reg lane = mul_s32(b, "piece_lane", j->e->at.place.lane, I(VECTOR_BYTES));
    j->in_piece = mad_s32(b, "in_piece", column, I(plan->base.vec * WORD), lane);
    mc_reg flag = shr_u32(b, "flag_number", column, I(log2_of(PANEL_FLAG_COLUMNS)));
    j->flag_in_piece = mul_s32(b, "flag_in_piece", flag, I(PANEL_FLAG));
    j->slot = b32(b, "piece_slot"), j->at = b64(b, "piece_at"), j->flag_at = b64(b, "flag_at");
    j->mark = b64(b, "mark"), j->first_lane = setp_eq(b, "first_lane", j->e->at.place.lane, I(0));
}

/* Sets `at` and flag_at for thread block BLOCK. */
static void go_to_piece(const joining *j, mc_reg block) {
    mc_builder *b = j->e->b;
    EMIT(b, mad_s32, j->slot, block, j->tiles, j->tile);
    EMIT(b, mad_wide, j->at, j->slot, I(spmm_gather_piece_bytes(j->e->plan)), j->workspace);
    EMIT(b, mad_wide, j->flag_at, j->flag_in_piece, I(1), j->at);
    EMIT(b, mad_wide, j->at, j->in_piece, I(1), j->at);
}

static mc_operand flag_of(const joining *j) {
    return AT(j->flag_at, sum_bytes(j->e->plan, j->e->plan->base.tile_n));
}

static void leave_piece(const joining *j) {
    mc_builder *b = j->e->b;
    note(b, "this piece's sums are left to the last one");
    go_to_piece(j, j->e->panel.block);
    for (int i = 0; i < vectors(j->e); i++) EMIT(b, stg_v4, vector_at(j->at, i), V4(j->sums + i * VECTOR));
    note(b, "all lanes have: the flag is set");
    EMIT(b, bar_warp_sync, I(-1));
    EMIT(b, mov_b64, j->mark, I(STREAM_MARK));
    EMIT_IF(b, j->first_lane, st_release_b64, flag_of(j), j->mark);
}

/* Waits until thread block BLOCK has left its piece, and adds it. */
static void take_piece(const joining *j, mc_reg block) {
    mc_builder *b = j->e->b;
    mc_label again = label(b, "PIECE"), there = label(b, "PIECE_THERE");
    mc_reg is_set = pred(b, "flag_is_set");
    go_to_piece(j, block);
    set_label(b, again);
    EMIT(b, ld_acquire_b64, j->mark, flag_of(j));
    EMIT(b, setp_eq_b64, is_set, j->mark, I(STREAM_MARK));
    EMIT_IF(b, is_set, bra, TO(there));
    EMIT(b, bra, TO(again));
    set_label(b, there);
    note(b, "all lanes have seen the flag: it is cleared for the next launch");
    EMIT(b, bar_warp_sync, I(-1));
    EMIT(b, mov_b64, j->mark, I(0));
    EMIT_IF(b, j->first_lane, stg_b64, flag_of(j), j->mark);
    for (int i = 0; i < vectors(j->e); i++) {
        EMIT(b, ldg_weak_v4, V4(j->other), vector_at(j->at, i));
        add_other(j, i);
    }
}

/* By the warps of the last piece, each its share of the others. */
static void take_pieces(const joining *j) {
    mc_builder *b = j->e->b;
    const spmm_plan *plan = &j->e->plan->base;
    mc_label next = label(b, "OTHER_PIECE"), done = label(b, "PIECES_DONE");
    mc_reg is_last = setp_eq(b, "is_last_piece", j->piece, j->more_pieces);
    EMIT_IF(b, NOT(is_last), bra, TO(done));
    note(b, "the panel's last piece: warp w adds pieces w, w + %d and so on to its own sums", plan->warps);
    mc_reg other =
        plan->warps > 1 ? carried(b, "other_piece", j->e->at.place.warp) : carried(b, "other_piece", I(0));
    mc_reg first = sub_s32(b, "first_piece", j->e->panel.block, j->more_pieces);
    mc_reg is_done = pred(b, "no_other_piece");
    set_label(b, next);
    EMIT(b, setp_ge, is_done, other, j->more_pieces);
    EMIT_IF(b, is_done, bra, TO(done));
    take_piece(j, add_s32(b, "other_block", first, other));
    EMIT(b, add_s32, other, other, I(plan->warps));
    EMIT(b, bra, TO(next));
    set_label(b, done);
}

/* -- Parts -------------------------------------------------------------------------------------------- */

/* The first part adds the others' sums, which these have put into shared memory. */
static void add_parts(const joining *j, int share, mc_label end) {
    mc_builder *b = j->e->b;
    mc_label added = label(b, "PARTS_ADDED"), next = label(b, "OTHER_PART");
    mc_reg shared = mov_shared(b, "shared_at", NAME(gather_shared_name(j->e->plan)));
    mc_reg lane = mad_s32(b, "lane_share", j->e->at.place.lane, I(VECTOR_BYTES), shared);
    mc_reg at = b32(b, "part_at");
    EMIT(b, mad_s32, at, j->e->at.place.warp, I(share), lane);
    mc_reg is_other = setp_ne(b, "is_other_part", j->part, I(0));
    for (int i = 0; i < vectors(j->e); i++)
        EMIT_IF(b, is_other, sts_v4, vector_at(at, i), V4(j->sums + i * VECTOR));
    EMIT(b, bar_sync, I(0));
    EMIT_IF(b, is_other, bra, TO(end));
    note(b, "the panel's first warp adds what the others have, one after another");
    mc_reg left = carried(b, "parts_left", j->more_parts), is_done = pred(b, "no_other_part");
    set_label(b, next);
    EMIT(b, setp_eq, is_done, left, I(0));
    EMIT_IF(b, is_done, bra, TO(added));
    EMIT(b, add_s32, at, at, I(share));
    for (int i = 0; i < vectors(j->e); i++) {
        EMIT(b, lds_v4, V4(j->other), vector_at(at, i));
        add_other(j, i);
    }
    EMIT(b, add_s32, left, left, I(-1));
    EMIT(b, bra, TO(next));
    set_label(b, added);
}

/* -- Both --------------------------------------------------------------------------------------------- */

static mc_reg field(const joining *j, const char *name, int shift, int bits) {
    mc_builder *b = j->e->b;
    mc_reg word = j->e->panel.sharing;
    mc_reg of = b32(b, name);
    EMIT(b, shr_u32, of, word, I(shift));
    EMIT(b, and_b32, of, of, I((1 << bits) - 1));
    return of;
}

void spmm_gather_emit_join(gather_emitter *e, const gather_path *path, mc_reg path_col, mc_label end) {
    mc_builder *b = e->b;
    joining j = {.e = e, .sums = sums_result(&e->sums), .path_col = path_col};
    mc_label joined = label(b, "JOINED");
    heading(b, "Sums of a panel that warps share");
    mc_reg alone = setp_eq(b, "no_sharing", e->panel.sharing, I(0));
    EMIT_IF(b, alone, bra, TO(joined));
    j.part = field(&j, "part", 0, PANEL_PART_BITS);
    j.more_parts = field(&j, "more_parts", PANEL_PARTS_SHIFT, PANEL_PARTS_BITS);
    j.piece = field(&j, "piece", PANEL_PIECE_SHIFT, PANEL_PIECE_BITS);
    j.more_pieces = field(&j, "more_pieces", PANEL_PIECES_SHIFT, PANEL_PIECE_BITS);
    b32_array(b, "other", VECTOR, j.other);
    find_tile(&j);
    take_pieces(&j);
    if (e->plan->base.warps > 1) add_parts(&j, spmm_gather_share_bytes(e->plan, path), end);
    mc_reg is_last = setp_eq(b, "finishes", j.piece, j.more_pieces);
    EMIT_IF(b, is_last, bra, TO(joined));
    leave_piece(&j);
    EMIT(b, bra, TO(end));
    set_label(b, joined);
}
