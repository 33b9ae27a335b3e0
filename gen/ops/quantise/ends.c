/* From elements of A to scales: ends, and what comes of them. */
#include "ops/quantise/ends.h"

enum { MAGNITUDE = 0x7fffffff, MAGNITUDES = 0x7fff7fff, LEAST_NORMAL = 0x00800000 };
static const uint32_t sign = 0x80000000;

static bool is_packed(const quantise_plan *plan) { return plan->in_bits == 16 && !plan->zero; }

void quantise_declare_ends(const quantise_emitter *e, quantise_ends *ends) {
    mc_builder *b = e->b;
    int rows = e->plan->scale == OUT_PER_ROW ? e->plan->rows : 1;
    for (int end = 0; end < quantise_end_count(e->plan); end++) {
        b32_array(b, end ? "below_zero" : "reach", rows, ends->of[end]);
        for (int i = 0; i < rows; i++) EMIT(b, mov_b32, ends->of[end][i], I(0));
    }
}

/* -- A patch ------------------------------------------------------------------------------------------ */

static void take_packed(const quantise_emitter *e, mc_reg end, mc_reg word) {
    mc_builder *b = e->b;
    mc_reg magnitudes = e->scratch.half;
    EMIT(b, and_b32, magnitudes, word, H(MAGNITUDES));
    if (e->plan->in == QUANTISE_IN_F16) EMIT(b, max_nan_f16x2, end, end, magnitudes);
    else EMIT(b, max_nan_bf16x2, end, end, magnitudes);
}

/* One element in f32. */
static void take_value(const quantise_emitter *e, const quantise_ends *ends, int row, mc_reg value) {
    mc_builder *b = e->b;
    mc_reg other = e->scratch.half;
    if (e->plan->zero) {
        EMIT(b, max_nan_f32, ends->of[0][row], ends->of[0][row], value);
        EMIT(b, xor_b32, other, value, H(sign));
        EMIT(b, max_nan_f32, ends->of[1][row], ends->of[1][row], other);
    } else {
        EMIT(b, and_b32, other, value, H(MAGNITUDE));
        EMIT(b, max_nan_f32, ends->of[0][row], ends->of[0][row], other);
    }
}

void quantise_take_patch(const quantise_emitter *e, const quantise_ends *ends, const mc_reg *raw) {
    enum { WORDS = QUANTISE_UNIT / WORD };
    const quantise_plan *plan = e->plan;
    for (int i = 0; i < plan->rows * WORDS; i++) {
        int row = plan->scale == OUT_PER_ROW ? i / WORDS : 0;
        if (is_packed(plan)) take_packed(e, ends->of[0][row], raw[i]);
        for (int half = 0; !is_packed(plan) && half < 32 / plan->in_bits; half++) {
            quantise_value(e, raw[i], half, e->scratch.value);
            take_value(e, ends, row, e->scratch.value);
        }
    }
}

void quantise_unpack_end(const quantise_emitter *e, mc_reg end) {
    if (!is_packed(e->plan)) return;
    quantise_value(e, end, 1, e->scratch.value);
    quantise_value(e, end, 0, end);
    EMIT(e->b, max_nan_f32, end, end, e->scratch.value);
}

void quantise_take_row(const quantise_emitter *e, mc_reg row, mc_reg first, mc_operand last,
                       const quantise_ends *ends) {
    mc_builder *b = e->b;
    mc_label loop = label(b, "ELEMENTS"), end = label(b, "ELEMENTS_END");
    mc_reg row_at = mad_s64(b, "edge_row_at", cvt_s64(b, "edge_row", row), e->lda_bytes, e->x);
    mc_reg col = carried(b, "edge_col", first), more = pred(b, "edge_more");
    EMIT_IF(b, setp_ge(b, "no_element", col, last), bra, TO(end));
    set_label(b, loop);
    quantise_load_point(e, row_at, col, (mc_reg){0}, e->scratch.value);
    take_value(e, ends, 0, e->scratch.value);
    EMIT(b, add_s32, col, col, I(MC_WARP));
    EMIT(b, setp_lt, more, col, last);
    EMIT_IF(b, more, bra, TO(loop));
    set_label(b, end);
}

/* -- Scales ------------------------------------------------------------------------------------------- */

/* REACH / COUNT, but at least the least normal number, whose reciprocal is finite. */
static mc_reg make_scale(mc_builder *b, mc_reg reach, int count) {
    mc_reg divisor = cvt_f32_s32(b, "divisor", mov_b32(b, "count", I(count)));
    mc_reg quotient = div_f32(b, "quotient", reach, divisor);
    mc_reg least = mov_b32(b, "least_normal", H(LEAST_NORMAL));
    return selp_b32(b, "new_scale", least, quotient, setp_lt_f32(b, "is_little", quotient, least));
}

/* The integer that zero becomes: as far from the type's least one as the row reaches below zero. */
static mc_reg make_zero(const quantise_emitter *e, mc_reg below, mc_reg by) {
    mc_builder *b = e->b;
    mc_reg steps = cvt_s32_f32(b, "steps_below", mul_f32(b, "quotient_below", below, by));
    mc_reg point =
        add_s32(b, "above_least", min_s32(b, "steps_inside", steps, I(e->plan->most - e->plan->least)),
                I(e->plan->least));
    return cvt_f32_s32(b, "new_zero", point);
}

quantise_made quantise_make_scale(const quantise_emitter *e, const mc_reg ends[QUANTISE_ENDS]) {
    const quantise_plan *plan = e->plan;
    mc_builder *b = e->b;
    quantise_made made = {.zero = {0}};
    mc_reg reach = plan->zero ? add_f32(b, "range", ends[0], ends[1]) : ends[0];
    made.scale = make_scale(b, reach, plan->zero ? plan->most - plan->least : plan->most);
    made.by = rcp_f32(b, "new_by", made.scale);
    if (plan->zero) made.zero = make_zero(e, ends[1], made.by);
    return made;
}
