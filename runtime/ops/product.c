/* The CPU reference: C = A B, row block by row block, each nonzero vector adding multiples of one row of B.
   How they are added up is the business of the arithmetic of their types. */
#include <inttypes.h>
#include <stdlib.h>
#include "ops/reference.h"
#include "base/memory.h"

mc_status reference_check_spmm(const mc_vsparse *a, const mc_dense *b, mc_diag *diag) {
    if (a->cols == b->rows) return MC_OK;
    return mc_fail(diag, MC_USAGE, "A has %" PRId64 " columns, B has %" PRId64 " rows", a->cols, b->rows);
}

static mc_status multiply_blocks(const sum_loops *loops, const mc_vsparse *a, const void *rows, void *scratch,
                                 mc_dense *c, mc_diag *diag) {
    int64_t block_bytes = (int64_t)mc_type_bytes(c->type) * a->vec * c->cols;
    for (int64_t block = 0; block < a->row_blocks; block++) {
        const block_product product = {a,      block, rows, c->cols, (char *)c->data + block * block_bytes,
                                       scratch};
        if (!loops->multiply(&product))
            return mc_fail(diag, MC_CANNOT, "a sum of row block %" PRId64 " leaves int64", block);
    }
    return MC_OK;
}

/* C, which is zero, gets the sums that LOOPS make. */
static mc_status multiply(const sum_loops *loops, const mc_vsparse *a, const mc_dense *b, mc_dense *c,
                          mc_diag *diag) {
    int64_t n = b->cols, elements = mcrt_product(b->rows, n);
    char *rows = mcrt_array(elements, loops->wide),
         *scratch = mcrt_array(mcrt_product(a->vec, n), loops->scratch ? loops->scratch : 1);
    mc_status status = rows && scratch ? MC_OK : mcrt_no_memory(diag, elements, "elements of B, made wider");
    for (int64_t i = 0; status == MC_OK && i < b->rows; i++)
        loops->widen(b->type, b->data, i * b->ld, 1, n, rows + (size_t)(i * n) * loops->wide);
    if (status == MC_OK) status = multiply_blocks(loops, a, rows, scratch, c, diag);
    free(rows);
    free(scratch);
    return status;
}

mc_status mc_reference_spmm(const mc_vsparse *a, const mc_dense *b, mc_dense *c, mc_diag *diag) {
    const arithmetic *of = NULL;
    *c = (mc_dense){0};
    mc_status status = reference_check_spmm(a, b, diag);
    if (status == MC_OK) status = arithmetic_of_product(a->type, b->type, &of, diag);
    if (status == MC_OK) status = mc_dense_create(of->sums, a->rows, b->cols, b->cols, c, diag);
    if (status != MC_OK) return status;
    status = multiply(of->loops(a->type, b->type), a, b, c, diag);
    if (status != MC_OK) mc_dense_free(c);
    return status;
}

mc_status mc_reference_spmm_bounds(const mc_vsparse *a, const mc_dense *b, mc_dense *bounds, mc_diag *diag) {
    const arithmetic *of = NULL;
    *bounds = (mc_dense){0};
    mc_status status = reference_check_spmm(a, b, diag);
    if (status == MC_OK) status = arithmetic_of_product(a->type, b->type, &of, diag);
    if (status == MC_OK) status = mc_dense_create(MC_F32, a->rows, b->cols, b->cols, bounds, diag);
    if (status != MC_OK || of->bound == NULL) return status;
    status = multiply(of->magnitude_loops(a->type, b->type), a, b, bounds, diag);
    for (int64_t i = 0; status == MC_OK && i < a->rows; i++) {
        int64_t block = i / a->vec, terms = a->row_ptr[block + 1] - a->row_ptr[block];
        reference_bound(of, terms, (float *)bounds->data + i * bounds->ld, bounds->cols);
    }
    if (status != MC_OK) mc_dense_free(bounds);
    return status;
}
