/* The arithmetic of the solver `csr` (fused.c). Other files of the solver see it here; its table is in
   arithmetic.h with the others. */
#ifndef MC_SPMM_FUSED_H
#define MC_SPMM_FUSED_H

#include "ops/spmm/arithmetic.h"
#include "parts/emit.h"

/* An element in f32: the low, or the HIGH half of WORD where elements have 16 bits, in SCRATCH; else WORD. */
mc_reg fused_element(mc_builder *b, const spmm_arithmetic *math, mc_reg word, bool high, mc_reg scratch);

#endif
