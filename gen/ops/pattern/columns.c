#include "ops/pattern/pattern.h"
#include <stdio.h>

typedef struct columns_emitter {
    mc_builder *b;
    segment_place place;
    mc_reg cols, out;
    mc_reg before;       /* a word before the source: where there is the column before vector 0's */
    mc_reg begin, count; /* the row block's first vector, and how many it has */
    mc_reg shift;        /* where its pattern's columns begin */
    mc_reg vector;       /* the lane's in this turn, counted in the row block */
    mc_reg least;        /* the first wrong one */
} columns_emitter;

typedef struct held_vector {
    mc_reg is_there, number, column, before;
} held_vector;

static void begin(columns_emitter *e, mc_label end) {
    mc_builder *b = e->b;
    e->place = segments_begin(b, end);
    mc_reg at = mad_wide(b, "offset_at", e->place.row, I(WORD), load_array(b, "offsets"));
    e->begin = ldg_b32(b, "begin", AT(at, 0));
    e->count = sub_s32(b, "count", ldg_b32(b, "end", AT(at, WORD)), e->begin);
    e->cols = load_shape(b, "cols", true);
    mc_reg pattern = div_u32(b, "pattern", e->place.row, load_shape(b, "each", true));
    e->shift = mul_s32(b, "shift", pattern, e->cols);
    e->before = add_s64(b, "before", load_array(b, "source"), I(-WORD));
    e->out = load_array(b, "columns");
    e->vector = carried(b, "vector", add_s32(b, "first_vector", e->place.first, e->place.lane));
    e->least = carried(b, "least", I(PATTERN_NONE));
}

/* Its column, and that of the vector before it; in front of a row block's first one is column -1. */
static void load_vector(columns_emitter *e, int index, held_vector *held) {
    mc_builder *b = e->b;
    mc_reg in_block = add_s32(b, "in_block", e->vector, I((int64_t)index * MC_WARP));
    held->is_there = setp_lt(b, "is_there", in_block, e->count);
    held->number = add_s32(b, "number", in_block, e->begin);
    mc_reg at = mad_wide(b, "at", held->number, I(WORD), e->before);
    held->column = carried(b, "its_column", I(0));
    held->before = carried(b, "column_before", I(-1));
    EMIT_IF(b, held->is_there, ldg_b32, held->column, AT(at, WORD));
    mc_reg is_next = setp_lt_and(b, "is_next", I(0), in_block, held->is_there);
    EMIT_IF(b, is_next, ldg_b32, held->before, AT(at, 0));
}

static void take_vector(columns_emitter *e, const held_vector *held) {
    mc_builder *b = e->b;
    mc_reg ascends = setp_lt(b, "ascends", held->before, held->column);
    mc_reg is_right = setp_lt_and(b, "is_right", held->column, e->cols, ascends);
    mc_reg key = selp_b32(b, "key", I(PATTERN_NONE), held->number, is_right);
    EMIT_IF(b, held->is_there, min_s32, e->least, e->least, key);
    mc_reg column = add_s32(b, "of_whole", held->column, e->shift);
    mc_reg at = mad_wide(b, "out_at", held->number, I(WORD), e->out);
    EMIT_IF(b, held->is_there, stg_b32, AT(at, 0), column);
}

static void take_turns(columns_emitter *e, int hold) {
    enum { PREFIX = 16 };
    mc_builder *b = e->b;
    held_vector held[PATTERN_MAX_HELD];
    char prefixes[PATTERN_MAX_HELD][PREFIX];
    for (int i = 0; i < hold; i++) {
        snprintf(prefixes[i], PREFIX, "t%d_", i);
        b->prefix = prefixes[i];
        load_vector(e, i, &held[i]);
    }
    for (int i = 0; i < hold; i++) {
        b->prefix = prefixes[i];
        take_vector(e, &held[i]);
    }
    b->prefix = NULL;
    EMIT(b, add_s32, e->vector, e->vector, I((int64_t)hold * MC_WARP));
}

void pattern_emit_columns(const pattern_plan *plan, mc_builder *b) {
    columns_emitter e = {.b = b};
    mc_label end = label(b, "END");
    heading(b, "The warp's segment");
    begin(&e, end);
    heading(b, "Its vectors, 32 in a turn");
    segment_turns turns = segments_begin_turns(b, &e.place, e.count, plan->hold);
    take_turns(&e, plan->hold);
    segments_end_turns(b, &turns);
    heading(b, "The first wrong one");
    mc_reg least = redux_min_s32(b, "first_wrong", e.least, H(segment_lanes));
    mc_reg at = mad_wide(b, "wrong_at", e.place.item, I(WORD), load_array(b, "wrong"));
    EMIT_IF(b, setp_eq(b, "is_first", e.place.lane, I(0)), stg_b32, AT(at, 0), least);
    set_label(b, end);
    EMIT_RET(b);
}
