/* Products of floats of 8 bits with scales of blocks (docs/gemm.md): each 128 of k of a row and a column have
   a sum, which is multiplied by the scale of that row's block of A and of that column's of B. */
#ifndef MCRT_GEMM_SCALED_H
#define MCRT_GEMM_SCALED_H

#include "ops/operator.h"
#include "parts/gemm_order.h"

/* Blocks of SIZE values of k, or columns of B. */
static inline int64_t gemm_blocks(int64_t size) { return (size + GEMM_BLOCK - 1) / GEMM_BLOCK; }

/* a_blocks are m x ceil(k / 128), or, a_major being COLUMN, stored as the transpose of that; b_blocks are
   ceil(n / 128) x ceil(k / 128). Both are f32. */
typedef struct block_scales {
    const mc_dense *a_blocks, *b_blocks;
    mc_major a_major;
} block_scales;

/* The scale of the sum of ROW, COLUMN and block BLOCK of k, in f32. */
float block_scale(const block_scales *scales, int64_t row, int64_t column, int64_t block);

/* How a product is computed without such scales, from operands at the indices a and b. */
typedef struct unscaled_product {
    size_t a, b;
    mc_status (*sums)(const host_operands *o, mc_dense *result, mc_diag *diag);
    mc_status (*bounds)(const host_operands *o, mc_dense *result, mc_diag *diag);
} unscaled_product;

/* MC_USAGE where a problem's scales of blocks do not go with what else it is. */
mc_status gemm_check_block_scales(const plan_problem *problem, mc_diag *diag);
/* The reference's sums, and how far a kernel's may be from these. The calls create RESULT. */
mc_status gemm_scaled_sums(const host_operands *o, const unscaled_product *product,
                           const block_scales *scales, mc_dense *result, mc_diag *diag);
mc_status gemm_scaled_bounds(const host_operands *o, const unscaled_product *product,
                             const block_scales *scales, mc_dense *result, mc_diag *diag);

#endif
