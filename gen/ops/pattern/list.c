#include "ops/pattern/pattern.h"

/* In each turn the word of bits that one lane has is looked at by all: a lane whose bit is set has a vector,
   and in front of it are those of lower bits. */
void pattern_emit_list(mc_builder *b) {
    mc_label end = label(b, "END");
    heading(b, "The warp's segment");
    segment_place place = segments_begin(b, end);
    mc_reg word = ldg_b32(b, "word", AT(segments_word_at(b, &place, load_array(b, "bits")), 0));
    mc_reg start = mad_wide(b, "start_at", place.item, I(WORD), load_array(b, "starts"));
    mc_reg before = carried(b, "before", ldg_b32(b, "start", AT(start, 0)));
    mc_reg columns = load_array(b, "columns");
    mc_reg column = carried(b, "column", add_s32(b, "first_column", place.first, place.lane));
    mc_reg below = sub_s32(b, "below", shl_b32(b, "own", mov_b32(b, "one", I(1)), place.lane), I(1));
    heading(b, "Its words, 32 columns each");
    segment_turns turns = segments_begin_turns(b, &place, load_shape(b, "cols", true), 1);
    mc_reg of_turn = shfl_idx(b, "of_turn", word, turns.turn, I(MC_WARP - 1), H(segment_lanes));
    mc_reg bit = and_b32(b, "bit", shr_u32(b, "from_own", of_turn, place.lane), I(1));
    mc_reg number = popc_b32(b, "lower", and_b32(b, "lower_bits", of_turn, below));
    number = add_s32(b, "number", number, before);
    EMIT_IF(b, setp_ne(b, "is_set", bit, I(0)), stg_b32,
            AT(mad_wide(b, "column_at", number, I(WORD), columns), 0), column);
    EMIT(b, add_s32, before, before, popc_b32(b, "here", of_turn));
    EMIT(b, add_s32, column, column, I(MC_WARP));
    segments_end_turns(b, &turns);
    set_label(b, end);
    EMIT_RET(b);
}
