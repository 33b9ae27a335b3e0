/* Sums of floats in the order of the kernels of method wgmma, to the bit (docs/gemm.md): each wgmma adds the
 * products of the next few k to the sum, all at once. What lies behind the last k is +0 there, which changes
 * no bit of a sum. Kernels that split k have such a sum of each part, and add these up. */
#include <inttypes.h>
#include "arithmetic/mma_sum.h"
#include "ops/reference.h"

typedef struct ordered {
    const mc_dense *a, *b;
    mc_layout layout;
    mma_form form;
    int parts;
} ordered;

/* Bytes of k that a part is a multiple of, but for the last one. */
enum { STAGE_BYTES = 128 };

/* The first k of part PART; that of the next one is its end. */
static int64_t part_begin(const ordered *o, int part) {
    const int64_t k = o->a->cols, stage = STAGE_BYTES * 8 / mc_type_bits(o->a->type);
    const int64_t stages = (k + stage - 1) / stage, more = stages % o->parts;
    const int64_t first = part * (stages / o->parts) + (part < more ? part : more);
    return first * stage < k ? first * stage : k;
}

/* The sum of the products of k from FROM on, below END. */
static uint32_t part_sum(const ordered *o, int64_t row, int64_t column, int64_t from, int64_t end) {
    uint32_t sum = 0;
    for (int64_t first = from; first < end; first += o->form.k) {
        uint32_t a[MMA_MOST_PRODUCTS] = {0}, b[MMA_MOST_PRODUCTS] = {0};
        for (int i = 0; i < o->form.k && first + i < end; i++) {
            const bool rows = o->layout == MC_LAYOUT_ROWS;
            int64_t k = first + i;
            a[i] = (uint32_t)mc_dense_get(o->a, row, k);
            b[i] = (uint32_t)mc_dense_get(o->b, rows ? k : column, rows ? column : k);
        }
        sum = wgmma_sum(&o->form, a, b, sum);
    }
    return sum;
}

static uint32_t element(const ordered *o, int64_t row, int64_t column) {
    uint32_t sum = part_sum(o, row, column, 0, part_begin(o, 1));
    for (int part = 1; part < o->parts; part++)
        sum = mma_add_sums(sum, part_sum(o, row, column, part_begin(o, part), part_begin(o, part + 1)));
    return sum;
}

mc_status mc_reference_gemm_ordered(const mc_dense *a, const mc_dense *b, mc_layout layout, int parts,
                                    mc_dense *sums, mc_diag *diag) {
    ordered o = {.a = a, .b = b, .layout = layout, .parts = parts};
    int64_t n = mc_layout_n(layout, b), k = mc_layout_k(layout, b);
    *sums = (mc_dense){0};
    if (parts < 1) return mc_fail(diag, MC_USAGE, "%d parts of k", parts);
    if (a->cols != k)
        return mc_fail(diag, MC_USAGE, "A has %" PRId64 " columns, B has %" PRId64 " rows", a->cols, k);
    if (!mma_form_of(a->type, b->type, &o.form) || a->type == MC_TF32)
        return mc_fail(diag, MC_CANNOT, "A is %s, B is %s: no wgmma adds up products of these in f32",
                       mc_type_text(a->type), mc_type_text(b->type));
    mc_status status = mc_dense_create(MC_F32, a->rows, n, n, sums, diag);
    for (int64_t i = 0; status == MC_OK && i < a->rows; i++)
        for (int64_t j = 0; j < n; j++) mc_dense_set(sums, i, j, element(&o, i, j));
    return status;
}
