#include "parts/join.h"
#include "parts/panels.h"
#include "parts/stream.h"

enum { MOST = JOIN_MOST_VECTOR + 1 };
static const mc_opcode global_loads[MOST] = {[1] = OP_ldr_b32, [2] = OP_ldr_v2, [4] = OP_ldg_weak_v4},
                       global_stores[MOST] = {[1] = OP_stg_b32, [2] = OP_stg_v2, [4] = OP_stg_v4},
                       shared_loads[MOST] = {[1] = OP_lds_b32, [2] = OP_lds_v2, [4] = OP_lds_v4},
                       shared_stores[MOST] = {[1] = OP_sts_b32, [2] = OP_sts_v2, [4] = OP_sts_v4};

static int vectors(const join *j) { return j->count / j->vector; }
static mc_operand vector_at(const join *j, mc_reg at, int i) {
    return AT(at, i / j->beside * j->pitch + i % j->beside * j->vector * WORD);
}

static void store(const join *j, mc_reg guard, const mc_opcode *stores, mc_reg at) {
    for (int i = 0; i < vectors(j); i++)
        builder_emit(j->b, guard, stores[j->vector],
                     MC_OPERANDS(vector_at(j, at, i), operand_vector(j->sums + i * j->vector, j->vector)));
}

/* Adds what lies at AT to this lane's sums. */
static void add(const join *j, const mc_opcode *loads, mc_reg at) {
    for (int i = 0; i < vectors(j); i++) {
        builder_emit(j->b, j->keeps, loads[j->vector],
                     MC_OPERANDS(operand_vector(j->other, j->vector), vector_at(j, at, i)));
        for (int v = 0; v < j->vector; v++) {
            mc_reg sum = j->sums[i * j->vector + v];
            builder_emit(j->b, j->keeps, j->add, MC_OPERANDS(sum, sum, j->other[v]));
        }
    }
}

/* -- What an item says -------------------------------------------------------------------------------- */

mc_reg join_field(mc_builder *b, const char *name, mc_reg sharing, int shift, int bits) {
    mc_reg of = b32(b, name);
    EMIT(b, shr_u32, of, sharing, I(shift));
    EMIT(b, and_b32, of, of, I((1 << bits) - 1));
    return of;
}

void join_take_pieces_of(join *j, mc_reg sharing) {
    j->piece = join_field(j->b, "piece", sharing, PANEL_PIECE_SHIFT, PANEL_PIECE_BITS);
    j->more_pieces = join_field(j->b, "more_pieces", sharing, PANEL_PIECES_SHIFT, PANEL_PIECE_BITS);
    b32_array(j->b, "other", j->vector, j->other);
    for (int v = 0; j->keeps.id && v < j->vector; v++) EMIT(j->b, mov_b32, j->other[v], I(0));
}

/* -- Pieces ------------------------------------------------------------------------------------------- */

void join_find_tile(join *j) {
    mc_builder *b = j->b;
    j->workspace = load_array(b, MC_WORKSPACE);
    j->tiles = load_special(b, "tiles", "nctaid.y"), j->tile = load_special(b, "piece_tile", "ctaid.y");
}

void join_declare_pieces(join *j) {
    mc_builder *b = j->b;
    j->slot = b32(b, "piece_slot"), j->at = b64(b, "piece_at"), j->flag_at = b64(b, "flag_at");
    j->mark = b64(b, "mark"), j->first_lane = setp_eq(b, "first_lane", j->lane, I(0));
}

/* Sets `at` and flag_at for thread block BLOCK. */
static void go_to_piece(const join *j, mc_reg block) {
    mc_builder *b = j->b;
    EMIT(b, mad_s32, j->slot, block, j->tiles, j->tile);
    EMIT(b, mad_wide, j->at, j->slot, I(j->piece_bytes), j->workspace);
    EMIT(b, mad_wide, j->flag_at, j->flag_in_piece, I(1), j->at);
    EMIT(b, mad_wide, j->at, j->in_piece, I(1), j->at);
}

static mc_operand flag_of(const join *j) { return AT(j->flag_at, j->flags_at); }

void join_leave_piece(const join *j) {
    mc_builder *b = j->b;
    note(b, "this piece's sums are left to the last one");
    go_to_piece(j, j->block);
    store(j, j->keeps, global_stores, j->at);
    note(b, "all lanes have: the flag is set");
    EMIT(b, bar_warp_sync, I(-1));
    EMIT(b, mov_b64, j->mark, I(STREAM_MARK));
    EMIT_IF(b, j->first_lane, st_release_b64, flag_of(j), j->mark);
}

/* Waits until thread block BLOCK has left its piece, and adds it. */
static void take_piece(const join *j, mc_reg block) {
    mc_builder *b = j->b;
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
    add(j, global_loads, j->at);
}

void join_take_pieces(const join *j) {
    mc_builder *b = j->b;
    mc_label next = label(b, "OTHER_PIECE"), done = label(b, "PIECES_DONE");
    mc_reg is_last = setp_eq(b, "is_last_piece", j->piece, j->more_pieces);
    EMIT_IF(b, NOT(is_last), bra, TO(done));
    if (j->warps > 1)
        note(b, "the %s's last piece: warp w adds pieces w, w + %d and so on to its own sums", j->of,
             j->warps);
    else note(b, "the %s's last piece adds the others to its own sums, from the first one on", j->of);
    mc_reg other = j->warps > 1 ? carried(b, "other_piece", j->warp) : carried(b, "other_piece", I(0));
    mc_reg first = sub_s32(b, "first_piece", j->block, j->more_pieces);
    mc_reg is_done = pred(b, "no_other_piece");
    set_label(b, next);
    EMIT(b, setp_ge, is_done, other, j->more_pieces);
    EMIT_IF(b, is_done, bra, TO(done));
    take_piece(j, add_s32(b, "other_block", first, other));
    EMIT(b, add_s32, other, other, I(j->warps));
    EMIT(b, bra, TO(next));
    set_label(b, done);
}

/* -- Parts -------------------------------------------------------------------------------------------- */

void join_add_parts(const join *j, const char *array, int share, mc_reg lane, int lane_bytes, mc_label end) {
    mc_builder *b = j->b;
    mc_label added = label(b, "PARTS_ADDED"), next = label(b, "OTHER_PART");
    mc_reg shared = mov_shared(b, "shared_at", NAME(array));
    mc_reg first = mad_s32(b, "lane_share", lane, I(lane_bytes), shared);
    mc_reg at = b32(b, "part_at");
    EMIT(b, mad_s32, at, j->warp, I(share), first);
    mc_reg is_other = setp_ne(b, "is_other_part", j->part, I(0));
    mc_reg stores = is_other;
    if (j->keeps.id) stores = setp_ge_and(b, "stores_part", j->part, I(1), j->keeps);
    store(j, stores, shared_stores, at);
    EMIT(b, bar_sync, I(0));
    EMIT_IF(b, is_other, bra, TO(end));
    note(b, "the %s's first warp adds what the others have, one after another", j->of);
    mc_reg left = carried(b, "parts_left", j->more_parts), is_done = pred(b, "no_other_part");
    set_label(b, next);
    EMIT(b, setp_eq, is_done, left, I(0));
    EMIT_IF(b, is_done, bra, TO(added));
    EMIT(b, add_s32, at, at, I(share));
    add(j, shared_loads, at);
    EMIT(b, add_s32, left, left, I(-1));
    EMIT(b, bra, TO(next));
    set_label(b, added);
}
