/* The CPU reference: C = A B, row block by row block, each nonzero vector adding multiples of one row of B.
 */
#include <inttypes.h>
#include <stdlib.h>
#include "ops/reference.h"
#include "base/element.h"
#include "base/memory.h"

/* -- Both of at most 8 bits */

/* A product is at most 255 * 255, so this many leave room in an int32. */
enum { NARROW_TERMS = 1 << 15 };

/* SUM[j] += A * B[j]: of 16 bits each, which compilers multiply in vector registers. */
static void add_products(int32_t *restrict sum, const int16_t *restrict b, int16_t a, int64_t n) {
    for (int64_t j = 0; j < n; j++) sum[j] += a * b[j];
}

static void flush_sums(int64_t *restrict c, int32_t *restrict sum, int64_t count) {
    for (int64_t j = 0; j < count; j++) {
        c[j] += sum[j];
        sum[j] = 0;
    }
}

/* C and SUM: the row block's VEC x N; ROWS: B's, N elements each. */
static void multiply_block(const mc_vsparse *a, const int16_t *rows, int64_t n, int64_t block, int64_t *c,
                           int32_t *sum) {
    int64_t terms = 0;
    for (int64_t v = a->row_ptr[block]; v < a->row_ptr[block + 1]; v++) {
        const int16_t *row = rows + a->col_idx[v] * n;
        for (int r = 0; r < a->vec; r++)
            add_products(sum + r * n, row, (int16_t)mc_vsparse_value(a, v, r), n);
        if (++terms % NARROW_TERMS == 0) flush_sums(c, sum, a->vec * n);
    }
    flush_sums(c, sum, a->vec * n);
}

static mc_status multiply_narrow(const mc_vsparse *a, const mc_dense *b, mc_dense *c, mc_diag *diag) {
    int64_t n = b->cols, count = mcrt_product(a->vec, n), elements = mcrt_product(b->rows, n);
    int32_t *sum = mcrt_array(count, sizeof *sum);
    int16_t *rows = mcrt_array(elements, sizeof *rows);
    if (sum && rows) {
        for (int64_t i = 0; i < elements; i++) rows[i] = (int16_t)mc_dense_get(b, i / n, i % n);
        for (int64_t block = 0; block < a->row_blocks; block++)
            multiply_block(a, rows, n, block, (int64_t *)c->data + block * count, sum);
    }
    mc_status status = sum && rows ? MC_OK : mcrt_no_memory(diag, elements, "elements of B, made wider");
    free(sum);
    free(rows);
    return status;
}

/* -- Both of at most 16 bits */

/* Products below 2^32 of less than 2^31 vectors: no sum leaves int64. */
static void add_wide_products(int64_t *restrict sum, const int32_t *restrict b, int32_t a, int64_t n) {
    for (int64_t j = 0; j < n; j++) sum[j] += (int64_t)a * b[j];
}

static mc_status multiply_wide(const mc_vsparse *a, const mc_dense *b, mc_dense *c, mc_diag *diag) {
    int64_t n = b->cols, elements = mcrt_product(b->rows, n);
    int32_t *rows = mcrt_array(elements, sizeof *rows);
    if (!rows) return mcrt_no_memory(diag, elements, "elements of B, made wider");
    for (int64_t i = 0; i < elements; i++) rows[i] = (int32_t)mc_dense_get(b, i / n, i % n);
    for (int64_t block = 0; block < a->row_blocks; block++)
        for (int64_t v = a->row_ptr[block]; v < a->row_ptr[block + 1]; v++)
            for (int r = 0; r < a->vec; r++)
                add_wide_products((int64_t *)c->data + (block * a->vec + r) * n, rows + a->col_idx[v] * n,
                                  (int32_t)mc_vsparse_value(a, v, r), n);
    free(rows);
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
    int bits = mc_type_bits(a->type) > mc_type_bits(b->type) ? mc_type_bits(a->type) : mc_type_bits(b->type);
    status = bits <= 8    ? multiply_narrow(a, b, c, diag)
             : bits <= 16 ? multiply_wide(a, b, c, diag)
                          : multiply_any(a, b, c, diag);
    if (status != MC_OK) mc_dense_free(c);
    return status;
}
