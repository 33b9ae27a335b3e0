/* The SDDMM's arithmetic of floats: what its file knows of their type. */
#ifndef MC_SDDMM_REAL_H
#define MC_SDDMM_REAL_H

#include "parts/real/mma.h"

typedef struct sddmm_real {
    const real_pair *pair; /* the mma that multiplies: rows of A are its columns */
    char docs[3][40];      /* what the contract says of each sddmm_matrix */
} sddmm_real;

/* Scratch of what multiplies. */
typedef struct sddmm_real_scratch {
    mc_reg rounded[4]; /* B's operand, where that is not the words as loaded */
} sddmm_real_scratch;

#endif
