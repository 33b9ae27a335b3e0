/* The dense SDDMM: the tile's sums become elements of C, and go to shared memory, where the stages were:
 * [column][row]. */
#include "ops/sddmm/dense/dense.h"

/* -- Scales ------------------------------------------------------------------------------------------- */

/* Loads scales of rows. Rows beyond the last one have its scales; so have columns, below. */
static void emit_row_scales(const dense_emitter *d, mc_reg array, mc_reg *scale) {
    mc_builder *b = d->b;
    int rows = d->plan->warp_rows;
    mc_reg row = b32(b, "scale_row"), first = b32(b, "first_scale_row"), at = b64(b, "scale_at");
    b32_array(b, "row_scale", 2 * rows, scale);
    EMIT(b, mad_wide, array, d->rows.first, I(WORD), array);
    EMIT(b, shl_b32, first, d->place.t, I(1));
    if (d->rows.warp.id) EMIT(b, mad_s32, first, d->rows.warp, I(rows * SDDMM_MMA_ROWS), first);
    bool pairs = d->plan->problem.vec > 1;
    mc_reg last = d->rows.last;
    if (pairs) {
        note(b, "rows 2 t and 2 t + 1 of 8: both are there, or none is");
        last = add_s32(b, "last_scale_row", d->rows.last, I(-1));
    }
    for (int i = 0; i < 2 * rows; i += pairs ? 2 : 1) {
        EMIT(b, add_s32, row, first, I(sddmm_lane_row(i)));
        EMIT(b, min_s32, row, row, last);
        EMIT(b, mad_wide, at, row, I(WORD), array);
        if (pairs) EMIT(b, ldr_v2, V2(&scale[i]), AT(at, 0));
        else EMIT(b, ldr_b32, scale[i], AT(at, 0));
    }
}

static void emit_column_scales(const dense_emitter *d, mc_reg array, mc_reg *scale) {
    mc_builder *b = d->b;
    int columns = d->plan->warp_columns;
    mc_reg column = b32(b, "scale_column"), first = d->place.g, at = b64(b, "scale_at");
    b32_array(b, "column_scale", 2 * columns, scale);
    EMIT(b, mad_wide, array, d->columns.first, I(WORD), array);
    if (d->columns.warp.id)
        first = mad_s32(b, "first_scale_column", d->columns.warp, I(columns * MC_SAMPLED_SLOTS), first);
    for (int i = 0; i < 2 * columns; i++) {
        EMIT(b, add_s32, column, first, I(8 * i));
        EMIT(b, min_s32, column, column, d->columns.last);
        EMIT(b, mad_wide, at, column, I(WORD), array);
        EMIT(b, ldr_b32, scale[i], AT(at, 0));
    }
}

dense_scales dense_emit_scales(const dense_emitter *d) {
    mc_builder *b = d->b;
    out_per per = d->plan->problem.output.scale;
    dense_scales scales = {0};
    if (per == OUT_PER_NONE) return scales;
    heading(b, "Scales");
    if (per == OUT_PER_TENSOR) {
        scales.tensor = ld_param_f32(b, "scale", NAME("scale"));
        return scales;
    }
    mc_reg array = load_array(b, "scale");
    if (per == OUT_PER_ROW) emit_row_scales(d, array, scales.row);
    else emit_column_scales(d, array, scales.column);
    return scales;
}

/* -- Elements ----------------------------------------------------------------------------------------- */

typedef struct writer {
    const dense_emitter *d;
    const dense_scales *scales;
    out_scratch elements;
    mc_reg at; /* where rows 2 t and 2 t + 1 of column g lie, of the warp's first ones */
} writer;

/* Makes words of C's elements of rows 2 t and 2 t + 1 of group ROW. COLUMN is the number of their column
   among this lane's. */
static const mc_reg *emit_elements(const writer *w, int row, int column, const mc_reg sums[2]) {
    mc_builder *b = w->d->b;
    const out_kind *output = &w->d->plan->problem.output;
    if (!out_is_scaled(output->element)) return sums;
    for (int i = 0; i < 2; i++) {
        out_terms terms = {.scale = w->scales->tensor};
        if (output->scale == OUT_PER_ROW) terms.scale = w->scales->row[2 * row + i];
        if (output->scale == OUT_PER_COLUMN) terms.scale = w->scales->column[column];
        out_scale(b, output, sums[i], terms, w->elements.real[i]);
    }
    return out_pack(b, output->element, &w->elements, NULL, 2);
}

/* Stores group ROW of rows and group COLUMN of columns, whose sums are settled in ACC. */
static void emit_group(const writer *w, int row, int column, const mc_reg *acc) {
    mc_builder *b = w->d->b;
    const dense_plan *plan = w->d->plan;
    int element = out_element_bytes(plan->problem.output.element);
    for (int half = 0; half < 2; half++) {
        int lane_column = 2 * column + half;
        const mc_reg sums[] = {acc[frag_c_reg(half, 0)], acc[frag_c_reg(half, 1)]};
        const mc_reg *words = emit_elements(w, row, lane_column, sums);
        mc_operand to =
            AT(w->at, lane_column * 8 * dense_column_bytes(plan) + row * SDDMM_MMA_ROWS * element);
        if (element == 2) EMIT(b, sts_b32, to, words[0]);
        else EMIT(b, sts_v2, to, V2(words));
    }
}

static mc_reg emit_at(const dense_emitter *d) {
    mc_builder *b = d->b;
    const dense_plan *plan = d->plan;
    int element = out_element_bytes(plan->problem.output.element), column_bytes = dense_column_bytes(plan);
    mc_reg at = b32(b, "result_at");
    EMIT(b, mad_s32, at, d->place.g, I(column_bytes), d->shared);
    EMIT(b, mad_s32, at, d->place.t, I(2 * element), at);
    if (d->rows.warp.id)
        EMIT(b, mad_s32, at, d->rows.warp, I(plan->warp_rows * SDDMM_MMA_ROWS * element), at);
    if (d->columns.warp.id)
        EMIT(b, mad_s32, at, d->columns.warp, I(plan->warp_columns * MC_SAMPLED_SLOTS * column_bytes), at);
    return at;
}

void dense_emit_result(const dense_emitter *d, const dense_sums *sums, const dense_scales *scales) {
    mc_builder *b = d->b;
    const dense_plan *plan = d->plan;
    int column_bytes = dense_column_bytes(plan);
    heading(b, "Result: [%d columns][%d rows], %d bytes a column, where the stages were", plan->tile_n,
            plan->tile_rows, column_bytes);
    writer w = {.d = d, .scales = scales, .at = emit_at(d)};
    out_declare_scratch(&w.elements, b, plan->problem.output.element, 2);
    if (plan->tile_n * column_bytes > (plan->stages - 1) * dense_stage_bytes(plan)) {
        note(b, "every warp has read the last stage, of which the result overwrites some");
        EMIT(b, bar_sync, I(0));
    }
    for (int row = 0; row < plan->warp_rows; row++)
        for (int column = 0; column < plan->warp_columns; column++) {
            const mc_reg *acc = dense_acc(plan, sums, row, column);
            sddmm_emit_settle(&sums->multiplier, acc);
            emit_group(&w, row, column, acc);
        }
    note(b, "every warp's sums are there");
    EMIT(b, bar_sync, I(0));
}
