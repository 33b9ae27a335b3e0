/* What kernels of products and their reference on the CPU (runtime/ops/gemm) agree on: the sizes that the order
   of their sums follows from (docs/gemm.md). */
#ifndef MC_GEMM_ORDER_H
#define MC_GEMM_ORDER_H

/* Scales of blocks: values of k, and columns of B, that have one scale. */
enum { GEMM_BLOCK = 128 };

/* Stream: of a turn's thread blocks the tiles that are left over may be for up to STREAM_FULL / STREAM_OF, and
   are then cut into at most STREAM_RANGES ranges for each of them. More of them are taken whole. */
enum { STREAM_FULL = 5, STREAM_OF = 8, STREAM_RANGES = 4 };

#endif
