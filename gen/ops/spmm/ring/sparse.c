/* The ring kernel's loop over strides with `sparse_mma`. ldmatrix moves elements of 16 bits, so that a lane
 * gets pairs of bytes: two columns of B, or two digits of one. Of each four bytes of B an mma.sp takes the
 * two that its metadata name. So the pairs of 32 slots are an operand as they are, and A's values the other
 * one. One mma picks the bytes at even places, another one those at odd places (integer/pairs.c).
 *
 * An ldmatrix brings 16 bytes of the rows of all 32 slots, a piece, of which lane l names the row of slot l.
 * Pieces come two ahead of the mma, and the next stride's first ones before this one ends. They take four
 * operands' registers in turn, which divides the pieces of all rows, and 15 warps find enough. */
#include "ops/spmm/ring/ring.h"

static const mc_reg *operand_of(const ring_strides *s, int piece) {
    return s->matrix[0][piece % RING_OPERANDS];
}

static void emit_gather(const ring_strides *s, int piece) {
    mc_builder *b = s->r->at.b;
    mc_reg at = piece ? s->matrix_at : s->at[0];
    if (piece) EMIT(b, xor_b32, at, s->at[0], I(piece * WINDOWED_UNIT));
    EMIT(b, ldmatrix_x4_trans, V4(operand_of(s, piece)), AT(at, 0));
}

static void emit_multiply(const ring_strides *s, int piece) {
    pairs_multiply_sparse(&s->pairs, piece, operand_of(s, piece), s->packed->at_hand.value);
}

void ring_emit_sparse(ring_strides *s) {
    mc_builder *b = s->r->at.b;
    const int pieces = ring_pieces(s->r->plan), ahead = ring_pieces_ahead(s->r->plan);
    mc_reg no_more = s->packed->some;
    ring_ahead_take_slots(s->r, s->packed, s->block);
    s->staging->before_stride(s->feed, s->packed->at_hand.control, true);
    ring_emit_row_addresses(s);
    note(b, "gather the first pieces of all slots' rows");
    for (int i = 0; i < ahead; i++) emit_gather(s, i);
    b->prefix = NULL;
    mc_label loop = label(b, "STRIDES"), last = label(b, "LAST");
    heading(b, "Loop over strides: 32 nonzero vectors a time");
    set_label(b, loop);
    ring_ahead_take(s->r, s->packed, s->block);
    ring_tma_find_wants(s->feed, s->packed->at_hand.control);
    note(b, "multiply by pieces of B at even and at odd places, and gather the next ones");
    for (int i = 0; i < pieces - ahead; i++) {
        emit_gather(s, i + ahead);
        emit_multiply(s, i);
    }
    EMIT(b, add_s32, s->block.stride, s->block.stride, I(1));
    EMIT(b, setp_ge, no_more, s->block.stride, s->block.last);
    EMIT_IF(b, no_more, bra_uni, TO(last));
    note(b, "the next stride");
    ring_tma_do_wants(s->feed);
    ring_emit_row_addresses(s);
    for (int i = pieces - ahead; i < pieces; i++) {
        emit_gather(s, i + ahead - pieces);
        emit_multiply(s, i);
    }
    EMIT(b, bra_uni, TO(loop));
    set_label(b, last);
    for (int i = pieces - ahead; i < pieces; i++) emit_multiply(s, i);
}
