/* A 4-bit B that is multiplied as 8 bits. A byte has two columns of B, the even one in its low half. Of four
 * such bytes two operands are made, one with the even columns and one with the odd ones (half_form in
 * parts/integer/integer.h).
 *
 * The operands hold more than B's values, and the sums are too large by it. What is too much comes off at the
 * end:
 *
 *   8 times the sum of A's row, of a signed B: one more mma adds it up, as if B had columns of nothing but -8
 *   the even column's sum, of an unsigned B's odd columns
 *   a factor of 16, of odd columns
 *
 * 16 times a sum must fit into 32 bits, so that k is bounded (spmm_exact_k). A kernel whose spec fixes a
 * larger k takes odd columns without the factor. All other steps are exact modulo 2^32. */
#include "ops/spmm/integer/products.h"

enum { ACCUMULATORS = 4 /* of an mma */ };

static const uint32_t minus_biases = 0xf8f8f8f8;

mc_reg spmm_emit_half(const spmm_sums *s, mc_reg bytes, bool high, mc_reg to) {
    return emit_halves(s->b, (half_form){s->of->integer.rhs.is_signed, s->of->integer.times_16}, bytes, high,
                       to);
}

/* -- What the sums have too much ---------------------------------------------------------------------- */

/* These accumulators lie as the product's do. That of accumulator I is the one of the same row: number 0 or
   1, and with vectors of 16 rows 2 or 3 for the second 8. */
static mc_reg bias_of(const spmm_sums *s, int i) {
    int row = i & (spmm_is_tall(s->of) ? 3 : 1);
    return s->bias_sum[ACCUMULATORS * (i / s->count) + row];
}

void spmm_declare_bias(spmm_sums *s) {
    mc_builder *b = s->b;
    if (!spmm_is_biased(s->of)) return;
    b32_array(b, "bias_sum", ACCUMULATORS * integer_products(s->of), s->bias_sum);
    s->bias = mov_b32(b, "bias_bytes", H(minus_biases));
}

void spmm_emit_zero_bias(const spmm_sums *s) {
    if (!spmm_is_biased(s->of)) return;
    for (int i = 0; i < ACCUMULATORS * integer_products(s->of); i++)
        EMIT(s->b, mov_b32, s->bias_sum[i], I(0));
}

void spmm_emit_add_bias(const spmm_sums *s, int mma, const mc_reg *values) {
    if (!spmm_is_biased(s->of)) return;
    const mc_reg bias[] = {s->bias, s->bias, s->bias, s->bias}, *sums = &s->bias_sum[ACCUMULATORS * mma];
    mc_opcode op = spmm_mma(s->of, mma * s->of->integer.planes, 0);
    spmm_emit_product(s, op, (spmm_operands){bias, values, 2, 1}, sums);
}

static void emit_take_bias(const spmm_sums *s, int odd_column) {
    mc_builder *b = s->b;
    note(b, "B's values had 8 added: 8 times the sum of A's row comes off");
    for (int i = 0; i < s->count * integer_products(s->of); i++) {
        if (s->of->integer.times_16 && i & odd_column) continue;
        EMIT(b, add_s32, s->acc[i], s->acc[i], bias_of(s, i));
    }
}

static void emit_divide(const spmm_sums *s, int odd_column) {
    mc_builder *b = s->b;
    bool with_even = !spmm_is_biased(s->of);
    note(b, "odd columns of B were 16 times what they are%s",
         with_even ? ", and had the even ones added" : "");
    for (int i = 0; i < s->count * integer_products(s->of); i++) {
        mc_reg acc = s->acc[i];
        if (!(i & odd_column)) continue;
        if (with_even) EMIT(b, sub_s32, acc, acc, s->acc[i - odd_column]);
        EMIT(b, shr_s32, acc, acc, I(4));
    }
}

void spmm_emit_settle_halves(const spmm_sums *s, int odd_column) {
    if (!s->of->integer.takes_halves) return;
    if (spmm_is_biased(s->of)) emit_take_bias(s, odd_column);
    if (s->of->integer.times_16) emit_divide(s, odd_column);
}
