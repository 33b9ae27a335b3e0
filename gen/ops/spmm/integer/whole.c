/* Values of A that lie as another kernel wrote them: whole elements, of which a lane has 8 neighbouring slots
   of a row. It takes them apart to bytes of digits, four slots a register, as an mma wants them. */
#include "ops/spmm/integer/products.h"

enum {
    LOW_BYTES = 0x6420, /* prmt: of two registers the bytes 0 and 2, or 1 and 3 */
    HIGH_BYTES = 0x7531,
    FIRST_FOUR = 0x5140, /* of two registers the bytes 0 and 1 in turn, or 2 and 3 */
    LAST_FOUR = 0x7362,
    TOP_BITS = 0x08080808, /* of four halves of bytes */
    SIGN_BITS = 30,        /* times a half's top bit: the upper half of its byte */
    HALF_REGS = 2,         /* of four slots each */
};

/* Two slots share a register. */
static void split_words(const spmm_gathered *g, const mc_reg *word, const mc_reg *const digits[2]) {
    for (int i = 0; i < HALF_REGS; i++) {
        EMIT(g->sums->b, prmt, digits[0][i], word[2 * i], word[2 * i + 1], I(LOW_BYTES));
        EMIT(g->sums->b, prmt, digits[1][i], word[2 * i], word[2 * i + 1], I(HIGH_BYTES));
    }
}

/* A register has all 8 slots. */
static void split_halves(const spmm_gathered *g, mc_reg word, const mc_reg *digit) {
    mc_builder *b = g->sums->b;
    const mc_reg even = g->pair[0], odd = g->pair[1], top = g->pair[2];
    EMIT(b, and_b32, even, word, I(LOW_HALVES));
    EMIT(b, shr_u32, odd, word, I(NIBBLE_BITS));
    EMIT(b, and_b32, odd, odd, I(LOW_HALVES));
    for (int i = 0; i < HALF_REGS; i++) {
        EMIT(b, prmt, digit[i], even, odd, I(i ? LAST_FOUR : FIRST_FOUR));
        if (!g->sums->of->integer.lhs.is_signed) continue;
        EMIT(b, and_b32, top, digit[i], I(TOP_BITS));
        EMIT(b, mad_s32, digit[i], top, I(SIGN_BITS), digit[i]);
    }
}

void integer_gathered_take_apart(const spmm_gathered *g, const mc_reg *loaded, const mc_reg *value) {
    const spmm_arithmetic *math = g->sums->of;
    int octets = integer_operands(math), regs = spmm_values_of(math).load_regs;
    for (int octet = 0; octet < octets; octet++) {
        const mc_reg *low = &value[HALF_REGS * octet], *high = &low[HALF_REGS * octets];
        if (math->given_bits == NIBBLE_BITS) split_halves(g, loaded[octet * regs], low);
        else split_words(g, &loaded[octet * regs], (const mc_reg *const[]){low, high});
    }
}
