/* Products of floats, with sums in f32. Files of this folder alone look into spmm_real; others see
   arithmetic.h. */
#ifndef MC_SPMM_REAL_H
#define MC_SPMM_REAL_H

#include "parts/real/mma.h"

typedef struct spmm_real {
    const real_pair *pair; /* the mma that multiplies */
    char b_docs[2][48];    /* what the contract says of B: as an array, and as a tensor map */
} spmm_real;

#endif
