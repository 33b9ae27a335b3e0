/* One product on a device: packed, launched, read back, with what lies around it checked. */
#ifndef MCRT_PRODUCTS_H
#define MCRT_PRODUCTS_H

#include "device/bind.h"
#include "verify/reference.h"

/* How often to launch, and what came of it. */
typedef struct mc_timing {
    int launches, rounds; /* in: 0 rounds, no timing */
    double microseconds;  /* out: median of a launch */
} mc_timing;

/* C = A B on DEVICE. */
typedef struct mc_spmm {
    const mc_vsparse *a;
    const mc_dense *b;
    int64_t ldc;
    /* Bytes that B's and C's device addresses lie past a 256-byte boundary: 0, or a test of
       unaligned data. */
    unsigned b_offset, c_offset;
    /* Where the kernel's output has them, NULL elsewhere: mc_per_count elements each, in host memory. */
    const float *scale, *bias;
} mc_spmm;

/* Packs, loads PTX (or, where PTX is NULL, the kernel's own), runs, and reads C (of the kernel's output type,
   created by the call: rows x n with ld = ldc). C, its gap and what lies in front of it and behind it are
   poisoned before; MC_MISMATCH where the kernel wrote any but C. TIMING may be NULL. */
MC_API mc_status mc_spmm_run(mc_device *device, const mc_kernel *kernel, const char *ptx,
                             const mc_spmm *problem, mc_timing *timing, mc_dense *c, mc_diag *diag);

/* C = A B where MASK has nonzero vectors. */
typedef struct mc_sddmm {
    const mc_vsparse *mask;
    const mc_dense *a, *b;                 /* m x k; as the kernel's layout says */
    unsigned a_offset, b_offset, c_offset; /* as in mc_spmm */
    const float *scale; /* where the kernel's output has them, NULL elsewhere: mc_per_count of m x n */
} mc_sddmm;

/* As mc_spmm_run. c: of the kernel's output type, in its order (mc_sampled_create). */
MC_API mc_status mc_sddmm_run(mc_device *device, const mc_kernel *kernel, const char *ptx,
                              const mc_sddmm *problem, mc_timing *timing, mc_dense *c, mc_diag *diag);

#endif
