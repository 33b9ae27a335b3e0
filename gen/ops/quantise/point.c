/* The edge path: one element at a time, or the two that share a byte. Any shape, any address. */
#include "ops/quantise/patch.h"

/* The elements that a thread makes at once, and a row of them: `high` and `wide` are 2 where two elements
   below each other, or side by side, share a byte. */
typedef struct points {
    quantise_emitter *e;
    int high, wide, across;        /* threads side by side */
    mc_reg shared;                 /* factors that the thread block has computed; none: they are given */
    mc_reg row, row_at[2], in_row; /* in_row: of the second one */
    mc_reg col, end, c_at;
} points;

/* Of two elements of 4 bits that share a byte that of column COL, without what lies above it. */
static void take_half(mc_builder *b, mc_reg col, mc_reg word) {
    mc_reg bits = shl_b32(b, "point_bits", and_b32(b, "point_half", col, I(1)), I(2));
    EMIT(b, shr_u32, word, word, bits);
    EMIT(b, and_b32, word, word, I(15));
}

/* An element of A as it is. */
static mc_reg load_raw(const quantise_emitter *e, mc_reg row_at, mc_reg col, mc_reg guard) {
    mc_builder *b = e->b;
    const int bytes = quantise_piece_bytes(e->plan->in_bits);
    mc_reg at = quantise_source_at(e, "point_at", col, row_at), word = b32(b, "point");
    if (guard.id) EMIT(b, mov_b32, word, I(0));
    if (bytes == 1) EMIT_IF(b, guard, ldg_u8, word, AT(at, 0));
    else if (bytes == 2) EMIT_IF(b, guard, ldg_u16, word, AT(at, 0));
    else EMIT_IF(b, guard, ldg_b32, word, AT(at, 0));
    if (e->plan->in_bits == 4) take_half(b, col, word);
    return word;
}

void quantise_load_point(const quantise_emitter *e, mc_reg row_at, mc_reg col, mc_reg guard, mc_reg value) {
    quantise_value(e, load_raw(e, row_at, col, guard), 0, value);
}

/* -- Factors of the rows -------------------------------------------------------------------------------- */

/* Those that the thread block has computed: multipliers, and behind these zero points. */
static void take_shared(const points *p, int i, mc_reg row) {
    quantise_emitter *e = p->e;
    mc_builder *b = e->b;
    quantise_factors *f = &e->factors;
    mc_reg below = sub_s32(b, "below", row, e->row0);
    mc_reg at = mad_s32(b, "factor_at", below, I(WORD), p->shared);
    EMIT(b, lds_b32, f->by[i], AT(at, 0));
    if (!e->plan->zero) return;
    mc_reg zero = lds_b32(b, "point_zero", AT(at, (int64_t)e->plan->tile * WORD));
    quantise_set_point(e, zero, f->point[i], f->low[i], f->high[i]);
}

static void take_given(const points *p, int i, mc_reg row) {
    quantise_emitter *e = p->e;
    mc_builder *b = e->b;
    quantise_factors *f = &e->factors;
    mc_reg at = mad_wide(b, "factor_at", row, I(WORD), f->scale);
    quantise_invert(e, ldg_b32(b, "point_scale", AT(at, 0)), f->by[i]);
    if (!e->plan->zero) return;
    mc_reg zero = ldg_b32(b, "point_zero", AT(mad_wide(b, "zero_at", row, I(WORD), f->zero), 0));
    quantise_set_point(e, zero, f->point[i], f->low[i], f->high[i]);
}

/* -- Rows ----------------------------------------------------------------------------------------------- */

/* A second row beyond the last is the last one again, and in_row false. */
static void take_rows(points *p) {
    quantise_emitter *e = p->e;
    mc_builder *b = e->b;
    const char *prefix = b->prefix;
    for (int i = 0; i < p->high; i++) {
        made_name name = quantise_numbered(prefix, i);
        mc_reg row = p->row;
        if (i) p->in_row = setp_lt(b, "in_row", add_s32(b, "next_row", p->row, I(i)), e->m);
        if (i) row = selp_b32(b, "second_row", add_s32(b, "row_below", p->row, I(1)), p->row, p->in_row);
        b->prefix = name.text;
        p->row_at[i] = mad_s64(b, "a_row_at", cvt_s64(b, "a_row", row), e->lda_bytes, e->x);
        if (e->plan->scale == OUT_PER_ROW && p->shared.id) take_shared(p, i, row);
        else if (e->plan->scale == OUT_PER_ROW) take_given(p, i, row);
        b->prefix = prefix;
    }
}

/* -- Columns -------------------------------------------------------------------------------------------- */

/* The address of the element of C at the loop's first column, and what it moves on by. */
static mc_reg begin_columns(points *p) {
    const quantise_plan *plan = p->e->plan;
    mc_builder *b = p->e->b;
    mc_reg down = plan->turned ? p->col : p->row, right = plan->turned ? p->row : p->col;
    mc_reg from = quantise_element_at(p->e, "c_from", right, p->e->c);
    mc_reg first = mad_s64(b, "c_first", cvt_s64(b, "down_wide", down), p->e->ldc_bytes, from);
    p->c_at = carried_b64(b, "c_point_at", first);
    int64_t step = (int64_t)p->across * p->wide;
    if (plan->turned) return mad_s64(b, "c_step", p->e->ldc_bytes, I(step), I(0));
    return mov_b64(b, "c_step", I(step * plan->out_bits / 8));
}

/* Element I of those at the loop's column. */
static void make_point(const points *p, int i, mc_reg to) {
    quantise_emitter *e = p->e;
    mc_builder *b = e->b;
    const char *prefix = b->prefix;
    made_name name = quantise_numbered(prefix, 2 + i);
    bool beside = p->wide > 1 && i > 0;
    b->prefix = name.text;
    mc_reg col = beside ? add_s32(b, "next_col", p->col, I(1)) : p->col;
    mc_reg guard = beside ? setp_lt(b, "in_col", col, e->n) : (mc_reg){0}, by_column = {0};
    if (e->plan->scale == OUT_PER_COLUMN)
        by_column =
            ldg_b32(b, "column_scale", AT(mad_wide(b, "column_at", col, I(WORD), e->factors.scale), 0));
    int row = p->high > 1 ? i : 0;
    if (e->plan->moves) {
        EMIT(b, mov_b32, to, load_raw(e, p->row_at[row], col, guard));
    } else {
        quantise_load_point(e, p->row_at[row], col, guard, e->scratch.value);
        quantise_element(e, row, e->scratch.value, by_column, to);
    }
    if (beside) EMIT(b, selp_b32, to, to, I(0), guard);
    if (p->high > 1 && i > 0) EMIT(b, selp_b32, to, to, I(0), p->in_row);
    b->prefix = prefix;
}

static void store_point(const points *p) {
    quantise_emitter *e = p->e;
    mc_builder *b = e->b;
    mc_reg word = b32(b, "point_word");
    const mc_reg *v = e->scratch.element;
    int count = p->high * p->wide;
    if (e->plan->moves && count == 1) {
        EMIT(b, mov_b32, word, load_raw(e, p->row_at[0], p->col, (mc_reg){0}));
    } else {
        for (int i = 0; i < count; i++) make_point(p, i, v[i]);
        quantise_pack(e, v, count, word);
    }
    if (e->plan->out_bits <= 8) EMIT(b, stg_b8, AT(p->c_at, 0), word);
    else if (e->plan->out_bits == 16) EMIT(b, stg_b16, AT(p->c_at, 0), word);
    else EMIT(b, stg_b32, AT(p->c_at, 0), word);
}

static void emit_columns(points *p, mc_reg first) {
    mc_builder *b = p->e->b;
    mc_label loop = label(b, "COLUMNS"), end = label(b, "COLUMNS_END");
    p->col = carried(b, "point_col", first);
    mc_reg c_step = begin_columns(p), more = pred(b, "more");
    EMIT_IF(b, setp_ge(b, "no_column", p->col, p->end), bra, TO(end));
    set_label(b, loop);
    store_point(p);
    EMIT(b, add_s64, p->c_at, p->c_at, c_step);
    EMIT(b, add_s32, p->col, p->col, I((int64_t)p->across * p->wide));
    EMIT(b, setp_lt, more, p->col, p->end);
    EMIT_IF(b, more, bra, TO(loop));
    set_label(b, end);
}

/* -- All of the thread block's --------------------------------------------------------------------------- */

/* The rows of turn TURN, in which each thread has one, or the two that share bytes. */
static void emit_turn(points *p, int turn, int threads_down, mc_reg below, mc_reg first) {
    quantise_emitter *e = p->e;
    mc_builder *b = e->b;
    made_name prefix = quantise_numbered("edge", turn);
    const char *before = b->prefix;
    b->prefix = prefix.text;
    mc_label next = label(b, "NEXT");
    mc_reg from = add_s32(b, "from", e->row0, I((int64_t)turn * threads_down * p->high));
    p->row = mad_s32(b, "point_row", below, I(p->high), from);
    EMIT_IF(b, setp_ge(b, "no_row", p->row, e->m), bra, TO(next));
    take_rows(p);
    emit_columns(p, first);
    set_label(b, next);
    b->prefix = before;
}

void quantise_emit_points(quantise_emitter *e, mc_reg shared, int64_t columns) {
    const quantise_plan *plan = e->plan;
    mc_builder *b = e->b;
    bool pairs = plan->out_bits == 4;
    points p = {.e = e,
                .high = pairs && plan->turned ? 2 : 1,
                .wide = pairs && !plan->turned ? 2 : 1,
                .shared = shared};
    int threads = MC_WARP * plan->warps, rows = plan->tile / p.high;
    int threads_down = rows < threads ? rows : threads;
    p.across = threads / threads_down;
    mc_reg below = and_b32(b, "thread_down", e->number.thread, I(threads_down - 1));
    mc_reg beside = shr_u32(b, "thread_across", e->number.thread, I(log2_of(threads_down)));
    mc_reg first = mul_s32(b, "first_col", beside, I(p.wide)), end = mov_b32(b, "all_columns", e->n);
    if (e->col0.id) {
        first = add_s32(b, "first_of_tile", first, e->col0);
        if (columns != MC_OPEN)
            end = min_s32(b, "tile_end", end, add_s32(b, "tile_columns", e->col0, I(columns)));
    }
    p.end = end;
    for (int turn = 0; turn < rows / threads_down; turn++) emit_turn(&p, turn, threads_down, below, first);
}
