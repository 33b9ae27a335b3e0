/* A vector-sparse matrix as the formats of cuSPARSE: only its pattern, or an s8 matrix' values as s8 or as
   f16 (value / 128, exact). Blocks are VEC x VEC: a vector's block holds zeros beside it. */
#ifndef BENCH_FORMATS_H
#define BENCH_FORMATS_H

#include "mcrt_internal.h"

typedef enum format_values { FORMAT_PATTERN, FORMAT_S8, FORMAT_F16 } format_values; /* bytes of a value */

/* Arrays as cuSPARSE wants them. Not all members belong to all formats. */
typedef struct sparse_arrays {
    int32_t *row_ptr;      /* CSR: rows + 1; BSR: block rows + 1 */
    int32_t *col_idx;      /* columns, or block columns; Blocked-ELL pads with -1 */
    int64_t rows, indices; /* length of row_ptr - 1, of col_idx */
    int64_t ell_blocks;    /* Blocked-ELL: blocks of every block row */
    void *values;          /* NULL where the pattern is all */
    int64_t value_count;
    size_t value_bytes;
    double fill; /* nonzeros of A / values stored */
} sparse_arrays;

void sparse_arrays_free(sparse_arrays *arrays);

/* VALUE / 128 as IEEE half precision. */
uint16_t half_of_s8(int8_t value);

/* Whether nonzero vector V is the first of its block in row block BLOCK. */
bool formats_starts_block(const mc_vsparse *a, int64_t block, int64_t v);

mc_status formats_csr(const mc_vsparse *a, format_values values, sparse_arrays *out, mc_diag *diag);
/* Values of a block are row-major. */
mc_status formats_bsr(const mc_vsparse *a, format_values values, sparse_arrays *out, mc_diag *diag);
/* The values are a row-major matrix of a->rows rows and ell_blocks * vec columns. */
mc_status formats_blocked_ell(const mc_vsparse *a, format_values values, sparse_arrays *out, mc_diag *diag);

#endif
