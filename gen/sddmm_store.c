/* The SDDMM's output: sums to elements of C, in the order of the mask's vectors.
 *
 * Lane 4 g + t has rows 2 t and 2 t + 1 of the vectors in slots 16 j + g and 16 j + 8 + g (fragment.h, frag_c_reg).
 *
 *   BCRS       slot s, row r at s * vec + r: the lane's two rows adjoin
 *   SR-BCRS    at s / S * vec * S + r * S + s % S = s + (vec - 1) * (s rounded down to a multiple of S) + r * S
 *
 * with s counted over all of C: first + the item's slot. Mask values lie as C does. */
#include "sddmm_emit.h"

/* -- Where an element lies ---------------------------------------------------------------------------- */

/* One of the arrays that lie in C's order. */
typedef struct ordered {
    mc_reg lane; /* BCRS: the address of this lane's rows in slot g; SR-BCRS: of its rows in slot 0 of C */
    int log_bytes;
} ordered;

static ordered emit_ordered(sddmm_emitter *e, const char *name, const char *lane_name, int bytes) {
    mc_builder *b = e->b;
    const sddmm_plan *plan = e->plan;
    int stride = sddmm_stride(plan);
    mc_reg array = load_array(b, name);
    ordered o = {b64(b, lane_name), log2_of(bytes)};
    EMIT(b, mad_wide, R(o.lane), R(e->t), I(2 * bytes * (stride ? stride : 1)), R(array));
    if (!stride) EMIT(b, mad_wide, R(o.lane), R(e->slot), I(plan->vec * bytes), R(o.lane));
    return o;
}

/* Where rows 2 t and 2 t + 1 of the item's slot g + OFFSET lie: the first, and how many bytes behind it the other. */
static mc_operand emit_element(sddmm_emitter *e, ordered o, int offset, int *to_second) {
    mc_builder *b = e->b;
    const sddmm_plan *plan = e->plan;
    int stride = sddmm_stride(plan);
    *to_second = (stride ? stride : 1) << o.log_bytes;
    if (!stride) return AT(o.lane, (offset * plan->vec) << o.log_bytes);
    EMIT(b, add_s32, R(e->stride), R(e->slot), I(offset));
    EMIT(b, cvt_s64, R(e->c_at), R(e->stride));
    EMIT(b, and_b32, R(e->stride), R(e->stride), I(-stride));
    EMIT(b, mad_wide, R(e->c_at), R(e->stride), I(plan->vec - 1), R(e->c_at));
    EMIT(b, shl_b64, R(e->c_at), R(e->c_at), I(o.log_bytes));
    EMIT(b, add_s64, R(e->c_at), R(e->c_at), R(o.lane));
    return AT(e->c_at, 0);
}

static mc_operand behind(mc_operand at, int bytes) { return AT(at.regs[0], at.imm + bytes); }

/* e->stores: slot g + OFFSET is one of the item's, and this lane has rows of it. */
static void emit_stores(sddmm_emitter *e, int offset) {
    EMIT(e->b, setp_gt, R(e->stores), R(e->slots_left), I(offset));
}

/* -- Scales and mask values --------------------------------------------------------------------------- */

/* slots_left and slot. */
static void emit_slots(sddmm_emitter *e) {
    mc_builder *b = e->b;
    e->slots_left = b32(b, "slots_left"), e->slot = b32(b, "slot"), e->stores = pred(b, "stores");
    EMIT(b, sub_s32, R(e->slots_left), R(sddmm_count(e)), R(e->g));
    EMIT(b, add_s32, R(e->slot), R(sddmm_first(e)), R(e->g));
    if (sddmm_stride(e->plan))
        e->stride = b32(b, "slot_stride"), e->c_at = b64(b, "c_at"), e->has_vector = pred(b, "has_vector");
    if (e->plan->vec == SDDMM_MMA_ROWS) return;
    note(b, "lanes of the mma's empty columns have no sums");
    EMIT(b, setp_lt, R(e->stores), R(e->t), I(e->plan->vec / 2));
    EMIT(b, selp_b32, R(e->slots_left), R(e->slots_left), I(0), R(e->stores));
}

static void emit_row_scales(sddmm_emitter *e) {
    mc_builder *b = e->b;
    mc_reg array = load_array(b, "scale"), at = b64(b, "scale_at"), row = b32(b, "scale_row");
    b32_array(b, "row_scale", 2, e->row_scale);
    EMIT(b, mul_s32, R(row), R(sddmm_row_block(e)), I(e->plan->vec));
    EMIT(b, mad_s32, R(row), R(e->t), I(2), R(row));
    EMIT(b, mad_wide, R(at), R(row), I(WORD), R(array));
    for (int i = 0; i < 2; i++) EMIT(b, mov_b32, R(e->row_scale[i]), I(0));
    EMIT(b, setp_gt, R(e->stores), R(e->slots_left), I(0));
    EMIT_IF(b, e->stores, ldr_v2, V2(e->row_scale), AT(at, 0));
}

static void emit_column_scales(sddmm_emitter *e) {
    mc_builder *b = e->b;
    int count = 2 * e->plan->groups;
    mc_reg array = load_array(b, "scale"), at = b64(b, "scale_at");
    b32_array(b, "column_scale", count, e->column_scale);
    for (int i = 0; i < count; i++) {
        EMIT(b, mov_b32, R(e->column_scale[i]), I(0));
        EMIT(b, setp_ge, R(e->stores), R(e->index[i]), I(0));
        EMIT(b, mad_wide, R(at), R(e->index[i]), I(WORD), R(array));
        EMIT_IF(b, e->stores, ldr_b32, R(e->column_scale[i]), AT(at, 0));
    }
}

static void emit_mask_values(sddmm_emitter *e) {
    mc_builder *b = e->b;
    ordered values = emit_ordered(e, "mask_values", "mask_lane", WORD);
    b32_array(b, "mask_value", 4 * e->plan->groups, e->mask_value);
    for (int i = 0; i < 2 * e->plan->groups; i++) {
        const mc_reg *to = &e->mask_value[2 * i];
        int second;
        for (int row = 0; row < 2; row++) EMIT(b, mov_b32, R(to[row]), I(0));
        emit_stores(e, 8 * i);
        mc_operand from = emit_element(e, values, 8 * i, &second);
        if (second == WORD) {
            EMIT_IF(b, e->stores, ldr_v2, V2(to), from);
            continue;
        }
        EMIT_IF(b, e->stores, ldr_b32, R(to[0]), from);
        EMIT_IF(b, e->stores, ldr_b32, R(to[1]), behind(from, second));
    }
}

void sddmm_emit_factors(sddmm_emitter *e) {
    mc_builder *b = e->b;
    const sddmm_plan *plan = e->plan;
    emit_slots(e);
    if (plan->mask == SDDMM_VALUES) emit_mask_values(e);
    switch (plan->output.scale) {
    case OUT_PER_TENSOR:
        e->scale = b32(b, "scale");
        EMIT(b, ld_param_f32, R(e->scale), NAME("scale"));
        break;
    case OUT_PER_ROW: emit_row_scales(e); break;
    case OUT_PER_COLUMN: emit_column_scales(e); break;
    case OUT_PER_NONE: break;
    }
    e->c_lane = emit_ordered(e, "c", "c_lane", out_element_bytes(plan->output.element)).lane;
    out_declare_scratch(&e->scratch, b, plan->output.element, 2);
}

/* -- Stores ------------------------------------------------------------------------------------------- */

/* A slot of this lane, 8 PLACE + g of the item: its two sums, one a row. */
typedef struct slot_sums {
    int place;
    mc_reg sum[2];
} slot_sums;

static out_terms terms_of(const sddmm_emitter *e, const slot_sums *s, int row) {
    out_terms terms = {.scale = e->scale};
    if (e->plan->output.scale == OUT_PER_ROW) terms.scale = e->row_scale[row];
    if (e->plan->output.scale == OUT_PER_COLUMN) terms.scale = e->column_scale[s->place];
    return terms;
}

/* A padding slot of SR-BCRS holds zeros, whatever was multiplied for it. */
static void emit_padding(sddmm_emitter *e, mc_reg value) {
    if (sddmm_stride(e->plan)) EMIT(e->b, selp_b32, R(value), R(value), I(0), R(e->has_vector));
}

/* Rows ROW .. ROW + COUNT - 1 as words to be stored. */
static const mc_reg *emit_elements(sddmm_emitter *e, const slot_sums *s, int row, int count) {
    mc_builder *b = e->b;
    const out_kind *output = &e->plan->output;
    bool scaled = out_is_scaled(output->element);
    for (int i = 0; i < count; i++) {
        mc_reg value = scaled ? e->scratch.real[i] : s->sum[row + i];
        if (scaled) out_scale(b, output, s->sum[row + i], terms_of(e, s, row + i), value);
        if (e->plan->mask == SDDMM_VALUES)
            EMIT(b, mul_f32, R(value), R(value), R(e->mask_value[2 * s->place + row + i]));
        emit_padding(e, value);
    }
    return scaled ? out_pack(b, output->element, &e->scratch, count) : &s->sum[row];
}

static void emit_slot(sddmm_emitter *e, const slot_sums *s) {
    mc_builder *b = e->b;
    out_element element = e->plan->output.element;
    ordered c = {e->c_lane, log2_of(out_element_bytes(element))};
    int second, rows = e->plan->store;
    if (sddmm_stride(e->plan)) EMIT(b, setp_ge, R(e->has_vector), R(e->index[s->place]), I(0));
    emit_stores(e, 8 * s->place);
    mc_operand at = emit_element(e, c, 8 * s->place, &second);
    for (int row = 0; row < 2; row += rows) {
        const mc_reg *words = emit_elements(e, s, row, rows);
        out_store(b, e->stores, behind(at, row * second), element, rows, words);
    }
}

void sddmm_emit_store(sddmm_emitter *e, int group) {
    const mc_reg *acc = sddmm_acc(e, group);
    sddmm_emit_settle(e, acc);
    note(e->b, "group %d", group);
    for (int half = 0; half < 2; half++)
        emit_slot(e, &(slot_sums){2 * group + half, {acc[frag_c_reg(half, 0)], acc[frag_c_reg(half, 1)]}});
}
