/* The SDDMM's output: sums become elements of C, in the order of the mask's vectors.
 *
 * Lane 4 g + t has rows 2 t and 2 t + 1 of the vectors that are rows g and g + 8 of each mma (fragment.h,
 * frag_c_reg). Its index number i is that of row g + 8 (i % 2) of mma i / 2. It is for this slot of the item:
 *
 *   gather     8 i + g; of lines 8 i + 4 h + v (lines.c)
 *   window     the slot that the index itself says (fragment.h)
 *
 * Slots lie in C as follows, with s = first + the item's slot, counted over all of C:
 *
 *   BCRS       slot s, row r at s * vec + r: the lane's two rows adjoin
 *   SR-BCRS    at s / S * vec * S + r * S + s % S
 *              = s + (vec - 1) * (s rounded down to a multiple of S) + r * S
 *
 * Mask values lie as C does. */
#include "ops/sddmm/emit.h"

static bool index_says_slot(const sddmm_plan *plan) { return plan->method == SDDMM_WINDOW; }

/* -- Which slots -------------------------------------------------------------------------------------- */

static void declare_slots(sddmm_emitter *e) {
    mc_builder *b = e->b;
    e->stores = pred(b, "stores");
    if (sddmm_stride(e->plan)) e->stride = b32(b, "slot_stride"), e->has_vector = pred(b, "has_vector");
    if (sddmm_stride(e->plan) || index_says_slot(e->plan)) e->c_at = b64(b, "c_at");
    if (!index_says_slot(e->plan)) {
        e->slots_left = b32(b, "slots_left"), e->slot = b32(b, "slot");
        return;
    }
    e->slots_left = sddmm_count(e), e->slot = sddmm_first(e), e->in_item = b32(b, "slot_in_item");
    if (e->plan->vec == SDDMM_MMA_ROWS) return;
    note(b, "lanes of the mma's empty columns have no sums");
    e->has_rows = pred(b, "has_rows");
    EMIT(b, setp_lt, e->has_rows, e->t, I(e->plan->vec / 2));
}

/* Sets slots_left and slot, once the item is known. */
static void emit_slots(sddmm_emitter *e) {
    mc_builder *b = e->b;
    if (index_says_slot(e->plan)) return;
    EMIT(b, sub_s32, e->slots_left, sddmm_count(e), e->own);
    EMIT(b, add_s32, e->slot, sddmm_first(e), e->own);
    if (e->plan->vec == SDDMM_MMA_ROWS) return;
    note(b, "lanes of the mma's empty columns have no sums");
    EMIT(b, setp_lt, e->stores, e->t, I(e->plan->vec / 2));
    EMIT(b, selp_b32, e->slots_left, e->slots_left, I(0), e->stores);
}

/* How far the slot of index I lies behind e->slot. */
static mc_operand slot_offset(const sddmm_emitter *e, int i) {
    return index_says_slot(e->plan) ? e->in_item : I(8 * i);
}

/* Sets in_item for index I. In BCRS order an index without a vector lies beyond the item's slots, the more so
   with its sign. */
static void emit_slot_of_index(sddmm_emitter *e, int i) {
    mc_builder *b = e->b;
    EMIT(b, shr_u32, e->in_item, e->index[i], I(SAMPLED_SLOT_SHIFT));
    if (sddmm_stride(e->plan)) EMIT(b, and_b32, e->in_item, e->in_item, H(SAMPLED_SLOT_MASK));
}

/* Sets e->stores: whether the slot of index I is one of the item's, and this lane has rows of it. */
static void emit_stores(sddmm_emitter *e, int i) {
    mc_builder *b = e->b;
    if (index_says_slot(e->plan)) emit_slot_of_index(e, i);
    if (e->has_rows.id) EMIT(b, setp_lt_and, e->stores, e->in_item, e->slots_left, e->has_rows);
    else EMIT(b, setp_gt, e->stores, e->slots_left, slot_offset(e, i));
}

/* -- Where an element lies ---------------------------------------------------------------------------- */

static sddmm_ordered load_ordered(sddmm_emitter *e, const char *name, const char *lane_name, int bytes) {
    mc_builder *b = e->b;
    mc_reg array = load_array(b, name);
    return (sddmm_ordered){.array = array, .lane = b64(b, lane_name), .log_bytes = log2_of(bytes)};
}

/* Sets o.lane, once the item is known. */
static void emit_lane(sddmm_emitter *e, sddmm_ordered o) {
    mc_builder *b = e->b;
    int stride = sddmm_stride(e->plan), rows = 2 << o.log_bytes;
    EMIT(b, mad_wide, o.lane, e->t, I(stride ? stride * rows : rows), o.array);
    if (!stride) EMIT(b, mad_wide, o.lane, e->slot, I(e->plan->vec << o.log_bytes), o.lane);
}

/* Finds rows 2 t and 2 t + 1 of the slot of index I, for which emit_stores has been called. Returns where the
   first one is, and how many bytes behind it the other. */
static mc_operand emit_element(sddmm_emitter *e, sddmm_ordered o, int i, int *to_second) {
    mc_builder *b = e->b;
    const sddmm_plan *plan = e->plan;
    int stride = sddmm_stride(plan);
    *to_second = (stride ? stride : 1) << o.log_bytes;
    if (!stride && !index_says_slot(plan)) return AT(o.lane, (8 * i * plan->vec) << o.log_bytes);
    if (!stride) {
        EMIT(b, mad_wide, e->c_at, e->in_item, I(plan->vec << o.log_bytes), o.lane);
        return AT(e->c_at, 0);
    }
    EMIT(b, add_s32, e->stride, e->slot, slot_offset(e, i));
    EMIT(b, cvt_s64, e->c_at, e->stride);
    EMIT(b, and_b32, e->stride, e->stride, I(-stride));
    EMIT(b, mad_wide, e->c_at, e->stride, I(plan->vec - 1), e->c_at);
    EMIT(b, shl_b64, e->c_at, e->c_at, I(o.log_bytes));
    EMIT(b, add_s64, e->c_at, e->c_at, o.lane);
    return AT(e->c_at, 0);
}

static mc_operand behind(mc_operand at, int bytes) {
    at.imm += bytes;
    return at;
}

/* -- Scales and mask values --------------------------------------------------------------------------- */

static void emit_row_scales(sddmm_emitter *e) {
    mc_builder *b = e->b;
    EMIT(b, mul_s32, e->scale_row, sddmm_row_block(e), I(e->plan->vec));
    EMIT(b, mad_s32, e->scale_row, e->t, I(2), e->scale_row);
    EMIT(b, mad_wide, e->scale_at, e->scale_row, I(WORD), e->scale_array);
    for (int i = 0; i < 2; i++) EMIT(b, mov_b32, e->row_scale[i], I(0));
    if (!e->has_rows.id) EMIT(b, setp_gt, e->stores, e->slots_left, I(0));
    EMIT_IF(b, e->has_rows.id ? e->has_rows : e->stores, ldr_v2, V2(e->row_scale), AT(e->scale_at, 0));
}

static void emit_column_scale(sddmm_emitter *e, int i) {
    mc_builder *b = e->b;
    if (index_says_slot(e->plan)) { /* indices without a vector name column 0, which every window has */
        EMIT(b, and_b32, e->in_item, e->index[i], H(SAMPLED_COLUMN_MASK));
        EMIT(b, mad_wide, e->scale_at, e->in_item, I(WORD), e->scale_array);
        EMIT(b, ldr_b32, e->column_scale[i], AT(e->scale_at, 0));
        return;
    }
    EMIT(b, mov_b32, e->column_scale[i], I(0));
    EMIT(b, setp_ge, e->stores, e->index[i], I(0));
    EMIT(b, mad_wide, e->scale_at, e->index[i], I(WORD), e->scale_array);
    EMIT_IF(b, e->stores, ldr_b32, e->column_scale[i], AT(e->scale_at, 0));
}

static void emit_mask_value(sddmm_emitter *e, int i) {
    mc_builder *b = e->b;
    const mc_reg *to = &e->mask_value[2 * i];
    int second;
    for (int row = 0; row < 2; row++) EMIT(b, mov_b32, to[row], I(0));
    emit_stores(e, i);
    mc_operand from = emit_element(e, e->values, i, &second);
    if (second == WORD) {
        EMIT_IF(b, e->stores, ldr_v2, V2(to), from);
        return;
    }
    EMIT_IF(b, e->stores, ldr_b32, to[0], from);
    EMIT_IF(b, e->stores, ldr_b32, to[1], behind(from, second));
}

/* Declares registers of the indices' factors: of all of them, or, where items come one after another, of one
   group at a time. */
static void declare_factors(sddmm_emitter *e, const char *name, int each, mc_reg *regs) {
    int all = 2 * e->plan->groups * each, own = index_says_slot(e->plan) ? 2 * each : all;
    b32_array(e->b, name, own, regs);
    for (int i = own; i < all; i++) regs[i] = regs[i - own];
}

static void declare_scale(sddmm_emitter *e) {
    mc_builder *b = e->b;
    out_per scale = e->plan->output.scale;
    if (scale == OUT_PER_NONE) return;
    if (scale == OUT_PER_TENSOR) {
        e->scale = b32(b, "scale");
        EMIT(b, ld_param_f32, e->scale, NAME("scale"));
        return;
    }
    e->scale_array = load_array(b, "scale");
    e->scale_at = b64(b, "scale_at");
    if (scale == OUT_PER_COLUMN) declare_factors(e, "column_scale", 1, e->column_scale);
    if (scale == OUT_PER_COLUMN && e->first_column.id)
        EMIT(b, mad_wide, e->scale_array, e->first_column, I(WORD), e->scale_array);
    if (scale == OUT_PER_ROW) e->scale_row = b32(b, "scale_row"), b32_array(b, "row_scale", 2, e->row_scale);
}

void sddmm_declare_output(sddmm_emitter *e) {
    mc_builder *b = e->b;
    out_element element = e->plan->output.element;
    declare_slots(e);
    if (e->plan->mask == SDDMM_VALUES) {
        e->values = load_ordered(e, "mask_values", "mask_lane", WORD);
        declare_factors(e, "mask_value", 2, e->mask_value);
    }
    declare_scale(e);
    e->c = load_ordered(e, "c", "c_lane", out_element_bytes(element));
    out_declare_scratch(&e->scratch, b, element, 2);
}

void sddmm_emit_item_factors(sddmm_emitter *e) {
    emit_slots(e);
    if (e->plan->mask == SDDMM_VALUES) emit_lane(e, e->values);
    emit_lane(e, e->c);
    if (e->plan->output.scale == OUT_PER_ROW) emit_row_scales(e);
}

void sddmm_emit_group_factors(sddmm_emitter *e, int group) {
    for (int i = 2 * group; i < 2 * group + 2; i++) {
        if (e->plan->mask == SDDMM_VALUES) emit_mask_value(e, i);
        if (e->plan->output.scale == OUT_PER_COLUMN) emit_column_scale(e, i);
    }
}

/* -- Stores ------------------------------------------------------------------------------------------- */

/* The two sums, one a row, of the slot of this lane's index INDEX. */
typedef struct slot_sums {
    int index;
    mc_reg sum[2];
} slot_sums;

static out_terms terms_of(const sddmm_emitter *e, const slot_sums *s, int row) {
    out_terms terms = {.scale = e->scale};
    if (e->plan->output.scale == OUT_PER_ROW) terms.scale = e->row_scale[row];
    if (e->plan->output.scale == OUT_PER_COLUMN) terms.scale = e->column_scale[s->index];
    return terms;
}

/* Makes VALUE zero in a padding slot of SR-BCRS, whatever was multiplied for it. */
static void emit_padding(sddmm_emitter *e, mc_reg value) {
    if (sddmm_stride(e->plan)) EMIT(e->b, selp_b32, value, value, I(0), e->has_vector);
}

/* Makes words to be stored of rows ROW .. ROW + COUNT - 1. */
static const mc_reg *emit_elements(sddmm_emitter *e, const slot_sums *s, int row, int count) {
    mc_builder *b = e->b;
    const out_kind *output = &e->plan->output;
    bool scaled = out_is_scaled(output->element);
    for (int i = 0; i < count; i++) {
        mc_reg value = scaled ? e->scratch.real[i] : s->sum[row + i];
        if (scaled) out_scale(b, output, s->sum[row + i], terms_of(e, s, row + i), value);
        if (e->plan->mask == SDDMM_VALUES)
            EMIT(b, mul_f32, value, value, e->mask_value[2 * s->index + row + i]);
        emit_padding(e, value);
    }
    return scaled ? out_pack(b, output->element, &e->scratch, count) : &s->sum[row];
}

static void emit_slot(sddmm_emitter *e, const slot_sums *s) {
    mc_builder *b = e->b;
    out_element element = e->plan->output.element;
    int second, rows = e->plan->store;
    if (sddmm_stride(e->plan)) EMIT(b, setp_ge, e->has_vector, e->index[s->index], I(0));
    emit_stores(e, s->index);
    mc_operand at = emit_element(e, e->c, s->index, &second);
    for (int row = 0; row < 2; row += rows) {
        const mc_reg *words = emit_elements(e, s, row, rows);
        out_store(b, e->stores, behind(at, row * second), element, rows, words);
    }
}

void sddmm_emit_store(sddmm_emitter *e, int group) {
    const mc_reg *sum = sddmm_emit_sums(e, group);
    note(e->b, "group %d", group);
    for (int half = 0; half < 2; half++)
        emit_slot(e, &(slot_sums){2 * group + half, {sum[frag_c_reg(half, 0)], sum[frag_c_reg(half, 1)]}});
}
