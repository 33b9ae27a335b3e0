/* Accumulators, which are zeros first, become C in the end. Each warp does so with its own. Eight lanes
 * have a row's 16 columns, two each: lane 4 j + t those that step.c has at words 4 t + 2 j and on. */
#include "ops/spmmt/kernel.h"

enum { TOGETHER = 8, ROW_LANES = 8, ROWS = MC_WARP / ROW_LANES, UNROLL = 4 };

void spmmt_zero_sums(spmmt_emitter *e) {
    mc_builder *b = e->b;
    int bytes = MC_WARP * SPMMT_COPY;
    note(b, "the warp's accumulators are zeros");
    mc_reg zero[4];
    b32_array(b, "zero", 4, zero);
    for (int i = 0; i < 4; i++) EMIT(b, mov_b32, zero[i], I(0));
    mc_reg at = carried(b, "zero_at", mad_s32(b, "zero_first", e->place.lane, I(SPMMT_COPY), e->share));
    mc_reg left = carried(b, "zero_left", I(spmmt_share_bytes(e->plan)));
    mc_label again = label(b, "ZERO");
    set_label(b, again);
    for (int i = 0; i < TOGETHER; i++) EMIT(b, sts_v4, AT(at, i * bytes), V4(zero));
    EMIT(b, add_s32, at, at, I(TOGETHER * bytes));
    EMIT(b, sub_s32, left, left, I(TOGETHER * bytes));
    EMIT_IF(b, setp_gt(b, "more_zeros", left, I(0)), bra_uni, TO(again));
    if (!spmmt_has_zeros(e->plan)) return;
    mc_reg first = setp_eq(b, "first_thread", e->place.thread, I(0));
    for (int i = 0; i < SPMMT_ZEROS; i += SPMMT_COPY)
        EMIT_IF(b, first, sts_v4, AT(e->shared, spmmt_zeros_at(e->plan) + i), V4(zero));
}

typedef struct storing {
    mc_reg array;       /* C */
    mc_reg from, to;    /* the lane's two columns of the row in shared memory, and in C */
    mc_reg row, column; /* of C */
    mc_reg at, in_row, inside, sum[2];
    out_scratch packing;
} storing;

static void declare(spmmt_emitter *e, storing *s) {
    mc_builder *b = e->b;
    s->array = load_array(b, "c");
    mc_reg lane_row = shr_u32(b, "lane_row", e->place.lane, I(log2_of(ROW_LANES)));
    mc_reg pair = and_b32(b, "pair", e->place.lane, I(ROW_LANES - 1));
    mc_reg t = and_b32(b, "pair_t", pair, I(FRAG_THREAD_MASK)),
           j = shr_u32(b, "pair_j", pair, I(FRAG_GROUP_SHIFT));
    mc_reg from = mad_s32(b, "sums_row", lane_row, I(TRANSPOSED_ROW_BYTES), e->share);
    from = mad_s32(b, "sums_t", t, I(4 * WORD), from);
    s->from = carried(b, "sums_at", mad_s32(b, "sums_first", j, I(2 * WORD), from));
    s->row = carried(b, "c_row_number", add_s32(b, "c_first_row", e->first_row, lane_row));
    s->column = mad_s32(b, "c_column", pair, I(2), e->first_column);
    mc_reg at = mad_wide(b, "c_column_at", s->column, I(out_element_bytes(e->plan->out)), s->array);
    s->to = carried_b64(b, "c_at", mad_wide(b, "c_row_at", s->row, e->shapes.c_row, at));
    s->at = b64(b, "store_at"), s->in_row = pred(b, "in_row"), s->inside = pred(b, "in_column");
    b32_array(b, "sum", 2, s->sum);
    out_declare_scratch(&s->packing, b, e->plan->out, 2);
}

/* Whether all of the warp's columns are inside, and pairs of elements lie at multiples of their size. */
static mc_reg find_pairs(const spmmt_emitter *e, const storing *s) {
    mc_builder *b = e->b;
    mc_reg low = cvt_low(b, "c_low", s->array);
    mc_reg odd = and_b32(b, "c_odd", or_b32(b, "c_or", low, e->shapes.c_row),
                         I(2 * out_element_bytes(e->plan->out) - 1));
    mc_reg end = add_s32(b, "columns_end", e->first_column, I(e->plan->warp_n - 1));
    mc_reg inside = setp_lt(b, "whole_columns", end, e->shapes.n);
    return setp_eq_and(b, "pairs", odd, I(0), inside);
}

static void store_elements(const spmmt_emitter *e, const storing *s, mc_reg guard, int first, int count,
                           int column) {
    mc_builder *b = e->b;
    out_element element = e->plan->out;
    mc_operand to = AT(s->at, (int64_t)(column + first) * out_element_bytes(element));
    if (!out_is_rounded(element)) {
        out_store(b, guard, to, element, count, &s->sum[first]);
        return;
    }
    for (int i = 0; i < count; i++) EMIT(b, mov_b32, s->packing.real[i], s->sum[first + i]);
    out_store(b, guard, to, element, count, out_pack(b, element, &s->packing, NULL, count));
}

static void store_half(const spmmt_emitter *e, const storing *s, bool pairs, int half, int row) {
    mc_builder *b = e->b;
    int column = half * SPMMT_HALF;
    EMIT(b, lds_v2, V2(s->sum), AT(s->from, half * spmmt_half_bytes(e->plan) + row * TRANSPOSED_ROW_BYTES));
    if (pairs) {
        store_elements(e, s, s->in_row, 0, 2, column);
        return;
    }
    for (int i = 0; i < 2; i++) {
        EMIT(b, add_s32, e->sums.bits, s->column, I(column + i));
        EMIT(b, setp_lt_and, s->inside, e->sums.bits, e->shapes.n, s->in_row);
        store_elements(e, s, s->inside, i, 1, column);
    }
}

static void store_rows(const spmmt_emitter *e, const storing *s, bool pairs) {
    mc_builder *b = e->b;
    mc_label again = label(b, pairs ? "STORE_PAIRS" : "STORE");
    mc_reg left = carried(b, pairs ? "pair_rows" : "rows", I(e->plan->warp_k));
    set_label(b, again);
    for (int i = 0; i < UNROLL; i++) {
        EMIT(b, add_s32, e->sums.bits, s->row, I(i * ROWS));
        EMIT(b, setp_lt, s->in_row, e->sums.bits, e->shapes.k);
        EMIT(b, mad_wide, s->at, e->shapes.c_row, I(i * ROWS), s->to);
        for (int half = 0; half < spmmt_halves(e->plan); half++) store_half(e, s, pairs, half, i * ROWS);
    }
    EMIT(b, add_s32, s->row, s->row, I(UNROLL * ROWS));
    EMIT(b, add_s32, s->from, s->from, I(UNROLL * ROWS * TRANSPOSED_ROW_BYTES));
    EMIT(b, mad_wide, s->to, e->shapes.c_row, I(UNROLL * ROWS), s->to);
    EMIT(b, sub_s32, left, left, I(UNROLL * ROWS));
    EMIT_IF(b, setp_gt(b, pairs ? "more_pairs" : "more_rows", left, I(0)), bra_uni, TO(again));
}

void spmmt_store(spmmt_emitter *e) {
    mc_builder *b = e->b;
    storing s;
    heading(b, "C: the warp's accumulators, each rounded once");
    EMIT(b, bar_warp_sync, H(0xffffffff));
    declare(e, &s);
    mc_label edge = label(b, "STORE_EDGE");
    EMIT_IF(b, NOT(find_pairs(e, &s)), bra_uni, TO(edge));
    store_rows(e, &s, true);
    EMIT_RET(b);
    set_label(b, edge);
    store_rows(e, &s, false);
}
