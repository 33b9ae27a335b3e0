/* The ring kernel's loop over strides with `joined`. A load is 32 bytes of the rows of 16 slots; a stride
 * has two for each 32 bytes of a row. They are taken apart load by load, both halves together, and
 * multiplied. As soon as the registers of a load are free, the next stride's load comes to them, and is on
 * its way for as long as a stride takes. So a warp needs no more registers for B than a stride has, and two
 * loads' that were taken apart.
 *
 * Such a stride takes a warp less time than a load of A out of L2. So values come through the warp's queue
 * (queue.c), and all else of A several strides at a time (spread.c). */
#include "ops/spmm/ring/ring.h"

static void emit_gather(const ring_strides *s, int load) {
    const mc_reg always = {0};
    for (int half = 0; half < RING_HALVES; half++) ring_emit_gather_load(s, half, load, always);
}

/* Multiplies load LOAD of the stride whose values are at hand. GATHERS: the next stride's comes meanwhile. */
static void emit_load(const ring_strides *s, int load, bool gathers) {
    pairs_join(&s->pairs, s->matrix[0][load], s->matrix[1][load]);
    if (gathers) emit_gather(s, load);
    pairs_multiply_joined(&s->pairs, load, s->packed->at_hand.value);
}

/* The first stride: all of its rows are on their way, and the next one is known. */
static void emit_first(ring_strides *s) {
    s->staging->before_stride(s->feed, s->packed->at_hand.control, true);
    ring_emit_row_addresses(s);
    note(s->r->at.b, "gather the rows of all slots");
    for (int q = 0; q < ring_loads(s->r->plan); q++) emit_gather(s, q);
    ring_emit_take_slots(s->r, s->packed, s->block);
    ring_tma_find_wants(s->feed, s->packed->at_hand.control);
}

void ring_emit_joined(ring_strides *s) {
    mc_builder *b = s->r->at.b;
    const int loads = ring_loads(s->r->plan);
    mc_reg no_more = s->packed->some;
    mc_label loop = label(b, "STRIDES"), last = label(b, "LAST");
    emit_first(s);
    b->prefix = NULL;
    heading(b, "Loop over strides: 32 nonzero vectors a time");
    set_label(b, loop);
    EMIT(b, add_s32, s->block.stride, s->block.stride, I(1));
    EMIT(b, setp_ge, no_more, s->block.stride, s->block.last);
    EMIT_IF(b, no_more, bra_uni, TO(last));
    note(b, "the next stride");
    ring_tma_do_wants(s->feed);
    ring_emit_row_addresses(s);
    note(b, "multiply this one's loads, and gather the next one's");
    for (int q = 0; q < loads; q++) {
        if (q == loads - 1) {
            ring_emit_take_slots(s->r, s->packed, s->block);
            ring_emit_take_values(s->r, s->packed, s->block);
        }
        emit_load(s, q, true);
    }
    ring_tma_find_wants(s->feed, s->packed->at_hand.control);
    ring_emit_next_values(s->r, s->packed);
    EMIT(b, bra_uni, TO(loop));
    set_label(b, last);
    for (int q = 0; q < loads; q++) emit_load(s, q, false);
}
