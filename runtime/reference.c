/* The CPU reference: C = A B, row block by row block, each nonzero vector adding multiples of one row of B.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "element.h"
#include "memory.h"

/* -- s8 x s8 */

/* A product is at most 2^14, so this many leave room in an int32. */
enum { NARROW_TERMS = 1 << 16 };

static void add_products(int32_t *restrict sum, const int8_t *restrict b, int8_t a, int64_t n) {
    for (int64_t j = 0; j < n; j++) sum[j] += (int16_t)(a * b[j]);
}

static void flush_sums(int64_t *restrict c, int32_t *restrict sum, int64_t count) {
    for (int64_t j = 0; j < count; j++) {
        c[j] += sum[j];
        sum[j] = 0;
    }
}

/* C and SUM: the row block's vec x n. */
static void multiply_block(const mc_vsparse *a, const mc_dense *b, int64_t block, int64_t *c, int32_t *sum) {
    const int8_t *values = a->values, *rows = b->data;
    int64_t n = b->cols, terms = 0;
    for (int64_t v = a->row_ptr[block]; v < a->row_ptr[block + 1]; v++) {
        const int8_t *row = rows + a->col_idx[v] * b->ld;
        for (int r = 0; r < a->vec; r++) add_products(sum + r * n, row, values[v * a->vec + r], n);
        if (++terms % NARROW_TERMS == 0) flush_sums(c, sum, a->vec * n);
    }
    flush_sums(c, sum, a->vec * n);
}

static mc_status multiply_narrow(const mc_vsparse *a, const mc_dense *b, mc_dense *c, mc_diag *diag) {
    int64_t count = mcrt_product(a->vec, b->cols);
    int32_t *sum = mcrt_array(count, sizeof *sum);
    if (!sum) return mcrt_no_memory(diag, count, "partial sums");
    for (int64_t block = 0; block < a->row_blocks; block++)
        multiply_block(a, b, block, (int64_t *)c->data + block * count, sum);
    free(sum);
    return MC_OK;
}

/* -- Any types */

static bool add_product(int64_t a, int64_t b, int64_t *sum) {
    int64_t product;
    return !__builtin_mul_overflow(a, b, &product) && !__builtin_add_overflow(*sum, product, sum);
}

static bool multiply_vector(const mc_vsparse *a, const mc_dense *b, int64_t block, int64_t vector,
                            mc_dense *c) {
    for (int r = 0; r < a->vec; r++) {
        int64_t value = mc_vsparse_value(a, vector, r);
        int64_t *row = (int64_t *)c->data + (block * a->vec + r) * c->ld;
        for (int64_t j = 0; j < b->cols; j++)
            if (!add_product(value, mc_dense_get(b, a->col_idx[vector], j), &row[j])) return false;
    }
    return true;
}

static mc_status multiply_any(const mc_vsparse *a, const mc_dense *b, mc_dense *c, mc_diag *diag) {
    for (int64_t block = 0; block < a->row_blocks; block++)
        for (int64_t v = a->row_ptr[block]; v < a->row_ptr[block + 1]; v++)
            if (!multiply_vector(a, b, block, v, c))
                return mc_fail(diag, MC_CANNOT, "a sum of row block %" PRId64 " leaves int64", block);
    return MC_OK;
}

mc_status mc_reference_spmm(const mc_vsparse *a, const mc_dense *b, mc_dense *c, mc_diag *diag) {
    *c = (mc_dense){0};
    if (a->cols != b->rows)
        return mc_fail(diag, MC_USAGE, "A has %" PRId64 " columns, B has %" PRId64 " rows", a->cols, b->rows);
    if (mc_type_is_real(a->type) || mc_type_is_real(b->type))
        return mc_fail(diag, MC_USAGE, "A is %s, B is %s: the reference multiplies integers",
                       mc_type_text(a->type), mc_type_text(b->type));
    mc_status status = mc_dense_create(MC_S64, a->rows, b->cols, b->cols, c, diag);
    if (status != MC_OK) return status;
    bool narrow = a->type == MC_S8 && b->type == MC_S8;
    status = narrow ? multiply_narrow(a, b, c, diag) : multiply_any(a, b, c, diag);
    if (status != MC_OK) mc_dense_free(c);
    return status;
}
