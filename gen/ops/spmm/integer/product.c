/* Products of digits: which mma takes them, and their operands. */
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
