/* The solvers of the dense product, and of the 2:4 one: gemm.c chooses one of them. */
#ifndef MC_GEMM_SOLVERS_H
#define MC_GEMM_SOLVERS_H

#include "schema/family.h"

extern const mc_solver gemm_wgmma, gemm_mma, gemm24_wgmma, gemm24_mma;

/* Each one's estimate.c. */
double gemm_wgmma_estimate(const void *plan, const mc_gpu *gpu, const mc_problem *problem);
double gemm_mma_estimate(const void *plan, const mc_gpu *gpu, const mc_problem *problem);

#endif
