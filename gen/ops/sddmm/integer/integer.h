/* The SDDMM's arithmetic of integers: what its files know of a pair of types. Values are multiplied in digits
   of 8 bits; a B of 4 bits is multiplied as 8 bits, in two parities. */
#ifndef MC_SDDMM_INTEGER_H
#define MC_SDDMM_INTEGER_H

#include "parts/integer/integer.h"

typedef struct sddmm_integer {
    digit_side lhs, rhs;
    digit_set a, b; /* digits of lhs and rhs */
    int sums;       /* accumulators of an element of C: one for each weight of a digit of A times one of B */
    int parities;   /* 4-bit B: 2, since even and odd k are operands of their own; else 1 */
    bool times_16;  /* 4-bit values of B count 16 times, and with them those of a 4-bit A: k allows it */
} sddmm_integer;

enum { SDDMM_INTEGER_WORDS = 8 /* of a step of A, at most */ };

/* Scratch of what multiplies. */
typedef struct sddmm_integer_scratch {
    mc_reg half[2 * SDDMM_INTEGER_WORDS]; /* A's values of half a byte as bytes */
    mc_reg pair[2];                       /* bytes joined */
    mc_reg b_operand[4];                  /* B's operand, where that is not the words as loaded */
} sddmm_integer_scratch;

extern const struct sddmm_emitters sddmm_integer_emitters; /* operands.c */

#endif
