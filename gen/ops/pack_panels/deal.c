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
    lanes_sum(b, e->panel.warp.lane, sum);
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

/* Panels of several thread blocks. */
static void deal_long(deal_emitter *e) {
    const lane_panel *l = &e->panel;
    const dealt_panel p = {.number = l->number,
                           .begin = e->begin,
                           .strides = l->strides,
                           .pieces = l->pieces,
                           .parts = l->warps,
                           .item = e->item};
    panels_emit_long(e->b, e->items, l->warp.lane, l->in_class[0], &p, I((int64_t)1 << PANEL_SHARES_SHIFT));
}

/* Group 0 does it. */
static void fill_block(deal_emitter *e) {
    mc_builder *b = e->b;
    const lane_panel *l = &e->panel;
    b->prefix = "fill_";
    mc_reg all = sub_s32(b, "all", load_total(e, "total", PANEL_TOTAL_ALL), e->strides_before);
    b->prefix = NULL;
    panels_emit_fill(b, e->items,
                     &(dealt_end){.thread = l->warp.lane,
                                  .number = l->warp.number,
                                  .items = all,
                                  .warps = l->warps,
                                  .shared_end = e->shared_end,
                                  .none = l->panels});
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
