/* How a value is taken apart into the digits that tensor cores multiply, and put together again. The low
   digit comes first; digit i weighs 2^(bits i). pack.h, mc_digits, says what the modes are. */
#ifndef MCRT_DIGIT_H
#define MCRT_DIGIT_H

#include "formats/pack.h"

/* digits of a value, at most: 16 bits in digits of 4 */
enum { DIGIT_NIBBLE = 4, DIGIT_BYTE = 8, DIGIT_MAX = 4 };

typedef struct digit_code {
    mc_type type; /* of the values: integers of at most 16 bits */
    mc_digits mode;
    int bits, count; /* bits of a digit; how many digits */
} digit_code;

/* Makes CODE for digits of BITS bits, 4 or 8. MC_CANNOT where TYPE has no such digits, MC_USAGE where MODE is
   none. */
mc_status digit_code_make(mc_type type, mc_digits mode, int bits, digit_code *code, mc_diag *diag);

/* The digits of VALUE, each in the low bits of a byte and extended with its sign, if it has one. */
void digit_split(const digit_code *code, int64_t value, int8_t digits[DIGIT_MAX]);
/* The number that has these digits, each in the low bits of a byte. It is within the type's range if
   digit_split made them. */
int64_t digit_join(const digit_code *code, const int8_t digits[DIGIT_MAX]);

/* The greatest value that has digits. The least one of the type always has some. */
int64_t digit_most(const digit_code *code);
/* MC_CANNOT names the first value of A beyond that. */
mc_status digit_check(const digit_code *code, const mc_vsparse *a, mc_diag *diag);

/* Rows of a stride's values: those of each digit's plane, and of OFFSET one that has a 1 for each vector. */
static inline bool digit_has_ones(const digit_code *code) { return code->mode == MC_DIGITS_OFFSET; }
static inline int digit_rows(const digit_code *code, int vec) {
    return code->count * vec + digit_has_ones(code);
}

#endif
