#include "parts/segments.h"

void segments_contract(mc_contract *c) {
    add_shape(c, "items", MC_OPEN, "segments of all rows");
    add_shape(c, "segments", MC_OPEN, "segments of a row");
    c->grid[0] = (mc_grid_axis){"items", SEGMENT_WARPS};
    c->grid[1] = c->grid[2] = (mc_grid_axis){NULL, 1};
    c->block[0] = SEGMENT_THREADS, c->block[1] = c->block[2] = 1;
}

segment_place segments_begin(mc_builder *b, mc_label end) {
    const thread_place thread = load_thread_place(b, SEGMENT_THREADS);
    segment_place place = {.lane = thread.lane};
    mc_reg segments = load_shape(b, "segments", true);
    place.item = mad_s32(b, "item", load_special(b, "block", "ctaid.x"), I(SEGMENT_WARPS), thread.warp);
    EMIT_IF(b, setp_ge(b, "is_behind", place.item, load_shape(b, "items", true)), bra, TO(end));
    place.row = div_u32(b, "row", place.item, segments);
    mc_reg which = rem_u32(b, "segment", place.item, segments);
    place.first = shl_b32(b, "first", which, I(log2_of(MC_SEGMENT)));
    return place;
}

segment_turns segments_begin_turns(mc_builder *b, const segment_place *place, mc_operand count, int hold) {
    segment_turns turns = {.loop = label(b, "TURNS"), .end = label(b, "TURNS_END"), .hold = hold};
    mc_reg left = min_s32(b, "left", sub_s32(b, "left_in_row", count, place->first), I(MC_SEGMENT));
    turns.turns = shr_s32(b, "turns", add_s32(b, "left_up", left, I(MC_WARP - 1)), I(log2_of(MC_WARP)));
    turns.turn = carried(b, "turn", I(0));
    EMIT_IF(b, setp_ge(b, "has_none", turns.turn, turns.turns), bra, TO(turns.end));
    set_label(b, turns.loop);
    return turns;
}

void segments_end_turns(mc_builder *b, const segment_turns *turns) {
    mc_reg more = pred(b, "more");
    EMIT(b, add_s32, turns->turn, turns->turn, I(turns->hold));
    EMIT(b, setp_lt, more, turns->turn, turns->turns);
    EMIT_IF(b, more, bra, TO(turns->loop));
    set_label(b, turns->end);
}

mc_reg segments_word_at(mc_builder *b, const segment_place *place, mc_reg array) {
    mc_reg words = mad_wide(b, "words_at", place->item, I(SEGMENT_TURNS * WORD), array);
    return mad_wide(b, "word_at", place->lane, I(WORD), words);
}
