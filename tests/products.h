/* An SpMM and an SDDMM on a device, for tests that are about these. */
#ifndef TESTS_PRODUCTS_H
#define TESTS_PRODUCTS_H

#include "mcrt_internal.h"

/* C = A B. Scales and biases are NULL where the kernel takes none. */
typedef struct mc_spmm {
    const mc_vsparse *a;
    const mc_dense *b;
    int64_t ldc;
    unsigned b_offset, c_offset; /* mc_run.offsets */
    const float *scale, *bias, *b_scale, *c_scale, *zero;
    const mc_dense *residual;
    unsigned residual_offset;
    const float *beta;
} mc_spmm;

/* C = A B where MASK has nonzero vectors. */
typedef struct mc_sddmm {
    const mc_vsparse *mask;
    const mc_dense *a, *b;
    unsigned a_offset, b_offset, c_offset;
    const float *scale;
} mc_sddmm;

static inline int place_of_operand(mc_op op, const char *name) {
    return operator_operand(operator_of(op), name);
}

static inline mc_status mc_spmm_run(mc_device *device, const mc_kernel *kernel, const char *ptx,
                                    const mc_spmm *problem, mc_timing *timing, mc_dense *c, mc_diag *diag) {
    int b = place_of_operand(MC_OP_SPMM, "b"), residual = place_of_operand(MC_OP_SPMM, "residual"),
        out = place_of_operand(MC_OP_SPMM, "c");
    mc_run run = {.operands.matrix = problem->a, .ld = problem->ldc};
    run.operands.inputs[b] = problem->b;
    run.operands.factors[place_of_operand(MC_OP_SPMM, "scale")] = problem->scale;
    run.operands.factors[place_of_operand(MC_OP_SPMM, "bias")] = problem->bias;
    run.operands.factors[place_of_operand(MC_OP_SPMM, "b_scale")] = problem->b_scale;
    run.operands.factors[place_of_operand(MC_OP_SPMM, "c_scale")] = problem->c_scale;
    run.operands.factors[place_of_operand(MC_OP_SPMM, "zero")] = problem->zero;
    run.operands.factors[place_of_operand(MC_OP_SPMM, "beta")] = problem->beta;
    run.operands.inputs[residual] = problem->residual;
    run.offsets[b] = problem->b_offset;
    run.offsets[residual] = problem->residual_offset;
    run.offsets[out] = problem->c_offset;
    return mc_operator_run(device, kernel, ptx, &run, timing, c, diag);
}

static inline mc_status mc_sddmm_run(mc_device *device, const mc_kernel *kernel, const char *ptx,
                                     const mc_sddmm *problem, mc_timing *timing, mc_dense *c, mc_diag *diag) {
    int a = place_of_operand(MC_OP_SDDMM, "a"), b = place_of_operand(MC_OP_SDDMM, "b"),
        out = place_of_operand(MC_OP_SDDMM, "c");
    mc_run run = {.operands.matrix = problem->mask};
    run.operands.inputs[a] = problem->a;
    run.operands.inputs[b] = problem->b;
    run.operands.factors[place_of_operand(MC_OP_SDDMM, "scale")] = problem->scale;
    run.offsets[a] = problem->a_offset;
    run.offsets[b] = problem->b_offset;
    run.offsets[out] = problem->c_offset;
    return mc_operator_run(device, kernel, ptx, &run, timing, c, diag);
}

#endif
