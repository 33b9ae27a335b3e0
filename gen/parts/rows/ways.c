/* Ways through the kernel. A row block that all threads can hold goes one of its own; longer ones go through
   loops. */
#include "parts/rows/rows.h"
#include <stdio.h>

/* A thread that has fewer units than it could hold would spend as many instructions on what is not there. So
   there is a way for each of these numbers of units. Rows of srbcrs that a thread has in turn are whole
   strides. */
void rows_emit_ways(rows_emitter *r, void *user, rows_way way) {
    const rows_plan *plan = r->plan;
    mc_builder *b = r->b;
    int sure = 0;
    for (int i = 0; i < ROWS_WAYS && rows_ways[i] <= plan->hold; i++) {
        int count = rows_ways[i], threads = rows_threads(plan);
        char prefix[MC_MAX_NAME];
        if (plan->order != ROWS_BCRS && count % plan->rows) continue;
        snprintf(prefix, sizeof prefix, "held%d_", count);
        heading(b, "A row block of which a thread has at most %d unit%s: it stays in registers", count,
                count > 1 ? "s" : "");
        b->prefix = prefix;
        mc_label more = label(b, "MORE");
        EMIT_IF(b, setp_gt(b, "is_more", r->block.units, I(threads * count)), bra_uni, TO(more));
        way(user, count, sure);
        sure = count;
        set_label(b, more);
        b->prefix = NULL;
    }
}

void rows_emit_loop(rows_emitter *r, void *user, const char *prefix, rows_turn turn) {
    mc_builder *b = r->b;
    int64_t step = (int64_t)r->plan->again * rows_threads(r->plan);
    b->prefix = prefix;
    mc_label again = label(b, "AGAIN");
    mc_reg from = carried(b, "from", I(0)), first = b32(b, "first");
    set_label(b, again);
    EMIT(b, add_s32, first, r->thread, from);
    turn(user, first);
    EMIT(b, add_s32, from, from, I(step));
    EMIT_IF(b, setp_lt(b, "more", from, r->block.units), bra, TO(again));
    b->prefix = NULL;
}
