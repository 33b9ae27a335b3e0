#include "ops/pack_panels/pack_panels.h"
#include "parts/search.h"

/* A thread has a nonzero. Among the nonzeros of its panel, ordered by column and, in a column, by row, its
   place is how many of each row come before it: those of smaller columns, in rows above also one of the same
   column. If there is none of these it is the leader of its column. */
typedef struct rank_emitter {
    mc_builder *b;
    mc_reg offsets, columns;
    mc_reg before; /* a word before the columns */
    mc_reg rows;
    mc_reg element, row, column; /* the nonzero's */
    mc_reg is_leader;            /* 1 or 0 */
    mc_reg place;
} rank_emitter;

static mc_reg offset_of(rank_emitter *e, const char *name, mc_reg row) {
    mc_builder *b = e->b;
    mc_reg there = min_s32(b, name_with(name, "_row").text, row, e->rows);
    return ldg_b32(b, name, AT(panels_at(b, name_with(name, "_at").text, e->offsets, there, WORD), 0));
}

static mc_reg find_element(rank_emitter *e, mc_label end) {
    mc_builder *b = e->b;
    mc_reg thread = load_special(b, "thread", "tid.x");
    mc_reg element = mad_s32(b, "element", load_special(b, "block", "ctaid.x"), I(PANELS_THREADS), thread);
    EMIT_IF(b, setp_ge(b, "is_behind", element, load_shape(b, "nonzeros", true)), bra, TO(end));
    return element;
}

/* LOW is moved over the columns below LIMIT, of COUNT that ascend from there on. A turn looks at the last one
   of the first half. If it is below, so is the whole half, which is passed; else the answer lies in it, and
   all columns behind it are not below either, so that as many may be looked at as the other half has. */
static void search_row(rank_emitter *e, mc_reg low, mc_reg count, mc_reg limit) {
    mc_builder *b = e->b;
    mc_label loop = label(b, "HALVE_ROW"), found = label(b, "FOUND_IN_ROW");
    mc_reg more = pred(b, "more_columns");
    EMIT_IF(b, setp_lt(b, "no_columns", count, I(1)), bra, TO(found));
    set_label(b, loop);
    mc_reg half = shr_u32(b, "half", add_s32(b, "count_up", count, I(1)), I(1));
    mc_reg behind = add_s32(b, "behind_half", low, half);
    mc_reg other = ldg_b32(b, "other", AT(panels_at(b, "other_at", e->before, behind, WORD), 0));
    EMIT_IF(b, setp_lt(b, "is_before", other, limit), mov_b32, low, behind);
    EMIT(b, sub_s32, count, count, half);
    EMIT(b, setp_gt, more, count, I(0));
    EMIT_IF(b, more, bra, TO(loop));
    set_label(b, found);
}

/* The nonzero is behind LOW - BEGIN of the row's, which is above its own if that is so. */
static void take_row(rank_emitter *e, mc_reg begin, mc_reg low, mc_reg is_above) {
    mc_builder *b = e->b;
    mc_reg before = sub_s32(b, "before", low, begin), last = carried(b, "last", I(-1));
    EMIT(b, add_s32, e->place, e->place, before);
    mc_reg may_be = setp_lt_and(b, "may_be", I(0), before, is_above);
    EMIT_IF(b, may_be, ldg_b32, last, AT(panels_at(b, "last_at", e->before, low, WORD), 0));
    EMIT_IF(b, setp_eq(b, "is_same", last, e->column), mov_b32, e->is_leader, I(0));
}

static void take_rows(rank_emitter *e, mc_reg first_row, int rows) {
    mc_builder *b = e->b;
    mc_label loop = label(b, "ROWS");
    mc_reg row = carried(b, "other_row", first_row), begin = carried(b, "row_begin", e->place);
    mc_reg behind = add_s32(b, "behind_panel", first_row, I(rows)), low = b32(b, "low_place"),
           count = b32(b, "columns_left"), more = pred(b, "more_rows");
    set_label(b, loop);
    mc_reg next = add_s32(b, "next_row", row, I(1));
    mc_reg end = offset_of(e, "row_end", next);
    mc_reg is_above = setp_lt(b, "is_above", row, e->row);
    mc_reg is_own = setp_eq(b, "is_own", row, e->row);
    mc_reg limit = add_s32(b, "limit", e->column, selp_b32(b, "same_too", I(1), I(0), is_above));
    note(b, "nothing is to be searched in its own row");
    EMIT(b, selp_b32, low, e->element, begin, is_own);
    EMIT(b, selp_b32, count, I(0), sub_s32(b, "row_columns", end, begin), is_own);
    search_row(e, low, count, limit);
    take_row(e, begin, low, is_above);
    EMIT(b, mov_b32, begin, end);
    EMIT(b, mov_b32, row, next);
    EMIT(b, setp_lt, more, row, behind);
    EMIT_IF(b, more, bra, TO(loop));
}

void panels_emit_rank(const pack_panels_plan *plan, mc_builder *b) {
    rank_emitter e = {.b = b};
    mc_label end = label(b, "END");
    heading(b, "The thread's nonzero");
    e.element = find_element(&e, end);
    e.offsets = load_array(b, "offsets");
    e.columns = load_array(b, "columns");
    e.before = add_s64(b, "word_before", e.columns, I(-WORD));
    e.column = ldg_b32(b, "column", AT(panels_at(b, "column_at", e.columns, e.element, WORD), 0));
    e.row = search_last(b, e.offsets, WORD, "rows", e.element);
    b->prefix = "all_";
    e.rows = load_shape(b, "rows", true);
    b->prefix = NULL;
    mc_reg first_row = and_b32(b, "first_row", e.row, I(-(int64_t)plan->panel));
    e.place = carried(b, "place", offset_of(&e, "panel_begin", first_row));
    e.is_leader = carried(b, "is_leader", I(1));
    heading(b, "Rows of its panel, one after another");
    take_rows(&e, first_row, plan->panel);
    heading(b, "Its place");
    mc_reg leader = shl_b32(b, "leader", e.is_leader, I(LEADER_SHIFT));
    mc_reg sorted = or_b32(b, "sorted_column", e.column, leader);
    EMIT(b, stg_b32, AT(panels_at(b, "sorted_at", load_array(b, "sorted"), e.place, WORD), 0), sorted);
    EMIT(b, stg_b32, AT(panels_at(b, "element_at", load_array(b, "elements"), e.place, WORD), 0), e.element);
    set_label(b, end);
    EMIT_RET(b);
}
