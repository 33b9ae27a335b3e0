/* One exchange among the threads of a row block. Of the exponents that exponentials are made of, x log2(e),
 * a warp takes the greatest one that it has of any row, Nw, off all of its own, and adds exponentials up in
 * f32. Then it leaves the sum of each row in shared memory, with Nw beside it. Whoever reads these knows the
 * greatest of the row block, N, and what each warp's exponentials are to be multiplied by, 2^(Nw - N): sums
 * before they are added, quotients at last. N is rounded, which does no harm: it is taken off all alike.
 *
 * A row of which that sum is below 2^-LEAST_SUM_POWER lies so far below others that exponentials of it are
 * lost, or inexact; of one that is above 2^LEAST_SUM_POWER N is too far from the greatest exponent. Then, and
 * where N is infinite or NaN, the row block takes the way of long ones, which looks at each row by itself. */
#include "ops/softmax/kernel.h"

static const uint32_t all_but_sign = 0x7fffffff;

/* TO = FROM's bits as an integer, in the order of the reals; and back. A NaN whose sign bit is not set is
   greater than all. */
static void turn_over(mc_builder *b, mc_reg to, mc_reg from, mc_reg scratch) {
    EMIT(b, shr_s32, scratch, from, I(31));
    EMIT(b, and_b32, scratch, scratch, H(all_but_sign));
    EMIT(b, xor_b32, to, from, scratch);
}

/* Of all of the thread's rows, in e->own.greatest. */
static void fold_words(softmax_emitter *e) {
    mc_reg *word = e->of.greatest, real = e->rows.scratch.real, other = e->rows.scratch.other;
    mc_builder *b = e->b;
    for (int i = 1; i < e->plan->deal.rows / 2; i++) softmax_greater_pairs(e, word[0], word[0], word[i]);
    rows_convert(b, e->plan->in, word, 0, real);
    rows_convert(b, e->plan->in, word, 1, other);
    EMIT(b, max_nan_f32, e->own.greatest, real, other);
}

static void fold(softmax_emitter *e) {
    mc_reg greatest = e->own.greatest;
    mc_builder *b = e->b;
    if (e->plan->packed) fold_words(e);
    else EMIT(b, max_nan_f32, greatest, e->of.greatest[0], e->constant.lowest);
    for (int i = 1; !e->plan->packed && i < e->plan->deal.rows; i++)
        EMIT(b, max_nan_f32, greatest, greatest, e->of.greatest[i]);
}

void softmax_join_warp(softmax_emitter *e) {
    mc_reg scratch = e->rows.scratch.other;
    softmax_own *own = &e->own;
    mc_builder *b = e->b;
    note(b, "the greatest exponent of the warp, of all rows");
    softmax_turn_words(e);
    fold(e);
    EMIT(b, mul_f32, own->greatest, own->greatest, e->constant.log2_e);
    EMIT(b, max_nan_f32, own->greatest, own->greatest, e->constant.lowest);
    turn_over(b, own->key, own->greatest, scratch);
    EMIT(b, redux_max_s32, own->key, own->key, H(0xffffffff));
    turn_over(b, own->greatest, own->key, scratch);
    EMIT(b, xor_b32, own->shift, own->greatest, H(~all_but_sign));
}

void softmax_take_powers_once(softmax_emitter *e, int i) {
    mc_builder *b = e->b;
    softmax_unpack(e, i);
    for (int element = 0; element < e->plan->deal.unit; element++) {
        mc_reg value = e->units.value[i * e->plan->deal.unit + element];
        EMIT(b, fma_f32, value, value, e->constant.by, e->own.shift);
        EMIT(b, ex2_f32, value, value);
    }
}

void softmax_start_reals(softmax_emitter *e) {
    for (int i = 0; i < e->plan->deal.rows; i++) EMIT(e->b, mov_b32, e->of.part[i], I(0));
}

void softmax_add_reals(softmax_emitter *e, int i) {
    const rows_plan *deal = &e->plan->deal;
    for (int element = 0; element < deal->unit; element++) {
        mc_reg part = e->of.part[rows_row_of(deal, i, element)];
        EMIT(e->b, add_f32, part, part, e->units.value[i * deal->unit + element]);
    }
}

/* REAL, a warp's greatest exponent, becomes what its exponentials are multiplied by. */
static void make_weight(const softmax_emitter *e, mc_reg real) {
    mc_builder *b = e->b;
    EMIT(b, sub_f32, real, real, e->own.most);
    EMIT(b, ex2_f32, real, real);
}

/* Lanes have parts of all warps among them. */
static void weigh(void *user, int count, const mc_reg *values, const mc_reg *keys) {
    softmax_emitter *e = user;
    mc_reg scratch = e->rows.scratch.other, most = e->own.most;
    mc_builder *b = e->b;
    EMIT(b, mov_b32, most, keys[0]);
    for (int i = 1; i < count; i++) EMIT(b, max_s32, most, most, keys[i]);
    EMIT(b, redux_max_s32, most, most, H(0xffffffff));
    turn_over(b, most, most, scratch);
    for (int i = 0; i < count; i++) {
        turn_over(b, keys[i], keys[i], scratch);
        make_weight(e, keys[i]);
        EMIT(b, mul_f32, values[i], values[i], keys[i]);
    }
}

void softmax_join_reals(softmax_emitter *e) {
    const rows_joint joint = {.what = ROWS_REALS,
                              .word = {e->of.part},
                              .array = "sum_parts",
                              .prefix = "sums_",
                              .beside = e->own.key,
                              .weigh = weigh,
                              .user = e};
    note(e->b, "the rows' sums, of all threads, against the row block's greatest exponent");
    rows_join(&e->rows, &joint, &e->own.sum);
}

/* Bits are counted from the least sum's, as an integer without sign: a smaller sum comes out above greater
   ones, as a NaN does. */
void softmax_leave_if_apart(softmax_emitter *e) {
    mc_builder *b = e->b;
    mc_reg above = sub_s32(b, "above_least", e->own.sum, H(SOFTMAX_LEAST_SUM_BITS));
    mc_reg most = redux_max_u32(b, "most_above", above, H(0xffffffff));
    mc_reg apart = setp_ge_u32(b, "are_apart", most, H(SOFTMAX_MOST_SUM_BITS - SOFTMAX_LEAST_SUM_BITS));
    EMIT_IF(b, apart, bra_uni, TO(e->longer));
}

void softmax_divide_once(softmax_emitter *e) {
    mc_reg by = e->rows.scratch.real, weight = e->own.greatest;
    mc_builder *b = e->b;
    EMIT(b, rcp_approx_f32, by, e->own.sum);
    make_weight(e, weight);
    EMIT(b, mul_f32, by, by, weight);
    if (e->c_by.id) EMIT(b, mul_f32, by, by, e->c_by);
    rows_spread(&e->rows, by, e->of.by);
}
