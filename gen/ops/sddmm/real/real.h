/* The SDDMM's arithmetic of floats: what its file knows of their type. */
#ifndef MC_SDDMM_REAL_H
#define MC_SDDMM_REAL_H

#include "parts/real/form.h"

typedef struct sddmm_real {
    const real_pair *pair;    /* the mma that multiplies: rows of A are its columns */
    real_form a_form, b_form; /* what its operands are made of */
    char docs[3][40];         /* what the contract says of each sddmm_matrix */
} sddmm_real;

/* Scratch of what multiplies. */
typedef struct sddmm_real_scratch {
    real_widener a, b;
    mc_reg operand[4]; /* B's, where that is not the words as loaded */
} sddmm_real_scratch;

#endif
