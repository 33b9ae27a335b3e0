/* Items of the SDDMM: what the solvers `gather` and `window` share of a plan, a contract and facts. */
#include "ops/sddmm/items/items.h"
#include "ops/sddmm/fields.h"
#include <stdio.h>

static void write_docs(sddmm_items *items) {
    int slots = MC_SAMPLED_SLOTS * items->groups;
    char window[64] = "", order[56] = "by windows, row blocks, columns";
    if (items->window != MC_OPEN)
        snprintf(window, sizeof window, " in one window of %lld columns", (long long)items->window);
    if (items->says_slots)
        snprintf(order, sizeof order, "by windows, the longest first, row blocks, columns");
    if (items->turn > 1) snprintf(order, sizeof order, "%d row blocks in turn", items->turn);
    snprintf(items->items_doc, sizeof items->items_doc,
             "row block, first place in C, places (up to %d)%s, 0; %s", slots, window, order);
    snprintf(items->index_extent, sizeof items->index_extent, "items * %d", slots);
}

sddmm_items sddmm_items_of(const int64_t *point, bool says_slots, int at_once) {
    sddmm_items items = {.groups = (int)point[F_GROUPS],
                         .tile_k = (int)point[F_TILE_K],
                         .window = point[F_WINDOW],
                         .at_once = at_once ? at_once : (int)point[F_GROUPS],
                         .says_slots = says_slots,
                         .run = (int)point[F_RUN],
                         .turn = (int)point[F_TURN]};
    write_docs(&items);
    return items;
}

void sddmm_check_panel(const sddmm_problem *p, const sddmm_items *items, mc_complaints *complaints) {
    const sddmm_arithmetic *a = &p->arithmetic;
    bool rows = p->layout == SDDMM_ROWS;
    int chunk = sddmm_chunk_k(a), most = rows ? SDDMM_MAX_ROWS : SDDMM_MAX_PANEL / SDDMM_UNIT * a->unit_k;
    if (most > SDDMM_MAX_TILE) most = SDDMM_MAX_TILE;
    if (rows && a->rhs.bits == 32) most = SDDMM_MAX_ROWS / 2; /* more leave ptxas 13 no registers */
    if (items->tile_k % chunk || items->tile_k > most)
        complain(complaints, F_TILE_K, "rhs = \"%s\"%s takes multiples of %d up to %d", a->rhs.name,
                 rows ? " by rows" : "", chunk, most);
}

void sddmm_add_items(const sddmm_items *items, const char *index_doc, mc_contract *c) {
    add_array(c, 16, (mc_array){"items", "s32", "items * 4", items->items_doc});
    add_array(c, 16, (mc_array){"col_idx", "s32", items->index_extent, index_doc});
}

void sddmm_add_mask_values(const sddmm_problem *p, mc_contract *c) {
    if (p->mask == SDDMM_VALUES)
        add_array(c, 16, (mc_array){"mask_values", "f32", "elements of C", "in C's order; 0 where padded"});
}

void sddmm_items_facts(const sddmm_problem *p, const sddmm_items *items, int mma, const char *read,
                       mc_facts *facts) {
    const sddmm_arithmetic *a = &p->arithmetic;
    int64_t panel_k = (int64_t)sddmm_chunk_k(a) * items->chunks;
    add_fact(facts, "item_vectors", MC_SAMPLED_SLOTS * items->groups, "at most, a warp");
    add_fact(facts, "threads", MC_WARP * p->warps, "a thread block");
    add_fact(facts, "panel_k", panel_k, "in registers at once");
    add_fact(facts, "group_b_bytes", MC_SAMPLED_SLOTS * values_bytes(a->rhs, panel_k), read);
    add_fact(facts, "group_mma", sddmm_octets(p) * items->chunks * mma, sddmm_mma_doc(a, SDDMM_GROUP_SHARE));
}

void sddmm_items_paths(unsigned shared_bytes, bool wide, bool edge, mc_facts *facts) {
    if (shared_bytes)
        add_fact(facts, "shared_bytes", shared_bytes, "of a thread block: panels of A, or its window of B");
    add_fact(facts, "wide_path", wide, "vector loads of A and B");
    add_fact(facts, "edge_path", edge, "guarded narrow loads of A and B");
}

size_t sddmm_items_name(const sddmm_problem *p, const sddmm_items *items, char name[MC_MAX_ENTRY]) {
    size_t length = sddmm_entry_name(p, name);
    return sddmm_name_add(name, length, "_g%d_w%d_k%d", items->groups, p->warps, items->tile_k);
}
