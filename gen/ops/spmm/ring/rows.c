/* Which row blocks a warp of the ring kernel computes, and where their strides lie.
 *
 * A place is a position in row_order, which has the row blocks longest first (windowed.h). Places are dealt
 * to thread blocks like cards: item i of thread block x, of X, is place i X + x. A thread block has R = warps
 * / split groups of warps, and group w takes its item w. With `resident` it goes on with item 2 R - 1 - w,
 * then 2 R + w, and so on, while there are places. So thread blocks have about the same work, and so have
 * their warps in two turns.
 *
 * Places need 32 bits without a sign. Of N places the last that a warp looks at is below N + (2 R - 1) X, and
 * X <= ceil(N / R), so that it is below 3 N + 2 R, where N < 2^30. */
#include "ops/spmm/ring/ring.h"

static void emit_row_count(ring_emitter *r) {
    mc_builder *b = r->e.b;
    const ring_plan *plan = r->plan;
    if (plan->base.m != MC_OPEN) r->rows.count = I(plan->base.m / plan->base.vec);
    if (plan->base.m != MC_OPEN || !plan->base.guard_rows) return;
    mc_reg count = b32(b, "row_blocks");
    EMIT(b, shr_u32, count, r->e.m, I(log2_of(plan->base.vec)));
    r->rows.count = count;
}

static void emit_deal(ring_emitter *r) {
    const ring_rows *rows = &r->rows;
    EMIT(r->e.b, mad_s32, rows->place, rows->item, rows->blocks, rows->block);
}

/* Sets `place` to this warp's first place. */
static void emit_first_place(ring_emitter *r) {
    mc_builder *b = r->e.b;
    const ring_plan *plan = r->plan;
    ring_rows *rows = &r->rows;
    rows->block = load_special(b, "block", "ctaid.x");
    if (plan->base.row_blocks == 1 && !plan->resident) {
        rows->place = rows->block;
        return;
    }
    rows->blocks = load_special(b, "blocks", "nctaid.x");
    rows->place = b32(b, "row_place"), rows->item = b32(b, "item");
    if (plan->base.row_blocks == 1) EMIT(b, mov_b32, rows->item, I(0));
    else EMIT(b, shr_u32, rows->item, r->e.place.warp, I(log2_of(plan->base.split)));
    emit_deal(r);
}

static void emit_arrays(ring_emitter *r) {
    mc_builder *b = r->e.b;
    ring_rows *rows = &r->rows;
    rows->ptr = load_array(b, "row_ptr"), rows->order = load_array(b, "row_order");
    rows->at = b64(b, "row_at");
    if (r->plan->base.split == 1) return;
    mc_reg before = b32(b, "parts_before");
    note(b, "a part's strides of all row blocks stand together");
    EMIT(b, mul_s32, before, r->e.part, rows->count);
    EMIT(b, mad_wide, rows->ptr, before, I(WORD), rows->ptr);
}

/* Loads what there is to know of the row block at `place`, if IN says that there is one. Elsewhere it is a
   row block without strides. */
static void emit_row(ring_emitter *r, mc_reg in, mc_reg first, mc_reg last, mc_reg c_row_block) {
    mc_builder *b = r->e.b;
    const ring_rows *rows = &r->rows;
    const mc_reg start[] = {first, last, c_row_block};
    for (size_t i = 0; in.id && i < sizeof start / sizeof *start; i++) EMIT(b, mov_b32, start[i], I(0));
    EMIT(b, mad_wide, rows->at, rows->place, I(WORD), rows->ptr);
    EMIT_IF(b, in, ldg_b32, first, AT(rows->at, 0));
    EMIT_IF(b, in, ldg_b32, last, AT(rows->at, WORD));
    EMIT(b, mad_wide, rows->at, rows->place, I(WORD), rows->order);
    EMIT_IF(b, in, ldg_b32, c_row_block, AT(rows->at, 0));
}

void ring_emit_first_row(ring_emitter *r) {
    mc_builder *b = r->e.b;
    const ring_plan *plan = r->plan;
    heading(b, "This warp's place: where its strides begin and end, and which row block it is");
    r->row_last = b32(b, "row_last"), r->c_row_block = b32(b, "c_row_block");
    emit_row_count(r);
    emit_first_place(r);
    emit_arrays(r);
    if (plan->base.guard_rows) {
        r->e.in_rows = pred(b, "in_rows");
        EMIT(b, setp_lt, r->e.in_rows, r->rows.place, r->rows.count);
    }
    spmm_emit_sum_guards(&r->e, false);
    emit_row(r, r->e.in_rows, r->stride, r->row_last, r->c_row_block);
}

void ring_declare_turns(ring_emitter *r) {
    mc_builder *b = r->e.b;
    ring_rows *rows = &r->rows;
    if (!r->plan->resident) return;
    rows->next_first = b32(b, "next_first"), rows->next_last = b32(b, "next_last");
    rows->next_c_row_block = b32(b, "next_c_row_block");
    rows->two_items = b32(b, "two_items"), rows->is_next = pred(b, "is_next");
    EMIT(b, mov_b32, rows->two_items, I(2 * r->plan->base.row_blocks - 1));
}

void ring_emit_next_row(ring_emitter *r) {
    mc_builder *b = r->e.b;
    ring_rows *rows = &r->rows;
    note(b, "the next place: this warp's items of two turns add up to two_items");
    EMIT(b, sub_s32, rows->item, rows->two_items, rows->item);
    EMIT(b, add_s32, rows->two_items, rows->two_items, I(2 * r->plan->base.row_blocks));
    emit_deal(r);
    EMIT(b, setp_lt_u32, rows->is_next, rows->place, rows->count);
    emit_row(r, rows->is_next, rows->next_first, rows->next_last, rows->next_c_row_block);
}
