/* Whether a kernel takes a problem. */
#ifndef MCRT_FITS_H
#define MCRT_FITS_H

#include "problem/problem.h"

/* MC_OK where mc_bind will not refuse KERNEL, which may be an outline (mc_kernel_outline), for PROBLEM's
   sizes and leading dimensions. */
mc_status kernel_fits(const mc_kernel *kernel, const plan_problem *problem, mc_diag *diag);

#endif
