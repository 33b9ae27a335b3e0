/* The types of the two sides of a product, the digits that an mma takes of their values, and which mma takes them. */
#ifndef MC_DIGITS_H
#define MC_DIGITS_H

#include "ptx/builder.h"

enum {
    MAX_DIGITS = 4,  /* of a value: 16 bits in digits of 4 */
    DIGIT_BITS = 8,  /* of an 8-bit mma */
    NIBBLE_BITS = 4, /* of a 4-bit mma */
};

/* The type of one side's values. */
typedef struct digit_side {
    const char *name;
    int bits;
    bool is_signed;
} digit_side;

/* For a field's rows: the names, NULL-terminated, in the order of the sides. */
extern const char *const digit_side_names[];
extern const digit_side digit_sides[];

static inline int side_bytes(digit_side side) { return (side.bits + 7) / 8; } /* 4 bits: of two */
/* Bytes of COUNT neighbouring values, of 4 bits an even number of them. */
static inline int64_t side_row_bytes(digit_side side, int64_t count) {
    return side.bits == 4 ? count / 2 : count * side_bytes(side);
}

/* What the mma takes of one side's values: COUNT digits of BITS bits, the low one first; digit i weighs 2^(BITS i). Both sides'
   digits have the same bits. */
typedef struct digit_set {
    int bits, count;
    bool low_signed, top_signed; /* a single digit is the top one */
} digit_set;

/* TOP_SIGNED: only the top digit has a sign. BALANCED: all have. OFFSET: none has, they are those of the value plus
   2^(its bits - 1). */
typedef enum digit_mode { DIGITS_TOP_SIGNED, DIGITS_BALANCED, DIGITS_OFFSET } digit_mode;
extern const char *const digit_mode_names[]; /* NULL-terminated */

/* Of BITS bits each. */
static inline digit_set digits_of(digit_side side, int bits, digit_mode mode) {
    return (digit_set){bits, (side.bits + bits - 1) / bits, mode == DIGITS_BALANCED,
                       side.is_signed && mode != DIGITS_OFFSET};
}
static inline bool digit_is_signed(digit_set digits, int digit) {
    return digit == digits.count - 1 ? digits.top_signed : digits.low_signed;
}

/* Field precision_split: the widths of the digits in bits, the top one first. AUTO leaves them to the
   kernel. */
enum { DIGIT_SPLIT_AUTO, DIGIT_SPLIT_TEXT = 16 };
extern const char *const digit_split_names[]; /* NULL-terminated */
/* The name for values of SIDE in digits of BITS bits: "4+8" for 12 in digits of 8. */
void digit_split_text(digit_side side, int bits, char text[DIGIT_SPLIT_TEXT]);
/* Whether SPLIT, the index of a name, is that or AUTO. */
bool digit_split_fits(int64_t split, digit_side side, int bits);

/* The mma that multiplies digits with these signs in its operands A and B: of 8 bits m16n8k32, of 4 bits m16n8k64 or m16n8k32
   (DEPTH, the k); SMALL: m8n8k16 and m8n8k32. */
mc_opcode mma_int8(bool a_signed, bool b_signed);
mc_opcode mma_int8_small(bool a_signed, bool b_signed);
mc_opcode mma_int4(int depth, bool a_signed, bool b_signed);
mc_opcode mma_int4_small(bool a_signed, bool b_signed);

/* -- What values and digits can reach ----------------------------------------------------------------- */

/* Whole numbers from LOW to HIGH. */
typedef struct digit_span {
    int64_t low, high;
} digit_span;

digit_span span_of_side(digit_side side);
/* Of digit DIGIT of a side's values. */
digit_span span_of_digit(digit_side side, digit_set digits, int digit);
digit_span span_of_product(digit_span a, digit_span b);
int64_t span_magnitude(digit_span span);
/* The terms of a sum that stays in s32 wherever in TERM they lie. */
int64_t span_terms_in_s32(digit_span term);

#endif
