/* Both sides' values as operands of m16n8k32, for every pair of types.
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
 * bounded (sddmm_times_16_k). A kernel whose spec fixes a larger k takes 4-bit values as they are.
 *
 * B is made ready for each group of vectors, A only once: A's bytes are collected in B's order. */
#include "ops/sddmm/emit.h"

static const uint32_t high_halves = ~(uint32_t)LOW_HALVES;

int sddmm_a_words(const sddmm_plan *plan) { return sddmm_words(plan->lhs, plan->step_k); }
int sddmm_a_operands(const sddmm_plan *plan) { return 2 * plan->parities * plan->a.count; }
int sddmm_b_words(const sddmm_plan *plan) { return sddmm_words(plan->rhs, plan->step_k); }
bool sddmm_a_is_plain(const sddmm_plan *plan) {
    return sddmm_stored_bits(plan->lhs) == 8 && sddmm_stored_bits(plan->rhs) == 8;
}

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

void sddmm_declare_sides(sddmm_emitter *e) {
    const sddmm_plan *plan = e->plan;
    if (plan->edge || plan->layout == SDDMM_ROWS) b32_array(e->b, "join", 2, e->join);
    if (plan->lhs.bits == 4 && plan->rhs.bits != 4)
        b32_array(e->b, "nibble", 2 * sddmm_a_words(plan), e->nibble);
    if (sddmm_stored_bits(plan->lhs) == 16 && plan->rhs.bits == 4) b32_array(e->b, "a_pair", 2, e->pair);
    if (sddmm_stored_bits(plan->rhs) != 8) b32_array(e->b, "part", SDDMM_ACC, e->part);
}

/* Where digit DIGIT of the lane's K-th k comes from. */
static pick pick_of(const sddmm_plan *plan, const mc_reg *bytes, int k, int digit) {
    int words = sddmm_a_words(plan);
    switch (sddmm_stored_bits(plan->lhs)) {
    case 4: return (pick){bytes[k % 2 * words + k / 8], k % 8 / 2};
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

static void emit_collect(sddmm_emitter *e, const pick picks[4], mc_reg to) {
    mc_builder *b = e->b;
    if (words_among(picks) <= 2) {
        emit_join(b, picks, 4, to);
        return;
    }
    emit_join(b, picks, 2, e->pair[0]);
    emit_join(b, picks + 2, 2, e->pair[1]);
    EMIT(b, prmt, to, e->pair[0], e->pair[1], I(0x5410));
}

/* Which of the lane's k is in byte BYTE of register HALF of its operands of PARITY. */
static int k_of(const sddmm_plan *plan, int parity, int half, int byte) {
    return (4 * half + byte) * plan->parities + parity;
}

/* Makes bytes of 4-bit values: [parity][word]. */
static void emit_nibbles(sddmm_emitter *e, const mc_reg *words, const mc_reg *to) {
    int count = sddmm_a_words(e->plan);
    for (int parity = 0; parity < 2; parity++)
        for (int i = 0; i < count; i++)
            if (e->plan->times_16) emit_by_16(e->b, words[i], parity, to[parity * count + i]);
            else emit_half(e->b, e->plan->lhs, words[i], parity, to[parity * count + i]);
}

void sddmm_emit_a_step(sddmm_emitter *e, const mc_reg *words, const mc_reg *operands) {
    const sddmm_plan *plan = e->plan;
    const mc_reg *bytes = words;
    if (sddmm_a_is_plain(plan)) return;
    if (plan->lhs.bits == 4) {
        bytes = plan->rhs.bits == 4 ? operands : e->nibble;
        emit_nibbles(e, words, bytes);
        if (bytes == operands) return; /* that is B's order */
    }
    for (int i = 0; i < sddmm_a_operands(plan); i++) {
        int half = i % 2, parity = i / 2 % plan->parities, digit = i / 2 / plan->parities;
        pick picks[4];
        for (int byte = 0; byte < 4; byte++)
            picks[byte] = pick_of(plan, bytes, k_of(plan, parity, half, byte), digit);
        emit_collect(e, picks, operands[i]);
    }
}

/* -- Values to words ---------------------------------------------------------------------------------- */

void sddmm_emit_join(sddmm_emitter *e, digit_side side, const mc_reg *elements, int count,
                     const mc_reg *words) {
    mc_builder *b = e->b;
    for (int i = 0; i < count; i++) {
        const mc_reg *of = &elements[i * WORD / side_bytes(side)];
        if (side_bytes(side) == 2) {
            EMIT(b, prmt, words[i], of[0], of[1], I(0x5410));
            continue;
        }
        EMIT(b, prmt, e->join[0], of[0], of[1], I(0x0040));
        EMIT(b, prmt, e->join[1], of[2], of[3], I(0x0040));
        EMIT(b, prmt, words[i], e->join[0], e->join[1], I(0x5410));
    }
}

/* -- B ------------------------------------------------------------------------------------------------ */

/* Makes register HALF of B's digit or parity PART. Returns the register that it is in: TO, or a word as it
   is. */
static mc_reg emit_b_part(sddmm_emitter *e, const mc_reg *words, int half, int part, mc_reg to) {
    mc_builder *b = e->b;
    static const unsigned digit_bytes[] = {0x6420, 0x7531};
    switch (sddmm_stored_bits(e->plan->rhs)) {
    case 8: return words[half];
    case 16: EMIT(b, prmt, to, words[2 * half], words[2 * half + 1], I(digit_bytes[part])); return to;
    }
    if (e->plan->times_16) emit_by_16(b, words[half], part, to);
    else emit_half(b, e->plan->rhs, words[half], part, to);
    return to;
}

/* Multiplies B's digit or parity PART, made ready in ROWS, by all digits of FACTOR. */
static void emit_part_products(sddmm_emitter *e, const mc_reg rows[SDDMM_ACC], int part,
                               sddmm_factor factor) {
    const sddmm_plan *plan = e->plan;
    int parity = part % plan->parities, rhs_digit = part / plan->parities;
    for (int digit = 0; digit < plan->a.count; digit++) {
        const mc_reg *a = &factor.operands[2 * (digit * plan->parities + parity)];
        const mc_reg *sums = &factor.acc[SDDMM_ACC * (digit + rhs_digit)];
        mc_opcode op = mma_int8(digit_is_signed(plan->b, rhs_digit), digit_is_signed(plan->a, digit));
        builder_emit(e->b, (mc_reg){0}, op, MC_OPERANDS(V4(sums), V4(rows), V2(a), V4(sums)));
    }
}

void sddmm_emit_products(sddmm_emitter *e, const mc_reg *x, const mc_reg *y, const sddmm_factor *factors,
                         int count) {
    const sddmm_plan *plan = e->plan;
    int parts = plan->parities * plan->b.count;
    for (int part = 0; part < parts; part++) {
        mc_reg rows[SDDMM_ACC];
        for (int half = 0; half < 2; half++) {
            int at = frag_a_reg(0, half), below = frag_a_reg(1, half);
            rows[at] = emit_b_part(e, x, half, part, e->part[at]);
            rows[below] = emit_b_part(e, y, half, part, e->part[below]);
        }
        for (int i = 0; i < count; i++) emit_part_products(e, rows, part, factors[i]);
    }
}

void sddmm_emit_settle(sddmm_emitter *e, const mc_reg *acc) {
    mc_builder *b = e->b;
    int sums = e->plan->sums;
    if (e->plan->times_16) {
        bool both = e->plan->lhs.bits == 4;
        note(b, "%s values were 16 times what they are", both ? "both sides'" : "B's");
        for (int i = 0; i < SDDMM_ACC * sums; i++) EMIT(b, shr_s32, acc[i], acc[i], I(both ? 8 : 4));
    }
    for (int top = sums - 1; top > 0; top--) {
        note(b, "a digit weighs %d times the one below", 1 << e->plan->a.bits);
        for (int i = SDDMM_ACC * (top - 1); i < SDDMM_ACC * top; i++)
            EMIT(b, mad_s32, acc[i], acc[SDDMM_ACC + i], I((int64_t)1 << e->plan->a.bits), acc[i]);
    }
}
