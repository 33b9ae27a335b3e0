/* Products without tensor cores: values of f32, f16 or bf16 are made f32, those of tf32 rounded, and go
   through fused multiply-adds. */
#ifndef MC_FUSED_H
#define MC_FUSED_H

#include "ptx/builder.h"

/* Whether the type of the word SIDE (side.h) is one of these four. */
bool fused_takes(int side);
/* An element of TYPE ("f16") in f32: the low, or the HIGH half of WORD where elements have 16 bits, in
   SCRATCH; else WORD, in which a tf32 is rounded. */
mc_reg fused_element(mc_builder *b, const char *type, mc_reg word, bool high, mc_reg scratch);

#endif
