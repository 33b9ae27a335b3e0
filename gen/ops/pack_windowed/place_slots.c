#include "ops/pack_windowed/place.h"

enum { SECOND_WITHOUT = 0x0c }; /* lop3: second & ~first */

/* -- Elements of 32 bits ------------------------------------------------------------------------------ */

/* The value that lane I of the lane's group of 8 has. */
static mc_reg of_group(mc_builder *b, const char *name, mc_reg value, mc_operand i) {
    return shfl_idx(b, name, value, i, I(GROUP_LANES), ALL_LANES);
}

/* How many of the group's vectors are dealt before the lane's: by row mod 8 / 2, then in their order. */
static mc_reg dealt_before(place_emitter *e, mc_reg held) {
    enum { NEVER = 1 << 8 };
    mc_builder *b = e->b;
    mc_reg bank = and_b32(b, "bank", e->slot.column, I(WINDOWED_GROUP - 1));
    mc_reg pair = shr_u32(b, "pair", bank, I(1));
    mc_reg in_group = and_b32(b, "in_group", e->lane, I(WINDOWED_GROUP - 1));
    mc_reg key = mad_s32(b, "turn", pair, I(WINDOWED_GROUP), in_group);
    key = selp_b32(b, "turn_or_none", key, I(NEVER), held);
    mc_reg before = carried(b, "before", I(0));
    for (int i = 0; i < WINDOWED_GROUP; i++) {
        mc_reg earlier = setp_lt(b, name_nth("is_earlier", i).text,
                                 of_group(b, name_nth("other_turn", i).text, key, I(i)), key);
        EMIT_IF(b, earlier, add_s32, before, before, I(1));
    }
    return selp_b32(b, "dealt", before, I(-1), held);
}

/* Vectors are dealt to a group's first four slots and its last four in turn: dealt % 2 * 4 + dealt / 2. */
void place_deal_words(place_emitter *e) {
    mc_builder *b = e->b;
    mc_reg dealt = dealt_before(e, setp_ge(b, "is_vector", e->slot.vector, I(0)));
    mc_reg quarter = and_b32(b, "quarter", e->lane, I(3)), half = shr_u32(b, "half", e->lane, I(2));
    mc_reg wanted = mad_s32(b, "wanted", quarter, I(2), and_b32(b, "is_last_half", half, I(1)));
    mc_reg from = carried(b, "from", I(-1));
    for (int i = 0; i < WINDOWED_GROUP; i++) {
        mc_reg other = of_group(b, name_nth("other_dealt", i).text, dealt, I(i));
        mc_reg is_it = setp_eq(b, name_nth("is_it", i).text, other, wanted);
        EMIT_IF(b, is_it, mov_b32, from, I(i));
    }
    mc_reg source = max_s32(b, "source", from, I(0));
    EMIT(b, mov_b32, e->slot.column, of_group(b, "dealt_column", e->slot.column, source));
    EMIT(b, mov_b32, e->slot.vector, of_group(b, "dealt_vector", e->slot.vector, source));
    EMIT_IF(b, setp_lt(b, "is_empty", from, I(0)), mov_b32, e->slot.vector, I(-1));
}

/* -- Rows of the ring --------------------------------------------------------------------------------- */

/* windowed_place of the kernel's tile. */
static mc_reg place_of_row(place_emitter *e, mc_reg row) {
    mc_builder *b = e->b;
    const int units = e->plan->tile / WINDOWED_UNIT, rows = 8 / units;
    mc_reg line = shr_u32(b, "line", row, I(log2_of(rows)));
    return mad_s32(b, "place_of_row", row, I(units), and_b32(b, "swizzle", line, I(units - 1)));
}

/* The banks that vectors of the group leave free, a bit each. */
static mc_reg free_banks(place_emitter *e, mc_reg held) {
    mc_builder *b = e->b;
    mc_reg bank = and_b32(b, "slot_bank", e->slot.column, I(WINDOWED_GROUP - 1));
    mc_reg bit = shl_b32(b, "bank_bit", I(1), bank);
    mc_reg used = carried(b, "used_banks", I(0));
    EMIT(b, selp_b32, used, bit, I(0), held);
    for (int lanes = 1; lanes < WINDOWED_GROUP; lanes *= 2)
        EMIT(b, or_b32, used, used,
             shfl_bfly(b, name_nth("banks_beside", lanes).text, used, I(lanes), I(LAST_LANE), ALL_LANES));
    return xor_b32(b, "free_banks", used, I((1 << WINDOWED_GROUP) - 1));
}

/* How many slots of padding the group has before the lane's. */
static mc_reg padding_before(place_emitter *e, mc_reg held) {
    mc_builder *b = e->b;
    mc_reg below = lop3(b, "padding_below", vote_ballot(b, "held", held, ALL_LANES), e->lanes_below, I(0),
                        H(SECOND_WITHOUT));
    mc_reg first = and_b32(b, "group_lane", e->lane, I(MC_WARP - WINDOWED_GROUP));
    return popc_b32(b, "padding", shr_u32(b, "group_padding", below, first));
}

/* The group's slots of padding have its free banks in their order. */
static mc_reg bank_of_padding(place_emitter *e, mc_reg held) {
    mc_builder *b = e->b;
    mc_reg banks = carried(b, "banks_left", free_banks(e, held)), before = padding_before(e, held);
    for (int i = 0; i < WINDOWED_GROUP - 1; i++) {
        mc_reg less = sub_s32(b, name_nth("one_less", i).text, banks, I(1));
        EMIT_IF(b, setp_gt(b, name_nth("is_anothers", i).text, before, I(i)), and_b32, banks, banks, less);
    }
    mc_reg lower =
        lop3(b, "lower_banks", banks, sub_s32(b, "below_lowest", banks, I(1)), I(0), H(SECOND_WITHOUT));
    return popc_b32(b, "free_bank", lower);
}

/* In a free bank of the oldest window. */
static mc_reg row_of_padding(place_emitter *e, mc_reg held) {
    mc_builder *b = e->b;
    mc_reg bank = bank_of_padding(e, held);
    mc_reg row = mad_s32(b, "padding_of_b", e->windows.left, e->ring.window, bank);
    return rem_u32(b, "padding_row", row, e->ring.rows);
}

mc_reg place_in_ring(place_emitter *e, mc_reg held) {
    bool banks = e->plan->padding == PADDING_BANKS;
    mc_reg padding = banks ? row_of_padding(e, held) : e->ring.rows;
    return place_of_row(e, selp_b32(e->b, "ring_row", e->slot.row, padding, held));
}

/* The slot in the low half of the lane's word, as windowed_word_of says, or slot w of word w. */
static mc_reg low_slot(place_emitter *e) {
    mc_builder *b = e->b;
    mc_reg word = and_b32(b, "word", e->lane, I(WINDOWED_STRIDE_WORDS - 1));
    if (e->plan->padding != PADDING_WORDS) return word;
    mc_reg group = and_b32(b, "word_group", word, I(WINDOWED_GROUPS - 1));
    return mad_s32(b, "low_slot", group, I(WINDOWED_GROUP), shr_u32(b, "word_slot", word, I(2)));
}

mc_reg place_word(place_emitter *e, mc_reg place) {
    mc_builder *b = e->b;
    const int apart = e->plan->padding == PADDING_WORDS ? WINDOWED_GROUP / 2 : WINDOWED_HALF;
    mc_reg slot = low_slot(e), beside = add_s32(b, "high_slot", slot, I(apart));
    mc_reg low = shfl_idx(b, "low_place", place, slot, I(LAST_LANE), ALL_LANES);
    mc_reg high = shfl_idx(b, "high_place", place, beside, I(LAST_LANE), ALL_LANES);
    return bfi(b, "places_word", high, low, I(16), I(16));
}
