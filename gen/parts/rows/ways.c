/* Ways through the kernel. A row block that all threads can hold goes one of its own; longer ones go through
   loops. */
#include "parts/rows/rows.h"
#include "parts/made_name.h"
#include <stdio.h>

/* Numbers of units for which there is a way: INTO, the least first. Rows of srbcrs that a thread has in turn
   are whole strides. */
static int list_ways(const rows_plan *plan, int into[ROWS_WAYS]) {
    int count = 0;
    for (int i = 0; i < ROWS_WAYS && rows_ways[i] <= plan->hold; i++)
        if (plan->order == ROWS_BCRS || rows_ways[i] % plan->rows == 0) into[count++] = rows_ways[i];
    return count;
}

static void emit_way(rows_emitter *r, void *user, int count, int sure, rows_step way) {
    mc_builder *b = r->b;
    char prefix[MC_MAX_NAME];
    snprintf(prefix, sizeof prefix, "held%d_", count);
    heading(b, "A row block of which a thread has at most %d unit%s: it stays in registers", count,
            count > 1 ? "s" : "");
    b->prefix = prefix;
    rows_place(r, r->thread, count, sure);
    way(user);
    b->prefix = NULL;
}

/* A thread that has fewer units than it could hold would spend as many instructions on what is not there. So
   there is a way for each of these numbers of units. All units are asked for first: the instructions of a way
   come from far, while what they wait for does. */
void rows_emit_ways(rows_emitter *r, void *user, rows_step load, rows_step way) {
    mc_builder *b = r->b;
    mc_label longer = label(b, "LONG"), at[ROWS_WAYS];
    int counts[ROWS_WAYS], ways = list_ways(r->plan, counts), last = ways - 1;
    int threads = r->plan->team;
    bool uneven = rows_in_teams(r->plan);
    if (!uneven)
        EMIT_IF(b, setp_gt(b, "is_long", r->block.most, I(threads * counts[last])), bra_uni, TO(longer));
    rows_place(r, r->thread, counts[last], 0);
    load(user);
    for (int i = 0; i < last; i++) {
        mc_reg fits = setp_lt(b, name_nth("fits", counts[i]).text, r->block.most, I(threads * counts[i] + 1));
        at[i] = label(b, name_nth("HELD", counts[i]).text);
        EMIT_IF(b, fits, bra_uni, TO(at[i]));
    }
    for (int i = last; i >= 0; i--) {
        if (i < last) set_label(b, at[i]);
        emit_way(r, user, counts[i], i > 0 && !uneven ? counts[i - 1] : 0, way);
    }
    if (!uneven) set_label(b, longer);
}

void rows_emit_loop(rows_emitter *r, void *user, const char *prefix, rows_step turn) {
    mc_builder *b = r->b;
    int64_t step = (int64_t)r->plan->again * r->plan->team;
    b->prefix = prefix;
    mc_label again = label(b, "AGAIN");
    mc_reg from = carried(b, "from", I(0)), first = b32(b, "first");
    set_label(b, again);
    EMIT(b, add_s32, first, r->thread, from);
    rows_place(r, first, r->plan->again, 0);
    turn(user);
    EMIT(b, add_s32, from, from, I(step));
    EMIT_IF(b, setp_lt(b, "more", from, r->block.most), bra, TO(again));
    b->prefix = NULL;
}
