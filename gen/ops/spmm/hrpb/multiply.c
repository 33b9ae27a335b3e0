/* A block in shared memory times the warp's columns of B: its bricks, column by column (algorithm 1 of the
 * paper, lines 24 to 42). */
#include <stdio.h>
#include "ops/spmm/hrpb/emit.h"

/* What goes from brick to brick: the number of the next one, and where its values lie. */
typedef struct brick_walk {
    mc_reg brick, values;
    mc_reg end, there; /* the number of the first brick behind the column; whether the brick at hand is */
    mc_reg b_operand[HRPB_MOST_TN / HRPB_N];
    mc_reg pattern[HRPB_HALVES], a[HRPB_HALVES];
    mc_reg in_low, bits, number, at, has; /* scratch */
} brick_walk;

void spmm_hrpb_begin_multiply(hrpb_emitter *e, hrpb_multiplier *m) {
    mc_builder *b = e->b;
    const thread_place *place = &e->at.place;
    heading(b, "The lane's bit of a pattern, and where it reads rows of B");
    m->bit = shl_b32(b, "lane_bit", carried(b, "unit_bit", I(1)), place->lane);
    m->below = add_s32(b, "below", m->bit, I(-1));
    mc_reg row = mad_s32(b, "b_lane_row", place->t, I(e->plan->row_bytes), e->rows_shared);
    m->lane_rows = mad_s32(b, "b_lane", place->g, I(WORD), row);
    if (e->warp_col.id) m->lane_rows = mad_s32(b, "b_warp_lane", e->warp_col, I(WORD), m->lane_rows);
}

/* Operands B of the warp's mma: row 4 COLUMN + t, column g of each 8. */
static void load_b(hrpb_emitter *e, const hrpb_multiplier *m, brick_walk *w, int column) {
    mc_builder *b = e->b;
    for (int n = 0; n < hrpb_mma(e->plan); n++) {
        EMIT(b, lds_b32, w->b_operand[n],
             AT(m->lane_rows, (int64_t)column * HRPB_TILE_COLS * e->plan->row_bytes + n * HRPB_N * WORD));
        EMIT(b, cvt_tf32_f32, w->b_operand[n], w->b_operand[n]);
    }
}

/* The lane's value of half HALF of the brick at hand. */
static void load_value(hrpb_emitter *e, const hrpb_multiplier *m, const brick_walk *w, int half) {
    mc_builder *b = e->b;
    EMIT(b, and_b32, w->bits, w->pattern[half], m->below);
    EMIT(b, popc_b32, w->number, w->bits);
    if (half > 0) EMIT(b, add_s32, w->number, w->number, w->in_low);
    EMIT(b, mad_s32, w->at, w->number, I(WORD), w->values);
    EMIT(b, and_b32, w->bits, w->pattern[half], m->bit);
    EMIT(b, setp_ne, w->has, w->bits, I(0));
    EMIT(b, mov_b32, w->a[half], I(0));
    EMIT_IF(b, w->has, lds_b32, w->a[half], AT(w->at, 0));
}

/* The brick at hand, in row ROW of bricks. */
static void multiply_brick(hrpb_emitter *e, const hrpb_multiplier *m, brick_walk *w, int row) {
    mc_builder *b = e->b;
    EMIT(b, mad_s32, w->at, w->brick, I(sizeof(uint64_t)), e->block_shared);
    EMIT(b, lds_v2, V2(w->pattern), AT(w->at, 0));
    EMIT(b, popc_b32, w->in_low, w->pattern[0]);
    for (int half = 0; half < HRPB_HALVES; half++) load_value(e, m, w, half);
    for (int n = 0; n < hrpb_mma(e->plan); n++) {
        const mc_reg *acc = hrpb_acc(e, row, n);
        EMIT(b, mma_tf32_k4, V4(acc), V2(w->a), w->b_operand[n], V4(acc));
    }
    EMIT(b, add_s32, w->brick, w->brick, I(1));
    EMIT(b, mad_s32, w->values, w->in_low, I(WORD), w->values);
    EMIT(b, popc_b32, w->number, w->pattern[1]);
    EMIT(b, mad_s32, w->values, w->number, I(WORD), w->values);
}

/* Whether the next brick is in row ROW of bricks of the column; else goes to OTHERWISE. */
static void test_brick(hrpb_emitter *e, brick_walk *w, int row, mc_label otherwise) {
    mc_builder *b = e->b;
    if (e->plan->block.brick_rows == 1) return; /* the column has one */
    EMIT(b, mad_s32, w->at, w->brick, I(WORD), e->block_shared);
    EMIT(b, lds_b32, w->number, AT(w->at, e->plan->block.rows));
    EMIT(b, setp_eq, w->there, w->number, I(row));
    if (row > 0) EMIT(b, setp_lt_and, w->there, w->brick, w->end, w->there);
    EMIT_IF(b, NOT(w->there), bra_uni, TO(otherwise));
}

/* A label for what comes next: NAME_COLUMN, or NAME_COLUMN_ROW. */
static mc_label numbered(mc_builder *b, const char *name, int column, int row) {
    char text[MC_MAX_NAME];
    if (row > 0) snprintf(text, sizeof text, "%s_%d_%d", name, column, row);
    else snprintf(text, sizeof text, "%s_%d", name, column);
    return label(b, text);
}

static void multiply_column(hrpb_emitter *e, const hrpb_multiplier *m, brick_walk *w, int column) {
    mc_builder *b = e->b;
    mc_label next = numbered(b, "COLUMN", column + 1, 0);
    note(b, "active columns %d to %d", column * HRPB_TILE_COLS, column * HRPB_TILE_COLS + HRPB_TILE_COLS - 1);
    EMIT(b, lds_b32, w->end, AT(e->block_shared, e->plan->block.col_ptr + (column + 1) * WORD));
    EMIT(b, setp_lt, w->there, w->brick, w->end);
    EMIT_IF(b, NOT(w->there), bra_uni, TO(next));
    load_b(e, m, w, column);
    for (int row = 0; row < e->plan->block.brick_rows; row++) {
        mc_label other = numbered(b, "BRICK", column, row + 1);
        test_brick(e, w, row, other);
        multiply_brick(e, m, w, row);
        set_label(b, other);
    }
    set_label(b, next);
}

void spmm_hrpb_emit_multiply(hrpb_emitter *e, const hrpb_multiplier *m) {
    mc_builder *b = e->b;
    brick_walk w = {.brick = carried(b, "brick", I(0)),
                    .values = b32(b, "values_at"),
                    .end = b32(b, "column_end"),
                    .there = pred(b, "is_there"),
                    .in_low = b32(b, "values_low"),
                    .bits = b32(b, "bits"),
                    .number = b32(b, "number"),
                    .at = b32(b, "at"),
                    .has = pred(b, "has_value")};
    EMIT(b, add_s32, w.values, e->block_shared, I(e->plan->block.values));
    b32_array(b, "b_operand", hrpb_mma(e->plan), w.b_operand);
    b32_array(b, "pattern", HRPB_HALVES, w.pattern);
    b32_array(b, "a", HRPB_HALVES, w.a);
    for (int c = 0; c < e->plan->block.brick_cols; c++) multiply_column(e, m, &w, c);
}
