/* Products of digits: which mma takes them, and their operands. */
#include "ops/spmm/integer/products.h"

mc_opcode spmm_mma(const spmm_arithmetic *math, int lhs_digit, int rhs_digit) {
    bool lhs_signed = digit_is_signed(math->integer.a, lhs_digit),
         rhs_signed = digit_is_signed(math->integer.b, rhs_digit);
    if (math->sparse) return mma_int8_sparse(lhs_signed, rhs_signed);
    if (spmm_is_tall(math)) return mma_int8(lhs_signed, rhs_signed);
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

/* The same of the large mma, whose 16 rows are A's. */
static void emit_tall_products(const spmm_sums *s, mc_opcode op, spmm_operands of, const mc_reg *acc) {
    const mc_reg a[4] = {of.a[0], of.a[2], of.a[1], of.a[3]};
    for (int column = 0; column < of.columns; column++) {
        const mc_reg *sums = acc + 4 * column,
                     b[2] = {of.b[frag_a_reg(column, 0)], of.b[frag_a_reg(column, 1)]};
        builder_emit(s->b, (mc_reg){0}, op, MC_OPERANDS(V4(sums), V4(a), V2(b), V4(sums)));
    }
}

void spmm_emit_product(const spmm_sums *s, mc_opcode op, spmm_operands of, const mc_reg *acc) {
    if (spmm_is_tall(s->of)) emit_tall_products(s, op, of, acc);
    else if (s->of->order == SPMM_PAPER) emit_small_products(s, op, of, acc);
    else
        builder_emit(s->b, (mc_reg){0}, op,
                     MC_OPERANDS(V4(acc), operand_vector(of.b, 2 * of.count), operand_vector(of.a, of.count),
                                 V4(acc)));
}
