/* Which row blocks a warp of the ring kernel computes, and where their strides lie.
 *
 * A place is a position in row_order, which has the row blocks longest first (windowed.h). Places are dealt
 * to thread blocks like cards: turn i of thread block x, of X, is place i X + x. A thread block has R = warps
 * / split groups of warps, and group w takes turn w. With `resident` it goes on with turn 2 R - 1 - w, then 2
 * R + w, and so on, while there are places. So thread blocks have about the same work, and so have their
 * warps in two turns.
 *
 * With `parts` the warps of a cluster take as many turns, while the least place of their thread blocks is
 * there. A warp without a row block goes along.
 *
 * With `together` row blocks that are neighbours in C, cards are groups of so many places, dealt to as many
 * warps beside one another. A warp whose group has fewer goes along, with a row block that is not there.
 *
 * Places need 32 bits without a sign. Of N places the last that a warp looks at is below N + (2 R - 1) X, and
 * X <= ceil(N / R), so that it is below 3 N + 2 R, where N < 2^30. */
#include "ops/spmm/ring/ring.h"

static mc_operand emit_row_count(const ring_emitter *r) {
    const spmm_plan *plan = r->at.plan;
    if (plan->m != MC_OPEN) return I(plan->m / plan->vec);
    if (!plan->guard_rows) return (mc_operand){0};
    return shr_u32(r->at.b, "row_blocks", r->at.m, I(log2_of(plan->vec)));
}

static void emit_deal(const ring_emitter *r, const ring_rows *rows) {
    mc_builder *b = r->at.b;
    int together = r->plan->together;
    EMIT(b, mad_s32, rows->first, rows->turn, rows->blocks, rows->block);
    if (together == 1) return;
    EMIT(b, shl_b32, rows->first, rows->first, I(log2_of(together)));
    EMIT(b, add_s32, rows->place, rows->first, rows->member);
}

/* Sets `place` to this warp's first place. */
static void emit_first_place(const ring_emitter *r, ring_rows *rows) {
    mc_builder *b = r->at.b;
    const spmm_plan *plan = r->at.plan;
    rows->block = r->block.id ? r->block : load_special(b, "block", "ctaid.x");
    if (plan->row_blocks == 1 && !r->plan->resident) {
        rows->first = rows->place = rows->block;
        return;
    }
    rows->blocks = r->blocks.id ? r->blocks : load_special(b, "blocks", "nctaid.x");
    rows->first = rows->place = b32(b, "row_place"), rows->turn = b32(b, "item");
    if (plan->row_blocks == 1) EMIT(b, mov_b32, rows->turn, I(0));
    else EMIT(b, shr_u32, rows->turn, r->at.place.warp, I(log2_of(plan->split * r->plan->together)));
    if (r->plan->together > 1) {
        rows->first = b32(b, "group_place"), rows->in_group = pred(b, "in_group");
        rows->member = and_b32(b, "group_member", r->at.place.warp, I(r->plan->together - 1));
    }
    emit_deal(r, rows);
}

static void emit_arrays(const ring_emitter *r, ring_rows *rows) {
    mc_builder *b = r->at.b;
    rows->ptr = load_array(b, "row_ptr"), rows->order = load_array(b, "row_order");
    rows->at = b64(b, "row_at");
    bool shared = r->plan->parts > 1; /* by thread blocks, else by warps */
    if (r->at.plan->split == 1 && !shared) return;
    note(b, "a part's strides of all row blocks stand together");
    mc_reg before = mul_s32(b, "parts_before", shared ? r->rank : r->at.part, rows->count);
    EMIT(b, mad_wide, rows->ptr, before, I(WORD), rows->ptr);
}

/* Loads what there is to know of the row block at `place`, if IN says that there is one. Elsewhere it is a
   row block without strides. */
static void emit_row(const ring_emitter *r, const ring_rows *rows, mc_reg in, ring_row_block to) {
    mc_builder *b = r->at.b;
    const mc_reg all[] = {to.stride, to.last, to.number};
    for (size_t i = 0; in.id && i < sizeof all / sizeof *all; i++) EMIT(b, mov_b32, all[i], I(0));
    EMIT(b, mad_wide, rows->at, rows->place, I(WORD), rows->ptr);
    EMIT_IF(b, in, ldg_b32, to.stride, AT(rows->at, 0));
    EMIT_IF(b, in, ldg_b32, to.last, AT(rows->at, WORD));
    EMIT(b, mad_wide, rows->at, rows->first, I(WORD), rows->order);
    if (r->plan->together == 1) {
        EMIT_IF(b, in, ldg_b32, to.number, AT(rows->at, 0));
        return;
    }
    note(b, "one of a group that is not there begins behind the last row");
    EMIT(b, mov_b32, to.number, rows->count);
    EMIT(b, setp_lt_u32, rows->in_group, rows->first, rows->count);
    EMIT_IF(b, rows->in_group, ldg_b32, to.number, AT(rows->at, 0));
    EMIT(b, add_s32, to.number, to.number, rows->member);
}

/* Lanes of the row block's rows, where it is there. */
static void emit_stores(const ring_emitter *r) {
    int rows = (r->at.plan->vec + 1) / 2;
    EMIT(r->at.b, setp_lt_and, r->at.stores, r->at.place.t, I(rows), r->at.in_rows);
}

/* Guards that change from turn to turn, for a group goes on while any of its row blocks is there. */
static void emit_first_guards(ring_emitter *r, const ring_rows *rows) {
    mc_builder *b = r->at.b;
    r->at.in_rows = pred(b, "in_rows");
    EMIT(b, setp_lt_u32, r->at.in_rows, rows->place, rows->count);
    spmm_emit_sum_guards(&r->at, false);
    if (r->at.stores.id == r->at.in_rows.id) return;
    r->at.stores = pred(b, "in_c");
    emit_stores(r);
}

void ring_emit_next_guards(const ring_emitter *r, const ring_rows *rows) {
    EMIT(r->at.b, setp_lt_u32, r->at.in_rows, rows->place, rows->count);
    if (r->at.stores.id != r->at.in_rows.id) emit_stores(r);
}

ring_rows ring_emit_rows(ring_emitter *r, ring_row_block *block) {
    mc_builder *b = r->at.b;
    const spmm_plan *plan = r->at.plan;
    heading(b, "This warp's place: where its strides begin and end, and which row block it is");
    *block = (ring_row_block){b32(b, "stride"), b32(b, "row_last"), b32(b, "c_row_block")};
    ring_rows rows = {.count = emit_row_count(r)};
    emit_first_place(r, &rows);
    emit_arrays(r, &rows);
    if (ring_goes_along(r->plan)) {
        emit_first_guards(r, &rows);
    } else {
        if (plan->guard_rows) r->at.in_rows = setp_lt(b, "in_rows", rows.place, rows.count);
        spmm_emit_sum_guards(&r->at, false);
    }
    emit_row(r, &rows, r->at.in_rows, *block);
    if (r->plan->resident && r->plan->parts > 1) {
        rows.block_place = carried(b, "block_place", rows.block);
        rows.step = mul_s32(b, "places_a_turn", rows.blocks, I(plan->row_blocks));
    }
    if (r->plan->resident)
        rows.two_turns = carried(b, "two_items", I(2 * plan->row_blocks / r->plan->together - 1));
    return rows;
}

ring_row_block ring_emit_next_row(const ring_emitter *r, const ring_rows *rows) {
    mc_builder *b = r->at.b;
    ring_row_block next = {b32(b, "next_first"), b32(b, "next_last"), b32(b, "next_c_row_block")};
    note(b, "the next place: this warp's items of two turns add up to two_items");
    EMIT(b, sub_s32, rows->turn, rows->two_turns, rows->turn);
    EMIT(b, add_s32, rows->two_turns, rows->two_turns, I(2 * r->at.plan->row_blocks / r->plan->together));
    emit_deal(r, rows);
    if (r->plan->parts > 1) EMIT(b, add_s32, rows->block_place, rows->block_place, rows->step);
    mc_reg is_next = setp_lt_u32(b, "is_next", rows->place, rows->count);
    emit_row(r, rows, is_next, next);
    return next;
}
