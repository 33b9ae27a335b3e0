/* What generators of patterns share: a pattern that grows row by row, and how entries are drawn. */
#ifndef MCRT_CSR_BUILDER_H
#define MCRT_CSR_BUILDER_H

#include "matrix/csr.h"
#include "matrix/random.h"

typedef struct csr_builder {
    mc_csr csr; /* nnz so far; whoever ends a row sets the row_ptr behind it */
    int64_t capacity;
} csr_builder;

/* False: there is no memory. */
bool csr_append(csr_builder *b, int32_t col);

/* Adds all rows of PATTERN; false: there is no memory. */
typedef bool csr_grow(csr_builder *b, const void *pattern);
/* Makes *CSR of ROWS x COLS by HOW. On failure, MC_NOMEM, it is as it was. */
mc_status csr_build(int64_t rows, int64_t cols, csr_grow *how, const void *pattern, mc_csr *csr,
                    mc_diag *diag);

/* MC_USAGE where there is no pattern of so many rows and columns. */
mc_status csr_check_shape(int64_t rows, int64_t cols, mc_diag *diag);

/* The logarithm that csr_next_kept takes, of the part of entries that are not kept, 0 to 1. Of 1, -0, it
   keeps none. */
double csr_log_sparsity(double sparsity);
/* The next entry that is kept, from COL on, where each is with the same probability; COLS: there is none. */
int64_t csr_next_kept(mcrt_random *random, double log_sparsity, int64_t col, int64_t cols);

/* Scales ROWS lengths so that, cut at MOST, they add up to about WANT, at most rows * most, and makes whole
   numbers of them: a fraction becomes one more nonzero with that probability. */
void csr_fit_lengths(double *length, int64_t rows, double most, double want, mcrt_random *random);

#endif
