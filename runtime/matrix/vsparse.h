/* Vector-sparse matrices: V x 1 nonzero vectors with values. */
#ifndef MCRT_VSPARSE_H
#define MCRT_VSPARSE_H

#include "matrix/csr.h"
#include "matrix/dense.h"

/* BCRS (column-vector encoding): row blocks of VEC rows; row block i holds the nonzero vectors
   row_ptr[i] .. row_ptr[i + 1] - 1, each a VEC x 1 column at col_idx[j], its VEC values one after another in
   values[j * vec ...]. Columns ascend inside a row block. */
typedef struct mc_vsparse {
    mc_type type;
    int vec;
    int64_t rows, cols; /* rows = row_blocks * vec */
    int64_t row_blocks, vectors;
    int64_t *row_ptr;
    int32_t *col_idx;
    void *values;
    /* Of an A' (slide24.h) the matrix with spans that it was made of: the same vectors, in other columns */
    struct {
        int span; /* 0: there is none */
        int64_t cols;
        int32_t *col_idx;
    } source;
} mc_vsparse;

/* Each nonzero of the pattern becomes a VEC x 1 vector: rows = vec * csr->rows. Values are zero until
   filled. */
MC_API mc_status mc_vsparse_dilate(const mc_csr *csr, int vec, mc_type type, mc_vsparse *out, mc_diag *diag);
/* Each group of VEC rows becomes a row block holding the union of its columns; rows is rounded up to a
   multiple of VEC. *fill is nonzeros / (vectors * vec), 1 where nothing is stored. MASK, if not NULL,
   receives a malloc'ed byte for each value, 1 where the pattern has it (the caller frees). */
MC_API mc_status mc_vsparse_union(const mc_csr *csr, int vec, mc_type type, mc_vsparse *out, double *fill,
                                  uint8_t **mask, mc_diag *diag);
MC_API void mc_vsparse_free(mc_vsparse *a);
MC_API int64_t mc_vsparse_value(const mc_vsparse *a, int64_t vector, int row);
MC_API void mc_vsparse_set_value(mc_vsparse *a, int64_t vector, int row, int64_t value);
/* Fills all values; with MASK (see union) those outside of the pattern stay zero. */
MC_API void mc_vsparse_fill(mc_vsparse *a, mc_value_law law, uint64_t seed, const uint8_t *mask);
/* Values beyond MOST become MOST. */
MC_API void mc_vsparse_clamp(mc_vsparse *a, int64_t most);
/* Takes values from DENSE: either rows x cols (MC_FORMAT where it is nonzero outside of the pattern) or
   vectors x vec in BCRS order; where both fit, the matrix is meant. A value out of A's type's range is
   MC_FORMAT; an A or a mask of floats takes those of its own type alone. On failure A is as before. */
MC_API mc_status mc_vsparse_take(mc_vsparse *a, const mc_dense *dense, mc_diag *diag);

/* Which of the two DENSE has to be. A full matrix of vec columns has as many vectors as rows, so that the
   shape does not tell. */
typedef enum mc_take_order { MC_TAKE_BY_SHAPE, MC_TAKE_MATRIX, MC_TAKE_VECTORS } mc_take_order;
MC_API mc_status mc_vsparse_take_as(mc_vsparse *a, const mc_dense *dense, mc_take_order order, mc_diag *diag);

/* Takes the values of CSR, of which mc_vsparse_union made A; others of A's vectors become 0. SCALE: values
   are divided by it and, in an A of integers, rounded to nearest even; 0: they are taken as they are. An A of
   floats gets the nearest ones, ties to even. What A's type cannot hold is MC_CANNOT with "entry (row,
   column)", counted from 1. On failure A is as before. */
MC_API mc_status mc_vsparse_take_csr(mc_vsparse *a, const mc_csr *csr, double scale, mc_diag *diag);

/* What estimates (mc_spec_estimate) want to know of A B, where B has N columns and the leading dimension
   LDB. */
MC_API mc_problem mc_problem_of(const mc_vsparse *a, int64_t n, int64_t ldb);

/* A matrix of ROW_BLOCKS * VEC rows with a zeroed row_ptr; col_idx and values are NULL. On failure *OUT is
   zeroed. MC_USAGE for a vector length below 1. */
mc_status mcrt_vsparse_outline(mc_type type, int vec, int64_t row_blocks, int64_t cols, int64_t vectors,
                               mc_vsparse *out, mc_diag *diag);
/* The same with zeroed col_idx and values. */
mc_status mcrt_vsparse_create(mc_type type, int vec, int64_t row_blocks, int64_t cols, int64_t vectors,
                              mc_vsparse *out, mc_diag *diag);

/* Vectors of the longest of COUNT row blocks from FIRST on; 0: there are none. It looks at row_ptr alone. */
int64_t mcrt_vsparse_longest(const mc_vsparse *a, int64_t first, int64_t count);

#endif
