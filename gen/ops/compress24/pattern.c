/* Metadata of packed24, and the nonzero that each place holds, out of the columns of nonzeros. A thread
   looks for the first nonzero of each of its pieces, and then takes group by group. */
#include "ops/compress24/compress24.h"

enum { GROUP = 4, KEPT = 2, CODE_BITS = 4, WORD_BITS = 32 };

typedef struct pattern_emitter {
    const compress24_plan *plan;
    mc_builder *b;
    compress24_place place;
    mc_reg columns;
    mc_reg begin[2], end[2]; /* nonzeros of each row */
    mc_reg slots[2];         /* where those of the thread's first piece lie */
    mc_reg full;             /* groups with more than two nonzeros */
} pattern_emitter;

/* -- Rows ------------------------------------------------------------------------------------------------ */

static void find_row(pattern_emitter *e, int row) {
    mc_builder *b = e->b;
    made_name prefix = name_with(name_nth("r", row).text, "_");
    const int kept = PACKED24_ROW_BYTES / e->plan->element.bytes,
              of_piece = PIECE_VALUES / e->plan->element.bytes;
    b->prefix = prefix.text;
    mc_reg at = mad_wide(b, "offset_at", e->place.row[row], I(WORD), load_array(b, "offsets"));
    e->begin[row] = carried(b, "begin", I(0));
    e->end[row] = carried(b, "end", I(0));
    EMIT_IF(b, e->place.is_row[row], ldg_b32, e->begin[row], AT(at, 0));
    EMIT_IF(b, e->place.is_row[row], ldg_b32, e->end[row], AT(at, WORD));
    mc_reg in_atom = and_b32(b, "in_atom", e->place.row[row], I(PACKED24_ROWS - 1));
    mc_reg line = mad_s32(b, "line", e->place.item, I(PACKED24_ROWS), in_atom);
    mc_reg slots = mad_wide(b, "line_slots", line, I((int64_t)kept * WORD), load_array(b, "vectors"));
    e->slots[row] = mad_wide(b, "slots", e->place.in_slab, I((int64_t)of_piece * WORD), slots);
    b->prefix = NULL;
}

/* The first nonzero of the row whose column is not less than FIRST. Columns are compared without signs:
   those of pieces behind the last one may be beyond 2^31. */
static mc_reg find_nonzero(pattern_emitter *e, int row, mc_reg first) {
    mc_builder *b = e->b;
    mc_label loop = label(b, "HALVE"), found = label(b, "FOUND");
    mc_reg low = carried(b, "low", e->begin[row]), high = carried(b, "high", e->end[row]);
    mc_reg is_one = pred(b, "is_one");
    set_label(b, loop);
    EMIT(b, setp_ge, is_one, low, high);
    EMIT_IF(b, is_one, bra, TO(found));
    mc_reg middle = shr_u32(b, "middle", add_s32(b, "sum", low, high), I(1));
    mc_reg column = ldg_b32(b, "column", AT(mad_wide(b, "column_at", middle, I(WORD), e->columns), 0));
    mc_reg is_less = setp_lt_u32(b, "is_less", column, first);
    EMIT(b, selp_b32, low, add_s32(b, "behind", middle, I(1)), low, is_less);
    EMIT(b, selp_b32, high, high, middle, is_less);
    EMIT(b, bra, TO(loop));
    set_label(b, found);
    return low;
}

/* -- A group --------------------------------------------------------------------------------------------- */

/* The next nonzeros of the row, from NUMBER on, and whether they are in the group that ends before END. */
typedef struct next_nonzeros {
    mc_reg column[KEPT + 1], is_in[KEPT + 1];
} next_nonzeros;

static next_nonzeros look_ahead(pattern_emitter *e, mc_reg number, mc_reg row_end, mc_reg end) {
    mc_builder *b = e->b;
    next_nonzeros next;
    mc_reg at = mad_wide(b, "next_at", number, I(WORD), e->columns);
    for (int i = 0; i <= KEPT; i++) {
        mc_reg its = i > 0 ? add_s32(b, name_nth("number", i).text, number, I(i)) : number;
        mc_reg is_there = setp_lt(b, name_nth("is_there", i).text, its, row_end);
        next.column[i] = carried(b, name_nth("next", i).text, I(-1));
        EMIT_IF(b, is_there, ldg_b32, next.column[i], AT(at, (int64_t)i * WORD));
        next.is_in[i] = setp_lt_u32(b, name_nth("is_in", i).text, next.column[i], end);
    }
    return next;
}

/* The code of two members: where there are fewer nonzeros zeros beside them, the earliest ones. */
static mc_reg code_of(pattern_emitter *e, const next_nonzeros *next, mc_reg first) {
    mc_builder *b = e->b;
    mc_reg one = sub_s32(b, "one", next->column[0], first), two = sub_s32(b, "two", next->column[1], first);
    mc_reg alone = max_s32(b, "alone", selp_b32(b, "one_or_0", one, I(0), next->is_in[0]), I(1));
    mc_reg index1 = selp_b32(b, "index1", two, alone, next->is_in[1]);
    mc_reg index0 = selp_b32(b, "index0", one, I(0), next->is_in[1]);
    return mad_s32(b, "code", index1, I(GROUP), index0);
}

/* A nonzero that is alone is the second one that is kept, unless it is the group's first member. */
static void store_slots(pattern_emitter *e, const next_nonzeros *next, mc_reg first, mc_reg number,
                        mc_reg at) {
    mc_builder *b = e->b;
    mc_reg is_first = setp_eq(b, "is_first_member", next->column[0], first);
    mc_reg alone = selp_b32(b, "if_any", number, I(-1), next->is_in[0]);
    mc_reg alone0 = selp_b32(b, "alone0", number, I(-1), is_first);
    mc_reg alone1 = selp_b32(b, "alone1", I(-1), alone, is_first);
    mc_reg behind = add_s32(b, "number_behind", number, I(1));
    const mc_reg both[] = {selp_b32(b, "slot0", number, alone0, next->is_in[1]),
                           selp_b32(b, "slot1", behind, alone1, next->is_in[1])};
    EMIT(b, stg_v2, AT(at, 0), V2(both));
}

/* -- A piece --------------------------------------------------------------------------------------------- */

static void take_group(pattern_emitter *e, int row, mc_reg first, mc_reg number, mc_reg at, mc_reg codes) {
    mc_builder *b = e->b;
    mc_reg end = add_s32(b, "group_end", first, I(GROUP));
    const next_nonzeros next = look_ahead(e, number, e->end[row], end);
    mc_reg code = code_of(e, &next, first);
    store_slots(e, &next, first, number, at);
    mc_reg top = shl_b32(b, "top", code, I(WORD_BITS - CODE_BITS));
    EMIT(b, or_b32, codes, shr_u32(b, "codes_down", codes, I(CODE_BITS)), top);
    for (int i = 0; i < KEPT; i++) EMIT_IF(b, next.is_in[i], add_s32, number, number, I(1));
    EMIT_IF(b, next.is_in[KEPT], add_s32, e->full, e->full, I(1));
}

/* Returns its metadata, in the low bits. Codes come in from above, and push a 1 out in front of the last
   group. ptxas would unroll a loop that counts, and keep too much in registers. */
static mc_reg take_piece(pattern_emitter *e, int index) {
    mc_builder *b = e->b;
    made_name prefix = piece_prefix(index);
    const int row = piece_row(e->plan, index), step = piece_step(e->plan, index),
              groups = piece_groups(e->plan);
    const int of_piece = PIECE_VALUES / e->plan->element.bytes;
    b->prefix = prefix.text;
    mc_label loop = label(b, "GROUPS");
    mc_reg piece = add_s32(b, "piece", e->place.piece, I(step)), more = pred(b, "more");
    mc_reg first = carried(b, "first", mul_s32(b, "first_column", piece, I(piece_elements(e->plan))));
    mc_reg number = find_nonzero(e, row, first);
    mc_reg at = carried_b64(b, "slot_at", e->slots[row]);
    mc_reg codes = carried(b, "codes", I((int64_t)1 << (groups - 1) * CODE_BITS));
    EMIT(b, add_s64, at, at, I((int64_t)step * of_piece * WORD));
    set_label(b, loop);
    EMIT(b, setp_eq, more, and_b32(b, "below", codes, I(1)), I(0));
    take_group(e, row, first, number, at, codes);
    EMIT(b, add_s32, first, first, I(GROUP));
    EMIT(b, add_s64, at, at, I(KEPT * WORD));
    EMIT_IF(b, more, bra, TO(loop));
    mc_reg metadata = groups * CODE_BITS < WORD_BITS
                          ? shr_u32(b, "metadata", codes, I(WORD_BITS - groups * CODE_BITS))
                          : codes;
    b->prefix = NULL;
    return metadata;
}

void compress24_emit_pattern(const void *data, mc_builder *b) {
    pattern_emitter e = {.plan = data, .b = b};
    mc_label end = label(b, "END");
    mc_reg metadata[THREAD_PIECES];
    heading(b, "The thread's pieces");
    e.place = compress24_find_place(e.plan, b);
    e.columns = load_array(b, "columns");
    for (int row = 0; row < (has_two_rows(e.plan) ? 2 : 1); row++) find_row(&e, row);
    e.full = carried(b, "full", I(0));
    heading(b, "Their nonzeros, group by group");
    for (int i = 0; i < THREAD_PIECES; i++) metadata[i] = take_piece(&e, i);
    const compress24_stores stores = {.meta = {find_packed_meta(e.plan, b, &e.place)}};
    store_metadata(e.plan, b, &stores, metadata);
    heading(b, "Groups that are too full");
    (void)emit_count(b, &e.place, e.full, end);
    set_label(b, end);
    EMIT_RET(b);
}
