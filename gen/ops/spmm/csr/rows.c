/* Which row a group of lanes has, and which nonzeros of it. */
#include "ops/spmm/csr/emit.h"
#include "parts/fragment.h"
#include "parts/panels.h"

/* Words of an item (formats/csr.c): of rows of their own the first one and the one behind the last; of a long
   row its number, the first of the nonzeros that the warp takes of it, the one behind the last, and how it is
   shared. With `segmented` rows of their own are as in segmented.c, which takes the words from where a long
   row has them. */
static const char *const words[] = {"item_row", "item_from", "item_to", "sharing"};

static void emit_place(csr_emitter *e) {
    mc_builder *b = e->b;
    const csr_plan *plan = e->plan;
    spmm_emit_lane(&e->at);
    mc_reg lane = e->at.place.lane;
    heading(b, "lane = (group * %d + part) * %d + column", plan->lanes, plan->columns);
    e->column = and_b32(b, "column", lane, I(plan->columns - 1));
    if (plan->lanes > 1) {
        mc_reg rest = shr_u32(b, "group_part", lane, I(log2_of(plan->columns)));
        e->part = and_b32(b, "part", rest, I(plan->lanes - 1));
    }
    e->group = shr_u32(b, "group", lane, I(log2_of(csr_group_lanes(plan))));
    spmm_emit_tile_column(&e->at);
}

/* Rows of their own: e->row is one of them if IN_ROWS. */
static void find_own(csr_emitter *e) {
    mc_builder *b = e->b;
    e->row_ptr = load_array(b, "row_ptr");
    mc_reg at = mad_wide(b, "row_ptr_at", e->row, I(WORD), e->row_ptr);
    EMIT(b, mov_b32, e->first, I(0));
    EMIT(b, mov_b32, e->last, I(0));
    EMIT_IF(b, e->in_rows, ldr_b32, e->first, AT(at, 0));
    EMIT_IF(b, e->in_rows, ldr_b32, e->last, AT(at, WORD));
}

void spmm_csr_cut(csr_emitter *e, mc_reg from, mc_reg to, mc_reg number, int count, bool of_row) {
    static const char *const names[2][4] = {{"length", "next_group", "whole", "rest"},
                                            {"row_length", "next_warp", "row_whole", "row_rest"}};
    const char *const *name = names[of_row];
    mc_builder *b = e->b;
    if (count == 1) {
        EMIT(b, mov_b32, e->first, from);
        EMIT(b, mov_b32, e->last, to);
        return;
    }
    mc_reg length = sub_s32(b, name[0], to, from), next = add_s32(b, name[1], number, I(1));
    mc_reg whole = shr_u32(b, name[2], length, I(log2_of(count))),
           rest = and_b32(b, name[3], length, I(count - 1));
    const mc_reg numbers[] = {number, next}, cuts[] = {e->first, e->last};
    for (int i = 0; i < 2; i++) {
        EMIT(b, mul_s32, cuts[i], rest, numbers[i]);
        EMIT(b, shr_u32, cuts[i], cuts[i], I(log2_of(count)));
        EMIT(b, mad_s32, cuts[i], whole, numbers[i], cuts[i]);
        EMIT(b, add_s32, cuts[i], cuts[i], from);
    }
}

/* What the warp takes of a long row is cut into as many parts as it has groups. */
static void find_long(csr_emitter *e, const mc_reg *word) {
    mc_builder *b = e->b;
    EMIT(b, mov_b32, e->row, word[0]);
    EMIT(b, setp_lt, e->in_rows, e->at.place.lane,
         I(e->plan->groups > 1 ? csr_group_lanes(e->plan) : MC_WARP));
    spmm_csr_cut(e, word[1], word[2], e->group, e->plan->groups, false);
}

static void find_dealt(csr_emitter *e) {
    mc_builder *b = e->b;
    const int warps = e->plan->base.warps;
    mc_reg word[PANEL_ITEM_WORDS];
    heading(b, "This warp's item: rows of its groups, or a long row");
    e->block = load_special(b, "block", "ctaid.x");
    mc_reg number = warps > 1 ? mad_s32(b, "item", e->block, I(warps), e->at.place.warp) : e->block;
    mc_reg at = mad_wide(b, "item_at", number, I(PANEL_ITEM_WORDS * WORD), load_array(b, "items"));
    for (int i = 0; i < PANEL_ITEM_WORDS; i++) word[i] = b32(b, words[i]);
    EMIT(b, ldr_v4, V4(word), AT(at, 0));
    e->sharing = word[3];
    e->is_long = setp_lt(b, "is_long", e->sharing, I(0));
    if (e->plan->segmented) {
        find_long(e, word);
        return;
    }
    mc_label is_long = label(b, "LONG_ROW"), found = label(b, "ROW_FOUND");
    EMIT_IF(b, e->is_long, bra_uni, TO(is_long));
    EMIT(b, add_s32, e->row, word[0], e->group);
    EMIT(b, setp_lt, e->in_rows, e->row, word[1]);
    find_own(e);
    EMIT(b, bra_uni, TO(found));
    set_label(b, is_long);
    note(b, "each of the %d groups has an equal part of it", e->plan->groups);
    find_long(e, word);
    set_label(b, found);
}

void spmm_csr_emit_rows(csr_emitter *e) {
    mc_builder *b = e->b;
    emit_place(e);
    e->row = b32(b, "row"), e->first = b32(b, "first"), e->last = b32(b, "last");
    e->in_rows = pred(b, "in_rows");
    if (e->plan->deal) {
        find_dealt(e);
        return;
    }
    heading(b, "This group's row");
    e->block = load_special(b, "block", "ctaid.x");
    mc_reg number = e->group;
    if (e->plan->base.warps > 1)
        number = mad_s32(b, "number", e->at.place.warp, I(e->plan->groups), e->group);
    EMIT(b, mad_s32, e->row, e->block, I(csr_rows(e->plan)), number);
    note(b, "the last rows' numbers may wrap");
    mc_reg behind = sub_s32(b, "own_behind", e->row, dim_operand(e->plan->base.m, e->at.m));
    EMIT(b, setp_lt, e->in_rows, behind, I(0));
    find_own(e);
}
