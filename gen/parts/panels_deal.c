#include "parts/panels_deal.h"
#include "parts/lanes.h"
#include "parts/made_name.h"
#include "parts/panels.h"
#include "parts/panels_work.h"

enum { ROOT_BITS = PANEL_PIECE_BITS }; /* of a number of pieces, less 1 */

/* -- How many share a panel --------------------------------------------------------------------------- */

/* The least number whose square is at least that of the strides, or the most pieces that there may be: one
   more than the greatest whose square is less. */
static mc_reg root_of(mc_builder *b, mc_reg strides) {
    mc_reg below = carried(b, "root_below", I(0));
    for (int bit = ROOT_BITS - 1; bit >= 0; bit--) {
        mc_reg tried = add_s32(b, name_nth("tried", bit).text, below, I(1 << bit));
        mc_reg square = mul_s32(b, name_nth("square", bit).text, tried, tried);
        mc_reg is_below = setp_lt(b, name_nth("is_below", bit).text, square, strides);
        EMIT(b, selp_b32, below, tried, below, is_below);
    }
    return add_s32(b, "root", below, I(1));
}

dealt_sharing panels_emit_sharing(mc_builder *b, mc_reg strides) {
    enum { MOST_DOUBLED = PANEL_CLASSES - 2 };
    mc_reg share = load_shape(b, "share", true);
    dealt_sharing s = {.warps = load_shape(b, "warps", true)};
    mc_reg each = mul_s32(b, "each", s.warps, share);
    s.is_long = setp_gt(b, "is_long", strides, each);
    mc_reg up = add_s32(b, "strides_up", strides, sub_s32(b, "each_less", each, I(1)));
    mc_reg wanted = div_u32(b, "wanted", up, each);
    mc_reg pieces = min_s32(b, "pieces_or_less", wanted, root_of(b, strides));
    s.pieces = selp_b32(b, "pieces", pieces, I(1), s.is_long);
    s.parts = carried(b, "parts", I(1));
    mc_reg taken = carried(b, "taken", share);
    for (int i = 0; i < MOST_DOUBLED; i++) {
        mc_reg is_more = setp_lt(b, name_nth("is_more", i).text, taken, strides);
        EMIT_IF(b, is_more, add_s32, s.parts, s.parts, s.parts);
        EMIT_IF(b, is_more, add_s32, taken, taken, taken);
    }
    EMIT(b, min_s32, s.parts, s.parts, s.warps);
    s.items = mul_s32(b, "items_of_panel", s.pieces, s.parts);
    return s;
}

/* -- Items -------------------------------------------------------------------------------------------- */

mc_reg panels_emit_shares(mc_builder *b, mc_reg item, mc_reg warps, mc_reg shared_end) {
    mc_reg block = sub_s32(b, "block_first", item, rem_u32(b, "in_block", item, warps));
    mc_reg is_mixed = setp_lt(b, "is_mixed", block, shared_end);
    return selp_b32(b, "mixed", I((int64_t)1 << PANEL_SHARES_SHIFT), I(0), is_mixed);
}

/* floor(STRIDES LEAF / LEAVES), of which the product may be too long. */
static mc_reg cut(mc_builder *b, const char *prefix, const dealt_panel *p, mc_reg leaf, mc_reg leaves) {
    b->prefix = prefix;
    mc_reg rest = mul_s32(b, "rest_leaf", rem_u32(b, "rest", p->strides, leaves), leaf);
    mc_reg whole = mul_s32(b, "whole_leaf", div_u32(b, "whole", p->strides, leaves), leaf);
    mc_reg place = add_s32(b, "place", whole, div_u32(b, "part", rest, leaves));
    place = add_s32(b, "stride", place, p->begin);
    b->prefix = NULL;
    return place;
}

static mc_reg sharing_of(mc_builder *b, const dealt_panel *p) {
    mc_reg part = rem_u32(b, "part", p->leaf, p->parts), piece = div_u32(b, "piece", p->leaf, p->parts);
    mc_reg parts = shl_b32(b, "parts_there", sub_s32(b, "parts_less", p->parts, I(1)), I(PANEL_PARTS_SHIFT));
    mc_reg pieces =
        shl_b32(b, "pieces_there", sub_s32(b, "pieces_less", p->pieces, I(1)), I(PANEL_PIECES_SHIFT));
    mc_reg where = or_b32(b, "which", part, shl_b32(b, "piece_there", piece, I(PANEL_PIECE_SHIFT)));
    mc_reg of = or_b32(b, "of", parts, pieces);
    return or_b32(b, "sharing", or_b32(b, "which_of", where, of), p->shares);
}

void panels_emit_items(mc_builder *b, mc_reg items, const char *prefix, const dealt_panel *p) {
    const made_name first = name_with(prefix, "first_"), last = name_with(prefix, "last_");
    b->prefix = prefix;
    mc_label loop = label(b, "LEAVES"), end = label(b, "LEAVES_END");
    mc_reg leaves = mul_s32(b, "leaves", p->pieces, p->parts), more = pred(b, "more");
    EMIT_IF(b, setp_ge(b, "has_none", p->leaf, leaves), bra, TO(end));
    set_label(b, loop);
    mc_reg next = add_s32(b, "next_leaf", p->leaf, I(1));
    mc_reg begins = cut(b, first.text, p, p->leaf, leaves), ends = cut(b, last.text, p, next, leaves);
    b->prefix = prefix;
    const mc_reg words[PANEL_ITEM_WORDS] = {p->number, begins, ends, sharing_of(b, p)};
    mc_reg item = add_s32(b, "its_item", p->item, p->leaf);
    EMIT(b, stg_v4, AT(mad_wide(b, "item_at", item, I(PANEL_ITEM_WORDS * WORD), items), 0), V4(words));
    EMIT(b, add_s32, p->leaf, p->leaf, p->step);
    EMIT(b, setp_lt, more, p->leaf, leaves);
    EMIT_IF(b, more, bra, TO(loop));
    set_label(b, end);
    b->prefix = NULL;
}

static mc_reg of_lane(mc_builder *b, const char *name, mc_reg word, mc_reg lane) {
    return shfl_idx(b, name, word, lane, I(LAST_LANE), ALL_LANES);
}

void panels_emit_long(mc_builder *b, mc_reg items, mc_reg lane, mc_reg is_long, const dealt_panel *p,
                      mc_operand shares) {
    mc_label loop = label(b, "LONG"), end = label(b, "LONG_END");
    mc_reg left = carried(b, "long_lanes", vote_ballot(b, "are_long", is_long, ALL_LANES));
    set_label(b, loop);
    EMIT_IF(b, setp_eq(b, "no_long", left, I(0)), bra_uni, TO(end));
    mc_reg less = sub_s32(b, "long_less", left, I(1));
    mc_reg below = lop3(b, "below_lowest", less, left, I(0), H(0x30)); /* less & ~left */
    mc_reg from = popc_b32(b, "long_lane", below);
    const dealt_panel one = {.number = of_lane(b, "long_panel", p->number, from),
                             .begin = of_lane(b, "long_begin", p->begin, from),
                             .strides = of_lane(b, "long_strides", p->strides, from),
                             .pieces = of_lane(b, "long_pieces", p->pieces, from),
                             .parts = p->parts,
                             .item = of_lane(b, "long_item", p->item, from),
                             .leaf = carried(b, "long_leaf", lane),
                             .step = mov_b32(b, "long_step", I(MC_WARP)),
                             .shares = mov_b32(b, "long_shares", shares)};
    panels_emit_items(b, items, "long_", &one);
    EMIT(b, bar_warp_sync, ALL_LANES);
    EMIT(b, and_b32, left, left, less);
    EMIT(b, bra_uni, TO(loop));
    set_label(b, end);
}

void panels_emit_fill(mc_builder *b, mc_reg items, const dealt_end *end) {
    b->prefix = "fill_";
    mc_reg item = add_s32(b, "item", end->items, end->thread);
    mc_reg over = rem_u32(b, "over", end->items, end->warps);
    mc_reg missing = sub_s32(b, "missing", end->warps, over);
    mc_reg is_over = setp_gt(b, "is_over", over, I(0));
    mc_reg is_missing = setp_lt_and(b, "is_missing", end->thread, missing, is_over);
    mc_reg is_filled = setp_eq_and(b, "is_filled", end->number, I(0), is_missing);
    mc_reg none = mov_b32(b, "none", I(0));
    const mc_reg words[PANEL_ITEM_WORDS] = {end->none, none, none,
                                            panels_emit_shares(b, item, end->warps, end->shared_end)};
    mc_reg at = mad_wide(b, "item_at", item, I(PANEL_ITEM_WORDS * WORD), items);
    EMIT_IF(b, is_filled, stg_v4, AT(at, 0), V4(words));
    b->prefix = NULL;
}
