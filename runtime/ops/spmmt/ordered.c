/* The sums of A^T B in the kernel's order, to the bit (docs/transposed.md): an element of C begins at +0,
   and each row block that has its column, in ascending order, adds the products of its V rows in one mma. */
#include "arithmetic/mma_sum.h"
#include "base/real.h"
#include "ops/reference.h"

enum { SMALL_K = 8, LARGE_K = 16 };

typedef struct ordered_sums {
    const mc_vsparse *a;
    const mc_dense *values, *b; /* values: vectors x vec */
    mma_form form;
} ordered_sums;

static uint32_t factor(const mc_dense *of, int64_t row, int64_t col) {
    return real_factor(of->type, (uint32_t)mc_dense_get(of, row, col));
}

/* Where V is below the mma's k it multiplies zeros, which change no bit. */
static void add_vector(const ordered_sums *s, int64_t block, int64_t vector, float *sums) {
    uint32_t row[MMA_MOST_PRODUCTS] = {0}, column[MMA_MOST_PRODUCTS] = {0};
    int vec = s->a->vec;
    for (int r = 0; r < vec; r++) row[r] = factor(s->values, vector, r);
    for (int64_t j = 0; j < s->b->cols; j++) {
        for (int r = 0; r < vec; r++) column[r] = factor(s->b, block * vec + r, j);
        uint32_t sum = mma_add_sums(real_to_bits(MC_F32, sums[j]), mma_sum(&s->form, row, column, 0));
        sums[j] = real_from_bits(MC_F32, sum);
    }
}

static mc_status check(const mc_vsparse *a, const mc_dense *values, const mc_dense *b, mma_form *form,
                       mc_diag *diag) {
    if (values->rows != a->vectors || values->cols != a->vec || b->rows != a->rows)
        return mc_fail(diag, MC_USAGE, "A's values are vectors x V, B has as many rows as A");
    bool halves = mc_type_bits(b->type) == 16 && mma_form_of(values->type, b->type, form);
    form->k = a->vec > SMALL_K ? LARGE_K : SMALL_K;
    if (halves) return MC_OK;
    return mc_fail(diag, MC_CANNOT, "A is %s, B is %s: both must be f16, or both bf16",
                   mc_type_text(values->type), mc_type_text(b->type));
}

mc_status mc_reference_spmmt_ordered(const mc_vsparse *a, const mc_dense *values, const mc_dense *b,
                                     mc_dense *sums, mc_diag *diag) {
    ordered_sums s = {.a = a, .values = values, .b = b};
    *sums = (mc_dense){0};
    mc_status status = check(a, values, b, &s.form, diag);
    if (status == MC_OK) status = mc_dense_create(MC_F32, a->cols, b->cols, b->cols, sums, diag);
    for (int64_t block = 0; status == MC_OK && block < a->row_blocks; block++)
        for (int64_t v = a->row_ptr[block]; v < a->row_ptr[block + 1]; v++)
            add_vector(&s, block, v, (float *)sums->data + a->col_idx[v] * sums->ld);
    return status;
}
