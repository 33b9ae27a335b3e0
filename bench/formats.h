/* A vector-sparse matrix as the formats of cuSPARSE: only its pattern, or its values too. Blocks are VEC x
   VEC: a vector's block holds zeros beside it. And matrices of whole blocks at random places. */
#ifndef BENCH_FORMATS_H
#define BENCH_FORMATS_H

#include "mcrt_internal.h"

/* What becomes of a value: nothing; its own bits (s8, f16, bf16); of s8 the f16 value / 128, exact; of a
   float the same value in f32. */
typedef enum format_values { FORMAT_PATTERN, FORMAT_OWN, FORMAT_HALVES, FORMAT_F32 } format_values;

/* Formats of blocks store zeros. A matrix that would have more than so many bytes of values is not made:
   MC_CANNOT. */
enum { FORMATS_MOST_BYTES = 1 << 30 };

/* Arrays as cuSPARSE wants them. Not all members belong to all formats. */
typedef struct sparse_arrays {
    int32_t *row_ptr;      /* CSR: rows + 1; BSR: block rows + 1; COO: the row of each value */
    int32_t *col_idx;      /* columns, or block columns; Blocked-ELL pads with -1 */
    int64_t rows, indices; /* rows or block rows; length of col_idx */
    int64_t ell_blocks;    /* Blocked-ELL: blocks of every block row */
    int block;             /* rows and columns of a block; 1: there are none */
    /* Of the matrix in whole blocks: CSR and own patterns have A's rows. */
    int64_t matrix_rows, matrix_cols;
    void *values; /* NULL where the pattern is all */
    int64_t value_count;
    format_values kept;
    size_t value_bytes;
    double fill; /* nonzeros of A / values stored */
} sparse_arrays;

void sparse_arrays_free(sparse_arrays *arrays);

/* VALUE / 128 as IEEE half precision. */
uint16_t half_of_s8(int8_t value);

/* Whether nonzero vector V is the first of its block in row block BLOCK. */
bool formats_starts_block(const mc_vsparse *a, int64_t block, int64_t v);

mc_status formats_csr(const mc_vsparse *a, format_values values, sparse_arrays *out, mc_diag *diag);
/* Sorted by rows, and in a row by columns. */
mc_status formats_coo(const mc_vsparse *a, format_values values, sparse_arrays *out, mc_diag *diag);
/* Values of a block are row-major. */
mc_status formats_bsr(const mc_vsparse *a, format_values values, sparse_arrays *out, mc_diag *diag);
/* The same of A with vec = 1: BLOCK rows and columns make a block. Rows behind A's last one are empty. */
mc_status formats_bsr_joined(const mc_vsparse *a, int block, format_values values, sparse_arrays *out,
                             mc_diag *diag);
/* The values are a row-major matrix of a->rows rows and ell_blocks * vec columns. */
mc_status formats_blocked_ell(const mc_vsparse *a, format_values values, sparse_arrays *out, mc_diag *diag);

/* A matrix of at least ROWS x COLS, in whole blocks of BLOCK x BLOCK, whose block rows all have as many
   blocks, at random places: as many as make it SPARSITY sparse, at least one. Its values are of TYPE, f16 or
   bf16, as mc_vsparse_fill draws them. The same arguments give the same matrix. */
typedef struct uniform_blocks {
    int64_t rows, cols;
    int block;
    double sparsity;
    mc_type type;
    uint64_t seed;
} uniform_blocks;
mc_status formats_uniform_ell(const uniform_blocks *of, sparse_arrays *out, mc_diag *diag);
/* The same matrix with its zeros, row-major; freed by the caller. NULL: no memory. */
uint16_t *formats_expand_ell(const sparse_arrays *ell);

#endif
