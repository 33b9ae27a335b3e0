/* Sums of floats in the order of the kernels of method wgmma, to the bit (docs/gemm.md): each wgmma adds the
 * products of the next few k to the sum, all at once. What lies behind the last k is +0 there, which changes
 * no bit of a sum. */
#include <inttypes.h>
#include "arithmetic/mma_sum.h"
#include "matrix/sparse24_groups.h"
#include "ops/reference.h"

typedef struct ordered {
    const mc_dense *a, *b;
    mc_layout layout;
    mma_form form;
} ordered;

static uint32_t element(const ordered *o, int64_t row, int64_t column) {
    uint32_t sum = 0;
    for (int64_t first = 0; first < o->a->cols; first += o->form.k) {
        uint32_t a[MMA_MOST_PRODUCTS] = {0}, b[MMA_MOST_PRODUCTS] = {0};
        for (int i = 0; i < o->form.k && first + i < o->a->cols; i++) {
            const bool rows = o->layout == MC_LAYOUT_ROWS;
            int64_t k = first + i;
            a[i] = (uint32_t)mc_dense_get(o->a, row, k);
            b[i] = (uint32_t)mc_dense_get(o->b, rows ? k : column, rows ? column : k);
        }
        sum = wgmma_sum(&o->form, a, b, sum);
    }
    return sum;
}

/* The form of products of types A and B, and room for SUMS. */
static mc_status begin(mc_type a, int64_t rows, int64_t a_k, const mc_dense *b, mc_layout layout,
                       mma_form *form, mc_dense *sums, mc_diag *diag) {
    int64_t n = mc_layout_n(layout, b), k = mc_layout_k(layout, b);
    *sums = (mc_dense){0};
    if (a_k != k) return mc_fail(diag, MC_USAGE, "A has %" PRId64 " columns, B has %" PRId64 " rows", a_k, k);
    if (!mma_form_of(a, b->type, form) || a == MC_TF32)
        return mc_fail(diag, MC_CANNOT, "A is %s, B is %s: no wgmma adds up products of these in f32",
                       mc_type_text(a), mc_type_text(b->type));
    return mc_dense_create(MC_F32, rows, n, n, sums, diag);
}

mc_status mc_reference_gemm_ordered(const mc_dense *a, const mc_dense *b, mc_layout layout, mc_dense *sums,
                                    mc_diag *diag) {
    ordered o = {.a = a, .b = b, .layout = layout};
    mc_status status = begin(a->type, a->rows, a->cols, b, layout, &o.form, sums, diag);
    for (int64_t i = 0; status == MC_OK && i < a->rows; i++)
        for (int64_t j = 0; j < sums->cols; j++) mc_dense_set(sums, i, j, element(&o, i, j));
    return status;
}

/* -- A 2:4 ---------------------------------------------------------------------------------------------- */

/* A's kept elements, of which FILLED has all; each wgmma takes the next ones of a row. */
static uint32_t sparse_element(const ordered *o, const mc_vsparse *filled, int64_t row, int64_t column) {
    const bool rows = o->layout == MC_LAYOUT_ROWS;
    const int64_t end = filled->row_ptr[row + 1];
    uint32_t sum = 0;
    for (int64_t first = filled->row_ptr[row]; first < end; first += o->form.k) {
        uint32_t a[MMA_MOST_PRODUCTS] = {0}, b[MMA_MOST_PRODUCTS] = {0};
        for (int i = 0; i < o->form.k && first + i < end; i++) {
            int64_t k = filled->col_idx[first + i];
            a[i] = (uint32_t)mc_vsparse_value(filled, first + i, 0);
            b[i] = (uint32_t)mc_dense_get(o->b, rows ? k : column, rows ? column : k);
        }
        sum = wgmma_sum(&o->form, a, b, sum);
    }
    return sum;
}

mc_status mc_reference_gemm24_ordered(const mc_vsparse *a, const mc_dense *b, mc_layout layout,
                                      mc_dense *sums, mc_diag *diag) {
    ordered o = {.b = b, .layout = layout};
    mc_vsparse filled = {0};
    mc_status status = begin(a->type, a->rows, a->cols, b, layout, &o.form, sums, diag);
    if (status == MC_OK) status = sparse24_fill(a, &filled, diag);
    for (int64_t i = 0; status == MC_OK && i < a->rows; i++)
        for (int64_t j = 0; j < sums->cols; j++) mc_dense_set(sums, i, j, sparse_element(&o, &filled, i, j));
    mc_vsparse_free(&filled);
    return status;
}
