/* What kernels with panels multiply beside A's nonzeros. */
#ifndef MCRT_PANEL_ZEROS_H
#define MCRT_PANEL_ZEROS_H

#include "ops/operator.h"

/* A kernel with panels multiplies a row of B by all rows of a panel in which one has something in that
   column: by zeros in the others. One of HRPB multiplies the rows of B of a brick's columns by all rows of
   the brick, if it has something. It matters where that row of B has an infinity or a NaN. Sets WITH_ZEROS to
   A with these zeros among its nonzeros, which the caller frees; leaves it empty where KERNEL has no panels,
   or B no such row. */
mc_status panel_zeros_add(const mc_kernel *kernel, const mc_vsparse *a, const mc_dense *b,
                          mc_vsparse *with_zeros, mc_diag *diag);

#endif
