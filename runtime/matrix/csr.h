/* Sparsity patterns: read from files, written, generated. */
#ifndef MCRT_CSR_H
#define MCRT_CSR_H

#include "mcgen.h"
#include "mcrt.h"

/* What a file says of its nonzeros: that they are there, or what they are. */
typedef enum mc_csr_field { MC_CSR_PATTERN, MC_CSR_INTEGER, MC_CSR_REAL, MC_CSR_COMPLEX } mc_csr_field;

/* CSR pattern: row_ptr[rows + 1] offsets into col_idx[nnz]; columns ascending and distinct inside a row. */
typedef struct mc_csr {
    int64_t rows, cols, nnz;
    int64_t *row_ptr;
    int32_t *col_idx;
    mc_csr_field field;
    double *values; /* nnz of them, in the order of col_idx; NULL: of field PATTERN or COMPLEX */
    int64_t summed; /* entries of the .mtx file that were added to another one in their place */
} mc_csr;

/* Reads PATH by its ending: .smtx (DLMC: "rows, cols, nnz", row offsets, column indices), .npy or
   .safetensors, perhaps with :NAME behind (a dense array, of which what is not zero is taken; MC_CANNOT for
   infinities and NaN), a directory or .safetensors with the arrays of a BSR (bsr.h), or .mtx (MatrixMarket;
   docs/formats.md says what of it: coordinate entries are sorted by row, those in one place added up, complex
   values dropped; an array's zeros are left out). .smtx and .mtx may be compressed by gzip, with .gz behind.
   Malformed, truncated, out-of-range, unsorted or duplicate (.smtx) input: MC_FORMAT with "path:line:
   ...". */
MC_API mc_status mc_csr_read(const char *path, mc_csr *csr, mc_diag *diag);
/* Whether it does, by the ending, or by what is in it. */
MC_API bool mc_csr_reads(const char *path);
/* Whether it would as .smtx or .smtx.gz. */
MC_API bool mc_csr_is_smtx(const char *path);
MC_API mc_status mc_csr_write_smtx(const char *path, const mc_csr *csr, mc_diag *diag);
/* In coordinate format, general, with the values that there are, else as a pattern. */
MC_API mc_status mc_csr_write_mtx(const char *path, const mc_csr *csr, mc_diag *diag);
MC_API void mc_csr_free(mc_csr *csr);

/* How row lengths vary: UNIFORM keeps each entry with probability 1 - sparsity; REALISTIC draws each row's
   length from a log-normal law with coefficient of variation CV (magnitude-pruned DLMC layers show 0.2 to
   0.4), the columns with a mild preference that the whole matrix shares, as pruned layers have; the mean
   length is kept. */
typedef enum mc_pattern_law { MC_PATTERN_UNIFORM, MC_PATTERN_REALISTIC } mc_pattern_law;

typedef struct mc_pattern {
    int64_t rows, cols;
    double sparsity; /* 0 (full) to 1 (empty) */
    mc_pattern_law law;
    double cv; /* REALISTIC only */
    uint64_t seed;
} mc_pattern;

/* Same arguments, same matrix, on every machine. */
MC_API mc_status mc_csr_generate(const mc_pattern *pattern, mc_csr *csr, mc_diag *diag);

/* The mask of vectorSparse's and Magicube's attention: the `band` columns around the diagonal are there, and
   each entry outside of them with the probability that makes the sparsity. The diagonal ends in the last
   column, whatever the number of rows, which are row blocks there. */
typedef struct mc_banded {
    int64_t rows, cols;
    double sparsity; /* of the whole */
    int64_t band;
    uint64_t seed;
    double fill; /* above 0: each entry of the band with this probability, none elsewhere, and no sparsity */
} mc_banded;

/* MC_USAGE where the band alone is more than the sparsity leaves. */
MC_API mc_status mc_csr_generate_banded(const mc_banded *pattern, mc_csr *csr, mc_diag *diag);

/* What sparse tensor cores want: of each `of` neighbouring entries of a row `kept` are there, any of them
   alike often; of fewer, at the end of a row, at most so many. */
typedef struct mc_grouped {
    int64_t rows, cols;
    int kept, of; /* 2:4: 2 and 4 */
    uint64_t seed;
    int unit; /* neighbours that are there, or not, together and count as one; 4:8 pairwise: 2. 0: 1 */
} mc_grouped;

/* MC_USAGE where a group would keep more than it has. */
MC_API mc_status mc_csr_generate_grouped(const mc_grouped *pattern, mc_csr *csr, mc_diag *diag);

/* -- For the readers ---------------------------------------------------------------------------------- */

/* Zeroed arrays for the given shape. On failure *CSR is zeroed. */
mc_status mcrt_csr_create(int64_t rows, int64_t cols, int64_t nnz, mc_csr *csr, mc_diag *diag);

mc_status mcrt_smtx_read(const char *path, mc_csr *csr, mc_diag *diag);
mc_status mcrt_mtx_read(const char *path, mc_csr *csr, mc_diag *diag);
mc_status mcrt_array_read(const char *path, mc_csr *csr, mc_diag *diag);

#endif
