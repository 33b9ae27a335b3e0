/* Sums of floats in the order of kernels, to the bit (docs/gemm.md): each wgmma, or mma, adds the products of
 * the next few k to the sum. What lies behind the last k is +0 there, which changes no bit of a sum. */
#include <inttypes.h>
#include "arithmetic/mma_sum.h"
#include "ops/reference.h"

typedef struct ordered {
    const mc_dense *a, *b;
    mc_layout layout;
    mma_form form;
    mc_gemm_method method;
} ordered;

/* What is multiplied: of tf32 the rounded value. */
static uint32_t factor(const mc_dense *of, int64_t row, int64_t column) {
    return mma_factor(of->type, of->type, mc_dense_get(of, row, column));
}

static uint32_t element(const ordered *o, int64_t row, int64_t column) {
    uint32_t sum = 0;
    for (int64_t first = 0; first < o->a->cols; first += o->form.k) {
        uint32_t a[MMA_MOST_PRODUCTS] = {0}, b[MMA_MOST_PRODUCTS] = {0};
        for (int i = 0; i < o->form.k && first + i < o->a->cols; i++) {
            const bool rows = o->layout == MC_LAYOUT_ROWS;
            int64_t k = first + i;
            a[i] = factor(o->a, row, k);
            b[i] = factor(o->b, rows ? k : column, rows ? column : k);
        }
        sum = (o->method == MC_GEMM_MMA ? mma_sum : wgmma_sum)(&o->form, a, b, sum);
    }
    return sum;
}

mc_status mc_reference_gemm_ordered(const mc_dense *a, const mc_dense *b, mc_layout layout,
                                    mc_gemm_method method, mc_dense *sums, mc_diag *diag) {
    ordered o = {.a = a, .b = b, .layout = layout, .method = method};
    bool cuts = method == MC_GEMM_WGMMA && a->type == MC_TF32; /* where this project rounds */
    int64_t n = mc_layout_n(layout, b), k = mc_layout_k(layout, b);
    *sums = (mc_dense){0};
    if (a->cols != k)
        return mc_fail(diag, MC_USAGE, "A has %" PRId64 " columns, B has %" PRId64 " rows", a->cols, k);
    if (!mma_form_of(a->type, b->type, &o.form) || cuts)
        return mc_fail(diag, MC_CANNOT, "A is %s, B is %s: no mma adds up products of these in f32",
                       mc_type_text(a->type), mc_type_text(b->type));
    mc_status status = mc_dense_create(MC_F32, a->rows, n, n, sums, diag);
    for (int64_t i = 0; status == MC_OK && i < a->rows; i++)
        for (int64_t j = 0; j < n; j++) mc_dense_set(sums, i, j, element(&o, i, j));
    return status;
}
