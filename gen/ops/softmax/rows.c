/* The kernel as a whole. A row block that all threads can hold is read once; of a longer one the greatest
   elements are found first, then the sums, then the quotients. */
#include "ops/softmax/kernel.h"
#include <stdio.h>

/* What is done with unit I. */
typedef void (*unit_step)(softmax_emitter *e, int i);

static void each_unit(softmax_emitter *e, unit_step step) {
    for (int i = 0; i < e->units.count; i++) step(e, i);
}

static void add_powers(softmax_emitter *e, int i) {
    softmax_take_powers(e, i);
    softmax_add_powers(e, i);
}

/* Of row blocks of which threads have COUNT units at the most, and SURE at the least. */
static void emit_held(softmax_emitter *e, int count, int sure) {
    mc_builder *b = e->b;
    bool one_word = softmax_one_word(e->plan);
    softmax_load(e, e->thread, count, sure);
    softmax_start_greatest(e);
    softmax_take_greatest(e);
    softmax_join_greatest(e);
    softmax_start_parts(e);
    each_unit(e, add_powers);
    if (!one_word) softmax_start_sums(e), softmax_add_parts(e);
    softmax_join_sums(e, one_word);
    softmax_divide(e);
    softmax_start_store(e);
    each_unit(e, softmax_store);
    softmax_store_lse(e);
    EMIT_RET(b);
}

/* A thread that has fewer units than it could hold would spend as many instructions on what is not there. So
   there is a way for each of these numbers of units. Rows of srbcrs that a thread has in turn are whole
   strides. */
static void emit_short(softmax_emitter *e) {
    const softmax_plan *plan = e->plan;
    mc_builder *b = e->b;
    int sure = 0;
    for (int i = 0; i < SOFTMAX_WAYS && softmax_ways[i] <= plan->hold; i++) {
        int count = softmax_ways[i], threads = softmax_threads(plan);
        char prefix[MC_MAX_NAME];
        if (plan->order != SOFTMAX_BCRS && count % plan->rows) continue;
        snprintf(prefix, sizeof prefix, "held%d_", count);
        heading(b, "A row block of which a thread has at most %d unit%s: it stays in registers", count,
                count > 1 ? "s" : "");
        b->prefix = prefix;
        mc_label more = label(b, "MORE");
        EMIT_IF(b, setp_gt(b, "is_more", e->block.units, I(threads * count)), bra_uni, TO(more));
        emit_held(e, count, sure);
        sure = count;
        set_label(b, more);
        b->prefix = NULL;
    }
}

/* What is done with all units of a turn. */
typedef void (*turn)(softmax_emitter *e);

static void turn_powers(softmax_emitter *e) {
    each_unit(e, softmax_take);
    softmax_start_parts(e);
    each_unit(e, add_powers);
    softmax_add_parts(e);
}

static void turn_quotients(softmax_emitter *e) {
    each_unit(e, softmax_take);
    each_unit(e, softmax_take_powers);
    softmax_start_store(e);
    each_unit(e, softmax_store);
}

/* All units of the row block, `again` of each thread at a time. */
static void emit_loop(softmax_emitter *e, const char *prefix, turn what) {
    mc_builder *b = e->b;
    int64_t step = (int64_t)e->plan->again * softmax_threads(e->plan);
    b->prefix = prefix;
    mc_label again = label(b, "AGAIN");
    mc_reg from = carried(b, "from", I(0)), first = b32(b, "first");
    set_label(b, again);
    EMIT(b, add_s32, first, e->thread, from);
    softmax_load(e, first, e->plan->again, 0);
    what(e);
    EMIT(b, add_s32, from, from, I(step));
    EMIT_IF(b, setp_lt(b, "more", from, e->block.units), bra, TO(again));
    b->prefix = "long_";
}

static void emit_long(softmax_emitter *e) {
    mc_builder *b = e->b;
    heading(b, "A longer one: greatest elements");
    b->prefix = "long_";
    softmax_start_greatest(e);
    emit_loop(e, "long_greatest_", softmax_take_greatest);
    softmax_join_greatest(e);
    heading(b, "Its sums");
    softmax_start_sums(e);
    emit_loop(e, "long_sums_", turn_powers);
    softmax_join_sums(e, false);
    softmax_divide(e);
    heading(b, "Its quotients");
    emit_loop(e, "long_quotients_", turn_quotients);
    softmax_store_lse(e);
    b->prefix = NULL;
}

void softmax_emit(const void *data, mc_builder *b) {
    const softmax_plan *plan = data;
    mc_batch_array arrays[SOFTMAX_BATCH_ARRAYS];
    softmax_emitter e;
    softmax_list_batch(plan, arrays);
    softmax_begin(&e, b, plan, arrays);
    emit_short(&e);
    emit_long(&e);
    EMIT_RET(b);
}
