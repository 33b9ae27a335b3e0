/* Products of digits, and what becomes of the accumulators that they are added to. */
#include "ops/spmm/integer/products.h"

mc_opcode spmm_mma(const spmm_arithmetic *math, int lhs_digit, int rhs_digit) {
    bool lhs_signed = digit_is_signed(math->integer.a, lhs_digit),
         rhs_signed = digit_is_signed(math->integer.b, rhs_digit);
    return math->order == SPMM_PAPER ? mma_int8_small(lhs_signed, rhs_signed)
                                     : mma_int8(rhs_signed, lhs_signed);
}

/* Emits the small mma of the paper's order, in which A's values are the mma's rows and a column of B is one
   of its columns. Each takes one register of either: 16 slots, or 32 of 4 bits. The registers are those that
   the large mma takes (fragment.h). */
static void emit_small_products(const spmm_sums *s, mc_opcode op, spmm_operands of, const mc_reg acc[4]) {
    for (int i = 0; i < of.count; i++)
        for (int column = 0; column < of.columns; column++) {
            const mc_reg *sums = &acc[frag_c_reg(column, 0)];
            builder_emit(s->b, (mc_reg){0}, op,
                         MC_OPERANDS(V2(sums), of.a[i], of.b[frag_a_reg(column, i)], V2(sums)));
        }
}

void spmm_emit_product(const spmm_sums *s, mc_opcode op, spmm_operands of, const mc_reg acc[4]) {
    if (s->of->order == SPMM_PAPER) emit_small_products(s, op, of, acc);
    else
        builder_emit(s->b, (mc_reg){0}, op,
                     MC_OPERANDS(V4(acc), operand_vector(of.b, 2 * of.count), operand_vector(of.a, of.count),
                                 V4(acc)));
}

/* Adds up the accumulators by their weights: the first `count` become the sums. */
static void emit_weigh(const spmm_sums *s) {
    mc_builder *b = s->b;
    int count = s->count;
    int weight = 1 << spmm_sum_weight(s->of, 1);
    for (int top = s->of->sums - 1; top > 0; top--) {
        note(b, "a digit weighs %d times the one below", weight);
        for (int i = count * (top - 1); i < count * top; i++)
            EMIT(b, mad_s32, s->acc[i], s->acc[count + i], I(weight), s->acc[i]);
    }
    spmm_emit_unstack(s);
}

void sums_begin(spmm_sums *s) { spmm_declare_bias(s); }

void sums_declare(spmm_sums *s, int count) {
    s->count = count;
    b32_array(s->b, "acc", count * s->of->sums, s->acc);
    spmm_declare_totals(s);
}

void sums_zero(spmm_sums *s) {
    for (int i = 0; i < s->count * s->of->sums; i++) EMIT(s->b, mov_b32, s->acc[i], I(0));
    spmm_emit_zero_bias(s);
}

void sums_settle(spmm_sums *s, int odd_column, mc_reg more) {
    spmm_emit_settle_halves(s, odd_column);
    if (s->of->exact) spmm_emit_totals(s, more);
    else emit_weigh(s);
}
