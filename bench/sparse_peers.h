/* The sparse peers: cuSPARSE's SpMM of the same matrix, or its SDDMM with the same mask, in each of its
   formats. Values are those of the s8 problem divided by 128, so that the exact result is known: 2^-14 of the
   s8 one. Dense matrices are row-major, except B of the s8 format, which knows only a column-major one, and B
   of SDDMM, whose columns are our kernels'. */
#ifndef BENCH_SPARSE_PEERS_H
#define BENCH_SPARSE_PEERS_H

#include "cusparse_api.h"
#include "timer.h"
#include "work.h"

enum { SPARSE_MAX_ALGORITHMS = 3 };

typedef struct sparse_library {
    cusparse sp;
    void *handle;
    int version;
} sparse_library;

/* The caller closes also after a failure. */
mc_status sparse_library_open(sparse_library *library, gpu_device *gpu, mc_diag *diag);
void sparse_library_close(sparse_library *library);

/* One algorithm: descriptors of A, B and C for every operand set. */
typedef struct sparse_call {
    const struct sparse_product *product;
    int algorithm;
    void **descs;    /* 3 a set */
    uint64_t buffer; /* 0: none */
} sparse_call;

typedef struct sparse_product {
    const sparse_library *library;
    int format;
    operand_slab slab;
    size_t row_ptr, col_idx, values,
        dense[2]; /* parts of the slab: the sparse matrix, the dense ones in the call's order */
    sparse_call calls[SPARSE_MAX_ALGORITHMS];
} sparse_product;

typedef struct sparse_peers {
    sparse_product products[SPARSE_FORMATS];
    contender contenders[SPARSE_FORMATS];
    size_t count;
    char notes[SPARSE_FORMATS][160]; /* why a format has no contender; "" where it has */
} sparse_peers;

/* A problem, and what must come out of it on the device, for each format of the operator. */
typedef struct sparse_problem {
    mc_op op;
    const work *work;
    const work_problem *problem;
    bool cold;
    uint64_t want[SPARSE_FORMATS];
    int64_t elements[SPARSE_FORMATS];
} sparse_problem;

bool sparse_is_of(int format, mc_op op);
mc_type sparse_result_type(int format); /* s32: of the s8 operands; else of their 128ths */
result_order sparse_order(int format);  /* of the result */

/* Verifies all formats of the operator and their algorithms and keeps each format's fastest. PEERS must stay
   where it is; the caller closes. */
void sparse_open(sparse_peers *peers, const sparse_library *library, gpu_device *gpu, helpers *helpers,
                 const sparse_problem *problem);
void sparse_close(sparse_peers *peers, gpu_device *gpu);

#endif
