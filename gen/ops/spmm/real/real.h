/* Products of floats, with sums in f32. Files of this folder alone look into spmm_real; others see
   arithmetic.h. */
#ifndef MC_SPMM_REAL_H
#define MC_SPMM_REAL_H

#include "ptx/builder.h"

typedef struct spmm_real {
    mc_opcode mma; /* of 16 slots: m16n8k16 */
} spmm_real;

#endif
