/* The kernel. On the wide path a thread makes a vector of C in each of `hold` rows; all that it wants of
   them is asked for before any of it is stored. A vector that X ends in, and all of them where rows do not
   begin at such addresses, are made on the edge path, an element at a time. */
#include "ops/slide24/slide24.h"
#include "parts/made_name.h"
#include "parts/words.h"

enum { MAX_GROUPS = 4 /* of a vector */, MAX_HOLD = 8, WORDS = SLIDE24_VECTOR / WORD };

typedef struct slide24_emitter {
    mc_builder *b;
    const slide24_plan *plan;
    mc_reg x, c, lda_bytes, ldc_bytes;
    mc_operand m, n;
    mc_reg row0;               /* the thread block's first row */
    mc_reg group;              /* the vector's first group, of the row's */
    mc_reg source[MAX_GROUPS]; /* the element of X that each group begins with */
    mc_label end;
} slide24_emitter;

static mc_reg bytes_of(slide24_emitter *e, const char *name, const char *reg, int64_t fixed) {
    if (fixed != MC_OPEN) return mov_b64(e->b, reg, I(fixed * e->plan->bytes));
    return mul_wide(e->b, reg, load_shape(e->b, name, true), I(e->plan->bytes));
}

static void begin(slide24_emitter *e, const mc_batch_array *arrays) {
    const slide24_plan *plan = e->plan;
    mc_builder *b = e->b;
    emit_launch_next(b, plan->overlap);
    if (plan->batch) batch_begin(b, arrays, SLIDE24_BATCH_ARRAYS);
    e->x = load_array(b, "x");
    e->c = load_array(b, "c");
    e->m = dim_operand(plan->m, load_shape(b, "m", plan->m == MC_OPEN));
    e->n = dim_operand(plan->n, load_shape(b, "n", plan->n == MC_OPEN));
    e->lda_bytes = bytes_of(e, "lda", "lda_bytes", plan->lda);
    e->ldc_bytes = bytes_of(e, "ldc", "ldc_bytes", plan->ldc);
    e->row0 = mul_s32(b, "row0", load_special(b, "rows", "ctaid.x"), I(plan->hold));
    e->end = label(b, "END");
}

/* Threads without a vector end here. */
static void find_vector(slide24_emitter *e) {
    const slide24_plan *plan = e->plan;
    mc_builder *b = e->b;
    mc_reg vector = load_special(b, "vector", "tid.x"), part = load_special(b, "part", "ctaid.y");
    if (plan->vectors < slide24_threads(plan))
        EMIT_IF(b, setp_ge(b, "is_idle", vector, I(plan->vectors)), bra, TO(e->end));
    mc_reg in_part = mul_s32(b, "in_part", vector, I(plan->vector_groups));
    mc_reg first = mul_s32(b, "first_element", part, I((int64_t)plan->spans * plan->span));
    e->group = mad_s32(b, "group", part, I((int64_t)plan->spans * plan->groups), in_part);
    for (int i = 0; i < plan->vector_groups; i++) {
        mc_reg group = i ? add_s32(b, name_nth("group", i).text, in_part, I(i)) : in_part, pair = group;
        mc_reg span = plan->groups > 1 ? div_u32(b, name_nth("span", i).text, group, I(plan->groups)) : group;
        pair = add_s32(b, name_nth("pair", i).text, group, span);
        e->source[i] = mad_s32(b, name_nth("source", i).text, pair, I(2), first);
    }
}

/* -- The wide path ------------------------------------------------------------------------------------ */

/* Jumps to EDGE where VALUE is no multiple of UNIT, a power of two. */
static void test_multiple(mc_builder *b, const char *name, mc_reg value, int unit, mc_label edge) {
    mc_reg rest = and_b32(b, name_with(name, "_rest").text, cvt_low(b, name_with(name, "_low").text, value),
                          I(unit - 1));
    EMIT_IF(b, setp_ne(b, name_with(name, "_is_odd").text, rest, I(0)), bra, TO(edge));
}

static void test_wide(const slide24_emitter *e, mc_label edge) {
    const slide24_plan *plan = e->plan;
    mc_builder *b = e->b;
    note(b, "pairs and vectors want what cannot be known before the launch");
    if (plan->tests.x) test_multiple(b, "x", e->x, plan->pair, edge);
    if (plan->tests.c) test_multiple(b, "c", e->c, SLIDE24_VECTOR, edge);
    if (plan->tests.lda) test_multiple(b, "lda", e->lda_bytes, plan->pair, edge);
    if (plan->tests.ldc) test_multiple(b, "ldc", e->ldc_bytes, SLIDE24_VECTOR, edge);
    if (plan->n != MC_OPEN && plan->n % ((int64_t)plan->spans * plan->span) == 0) return;
    mc_reg last = add_s32(b, "last", e->source[plan->vector_groups - 1], I(SLIDE24_GROUP - 1));
    EMIT_IF(b, setp_ge(b, "is_cut", last, e->n), bra, TO(edge));
}

/* The words of a vector in the row at ROW_AT. Of elements of one byte a word is a group. */
static void load_vector(const slide24_emitter *e, mc_reg row_at, mc_reg words[WORDS]) {
    const slide24_plan *plan = e->plan;
    mc_builder *b = e->b;
    for (int i = 0; i < plan->vector_groups; i++) {
        mc_reg at = mad_wide(b, name_nth("at", i).text, e->source[i], I(plan->bytes), row_at);
        if (plan->pair == WORD) {
            words[2 * i] = ldg_b32(b, name_nth("word", 2 * i).text, AT(at, 0));
            words[2 * i + 1] = ldg_b32(b, name_nth("word", 2 * i + 1).text, AT(at, WORD));
        } else {
            words[i] = ldg_u16(b, name_nth("low", i).text, AT(at, 0));
            words[WORDS + i] = ldg_u16(b, name_nth("high", i).text, AT(at, plan->pair));
        }
    }
}

static void join_pairs(const slide24_emitter *e, mc_reg words[2 * WORDS]) {
    enum { LOW_HALVES = 0x5410 };
    for (int i = 0; e->plan->pair < WORD && i < WORDS; i++)
        words[i] = prmt(e->b, name_nth("word", i).text, words[i], words[WORDS + i], H(LOW_HALVES));
}

static void emit_wide(const slide24_emitter *e) {
    const slide24_plan *plan = e->plan;
    mc_builder *b = e->b;
    mc_reg words[MAX_HOLD][2 * WORDS], row[MAX_HOLD], is_row[MAX_HOLD];
    made_name prefix[MAX_HOLD];
    heading(b, "WIDE PATH: a vector in each row");
    mc_reg to = mad_wide(b, "vector_at", e->group, I((int64_t)SLIDE24_GROUP * plan->bytes), e->c);
    note(b, "a row beyond the last is the first one again, and not stored");
    for (int i = 0; i < plan->hold; i++) {
        prefix[i] = name_with(name_nth("r", i).text, "_");
        b->prefix = prefix[i].text;
        mc_reg own = i ? add_s32(b, "row", e->row0, I(i)) : e->row0;
        is_row[i] = setp_lt_u32(b, "is_row", own, e->m);
        row[i] = cvt_s64(b, "row_wide", i ? selp_b32(b, "row_inside", own, e->row0, is_row[i]) : own);
        load_vector(e, mad_s64(b, "x_row_at", row[i], e->lda_bytes, e->x), words[i]);
    }
    for (int i = 0; i < plan->hold; i++) {
        b->prefix = prefix[i].text;
        join_pairs(e, words[i]);
        mc_reg at = mad_s64(b, "c_at", row[i], e->ldc_bytes, to);
        emit_store_words(b, is_row[i], WORDS_GLOBAL, SLIDE24_VECTOR, AT(at, 0), words[i]);
    }
    b->prefix = NULL;
    EMIT(b, bra, TO(e->end));
}

/* -- The edge path ------------------------------------------------------------------------------------ */

/* The groups of a row of C, all of its spans'. */
static mc_reg count_groups(const slide24_emitter *e) {
    const slide24_plan *plan = e->plan;
    mc_builder *b = e->b;
    if (plan->n != MC_OPEN)
        return mov_b32(b, "groups", I((plan->n + plan->span - 1) / plan->span * plan->groups));
    mc_reg spans = div_u32(b, "spans", add_s32(b, "filled", e->n, I(plan->span - 1)), I(plan->span));
    return mul_s32(b, "groups", spans, I(plan->groups));
}

/* Element J of group I; a zero beyond X's last column. */
static void move_element(const slide24_emitter *e, int i, int j, mc_reg x_at, mc_reg c_at, mc_reg is_group) {
    const slide24_plan *plan = e->plan;
    mc_builder *b = e->b;
    const int number = i * SLIDE24_GROUP + j;
    mc_reg column = j ? add_s32(b, name_nth("column", number).text, e->source[i], I(j)) : e->source[i];
    mc_reg inside = setp_lt(b, name_nth("inside", number).text, column, e->n);
    mc_reg element = carried(b, name_nth("element", number).text, I(0));
    emit_load_words(b, inside, WORDS_GLOBAL, plan->bytes, &element, AT(x_at, (int64_t)j * plan->bytes));
    emit_store_words(b, is_group, WORDS_GLOBAL, plan->bytes, AT(c_at, (int64_t)number * plan->bytes),
                     &element);
}

static void move_row(const slide24_emitter *e, mc_reg row, mc_reg groups, mc_reg to) {
    const slide24_plan *plan = e->plan;
    mc_builder *b = e->b;
    mc_reg wide = cvt_s64(b, "edge_row_wide", row);
    mc_reg x_row = mad_s64(b, "edge_x_row", wide, e->lda_bytes, e->x);
    mc_reg c_at = mad_s64(b, "edge_c_at", wide, e->ldc_bytes, to);
    for (int i = 0; i < plan->vector_groups; i++) {
        mc_reg group = i ? add_s32(b, name_nth("edge_group", i).text, e->group, I(i)) : e->group;
        mc_reg is_group = setp_lt(b, name_nth("is_group", i).text, group, groups);
        mc_reg x_at = mad_wide(b, name_nth("edge_at", i).text, e->source[i], I(plan->bytes), x_row);
        for (int j = 0; j < SLIDE24_GROUP; j++) move_element(e, i, j, x_at, c_at, is_group);
    }
}

static void emit_edge(const slide24_emitter *e) {
    const slide24_plan *plan = e->plan;
    mc_builder *b = e->b;
    heading(b, "EDGE PATH: an element at a time");
    mc_label loop = label(b, "ROWS");
    mc_reg groups = count_groups(e);
    mc_reg to = mad_wide(b, "edge_to", e->group, I((int64_t)SLIDE24_GROUP * plan->bytes), e->c);
    mc_reg left = carried(b, "rows_left", I(plan->hold)), row = carried(b, "edge_row", e->row0);
    mc_reg more = pred(b, "more_rows");
    set_label(b, loop);
    move_row(e, row, groups, to);
    EMIT(b, add_s32, row, row, I(1));
    EMIT(b, sub_s32, left, left, I(1));
    EMIT(b, setp_gt, more, left, I(0));
    EMIT_IF(b, setp_ge_u32(b, "is_behind", row, e->m), bra, TO(e->end));
    EMIT_IF(b, more, bra, TO(loop));
}

void slide24_emit(const void *data, mc_builder *b) {
    slide24_emitter e = {.b = b, .plan = data};
    mc_batch_array arrays[SLIDE24_BATCH_ARRAYS];
    slide24_list_batch(e.plan, arrays);
    heading(b, "The thread's vector");
    begin(&e, arrays);
    find_vector(&e);
    emit_grid_wait(b, e.plan->overlap, "X");
    mc_label edge = label(b, "EDGE");
    if (e.plan->wide && e.plan->edge) test_wide(&e, edge);
    if (e.plan->wide) emit_wide(&e);
    if (e.plan->edge) {
        set_label(b, edge);
        emit_edge(&e);
    }
    set_label(b, e.end);
    EMIT_RET(b);
}
