/* Products of rows of B that a lane has gathered to registers: it has the same columns of 8 slots, and
   transposes them, so that a register has one column (or digit of a column) of four slots. */
#include "ops/spmm/integer/products.h"
#include "parts/transpose.h"

/* Element c of a slot is element[units * slot + c] and has a register of its own; column[digits * c + d]
   becomes digit d of element c of each of four slots. */
static void emit_join(const spmm_gathered *g, const mc_reg *element, int units, const mc_reg *column) {
    int digits = g->sums->of->integer.b.count;
    for (int i = 0; i < units * digits; i++)
        emit_join_bytes(g->sums->b, g->pair, &element[i / digits], units, i % digits, column[i]);
}

/* Transposes this lane's bytes 4 word .. 4 word + 3 of 8 slots ROW[slot][WORDS]: slots 0..3 to `low`, 4..7 to
   `high`. */
static void emit_transpose_word(const spmm_gathered *g, const mc_reg *row, int words, int step, int word) {
    const spmm_arithmetic *math = g->sums->of;
    int columns = 4 * 8 / math->integer.rhs.bits;
    note(g->sums->b, "columns %d..%d of this lane%s", columns * word, columns * word + columns - 1,
         !math->integer.int4 ? ""
         : step              ? ", slots 32..63"
                             : ", slots 0..31");
    for (int half = 0; half < 2; half++) {
        const mc_reg *four = &row[4 * half * words + word];
        const mc_reg of[4] = {four[0], four[words], four[2 * words], four[3 * words]};
        emit_transpose_bytes(g->sums->b, g->pair, of, half ? g->high : g->low);
    }
}

/* Multiplies by VALUE, two registers for each operand of A, digit RHS_DIGIT of PAIR: two neighbouring
   columns, which are in A: the one is row g of the mma's operand A, the other row g + 8 (fragment.h,
   frag_a_row). A's registers 0 and 1 hold slots 0..3, its registers 2 and 3 slots 4..7 (frag_a_k). */
static void emit_mma(const spmm_gathered *g, const mc_reg *value, int pair, int rhs_digit,
                     const mc_reg a[4]) {
    const spmm_arithmetic *math = g->sums->of;
    for (int m = 0; m < integer_products(math); m++) {
        mc_opcode op = spmm_mma(math, m * math->integer.planes, rhs_digit);
        spmm_emit_product(g->sums, op, (spmm_operands){a, &value[2 * integer_operands(math) * m], 2, 2},
                          spmm_acc_of(g->sums, m, rhs_digit, integer_operands(math) * pair));
    }
}

/* Multiplies byte columns FIRST and SECOND of low and high. */
static void emit_byte_pair(const spmm_gathered *g, const mc_reg *value, int pair, int rhs_digit, int first,
                           int second) {
    mc_reg a[4];
    const int columns[] = {first, second};
    for (int half = 0; half < 2; half++) {
        a[frag_a_reg(half, 0)] = g->low[columns[half]];
        a[frag_a_reg(half, 1)] = g->high[columns[half]];
    }
    emit_mma(g, value, pair, rhs_digit, a);
}

/* Multiplies four bytes that are a column of 8 bits each. */
static void emit_bytes(const spmm_gathered *g, const mc_reg *value, int word) {
    for (int two = 0; two < 2; two++) emit_byte_pair(g, value, 2 * word + two, 0, 2 * two, 2 * two + 1);
}

/* Multiplies two columns of several digits, from byte FIRST of low and high on. */
static void emit_digits(const spmm_gathered *g, const mc_reg *value, int pair, int first) {
    int digits = g->sums->of->integer.b.count;
    for (int d = 0; d < digits; d++) emit_byte_pair(g, value, pair, d, first + d, first + digits + d);
}

/* Multiplies COUNT bytes of two 4-bit columns each. */
static void emit_nibbles(const spmm_gathered *g, const mc_reg *value, int word, int count) {
    for (int c = 0; c < count; c++) {
        mc_reg a[4];
        for (int odd = 0; odd < 2; odd++) {
            a[frag_a_reg(odd, 0)] = spmm_emit_half(g->sums, g->low[c], odd, g->half[odd]);
            a[frag_a_reg(odd, 1)] = spmm_emit_half(g->sums, g->high[c], odd, g->half[2 + odd]);
        }
        emit_mma(g, value, 4 * word + c, 0, a);
    }
}

/* Adds up A's rows for what 4-bit columns have too much (halves.c). */
static void emit_bias(const spmm_gathered *g, const mc_reg *value) {
    const spmm_arithmetic *math = g->sums->of;
    for (int m = 0; m < integer_products(math); m++)
        spmm_emit_add_bias(g->sums, m, &value[2 * integer_operands(math) * m]);
}

/* Multiplies COUNT bytes of two 4-bit columns each, which the mma takes as they are, once all of its steps
   are there. */
static void emit_int4(const spmm_gathered *g, int step, const mc_reg *value, int word, int count) {
    spmm_emit_columns4(g, count, step);
    if (step + 1 < g->sums->of->stride / MC_GROUP_SLOTS) return;
    note(g->sums->b, "multiply");
    for (int c = 0; c < count; c++) spmm_emit_mma4(g, c, 4 * word + c, value);
}

/* Multiplies word WORD of the rows, once it lies in `low` and `high`; or, where elements were JOINED, all of
   them: so many. */
static void emit_products(const spmm_gathered *g, int step, const mc_reg *value, int word, int joined) {
    const spmm_arithmetic *math = g->sums->of;
    int bits = math->integer.rhs.bits, bytes = joined ? joined : SPMM_BYTES;
    if (math->integer.int4) emit_int4(g, step, value, word, bytes);
    else if (bits == 4) emit_nibbles(g, value, word, bytes);
    else if (bits == 8) emit_bytes(g, value, word);
    else if (!joined) emit_digits(g, value, word, 0);
    else
        for (int pair = 0; pair < joined / 2; pair++) emit_digits(g, value, pair, SPMM_BYTES * pair);
}

/* The values of step STEP; a 4-bit mma takes those of all steps. */
static const mc_reg *values_of(const spmm_gathered *g, const mc_reg *value, int step) {
    const spmm_arithmetic *math = g->sums->of;
    return math->integer.int4 ? value : &value[2 * step * math->mma];
}

static void emit_word(const spmm_gathered *g, const mc_reg *row, int words, int step, int word,
                      const mc_reg *value) {
    emit_transpose_word(g, &row[step * MC_LANE_SLOTS * words], words, step, word);
    emit_products(g, step, values_of(g, value, step), word, 0);
}

void integer_gathered_declare(spmm_gathered *g) {
    mc_builder *b = g->sums->b;
    const spmm_arithmetic *math = g->sums->of;
    b32_array(b, "pair", 4, g->pair);
    b32_array(b, "low", SPMM_BYTES * math->integer.b.count, g->low);
    b32_array(b, "high", SPMM_BYTES * math->integer.b.count, g->high);
    if (math->integer.int4) spmm_declare_columns4(g);
    else if (math->integer.rhs.bits == 4) b32_array(b, "nibble", 4, g->half);
}

/* An int4 mma takes all steps, so that each word goes through all of them before the next one. */
static void emit_multiply_int4(const spmm_gathered *g, const mc_reg *row, int words, const mc_reg *value) {
    const spmm_arithmetic *math = g->sums->of;
    note(g->sums->b, "transpose and multiply slots 0..%d", math->depth - 1);
    spmm_note_columns4(g);
    for (int word = 0; word < words; word++)
        for (int s = 0; s < math->stride / MC_GROUP_SLOTS; s++) emit_word(g, row, words, s, word, value);
}

void integer_gathered_multiply(spmm_gathered *g, const mc_reg *row, int words, const mc_reg *value) {
    const spmm_arithmetic *math = g->sums->of;
    if (math->integer.int4) {
        emit_multiply_int4(g, row, words, value);
        return;
    }
    for (int s = 0; s < math->stride / MC_GROUP_SLOTS; s++) {
        note(g->sums->b, "transpose and multiply slots %d..%d", MC_GROUP_SLOTS * s,
             MC_GROUP_SLOTS * s + MC_GROUP_SLOTS - 1);
        emit_bias(g, values_of(g, value, s));
        for (int word = 0; word < words; word++) emit_word(g, row, words, s, word, value);
    }
}

void integer_gathered_note(const spmm_gathered *g) {
    if (g->sums->of->integer.int4) spmm_note_columns4(g);
}

void integer_gathered_join(spmm_gathered *g, int half, const mc_reg *row, int units) {
    emit_join(g, row, units, half ? g->high : g->low);
}

void integer_gathered_multiply_joined(spmm_gathered *g, int step, int units, const mc_reg *value) {
    const mc_reg *of = values_of(g, value, step);
    emit_bias(g, of);
    emit_products(g, step, of, 0, units);
}
