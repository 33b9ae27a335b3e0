/* Products of floats, with sums in f32. Files of this folder alone look into spmm_real; others see
   arithmetic.h. */
#ifndef MC_SPMM_REAL_H
#define MC_SPMM_REAL_H

#include "parts/real/form.h"

enum {
    REAL_VALUES = 8,  /* registers of A's values of 32 slots, in 16 rows at most */
    REAL_COLUMNS = 8, /* of what a load brings of B, made wider */
};

typedef struct spmm_real {
    const real_pair *pair; /* the mma that multiplies */
    char b_docs[2][48];    /* what the contract says of B: as an array, and as a tensor map */
} spmm_real;

/* Where values are made wider before they are multiplied: how those of A and of B are; A's of a step, or of
   half a stride. */
typedef struct real_operands {
    real_widener a, b;
    mc_reg value[REAL_VALUES];
    mc_reg column[REAL_COLUMNS]; /* ring: of each matrix of a load its even columns, then its odd ones */
} real_operands;

#endif
