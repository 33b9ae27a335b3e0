/* The sparse peers: cuSPARSE's SpMM on the same matrix, in each of its formats. Values are those of the s8 problem
   divided by 128, so that the exact result is known: 2^-14 of the s8 one. B and C are row-major, except that the s8
   format knows only a column-major B. */
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
    size_t row_ptr, col_idx, values, b, c; /* parts of the slab */
    sparse_call calls[SPARSE_MAX_ALGORITHMS];
} sparse_product;

typedef struct sparse_peers {
    sparse_product products[SPARSE_FORMATS];
    contender contenders[SPARSE_FORMATS];
    size_t count;
    char notes[SPARSE_FORMATS][160]; /* why a format has no contender; "" where it has */
} sparse_peers;

/* For WORK's N_INDEX-th N: verifies all formats and algorithms and keeps each format's fastest. WANT_S32 and
   WANT_F32 are the exact result on the device, the latter as 2^-14 of the former. PEERS must stay where it is; the
   caller closes. */
void sparse_open(sparse_peers *peers, const sparse_library *library, gpu_device *gpu, helpers *helpers,
                 const work *work, size_t n_index, int64_t n, bool cold, uint64_t want_s32,
                 uint64_t want_f32);
void sparse_close(sparse_peers *peers, gpu_device *gpu);

#endif
