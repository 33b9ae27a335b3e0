#include "ops/gemm/scaled.h"
#include <math.h>
#include "ops/gemm/bounds.h"

/* -- Scales ------------------------------------------------------------------------------------------- */

float block_scale(const block_scales *scales, int64_t row, int64_t column, int64_t block) {
    const mc_dense *a = scales->a_blocks, *b = scales->b_blocks;
    const bool turned = scales->a_major == MC_MAJOR_COLUMN;
    const float of_a = ((const float *)a->data)[turned ? block * a->ld + row : row * a->ld + block];
    const float of_b = ((const float *)b->data)[column / GEMM_BLOCK * b->ld + block];
    return of_a * of_b;
}

mc_status gemm_check_block_scales(const plan_problem *p, mc_diag *diag) {
    if (!p->block_scales && p->a_blocks_major != MC_MAJOR_ROW)
        return mc_fail(diag, MC_USAGE, "a_blocks_major is set, which goes with block_scales");
    if (p->block_scales && p->sums != MC_SUMS_PROMOTED)
        return mc_fail(diag, MC_USAGE, "block_scales is set, which goes with promoted sums");
    if (p->block_scales && p->batch > 1)
        return mc_fail(diag, MC_USAGE, "block_scales is set, and a batch has no scales of blocks");
    return MC_OK;
}

/* -- Blocks of k -------------------------------------------------------------------------------------- */

/* COUNT values of k of DENSE, of 8 bits, from FIRST on: columns, or where K_ROWS rows, as it is stored. */
static mc_dense part_of(const mc_dense *dense, bool k_rows, int64_t first, int64_t count) {
    mc_dense part = *dense;
    part.data = (char *)dense->data + mc_type_size(dense->type, k_rows ? first * dense->ld : first);
    *(k_rows ? &part.rows : &part.cols) = count;
    return part;
}

/* What one block of k is as a problem of its own. */
typedef struct block_of_k {
    plan_problem problem;
    mc_dense a, b;
} block_of_k;

static block_of_k take_block(const host_operands *o, const unscaled_product *product, int64_t index) {
    const operand_row *b = &operator_of(o->problem->op)->operands[product->b];
    const int64_t first = index * GEMM_BLOCK, left = o->problem->k - first;
    const int64_t count = left < GEMM_BLOCK ? left : GEMM_BLOCK;
    const bool b_turned = operand_is_turned(o->problem, b);
    block_of_k block = {.problem = *o->problem,
                        .a = part_of(o->inputs[product->a], false, first, count),
                        .b = part_of(o->inputs[product->b], !b_turned, first, count)};
    block.problem.k = count, block.problem.sums = MC_SUMS_FAST, block.problem.block_scales = false;
    return block;
}

typedef mc_status of_product(const host_operands *o, mc_dense *result, mc_diag *diag);

/* What OF says of block INDEX. The call creates RESULT. */
static mc_status compute_block(const host_operands *o, const unscaled_product *product, int64_t index,
                               of_product *of, mc_dense *result, mc_diag *diag) {
    const block_of_k block = take_block(o, product, index);
    host_operands operands = *o;
    operands.problem = &block.problem;
    operands.inputs[product->a] = &block.a, operands.inputs[product->b] = &block.b;
    return of(&operands, result, diag);
}

/* Adds BLOCK's, times its scales, or MAGNITUDES of these, to TOTAL, each time rounded once. */
static void add_block(const mc_dense *block, const block_scales *scales, bool magnitudes, int64_t index,
                      mc_dense *total) {
    const float *from = block->data;
    float *to = total->data;
    for (int64_t i = 0; i < total->rows; i++)
        for (int64_t j = 0; j < total->cols; j++) {
            const float scale = block_scale(scales, i, j, index);
            float *sum = &to[i * total->ld + j];
            *sum = fmaf(from[i * block->ld + j], magnitudes ? fabsf(scale) : scale, *sum);
        }
}

static mc_status add_blocks(const host_operands *o, const unscaled_product *product,
                            const block_scales *scales, of_product *of, mc_dense *total, mc_diag *diag) {
    const plan_problem *p = o->problem;
    mc_status status = mc_dense_create(MC_F32, p->m, p->n, p->n, total, diag);
    for (int64_t i = 0; i < gemm_blocks(o->problem->k) && status == MC_OK; i++) {
        mc_dense block = {0};
        status = compute_block(o, product, i, of, &block, diag);
        if (status == MC_OK) add_block(&block, scales, of == product->bounds, i, total);
        mc_dense_free(&block);
    }
    return status;
}

/* -- The reference ------------------------------------------------------------------------------------ */

mc_status gemm_scaled_sums(const host_operands *o, const unscaled_product *product,
                           const block_scales *scales, mc_dense *result, mc_diag *diag) {
    return add_blocks(o, product, scales, product->sums, result, diag);
}

mc_status gemm_scaled_bounds(const host_operands *o, const unscaled_product *product,
                             const block_scales *scales, mc_dense *result, mc_diag *diag) {
    mc_status status = add_blocks(o, product, scales, product->bounds, result, diag);
    if (status == MC_OK) gemm_bound_scaled(result, gemm_blocks(o->problem->k));
    return status;
}
