#ifndef MCRT_GEMM_BOUNDS_H
#define MCRT_GEMM_BOUNDS_H

#include "matrix/dense.h"

/* DENSE, of f16 or of floats of 8 bits, becomes what bounds of its products are made of: magnitudes, none but
   zeros below the least normal number. */
void gemm_take_magnitudes(mc_dense *dense);
/* MAGNITUDES, sums of TERMS products of these, become how far a sum of wgmma may be from the true one;
   PROMOTED: of sums of 128 products that are added up in f32. */
void gemm_bound_bytes(mc_dense *magnitudes, int64_t terms, bool promoted);
/* SUMMED, bounds of the sums of each of BLOCKS blocks of k times the magnitudes of their scales, which were
   added up in f32, become how far a sum of such blocks may be from the reference's. */
void gemm_bound_scaled(mc_dense *summed, int64_t blocks);
/* BOUNDS, of sums in f32, become those of sums in f16. */
void gemm_bound_halves(const mc_dense *magnitudes, int64_t terms, mc_dense *bounds);

#endif
