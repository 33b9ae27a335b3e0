/* The loops of floats.c that take the time, for processors with fused multiply-adds of 8 floats and for all
   others: to the bit the same. */
#ifndef MCRT_FLOAT_LOOPS_H
#define MCRT_FLOAT_LOOPS_H

#include "arithmetic/arithmetic.h"

/* sum[j] = fmaf(a, b[j], sum[j]) for j below N. */
void float_add_products(float *sum, const float *b, float a, int64_t n);
/* sum_loops.sample. */
bool float_sample(const sampled_product *product);

#endif
