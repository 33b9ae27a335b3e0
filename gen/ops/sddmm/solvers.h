/* The solvers of the SDDMM: sddmm.c chooses one of them. */
#ifndef MC_SDDMM_SOLVERS_H
#define MC_SDDMM_SOLVERS_H

#include "schema/family.h"

#define METHOD(name, word, solver, kind, doc) extern const mc_solver solver;
#include "ops/sddmm/methods.def"
#undef METHOD

/* Each one's estimate.c. */
double sddmm_gather_estimate(const void *plan, const mc_gpu *gpu, const mc_problem *problem);
double sddmm_window_estimate(const void *plan, const mc_gpu *gpu, const mc_problem *problem);
double sddmm_dense_estimate(const void *plan, const mc_gpu *gpu, const mc_problem *problem);
double sddmm_csr_estimate(const void *plan, const mc_gpu *gpu, const mc_problem *problem);
double sddmm_panels_estimate(const void *plan, const mc_gpu *gpu, const mc_problem *problem);

#endif
