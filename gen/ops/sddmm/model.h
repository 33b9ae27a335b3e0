/* How long an SDDMM kernel should take on a problem: a roofline with latencies, as the SpMM's
 * (ops/spmm/model.h). Each solver has its estimate in its folder; here is what they share. */
#ifndef MC_SDDMM_MODEL_H
#define MC_SDDMM_MODEL_H

#include "ops/sddmm/costs.h"
#include "ops/sddmm/problem.h"
#include "parts/model.h"

enum { SDDMM_GROUP_SLOTS = 16 };

typedef struct sddmm_situation {
    const mc_gpu *gpu;
    const mc_problem *problem;
    sddmm_costs cost;
    double row_blocks, mean; /* mean: vectors of a row block */
    double a_bytes, b_bytes; /* of a row of A, and of a column of B */
} sddmm_situation;

sddmm_situation sddmm_meet(const sddmm_problem *plan, const mc_gpu *gpu, const mc_problem *problem);
/* Whether what the spec fixes is the problem's. */
bool sddmm_can_run(const sddmm_problem *plan, const mc_problem *problem);
/* Warps of thread blocks of WARPS that a multiprocessor holds at once where each thread has REGISTERS, and a
   thread block SHARED bytes. */
double sddmm_resident_warps(const mc_gpu *gpu, double warps, double registers, double shared);

#endif
