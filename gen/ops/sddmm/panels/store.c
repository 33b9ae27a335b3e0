/* Sums of a stride become elements of C, in the order of CSR.
 *
 * Lane 4 g + t has of column g of each eight the rows 2 t and 2 t + 1 of each octet. Where bit s of a row's
 * mask is set the matrix has a nonzero in slot s: its place in C is the number of the row's first nonzero of
 * the stride, and on by as many as there are below it in the mask. */
#include "ops/sddmm/panels/emit.h"

static const out_kind *output(const panels_emitter *e) { return &e->plan->problem.output; }
static bool has_values(const panels_emitter *e) { return e->plan->problem.mask == SDDMM_VALUES; }
static mc_reg mask_of(const panels_emitter *e, int row) { return e->stride.row_words[row]; }
static mc_reg first_of(const panels_emitter *e, int row) {
    return e->stride.row_words[panels_lane_rows(e->plan) + row];
}

/* -- Start -------------------------------------------------------------------------------------------- */

/* Rows behind the matrix's last one have its scale: they store nothing. */
static void load_row_scales(panels_emitter *e) {
    mc_builder *b = e->b;
    panels_store *s = &e->store;
    const int rows = panels_lane_rows(e->plan);
    mc_reg row = b32(b, "scale_row");
    b32_array(b, "row_scale", rows, s->row_scale);
    for (int i = 0; i < rows; i++) {
        EMIT(b, mad_s32, row, e->place.t, I(2), I(sampled_lane_row(0, i)));
        EMIT(b, min_s32, row, row, e->item[SAMPLED_LAST_ROW]);
        EMIT(b, mad_s32, row, e->item[SAMPLED_PANEL], I(panels_rows(e->plan)), row);
        EMIT(b, mad_wide, s->at, row, I(WORD), s->scale);
        EMIT(b, ldr_b32, s->row_scale[i], AT(s->at, 0));
    }
}

static void declare_factors(panels_emitter *e) {
    mc_builder *b = e->b;
    panels_store *s = &e->store;
    const out_per scale = output(e)->scale;
    if (has_values(e)) {
        s->values = load_array(b, "mask_values");
        b32_array(b, "mask_value", panels_lane_rows(e->plan), s->value);
    }
    if (scale == OUT_PER_TENSOR) s->scale = ld_param_f32(b, "scale", NAME("scale"));
    if (scale == OUT_PER_ROW || scale == OUT_PER_COLUMN) s->scale = load_array(b, "scale");
    if (scale == OUT_PER_ROW) load_row_scales(e);
    if (scale == OUT_PER_COLUMN) b32_array(b, "column_scale", panels_lane_slots(e->plan), s->column_scale);
}

void panels_begin_store(panels_emitter *e) {
    mc_builder *b = e->b;
    panels_store *s = &e->store;
    const int rows = panels_lane_rows(e->plan);
    heading(b, "C: this lane stores of slots 8 q + g what rows 2 t and 2 t + 1 of each octet have");
    s->c = load_array(b, "c");
    s->bit = shl_b32(b, "bit", I(1), e->place.g);
    s->slot_bit = b32(b, "slot_bit"), s->below = b32(b, "below");
    s->at = b64(b, "row_c_at");
    b32_array(b, "place", rows, s->place);
    pred_array(b, "has", rows, s->has);
    declare_factors(e);
    out_declare_scratch(&s->elements, b, output(e)->element, 1);
}

/* -- A stride ----------------------------------------------------------------------------------------- */

void panels_emit_factors(panels_emitter *e) {
    mc_builder *b = e->b;
    const panels_store *s = &e->store;
    for (int i = 0; i < panels_lane_slots(e->plan) && output(e)->scale == OUT_PER_COLUMN; i++) {
        EMIT(b, mad_wide, s->at, e->stride.column[i], I(WORD), s->scale);
        EMIT(b, ldr_b32, s->column_scale[i], AT(s->at, 0));
    }
}

/* Finds out which rows have a nonzero in the lane's slot SLOT, and where it is in C. */
static void find_places(const panels_emitter *e, int slot) {
    mc_builder *b = e->b;
    const panels_store *s = &e->store;
    EMIT(b, shl_b32, s->slot_bit, s->bit, I(8 * slot));
    for (int row = 0; row < panels_lane_rows(e->plan); row++) {
        EMIT(b, and_b32, s->below, mask_of(e, row), s->slot_bit);
        EMIT(b, setp_ne, s->has[row], s->below, I(0));
    }
    EMIT(b, add_s32, s->slot_bit, s->slot_bit, I(-1));
    for (int row = 0; row < panels_lane_rows(e->plan); row++) {
        EMIT(b, and_b32, s->below, mask_of(e, row), s->slot_bit);
        EMIT(b, popc_b32, s->below, s->below);
        EMIT(b, add_s32, s->place[row], first_of(e, row), s->below);
    }
}

static void load_values(const panels_emitter *e) {
    mc_builder *b = e->b;
    const panels_store *s = &e->store;
    for (int row = 0; row < panels_lane_rows(e->plan) && has_values(e); row++) {
        EMIT(b, mad_wide, s->at, s->place[row], I(WORD), s->values);
        EMIT(b, mov_b32, s->value[row], I(0));
        EMIT_IF(b, s->has[row], ldr_b32, s->value[row], AT(s->at, 0));
    }
}

static mc_reg scale_of(const panels_emitter *e, int row, int slot) {
    switch (output(e)->scale) {
    case OUT_PER_ROW: return e->store.row_scale[row];
    case OUT_PER_COLUMN: return e->store.column_scale[slot];
    default: return e->store.scale;
    }
}

static void store_element(const panels_emitter *e, int row, int slot) {
    mc_builder *b = e->b;
    const panels_store *s = &e->store;
    const mc_reg sum = panels_acc(e, slot / 2, row / 2)[frag_c_reg(slot % 2, row % 2)];
    const mc_reg value = s->elements.real[0];
    out_scale(b, output(e), sum, (out_terms){.scale = scale_of(e, row, slot)}, value);
    if (has_values(e)) EMIT(b, mul_f32, value, value, s->value[row]);
    EMIT(b, mad_wide, s->at, s->place[row], I(out_element_bytes(output(e)->element)), s->c);
    out_store(b, s->has[row], AT(s->at, 0), output(e)->element, 1,
              out_pack(b, output(e)->element, &s->elements, NULL, 1));
}

void panels_emit_store(panels_emitter *e) {
    for (int slot = 0; slot < panels_lane_slots(e->plan); slot++) {
        note(e->b, "slot %d + g", 8 * slot);
        find_places(e, slot);
        load_values(e);
        for (int row = 0; row < panels_lane_rows(e->plan); row++) store_element(e, row, slot);
    }
}
