/* What kernels of products and their reference on the CPU (runtime/ops/gemm) agree on: sizes from which the
   order of their sums follows (docs/gemm.md). */
#ifndef MC_GEMM_ORDER_H
#define MC_GEMM_ORDER_H

/* Scales of blocks: values of k, and columns of B, that have one scale. */
enum { GEMM_BLOCK = 128 };

/* Stream: tiles that are left over are cut into ranges, at most STREAM_RANGES for each of them, if they are
   for no more than STREAM_FULL / STREAM_OF of all thread blocks. Else they are taken whole. */
enum { STREAM_FULL = 5, STREAM_OF = 8, STREAM_RANGES = 4 };

#endif
