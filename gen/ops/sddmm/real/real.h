/* The SDDMM's arithmetic of floats: what its file knows of their type. */
#ifndef MC_SDDMM_REAL_H
#define MC_SDDMM_REAL_H

#include "ptx/builder.h"

typedef struct sddmm_real {
    mc_opcode mma; /* of 16 k: m16n8k16 */
} sddmm_real;

#endif
