/* Items of the SDDMM: sums become elements of C, in the order of the mask's vectors.
 *
 * Lane 4 g + t has rows 2 t and 2 t + 1, of each octet, of the vectors that are rows g and g + 8 of each mma
 * (fragment.h, frag_c_reg); of vectors of one row lanes of t = 0 have row 0. Its index number i is that of
 * row g + 8 (i % 2) of mma i / 2. It is for this slot of the item:
 *
 *   gather     8 i + g; of lines 8 i + 4 h + v (gather/lines.c); in runs of R slots 8 R (i / R) + R g + i % R
 *   window     the slot that the index itself says (fragment.h)
 *
 * Slots lie in C as follows, with s = first + the item's slot, counted over all of C:
 *
 *   BCRS       slot s, row r at s * vec + r: the lane's two rows adjoin
 *   SR-BCRS    at s / S * vec * S + r * S + s % S
 *              = s + (vec - 1) * (s rounded down to a multiple of S) + r * S
 *
 * Mask values lie as C does. */
#include "ops/sddmm/items/items.h"

/* -- Which slots -------------------------------------------------------------------------------------- */

/* Of a lane group, where rows are fewer than an mma has room for. */
static int lanes_with_rows(const sddmm_store *s) { return (s->problem->vec + 1) / 2; }

static void declare_slots(sddmm_store *s) {
    mc_builder *b = s->b;
    sddmm_store_scratch *scratch = &s->scratch;
    bool strides = sddmm_stride(s->problem) != 0;
    scratch->stores = pred(b, "stores");
    if (strides) scratch->slot = b32(b, "slot_stride"), scratch->has_vector = pred(b, "has_vector");
    if (s->items->run > 1) pred_array(b, "has_vectors", s->items->run, scratch->has_vectors);
    if (strides || s->items->says_slots) scratch->at = b64(b, "c_at");
    if (!s->items->says_slots) return;
    scratch->in_item = b32(b, "slot_in_item");
    s->slots = (sddmm_slots){.first = item_first(s->item_words), .left = item_count(s->item_words)};
    if (s->problem->vec >= SDDMM_MMA_ROWS) return;
    note(b, "lanes of the mma's empty columns have no sums");
    s->slots.has_rows = setp_lt(b, "has_rows", s->t, I(lanes_with_rows(s)));
}

/* Sets the slots from OWN on, once the item is known. */
static void emit_slots(sddmm_store *s, mc_reg own) {
    mc_builder *b = s->b;
    if (s->items->run > 1) own = mul_s32(b, "run", own, I(s->items->run));
    mc_reg left = b32(b, "slots_left");
    EMIT(b, sub_s32, left, item_count(s->item_words), own);
    s->slots = (sddmm_slots){.first = add_s32(b, "slot", item_first(s->item_words), own), .left = left};
    if (s->problem->vec >= SDDMM_MMA_ROWS) return;
    note(b, "lanes of the mma's empty columns have no sums");
    EMIT(b, setp_lt, s->scratch.stores, s->t, I(lanes_with_rows(s)));
    EMIT(b, selp_b32, left, left, I(0), s->scratch.stores);
}

/* How far the slot of index I lies behind the lane's first one. */
static mc_operand slot_offset(const sddmm_store *s, int i) {
    int run = s->items->run;
    return s->items->says_slots ? s->scratch.in_item : I(8 * run * (i / run) + i % run);
}

/* Sets in_item for index I. In BCRS order an index without a vector lies beyond the item's slots, the more so
   with its sign. */
static void emit_slot_of_index(const sddmm_store *s, int i) {
    mc_reg in_item = s->scratch.in_item;
    EMIT(s->b, shr_u32, in_item, s->index[i], I(SAMPLED_SLOT_SHIFT));
    if (sddmm_stride(s->problem)) EMIT(s->b, and_b32, in_item, in_item, H(SAMPLED_SLOT_MASK));
}

/* Sets `stores` for the slot of index I. */
static void emit_stores(const sddmm_store *s, int i) {
    mc_builder *b = s->b;
    mc_reg stores = s->scratch.stores;
    if (s->items->says_slots) emit_slot_of_index(s, i);
    if (s->slots.has_rows.id)
        EMIT(b, setp_lt_and, stores, s->scratch.in_item, s->slots.left, s->slots.has_rows);
    else EMIT(b, setp_gt, stores, s->slots.left, slot_offset(s, i));
}

/* -- Where an element lies ---------------------------------------------------------------------------- */

/* Sets o->lane, once the item is known. */
static void emit_lane(const sddmm_store *s, sddmm_ordered *o) {
    mc_builder *b = s->b;
    int stride = sddmm_stride(s->problem), rows = 2 << o->log_bytes;
    o->lane = b64(b, o->name);
    EMIT(b, mad_wide, o->lane, s->t, I(stride ? stride * rows : rows), o->array);
    if (!stride) EMIT(b, mad_wide, o->lane, s->slots.first, I(s->problem->vec << o->log_bytes), o->lane);
}

/* Finds the lane's rows of the slot of index I, for which emit_stores has been called. Returns where row 2 t
   is. */
static mc_operand emit_element(const sddmm_store *s, const sddmm_ordered *o, int i) {
    mc_builder *b = s->b;
    int stride = sddmm_stride(s->problem), vec = s->problem->vec;
    mc_reg at = s->scratch.at, slot = s->scratch.slot;
    if (!stride && !s->items->says_slots) return AT(o->lane, (8 * i * vec) << o->log_bytes);
    if (!stride) {
        EMIT(b, mad_wide, at, s->scratch.in_item, I(vec << o->log_bytes), o->lane);
        return AT(at, 0);
    }
    EMIT(b, add_s32, slot, s->slots.first, slot_offset(s, i));
    EMIT(b, cvt_s64, at, slot);
    if (vec > 1) {
        EMIT(b, and_b32, slot, slot, I(-stride));
        EMIT(b, mad_wide, at, slot, I(vec - 1), at);
    }
    EMIT(b, shl_b64, at, at, I(o->log_bytes));
    EMIT(b, add_s64, at, at, o->lane);
    return AT(at, 0);
}

/* Where the lane's row ROW is, if its first one is at AT. */
static mc_operand row_at(const sddmm_store *s, const sddmm_ordered *o, mc_operand at, int row) {
    int stride = sddmm_stride(s->problem);
    at.imm += (int64_t)((stride ? stride : 1) * sddmm_lane_row(row)) << o->log_bytes;
    return at;
}

/* -- Scales and mask values --------------------------------------------------------------------------- */

static void emit_row_scales(sddmm_store *s) {
    mc_builder *b = s->b;
    mc_reg row = b32(b, "scale_row"), *scale = s->factors.row_scale, loads = s->slots.has_rows;
    EMIT(b, mul_s32, row, item_row_block(s->item_words), I(s->problem->vec));
    EMIT(b, mad_s32, row, s->t, I(2), row);
    mc_reg at = mad_wide(b, "scale_at", row, I(WORD), s->factors.array);
    int rows = sddmm_lane_rows(s->problem);
    b32_array(b, "row_scale", rows, scale);
    sddmm_emit_zero(b, scale, rows);
    if (!loads.id) {
        loads = s->scratch.stores;
        EMIT(b, setp_gt, loads, s->slots.left, I(0));
    }
    if (rows == 1) EMIT_IF(b, loads, ldr_b32, scale[0], AT(at, 0));
    for (int i = 0; i + 2 <= rows; i += 2)
        EMIT_IF(b, loads, ldr_v2, V2(&scale[i]), AT(at, sddmm_lane_row(i) * WORD));
}

static void emit_column_scale(const sddmm_store *s, int i) {
    mc_builder *b = s->b;
    mc_reg to = s->factors.column_scale[i], at = s->scratch.scale_at;
    if (s->items->says_slots) { /* indices without a vector name column 0, which every window has */
        mc_reg column = s->scratch.in_item;
        EMIT(b, and_b32, column, s->index[i], H(SAMPLED_COLUMN_MASK));
        EMIT(b, mad_wide, at, column, I(WORD), s->factors.array);
        EMIT(b, ldr_b32, to, AT(at, 0));
        return;
    }
    EMIT(b, mov_b32, to, I(0));
    EMIT(b, setp_ge, s->scratch.stores, s->index[i], I(0));
    EMIT(b, mad_wide, at, s->index[i], I(WORD), s->factors.array);
    EMIT_IF(b, s->scratch.stores, ldr_b32, to, AT(at, 0));
}

static void emit_mask_value(const sddmm_store *s, int i) {
    mc_builder *b = s->b;
    int rows = sddmm_lane_rows(s->problem), each = sddmm_stride(s->problem) || rows == 1 ? 1 : 2;
    const mc_reg *to = &s->factors.mask_value[rows * i];
    sddmm_emit_zero(b, to, rows);
    emit_stores(s, i);
    mc_operand first = emit_element(s, &s->values, i);
    for (int row = 0; row < rows; row += each) {
        mc_operand from = row_at(s, &s->values, first, row);
        if (each == 2) EMIT_IF(b, s->scratch.stores, ldr_v2, V2(&to[row]), from);
        else EMIT_IF(b, s->scratch.stores, ldr_b32, to[row], from);
    }
}

/* Declares registers of the indices' factors, of as many groups as are multiplied at once. */
static void declare_factors(const sddmm_store *s, const char *name, int each, mc_reg *regs) {
    int all = 2 * s->items->groups * each, own = 2 * s->items->at_once * each;
    b32_array(s->b, name, own, regs);
    for (int i = own; i < all; i++) regs[i] = regs[i - own];
}

static void declare_scale(sddmm_store *s, mc_reg first_column) {
    mc_builder *b = s->b;
    sddmm_factors *f = &s->factors;
    out_per scale = s->problem->output.scale;
    if (scale == OUT_PER_TENSOR) f->scale = ld_param_f32(b, "scale", NAME("scale"));
    if (scale != OUT_PER_ROW && scale != OUT_PER_COLUMN) return;
    f->array = load_array(b, "scale");
    if (scale == OUT_PER_ROW) return;
    s->scratch.scale_at = b64(b, "scale_at");
    declare_factors(s, "column_scale", 1, f->column_scale);
    if (first_column.id) EMIT(b, mad_wide, f->array, first_column, I(WORD), f->array);
}

void sddmm_declare_store(sddmm_store *s, mc_reg first_column) {
    mc_builder *b = s->b;
    out_element element = s->problem->output.element;
    declare_slots(s);
    if (s->problem->mask == SDDMM_VALUES) {
        s->values = (sddmm_ordered){"mask_lane", load_array(b, "mask_values"), .log_bytes = log2_of(WORD)};
        declare_factors(s, "mask_value", sddmm_lane_rows(s->problem), s->factors.mask_value);
    }
    declare_scale(s, first_column);
    s->c = (sddmm_ordered){"c_lane", load_array(b, "c"), .log_bytes = log2_of(out_element_bytes(element))};
    out_declare_scratch(&s->elements, b, element, s->items->run > 2 ? s->items->run : 2);
}

void sddmm_emit_item_factors(sddmm_store *s, mc_reg own) {
    if (!s->items->says_slots) emit_slots(s, own);
    if (s->problem->mask == SDDMM_VALUES) emit_lane(s, &s->values);
    emit_lane(s, &s->c);
    if (s->problem->output.scale == OUT_PER_ROW) emit_row_scales(s);
}

void sddmm_emit_group_factors(const sddmm_store *s, int group) {
    for (int i = 2 * group; i < 2 * group + 2; i++) {
        if (s->problem->mask == SDDMM_VALUES) emit_mask_value(s, i);
        if (s->problem->output.scale == OUT_PER_COLUMN) emit_column_scale(s, i);
    }
}

/* -- Stores ------------------------------------------------------------------------------------------- */

/* The sums, one for each of this lane's rows, of the slot of its index INDEX. */
typedef struct slot_sums {
    int index;
    mc_reg sum[SDDMM_MAX_LANE_ROWS];
} slot_sums;

static out_terms terms_of(const sddmm_store *s, const slot_sums *sums, int row) {
    out_terms terms = {.scale = s->factors.scale};
    if (s->problem->output.scale == OUT_PER_ROW) terms.scale = s->factors.row_scale[row];
    if (s->problem->output.scale == OUT_PER_COLUMN) terms.scale = s->factors.column_scale[sums->index];
    return terms;
}

/* Makes VALUE zero in a padding slot of SR-BCRS, whatever was multiplied for it. */
static void emit_padding(const sddmm_store *s, mc_reg value) {
    if (sddmm_stride(s->problem)) EMIT(s->b, selp_b32, value, value, I(0), s->scratch.has_vector);
}

/* Makes words to be stored of rows ROW .. ROW + COUNT - 1. */
static const mc_reg *emit_elements(const sddmm_store *s, const slot_sums *sums, int row, int count) {
    mc_builder *b = s->b;
    const out_kind *output = &s->problem->output;
    bool scaled = out_is_scaled(output->element);
    for (int i = 0; i < count; i++) {
        mc_reg value = scaled ? s->elements.real[i] : sums->sum[row + i];
        if (scaled) out_scale(b, output, sums->sum[row + i], terms_of(s, sums, row + i), value);
        if (s->problem->mask == SDDMM_VALUES)
            EMIT(b, mul_f32, value, value,
                 s->factors.mask_value[sddmm_lane_rows(s->problem) * sums->index + row + i]);
        emit_padding(s, value);
    }
    return scaled ? out_pack(b, output->element, &s->elements, NULL, count) : &sums->sum[row];
}

static void emit_slot(const sddmm_store *s, const slot_sums *sums) {
    mc_builder *b = s->b;
    out_element element = s->problem->output.element;
    int rows = s->problem->store;
    if (sddmm_stride(s->problem)) EMIT(b, setp_ge, s->scratch.has_vector, s->index[sums->index], I(0));
    emit_stores(s, sums->index);
    mc_operand at = emit_element(s, &s->c, sums->index);
    for (int row = 0; row < sddmm_lane_rows(s->problem); row += rows) {
        const mc_reg *words = emit_elements(s, sums, row, rows);
        out_store(b, s->scratch.stores, row_at(s, &s->c, at, row), element, rows, words);
    }
}

void sddmm_emit_store(const sddmm_store *s, int group, const mc_reg *const sums[]) {
    note(s->b, "group %d", group);
    for (int half = 0; half < 2; half++) {
        slot_sums of = {.index = 2 * group + half};
        for (int row = 0; row < 2 * sddmm_octets(s->problem); row++)
            of.sum[row] = sums[row / 2][frag_c_reg(half, row % 2)];
        emit_slot(s, &of);
    }
}

/* -- Runs --------------------------------------------------------------------------------------------- */

/* A run: its first index, and of each of the lane's rows the sums of all its slots. */
typedef struct run_sums {
    int index;
    mc_reg sum[SDDMM_MAX_LANE_ROWS][SDDMM_MAX_RUN];
} run_sums;

/* Makes words to be stored of row ROW. */
static const mc_reg *emit_run_elements(const sddmm_store *s, const run_sums *run, int row) {
    mc_builder *b = s->b;
    const out_kind *output = &s->problem->output;
    bool scaled = out_is_scaled(output->element);
    for (int i = 0; i < s->items->run; i++) {
        const slot_sums of = {.index = run->index + i};
        mc_reg sum = run->sum[row][i], value = scaled ? s->elements.real[i] : sum;
        if (scaled) out_scale(b, output, sum, terms_of(s, &of, row), value);
        EMIT(b, selp_b32, value, value, I(0), s->scratch.has_vectors[i]);
    }
    return scaled ? out_pack(b, output->element, &s->elements, NULL, s->items->run) : run->sum[row];
}

static void emit_run(const sddmm_store *s, const run_sums *run) {
    mc_builder *b = s->b;
    out_element element = s->problem->output.element;
    for (int i = 0; i < s->items->run; i++)
        EMIT(b, setp_ge, s->scratch.has_vectors[i], s->index[run->index + i], I(0));
    emit_stores(s, run->index);
    mc_operand at = emit_element(s, &s->c, run->index);
    for (int row = 0; row < sddmm_lane_rows(s->problem); row++)
        out_store(b, s->scratch.stores, row_at(s, &s->c, at, row), element, s->items->run,
                  emit_run_elements(s, run, row));
}

void sddmm_emit_store_run(const sddmm_store *s, int group, const mc_reg *const sums[]) {
    run_sums run = {.index = 2 * group};
    int octets = sddmm_octets(s->problem);
    note(s->b, "the run of group %d", group);
    for (int i = 0; i < s->items->run; i++)
        for (int row = 0; row < 2 * octets; row++)
            run.sum[row][i] = sums[i / 2 * octets + row / 2][frag_c_reg(i % 2, row % 2)];
    emit_run(s, &run);
}
