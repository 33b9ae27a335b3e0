/* Bits and values of the real element types. */
#ifndef MCRT_REAL_H
#define MCRT_REAL_H

#include <math.h>
#include "mcgen.h"
#include "mcrt.h"

/* VALUE rounded once to TYPE, to nearest even, as cvt.rn does: beyond the greatest finite value infinity, or
   where TYPE has none that value; small ones subnormal, a NaN the one with every bit of its magnitude set. */
uint32_t real_to_bits(mc_type type, float value);
/* The greatest finite value of TYPE, which has fewer than 32 bits. */
float real_most(mc_type type);
float real_from_bits(mc_type type, uint32_t bits);
/* What kernels multiply of an element BITS of TYPE: of tf32 it is rounded to a fraction of 10 bits, to
   nearest, ties away from zero, as cvt.rna.tf32.f32 does, and a NaN is 0x7fffffff; of tf32rz it is cut off
   there, as tensor cores do, and a NaN that has none but such bits is an infinity; others are multiplied as
   they are. */
uint32_t real_factor(mc_type type, uint32_t bits);
static inline float real_factor_value(mc_type type, int64_t bits) {
    return real_from_bits(type, real_factor(type, (uint32_t)bits));
}
/* What packed arrays hold of it: the same, but of tf32rz all bits, which tensor cores cut off themselves. */
uint32_t real_packed(mc_type type, uint32_t bits);

/* The greater one; NaN where one of the two is, as max.NaN.f32 has it. Of two zeros it is B. */
static inline float real_greater(float a, float b) { return isnan(a) || a > b ? a : b; }

#endif
