/* What threads have of a row becomes what the row has: greatest elements, then sums (parts/rows/join.c). What
   is made of these is made once, before each thread gets it of its own rows. */
#include "ops/softmax/kernel.h"

void softmax_declare_own(softmax_emitter *e) {
    mc_builder *b = e->b;
    e->own.greatest = b32(b, "own_greatest"), e->own.shift = b32(b, "own_shift");
    b32_array(b, "own_total", 2, e->own.total);
    e->own.sum = b32(b, "own_sum");
    if (e->plan->once) e->own.key = b32(b, "own_key"), e->own.most = b32(b, "most_of_block");
}

/* Of the word of two rows the lane's own, in f32. */
static void take_own_half(softmax_emitter *e) {
    mc_builder *b = e->b;
    mc_reg own = e->own.greatest, odd = and_b32(b, "odd_row", e->rows.lane, I(1));
    EMIT(b, shr_u32, own, own, shl_b32(b, "half_bits", odd, I(4)));
    if (e->plan->in == ROWS_F16) EMIT(b, cvt_f32_f16, own, own);
    else EMIT(b, shl_b32, own, own, I(16));
}

rows_joined softmax_pairs(const softmax_plan *plan) {
    return plan->in == ROWS_F16 ? ROWS_GREATEST_F16X2 : ROWS_GREATEST_BF16X2;
}

void softmax_greater_pairs(const softmax_emitter *e, mc_reg to, mc_reg a, mc_reg b) {
    rows_greater_pairs(e->b, softmax_pairs(e->plan), to, a, b);
}

void softmax_lesser_pairs(const softmax_emitter *e, mc_reg to, mc_reg a, mc_reg b) {
    if (e->plan->in == ROWS_F16) EMIT(e->b, min_nan_f16x2, to, a, b);
    else EMIT(e->b, min_nan_bf16x2, to, a, b);
}

/* From M to what is taken off each element, which has its own sign where the plan is packed. */
static void make_shift(softmax_emitter *e) {
    const softmax_constants *c = &e->constant;
    softmax_own *own = &e->own;
    mc_builder *b = e->b;
    EMIT(b, max_nan_f32, own->shift, own->greatest, c->lowest);
    if (e->plan->packed && c->sign.id)
        EMIT(b, xor_b32, own->shift, own->shift, and_b32(b, "turned", c->sign, H(0x80000000)));
}

void softmax_turn_words(softmax_emitter *e) {
    bool turned = e->plan->packed && e->constant.sign.id;
    for (int i = 0; turned && i < e->plan->deal.rows / 2; i++)
        EMIT(e->b, xor_b32, e->of.greatest[i], e->of.greatest[i], e->constant.sign);
}

void softmax_join_greatest(softmax_emitter *e) {
    bool packed = e->plan->packed;
    const rows_joint joint = {.what = packed ? softmax_pairs(e->plan) : ROWS_GREATEST,
                              .word = {e->of.greatest},
                              .array = "greatest_parts",
                              .prefix = "greatest_"};
    note(e->b, "the rows' greatest elements, of all threads");
    softmax_turn_words(e);
    rows_join(&e->rows, &joint, &e->own.greatest);
    if (packed) take_own_half(e);
    make_shift(e);
    rows_spread(&e->rows, e->own.shift, e->of.shift);
}

void softmax_join_sums(softmax_emitter *e, bool one_word) {
    rows_joint joint = {.array = "sum_parts", .prefix = "sums_"};
    if (one_word) joint.what = ROWS_SUMS_OF_A_WORD, joint.word[0] = e->of.part;
    else joint.what = ROWS_SUMS_OF_TWO, joint.word[0] = e->of.low, joint.word[1] = e->of.high;
    note(e->b, "the rows' sums, of all threads");
    rows_join(&e->rows, &joint, e->own.total);
}
