/* Products of pairs of bytes. ldmatrix.trans moves elements of 16 bits, so that a lane gets two
   neighbouring columns (bytes) of two slots. These are not untangled. Instead two mma each
   take one of the columns: for the one, A's values stand at the even bytes of the operand, for the other at
   the odd bytes, with zeros between. With a B of 12 or 16 bits the two bytes are the digits of one column. */
#include "ops/spmm/integer/products.h"

/* Makes operands of the values X of 8 rows: `even` for the columns at even bytes, `odd` for those at odd
   bytes, with zeros between. */
static void emit_operands(const spmm_pairs *p, mc_reg x, const mc_reg even[2], const mc_reg odd[2]) {
    mc_builder *b = p->sums->b;
    EMIT(b, and_b32, even[0], x, H(0x00ff00ff));
    EMIT(b, prmt, even[1], x, p->zero, I(0x4341));
    EMIT(b, prmt, odd[0], x, p->zero, I(0x2404));
    EMIT(b, and_b32, odd[1], x, H(0xff00ff00));
}

/* The same of all rows that mma MMA takes: X are A's values, STEP registers from 8 rows to the next. */
static void emit_operands_of(const spmm_pairs *p, int mma, const mc_reg *x, int step, const mc_reg *even,
                             const mc_reg *odd) {
    int operands = integer_operands(p->sums->of);
    for (int i = 0; i < operands; i++)
        emit_operands(p, x[step * (operands * mma + i)], even + 2 * i, odd + 2 * i);
}

/* What is multiplied: mma MMA's VALUE and column COLUMN of the pairs of load LOAD, or its digit RHS_DIGIT. */
typedef struct pair_product {
    int mma, rhs_digit, load, column;
    const mc_reg *value;
} pair_product;

/* Multiplies MATRIX. It is the operand A: its rows are the pairs of bytes g of 16 bytes and of the 16 beside,
   its k slots 0-7 and 8-15. */
static void emit_swapped(const spmm_pairs *p, mc_opcode op, pair_product of, const mc_reg matrix[4]) {
    int group = spmm_pair_columns(p->sums->of) * of.load + of.column;
    mc_reg a[4];
    for (int i = 0; i < 4; i++) a[frag_a_reg(i & 1, i >> 1)] = matrix[i];
    spmm_emit_product(p->sums, op, (spmm_operands){a, of.value, 2, 2},
                      spmm_acc_of(p->sums, of.mma, of.rhs_digit, group));
}

/* The same where vectors have 16 rows. MATRIX is two operands B: the pairs of bytes of slots 0-7 and 8-15,
   then the 16 bytes beside of both. */
static void emit_tall(const spmm_pairs *p, mc_opcode op, pair_product of, const mc_reg matrix[4]) {
    for (int i = 0; i < 2; i++) {
        int group = spmm_pair_columns(p->sums->of) * (2 * of.load + i) + of.column;
        mc_reg b[4] = {{0}};
        for (int k = 0; k < 2; k++) b[frag_a_reg(0, k)] = matrix[2 * i + k];
        spmm_emit_product(p->sums, op, (spmm_operands){b, of.value, 2, 1},
                          spmm_acc_of(p->sums, of.mma, of.rhs_digit, group));
    }
}

static void emit_mma(const spmm_pairs *p, pair_product of, const mc_reg matrix[4]) {
    const spmm_arithmetic *math = p->sums->of;
    mc_opcode op = spmm_mma(math, of.mma * math->integer.planes, of.rhs_digit);
    (spmm_is_tall(math) ? emit_tall : emit_swapped)(p, op, of, matrix);
}

/* Multiplies the two bytes of each pair: two columns of 8 bits, or the low and the high digit of one
   column. */
static void emit_multiply_bytes(const spmm_pairs *p, mc_reg matrix[][4], const mc_reg *x, int step) {
    bool digits = p->sums->of->integer.b.count > 1;
    for (int m = 0; m < integer_products(p->sums->of); m++) {
        emit_operands_of(p, m, x, step, p->even, p->odd);
        for (int odd = 0; odd < 2; odd++)
            for (int q = 0; q < p->loads; q++)
                emit_mma(p, (pair_product){m, digits ? odd : 0, q, digits ? 0 : odd, odd ? p->odd : p->even},
                         matrix[q]);
    }
}

/* The same of 4-bit columns: the low and the high halves of both bytes of a pair. */
static void emit_multiply_nibbles(const spmm_pairs *p, mc_reg matrix[][4], const mc_reg *x, int step) {
    int count = integer_products(p->sums->of), regs = 2 * integer_operands(p->sums->of);
    for (int m = 0; m < count; m++) emit_operands_of(p, m, x, step, &p->even[regs * m], &p->odd[regs * m]);
    for (int q = 0; q < p->loads; q++)
        for (int high = 0; high < 2; high++) {
            mc_reg bytes[4];
            for (int i = 0; i < 4; i++) bytes[i] = spmm_emit_half(p->sums, matrix[q][i], high, p->half[i]);
            for (int m = 0; m < count; m++)
                for (int odd = 0; odd < 2; odd++)
                    emit_mma(p, (pair_product){m, 0, q, 2 * odd + high, &(odd ? p->odd : p->even)[regs * m]},
                             bytes);
        }
}

/* Makes an operand of rows of 16 bytes, of which ldmatrix brought all 32 slots: the 8 even columns, then the
   8 odd ones, of the slots in the order of A's values. MATRIX i has slots 8 i to 8 i + 7, of which a register
   has two, in two columns. */
static void emit_columns(const spmm_pairs *p, const mc_reg matrix[4]) {
    static const unsigned selectors[] = {0x6240, 0x7351}; /* prmt's, of slots in the order of A's values */
    note(p->sums->b, "even columns and odd ones, of slots 0..15 and 16..31");
    for (int half = 0; half < 2; half++)
        for (int odd = 0; odd < 2; odd++)
            EMIT(p->sums->b, prmt, p->first[0][frag_a_reg(odd, half)], matrix[2 * half], matrix[2 * half + 1],
                 H(selectors[odd]));
}

/* Multiplies it by VALUE, those of both halves as they are packed. */
static void emit_multiply_columns(const spmm_pairs *p, const mc_reg *value) {
    const spmm_arithmetic *math = p->sums->of;
    int operands = integer_operands(math);
    for (int m = 0; m < integer_products(math); m++)
        spmm_emit_product(p->sums, spmm_mma(math, m * math->integer.planes, 0),
                          (spmm_operands){p->first[0], &value[2 * operands * m], 2, 2},
                          spmm_acc_of(p->sums, m, 0, 0));
}

/* -- Sparse ---------------------------------------------------------------------------------------------- */

/* An operand B of mma.sp has 64 bytes of k: register r of lane (g, t) those from 16 r + 4 t on, which are
   slots 8 r + 2 t and 8 r + 2 t + 1, two bytes of either. Of each four A has two, which the metadata name:
   bytes 0 and 2, or 1 and 3, in all rows alike. So A's operand is that of 32 slots. */
static const unsigned picks[] = {0x88888888, 0xdddddddd};

void integer_pairs_multiply_sparse(const spmm_pairs *p, int piece, const mc_reg matrix[4],
                                   const mc_reg *value) {
    const spmm_arithmetic *math = p->sums->of;
    const bool digits = math->integer.b.count > 1;
    for (int m = 0; m < integer_products(math); m++) {
        const mc_reg *a = &value[4 * m];
        for (int odd = 0; odd < 2; odd++) {
            const int digit = digits ? odd : 0, column = digits ? 0 : odd;
            const mc_reg *sums = spmm_acc_of(p->sums, m, digit, spmm_pair_columns(math) * piece + column);
            builder_emit(p->sums->b, (mc_reg){0}, spmm_mma(math, m * math->integer.planes, digit),
                         MC_OPERANDS(V4(sums), V4(a), V4(matrix), V4(sums), p->picks[odd], I(0)));
        }
    }
}

spmm_pairs integer_pairs_begin(spmm_sums *sums, int loads) {
    mc_builder *b = sums->b;
    bool halves = sums->of->integer.rhs.bits == 4;
    int operands = 2 * (halves ? sums->of->mma : integer_operands(sums->of));
    spmm_pairs p = {.sums = sums, .loads = loads};
    if (sums->of->narrow_rows) {
        b32_array(b, "columns_of", 4, p.first[0]);
        return p;
    }
    if (sums->of->sparse) {
        p.picks[0] = mov_b32(b, "even_bytes", H(picks[0])), p.picks[1] = mov_b32(b, "odd_bytes", H(picks[1]));
        return p;
    }
    p.zero = mov_b32(b, "zero", I(0));
    b32_array(b, "even", operands, p.even);
    b32_array(b, "odd", operands, p.odd);
    if (halves) b32_array(b, "nibble", 4, p.half);
    return p;
}

void integer_pairs_multiply(const spmm_pairs *p, int half, mc_reg matrix[][4], const mc_reg *value,
                            int step) {
    bool digits = p->sums->of->integer.b.count > 1;
    if (p->sums->of->narrow_rows) {
        if (half == 0) emit_columns(p, matrix[0]);
        else emit_multiply_columns(p, value);
        return;
    }
    note(p->sums->b, "slots %d..%d: values at even bytes for %s, at odd bytes for %s", 16 * half,
         16 * half + 15, digits ? "B's low digit" : "even columns", digits ? "the high one" : "odd ones");
    if (p->sums->of->integer.rhs.bits == 4) emit_multiply_nibbles(p, matrix, value, step);
    else emit_multiply_bytes(p, matrix, value, step);
}

void integer_pairs_add_bias(const spmm_pairs *p, const mc_reg *value) {
    const spmm_arithmetic *math = p->sums->of;
    for (int m = 0; m < integer_products(math); m++)
        spmm_emit_add_bias(p->sums, m, &value[2 * integer_operands(math) * m]);
}
