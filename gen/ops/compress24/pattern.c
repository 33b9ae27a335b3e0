/* Metadata of packed24, and the nonzero that each place holds, out of the columns of nonzeros. A thread
   looks for the first nonzero of each of its pieces, and then takes group by group. */
#include "ops/compress24/compress24.h"

enum { GROUP = 4, KEPT = 2, MOST_KEPT = 4, CODE_BITS = 4, WORD_BITS = 32 };

/* Of a group: columns, and elements that are kept. Of pairs both are twice as many. */
static int group_columns(const compress24_plan *plan) { return has_pairs(plan) ? 2 * GROUP : GROUP; }
static int group_kept(const compress24_plan *plan) { return has_pairs(plan) ? 2 * KEPT : KEPT; }

typedef struct pattern_emitter {
    const compress24_plan *plan;
    mc_builder *b;
    compress24_place place;
    mc_reg columns;
    mc_reg begin[2], end[2]; /* nonzeros of each row */
    mc_reg slots[2];         /* where those of the thread's first piece lie */
    mc_reg full;             /* groups with more nonzeros, or pairs of them, than two */
} pattern_emitter;

/* -- Rows ------------------------------------------------------------------------------------------------ */

static void find_row(pattern_emitter *e, int row) {
    mc_builder *b = e->b;
    made_name prefix = name_with(name_nth("r", row).text, "_");
    const int kept = elements_in(e->plan, PACKED24_ROW_BYTES), of_piece = elements_in(e->plan, PIECE_VALUES);
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

/* -- The next nonzeros ----------------------------------------------------------------------------------- */

/* The next nonzeros of the row, from NUMBER on, and whether they are in the group that ends before END. */
typedef struct next_nonzeros {
    mc_reg column[MOST_KEPT + 1], is_in[MOST_KEPT + 1];
} next_nonzeros;

static next_nonzeros look_ahead(pattern_emitter *e, mc_reg number, mc_reg row_end, mc_reg end) {
    mc_builder *b = e->b;
    next_nonzeros next = {{{0}}, {{0}}};
    mc_reg at = mad_wide(b, "next_at", number, I(WORD), e->columns);
    for (int i = 0; i <= group_kept(e->plan); i++) {
        mc_reg its = i > 0 ? add_s32(b, name_nth("number", i).text, number, I(i)) : number;
        mc_reg is_there = setp_lt(b, name_nth("is_there", i).text, its, row_end);
        next.column[i] = carried(b, name_nth("next", i).text, I(-1));
        EMIT_IF(b, is_there, ldg_b32, next.column[i], AT(at, (int64_t)i * WORD));
        next.is_in[i] = setp_lt_u32(b, name_nth("is_in", i).text, next.column[i], end);
    }
    return next;
}

/* -- A group of elements --------------------------------------------------------------------------------- */

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

/* Returns the code, and moves NUMBER behind the group. */
static mc_reg take_elements(pattern_emitter *e, const next_nonzeros *next, mc_reg first, mc_reg number,
                            mc_reg at) {
    mc_builder *b = e->b;
    mc_reg code = code_of(e, next, first);
    store_slots(e, next, first, number, at);
    for (int i = 0; i < KEPT; i++) EMIT_IF(b, next->is_in[i], add_s32, number, number, I(1));
    EMIT_IF(b, next->is_in[KEPT], add_s32, e->full, e->full, I(1));
    return code;
}

/* -- A group of pairs ------------------------------------------------------------------------------------ */

/* The code of a group whose pairs with nonzeros are the bits of THERE; of more than two pairs any. */
static uint32_t code_of_pairs(unsigned there) {
    int kept[GROUP] = {0}, count = 0, zeros = KEPT;
    for (int i = 0; i < GROUP; i++) zeros -= (int)(there >> i & 1);
    for (int i = 0; i < GROUP; i++)
        if ((there >> i & 1) || zeros-- > 0) kept[count++] = i;
    return (uint32_t)(kept[0] | kept[1] << 2);
}

/* The codes of so many sets of pairs, from FIRST on. */
static uint32_t codes_from(unsigned first) {
    uint32_t codes = 0;
    for (unsigned i = 0; i < WORD_BITS / CODE_BITS; i++) codes |= code_of_pairs(first + i) << (i * CODE_BITS);
    return codes;
}

/* Which columns of the group have nonzeros, a bit for each. More than five are not looked at: the group is
   too full then. */
static mc_reg columns_there(pattern_emitter *e, const next_nonzeros *next, mc_reg first) {
    mc_builder *b = e->b;
    mc_reg one = mov_b32(b, "one", I(1)), there = carried(b, "there", I(0));
    for (int i = 0; i <= group_kept(e->plan); i++) {
        mc_reg in_group = sub_s32(b, name_nth("in_group", i).text, next->column[i], first);
        mc_reg bit = shl_b32(b, name_nth("bit", i).text, one, in_group);
        EMIT_IF(b, next->is_in[i], or_b32, there, there, bit);
    }
    return there;
}

/* A code is looked up: by the first three pairs in one of two words, which the last pair chooses. */
static mc_reg look_up_code(mc_builder *b, mc_reg pairs) {
    enum { TWO_EACH = 0x33, FIRST_THREE = 7, LAST_PAIR = 0x40, CODE = 15 };
    mc_reg joined = or_b32(b, "pairs_joined", pairs, shr_u32(b, "pairs_down", pairs, I(1)));
    mc_reg twos = and_b32(b, "twos", joined, I(TWO_EACH));
    mc_reg set = or_b32(b, "set", twos, shr_u32(b, "twos_down", twos, I(2)));
    mc_reg shift = shl_b32(b, "code_shift", and_b32(b, "first_three", set, I(FIRST_THREE)), I(2));
    mc_reg has_last = setp_ne(b, "has_last", and_b32(b, "last_pair", pairs, I(LAST_PAIR)), I(0));
    mc_reg table = selp_b32(b, "table", H(codes_from(FIRST_THREE + 1)), H(codes_from(0)), has_last);
    return and_b32(b, "code", shr_u32(b, "code_down", table, shift), I(CODE));
}

/* The nonzero of the column with BIT: as many behind NUMBER as columns before it have one. */
static mc_reg slot_of(mc_builder *b, mc_reg there, mc_reg bit, mc_reg number) {
    mc_reg before = and_b32(b, "before", there, sub_s32(b, "below", bit, I(1)));
    mc_reg its = add_s32(b, "its", number, popc_b32(b, "behind", before));
    mc_reg has_it = setp_ne(b, "has_it", and_b32(b, "its_bit", there, bit), I(0));
    return selp_b32(b, "slot", its, I(-1), has_it);
}

static void store_pairs(mc_builder *b, mc_reg code, mc_reg there, mc_reg number, mc_reg at) {
    enum { INDEX_BITS = 2, INDEX = 3 };
    const char *outer = b->prefix;
    mc_reg first = mov_b32(b, "first_bit", I(1)), second = mov_b32(b, "second_bit", I(2)), slots[MOST_KEPT];
    const mc_reg column[KEPT] = {shl_b32(b, "column0", and_b32(b, "index0", code, I(INDEX)), I(1)),
                                 shl_b32(b, "column1", shr_u32(b, "index1", code, I(INDEX_BITS)), I(1))};
    for (int i = 0; i < MOST_KEPT; i++) {
        made_name prefix = name_with(name_with(outer, name_nth("k", i).text).text, "_");
        b->prefix = prefix.text;
        mc_reg bit = shl_b32(b, "bit", i % 2 == 0 ? first : second, column[i / 2]);
        slots[i] = slot_of(b, there, bit, number);
        b->prefix = outer;
    }
    EMIT(b, stg_v4, AT(at, 0), V4(slots));
}

/* As `take_elements`. */
static mc_reg take_pairs(pattern_emitter *e, const next_nonzeros *next, mc_reg first, mc_reg number,
                         mc_reg at) {
    enum { FIRSTS = 0x55 };
    mc_builder *b = e->b;
    mc_reg there = columns_there(e, next, first);
    mc_reg either = or_b32(b, "either", there, shr_u32(b, "seconds", there, I(1)));
    mc_reg pairs = and_b32(b, "pairs", either, I(FIRSTS)), code = look_up_code(b, pairs);
    mc_reg is_full = setp_gt(b, "is_full", popc_b32(b, "pair_count", pairs), I(KEPT));
    store_pairs(b, code, there, number, at);
    EMIT(b, add_s32, number, number, popc_b32(b, "count", there));
    EMIT_IF(b, is_full, add_s32, e->full, e->full, I(1));
    return code;
}

/* -- A piece --------------------------------------------------------------------------------------------- */

static void take_group(pattern_emitter *e, int row, mc_reg first, mc_reg number, mc_reg at, mc_reg codes) {
    mc_builder *b = e->b;
    mc_reg end = add_s32(b, "group_end", first, I(group_columns(e->plan)));
    const next_nonzeros next = look_ahead(e, number, e->end[row], end);
    mc_reg code = has_pairs(e->plan) ? take_pairs(e, &next, first, number, at)
                                     : take_elements(e, &next, first, number, at);
    mc_reg top = shl_b32(b, "top", code, I(WORD_BITS - CODE_BITS));
    EMIT(b, or_b32, codes, shr_u32(b, "codes_down", codes, I(CODE_BITS)), top);
}

/* Returns its metadata, in the low bits. Codes come in from above, and push a 1 out in front of the last
   group. ptxas would unroll a loop that counts, and keep too much in registers. */
static mc_reg take_piece(pattern_emitter *e, int index) {
    mc_builder *b = e->b;
    made_name prefix = piece_prefix(index);
    const int row = piece_row(e->plan, index), step = piece_step(e->plan, index),
              groups = piece_groups(e->plan);
    const int of_piece = elements_in(e->plan, PIECE_VALUES);
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
    EMIT(b, add_s32, first, first, I(group_columns(e->plan)));
    EMIT(b, add_s64, at, at, I((int64_t)group_kept(e->plan) * WORD));
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
