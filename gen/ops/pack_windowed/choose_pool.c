#include "ops/pack_windowed/choose.h"

void choose_load_columns(choose_emitter *e) {
    vector_stream *s = &e->stream;
    mc_builder *b = e->b;
    mc_reg vector = add_s32(b, "next_vector", s->seen, e->lane);
    EMIT(b, mov_b32, s->column, I(-1));
    EMIT_IF(b, setp_lt(b, "is_there", vector, s->count), ldr_b32, s->column,
            AT(mad_wide(b, "column_at", vector, I(WORD), s->columns), 0));
}

mc_reg choose_entry_at(choose_emitter *e, const char *name, mc_reg index) {
    mc_builder *b = e->b;
    mc_reg place = and_b32(b, name_with(name, "_entry").text, index, I(QUEUE - 1));
    return mad_s32(b, name, place, I(ENTRY), e->bank.at);
}

/* The window of the oldest vector that nobody took: the least of the pool's, or, if the pool is empty, that
   of the vector behind it. */
static void find_oldest_window(choose_emitter *e) {
    mc_builder *b = e->b;
    mc_reg window = carried(b, "front_window", I(INT32_MAX));
    mc_reg has = setp_gt(b, "has_front", e->bank.available, I(0));
    EMIT_IF(b, has, lds_b32, window, AT(choose_entry_at(e, "front_at", e->bank.head), WORD));
    EMIT(b, min_s32, window, window, e->stream.window);
    EMIT(b, redux_min_s32, e->stride.oldest, window, ALL_LANES);
}

/* The lanes of IN whose columns are of the class that has BIT set where the class's number has the bit. */
static mc_reg lanes_of_bank(mc_builder *b, const char *name, mc_reg in, const mc_reg votes[BANK_BITS],
                            const mc_reg bit[BANK_BITS]) {
    enum { OR_UNLIKE = 0xf6, WITHOUT = 0x30 }; /* first | (second ^ third); first & ~second */
    mc_reg unlike = b32(b, name_with("unlike_", name).text);
    EMIT(b, xor_b32, unlike, votes[0], bit[0]);
    for (int i = 1; i < BANK_BITS; i++) EMIT(b, lop3, unlike, unlike, votes[i], bit[i], H(OR_UNLIKE));
    return lop3(b, name, in, unlike, I(0), H(WITHOUT));
}

mc_reg choose_spread_bit(mc_builder *b, const char *stem, mc_reg value, int i) {
    made_name name = name_nth(stem, i);
    mc_reg top = shl_b32(b, name_with(name.text, "_top").text, value, I(31 - i));
    return shr_s32(b, name.text, top, I(31));
}

/* The vector of each lane that is IN, one of LANES, goes to the end of its class's queue. */
static void put_in_queues(choose_emitter *e, mc_reg in, mc_reg lanes) {
    vector_stream *s = &e->stream;
    mc_builder *b = e->b;
    mc_reg votes[BANK_BITS], bit[BANK_BITS];
    for (int i = 0; i < BANK_BITS; i++) {
        bit[i] = choose_spread_bit(b, "column_bit", s->column, i);
        mc_reg has = setp_ne(b, name_nth("has_bit", i).text, bit[i], I(0));
        votes[i] = vote_ballot(b, name_nth("vote", i).text, has, ALL_LANES);
    }
    mc_reg alike = lanes_of_bank(b, "alike", lanes, votes, bit);
    mc_reg below = and_b32(b, "alike_below", alike, load_special(b, "lanes_below", "lanemask_lt"));
    mc_reg bank = and_b32(b, "bank", s->column, I(BANKS - 1));
    mc_reg own_end = add_s32(b, "own_end", e->bank.head, e->bank.available);
    mc_reg end = shfl_idx(b, "queue_end", own_end, shl_b32(b, "bank_lane", bank, I(BANK_SHIFT)), I(LAST_LANE),
                          ALL_LANES);
    mc_reg index = add_s32(b, "index", end, popc_b32(b, "rank", below));
    mc_reg place = and_b32(b, "queue_place", index, I(QUEUE - 1));
    mc_reg queue = mad_s32(b, "queue", bank, I(QUEUE_BYTES), mov_shared(b, "queues_at", NAME("queues")));
    mc_reg entry[2] = {add_s32(b, "vector", s->seen, e->lane), s->window};
    EMIT_IF(b, in, sts_v2, AT(mad_s32(b, "queue_at", place, I(ENTRY), queue), 0), V2(entry));
    mc_reg own = lanes_of_bank(b, "own_lanes", lanes, votes, e->bank.bit);
    EMIT(b, add_s32, e->bank.available, e->bank.available, popc_b32(b, "own_count", own));
}

static void set_windows(choose_emitter *e) {
    EMIT(e->b, div_u32, e->stream.window, e->stream.column, e->window);
}

/* Windows ascend, so that the lanes whose vectors come in are the first ones. */
static void bring_vectors(choose_emitter *e) {
    vector_stream *s = &e->stream;
    mc_builder *b = e->b;
    mc_label more = label(b, "MORE"), full = label(b, "FULL");
    mc_reg end = add_s32(b, "window_end", e->stride.oldest, e->span);
    set_label(b, more);
    mc_reg pool = sub_s32(b, "in_pool", s->seen, s->taken);
    mc_reg room = sub_s32(b, "room", I(WINDOWED_POOL), pool);
    mc_reg near = setp_lt(b, "is_near", s->window, end);
    mc_reg in = setp_lt_and(b, "comes_in", e->lane, room, near);
    mc_reg lanes = vote_ballot(b, "coming", in, ALL_LANES), count = popc_b32(b, "comes", lanes);
    put_in_queues(e, in, lanes);
    EMIT(b, add_s32, s->seen, s->seen, count);
    choose_load_columns(e);
    EMIT_IF(b, setp_lt(b, "is_full", count, I(MC_WARP)), bra_uni, TO(full));
    set_windows(e);
    EMIT(b, bra_uni, TO(more));
    set_label(b, full);
    EMIT(b, bar_warp_sync, ALL_LANES);
}

static void find_oldest(choose_emitter *e) {
    stride_state *s = &e->stride;
    mc_builder *b = e->b;
    mc_reg has = setp_gt(b, "has_vector", e->bank.available, I(0));
    EMIT(b, mov_b32, s->front, I(INT32_MAX));
    EMIT_IF(b, has, lds_b32, s->front, AT(choose_entry_at(e, "oldest_at", e->bank.head), 0));
    mc_reg oldest = redux_min_s32(b, "oldest_vector", s->front, ALL_LANES);
    s->is_oldest = setp_eq(b, "is_oldest", s->front, oldest);
}

void choose_fill_pool(choose_emitter *e) {
    set_windows(e);
    find_oldest_window(e);
    bring_vectors(e);
    find_oldest(e);
}
