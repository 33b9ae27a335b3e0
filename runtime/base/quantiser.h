/* Reals to integers and the scales for it, to the bit as kernels of the operator quantise have them
   (docs/quantise.md). */
#ifndef MCRT_QUANTISER_H
#define MCRT_QUANTISER_H

#include "mcgen.h"
#include "mcrt.h"

/* A value is about scale * (integer - zero). */
typedef struct quantiser {
    mc_type type; /* of the integers */
    float scale;
    float zero; /* the zero point, as an array of f32 has it: quantiser_zero. 0: none */
} quantiser;

/* The scale that takes values from -BELOW to ABOVE, both from 0 on, to TYPE's range. ZERO: with a zero point;
   else ABOVE alone counts. At least 2^-126, the least normal number. */
quantiser quantiser_of(mc_type type, bool zero, float above, float below);

/* The integer of the zero point, which lies in the type's range. */
int64_t quantiser_zero(const quantiser *q);
/* VALUE's integer before and after it is brought into the type's range. */
int64_t quantiser_level(const quantiser *q, float value);
int64_t quantiser_apply(const quantiser *q, float value);

#endif
