#include "parts/stream.h"
#include "parts/emit.h"
#include "parts/fragment.h"
#include <stdio.h>

/* -- Pieces ------------------------------------------------------------------------------------------- */

/* How many tiles are taken whole. Returns how many there are besides. */
static mc_reg begin_whole(stream_line *s, mc_reg tiles, mc_reg blocks) {
    mc_builder *b = s->b;
    note(
        b,
        "tiles that are taken whole: those of full turns, or all where the last turn is more than %d/%d full",
        STREAM_FULL, STREAM_OF);
    s->whole = carried(b, "whole_tiles", mul_s32(b, "all_turns", div_u32(b, "turns", tiles, blocks), blocks));
    mc_reg left = sub_s32(b, "tiles_left", tiles, s->whole);
    mc_reg is_full = setp_gt(b, "is_full", mul_s32(b, "left_parts", left, I(STREAM_OF)),
                             mul_s32(b, "full_parts", blocks, I(STREAM_FULL)));
    EMIT_IF(b, is_full, mov_b32, s->whole, tiles);
    return sub_s32(b, "line_tiles", tiles, s->whole);
}

/* The thread block's range, if it has one. */
static void begin_range(stream_line *s, mc_reg tiles, mc_reg blocks) {
    mc_builder *b = s->b;
    note(b, "the line of the others' stages, and the thread block's range of it: from the last one back");
    mc_reg line = mul_s32(b, "line", tiles, s->stages);
    mc_reg most = mul_s32(b, "most_ranges", tiles, I(STREAM_RANGES));
    mc_reg ranges = max_s32(b, "ranges", min_s32(b, "ranges_there", blocks, most), I(1));
    s->least = div_u32(b, "range_least", line, ranges), s->longer = rem_u32(b, "ranges_longer", line, ranges);
    s->last = add_s32(b, "last_range", ranges, I(-1));
    mc_reg range = sub_s32(b, "range", s->last, s->block);
    mc_reg before = min_s32(b, "longer_before", range, s->longer);
    s->at = carried(b, "line_at", mad_s32(b, "range_first", range, s->least, before));
    s->end = carried(b, "range_end", add_s32(b, "range_least_end", s->at, s->least));
    EMIT_IF(b, setp_lt(b, "is_longer", range, s->longer), add_s32, s->end, s->end, I(1));
    EMIT_IF(b, setp_lt(b, "has_no_range", range, I(0)), mov_b32, s->end, s->at);
}

void stream_begin(stream_line *s, mc_reg tiles, mc_reg block, mc_reg blocks) {
    mc_builder *b = s->b;
    s->block = block;
    begin_range(s, begin_whole(s, tiles, blocks), blocks);
    s->tile = b32(b, "piece_tile"), s->first = b32(b, "piece_first"), s->length = b32(b, "piece_length");
    s->is_whole = pred(b, "is_whole");
}

void stream_take(const stream_line *s, mc_reg number, mc_label end) {
    mc_builder *b = s->b;
    mc_label taken = label(b, "PIECE_TAKEN");
    mc_reg left = b32(b, "range_left"), more = pred(b, "more_line");
    EMIT(b, setp_lt, s->is_whole, number, s->whole);
    EMIT(b, mov_b32, s->tile, number);
    EMIT(b, mov_b32, s->first, I(0));
    EMIT(b, mov_b32, s->length, s->stages);
    EMIT_IF(b, s->is_whole, bra, TO(taken));
    note(b, "the range's next piece: up to the end of its tile, or of the range");
    EMIT(b, setp_lt, more, s->at, s->end);
    EMIT_IF(b, NOT(more), bra, TO(end));
    EMIT(b, div_u32, s->tile, s->at, s->stages);
    EMIT(b, rem_u32, s->first, s->at, s->stages);
    EMIT(b, sub_s32, s->length, s->stages, s->first);
    EMIT(b, sub_s32, left, s->end, s->at);
    EMIT(b, min_s32, s->length, s->length, left);
    EMIT(b, add_s32, s->at, s->at, s->length);
    EMIT(b, add_s32, s->tile, s->tile, s->whole);
    set_label(b, taken);
}

mc_reg stream_has(const stream_line *s, const char *name, mc_reg number) {
    mc_reg has = pred(s->b, name);
    EMIT(s->b, setp_lt, has, number, s->whole);
    EMIT_IF(s->b, NOT(has), setp_lt, has, s->at, s->end);
    return has;
}

/* -- The workspace ------------------------------------------------------------------------------------ */

static int warps(const stream_sums *s) { return s->threads / MC_WARP; }
static int vectors(const stream_sums *s) { return s->sums / STREAM_VECTOR; }
/* Bytes of a vector of all threads, and of all that a thread block leaves. */
static int vector_bytes(const stream_sums *s) { return s->threads * STREAM_VECTOR * WORD; }
static int slot_bytes(const stream_sums *s) { return s->blocks * vectors(s) * vector_bytes(s); }

unsigned stream_flag_bytes(const stream_sums *s) { return (unsigned)(s->most * warps(s) * STREAM_FLAG); }

unsigned stream_bytes(const stream_sums *s) {
    return stream_flag_bytes(s) + (unsigned)s->most * (unsigned)slot_bytes(s);
}

void stream_add_contract(const stream_sums *s, mc_contract *c) {
    add_workspace(c, stream_bytes(s), STREAM_VECTOR * WORD, "sums of parts of tiles, behind their flags");
    c->flags = stream_flag_bytes(s);
    c->turn_most = s->most;
}

void stream_sums_begin(stream_sums *s) {
    mc_builder *b = s->b;
    note(b, "where thread blocks leave the sums of pieces, and their flags");
    s->workspace = load_array(b, MC_WORKSPACE);
    s->from = b32(b, "piece_from"), s->missing = b32(b, "stages_missing"), s->flag = b32(b, "flag_number");
    s->is_so = pred(b, "piece_is_so");
    s->address = b64(b, "piece_at"), s->state = b64(b, "piece_flag");
    for (int i = 0; i < STREAM_PARTS; i++) {
        char name[MC_MAX_NAME];
        snprintf(name, sizeof name, "piece%d_", i);
        b32_array(b, name, STREAM_VECTOR, s->part[i]);
    }
}

/* Sets `address` to the flag that this warp has in thread block BLOCK. */
static void go_to_flag(const stream_sums *s, mc_reg block) {
    EMIT(s->b, mad_s32, s->flag, block, I(warps(s)), s->warp);
    EMIT(s->b, mad_wide, s->address, s->flag, I(STREAM_FLAG), s->workspace);
}

/* Sets `address` to where this thread's first sums lie in thread block BLOCK's room, but for the flags. */
static void go_to_sums(const stream_sums *s, mc_reg block) {
    EMIT(s->b, mad_wide, s->address, block, I(slot_bytes(s)), s->workspace);
    EMIT(s->b, mad_wide, s->address, s->thread, I(STREAM_VECTOR * WORD), s->address);
}

/* Vector INDEX of all those of a thread: where it lies, and its sums. */
static mc_operand place_of(const stream_sums *s, int index) {
    return AT(s->address, (int)stream_flag_bytes(s) + index * vector_bytes(s));
}
static const mc_reg *sums_of(const stream_sums *s, const warpgroup_block *sums, int index) {
    return &sums[index / vectors(s)][index % vectors(s) * STREAM_VECTOR];
}

/* -- Sums --------------------------------------------------------------------------------------------- */

static void leave(const stream_sums *s, const warpgroup_block *sums) {
    mc_builder *b = s->b;
    go_to_sums(s, s->line->block);
    for (int i = 0; i < s->blocks * vectors(s); i++) EMIT(b, stg_v4, place_of(s, i), V4(sums_of(s, sums, i)));
    note(b, "all lanes have: the warp's flag is set");
    EMIT(b, bar_warp_sync, H(0xffffffff));
    go_to_flag(s, s->line->block);
    EMIT(b, mov_b64, s->state, I(STREAM_MARK));
    EMIT_IF(b, s->tells, st_release_b64, AT(s->address, 0), s->state);
}

/* Waits until thread block `from` has left its piece, and clears the flag. */
static void await(const stream_sums *s) {
    mc_builder *b = s->b;
    mc_label again = label(b, "PIECE"), there = label(b, "PIECE_THERE");
    go_to_flag(s, s->from);
    set_label(b, again);
    EMIT(b, ld_acquire_b64, s->state, AT(s->address, 0));
    EMIT(b, setp_eq_b64, s->is_so, s->state, I(STREAM_MARK));
    EMIT_IF(b, s->is_so, bra, TO(there));
    EMIT(b, bra, TO(again));
    set_label(b, there);
    note(b, "all lanes have seen the flag: it is cleared for the next launch");
    EMIT(b, bar_warp_sync, H(0xffffffff));
    EMIT(b, mov_b64, s->state, I(0));
    EMIT_IF(b, s->tells, stg_b64, AT(s->address, 0), s->state);
}

static void add_vector(const stream_sums *s, const mc_reg *sums, const mc_reg *part) {
    for (int i = 0; i < STREAM_VECTOR; i++)
        if (s->real) EMIT(s->b, add_f32, sums[i], sums[i], part[i]);
        else EMIT(s->b, add_s32, sums[i], sums[i], part[i]);
}

/* Adds what `from` has left; floats are rounded to nearest. */
static void add_piece(const stream_sums *s, const warpgroup_block *sums) {
    mc_builder *b = s->b;
    int count = s->blocks * vectors(s);
    go_to_sums(s, s->from);
    for (int first = 0; first < count; first += STREAM_PARTS) {
        int parts = count - first < STREAM_PARTS ? count - first : STREAM_PARTS;
        for (int i = 0; i < parts; i++) EMIT(b, ldg_weak_v4, V4(s->part[i]), place_of(s, first + i));
        for (int i = 0; i < parts; i++) add_vector(s, sums_of(s, sums, first + i), s->part[i]);
    }
}

/* Adds the pieces behind the one at hand, as far as the tile goes: those of the ranges behind this one. */
static void take_others(const stream_sums *s, const warpgroup_block *sums) {
    const stream_line *line = s->line;
    mc_builder *b = s->b;
    mc_label next = label(b, "OTHER_PIECE");
    EMIT(b, mov_b32, s->from, line->block);
    set_label(b, next);
    EMIT(b, add_s32, s->from, s->from, I(-1));
    await(s);
    add_piece(s, sums);
    note(b, "the stages of that range");
    EMIT(b, sub_s32, s->missing, s->missing, line->least);
    mc_reg range = sub_s32(b, "other_range", line->last, s->from);
    EMIT_IF(b, setp_lt(b, "other_longer", range, line->longer), add_s32, s->missing, s->missing, I(-1));
    EMIT(b, setp_gt, s->is_so, s->missing, I(0));
    EMIT_IF(b, s->is_so, bra, TO(next));
}

void stream_join(const stream_sums *s, const warpgroup_block *sums, mc_label next) {
    const stream_line *line = s->line;
    mc_builder *b = s->b;
    mc_label own = label(b, "FIRST_PIECE"), whole = label(b, "TILE_IS_WHOLE");
    EMIT(b, setp_eq, s->is_so, line->first, I(0));
    EMIT_IF(b, s->is_so, bra, TO(own));
    note(b, "a piece that is not its tile's first: its sums are left");
    leave(s, sums);
    EMIT(b, bra, TO(next));
    set_label(b, own);
    EMIT(b, sub_s32, s->missing, line->stages, line->length);
    EMIT(b, setp_gt, s->is_so, s->missing, I(0));
    EMIT_IF(b, NOT(s->is_so), bra, TO(whole));
    note(b, "the tile has other pieces: they are added in the order of k");
    take_others(s, sums);
    set_label(b, whole);
}
