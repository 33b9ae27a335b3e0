/* Products of floats, with sums in f32. Files of this folder alone look into spmm_real; others see
   arithmetic.h. */
#ifndef MC_SPMM_REAL_H
#define MC_SPMM_REAL_H

#include "parts/real/form.h"

enum {
    REAL_VALUES = 8, /* registers of A's values of 32 slots, in 16 rows at most */
    REAL_BYTES = 4,  /* and of bytes of as many columns of four slots */
};

typedef struct spmm_real {
    const real_pair *pair; /* the mma that multiplies */
    char b_docs[2][48];    /* what the contract says of B: as an array, and as a tensor map */
} spmm_real;

/* Where a side's values are made wider before they are multiplied: how; A's of a step, or of half a stride;
   bytes of B's columns before. */
typedef struct real_operands {
    real_widener lhs, rhs;
    mc_reg value[REAL_VALUES], byte[REAL_BYTES];
} real_operands;

#endif
