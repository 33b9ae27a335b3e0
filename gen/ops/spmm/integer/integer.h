/* Products of integers: digits of A and of B, which mma multiplies them, and which of A's share one. Files of
   this folder alone look into spmm_integer; others see arithmetic.h. */
#ifndef MC_SPMM_INTEGER_H
#define MC_SPMM_INTEGER_H

#include "parts/integer/integer.h"
#include "parts/side.h"

/* In the order of the spec's names. */
typedef enum spmm_mma_type { SPMM_AUTO, SPMM_INT8, SPMM_INT4 } spmm_mma_type;

typedef struct spmm_integer {
    digit_side lhs, rhs;
    digit_set a, b;     /* digits of lhs and of rhs */
    digit_mode mode;    /* of A's digits */
    bool ones;          /* offset digits: behind the rows of all planes comes a row of ones */
    int planes;         /* of A, that share an mma */
    bool takes_halves;  /* a 4-bit B is multiplied as 8 bits (halves.c) */
    bool times_16;      /* and its odd columns count 16 times until the end: k allows it */
    bool int4, shuffle; /* the mma is of 4-bit integers; col_idx is permuted for its transpose (int4.c) */
} spmm_integer;

/* What the PTX's header says of a 4-bit mma. */
#define SPMM_INT4_WAY "\nA 4-bit mma multiplies B's values as they are, and A's in digits of 4 bits."

#endif
