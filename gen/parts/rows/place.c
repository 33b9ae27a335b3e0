/* The row block, and where a thread's units of it are. */
#include "parts/rows/rows.h"

/* The first of the thread's rows. */
static mc_reg first_row(const rows_emitter *r) {
    const rows_plan *plan = r->plan;
    mc_builder *b = r->b;
    if (plan->order == ROWS_BCRS)
        return mul_s32(b, "row", and_b32(b, "piece", r->thread, I(plan->beside - 1)), I(plan->unit));
    mc_reg line = shr_u32(b, "line", r->thread, I(log2_of(plan->beside)));
    return and_b32(b, "row", line, I(plan->vec - 1));
}

void rows_begin(rows_emitter *r, mc_builder *b, const rows_plan *plan) {
    *r = (rows_emitter){.b = b, .plan = plan};
    r->thread = load_special(b, "thread", "tid.x");
    r->lane = and_b32(b, "lane", r->thread, I(MC_WARP - 1));
    r->warp = shr_u32(b, "warp", r->thread, I(log2_of(MC_WARP)));
    r->row = first_row(r);
}

void rows_find(rows_emitter *r, bool numbered) {
    mc_builder *b = r->b;
    rows_block *block = &r->block;
    note(b, "the row block: its first slot, its vectors%s", numbered ? ", its number" : "");
    mc_reg place = load_special(b, "place", "ctaid.x");
    mc_reg at = mad_wide(b, "row_block_at", place, I(ROWS_BLOCK_WORDS * WORD), load_array(b, "rows"));
    mc_reg found[2];
    b32_array(b, "found", 2, found);
    EMIT(b, ldg_v2, V2(found), AT(at, 0));
    if (numbered) EMIT(b, ldg_b32, block->number = b32(b, "row_block"), AT(at, 2 * WORD));
    block->slot = found[0], block->vectors = found[1];
}

void rows_count_units(rows_emitter *r) {
    const rows_plan *plan = r->plan;
    rows_block *block = &r->block;
    mc_builder *b = r->b;
    if (plan->order == ROWS_BCRS) {
        block->most = block->units = mul_s32(b, "units", block->vectors, I(plan->beside));
        if (rows_in_teams(plan)) block->most = redux_max_s32(b, "most_units", block->units, H(0xffffffff));
        return;
    }
    mc_reg up = add_s32(b, "slots_up", block->vectors, I(plan->stride - 1));
    mc_reg strides = shr_u32(b, "strides", up, I(log2_of(plan->stride)));
    block->most = block->units = mul_s32(b, "units", strides, I(plan->per_step));
}

void rows_declare_places(rows_emitter *r) {
    const rows_plan *plan = r->plan;
    pred_array(r->b, "inside", plan->hold, r->units.inside);
    if (plan->order != ROWS_BCRS) b32_array(r->b, "left", plan->hold, r->units.left);
}

void rows_declare_scratch(rows_emitter *r) {
    rows_scratch *s = &r->scratch;
    s->at = b64(r->b, "unit_at");
    s->real = b32(r->b, "real_of"), s->other = b32(r->b, "other"), s->test = pred(r->b, "is_there");
}

/* The vectors from the unit's first slot on. */
static void count_left(rows_emitter *r, int i, mc_reg unit) {
    const rows_plan *plan = r->plan;
    mc_builder *b = r->b;
    mc_reg left = r->units.left[i], slot = r->scratch.other;
    EMIT(b, shr_u32, slot, unit, I(log2_of(plan->per_step)));
    EMIT(b, mul_s32, slot, slot, I(plan->stride));
    EMIT(b, sub_s32, left, r->block.vectors, slot);
    EMIT(b, and_b32, slot, unit, I(plan->beside - 1));
    EMIT(b, mul_s32, slot, slot, I(plan->unit));
    EMIT(b, sub_s32, left, left, slot);
}

void rows_place(rows_emitter *r, mc_reg first, int count, int sure) {
    const rows_plan *plan = r->plan;
    mc_builder *b = r->b;
    rows_places *u = &r->units;
    u->first = first, u->count = count, u->sure = sure;
    for (int i = 0; i < count; i++) {
        if (i < u->sure && plan->order == ROWS_BCRS) continue;
        EMIT(b, add_s32, r->scratch.real, first, I((int64_t)i * plan->team));
        if (i >= u->sure) EMIT(b, setp_lt, u->inside[i], r->scratch.real, r->block.units);
        if (plan->order != ROWS_BCRS) count_left(r, i, r->scratch.real);
    }
}

void rows_test_element(const rows_emitter *r, int i, int element) {
    EMIT(r->b, setp_gt, r->scratch.test, r->units.left[i], I(element));
}
