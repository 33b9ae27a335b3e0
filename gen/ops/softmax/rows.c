/* The kernel as a whole. A row block that all threads can hold is read once; of a longer one the greatest
   elements are found first, then the sums, then the quotients. */
#include "ops/softmax/kernel.h"

static void emit_short(softmax_emitter *e) {
    heading(e->b, "A row block that stays in registers");
    softmax_take(e, e->thread, e->plan->hold);
    softmax_start_greatest(e);
    softmax_take_greatest(e);
    softmax_join_greatest(e);
    softmax_shift(e);
    softmax_start_sums(e);
    softmax_take_powers(e, true);
    softmax_join_sums(e);
    softmax_divide(e);
    softmax_store(e);
    softmax_store_lse(e);
}

/* What is done with the units of a turn. */
typedef void (*turn)(softmax_emitter *e);

static void add_powers(softmax_emitter *e) { softmax_take_powers(e, true); }

static void store_quotients(softmax_emitter *e) {
    softmax_take_powers(e, false);
    softmax_store(e);
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
    softmax_take(e, first, e->plan->again);
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
    softmax_shift(e);
    heading(b, "Its sums");
    softmax_start_sums(e);
    emit_loop(e, "long_sums_", add_powers);
    softmax_join_sums(e);
    softmax_divide(e);
    heading(b, "Its quotients");
    emit_loop(e, "long_quotients_", store_quotients);
    softmax_store_lse(e);
    b->prefix = NULL;
}

void softmax_emit(const void *data, mc_builder *b) {
    const softmax_plan *plan = data;
    mc_batch_array arrays[SOFTMAX_BATCH_ARRAYS];
    softmax_emitter e;
    softmax_list_batch(plan, arrays);
    softmax_begin(&e, b, plan, arrays);
    mc_label longer = label(b, "LONG");
    int held = softmax_threads(plan) * plan->hold;
    EMIT_IF(b, setp_gt(b, "is_long", e.block.units, I(held)), bra_uni, TO(longer));
    emit_short(&e);
    EMIT_RET(b);
    set_label(b, longer);
    emit_long(&e);
    EMIT_RET(b);
}
