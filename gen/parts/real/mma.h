/* Which mma multiplies floats. What knows types of floats in the generator stands here, but for the output's
   conversions (mc_element.h). */
#ifndef MC_REAL_MMA_H
#define MC_REAL_MMA_H

#include "ptx/builder.h"

enum { REAL_BITS = 16 /* of the floats that have one */ };

/* The mma m16n8k16, with sums in f32, of two operands whose values have the type of the word NAME;
   MC_OPCODES: there is none. */
mc_opcode real_mma(const char *name);

#endif
