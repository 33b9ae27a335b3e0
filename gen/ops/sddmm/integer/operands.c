/* Both sides' values as operands of m16n8k32, for every pair of integer types.
 *
 * Of a step a lane has k = 0, 1, ... of a row of B, in words as loaded. Its operand has two registers for
 * each digit and parity. With h the register, their bytes hold
 *
 *   B of 8 bits     k = 4 h + 0, 1, 2, 3       the words themselves
 *   B of 16 bits    k = 4 h + 0, 1, 2, 3       digit d: bytes d and d + 2 of two words, by a prmt
 *   B of 4 bits     k = 8 h + 0, 2, 4, 6       the even parity: 16 times the value is (word << 4) & f0f0f0f0
 *                   k = 8 h + 1, 3, 5, 7       the odd one: word & f0f0f0f0
 *
 * 16 times a sum must fit into 32 bits, and 256 times where A has 4 bits too and is taken alike, so that k is
 * bounded (sddmm_arithmetic.most_k). A kernel whose spec fixes a larger k takes 4-bit values as they are.
 *
 * B is made ready for each group of vectors, A only once: A's bytes are collected in B's order. */
#include "ops/sddmm/arithmetic.h"
#include "parts/emit.h"
#include "parts/fragment.h"

static const uint32_t high_halves = ~(uint32_t)LOW_HALVES;

_Static_assert((int)SDDMM_INTEGER_WORDS == (int)SDDMM_MAX_STEP_A, "a step of A fits");

/* -- 4-bit values as bytes ---------------------------------------------------------------------------- */

/* Gives bytes of 0 to 15 their sign: they become -8 to 7. x ^ 88 has bit 7 set, so that nothing is borrowed
   from the next byte. */
static void emit_sign(mc_builder *b, mc_reg to) {
    EMIT(b, sub_s32, to, to, H(0x08080808));
    EMIT(b, xor_b32, to, to, H(0x80808080));
}

/* Takes of each byte of WORD the low half, or the high one. */
static void emit_half(mc_builder *b, digit_side side, mc_reg word, bool high, mc_reg to) {
    enum { AND_XOR = 0x6a }; /* lop3's table of (a & b) ^ c */
    if (high) EMIT(b, shr_u32, to, word, I(4));
    mc_reg from = high ? to : word;
    if (!side.is_signed) {
        EMIT(b, and_b32, to, from, H(LOW_HALVES));
        return;
    }
    EMIT(b, lop3, to, from, H(LOW_HALVES), H(0x88888888), I(AND_XOR));
    emit_sign(b, to);
}

/* Takes 16 times the even values of WORD, or the ODD ones. */
static void emit_by_16(mc_builder *b, mc_reg word, bool odd, mc_reg to) {
    if (!odd) EMIT(b, shl_b32, to, word, I(4));
    EMIT(b, and_b32, to, (odd ? word : to), H(high_halves));
}

/* -- A ------------------------------------------------------------------------------------------------ */

/* Where a byte of an operand comes from. */
typedef struct pick {
    mc_reg word;
    int byte;
} pick;

static void declare(sddmm_multiplier *m) {
    mc_builder *b = m->b;
    const sddmm_arithmetic *a = m->arithmetic;
    sddmm_integer_scratch *s = &m->integer;
    if (a->lhs.bits == 4 && a->rhs.bits != 4) b32_array(b, "nibble", 2 * a->a_words, s->half);
    if (a->lhs.bits == 16 && a->rhs.bits == 4) b32_array(b, "a_pair", 2, s->pair);
    if (!a->b_is_plain) b32_array(b, "part", SDDMM_ACC, s->b_operand);
}

/* Where digit DIGIT of the lane's K-th k comes from. */
static pick pick_of(const sddmm_arithmetic *a, const mc_reg *bytes, int k, int digit) {
    switch (a->lhs.bits) {
    case 4: return (pick){bytes[k % 2 * a->a_words + k / 8], k % 8 / 2};
    case 8: return (pick){bytes[k / 4], k % 4};
    default: return (pick){bytes[k / 2], k % 2 * 2 + digit};
    }
}

/* Joins COUNT picks of at most two words, in the low bytes of TO. */
static void emit_join(mc_builder *b, const pick *picks, int count, mc_reg to) {
    mc_reg first = picks[0].word, second = first;
    unsigned selector = 0;
    for (int i = 0; i < count; i++) {
        bool other = picks[i].word.id != first.id;
        if (other) second = picks[i].word;
        selector |= (unsigned)(picks[i].byte + (other ? 4 : 0)) << (4 * i);
    }
    EMIT(b, prmt, to, first, second, I(selector));
}

static int words_among(const pick picks[4]) {
    int count = 0;
    for (int i = 0; i < 4; i++) {
        bool met = false;
        for (int j = 0; j < i; j++) met |= picks[j].word.id == picks[i].word.id;
        count += !met;
    }
    return count;
}

static void emit_collect(const sddmm_multiplier *m, const pick picks[4], mc_reg to) {
    mc_builder *b = m->b;
    if (words_among(picks) <= 2) {
        emit_join(b, picks, 4, to);
        return;
    }
    emit_join(b, picks, 2, m->integer.pair[0]);
    emit_join(b, picks + 2, 2, m->integer.pair[1]);
    EMIT(b, prmt, to, m->integer.pair[0], m->integer.pair[1], I(0x5410));
}

/* Which of the lane's k is in byte BYTE of register HALF of its operands of PARITY. */
static int k_of(const sddmm_integer *of, int parity, int half, int byte) {
    return (4 * half + byte) * of->parities + parity;
}

/* Makes bytes of 4-bit values: [parity][word]. */
static void emit_bytes(const sddmm_multiplier *m, const mc_reg *words, const mc_reg *to) {
    const sddmm_integer *of = &m->arithmetic->integer;
    int count = m->arithmetic->a_words;
    for (int parity = 0; parity < 2; parity++)
        for (int i = 0; i < count; i++)
            if (of->times_16) emit_by_16(m->b, words[i], parity, to[parity * count + i]);
            else emit_half(m->b, of->lhs, words[i], parity, to[parity * count + i]);
}

static void emit_a_step(const sddmm_multiplier *m, const mc_reg *words, const mc_reg *operands) {
    const sddmm_arithmetic *a = m->arithmetic;
    const sddmm_integer *of = &a->integer;
    const mc_reg *bytes = words;
    if (a->a_is_plain) return;
    if (of->lhs.bits == 4) {
        bytes = of->rhs.bits == 4 ? operands : m->integer.half;
        emit_bytes(m, words, bytes);
        if (bytes == operands) return; /* that is B's order */
    }
    for (int i = 0; i < a->a_operands; i++) {
        int half = i % 2, parity = i / 2 % of->parities, digit = i / 2 / of->parities;
        pick picks[4];
        for (int byte = 0; byte < 4; byte++)
            picks[byte] = pick_of(a, bytes, k_of(of, parity, half, byte), digit);
        emit_collect(m, picks, operands[i]);
    }
}

/* -- B ------------------------------------------------------------------------------------------------ */

/* Makes register HALF of B's digit or parity DIGIT. Returns the register that it is in: TO, or a word as it
   is. */
static mc_reg emit_b_operand(const sddmm_multiplier *m, const mc_reg *words, int half, int digit, mc_reg to) {
    mc_builder *b = m->b;
    const sddmm_integer *of = &m->arithmetic->integer;
    static const unsigned digit_bytes[] = {0x6420, 0x7531};
    switch (m->arithmetic->rhs.bits) {
    case 8: return words[half];
    case 16: EMIT(b, prmt, to, words[2 * half], words[2 * half + 1], I(digit_bytes[digit])); return to;
    }
    if (of->times_16) emit_by_16(b, words[half], digit, to);
    else emit_half(b, of->rhs, words[half], digit, to);
    return to;
}

/* Multiplies B's digit or parity DIGIT, made ready in ROWS, by all digits of FACTOR. */
static void emit_digit_products(const sddmm_multiplier *m, const mc_reg rows[SDDMM_ACC], int digit,
                                sddmm_factor factor) {
    const sddmm_integer *of = &m->arithmetic->integer;
    int parity = digit % of->parities, rhs_digit = digit / of->parities;
    for (int lhs_digit = 0; lhs_digit < of->a.count; lhs_digit++) {
        const mc_reg *a = &factor.operands[2 * (lhs_digit * of->parities + parity)];
        const mc_reg *sums = &factor.acc[SDDMM_ACC * (lhs_digit + rhs_digit)];
        mc_opcode op = mma_int8(digit_is_signed(of->b, rhs_digit), digit_is_signed(of->a, lhs_digit));
        builder_emit(m->b, (mc_reg){0}, op, MC_OPERANDS(V4(sums), V4(rows), V2(a), V4(sums)));
    }
}

static void emit_step(const sddmm_multiplier *m, const mc_reg *x, const mc_reg *y,
                      const sddmm_factor *factors, int count) {
    const sddmm_integer *of = &m->arithmetic->integer;
    for (int digit = 0; digit < of->parities * of->b.count; digit++) {
        mc_reg rows[SDDMM_ACC];
        for (int half = 0; half < 2; half++) {
            int at = frag_a_reg(0, half), below = frag_a_reg(1, half);
            rows[at] = emit_b_operand(m, x, half, digit, m->integer.b_operand[at]);
            rows[below] = emit_b_operand(m, y, half, digit, m->integer.b_operand[below]);
        }
        for (int i = 0; i < count; i++) emit_digit_products(m, rows, digit, factors[i]);
    }
}

/* -- Sums --------------------------------------------------------------------------------------------- */

static void emit_add(const sddmm_multiplier *m, mc_reg sum, mc_reg other) {
    EMIT(m->b, add_s32, sum, sum, other);
}

static void emit_settle(const sddmm_multiplier *m, const mc_reg *acc) {
    mc_builder *b = m->b;
    const sddmm_integer *of = &m->arithmetic->integer;
    if (of->times_16) {
        bool both = of->lhs.bits == 4;
        note(b, "%s values were 16 times what they are", both ? "both sides'" : "B's");
        for (int i = 0; i < SDDMM_ACC * of->sums; i++) EMIT(b, shr_s32, acc[i], acc[i], I(both ? 8 : 4));
    }
    for (int top = of->sums - 1; top > 0; top--) {
        note(b, "a digit weighs %d times the one below", 1 << of->a.bits);
        for (int i = SDDMM_ACC * (top - 1); i < SDDMM_ACC * top; i++)
            EMIT(b, mad_s32, acc[i], acc[SDDMM_ACC + i], I((int64_t)1 << of->a.bits), acc[i]);
    }
}

const sddmm_emitters sddmm_integer_emitters = {
    .declare = declare, .a_step = emit_a_step, .products = emit_step, .settle = emit_settle, .add = emit_add};
