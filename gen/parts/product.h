/* A product C = A B as kernels see it: the operands' types, shapes and output. Solvers' plans begin with it.
   An operator's file derives it from a point. */
#ifndef MC_PRODUCT_H
#define MC_PRODUCT_H

#include "parts/batch.h"
#include "parts/output.h"
#include "parts/side.h"

typedef struct gemm_side {
    int type; /* the word of side_type_names */
    const char *name;
    bool integer;
} gemm_side;

static inline gemm_side gemm_side_of(int64_t word) {
    return (gemm_side){(int)word, side_type_names[word], side_is_integer((int)word)};
}

/* In the order of the words of the field. */
typedef enum gemm_sums { GEMM_FAST, GEMM_PROMOTED, GEMM_HALVES } gemm_sums;

typedef struct gemm_problem {
    gemm_side lhs, rhs;
    gemm_sums sums;
    out_kind output;
    bool sparse; /* A is 2:4, in the arrays values and meta (parts/packed24.h) */
    bool b_rows; /* B is row-major; else the k values of a column lie side by side */
    bool turned; /* it is the transpose of the caller's product: parameters are named for that one */
    bool batch;  /* the grid's z counts products, whose operands lie strides apart (parts/batch.h) */
    /* each block of k has a sum that is scaled; scales of A lie as [k / 128][m] */
    bool block_scales, a_blocks_columns;
    int align;
    int64_t m, n, k, lda, ldb, ldc, ldr;
    char c_doc[OUT_TEXT]; /* what the contract says of C */
} gemm_problem;

/* How elements of C are stored, in the order of the words of the field: by tensor copies; two neighbours, or
   one at a time. */
typedef enum gemm_store { STORE_TENSOR, STORE_PAIRS, STORE_SINGLE } gemm_store;
/* Columns of the residual that a load takes where STORE of C are stored at a time: as many, if addresses
   allow it. */
int gemm_residual_load(const gemm_problem *p, int store);

/* ELEMENTS as a constraint has them: a multiple of 1 is none. */
static inline unsigned gemm_multiple(int64_t elements) { return elements > 1 ? (unsigned)elements : 0; }
/* The arrays that a batch moves. They stay where they are until the kernel is emitted. */
enum { GEMM_BATCH_ARRAYS = 4 };
typedef struct gemm_batch {
    mc_batch_array arrays[GEMM_BATCH_ARRAYS];
    size_t count;
} gemm_batch;
gemm_batch gemm_batch_of(const gemm_problem *p);

#endif
