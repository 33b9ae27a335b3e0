#include "ops/pattern/pattern.h"
#include "parts/made_name.h"
#include "parts/words.h"

/* A lane has a column in each turn, and in it the V elements of a vector. */
typedef struct find_emitter {
    mc_builder *b;
    const pattern_plan *plan;
    segment_place place;
    mc_reg cols, ld;
    mc_reg at;         /* where the first element lies of the lane's column in this turn */
    mc_reg turn, line; /* bytes from a turn's column to the next one's; from row to row, if no constant */
    mc_reg column;     /* in this turn */
    mc_reg half;       /* by which bits an element of 4 bits lies above its byte's lowest; none: no matter */
    mc_reg below, values; /* the range: elements below 0, and all of them */
    mc_reg bits, least; /* what the segment has: a word of bits for each lane, and the first wrong element */
} find_emitter;

typedef struct held_column {
    mc_reg column, is_there;
    mc_reg elements[PATTERN_MAX_HELD];
} held_column;

static bool is_half(const find_emitter *e) { return e->plan->element->bits < 8; }
static int element_bytes(const find_emitter *e) { return is_half(e) ? 1 : e->plan->element->bits / 8; }

/* Of 4 bits, rows that share a byte are loaded at once. */
static bool shares_rows(const find_emitter *e) {
    return is_half(e) && e->plan->by_columns && e->plan->vec > 1;
}
static int load_count(const find_emitter *e) { return shares_rows(e) ? e->plan->vec / 2 : e->plan->vec; }

/* -- Where elements lie ------------------------------------------------------------------------------- */

/* Of a row block's first element in COLUMN, whose line in memory is a row or a column. */
static mc_reg element_at(find_emitter *e, mc_reg row, mc_reg column) {
    mc_builder *b = e->b;
    mc_reg major = e->plan->by_columns ? column : row, minor = e->plan->by_columns ? row : column;
    if (is_half(e)) minor = shr_u32(b, "pair", minor, I(1));
    mc_reg behind = mad_wide(b, "behind", major, e->ld, cvt_s64(b, "in_line", minor));
    if (element_bytes(e) > 1) behind = shl_b64(b, "bytes", behind, I(log2_of(element_bytes(e))));
    return add_s64(b, "first_at", behind, load_array(b, "data"));
}

/* The element's place in its byte: by the parity of what lies beside one another. */
static void find_half(find_emitter *e, mc_reg row, mc_reg column) {
    mc_builder *b = e->b;
    if (!is_half(e) || shares_rows(e)) return;
    mc_reg odd = and_b32(b, "is_odd", e->plan->by_columns ? row : column, I(1));
    e->half = shl_b32(b, "half", odd, I(2));
}

static void set_steps(find_emitter *e) {
    mc_builder *b = e->b;
    int bytes = element_bytes(e), turn_bytes = MC_WARP * e->plan->element->bits / 8;
    mc_reg line = mul_wide(b, "line_bytes", e->ld, I(bytes));
    if (e->plan->by_columns) e->turn = shl_b64(b, "turn_bytes", line, I(log2_of(MC_WARP)));
    else e->turn = mov_b64(b, "turn_bytes", I(turn_bytes)), e->line = line;
}

static void begin(find_emitter *e, mc_label end) {
    mc_builder *b = e->b;
    e->place = segments_begin(b, end);
    e->cols = load_shape(b, "cols", true);
    e->ld = load_shape(b, "ld", true);
    if (is_half(e)) e->ld = shr_u32(b, "ld_pairs", e->ld, I(1));
    mc_reg row = mul_s32(b, "first_row", e->place.row, I(e->plan->vec));
    e->column = carried(b, "column", add_s32(b, "first_column", e->place.first, e->place.lane));
    mc_reg first = element_at(e, row, e->column);
    e->at = carried_b64(b, "at", first);
    find_half(e, row, e->column);
    set_steps(e);
    e->below = load_shape(b, "below", e->plan->ranged);
    e->values = load_shape(b, "values", e->plan->ranged);
    e->bits = carried(b, "own_bits", I(0));
    e->least = carried(b, "least", I(PATTERN_NONE));
}

/* -- A turn ------------------------------------------------------------------------------------------- */

static void load_column(find_emitter *e, int index, held_column *held) {
    mc_builder *b = e->b;
    held->column = add_s32(b, "its_column", e->column, I((int64_t)index * MC_WARP));
    held->is_there = setp_lt(b, "is_there", held->column, e->cols);
    mc_reg at = index ? mad_s64(b, "its_at", e->turn, I(index), e->at) : e->at, lines[MC_WARP];
    b32_array(b, "element", load_count(e), held->elements);
    if (!e->plan->by_columns && e->plan->vec > 1) b64_array(b, "line_at", e->plan->vec - 1, lines);
    for (int i = 0; i < load_count(e); i++) {
        int64_t offset = e->plan->by_columns ? (int64_t)i * element_bytes(e) : 0;
        if (i > 0 && !e->plan->by_columns) {
            EMIT(b, add_s64, lines[i - 1], at, e->line);
            at = lines[i - 1];
        }
        EMIT(b, mov_b32, held->elements[i], I(0));
        emit_load_words(b, held->is_there, WORDS_GLOBAL, element_bytes(e), &held->elements[i],
                        AT(at, offset));
    }
}

/* Whether one of the column's elements is not 0. */
static mc_reg has_value(find_emitter *e, const held_column *held) {
    mc_builder *b = e->b;
    uint32_t counted = shares_rows(e) ? UINT8_MAX : e->plan->element->counted;
    mc_reg all = carried(b, "all", held->elements[0]);
    for (int i = 1; i < load_count(e); i++) EMIT(b, or_b32, all, all, held->elements[i]);
    if (e->half.id) EMIT(b, shr_u32, all, all, e->half);
    return setp_ne(b, "has_value", and_b32(b, "counted", all, H(counted)), I(0));
}

/* The lane of the turn's number keeps the turn's bits. */
static void keep_bits(find_emitter *e, const segment_turns *turns, int index, mc_reg is_set) {
    mc_builder *b = e->b;
    mc_reg word = vote_ballot(b, "word", is_set, H(segment_lanes));
    mc_reg turn = add_s32(b, "its_turn", turns->turn, I(index));
    mc_reg is_mine = setp_eq(b, "is_mine", e->place.lane, turn);
    EMIT(b, selp_b32, e->bits, word, e->bits, is_mine);
}

/* Of the elements that there are, counted from the least one on: in as many bits as they have. */
static void check_range(find_emitter *e, const held_column *held) {
    mc_builder *b = e->b;
    mc_reg in_segment = sub_s32(b, "in_segment", held->column, e->place.first);
    mc_reg value = b32(b, "value"), key = b32(b, "key"), is_wrong = pred(b, "is_wrong");
    for (int i = 0; i < e->plan->vec; i++) {
        EMIT(b, add_s32, value, held->elements[i], e->below);
        EMIT(b, and_b32, value, value, H(e->plan->element->counted));
        EMIT(b, selp_b32, value, value, I(0), held->is_there);
        EMIT(b, setp_ge_u32, is_wrong, value, e->values);
        EMIT(b, add_s32, key, in_segment, I((int64_t)i * MC_SEGMENT));
        EMIT_IF(b, is_wrong, min_s32, e->least, e->least, key);
    }
}

static void take_turns(find_emitter *e, const segment_turns *turns) {
    const pattern_plan *plan = e->plan;
    mc_builder *b = e->b;
    held_column held[PATTERN_MAX_HELD];
    note(b, "elements of the lane's columns, all asked for before any is used");
    for (int i = 0; i < plan->hold; i++) {
        made_name prefix = name_with(name_nth("t", i).text, "_");
        b->prefix = prefix.text;
        load_column(e, i, &held[i]);
        b->prefix = NULL;
    }
    note(b, "a bit for each");
    for (int i = 0; i < plan->hold; i++) {
        made_name prefix = name_with(name_nth("t", i).text, "_");
        b->prefix = prefix.text;
        keep_bits(e, turns, i, has_value(e, &held[i]));
        if (plan->ranged) check_range(e, &held[i]);
        b->prefix = NULL;
    }
    EMIT(b, mad_s64, e->at, e->turn, I(plan->hold), e->at);
    EMIT(b, add_s32, e->column, e->column, I((int64_t)plan->hold * MC_WARP));
}

static void store(find_emitter *e) {
    mc_builder *b = e->b;
    EMIT(b, stg_b32, AT(segments_word_at(b, &e->place, load_array(b, "bits")), 0), e->bits);
    mc_reg count = redux_add_s32(b, "count", popc_b32(b, "of_lane", e->bits), H(segment_lanes));
    mc_reg is_first = setp_eq(b, "is_first", e->place.lane, I(0));
    mc_reg at = mad_wide(b, "count_at", e->place.item, I(WORD), load_array(b, "counts"));
    EMIT_IF(b, is_first, stg_b32, AT(at, 0), count);
    if (!e->plan->ranged) return;
    mc_reg least = redux_min_s32(b, "first_wrong", e->least, H(segment_lanes));
    at = mad_wide(b, "wrong_at", e->place.item, I(WORD), load_array(b, "wrong"));
    EMIT_IF(b, is_first, stg_b32, AT(at, 0), least);
}

void pattern_emit_find(const pattern_plan *plan, mc_builder *b) {
    find_emitter e = {.b = b, .plan = plan};
    mc_label end = label(b, "END");
    heading(b, "The warp's segment");
    begin(&e, end);
    heading(b, "Its columns, 32 in a turn");
    segment_turns turns = segments_begin_turns(b, &e.place, e.cols, plan->hold);
    take_turns(&e, &turns);
    segments_end_turns(b, &turns);
    heading(b, "What there is");
    store(&e);
    set_label(b, end);
    EMIT_RET(b);
}
