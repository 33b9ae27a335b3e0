/* SpMM by dense tiles of A (staging "expand"): a product C^T = B^T A^T by wgmma (parts/wgmma), whose tiles
   of A are expanded from bitmaps on their way to shared memory. So all of k is multiplied, whatever is zero.
   What is saved is A's way from memory, and there is nothing to gather. */
#ifndef MC_SPMM_EXPAND_H
#define MC_SPMM_EXPAND_H

#include "ops/spmm/problem.h"
#include "parts/wgmma/wgmma.h"

typedef struct expand_plan {
    spmm_plan base;
    wgmma_plan product; /* C's columns are its rows */
} expand_plan;

void spmm_expand_make_plan(const int64_t *point, void *plan, mc_complaints *complaints);
double spmm_expand_estimate(const void *plan, const mc_gpu *gpu, const mc_problem *problem);

#endif
