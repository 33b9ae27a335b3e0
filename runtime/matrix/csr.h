/* The readers behind mc_csr_read, and what they share. */
#ifndef MCRT_CSR_H
#define MCRT_CSR_H

#include "mcrt_internal.h"

/* Zeroed arrays for the given shape. On failure *CSR is zeroed. */
mc_status mcrt_csr_create(int64_t rows, int64_t cols, int64_t nnz, mc_csr *csr, mc_diag *diag);

mc_status mcrt_smtx_read(const char *path, mc_csr *csr, mc_diag *diag);
mc_status mcrt_mtx_read(const char *path, mc_csr *csr, mc_diag *diag);

#endif
