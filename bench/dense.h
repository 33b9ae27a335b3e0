/* The dense peers: cuBLASLt on the same shape, with random operands of its own, in the types of
   dense_kinds.h.

   C[m,n] = A[m,k] B[k,n], all row-major, is asked for as the column-major product C^T = B^T A^T, which is
   the same memory; where the operator has B with k contiguous, so have the peers. Bytes get the layout
   that their kernels want: B stored with k contiguous, n and k rounded up to a multiple of 16. Leading
   dimensions are multiples of 16 for all. Floats of 8 bits have a scale of each tensor, an f32 on the
   device: 2 and 0.5.

   A problem with few columns may be asked for turned, too: C^T = B^T A^T row-major, so that C lies by
   columns, where n need not be rounded up. */
#ifndef BENCH_DENSE_H
#define BENCH_DENSE_H

#include "cublaslt_api.h"
#include "dense_kinds.h"
#include "timer.h"

enum { DENSE_REQUESTED = 16, DENSE_KEPT = 2, DENSE_WORKSPACE = 32 << 20 };
enum { DENSE_WAYS = 2, DENSE_PRODUCTS = DENSE_KINDS * DENSE_WAYS }; /* straight, turned */

typedef struct dense_library {
    cublaslt lt;
    void *handle;
    uint64_t workspace;
    uint64_t scales; /* f32 on the device: of A, of B */
    int version;     /* 130000 for 13.0 */
} dense_library;

/* The caller closes also after a failure. */
mc_status dense_library_open(dense_library *library, gpu_device *gpu, mc_diag *diag);
void dense_library_close(dense_library *library, gpu_device *gpu);

/* One kind's product, one way, and the algorithms for it. */
typedef struct dense_product_state {
    const dense_library *library; /* NULL: it takes no part */
    const dense_kind *kind;
    bool turned;
    fill_law law;
    int64_t m, n, k, lda, ldb; /* as asked for: turned and rounded up */
    int64_t padded;            /* by so many more columns */
    bool k_contiguous;
    operand_slab slab;
    size_t a, b, d; /* parts of the slab */
    uint64_t want;
    void *desc, *layout_a, *layout_b, *layout_d;
    lt_heuristic algos[DENSE_REQUESTED];
    int algo_count, wrong;
} dense_product_state;

typedef struct dense_peers {
    dense_product_state products[DENSE_PRODUCTS];
    contender contenders[DENSE_PRODUCTS * DENSE_KEPT];
    size_t count;
    char notes[DENSE_PRODUCTS][PEER_NOTE]; /* why a product has no contender; "" where it has */
} dense_peers;

/* Verifies and times all algorithms of the heuristic, for every kind that takes part, and keeps the fastest
   two of each product as contenders. One for which nothing works is no failure: it has a note. PEERS must
   stay where it is; the caller closes. */
mc_status dense_open(dense_peers *peers, const dense_library *library, gpu_device *gpu, helpers *helpers,
                     const peer_problem *problem, mc_diag *diag);
void dense_close(dense_peers *peers, gpu_device *gpu);

#endif
