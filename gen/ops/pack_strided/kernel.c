#include "ops/pack_strided/pack_strided.h"
#include "parts/integer/nibbles.h"
#include <stdio.h>

/* A lane has a slot of the row block in each turn. The row block's vectors come first, its padding last. */
typedef struct strided_emitter {
    mc_builder *b;
    const strided_plan *plan;
    segment_place place;
    mc_reg columns, col_idx, vectors;
    mc_reg values;      /* the first group's ones */
    mc_reg heads;       /* slots of the row block's heads */
    mc_reg head, tail;  /* what is added to a slot's number in the row block: in its heads, behind */
    mc_reg count, all;  /* vectors of the row block, and slots */
    mc_reg begin;       /* its first vector */
    mc_reg group_bytes; /* of packed values */
    mc_reg slot;        /* the lane's in this turn, counted in the row block */
} strided_emitter;

typedef struct held_slot {
    mc_reg in_block, is_there, slot, vector, column;
} held_slot;

/* -- The row block ------------------------------------------------------------------------------------ */

static void find_vectors(strided_emitter *e) {
    mc_builder *b = e->b;
    mc_reg at = mad_wide(b, "offset_at", e->place.row, I(WORD), load_array(b, "offsets"));
    e->begin = ldg_b32(b, "begin", AT(at, 0));
    e->count = sub_s32(b, "count", ldg_b32(b, "end", AT(at, WORD)), e->begin);
}

static void find_slots(strided_emitter *e) {
    mc_builder *b = e->b;
    mc_reg stride = load_shape(b, "stride", true);
    mc_reg at = mad_wide(b, "row_ptr_at", e->place.row, I(WORD), load_array(b, "row_ptr"));
    mc_reg first = ldg_b32(b, "first_stride", AT(at, 0)), next = ldg_b32(b, "next_stride", AT(at, WORD));
    e->heads = load_shape(b, "heads", true);
    e->head = mul_s32(b, "head", e->place.row, e->heads);
    mc_reg start = mul_s32(b, "start", first, stride);
    e->tail = sub_s32(b, "tail", start, e->heads);
    e->all = mad_s32(b, "all", sub_s32(b, "strides", next, first), stride, e->heads);
}

static void begin(strided_emitter *e, mc_label end) {
    mc_builder *b = e->b;
    bool ones = e->plan->ones != STRIDED_NO_ONES;
    e->place = segments_begin(b, end);
    find_vectors(e);
    find_slots(e);
    e->columns = load_array(b, "columns");
    e->col_idx = load_array(b, "col_idx");
    e->vectors = load_array(b, "vectors");
    e->group_bytes = load_shape(b, "group_bytes", ones);
    if (ones) {
        mc_reg behind = cvt_s64(b, "ones_behind", load_shape(b, "ones_at", true));
        e->values = add_s64(b, "all_ones", load_array(b, "values"), behind);
    }
    e->slot = carried(b, "slot", add_s32(b, "first_slot", e->place.first, e->place.lane));
}

/* -- A slot ------------------------------------------------------------------------------------------- */

static void load_slot(strided_emitter *e, int index, held_slot *held) {
    mc_builder *b = e->b;
    held->in_block = add_s32(b, "in_block", e->slot, I((int64_t)index * MC_WARP));
    held->is_there = setp_lt(b, "is_there", held->in_block, e->all);
    mc_reg is_head = setp_lt(b, "is_head", held->in_block, e->heads);
    held->slot = add_s32(b, "its_slot", held->in_block, selp_b32(b, "base", e->head, e->tail, is_head));
    mc_reg is_vector = setp_lt(b, "is_vector", held->in_block, e->count);
    held->vector = carried(b, "vector", I(-1));
    held->column = carried(b, "column", I(-1));
    EMIT_IF(b, is_vector, add_s32, held->vector, held->in_block, e->begin);
    mc_reg at = mad_wide(b, "column_at", held->vector, I(WORD), e->columns);
    EMIT_IF(b, is_vector, ldg_b32, held->column, AT(at, 0));
}

/* shuffled_slot of nibbles.h: slot 2 i + odd of 8 stands at 4 odd + i. */
static mc_reg index_place(strided_emitter *e, const held_slot *held) {
    mc_builder *b = e->b;
    if (!e->plan->shuffled) return held->slot;
    mc_reg eight = and_b32(b, "eight", held->slot, I(~(int64_t)(MC_NIBBLES - 1)));
    mc_reg pair = and_b32(b, "pair", shr_u32(b, "half_slot", held->slot, I(1)), I(MC_NIBBLES / 2 - 1));
    mc_reg odd = and_b32(b, "odd", held->slot, I(1));
    return add_s32(b, "index", eight, mad_s32(b, "in_eight", odd, I(MC_NIBBLES / 2), pair));
}

/* A byte for the slot: the 32 of a group lie in the slots' order (slot_value_offset of row 0). */
static void store_byte(strided_emitter *e, const held_slot *held) {
    mc_builder *b = e->b;
    mc_reg group = shr_u32(b, "group", held->slot, I(log2_of(MC_GROUP_SLOTS)));
    mc_reg in_group = and_b32(b, "in_group", held->slot, I(MC_GROUP_SLOTS - 1));
    mc_reg ones = mad_wide(b, "group_ones", group, e->group_bytes, e->values);
    mc_reg at = add_s64(b, "one_at", ones, cvt_s64(b, "one_behind", in_group));
    mc_reg is_vector = setp_ge(b, "is_one", held->vector, I(0));
    EMIT_IF(b, held->is_there, stg_b8, AT(at, 0), selp_b32(b, "one", I(1), I(0), is_vector));
}

/* How many of the eight slots from this one on hold a vector, as a word that has a one for each. */
static mc_reg ones_of(strided_emitter *e, const held_slot *held) {
    mc_builder *b = e->b;
    mc_reg left = max_s32(b, "left", sub_s32(b, "left_or_less", e->count, held->in_block), I(0));
    mc_reg bits = shl_b32(b, "bits", min_s32(b, "ones", left, I(MC_NIBBLES)), I(2));
    mc_reg below = sub_s32(b, "below", shl_b32(b, "behind", mov_b32(b, "bit", I(1)), bits), I(1));
    return and_b32(b, "word", below, H(0x11111111));
}

/* A word for eight slots, by the lane of the first one (slot4_value_place of row 0). */
static void store_halves(strided_emitter *e, const held_slot *held) {
    mc_builder *b = e->b;
    const int group = e->plan->group, of_eight = slot4_value_place(0, MC_NIBBLES, group) / 2,
              of_register = group > MC_GROUP_SLOTS ? slot4_value_place(0, MC_GROUP_SLOTS, group) / 2 : 0;
    mc_reg number = shr_u32(b, "group", held->slot, I(log2_of(group)));
    mc_reg eight = and_b32(b, "eighth", shr_u32(b, "eights", held->slot, I(log2_of(MC_NIBBLES))),
                           I(MC_GROUP_SLOTS / MC_NIBBLES - 1));
    mc_reg in_group = mul_s32(b, "in_group", eight, I(of_eight));
    if (of_register > 0) {
        mc_reg half = shr_u32(b, "half_group", held->slot, I(log2_of(MC_GROUP_SLOTS)));
        in_group = mad_s32(b, "of_register", and_b32(b, "register", half, I(1)), I(of_register), in_group);
    }
    mc_reg ones = mad_wide(b, "group_ones", number, e->group_bytes, e->values);
    mc_reg at = add_s64(b, "one_at", ones, cvt_s64(b, "one_behind", in_group));
    mc_reg in_eight = and_b32(b, "in_eight_slots", held->slot, I(MC_NIBBLES - 1));
    mc_reg is_first = setp_eq_and(b, "is_first", in_eight, I(0), held->is_there);
    EMIT_IF(b, is_first, stg_b32, AT(at, 0), ones_of(e, held));
}

static void store_slot(strided_emitter *e, const held_slot *held) {
    mc_builder *b = e->b;
    mc_reg index = mad_wide(b, "index_at", index_place(e, held), I(WORD), e->col_idx);
    EMIT_IF(b, held->is_there, stg_b32, AT(index, 0), held->column);
    mc_reg at = mad_wide(b, "vector_at", held->slot, I(WORD), e->vectors);
    EMIT_IF(b, held->is_there, stg_b32, AT(at, 0), held->vector);
    if (e->plan->ones == STRIDED_BYTES) store_byte(e, held);
    if (e->plan->ones == STRIDED_HALVES) store_halves(e, held);
}

static void take_turns(strided_emitter *e) {
    enum { PREFIX = 16 };
    mc_builder *b = e->b;
    held_slot held[STRIDED_MAX_HOLD];
    char prefixes[STRIDED_MAX_HOLD][PREFIX];
    for (int i = 0; i < e->plan->hold; i++) {
        snprintf(prefixes[i], PREFIX, "t%d_", i);
        b->prefix = prefixes[i];
        load_slot(e, i, &held[i]);
    }
    for (int i = 0; i < e->plan->hold; i++) {
        b->prefix = prefixes[i];
        store_slot(e, &held[i]);
    }
    b->prefix = NULL;
    EMIT(b, add_s32, e->slot, e->slot, I((int64_t)e->plan->hold * MC_WARP));
}

void strided_emit(const void *data, mc_builder *b) {
    strided_emitter e = {.b = b, .plan = data};
    mc_label end = label(b, "END");
    heading(b, "The warp's segment");
    begin(&e, end);
    heading(b, "Its slots, 32 in a turn");
    segment_turns turns = segments_begin_turns(b, &e.place, e.all, e.plan->hold);
    take_turns(&e);
    segments_end_turns(b, &turns);
    set_label(b, end);
    EMIT_RET(b);
}
