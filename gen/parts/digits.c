#include "parts/digits.h"
#include <stdio.h>
#include <string.h>

const char *const digit_side_names[] = {"s8", "u8", "s4", "u4", "s12", "u12", "s16", "u16", NULL};
const digit_side digit_sides[] = {{"s8", 8, true},   {"u8", 8, false},  {"s4", 4, true},
                                  {"u4", 4, false},  {"s12", 12, true}, {"u12", 12, false},
                                  {"s16", 16, true}, {"u16", 16, false}};

const char *const digit_mode_names[] = {"top-signed", "balanced", "offset", NULL};

/* -- Splits ------------------------------------------------------------------------------------------- */

const char *const digit_split_names[] = {"auto", "8", "4", "8+8", "4+8", "4+4", "4+4+4", "4+4+4+4", NULL};

void digit_split_text(digit_side side, int bits, char text[DIGIT_SPLIT_TEXT]) {
    int below = digits_of(side, bits, DIGITS_TOP_SIGNED).count - 1;
    size_t length = (size_t)snprintf(text, DIGIT_SPLIT_TEXT, "%d", side.bits - below * bits);
    for (int i = 0; i < below; i++)
        length += (size_t)snprintf(text + length, DIGIT_SPLIT_TEXT - length, "+%d", bits);
}

bool digit_split_fits(int64_t split, digit_side side, int bits) {
    char text[DIGIT_SPLIT_TEXT];
    digit_split_text(side, bits, text);
    return split == DIGIT_SPLIT_AUTO || strcmp(digit_split_names[split], text) == 0;
}

/* -- mma: [A signed][B signed] ------------------------------------------------------------------------ */

mc_opcode mma_int8(bool a_signed, bool b_signed) {
    static const mc_opcode ops[2][2] = {{OP_mma_u8, OP_mma_u8_s8}, {OP_mma_s8_u8, OP_mma_s8}};
    return ops[a_signed][b_signed];
}

mc_opcode mma_int8_small(bool a_signed, bool b_signed) {
    static const mc_opcode ops[2][2] = {{OP_mma_small_u8, OP_mma_small_u8_s8},
                                        {OP_mma_small_s8_u8, OP_mma_small_s8}};
    return ops[a_signed][b_signed];
}

mc_opcode mma_int4(int depth, bool a_signed, bool b_signed) {
    static const mc_opcode ops[2][2][2] = {
        {{OP_mma_u4_k32, OP_mma_u4_s4_k32}, {OP_mma_s4_u4_k32, OP_mma_s4_k32}},
        {{OP_mma_u4_k64, OP_mma_u4_s4_k64}, {OP_mma_s4_u4_k64, OP_mma_s4_k64}}};
    return ops[depth == 64][a_signed][b_signed];
}

mc_opcode mma_int4_small(bool a_signed, bool b_signed) {
    static const mc_opcode ops[2][2] = {{OP_mma_small_u4, OP_mma_small_u4_s4},
                                        {OP_mma_small_s4_u4, OP_mma_small_s4}};
    return ops[a_signed][b_signed];
}

/* -- Spans -------------------------------------------------------------------------------------------- */

static digit_span span_of_bits(int bits, bool is_signed) {
    int64_t half = (int64_t)1 << (bits - 1);
    return is_signed ? (digit_span){-half, half - 1} : (digit_span){0, 2 * half - 1};
}

digit_span span_of_side(digit_side side) { return span_of_bits(side.bits, side.is_signed); }

/* A top digit above signed ones takes a carry, so that its range has one value more. */
digit_span span_of_digit(digit_side side, digit_set digits, int digit) {
    bool top = digit == digits.count - 1, is_signed = digit_is_signed(digits, digit);
    int bits = top ? side.bits - digits.bits * (digits.count - 1) : digits.bits;
    digit_span values = span_of_bits(bits, is_signed);
    if (top && digits.count > 1 && digits.low_signed) values.high++;
    return values;
}

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }

digit_span span_of_product(digit_span a, digit_span b) {
    return (digit_span){least(least(a.low * b.low, a.low * b.high), least(a.high * b.low, a.high * b.high)),
                        most(most(a.low * b.low, a.low * b.high), most(a.high * b.low, a.high * b.high))};
}

int64_t span_magnitude(digit_span span) { return most(span.high, -span.low); }

int64_t span_terms_in_s32(digit_span term) {
    int64_t up = term.high > 0 ? INT32_MAX / term.high : INT64_MAX;
    int64_t down = term.low < 0 ? INT32_MIN / term.low : INT64_MAX;
    return least(up, down);
}
