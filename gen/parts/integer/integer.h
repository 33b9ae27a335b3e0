/* The arithmetic of integers, as emitters see it: the types of a product's two sides, the digits that an mma
   takes of their values, which mma takes them, how large sums can get, 4-bit values as bytes, and a sum as a
   real number. What knows digits and signs stands in this folder; halves of bytes as an mma's operand have
   nibbles.h. */
#ifndef MC_INTEGER_H
#define MC_INTEGER_H

#include "ptx/builder.h"

enum {
    MAX_DIGITS = 4,          /* digits of a value, at most: 16 bits in digits of 4 */
    DIGIT_BITS = 8,          /* bits of a digit that an 8-bit mma takes */
    NIBBLE_BITS = 4,         /* bits of a digit that a 4-bit mma takes */
    LOW_HALVES = 0x0f0f0f0f, /* the low halves of four bytes, each with two 4-bit values */
};

/* The type of one side's values. */
typedef struct digit_side {
    const char *name;
    int bits;
    bool is_signed;
} digit_side;

extern const digit_side digit_sides[]; /* in the order of side_type_names (parts/side.h) */

/* Bytes of a value; of 4 bits, of two. */
static inline int side_bytes(digit_side side) { return (side.bits + 7) / 8; }
/* Bits of a value in memory: 4, 8 or 16. */
static inline int side_bits(digit_side side) { return side.bits == 4 ? 4 : 8 * side_bytes(side); }
/* Bytes of COUNT neighbouring values. Of 4 bits COUNT is even. */
static inline int64_t side_row_bytes(digit_side side, int64_t count) {
    return side.bits == 4 ? count / 2 : count * side_bytes(side);
}

/* What the mma takes of one side's values: COUNT digits of BITS bits, the low one first. Digit i weighs
   2^(BITS i). The digits of both sides have the same bits. */
typedef struct digit_set {
    int bits, count;
    /* whether the digits below the top one have signs, and whether the top one has; a single digit is the top
       one */
    bool low_signed, top_signed;
} digit_set;

/* TOP_SIGNED: only the top digit has a sign. BALANCED: all digits have. OFFSET: none has; they are the digits
   of the value plus 2^(its bits - 1). */
typedef enum digit_mode { DIGITS_TOP_SIGNED, DIGITS_BALANCED, DIGITS_OFFSET } digit_mode;
extern const char *const digit_mode_names[]; /* NULL-terminated */

/* The digits of SIDE's values, of BITS bits each. */
static inline digit_set digits_of(digit_side side, int bits, digit_mode mode) {
    return (digit_set){bits, (side.bits + bits - 1) / bits, mode == DIGITS_BALANCED,
                       side.is_signed && mode != DIGITS_OFFSET};
}
static inline bool digit_is_signed(digit_set digits, int digit) {
    return digit == digits.count - 1 ? digits.top_signed : digits.low_signed;
}

/* The field precision_split: the widths of the digits in bits, the top one first. AUTO leaves them to the
   kernel. */
enum { DIGIT_SPLIT_AUTO, DIGIT_SPLIT_TEXT = 16 };
extern const char *const digit_split_names[]; /* NULL-terminated */
/* The split of SIDE's values into digits of BITS bits, as text: "4+8" for 12 bits in digits of 8. */
void digit_split_text(digit_side side, int bits, char text[DIGIT_SPLIT_TEXT]);
/* Whether SPLIT, the index of a name, is AUTO or that split. */
bool digit_split_fits(int64_t split, digit_side side, int bits);

/* The mma that multiplies digits with these signs in its operands A and B. Of 8 bits it is m16n8k32, of 4
   bits m16n8k64 or m16n8k32 (DEPTH is its k). The small ones are m8n8k16 and m8n8k32. With a 2:4 sparse A it
   is m16n8k64. */
mc_opcode mma_int8(bool a_signed, bool b_signed);
mc_opcode mma_int8_sparse(bool a_signed, bool b_signed);
mc_opcode mma_int8_small(bool a_signed, bool b_signed);
mc_opcode mma_int4(int depth, bool a_signed, bool b_signed);
mc_opcode mma_int4_small(bool a_signed, bool b_signed);

/* -- What values and digits can reach ----------------------------------------------------------------- */

/* Whole numbers from LOW to HIGH. */
typedef struct digit_span {
    int64_t low, high;
} digit_span;

digit_span span_of_side(digit_side side);
/* The span of digit DIGIT of a side's values. */
digit_span span_of_digit(digit_side side, digit_set digits, int digit);
digit_span span_of_product(digit_span a, digit_span b);
int64_t span_magnitude(digit_span span);
/* How many terms a sum may have that stays in s32, wherever in TERM they lie. */
int64_t span_terms_in_s32(digit_span term);
/* What a contract says of sums in s32 of products of LHS and RHS, K of them (MC_OPEN: any number). */
mc_sums sums_of_sides(digit_side lhs, digit_side rhs, int64_t k);

/* -- 4-bit values as bytes ---------------------------------------------------------------------------- */

/* How four bytes with two 4-bit values each, the first in the low half, become operands of four 8-bit values:
 *
 *                 first values              second values
 *   s4, times 16  value + 8   x & 0f ^ 08   16 value          x & f0
 *   u4, times 16  value       x & 0f        16 value + first  x
 *   s4            value + 8   x & 0f ^ 08   value + 8         x >> 4 & 0f ^ 08
 *   u4            value       x & 0f        value             x >> 4 & 0f
 *
 * A signed value plus 8 has no sign; 16 times a signed value has one. */
typedef struct half_form {
    bool is_signed, times_16;
} half_form;

/* Makes an operand of the first values of BYTES, or of the SECOND. Returns the register that it is in, TO or
   BYTES itself. */
mc_reg emit_halves(mc_builder *b, half_form form, mc_reg bytes, bool second, mc_reg to);

/* -- Sums ---------------------------------------------------------------------------------------------- */

/* Sets REAL, 32 bits, to f32(SUM), rounded to nearest even. SUM is s32 or, where it is EXACT, s64. */
void emit_real_of_sum(mc_builder *b, bool exact, mc_reg sum, mc_reg real);

#endif
