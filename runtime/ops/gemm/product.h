/* What the operators gemm and gemm24 have in common: their operands but A, and their references. */
#ifndef MCRT_GEMM_PRODUCT_H
#define MCRT_GEMM_PRODUCT_H

#include "ops/operator.h"

/* The operands behind A, from the one with index `first` of an operator's list on. */
enum {
    PRODUCT_B,
    PRODUCT_SCALE,
    PRODUCT_BIAS,
    PRODUCT_B_SCALE,
    PRODUCT_C_SCALE,
    PRODUCT_ZERO,
    PRODUCT_RESIDUAL,
    PRODUCT_OPERANDS, /* so many; an operator may have others behind them */
};

/* Members of both. */
#define PRODUCT_MEMBERS                                                                                      \
    (HAS(op) | HAS(lhs) | HAS(rhs) | HAS(out) | HAS(scale) | HAS(bias) | HAS(activation) | HAS(layout) |     \
     HAS(shapes) | HAS(align) | HAS(m) | HAS(n) | HAS(k) | HAS(ldb) | HAS(ldc) | HAS(b_scale) |              \
     HAS(c_scale) | HAS(zero) | HAS(residual) | HAS(ldr) | HAS(sums) | HAS(batch) | HAS(b_stride) |          \
     HAS(c_stride) | HAS(r_stride))

/* A small kernel of every type and layout: that of a spec made of types alone. Of tf32 copy is 4. Promoted
   sums are those of wgmma. */
#define PRODUCT_SPEC                                                                                         \
    "arch = \"sm_89\"\nmethod = \"mma\"\ntile_m = 64\ntile_n = 64\nwarp_m = 32\nwarp_n = 32\n"               \
    "stages = 2\ncopy = {1, 4}\nstore = \"pairs\"\n"
#define PRODUCT_OTHER_SPEC                                                                                   \
    "arch = \"sm_90a\"\ntile_m = 64\ntile_n = 64\nconsumers = 1\nstages = 2\nstore = \"pairs\"\n"

/* What operators check of types and factors. */
mc_status gemm_check(const mc_operator *o, const char *lhs, const plan_problem *problem, mc_diag *diag);

/* The reference's sums of A by the operands' B, and how far a kernel's may be from these. */
mc_status gemm_sums(const host_operands *o, const mc_vsparse *a, mc_dense *result, mc_diag *diag);
mc_status gemm_bounds(const host_operands *o, const mc_vsparse *a, mc_dense *result, mc_diag *diag);

/* What becomes of sums: `finish` and `range` of both operators. */
mc_status gemm_finish(const host_operands *o, const mc_dense *sums, mc_dense *c, mc_diag *diag);
mc_status gemm_range(const host_operands *o, const sum_range *within, reference_result *want, mc_diag *diag);

#endif
