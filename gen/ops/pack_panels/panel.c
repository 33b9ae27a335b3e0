#include "ops/pack_panels/pack_panels.h"
#include "parts/panels_deal.h"
#include "parts/segment.h"

grid_warp panels_find_warp(mc_builder *b, const char *count, mc_label end) {
    const thread_place thread = load_thread_place(b, PANELS_THREADS);
    grid_warp warp = {.thread = thread.thread, .lane = thread.lane};
    mc_reg block = load_special(b, "block", "ctaid.x");
    warp.number = mad_s32(b, "warp_number", block, I(PANELS_WARPS), thread.warp);
    warp.count = load_shape(b, count, true);
    EMIT_IF(b, setp_ge(b, "is_behind", warp.number, warp.count), bra, TO(end));
    return warp;
}

mc_reg panels_at(mc_builder *b, const char *name, mc_reg array, mc_operand index, int bytes) {
    return mad_wide(b, name, index, I(bytes), array);
}

/* -- How long it is ----------------------------------------------------------------------------------- */

/* Words of 32 places, and leaders before each. */
typedef struct leader_words {
    mc_reg bits, before;
} leader_words;

/* How many leaders there are before PLACE. */
static mc_reg leaders_before(mc_builder *b, const leader_words *words, mc_reg place) {
    mc_reg number = shr_u32(b, "word_number", place, I(log2_of(MC_WARP)));
    mc_reg bit = and_b32(b, "bit_number", place, I(MC_WARP - 1));
    mc_reg bits_at = panels_at(b, "bits_at", words->bits, number, WORD);
    mc_reg before_at = panels_at(b, "before_at", words->before, number, WORD);
    mc_reg lower = sub_s32(b, "lower", shl_b32(b, "bit", I(1), bit), I(1));
    mc_reg in_word = and_b32(b, "in_word", ldg_b32(b, "bits_there", AT(bits_at, 0)), lower);
    return add_s32(b, "leaders", popc_b32(b, "leaders_in_word", in_word),
                   ldg_b32(b, "before_word", AT(before_at, 0)));
}

static void measure(const pack_panels_plan *plan, mc_builder *b, lane_panel *p) {
    mc_reg rows = load_shape(b, "rows", true), offsets = load_array(b, "offsets"), leaders[2];
    const leader_words words = {load_array(b, "bits"), load_array(b, "before")};
    p->panels = load_shape(b, "panels", true);
    p->number = mad_s32(b, "panel", p->warp.number, I(PANEL_GROUP), p->warp.lane);
    p->is_there = setp_lt(b, "is_panel", p->number, p->panels);
    mc_reg first = mul_s32(b, "first_row", min_s32(b, "panel_or_end", p->number, p->panels), I(plan->panel));
    for (int i = 0; i < 2; i++) {
        b->prefix = i == 0 ? "begin_" : "end_";
        mc_reg row = add_s32(b, "row_or_more", first, I((int64_t)i * plan->panel));
        mc_reg at = panels_at(b, "place_at", offsets, min_s32(b, "row", row, rows), WORD);
        leaders[i] = leaders_before(b, &words, ldg_b32(b, "place", AT(at, 0)));
        b->prefix = NULL;
    }
    p->first = leaders[0];
    mc_reg columns = sub_s32(b, "columns", leaders[1], leaders[0]);
    mc_reg up = add_s32(b, "columns_up", columns, I(MC_GROUP_SLOTS - 1));
    p->strides = shr_u32(b, "strides", up, I(log2_of(MC_GROUP_SLOTS)));
}

/* -- Who takes it ------------------------------------------------------------------------------------- */

static void find_sharing(mc_builder *b, lane_panel *p) {
    const dealt_sharing sharing = panels_emit_sharing(b, p->strides);
    p->warps = sharing.warps, p->pieces = sharing.pieces, p->parts = sharing.parts, p->items = sharing.items;
    p->in_class[0] = sharing.is_long;
    for (int i = 1; i < PANEL_CLASSES; i++) {
        mc_reg one = selp_b32(b, name_nth("one_piece", i).text, I(0), p->parts, sharing.is_long);
        one = selp_b32(b, name_nth("parts_there", i).text, one, I(0), p->is_there);
        p->in_class[i] =
            setp_eq(b, name_nth("in_class", i).text, one, I((int64_t)1 << (PANEL_CLASSES - 1 - i)));
    }
}

lane_panel panels_find_panel(const pack_panels_plan *plan, mc_builder *b, mc_label end) {
    lane_panel p = {.warp = panels_find_warp(b, "groups", end)};
    measure(plan, b, &p);
    heading(b, "How the panel is shared");
    find_sharing(b, &p);
    return p;
}
