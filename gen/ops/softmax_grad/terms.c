/* The arithmetic of mc_softmax_grad.h. */
#include "ops/softmax_grad/kernel.h"

/* -- The beginning ------------------------------------------------------------------------------------ */

void grad_place_block(grad_emitter *e) {
    const grad_plan *plan = e->plan;
    mc_builder *b = e->b;
    int vec = plan->deal.vec;
    mc_reg slot = e->rows.block.slot;
    e->p.at = mad_wide(b, "block_p", slot, I(vec * e->p.bytes), load_array(b, "p"));
    e->d.at = mad_wide(b, "block_dp", slot, I(vec * e->d.bytes), load_array(b, "dp"));
    e->c = mad_wide(b, "block_c", slot, I(vec * rows_type_bytes(plan->c)), load_array(b, "c"));
}

static void find_block(grad_emitter *e) {
    rows_find(&e->rows, false);
    grad_place_block(e);
    rows_count_units(&e->rows);
}

static void declare_units(grad_emitter *e) {
    const rows_plan *deal = &e->plan->deal;
    mc_builder *b = e->b;
    rows_declare_places(&e->rows);
    b32_array(b, "p_of", deal->hold * rows_unit_words(deal, e->p.bytes), e->units.p);
    b32_array(b, "dp_of", deal->hold * rows_unit_words(deal, e->d.bytes), e->units.d);
    b32_array(b, "term", deal->hold * deal->unit, e->units.term);
    rows_declare_scratch(&e->rows);
}

static void declare_rows(grad_emitter *e) {
    mc_builder *b = e->b;
    int rows = e->plan->deal.rows;
    b32_array(b, "greatest", rows, e->of.greatest);
    b32_array(b, "least", rows, e->of.least);
    b32_array(b, "by", rows, e->of.by);
    b32_array(b, "part_of_sum", rows, e->of.part);
    b32_array(b, "sum_low", rows, e->of.low);
    b32_array(b, "sum_high", rows, e->of.high);
    b32_array(b, "sum", rows, e->of.sum);
    e->own.greatest = b32(b, "own_greatest"), e->own.least = b32(b, "own_least");
    e->own.power = b32(b, "own_power"), e->own.by = b32(b, "own_by"), e->own.sum = b32(b, "own_sum");
    b32_array(b, "own_total", 2, e->own.total);
}

void grad_begin(grad_emitter *e, mc_builder *b, const grad_plan *plan, const mc_batch_array *arrays) {
    unsigned parts = (unsigned)(plan->deal.warps * plan->deal.vec);
    *e = (grad_emitter){.b = b,
                        .plan = plan,
                        .p = {.bytes = rows_type_bytes(plan->p), .align = plan->align},
                        .d = {.bytes = rows_type_bytes(plan->d), .align = plan->align}};
    if (plan->batch) batch_begin(b, arrays, GRAD_BATCH_ARRAYS);
    shared_array(b, "sum_parts", parts * 2 * WORD, 2 * WORD);
    shared_array(b, "greatest_parts", parts * WORD, WORD);
    shared_array(b, "least_parts", parts * WORD, WORD);
    rows_begin(&e->rows, b, &plan->deal);
    if (plan->deal.per_warp == 1) find_block(e);
    if (plan->scaled) e->scale = ld_param_f32(b, "scale", NAME("scale"));
    declare_units(e);
    declare_rows(e);
    e->rounder = mov_b32(b, "rounder", F32(GRAD_ROUNDER));
}

/* -- Terms -------------------------------------------------------------------------------------------- */

void grad_load(grad_emitter *e) {
    rows_load(&e->rows, &e->p, I(0), e->units.p);
    rows_load(&e->rows, &e->d, I(0), e->units.d);
}

/* The registers P and D = ELEMENT of unit I, and of its gradient. */
static void convert(const grad_emitter *e, int i, int element, mc_reg p, mc_reg d) {
    const grad_plan *plan = e->plan;
    const mc_reg *p_words = &e->units.p[i * rows_unit_words(&plan->deal, e->p.bytes)],
                 *d_words = &e->units.d[i * rows_unit_words(&plan->deal, e->d.bytes)];
    rows_convert(e->b, plan->p, p_words, element, p);
    rows_convert(e->b, plan->d, d_words, element, d);
}

static mc_reg term_of(const grad_emitter *e, int i, int element) {
    return e->units.term[i * e->plan->deal.unit + element];
}

void grad_take(grad_emitter *e, int i) {
    const rows_plan *deal = &e->plan->deal;
    const rows_scratch *s = &e->rows.scratch;
    for (int element = 0; element < deal->unit; element++) {
        mc_reg term = term_of(e, i, element);
        convert(e, i, element, s->real, s->other);
        EMIT(e->b, mul_f32, term, s->real, s->other);
        if (deal->order == ROWS_BCRS) continue;
        rows_test_element(&e->rows, i, element);
        EMIT(e->b, selp_b32, term, term, I(0), s->test);
    }
}

/* -- Greatest terms ----------------------------------------------------------------------------------- */

static const uint32_t magnitude = 0x7fffffff, two_magnitudes = 0x7fff7fff;

void grad_start_greatest(grad_emitter *e) {
    int words = e->plan->packed ? e->plan->deal.rows / 2 : e->plan->deal.rows;
    for (int i = 0; i < words; i++) EMIT(e->b, mov_b32, e->of.greatest[i], I(0));
}

/* The upper halves of f32 are bf16. */
static void take_pairs(grad_emitter *e, int i) {
    const uint32_t upper_halves = 0x7632;
    mc_reg word = e->rows.scratch.real;
    mc_builder *b = e->b;
    for (int element = 0; element < e->plan->deal.unit; element += 2) {
        mc_reg row = e->of.greatest[element / 2];
        EMIT(b, prmt, word, term_of(e, i, element), term_of(e, i, element + 1), H(upper_halves));
        EMIT(b, and_b32, word, word, H(two_magnitudes));
        rows_greater_pairs(b, ROWS_GREATEST_BF16X2, row, row, word);
    }
}

static void take_magnitudes(grad_emitter *e, int i) {
    const rows_plan *deal = &e->plan->deal;
    mc_reg word = e->rows.scratch.real;
    mc_builder *b = e->b;
    for (int element = 0; element < deal->unit; element++) {
        mc_reg row = e->of.greatest[rows_row_of(deal, i, element)];
        EMIT(b, and_b32, word, term_of(e, i, element), H(magnitude));
        EMIT(b, max_nan_f32, row, row, word);
    }
}

void grad_take_greatest(grad_emitter *e) {
    for (int i = 0; i < e->rows.units.count; i++)
        if (e->plan->packed) take_pairs(e, i);
        else take_magnitudes(e, i);
}

void grad_start_ends(grad_emitter *e) {
    for (int i = 0; i < e->plan->deal.rows; i++) {
        EMIT(e->b, mov_b32, e->of.greatest[i], I(0));
        EMIT(e->b, mov_b32, e->of.least[i], I(0));
    }
}

void grad_take_ends(grad_emitter *e, int i) {
    const rows_plan *deal = &e->plan->deal;
    mc_reg turned = e->rows.scratch.real;
    mc_builder *b = e->b;
    for (int element = 0; element < deal->unit; element++) {
        int place = rows_row_of(deal, i, element);
        mc_reg term = term_of(e, i, element), most = e->of.greatest[place], least = e->of.least[place];
        EMIT(b, max_nan_f32, most, most, term);
        EMIT(b, xor_b32, turned, term, H(~magnitude));
        EMIT(b, max_nan_f32, least, least, turned);
    }
}

/* From G in the lane's own row to g and 2^21 / g. The bits of a power of two are its exponent's. */
static void make_power(grad_emitter *e, mc_reg greatest) {
    const uint32_t all = (2U * GRAD_BIAS + GRAD_SUM_BITS) << GRAD_FRACTION_BITS;
    grad_own *own = &e->own;
    mc_builder *b = e->b;
    mc_reg least = mov_b32(b, "least_power", F32(GRAD_LEAST));
    EMIT(b, and_b32, own->power, greatest, H(GRAD_INFINITY_BITS));
    EMIT(b, max_s32, own->power, own->power, least);
    EMIT(b, sub_s32, own->by, H(all), own->power);
    rows_spread(&e->rows, own->by, e->of.by);
}

/* Of the word of two rows the lane's own. */
static void take_own_half(grad_emitter *e) {
    mc_builder *b = e->b;
    mc_reg own = e->own.greatest, odd = and_b32(b, "odd_row", e->rows.lane, I(1));
    EMIT(b, shr_u32, own, own, shl_b32(b, "half_bits", odd, I(4)));
    EMIT(b, shl_b32, own, own, I(16));
}

void grad_join_greatest(grad_emitter *e) {
    bool packed = e->plan->packed;
    const rows_joint joint = {.what = packed ? ROWS_GREATEST_BF16X2 : ROWS_GREATEST,
                              .word = {e->of.greatest},
                              .array = "greatest_parts",
                              .prefix = "greatest_"};
    note(e->b, "the rows' greatest terms, of all threads");
    rows_join(&e->rows, &joint, &e->own.greatest);
    if (packed) take_own_half(e);
    make_power(e, e->own.greatest);
}

void grad_join_ends(grad_emitter *e) {
    const rows_joint most = {.what = ROWS_GREATEST,
                             .word = {e->of.greatest},
                             .array = "greatest_parts",
                             .prefix = "greatest_"},
                     least = {.what = ROWS_GREATEST,
                              .word = {e->of.least},
                              .array = "least_parts",
                              .prefix = "least_"};
    note(e->b, "the rows' greatest terms of either sign, of all threads");
    rows_join(&e->rows, &most, &e->own.greatest);
    rows_join(&e->rows, &least, &e->own.least);
    make_power(e, max_nan_f32(e->b, "own_most", e->own.greatest, e->own.least));
}

/* -- Sums --------------------------------------------------------------------------------------------- */

/* The bits of the rounder and each u are added to the parts, which begin with as many times less its own. */
void grad_start_parts(grad_emitter *e) {
    const rows_plan *deal = &e->plan->deal;
    uint32_t elements = (uint32_t)(deal->unit * e->rows.units.count / deal->rows);
    for (int i = 0; i < deal->rows; i++)
        EMIT(e->b, mov_b32, e->of.part[i], H(0U - elements * GRAD_ROUNDER_BITS));
}

void grad_add(grad_emitter *e, int i) {
    const rows_plan *deal = &e->plan->deal;
    mc_reg whole = e->rows.scratch.real;
    mc_builder *b = e->b;
    for (int element = 0; element < deal->unit; element++) {
        int row = rows_row_of(deal, i, element);
        EMIT(b, fma_f32, whole, term_of(e, i, element), e->of.by[row], e->rounder);
        EMIT(b, add_s32, e->of.part[row], e->of.part[row], whole);
    }
}

void grad_start_sums(grad_emitter *e) {
    for (int i = 0; i < e->plan->deal.rows; i++) {
        EMIT(e->b, mov_b32, e->of.low[i], I(0));
        EMIT(e->b, mov_b32, e->of.high[i], I(0));
    }
}

/* Parts of at most 64 elements of at most 2^22 units stay below 2^31. */
void grad_add_parts(grad_emitter *e) {
    mc_builder *b = e->b;
    mc_reg sum = b64(b, "sum_wide"), part = b64(b, "part_wide");
    for (int i = 0; i < e->plan->deal.rows; i++) {
        const mc_reg words[2] = {e->of.low[i], e->of.high[i]};
        EMIT(b, cvt_s64, part, e->of.part[i]);
        EMIT(b, join_b64, sum, V2(words));
        EMIT(b, add_s64, sum, sum, part);
        EMIT(b, split_b64, V2(words), sum);
    }
}

void grad_join_sums(grad_emitter *e, bool one_word) {
    rows_joint joint = {.is_signed = true, .array = "sum_parts", .prefix = "sums_"};
    grad_own *own = &e->own;
    mc_builder *b = e->b;
    if (one_word) joint.what = ROWS_SUMS_OF_A_WORD, joint.word[0] = e->of.part;
    else joint.what = ROWS_SUMS_OF_TWO, joint.word[0] = e->of.low, joint.word[1] = e->of.high;
    note(b, "the rows' sums, of all threads");
    rows_join(&e->rows, &joint, own->total);
    mc_reg wide = b64(b, "whole_sum");
    EMIT(b, join_b64, wide, V2(own->total));
    EMIT(b, cvt_f32_s64, own->sum, wide);
    EMIT(b, mul_f32, own->sum, own->sum,
         sub_s32(b, "unit_of_sum", own->power, H(GRAD_SUM_BITS << GRAD_FRACTION_BITS)));
}

void grad_mend_sums(grad_emitter *e) {
    grad_own *own = &e->own;
    mc_builder *b = e->b;
    mc_reg finite = setp_lt(b, "is_finite", own->power, H(GRAD_INFINITY_BITS));
    mc_reg infinite = sub_f32(b, "infinite_sum", own->greatest, own->least);
    EMIT(b, selp_b32, own->sum, own->sum, infinite, finite);
}

void grad_spread_sums(grad_emitter *e) { rows_spread(&e->rows, e->own.sum, e->of.sum); }

/* -- C ------------------------------------------------------------------------------------------------ */

/* In the order of rows_type. */
static const out_element elements[] = {[ROWS_F32] = OUT_F32, [ROWS_F16] = OUT_F16, [ROWS_BF16] = OUT_BF16};

static void make_element(const grad_emitter *e, int i, int element, mc_reg to) {
    const rows_plan *deal = &e->plan->deal;
    const rows_scratch *s = &e->rows.scratch;
    mc_builder *b = e->b;
    convert(e, i, element, s->real, to);
    EMIT(b, sub_f32, to, to, e->of.sum[rows_row_of(deal, i, element)]);
    EMIT(b, mul_f32, to, to, s->real);
    if (e->scale.id) EMIT(b, mul_f32, to, to, e->scale);
    if (deal->order == ROWS_BCRS) return;
    rows_test_element(&e->rows, i, element);
    EMIT(b, selp_b32, to, to, I(0), s->test);
}

void grad_start_store(grad_emitter *e) {
    const grad_plan *plan = e->plan;
    int bytes = plan->deal.unit * rows_type_bytes(plan->c);
    out_declare_scratch(&e->packing, e->b, elements[plan->c], grad_store_elements(plan));
    EMIT(e->b, mad_wide, e->rows.scratch.at, e->rows.units.first, I(bytes), e->c);
}

void grad_store(grad_emitter *e, int i) {
    const grad_plan *plan = e->plan;
    const rows_plan *deal = &plan->deal;
    int count = grad_store_elements(plan), bytes = rows_type_bytes(plan->c);
    int64_t step = (int64_t)deal->team * deal->unit;
    mc_builder *b = e->b;
    for (int element = 0; element < deal->unit; element += count) {
        for (int k = 0; k < count; k++) make_element(e, i, element + k, e->packing.real[k]);
        out_store(b, rows_inside(&e->rows, i), AT(e->rows.scratch.at, (i * step + element) * bytes),
                  elements[plan->c], count, out_pack(b, elements[plan->c], &e->packing, NULL, count));
    }
}
