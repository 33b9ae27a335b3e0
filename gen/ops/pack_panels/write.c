#include "ops/pack_panels/pack_panels.h"
#include "parts/search.h"

/* A warp has a stride, and a lane a slot of it. The sorted nonzeros of the slot's column begin at its leader
   and end at the next one. They are in the order of rows, and their numbers ascend; so a row has the one at
   hand if its number is below the row's end. */
typedef struct write_emitter {
    mc_builder *b;
    const pack_panels_plan *plan;
    grid_warp warp; /* its number is the stride's */
    mc_reg starts, offsets, elements, vectors;
    mc_reg first_row, rows;
    mc_reg is_slot;
    mc_reg next, end;   /* the slot's next nonzero, and behind its last */
    mc_reg element;     /* number of the nonzero at hand, or NOTHING */
    mc_reg first_value; /* of the stride, among all */
    mc_reg lower;       /* lanes below this one */
} write_emitter;

enum { NOTHING = 0x7fffffff, VECTOR = 4 /* words of a store */, MASK_WORDS = 2 };

/* -- The stride --------------------------------------------------------------------------------------- */

/* The number of the lane's leader, if the panel has so many. */
static mc_reg find_leader(write_emitter *e, mc_reg panel) {
    mc_builder *b = e->b;
    mc_reg own[PANEL_START_WORDS], next[PANEL_START_WORDS];
    mc_reg at = panels_at(b, "own_start_at", e->starts, panel, PANEL_START_WORDS * WORD);
    b32_array(b, "own_start", PANEL_START_WORDS, own);
    b32_array(b, "next_start", PANEL_START_WORDS, next);
    EMIT(b, ldg_v2, V2(own), AT(at, 0));
    EMIT(b, ldg_v2, V2(next), AT(at, PANEL_START_WORDS * WORD));
    mc_reg stride = sub_s32(b, "stride_in_panel", e->warp.number, own[0]);
    mc_reg slot = mad_s32(b, "slot_in_panel", stride, I(MC_GROUP_SLOTS), e->warp.lane);
    mc_reg number = add_s32(b, "leader_number", own[1], slot);
    e->is_slot = setp_lt(b, "is_slot", number, next[1]);
    return number;
}

static void find_nonzeros(write_emitter *e, mc_reg number) {
    mc_builder *b = e->b;
    mc_reg at = panels_at(b, "leader_at", load_array(b, "leaders"), number, WORD);
    e->next = carried(b, "next", I(0)), e->end = carried(b, "behind", I(0));
    EMIT_IF(b, e->is_slot, ldg_b32, e->next, AT(at, 0));
    EMIT_IF(b, e->is_slot, ldg_b32, e->end, AT(at, WORD));
    e->first_value = carried(b, "value", shfl_idx(b, "first_value", e->next, I(0), I(LAST_LANE), ALL_LANES));
}

static void write_column(write_emitter *e) {
    mc_builder *b = e->b;
    mc_reg sorted = carried(b, "sorted_column", I(-1)), column = b32(b, "column");
    mc_reg at = panels_at(b, "sorted_at", load_array(b, "sorted"), e->next, WORD);
    EMIT_IF(b, e->is_slot, ldg_b32, sorted, AT(at, 0));
    mc_reg plain = and_b32(b, "plain_column", sorted, H(~(uint32_t)0 >> 1));
    EMIT(b, selp_b32, column, plain, sorted, e->is_slot);
    mc_reg slot = mad_s32(b, "slot", e->warp.number, I(MC_GROUP_SLOTS), e->warp.lane);
    EMIT(b, stg_b32, AT(panels_at(b, "col_idx_at", load_array(b, "col_idx"), slot, WORD), 0), column);
}

/* -- Its rows ----------------------------------------------------------------------------------------- */

static void load_element(write_emitter *e) {
    mc_builder *b = e->b;
    EMIT(b, mov_b32, e->element, I(NOTHING));
    EMIT_IF(b, setp_lt(b, "has_more", e->next, e->end), ldg_b32, e->element,
            AT(panels_at(b, "element_at", e->elements, e->next, WORD), 0));
}

static mc_reg row_end(write_emitter *e, int row) {
    mc_builder *b = e->b;
    mc_reg number = min_s32(b, "row", add_s32(b, "row_or_more", e->first_row, I(row + 1)), e->rows);
    return ldg_b32(b, "row_end", AT(panels_at(b, "row_end_at", e->offsets, number, WORD), 0));
}

/* Whether the row has something in the slot. ELEMENT receives it, or -1, and the next one is at hand. */
static mc_reg take_row(write_emitter *e, int row, mc_reg element) {
    mc_builder *b = e->b;
    mc_reg has = setp_lt(b, "has", e->element, row_end(e, row));
    EMIT(b, selp_b32, element, e->element, I(-1), has);
    EMIT_IF(b, has, add_s32, e->next, e->next, I(1));
    load_element(e);
    return has;
}

/* A word for each row and slot. */
static void write_slots(write_emitter *e) {
    mc_builder *b = e->b;
    const int rows = e->plan->panel;
    mc_reg elements[PANELS_MOST_ROWS];
    b32_array(b, "of_row", rows, elements);
    for (int r = 0; r < rows; r++) {
        made_name prefix = name_with(name_nth("row", r).text, "_");
        b->prefix = prefix.text;
        (void)take_row(e, r, elements[r]);
        b->prefix = NULL;
    }
    mc_reg slot = mad_s32(b, "vector_slot", e->warp.number, I(MC_GROUP_SLOTS), e->warp.lane);
    mc_reg at = panels_at(b, "vectors_at", e->vectors, slot, rows * WORD);
    for (int r = 0; r < rows; r += VECTOR) EMIT(b, stg_v4, AT(at, (int64_t)r * WORD), V4(&elements[r]));
}

/* The lane of the row's number keeps its mask. */
static void write_row_of_nonzeros(write_emitter *e, int row, const mc_reg mask[MASK_WORDS]) {
    mc_builder *b = e->b;
    mc_reg element = b32(b, "its_element"), has = take_row(e, row, element);
    mc_reg lanes = vote_ballot(b, "lanes", has, ALL_LANES), count = popc_b32(b, "count", lanes);
    mc_reg lower = popc_b32(b, "lower_values", and_b32(b, "lower_lanes_there", lanes, e->lower));
    mc_reg value = add_s32(b, "its_value", e->first_value, lower);
    EMIT_IF(b, has, stg_b32, AT(panels_at(b, "vector_at", e->vectors, value, WORD), 0), element);
    mc_reg is_own = setp_eq(b, "is_own", e->warp.lane, I(row));
    mc_reg is_first = setp_gt(b, "has_any", count, I(0));
    mc_reg first = selp_b32(b, "first_or_none", e->first_value, I(0), is_first);
    EMIT(b, selp_b32, mask[0], lanes, mask[0], is_own);
    EMIT(b, selp_b32, mask[1], first, mask[1], is_own);
    EMIT(b, add_s32, e->first_value, e->first_value, count);
}

/* Behind the last value of all a group is filled up with none. */
static void fill_group(write_emitter *e) {
    mc_builder *b = e->b;
    mc_reg nonzeros = load_shape(b, "nonzeros", true);
    mc_reg up = add_s32(b, "values_up", nonzeros, I(MC_GROUP_SLOTS - 1));
    mc_reg end = and_b32(b, "values_end", up, I(-(int64_t)MC_GROUP_SLOTS));
    mc_reg value = add_s32(b, "padding", nonzeros, e->warp.lane);
    mc_reg is_last = setp_eq(b, "is_last", e->first_value, nonzeros);
    mc_reg is_padding = setp_lt_and(b, "is_padding", value, end, is_last);
    EMIT_IF(b, is_padding, stg_b32, AT(panels_at(b, "padding_at", e->vectors, value, WORD), 0),
            mov_b32(b, "none", I(-1)));
}

static void write_nonzeros(write_emitter *e) {
    mc_builder *b = e->b;
    const int rows = e->plan->panel;
    mc_reg mask[MASK_WORDS];
    b32_array(b, "mask", MASK_WORDS, mask);
    for (int i = 0; i < MASK_WORDS; i++) EMIT(b, mov_b32, mask[i], I(0));
    e->lower = lanes_lower(b, e->warp.lane);
    for (int r = 0; r < rows; r++) {
        made_name prefix = name_with(name_nth("row", r).text, "_");
        b->prefix = prefix.text;
        write_row_of_nonzeros(e, r, mask);
        b->prefix = NULL;
    }
    mc_reg number = mad_s32(b, "mask_number", e->warp.number, I(rows), e->warp.lane);
    mc_reg at = panels_at(b, "mask_at", load_array(b, "masks"), number, MASK_WORDS * WORD);
    EMIT_IF(b, setp_lt(b, "is_mask", e->warp.lane, I(rows)), stg_v2, AT(at, 0), V2(mask));
    fill_group(e);
}

void panels_emit_write(const pack_panels_plan *plan, mc_builder *b) {
    mc_label end = label(b, "END");
    write_emitter e = {.b = b, .plan = plan};
    heading(b, "The warp's stride");
    e.warp = panels_find_warp(b, "strides", end);
    mc_reg strides = ldg_b32(b, "all_strides", AT(load_array(b, "totals"), PANEL_TOTAL_STRIDES * WORD));
    EMIT_IF(b, setp_ge(b, "is_none", e.warp.number, strides), bra, TO(end));
    e.starts = load_array(b, "starts"), e.offsets = load_array(b, "offsets");
    e.elements = load_array(b, "elements"), e.vectors = load_array(b, "vectors");
    mc_reg panel = search_last(b, e.starts, PANEL_START_WORDS * WORD, "panels", e.warp.number);
    e.first_row = mul_s32(b, "first_row", panel, I(plan->panel));
    e.rows = load_shape(b, "rows", true);
    heading(b, "Its columns");
    find_nonzeros(&e, find_leader(&e, panel));
    write_column(&e);
    heading(b, "Which nonzero each row has there");
    e.element = b32(b, "element");
    b->prefix = "first_";
    load_element(&e);
    b->prefix = NULL;
    if (plan->nonzeros) write_nonzeros(&e);
    else write_slots(&e);
    set_label(b, end);
    EMIT_RET(b);
}
