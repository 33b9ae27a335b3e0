/* The arithmetic of mc_softmax.h, and what becomes of it. */
#include "ops/softmax/kernel.h"
#include <math.h>
#include <stdio.h>

/* -- Greatest elements and sums ------------------------------------------------------------------------ */

void softmax_start_greatest(softmax_emitter *e) {
    int words = e->plan->packed ? e->plan->deal.rows / 2 : e->plan->deal.rows;
    for (int i = 0; i < words; i++) {
        if (e->plan->packed) EMIT(e->b, mov_b32, e->of.greatest[i], e->constant.absent);
        else EMIT(e->b, mov_b32, e->of.greatest[i], F32(-INFINITY));
    }
}

/* What becomes of two words. */
typedef void (*pair_step)(const softmax_emitter *e, mc_reg to, mc_reg a, mc_reg b);

static void take_words(softmax_emitter *e, pair_step step) {
    int words = softmax_unit_words(e->plan);
    for (int i = 0; i < e->rows.units.count; i++)
        for (int w = 0; w < words; w++)
            step(e, e->of.greatest[w], e->of.greatest[w], e->units.raw[i * words + w]);
}

/* With a scale below 0 the least ones are looked for. */
static void take_all_words(softmax_emitter *e) {
    mc_builder *b = e->b;
    if (!e->constant.sign.id) {
        take_words(e, softmax_greater_pairs);
        return;
    }
    mc_label least = label(b, "LEAST"), found = label(b, "FOUND");
    EMIT_IF(b, e->constant.negative, bra_uni, TO(least));
    take_words(e, softmax_greater_pairs);
    EMIT(b, bra_uni, TO(found));
    set_label(b, least);
    take_words(e, softmax_lesser_pairs);
    set_label(b, found);
}

static void take_unit(softmax_emitter *e, int i) {
    const softmax_plan *plan = e->plan;
    softmax_take(e, i);
    for (int element = 0; element < plan->deal.unit; element++) {
        mc_reg row = e->of.greatest[rows_row_of(&plan->deal, i, element)];
        EMIT(e->b, max_nan_f32, row, row, e->units.value[i * plan->deal.unit + element]);
    }
}

void softmax_take_greatest(softmax_emitter *e) {
    if (e->plan->packed) take_all_words(e);
    for (int i = 0; i < e->rows.units.count && !e->plan->packed; i++) take_unit(e, i);
}

void softmax_start_sums(softmax_emitter *e) {
    for (int i = 0; i < e->plan->deal.rows; i++) {
        EMIT(e->b, mov_b32, e->of.low[i], I(0));
        EMIT(e->b, mov_b32, e->of.high[i], I(0));
    }
}

void softmax_start_parts(softmax_emitter *e) {
    const softmax_plan *plan = e->plan;
    int elements = plan->deal.unit * e->rows.units.count / plan->deal.rows;
    for (int i = 0; i < plan->deal.rows; i++)
        EMIT(e->b, mov_b32, e->of.part[i], H(0U - (uint32_t)elements * SOFTMAX_ONE_BITS));
}

static void take_power(softmax_emitter *e, mc_reg value, int row) {
    const softmax_constants *c = &e->constant;
    mc_builder *b = e->b;
    EMIT(b, sub_f32, value, value, e->of.shift[row]);
    EMIT(b, mul_f32, value, value, c->by);
    if (e->plan->approx) {
        EMIT(b, ex2_f32, value, value);
        return;
    }
    EMIT(b, max_nan_f32, value, value, c->least_power);
    activation_emit_power(&c->power, b, value);
    EMIT(b, add_f32, value, value, c->least);
}

void softmax_take_powers(softmax_emitter *e, int i) {
    const softmax_plan *plan = e->plan;
    softmax_unpack(e, i);
    for (int element = 0; element < plan->deal.unit; element++)
        take_power(e, e->units.value[i * plan->deal.unit + element], rows_row_of(&plan->deal, i, element));
}

void softmax_add_powers(softmax_emitter *e, int i) {
    const softmax_plan *plan = e->plan;
    mc_builder *b = e->b;
    for (int element = 0; element < plan->deal.unit; element++) {
        mc_reg part = e->of.part[rows_row_of(&plan->deal, i, element)],
               value = e->units.value[i * plan->deal.unit + element];
        EMIT(b, add_f32, e->rows.scratch.real, value, e->constant.one);
        EMIT(b, add_s32, part, part, e->rows.scratch.real);
    }
}

/* Parts of at most 64 elements of at most 2^23 + 1 units stay below 2^31. That of a NaN says nothing, since
   its row becomes NaN by the factor. */
void softmax_add_parts(softmax_emitter *e) {
    mc_builder *b = e->b;
    const char *names[] = {"sum_wide", "part_wide"};
    mc_reg wide[2];
    for (int k = 0; k < 2; k++) wide[k] = b64(b, names[k]);
    for (int i = 0; i < e->plan->deal.rows; i++) {
        const mc_reg words[2] = {e->of.low[i], e->of.high[i]};
        EMIT(b, cvt_s64, wide[1], e->of.part[i]);
        EMIT(b, join_b64, wide[0], V2(words));
        EMIT(b, add_s64, wide[0], wide[0], wide[1]);
        EMIT(b, split_b64, V2(words), wide[0]);
    }
}

/* Of the lane's own row; then all of the thread's rows get theirs. */
void softmax_divide(softmax_emitter *e) {
    const softmax_constants *c = &e->constant;
    const softmax_own *own = &e->own;
    mc_builder *b = e->b;
    mc_reg zero = mov_b32(b, "zero", I(0)), wide = b64(b, "whole_sum"), by = b32(b, "own_by");
    EMIT(b, join_b64, wide, V2(own->total));
    EMIT(b, cvt_f32_s64, own->sum, wide);
    EMIT(b, mul_f32, own->sum, own->sum, c->unit);
    EMIT(b, max_nan_f32, own->sum, own->sum, c->one);
    EMIT(b, rcp_f32, by, own->sum);
    EMIT(b, fma_f32, by, own->shift, zero, by);
    if (e->plan->late && e->scale.id) EMIT(b, fma_f32, by, c->log2_e, zero, by);
    if (e->c_by.id) EMIT(b, mul_f32, by, by, e->c_by);
    rows_spread(&e->rows, by, e->of.by);
}

/* -- C ------------------------------------------------------------------------------------------------ */

static bool is_short(const softmax_plan *plan) {
    return !softmax_is_real(plan) && plan->out.bits == 2 * BYTE;
}

/* COUNT integers of 16 bits, two to a word. */
static const mc_reg *pack_shorts(const softmax_emitter *e, const out_scratch *s, int count) {
    const softmax_type *type = &e->plan->out;
    mc_builder *b = e->b;
    for (int i = 0; i < count; i++) {
        mc_reg to = s->real[i];
        EMIT(b, cvt_s32_f32, to, s->real[i]);
        EMIT(b, max_s32, to, to, I(type->least));
        EMIT(b, min_s32, to, to, I(type->most));
    }
    for (int i = 0; i + 1 < count; i += 2)
        EMIT(b, prmt, s->real[i / 2], s->real[i], s->real[i + 1], H(0x5410));
    return s->real;
}

/* Stores ELEMENT and those behind it of unit I. Its values are e->units'. */
static void store_run(const softmax_emitter *e, const out_scratch *s, int i, int element, int count) {
    const softmax_plan *plan = e->plan;
    mc_builder *b = e->b;
    mc_operand to = AT(e->rows.scratch.at,
                       softmax_out_bytes(plan, (int64_t)i * plan->deal.team * plan->deal.unit + element));
    for (int k = 0; k < count; k++) {
        mc_reg value = e->units.value[i * plan->deal.unit + element + k];
        EMIT(b, mul_f32, s->real[k], value, e->of.by[rows_row_of(&plan->deal, i, element + k)]);
        if (plan->deal.order == ROWS_BCRS) continue;
        rows_test_element(&e->rows, i, element + k);
        EMIT(b, selp_b32, s->real[k], s->real[k], I(0), e->rows.scratch.test);
    }
    if (is_short(plan)) out_store(b, rows_inside(&e->rows, i), to, OUT_F16, count, pack_shorts(e, s, count));
    else
        out_store(b, rows_inside(&e->rows, i), to, plan->out.element, count,
                  out_pack(b, plan->out.element, s, NULL, count));
}

void softmax_start_store(softmax_emitter *e) {
    const softmax_plan *plan = e->plan;
    mc_builder *b = e->b;
    out_declare_scratch(&e->packing, b, is_short(plan) ? OUT_F32 : plan->out.element,
                        softmax_store_elements(plan));
    EMIT(b, mad_wide, e->rows.scratch.at, e->rows.units.first, I(softmax_out_bytes(plan, plan->deal.unit)),
         e->block.c);
}

void softmax_store(softmax_emitter *e, int i) {
    int count = softmax_store_elements(e->plan);
    for (int element = 0; element < e->plan->deal.unit; element += count)
        store_run(e, &e->packing, i, element, count);
}

/* -- The second output --------------------------------------------------------------------------------- */

/* TO = ln(S). */
static void emit_ln(const softmax_emitter *e, mc_reg s, mc_reg to) {
    static const float terms[] = SOFTMAX_LN_TERMS;
    enum { TERMS = sizeof terms / sizeof *terms, FRACTION_BITS = 23 };
    mc_builder *b = e->b;
    mc_reg power = sub_s32(b, "power_of", s, H(SOFTMAX_ROOT_BITS)), term = b32(b, "ln_term");
    mc_reg whole = shr_s32(b, "whole_power", power, I(FRACTION_BITS));
    mc_reg m = sub_s32(b, "mantissa", s, shl_b32(b, "whole_bits", whole, I(FRACTION_BITS)));
    mc_reg minus_one = mov_b32(b, "minus_one", F32(-1));
    mc_reg z = div_f32(b, "ln_z", add_f32(b, "below", m, minus_one), add_f32(b, "above", m, e->constant.one));
    mc_reg square = mul_f32(b, "ln_square", z, z), q = b32(b, "ln_of");
    EMIT(b, mov_b32, q, F32(terms[TERMS - 1]));
    for (int i = TERMS - 2; i >= 0; i--) {
        EMIT(b, mov_b32, term, F32(terms[i]));
        EMIT(b, fma_f32, q, q, square, term);
    }
    EMIT(b, mul_f32, q, q, z);
    EMIT(b, mov_b32, term, F32(SOFTMAX_LN_2));
    EMIT(b, fma_f32, to, cvt_f32_s32(b, "power_real", whole), term, q);
}

/* The address of the lane's own row. */
static mc_reg lse_at(const softmax_emitter *e) {
    const softmax_plan *plan = e->plan;
    mc_builder *b = e->b;
    mc_reg row = mad_s32(b, "lse_row", e->rows.block.number, I(plan->deal.vec), e->rows.thread),
           lse = load_array(b, "lse");
    if (plan->batch) {
        mc_reg before = mul_s32(b, "lse_before", b->batch, I(WORD));
        mc_operand m = plan->deal.per_warp > 1 ? e->grid.m
                                               : dim_operand(plan->m, load_shape(b, "m", plan->m == MC_OPEN));
        lse = mad_wide(b, "batch_lse", before, m, lse);
    }
    return mad_wide(b, "lse_at", row, I(WORD), lse);
}

/* LSE is ln(s), and becomes the row's: with its greatest element, scaled. */
static void add_greatest(const softmax_emitter *e, mc_reg lse) {
    mc_builder *b = e->b;
    if (e->plan->late && e->scale.id) {
        mc_reg zero = mov_b32(b, "lse_zero", I(0));
        EMIT(b, fma_f32, lse, e->constant.log2_e, zero, lse);
        EMIT(b, add_f32, lse, lse, mul_f32(b, "scaled_greatest", e->own.greatest, e->scale));
    } else EMIT(b, add_f32, lse, lse, e->own.greatest);
}

void softmax_store_lse(softmax_emitter *e) {
    mc_builder *b = e->b;
    if (!e->plan->lse) return;
    note(b, "logarithms of the rows' sums: the first threads have a row each");
    mc_label none = label(b, "NO_LSE");
    if (rows_in_teams(&e->plan->deal))
        EMIT_IF(b, setp_lt(b, "takes_none", e->rows.block.number, I(0)), bra, TO(none));
    EMIT_IF(b, setp_ge(b, "not_early", e->rows.thread, I(e->plan->deal.vec)), bra, TO(none));
    mc_reg at = lse_at(e);
    emit_ln(e, e->own.sum, e->rows.scratch.real);
    add_greatest(e, e->rows.scratch.real);
    EMIT(b, stg_b32, AT(at, 0), e->rows.scratch.real);
    set_label(b, none);
}
