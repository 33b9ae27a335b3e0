/* What tests ask of a pattern that was generated. */
#ifndef TESTS_CSR_CHECKS_H
#define TESTS_CSR_CHECKS_H

#include "scratch.h"

static inline uint64_t csr_checksum(const mc_csr *csr) {
    uint64_t hash = checksum(0, csr->row_ptr, (size_t)(csr->rows + 1) * sizeof *csr->row_ptr);
    return checksum(hash, csr->col_idx, (size_t)csr->nnz * sizeof *csr->col_idx);
}

static inline bool well_formed(const mc_csr *csr) {
    bool good = csr->row_ptr[0] == 0 && csr->row_ptr[csr->rows] == csr->nnz;
    for (int64_t row = 0; row < csr->rows; row++)
        for (int64_t i = csr->row_ptr[row]; i < csr->row_ptr[row + 1]; i++)
            good = good && csr->col_idx[i] >= 0 && csr->col_idx[i] < csr->cols &&
                   (i == csr->row_ptr[row] || csr->col_idx[i] > csr->col_idx[i - 1]);
    return good;
}

#endif
