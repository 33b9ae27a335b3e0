/* The dense peers: cuBLASLt in f16, bf16, s8 and e4m3 on the same shape, with random operands of its own.

   C[m,n] = A[m,k] B[k,n], all row-major, is asked for as the column-major product C^T = B^T A^T, which is the
   same memory; where the operator has B with k contiguous, so have the peers. Bytes get the layout that their
   kernels want: B stored with k contiguous, and k rounded up to a multiple of 16. s8 has s32 results, e4m3
   f16, by sums that may have fewer bits than f32 ("fast accumulation"). Leading
   dimensions are multiples of 16 for all. */
#ifndef BENCH_DENSE_H
#define BENCH_DENSE_H

#include "cublaslt_api.h"
#include "timer.h"

enum { DENSE_TYPES = 4, DENSE_REQUESTED = 16, DENSE_KEPT = 2, DENSE_WORKSPACE = 32 << 20 };

typedef struct dense_library {
    cublaslt lt;
    void *handle;
    uint64_t workspace;
    int version; /* 130000 for 13.0 */
} dense_library;

/* The caller closes also after a failure. */
mc_status dense_library_open(dense_library *library, gpu_device *gpu, mc_diag *diag);
void dense_library_close(dense_library *library, gpu_device *gpu);

typedef struct dense_problem {
    int64_t m, n, k;
    bool k_contiguous; /* B is stored n x k */
    bool cold;
    bool bytes; /* also types of 8 bits that not every GPU has */
} dense_problem;

/* One type's product and the algorithms for it. */
typedef struct dense_product_state {
    const dense_library *library;
    int kind;
    int64_t m, n, k, lda, ldb;
    bool k_contiguous;
    operand_slab slab;
    size_t a, b, d; /* parts of the slab */
    uint64_t want;
    void *desc, *layout_a, *layout_b, *layout_d;
    lt_heuristic algos[DENSE_REQUESTED];
    int algo_count, wrong;
} dense_product_state;

typedef struct dense_peers {
    dense_product_state products[DENSE_TYPES];
    contender contenders[DENSE_TYPES * DENSE_KEPT];
    size_t count;
    char notes[DENSE_TYPES][128]; /* why a type has no contender; "" where it has */
} dense_peers;

/* Verifies and times all algorithms of the heuristic and keeps the fastest two of each type as contenders. A
   type for which nothing works is no failure: it has a note. PEERS must stay where it is; the caller
   closes. */
mc_status dense_open(dense_peers *peers, const dense_library *library, gpu_device *gpu, helpers *helpers,
                     const dense_problem *problem, mc_diag *diag);
void dense_close(dense_peers *peers, gpu_device *gpu);

#endif
