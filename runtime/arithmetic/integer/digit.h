/* How an integer is taken apart into the digits that tensor cores multiply, and put together again. The low
   digit comes first; digit i weighs 2^(bits i). */
#ifndef MCRT_DIGIT_H
#define MCRT_DIGIT_H

#include "arithmetic/code.h"

/* digits of a value, at most: 16 bits in digits of 4 */
enum { DIGIT_NIBBLE = 4, DIGIT_BYTE = 8, DIGIT_MAX = 4 };

/* How values are taken apart into digits of 8 bits, v = d0 + 256 d1, or of 4 (docs/precisions.md).
     TOP_SIGNED  the top digit with the sign that v's type has, the others from 0 to 255 (15). The only one
                 for unsigned values and for those of one digit.
     BALANCED    all from -128 to 127 (-8 to 7): the greatest values of a type may have no such digits
                 (mc_digits_most).
     OFFSET      the digits of v + 2^(bits of v - 1), without signs; the packed values have a row more, 1 for
                 each vector. */
typedef enum mc_digits { MC_DIGITS_TOP_SIGNED, MC_DIGITS_BALANCED, MC_DIGITS_OFFSET } mc_digits;

/* The digits that KERNEL's field `digits` says. */
MC_API mc_digits mc_digits_of(const mc_kernel *kernel);
/* The greatest value of TYPE that has such digits of BITS bits, 8 or 4. */
MC_API int64_t mc_digits_most(mc_digits digits, int bits, mc_type type);

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

/* The same behind the interface of codes: pieces are digits, units u4 or u8. */
extern const code_kind digit_kind;

#endif
