/* Resident: warps take row blocks in turn (rows.c). With parts some of them finish what the others have
 * multiplied (finishers.c). */
#include "ops/spmm/ring/ring.h"

/* Loads the next row block's first strides, which are then on their way during this one's store. */
static void emit_next_strides(const ring_strides *s, ring_row_block next) {
    mc_builder *b = s->r->at.b;
    heading(b, "The first strides of this warp's next row block");
    EMIT(b, mov_b32, s->block.stride, next.stride);
    EMIT(b, mov_b32, s->block.last, next.last);
    ring_emit_first_strides(s->r, s->packed, s->block);
}

/* Goes to END where no row block is left. GONE is scratch. */
static void emit_end(const ring_emitter *r, const ring_rows *rows, mc_reg gone, mc_label end) {
    mc_builder *b = r->at.b;
    heading(b, "This warp's next row block");
    EMIT(b, setp_ge_u32, gone, r->plan->parts > 1 ? rows->block_place : rows->first, rows->count);
    EMIT_IF(b, gone, bra_uni, TO(end));
}

/* By warps that store: makes NEXT the number of the row block at hand. */
static void emit_next(const ring_emitter *r, const ring_rows *rows, mc_reg number, mc_reg next) {
    if (ring_goes_along(r->plan)) ring_emit_next_guards(r, rows);
    EMIT(r->at.b, mov_b32, number, next);
}

/* A row block's sums on their way, to C or to who finishes it. */
static void emit_sums(ring_strides *s, ring_epilogue *epilogue) {
    mc_builder *b = s->r->at.b;
    if (ring_finishers(s->r->plan) > 0) {
        sums_settle(s->sums, SPMM_PAIR_ODD, (mc_reg){0});
        ring_emit_send_sums(s->r, s->sums);
        return;
    }
    epilogue->next = label(b, "NEXT");
    ring_emit_output(epilogue);
    b->prefix = NULL;
    set_label(b, epilogue->next);
}

void ring_emit_turns(ring_strides *s, ring_feed *feed, ring_epilogue *epilogue, const ring_rows *rows) {
    mc_builder *b = s->r->at.b;
    mc_label loop = label(b, "ROW_BLOCKS"), end = label(b, "END");
    const bool stores = ring_finishers(s->r->plan) == 0;
    if (!stores) {
        ring_emit_parts_meet(s->r);
        feed->r->sums_phase = carried(b, "sums_phase", I(1));
    }
    set_label(b, loop);
    ring_row_block next = ring_emit_next_row(s->r, rows);
    if (s->r->plan->prefetch) s->next = next;
    if (stores) ring_emit_row_factors(epilogue);
    ring_emit_strides(s);
    emit_next_strides(s, next);
    emit_sums(s, epilogue);
    mc_reg gone = pred(b, "gone");
    emit_end(s->r, rows, gone, end);
    if (stores) emit_next(s->r, rows, s->block.number, next.number);
    s->staging->turn(feed, gone, loop);
    set_label(b, end);
    EMIT_RET(b);
}

void ring_emit_finishes(ring_emitter *r, ring_epilogue *epilogue, const ring_rows *rows,
                        ring_row_block block) {
    mc_builder *b = r->at.b;
    mc_label loop = label(b, "FINISH_ROW_BLOCKS"), end = label(b, "FINISHED");
    note(b, "the barriers are there, and the kernel before has ended, for which those waited that copy");
    EMIT(b, bar_sync, I(0));
    ring_emit_parts_begun(r);
    ring_emit_parts_meet(r);
    r->sums_phase = carried(b, "sums_phase", I(0));
    epilogue->next = label(b, "NEXT");
    set_label(b, loop);
    ring_row_block next = ring_emit_next_row(r, rows);
    ring_emit_row_factors(epilogue);
    ring_emit_take_sums(r, rows, epilogue->sums);
    ring_emit_results(epilogue);
    b->prefix = "finish_";
    set_label(b, epilogue->next);
    emit_end(r, rows, pred(b, "gone"), end);
    emit_next(r, rows, block.number, next.number);
    EMIT(b, bra_uni, TO(loop));
    set_label(b, end);
    EMIT_RET(b);
}
