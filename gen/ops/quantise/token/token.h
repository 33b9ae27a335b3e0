/* Scales that the kernel computes: what the two files of the solver share. */
#ifndef MC_QUANTISE_TOKEN_H
#define MC_QUANTISE_TOKEN_H

#include "ops/quantise/ends.h"

/* -- scales.c */

/* Makes scales of all warps' ENDS, writes them, and leaves the patch's factors in registers. SHARED: the
   address of shared memory, where the rows' factors stand first. */
void token_make_factors(quantise_emitter *e, const quantise_patch *patch, const quantise_ends *ends,
                        mc_reg shared);
/* In a cluster: tells the other thread blocks that this one has begun. */
void token_begin_cluster(const quantise_emitter *e);
/* The edge path: scales, from all elements one by one. */
void token_make_factors_by_points(quantise_emitter *e, mc_reg shared);

/* -- estimate.c */

double quantise_token_estimate(const void *data, const mc_gpu *gpu, const mc_problem *problem);

#endif
