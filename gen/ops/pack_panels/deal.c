#include "ops/pack_panels/pack_panels.h"
#include "parts/panels_deal.h"

typedef struct deal_emitter {
    mc_builder *b;
    lane_panel panel;
    mc_reg sums, totals, items;
    mc_reg begin; /* the panel's first stride */
    mc_reg item;  /* and its first item */
    mc_reg strides_before, shared_end;
} deal_emitter;

static mc_reg load_total(deal_emitter *e, const char *name, int which) {
    return ldg_b32(e->b, name, AT(e->totals, (int64_t)which * WORD));
}

/* The sum before the group's number of KIND. */
static mc_reg load_sum(deal_emitter *e, int kind) {
    mc_builder *b = e->b;
    mc_reg place = mad_s32(b, "sum_place", e->panel.warp.count, I(kind), e->panel.warp.number);
    return ldg_b32(b, "sum", AT(panels_at(b, "sum_at", e->sums, place, WORD), 0));
}

/* -- Where they begin --------------------------------------------------------------------------------- */

static mc_reg before_lane(deal_emitter *e, mc_reg word) {
    mc_builder *b = e->b;
    mc_reg sum = carried(b, "up_to_lane", word);
    panels_sum_lanes(b, e->panel.warp.lane, sum);
    return sub_s32(b, "before_lane", sum, word);
}

/* The end of the last panel is written, too. */
static void write_start(deal_emitter *e) {
    mc_builder *b = e->b;
    const lane_panel *p = &e->panel;
    b->prefix = "stride_";
    mc_reg before = before_lane(e, p->strides);
    e->begin = add_s32(b, "begin", load_sum(e, 0), before);
    b->prefix = NULL;
    const mc_reg words[PANEL_START_WORDS] = {e->begin, p->first};
    mc_reg at = panels_at(b, "start_at", load_array(b, "starts"), p->number, PANEL_START_WORDS * WORD);
    mc_reg is_start = setp_ge(b, "is_start", p->panels, p->number);
    EMIT_IF(b, is_start, stg_v2, AT(at, 0), V2(words));
}

static void find_items(deal_emitter *e) {
    mc_builder *b = e->b;
    const lane_panel *p = &e->panel;
    e->item = carried(b, "item", I(0));
    for (int i = 0; i < PANEL_CLASSES; i++) {
        made_name prefix = name_with(name_nth("class", i).text, "_");
        b->prefix = prefix.text;
        mc_reg own = selp_b32(b, "items", p->items, I(0), p->in_class[i]);
        mc_reg before = before_lane(e, own);
        mc_reg base = sub_s32(b, "base", load_sum(e, 1 + i), e->strides_before);
        EMIT_IF(b, p->in_class[i], add_s32, e->item, base, before);
        b->prefix = NULL;
    }
}

/* -- Items -------------------------------------------------------------------------------------------- */

static mc_reg shares_beside(deal_emitter *e, mc_reg item) {
    return panels_emit_shares(e->b, item, e->panel.warps, e->shared_end);
}

/* A panel of one thread block: the lane writes its few items. */
static void deal_short(deal_emitter *e) {
    mc_builder *b = e->b;
    const lane_panel *l = &e->panel;
    mc_label skip = label(b, "NOT_SHORT");
    mc_reg pieces = selp_b32(b, "pieces_there", l->pieces, I(0), l->is_there);
    EMIT_IF(b, setp_ne(b, "is_not_short", pieces, I(1)), bra, TO(skip));
    mc_reg mixed = shares_beside(e, e->item);
    mc_reg is_shared = setp_gt(b, "is_shared", l->parts, I(1));
    const dealt_panel p = {.number = l->number,
                           .begin = e->begin,
                           .strides = l->strides,
                           .pieces = l->pieces,
                           .parts = l->parts,
                           .item = e->item,
                           .leaf = carried(b, "leaf", I(0)),
                           .step = mov_b32(b, "leaf_step", I(1)),
                           .shares =
                               selp_b32(b, "shares", I((int64_t)1 << PANEL_SHARES_SHIFT), mixed, is_shared)};
    panels_emit_items(b, e->items, "short_", &p);
    set_label(b, skip);
}

static mc_reg of_lane(mc_builder *b, const char *name, mc_reg word, mc_reg lane) {
    return shfl_idx(b, name, word, lane, I(LAST_LANE), ALL_LANES);
}

/* Panels of several thread blocks: all lanes write the items of one after another. */
static void deal_long(deal_emitter *e) {
    mc_builder *b = e->b;
    const lane_panel *l = &e->panel;
    mc_label loop = label(b, "LONG"), end = label(b, "LONG_END");
    mc_reg left = carried(b, "long_lanes", vote_ballot(b, "are_long", l->in_class[0], ALL_LANES));
    set_label(b, loop);
    EMIT_IF(b, setp_eq(b, "no_long", left, I(0)), bra_uni, TO(end));
    mc_reg less = sub_s32(b, "long_less", left, I(1));
    mc_reg below = lop3(b, "below_lowest", less, left, I(0), H(0x30)); /* less & ~left */
    mc_reg lane = popc_b32(b, "long_lane", below);
    const dealt_panel p = {.number = of_lane(b, "long_panel", l->number, lane),
                           .begin = of_lane(b, "long_begin", e->begin, lane),
                           .strides = of_lane(b, "long_strides", l->strides, lane),
                           .pieces = of_lane(b, "long_pieces", l->pieces, lane),
                           .parts = e->panel.warps,
                           .item = of_lane(b, "long_item", e->item, lane),
                           .leaf = carried(b, "long_leaf", l->warp.lane),
                           .step = mov_b32(b, "long_step", I(MC_WARP)),
                           .shares = mov_b32(b, "long_shares", I((int64_t)1 << PANEL_SHARES_SHIFT))};
    panels_emit_items(b, e->items, "long_", &p);
    EMIT(b, bar_warp_sync, ALL_LANES);
    EMIT(b, and_b32, left, left, less);
    EMIT(b, bra_uni, TO(loop));
    set_label(b, end);
}

/* The last thread block's warps without a panel: group 0 writes them. */
static void fill_block(deal_emitter *e) {
    mc_builder *b = e->b;
    b->prefix = "fill_";
    mc_reg all = sub_s32(b, "all", load_total(e, "total", PANEL_TOTAL_ALL), e->strides_before);
    mc_reg item = add_s32(b, "item", all, e->panel.warp.lane);
    mc_reg over = rem_u32(b, "over", all, e->panel.warps);
    mc_reg missing = sub_s32(b, "missing", e->panel.warps, over);
    mc_reg is_over = setp_gt(b, "is_over", over, I(0));
    mc_reg is_missing = setp_lt_and(b, "is_missing", e->panel.warp.lane, missing, is_over);
    mc_reg is_filled = setp_eq_and(b, "is_filled", e->panel.warp.number, I(0), is_missing);
    mc_reg none = mov_b32(b, "none", I(0));
    const mc_reg words[PANEL_ITEM_WORDS] = {e->panel.panels, none, none, shares_beside(e, item)};
    EMIT_IF(b, is_filled, stg_v4, AT(panels_at(b, "item_at", e->items, item, PANEL_ITEM_WORDS * WORD), 0),
            V4(words));
    b->prefix = NULL;
}

void panels_emit_deal(const pack_panels_plan *plan, mc_builder *b) {
    mc_label end = label(b, "END");
    deal_emitter e = {.b = b};
    heading(b, "The lane's panel");
    e.panel = panels_find_panel(plan, b, end);
    heading(b, "Where its strides and its items begin");
    e.sums = load_array(b, "sums"), e.totals = load_array(b, "totals"), e.items = load_array(b, "items");
    e.strides_before = load_total(&e, "all_strides", PANEL_TOTAL_STRIDES);
    mc_reg shared = load_total(&e, "all_shared", PANEL_TOTAL_SHARED);
    e.shared_end = sub_s32(b, "shared_end", shared, e.strides_before);
    write_start(&e);
    find_items(&e);
    heading(b, "Its items");
    fill_block(&e);
    deal_short(&e);
    EMIT(b, bar_warp_sync, ALL_LANES);
    deal_long(&e);
    set_label(b, end);
    EMIT_RET(b);
}
