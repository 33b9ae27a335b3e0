#include "ops/pack_panels/pack_panels.h"

/* Lane I writes the sum of kind I. */
static void store_sum(mc_builder *b, const lane_panel *p, mc_reg counts, int kind, mc_reg word) {
    made_name prefix = name_with(name_nth("sum", kind).text, "_");
    b->prefix = prefix.text;
    mc_reg sum = redux_add_s32(b, "of_group", word, ALL_LANES);
    mc_reg place = mad_s32(b, "place", p->warp.count, I(kind), p->warp.number);
    mc_reg at = panels_at(b, "at", counts, place, WORD);
    EMIT_IF(b, setp_eq(b, "is_own", p->warp.lane, I(kind)), stg_b32, AT(at, 0), sum);
    b->prefix = NULL;
}

void panels_emit_measure(const pack_panels_plan *plan, mc_builder *b) {
    mc_label end = label(b, "END");
    heading(b, "The lane's panel");
    lane_panel p = panels_find_panel(plan, b, end);
    heading(b, "Strides, and items of each class");
    mc_reg counts = load_array(b, "counts");
    store_sum(b, &p, counts, 0, p.strides);
    for (int i = 0; i < PANEL_CLASSES; i++)
        store_sum(b, &p, counts, 1 + i, selp_b32(b, name_nth("items", i).text, p.items, I(0), p.in_class[i]));
    set_label(b, end);
    EMIT_RET(b);
}
