/* The CPU reference of the SDDMM: each element of C is the product of a row of A and a column of B, both
   brought side by side along k first. */
#include <inttypes.h>
#include <stdlib.h>
#include "base/memory.h"
#include "ops/reference.h"

typedef struct sides {
    const mc_vsparse *mask;
    const mc_dense *a, *b;
    mc_layout layout;
    int64_t k;
} sides;

/* Element K of row LINE of A, of column LINE of B. */
typedef int64_t getter(const sides *s, int64_t line, int64_t k);

static int64_t get_a(const sides *s, int64_t row, int64_t k) { return mc_dense_get(s->a, row, k); }

static int64_t get_b(const sides *s, int64_t col, int64_t k) {
    return s->layout == MC_LAYOUT_COLUMNS ? mc_dense_get(s->b, col, k) : mc_dense_get(s->b, k, col);
}

/* -- Both of at most 16 bits */

typedef int64_t dot(const int32_t *a, const int32_t *b, int64_t k);

/* Of 8 bits, a product is at most 255 * 255, so this many leave room in an int32. */
enum { NARROW_TERMS = 1 << 15 };

static int64_t dot_narrow(const int32_t *restrict a, const int32_t *restrict b, int64_t k) {
    int64_t sum = 0;
    for (int64_t from = 0; from < k; from += NARROW_TERMS) {
        int64_t to = k - from < NARROW_TERMS ? k : from + NARROW_TERMS;
        int32_t part = 0;
        for (int64_t i = from; i < to; i++) part += a[i] * b[i];
        sum += part;
    }
    return sum;
}

/* Products below 2^32, of which less than 2^31 do not leave int64. */
static int64_t dot_wide(const int32_t *restrict a, const int32_t *restrict b, int64_t k) {
    int64_t sum = 0;
    for (int64_t i = 0; i < k; i++) sum += (int64_t)a[i] * b[i];
    return sum;
}

/* COUNT lines of k elements, one after another. NULL: no memory. */
static int32_t *widen(const sides *s, int64_t count, getter *get) {
    int32_t *lines = mcrt_array(mcrt_product(count, s->k), sizeof *lines);
    for (int64_t line = 0; lines && line < count; line++)
        for (int64_t k = 0; k < s->k; k++) lines[line * s->k + k] = (int32_t)get(s, line, k);
    return lines;
}

static void sample_lines(const sides *s, const int32_t *a, const int32_t *b, dot *product, int64_t *sums) {
    const mc_vsparse *mask = s->mask;
    for (int64_t block = 0; block < mask->row_blocks; block++)
        for (int64_t v = mask->row_ptr[block]; v < mask->row_ptr[block + 1]; v++)
            for (int64_t r = 0; r < mask->vec; r++)
                sums[v * mask->vec + r] =
                    product(a + (block * mask->vec + r) * s->k, b + mask->col_idx[v] * s->k, s->k);
}

static mc_status sample_small(const sides *s, dot *product, int64_t *sums, mc_diag *diag) {
    int32_t *a = widen(s, s->mask->rows, get_a), *b = widen(s, s->mask->cols, get_b);
    if (a && b) sample_lines(s, a, b, product, sums);
    mc_status status =
        a && b ? MC_OK : mcrt_no_memory(diag, s->k, "elements in each row of A and column of B, made wider");
    free(a);
    free(b);
    return status;
}

/* -- Any types */

static bool dot_any(const sides *s, int64_t row, int64_t col, int64_t *sum) {
    *sum = 0;
    for (int64_t k = 0; k < s->k; k++) {
        int64_t product;
        if (__builtin_mul_overflow(get_a(s, row, k), get_b(s, col, k), &product) ||
            __builtin_add_overflow(*sum, product, sum))
            return false;
    }
    return true;
}

static mc_status sample_any(const sides *s, int64_t *sums, mc_diag *diag) {
    const mc_vsparse *mask = s->mask;
    for (int64_t block = 0; block < mask->row_blocks; block++)
        for (int64_t v = mask->row_ptr[block]; v < mask->row_ptr[block + 1]; v++)
            for (int64_t r = 0; r < mask->vec; r++)
                if (!dot_any(s, block * mask->vec + r, mask->col_idx[v], &sums[v * mask->vec + r]))
                    return mc_fail(diag, MC_CANNOT, "a sum of row block %" PRId64 " leaves int64", block);
    return MC_OK;
}

/* -- */

static mc_status check_sides(const sides *s, mc_diag *diag) {
    int64_t n = mc_layout_n(s->layout, s->b), k = mc_layout_k(s->layout, s->b);
    if (s->a->rows != s->mask->rows || n != s->mask->cols)
        return mc_fail(diag, MC_USAGE,
                       "the mask is %" PRId64 " x %" PRId64 ", A has %" PRId64 " rows, B %" PRId64 " columns",
                       s->mask->rows, s->mask->cols, s->a->rows, n);
    if (s->a->cols != k)
        return mc_fail(diag, MC_USAGE, "A has %" PRId64 " columns, B has %" PRId64 " rows", s->a->cols, k);
    if (mc_type_is_real(s->a->type) || mc_type_is_real(s->b->type))
        return mc_fail(diag, MC_USAGE, "A is %s, B is %s: the reference multiplies integers",
                       mc_type_text(s->a->type), mc_type_text(s->b->type));
    return MC_OK;
}

mc_status mc_reference_sddmm(const mc_vsparse *mask, const mc_dense *a, const mc_dense *b, mc_layout layout,
                             mc_dense *sums, mc_diag *diag) {
    const sides s = {mask, a, b, layout, a->cols};
    *sums = (mc_dense){0};
    mc_status status = check_sides(&s, diag);
    if (status == MC_OK) status = mc_dense_create(MC_S64, mask->vectors, mask->vec, mask->vec, sums, diag);
    if (status != MC_OK) return status;
    int a_bits = mc_type_bits(a->type), b_bits = mc_type_bits(b->type),
        bits = a_bits > b_bits ? a_bits : b_bits;
    status = bits > 16 ? sample_any(&s, sums->data, diag)
                       : sample_small(&s, bits <= 8 ? dot_narrow : dot_wide, sums->data, diag);
    if (status != MC_OK) mc_dense_free(sums);
    return status;
}
