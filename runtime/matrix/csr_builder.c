#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include "matrix/csr_builder.h"

bool csr_append(csr_builder *b, int32_t col) {
    mc_csr *csr = &b->csr;
    if (csr->nnz == b->capacity) {
        int64_t capacity = b->capacity + b->capacity / 2 + 1024;
        int32_t *grown = realloc(csr->col_idx, (size_t)capacity * sizeof *grown);
        if (!grown) return false;
        csr->col_idx = grown;
        b->capacity = capacity;
    }
    csr->col_idx[csr->nnz++] = col;
    return true;
}

mc_status csr_build(int64_t rows, int64_t cols, csr_grow *how, const void *pattern, mc_csr *csr,
                    mc_diag *diag) {
    csr_builder b = {0};
    mc_status status = mcrt_csr_create(rows, cols, 0, &b.csr, diag);
    if (status != MC_OK) return status;
    if (how(&b, pattern)) {
        *csr = b.csr;
        return MC_OK;
    }
    mc_csr_free(&b.csr);
    return mc_fail(diag, MC_NOMEM, "no memory for a pattern of %" PRId64 " x %" PRId64, rows, cols);
}

mc_status csr_check_shape(int64_t rows, int64_t cols, mc_diag *diag) {
    if (rows >= 0 && cols >= 0 && cols <= INT32_MAX) return MC_OK;
    return mc_fail(diag, MC_USAGE,
                   "a pattern of %" PRId64 " x %" PRId64 ": rows must be 0 or more, columns 0 to %d", rows,
                   cols, INT32_MAX);
}

double csr_log_sparsity(double sparsity) {
    if (sparsity >= 1) return -0.0;
    return sparsity > 0 ? portable_log(sparsity) : -INFINITY;
}

/* The distance from one kept entry to the next is geometric: one random number a nonzero, not one an
   element. */
int64_t csr_next_kept(mcrt_random *random, double log_sparsity, int64_t col, int64_t cols) {
    double gap = portable_log(random_unit(random)) / log_sparsity;
    return gap < (double)(cols - col) ? col + (int64_t)gap : cols;
}

/* -- Row lengths */

static double total_length(const double *length, int64_t rows, double scale, double most) {
    double total = 0;
    for (int64_t row = 0; row < rows; row++) total += fmin(length[row] * scale, most);
    return total;
}

/* The factor that makes lengths, cut at MOST, sum up to WANT. */
static double fit_scale(const double *length, int64_t rows, double most, double want) {
    double low = 0, high = 1;
    while (high < 0x1p60 && total_length(length, rows, high, most) < want) high *= 2;
    for (int step = 0; step < 50; step++) {
        double middle = (low + high) / 2;
        if (total_length(length, rows, middle, most) < want) low = middle;
        else high = middle;
    }
    return high;
}

void csr_fit_lengths(double *length, int64_t rows, double most, double want, mcrt_random *random) {
    double scale = fit_scale(length, rows, most, want);
    for (int64_t row = 0; row < rows; row++)
        length[row] = floor(fmin(length[row] * scale, most) + (1 - random_unit(random)));
}
