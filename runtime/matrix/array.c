/* A dense array as a sparse matrix: its elements that are not zero. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include "base/memory.h"
#include "matrix/csr.h"
#include "matrix/dense.h"

/* How many elements are not zero. */
static mc_status count(const char *path, const mc_dense *dense, int64_t *nonzeros, mc_diag *diag) {
    *nonzeros = 0;
    for (int64_t i = 0; i < dense->rows; i++)
        for (int64_t j = 0; j < dense->cols; j++) {
            double value = mc_dense_real(dense, i, j);
            if (!isfinite(value))
                return mc_fail(diag, MC_CANNOT, "%s: entry (%" PRId64 ", %" PRId64 ") is %g", path, i + 1,
                               j + 1, value);
            *nonzeros += value != 0;
        }
    return MC_OK;
}

static void fill(const mc_dense *dense, mc_csr *csr) {
    int64_t at = 0;
    for (int64_t i = 0; i < dense->rows; i++) {
        for (int64_t j = 0; j < dense->cols; j++) {
            double value = mc_dense_real(dense, i, j);
            if (value == 0) continue;
            csr->col_idx[at] = (int32_t)j;
            csr->values[at++] = value;
        }
        csr->row_ptr[i + 1] = at;
    }
}

mc_status mcrt_array_read(const char *path, mc_csr *csr, mc_diag *diag) {
    mc_dense dense;
    int64_t nonzeros = 0;
    mc_status status = mc_dense_read(path, &dense, diag);
    if (status == MC_OK && (dense.rows > INT32_MAX || dense.cols > INT32_MAX))
        status = mc_fail(diag, MC_CANNOT, "%s: %" PRId64 " x %" PRId64 " elements: at most %d each way", path,
                         dense.rows, dense.cols, INT32_MAX);
    if (status == MC_OK) status = count(path, &dense, &nonzeros, diag);
    if (status == MC_OK) status = mcrt_csr_create(dense.rows, dense.cols, nonzeros, csr, diag);
    if (status == MC_OK && (csr->values = mcrt_array(nonzeros, sizeof *csr->values)) == NULL) {
        mc_csr_free(csr);
        status = mcrt_no_memory(diag, nonzeros, "values");
    }
    if (status == MC_OK) {
        csr->field = mc_type_is_real(dense.type) ? MC_CSR_REAL : MC_CSR_INTEGER;
        fill(&dense, csr);
    }
    mc_dense_free(&dense);
    return status;
}
