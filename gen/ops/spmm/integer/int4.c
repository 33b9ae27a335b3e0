/* B's columns of 4 bits as operands of a 4-bit mma, whose other operand is the row block's vectors: m16n8k64,
   or m16n8k32 where the stride is 32; in the paper's order m8n8k32.

   A transpose by bytes has brought two columns of 4 rows into a register: the even column in the low halves
   of the bytes, the odd one in the high halves. Of two such registers a shift and a lop3 make one register of
   each column. Its nibbles then lie in the order of rows 0, 4, 1, 5, 2, 6, 3, 7, and so the packer has put
   the indices into the reverse of that order (shuffled_slot in nibbles.h). That is Magicube's index shuffle
   (section IV-B3, figure 7; what takes 8 bitwise operations there takes 4 instructions here). Without it the
   bytes first change places, which takes two instructions more. */
#include "parts/fragment.h"
#include "ops/spmm/integer/products.h"

enum {
    SELECT =
        (0xf0 & 0xaa) | (0xcc & ~0xaa & 0xff), /* lop3: a where bits of c are set, else b (PTX ISA, "lop3") */
};

/* registers that ptxas 13 takes where it makes several instructions of a 4-bit mma */
enum { EMULATION = 16 };

/* Registers of the operand A. */
static int operand_count(const spmm_arithmetic *math) { return math->depth / 16; }

void spmm_declare_columns4(spmm_gathered *g) {
    b32_array(g->sums->b, "column", operand_count(g->sums->of) * SPMM_BYTES, g->column);
    if (!g->sums->b->arch->int4) g->sums->b->spare += EMULATION;
}

/* Makes EVEN and ODD, the two columns of LOW's and HIGH's bytes: row halves 0 and 1 of the operand
   (frag_a_reg). */
static void emit_pair(mc_builder *b, mc_reg low, mc_reg high, mc_reg even, mc_reg odd) {
    EMIT(b, shl_b32, even, high, I(4));
    EMIT(b, lop3, even, low, even, H(LOW_HALVES), I(SELECT));
    EMIT(b, shr_u32, odd, low, I(4));
    EMIT(b, lop3, odd, odd, high, H(LOW_HALVES), I(SELECT));
}

void spmm_note_columns4(const spmm_gathered *g) {
    mc_builder *b = g->sums->b;
    note(b, "by bytes, low and high get two columns each of rows 0..3 and 4..7 of 8 slots; by halves of "
            "bytes, column gets one");
    note(b, "of all 8: lop3 0x%02x takes low halves from its first operand, high ones from its second",
         SELECT);
    if (g->sums->of->integer.shuffle)
        note(b, "the rows are then in the order 0, 4, 1, 5, 2, 6, 3, 7, for which col_idx has been shuffled");
    else
        note(b, "prmt first brings together the bytes of rows 0, 2, 4, 6 and of 1, 3, 5, 7, so that the rows "
                "stay in order");
}

void spmm_emit_columns4(const spmm_gathered *g, int bytes, int step) {
    mc_builder *b = g->sums->b;
    note(b, "by halves of bytes");
    for (int c = 0; c < bytes; c++) {
        const mc_reg *column = &g->column[operand_count(g->sums->of) * c];
        mc_reg low = g->low[c], high = g->high[c];
        if (!g->sums->of->integer.shuffle) {
            low = g->pair[0], high = g->pair[1];
            EMIT(b, prmt, low, g->low[c], g->high[c], I(0x6420));
            EMIT(b, prmt, high, g->low[c], g->high[c], I(0x7531));
        }
        emit_pair(b, low, high, column[frag_a_reg(0, step)], column[frag_a_reg(1, step)]);
    }
}

static mc_opcode mma4(const spmm_arithmetic *math, int mma) {
    bool rhs_signed = digit_is_signed(math->integer.b, 0),
         lhs_signed = digit_is_signed(math->integer.a, mma * math->integer.planes);
    return math->order == SPMM_PAPER ? mma_int4_small(lhs_signed, rhs_signed)
                                     : mma_int4(math->depth, rhs_signed, lhs_signed);
}

void spmm_emit_mma4(const spmm_gathered *g, int byte, int group, const mc_reg *value) {
    const spmm_arithmetic *math = g->sums->of;
    int values = operand_count(math) / 2;
    for (int m = 0; m < math->mma; m++) {
        spmm_operands of = {&g->column[2 * values * byte], &value[values * m], values, 2};
        spmm_emit_product(g->sums, mma4(math, m), of, spmm_acc_of(g->sums, m, 0, group));
    }
}
