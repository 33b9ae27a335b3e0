/* Staging "async", rows of 16 bytes: windows that come element by element, where B's address or ldb is no
 * multiple of 4 and cp.async has no copies for them.
 *
 * A thread copies whole rows, a few of them at once, so that as many loads are on their way. Each row is made
 * zeros first; then the columns inside n are loaded one after another and stored over them. Rows beyond k are
 * like the last one: slots of padding alone name them, and those have zeros in A. */
#include "ops/spmm/ring/ring.h"
#include "parts/made_name.h"

/* What threads have in a window, or in a ring that has all of B, are whole turns of so many rows each. */
static int rows_at_once(const ring_plan *plan) {
    int rows = 1;
    int all = plan->keeps_all ? ring_capacity(plan) : plan->window;
    while (rows < RING_MAX_ROWS && all % (2 * rows * plan->base.threads) == 0) rows *= 2;
    return rows;
}

/* Sets `uses` where the kernel finds out how B lies. */
static void emit_choice(const ring_emitter *r, ring_elements *e) {
    mc_builder *b = r->at.b;
    if (r->plan->copy == RING_BY_ELEMENTS) return;
    note(b, "whether cp.async cannot copy rows of B");
    mc_reg bits = carried(b, "element_bits", r->at.row_bytes);
    if (r->plan->base.align < 4) EMIT(b, or_b32, bits, bits, cvt_low(b, "element_low", r->at.b_array));
    EMIT(b, and_b32, bits, bits, I(3));
    e->uses = setp_ne(b, "by_elements", bits, I(0));
}

void ring_emit_elements_start(const ring_emitter *r, ring_elements *e) {
    mc_builder *b = r->at.b;
    if (!ring_may_copy_elements(r->plan)) return;
    e->count = rows_at_once(r->plan);
    emit_choice(r, e);
    e->columns = b32(b, "tile_columns"), e->column = b32(b, "element_column");
    note(b, "so many columns of the tile lie inside n");
    EMIT(b, sub_s32, e->columns, dim_operand(r->at.plan->n, r->at.n), r->at.tile_col);
    EMIT(b, min_s32, e->columns, e->columns, I(RING_NARROW_BYTES));
    e->from = mad_wide(b, "elements_from", r->at.tile_col, I(1), r->at.b_array);
    e->last = sub_s32(b, "last_row", dim_operand(r->at.plan->k, r->k), I(1));
    e->row = b32(b, "element_row"), e->end = b32(b, "element_end"), e->source = b32(b, "source_row");
    e->to = b32(b, "element_to"), e->at = b32(b, "element_at");
    e->done = pred(b, "element_done");
    b32_array(b, "element", e->count, e->value);
    b64_array(b, "element_address", e->count, e->address);
    e->zero = mov_b32(b, "element_zero", I(0));
}

/* The columns of the rows at hand, one after another. */
static void emit_columns(const ring_emitter *r, const ring_elements *e, mc_label loop, mc_label done) {
    mc_builder *b = r->at.b;
    int apart = r->plan->base.threads * RING_NARROW_BYTES;
    EMIT(b, mov_b32, e->at, e->to);
    EMIT(b, mov_b32, e->column, I(0));
    set_label(b, loop);
    EMIT(b, setp_ge, e->done, e->column, e->columns);
    EMIT_IF(b, e->done, bra, TO(done));
    for (int i = 0; i < e->count; i++) EMIT(b, ldg_u8, e->value[i], AT(e->address[i], 0));
    for (int i = 0; i < e->count; i++) EMIT(b, add_s64, e->address[i], e->address[i], I(1));
    for (int i = 0; i < e->count; i++) EMIT(b, sts_b8, AT(e->at, i * apart), e->value[i]);
    EMIT(b, add_s32, e->at, e->at, I(1));
    EMIT(b, add_s32, e->column, e->column, I(1));
    EMIT(b, bra, TO(loop));
}

/* Makes the rows at hand zeros, and finds where they lie in B. */
static void emit_rows(const ring_emitter *r, const ring_elements *e) {
    mc_builder *b = r->at.b;
    int threads = r->plan->base.threads;
    const mc_reg zeros[] = {e->zero, e->zero, e->zero, e->zero};
    for (int i = 0; i < e->count; i++) {
        EMIT(b, sts_v4, AT(e->to, i * threads * RING_NARROW_BYTES), V4(zeros));
        EMIT(b, add_s32, e->source, e->row, I(i * threads));
        EMIT(b, min_s32, e->source, e->source, e->last);
        EMIT(b, mad_wide, e->address[i], e->source, r->at.row_bytes, e->from);
    }
}

void ring_emit_elements(const ring_emitter *r, const ring_async *a, mc_label copied) {
    mc_builder *b = r->at.b;
    const ring_elements *e = &a->elements;
    int threads = r->plan->base.threads;
    mc_label loop = label(b, name_nth("ELEMENTS", copied.id).text),
             columns = label(b, name_nth("ELEMENT_COLUMNS", copied.id).text),
             next = label(b, name_nth("ELEMENT_ROWS", copied.id).text);
    EMIT(b, mad_s32, e->to, r->at.place.thread, I(RING_NARROW_BYTES), r->ring);
    ring_emit_window_rows(r, a, r->at.place.thread, e->to, e->row, e->end, e->to);
    set_label(b, loop);
    EMIT(b, setp_ge, e->done, e->row, e->end);
    EMIT_IF(b, e->done, bra, TO(copied));
    emit_rows(r, e);
    emit_columns(r, e, columns, next);
    set_label(b, next);
    EMIT(b, add_s32, e->row, e->row, I(e->count * threads));
    EMIT(b, add_s32, e->to, e->to, I(e->count * threads * RING_NARROW_BYTES));
    EMIT(b, bra, TO(loop));
}
