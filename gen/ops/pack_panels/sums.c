#include "ops/pack_panels/pack_panels.h"

enum { SUMS_WARPS = SUMS_THREADS / MC_WARP };

/* One thread block takes 1024 numbers in a turn. Sums of its warps lie in shared memory, those of one turn
   beside those of the turn before, so that a barrier a turn is enough. */
typedef struct sums_emitter {
    mc_builder *b;
    thread_place thread;
    mc_reg index; /* the thread's number in this turn */
    mc_reg carry; /* the sum of all turns before */
    mc_reg room;  /* where the turn's sums of warps lie */
} sums_emitter;

/* The sum of what lower warps have becomes part of SUM, and that of all warps of the carry. */
static void add_warps(sums_emitter *e, mc_reg own, mc_reg sum) {
    mc_builder *b = e->b;
    mc_reg last = setp_eq(b, "is_last_lane", e->thread.lane, I(LAST_LANE));
    EMIT_IF(b, last, sts_b32, AT(mad_s32(b, "warp_sum_at", e->thread.warp, I(WORD), e->room), 0), own);
    EMIT(b, bar_sync, I(0));
    mc_reg of_warp =
        lds_b32(b, "of_warp", AT(mad_s32(b, "lane_sum_at", e->thread.lane, I(WORD), e->room), 0));
    mc_reg is_lower = setp_lt(b, "is_lower", e->thread.lane, e->thread.warp);
    mc_reg lower =
        redux_add_s32(b, "of_lower", selp_b32(b, "lower_or_none", of_warp, I(0), is_lower), ALL_LANES);
    EMIT(b, add_s32, sum, sum, lower);
    EMIT(b, add_s32, e->carry, e->carry, redux_add_s32(b, "of_all", of_warp, ALL_LANES));
    EMIT(b, xor_b32, e->room, e->room, I(SUMS_WARPS * WORD));
}

/* SUM is of the numbers before the thread's. One of each EACH goes to the totals, too. */
static void store_sum(sums_emitter *e, mc_reg count, mc_reg each, mc_reg sum) {
    mc_builder *b = e->b;
    mc_reg is_there = setp_ge(b, "is_sum", count, e->index);
    EMIT_IF(b, is_there, stg_b32, AT(panels_at(b, "sum_at", load_array(b, "sums"), e->index, WORD), 0), sum);
    mc_reg rest = rem_u32(b, "rest", e->index, each);
    mc_reg is_total = setp_eq_and(b, "is_total", rest, I(0), is_there);
    mc_reg at = panels_at(b, "total_at", load_array(b, "totals"), div_u32(b, "total", e->index, each), WORD);
    EMIT_IF(b, is_total, stg_b32, AT(at, 0), sum);
}

void panels_emit_sums(const pack_panels_plan *plan, mc_builder *b) {
    sums_emitter e = {.b = b};
    mc_label loop = label(b, "TURN");
    (void)plan;
    shared_array(b, "warp_sums", SUMS_SHARED, SUMS_SHARED);
    e.thread = load_thread_place(b, SUMS_THREADS);
    mc_reg count = load_shape(b, "count", true), each = load_shape(b, "each", true);
    mc_reg numbers = load_array(b, "numbers");
    e.index = carried(b, "index", e.thread.thread);
    e.carry = carried(b, "carry", I(0));
    e.room = carried(b, "room", mov_shared(b, "room_begin", NAME("warp_sums")));
    mc_reg turn = carried(b, "turn_begin", I(0)), more = pred(b, "more");
    heading(b, "1024 numbers; there is a sum behind the last one, too");
    set_label(b, loop);
    mc_reg number = carried(b, "number", I(0));
    EMIT_IF(b, setp_lt(b, "is_number", e.index, count), ldg_b32, number,
            AT(panels_at(b, "number_at", numbers, e.index, WORD), 0));
    mc_reg own = carried(b, "own_sum", number);
    lanes_sum(b, e.thread.lane, own);
    mc_reg sum = carried(b, "sum", sub_s32(b, "before", own, number));
    EMIT(b, add_s32, sum, sum, e.carry);
    add_warps(&e, own, sum);
    store_sum(&e, count, each, sum);
    EMIT(b, add_s32, e.index, e.index, I(SUMS_THREADS));
    EMIT(b, add_s32, turn, turn, I(SUMS_THREADS));
    EMIT(b, setp_ge, more, count, turn);
    EMIT_IF(b, more, bra_uni, TO(loop));
    EMIT_RET(b);
}
