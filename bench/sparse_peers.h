/* The sparse peers: cuSPARSE's SpMM of the same matrix, its SpMV where B has one column, or its SDDMM with
   the same mask, in each of its formats (sparse_formats.h). Values of an s8 problem are divided by 128, so
   that the exact result is known: 2^-14 of the s8 one. Those of floats are the same, also in f32. Matrices
   of whole blocks at random places are others; what is multiplied by them is the same B. Dense matrices are
   row-major, except B of the s8 format, which knows only a column-major one, and B of SDDMM, whose columns
   are our kernels'. */
#ifndef BENCH_SPARSE_PEERS_H
#define BENCH_SPARSE_PEERS_H

#include "cusparse_api.h"
#include "peers.h"
#include "timer.h"
#include "work.h"

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
    void **descs;    /* 3 a set, and of the spare ones */
    uint64_t buffer; /* 0: none */
    double prepare;  /* microseconds that asking for the buffer's size and preprocessing took, the median */
} sparse_call;

typedef struct sparse_product {
    const sparse_library *library;
    int format;
    mc_type type;  /* of the problem's sides */
    uint64_t want; /* not 0: of a matrix of its own, f32 */
    operand_slab slab;
    size_t row_ptr, col_idx, values,
        dense[2]; /* parts of the slab: the sparse matrix, the dense ones in the call's order */
    sparse_call calls[SPARSE_MAX_ALGORITHMS];
} sparse_product;

enum { SPARSE_CALLS = SPARSE_FORMATS * SPARSE_MAX_ALGORITHMS };

typedef struct sparse_peers {
    sparse_product products[SPARSE_FORMATS];
    contender contenders[SPARSE_CALLS];
    size_t count;
    char notes[SPARSE_CALLS][PEER_NOTE]; /* why an algorithm of a format is no contender; "" where it is */
} sparse_peers;

/* A problem, and what must come out of it on the device, for each format of the operator. */
typedef struct sparse_problem {
    sparse_sides sides;
    const work *work;
    const work_problem *problem;
    bool cold;
    const char *names; /* of the formats that take part, as peers.h has them; NULL: all */
    double spread;     /* the deviation of a product */
    uint64_t want[SPARSE_FORMATS];
    int64_t elements[SPARSE_FORMATS];
} sparse_problem;

/* Verifies all formats of the problem and their algorithms: each that is right is a contender, and those of
   one format have one label. PEERS must stay where it is; the caller closes. */
void sparse_open(sparse_peers *peers, const sparse_library *library, gpu_device *gpu, helpers *helpers,
                 const sparse_problem *problem);
void sparse_close(sparse_peers *peers, gpu_device *gpu);

#endif
