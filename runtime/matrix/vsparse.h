#ifndef MCRT_VSPARSE_H
#define MCRT_VSPARSE_H

#include "mcrt_internal.h"

/* Zeroed arrays of a matrix of ROW_BLOCKS * VEC rows. On failure *OUT is zeroed. MC_USAGE for a vector length
   below 1. */
mc_status mcrt_vsparse_create(mc_type type, int vec, int64_t row_blocks, int64_t cols, int64_t vectors,
                              mc_vsparse *out, mc_diag *diag);

#endif
