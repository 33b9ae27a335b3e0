/* Sums of an SDDMM of floats in the kernels' orders: cases where the order decides. */
#include <math.h>
#include "base/real.h"
#include "scratch.h"

enum { MOST_VEC = 16 };

/* Of three products BIG, one that is small against it, and -BIG, at these k, the small one is lost where it meets BIG alone. */
static const struct order_case {
    mc_type type;
    struct {
        mc_sample_sums sums;
        bool aligned;
    } order;
    bool by_rows;
    int vec, k;
    int big, small, minus;
    bool kept;
} cases[] = {
    {MC_BF16, {MC_SAMPLE_ONE, true}, false, 8, 64, 0, 3, 1, false},
    {MC_BF16, {MC_SAMPLE_ONE, true}, false, 8, 64, 0, 8, 24, false}, /* one mma */
    {MC_BF16, {MC_SAMPLE_ONE, true}, false, 8, 64, 0, 4, 24, true},  /* the second one has 4 to 7 */
    {MC_BF16, {MC_SAMPLE_ONE, true}, false, 8, 64, 0, 4, 32, false}, /* the next chunk comes later */
    {MC_BF16, {MC_SAMPLE_ONE, true}, false, 8, 68, 0, 64, 1, true},
    {MC_BF16, {MC_SAMPLE_ONE, true}, false, 8, 68, 64, 67, 65, false}, /* the rest: a round */
    {MC_BF16, {MC_SAMPLE_ONE, true}, false, 8, 92, 56, 88, 60, true},  /* which is none of the last chunk's */
    {MC_BF16, {MC_SAMPLE_ONE, false}, false, 8, 64, 0, 4, 1, false},   /* rounds alone, of 16 */
    {MC_BF16, {MC_SAMPLE_ONE, false}, false, 8, 64, 0, 16, 1, true},
    {MC_BF16, {MC_SAMPLE_ONE, false}, true, 8, 64, 0, 4, 1, true}, /* by rows, of 32 */
    {MC_BF16, {MC_SAMPLE_ONE, false}, true, 8, 64, 0, 24, 1, false},
    {MC_BF16, {MC_SAMPLE_CHAINS, true}, false, 8, 64, 0, 4, 32, true},
    {MC_BF16, {MC_SAMPLE_CHAINS, true}, false, 8, 64, 0, 32, 4, false}, /* s0 + s2 comes first */
    {MC_BF16, {MC_SAMPLE_CHAINS, true}, false, 8, 128, 0, 4, 68, false},
    {MC_BF16, {MC_SAMPLE_CHAINS, true}, false, 8, 128, 0, 32, 64, true},
    {MC_BF16, {MC_SAMPLE_CHAINS, true}, false, 16, 128, 0, 32, 64, false}, /* V = 16: two chains */
    {MC_BF16, {MC_SAMPLE_CHAINS, true}, false, 16, 128, 0, 4, 64, true},
    {MC_BF16, {MC_SAMPLE_CHAINS, true}, true, 8, 128, 0, 4, 32, false}, /* by rows chunks take turns */
    {MC_BF16, {MC_SAMPLE_CHAINS, true}, true, 8, 128, 0, 32, 64, true},
    {MC_BF16, {MC_SAMPLE_LINES, true}, false, 8, 96, 0, 32, 64, true}, /* even and odd chunks */
    {MC_BF16, {MC_SAMPLE_LINES, true}, false, 8, 96, 0, 4, 64, false},
    {MC_BF16, {MC_SAMPLE_LINES, true}, false, 8, 100, 0, 4, 97, false}, /* the rest counts as even */
    {MC_BF16, {MC_SAMPLE_LINES, true}, false, 8, 100, 32, 96, 36, true},
    {MC_TF32, {MC_SAMPLE_ONE, true}, false, 8, 32, 0, 1, 12, false},
    {MC_TF32, {MC_SAMPLE_ONE, true}, false, 8, 32, 0, 2, 12, true},
    {MC_TF32, {MC_SAMPLE_ONE, true}, false, 8, 32, 0, 2, 16, false},
    {MC_TF32, {MC_SAMPLE_ONE, false}, false, 8, 32, 0, 7, 1, false},
    {MC_TF32, {MC_SAMPLE_ONE, false}, false, 8, 32, 0, 8, 1, true},
    {MC_TF32, {MC_SAMPLE_CHAINS, true}, false, 8, 32, 0, 2, 16, true},
    {MC_TF32, {MC_SAMPLE_LINES, true}, false, 8, 48, 0, 16, 32, true},
    {MC_E5M2, {MC_SAMPLE_ONE, true}, false, 8, 128, 0, 1, 48, false},
    {MC_E5M2, {MC_SAMPLE_ONE, true}, false, 8, 128, 0, 2, 48, true}, /* an mma's second step has 2 and 3 */
    {MC_E5M2, {MC_SAMPLE_ONE, true}, false, 8, 128, 0, 2, 3, false},
    {MC_E5M2, {MC_SAMPLE_ONE, true}, false, 8, 128, 0, 8, 16, true}, /* the second mma has 8 to 15 */
    {MC_E5M2, {MC_SAMPLE_ONE, true}, false, 8, 128, 0, 8, 64, false},
    {MC_E5M2, {MC_SAMPLE_ONE, false}, false, 8, 128, 0, 8, 16, false}, /* rounds of 32 */
    {MC_E5M2, {MC_SAMPLE_ONE, false}, false, 8, 128, 0, 32, 1, true},
    {MC_E5M2, {MC_SAMPLE_CHAINS, true}, false, 8, 128, 0, 8, 64, true},
    {MC_E5M2, {MC_SAMPLE_LINES, true}, false, 8, 192, 0, 64, 128, true},
};

/* The same of values that become f16: a word is one mma, of 4 k of a lane, and two of them are a step. */
static const struct order_case halves_cases[] = {
    {MC_E5M2, {MC_SAMPLE_ONE, true}, false, 8, 128, 0, 2, 48, false}, /* an mma has no second step */
    {MC_E5M2, {MC_SAMPLE_ONE, true}, false, 8, 128, 0, 4, 48, true},  /* the second mma has 4 to 7 */
    {MC_E5M2, {MC_SAMPLE_ONE, true}, false, 8, 128, 0, 4, 64, false}, /* the next chunk comes later */
    {MC_E5M2, {MC_SAMPLE_ONE, false}, false, 8, 64, 0, 4, 8, true}, /* rounds of 32: k 8 is the next lane's */
    {MC_E5M2, {MC_SAMPLE_ONE, false}, false, 8, 64, 0, 3, 8, false},
    {MC_E5M2, {MC_SAMPLE_ONE, false}, true, 8, 64, 0, 4, 16, true},      /* by rows, of 64 */
    {MC_E5M2, {MC_SAMPLE_CHAINS, true}, false, 8, 128, 0, 4, 64, false}, /* a step's two mma share a chain */
    {MC_E5M2, {MC_SAMPLE_CHAINS, true}, false, 8, 128, 0, 8, 64, true},
    {MC_E5M2, {MC_SAMPLE_LINES, true}, false, 8, 192, 0, 64, 128, true},
};

static void fill(mc_dense *dense, float value) {
    for (int64_t i = 0; i < dense->rows * dense->cols; i++)
        mc_dense_set(dense, i / dense->cols, i % dense->cols, real_to_bits(dense->type, value));
}

/* A mask of a single vector at column 1. Row 0 of A has the case's products, B is 1. */
static void check_case(const struct order_case *c, bool halves, size_t number, mc_diag *diag) {
    const mc_sample_order order = {c->order.sums, c->order.aligned, halves};
    bool narrow = mc_type_bits(c->type) == 8;
    float big = narrow ? 32768 : 67108864, small = narrow ? ldexpf(1, -16) : 1;
    static int64_t row_ptr[] = {0, 1};
    static int32_t columns[] = {1};
    float ones[MOST_VEC] = {0};
    const mc_vsparse mask = {MC_F32, c->vec, c->vec, 2, 1, 1, row_ptr, columns, ones, {0}};
    mc_dense a, b, sums;
    mc_layout layout = c->by_rows ? MC_LAYOUT_ROWS : MC_LAYOUT_COLUMNS;
    int64_t rows = c->by_rows ? c->k : 2, cols = c->by_rows ? 2 : c->k;
    CHECK(mc_dense_create(c->type, c->vec, c->k, c->k, &a, diag) == MC_OK &&
              mc_dense_create(c->type, rows, cols, cols, &b, diag) == MC_OK,
          "%s", mc_diag_text(diag));
    fill(&a, 0);
    fill(&b, 1);
    mc_dense_set(&a, 0, c->big, real_to_bits(c->type, big));
    mc_dense_set(&a, 0, c->small, real_to_bits(c->type, small));
    mc_dense_set(&a, 0, c->minus, real_to_bits(c->type, -big));
    mc_status status = mc_reference_sddmm_ordered(&mask, &a, &b, layout, &order, &sums, diag);
    CHECK(status == MC_OK, "case %zu%s: %s", number, halves ? " as f16" : "", mc_diag_text(diag));
    if (status == MC_OK)
        CHECK(mc_dense_real(&sums, 0, 0) == (c->kept ? (double)small : 0), "case %zu%s: %g", number,
              halves ? " as f16" : "", mc_dense_real(&sums, 0, 0));
    mc_dense_free(&a);
    mc_dense_free(&b);
    mc_dense_free(&sums);
}

/* What there is no order for. */
static void check_refusals(mc_diag *diag) {
    static int64_t row_ptr[] = {0, 1};
    static int32_t columns[] = {1};
    float ones[MOST_VEC] = {0};
    const mc_vsparse mask = {MC_F32, 8, 8, 2, 1, 1, row_ptr, columns, ones, {0}};
    const mc_sample_order order = {MC_SAMPLE_ONE, true, false}, halves = {MC_SAMPLE_ONE, true, true};
    mc_dense a, b, bytes, sums;
    CHECK(mc_dense_create(MC_F16, 8, 4, 4, &a, diag) == MC_OK &&
              mc_dense_create(MC_BF16, 2, 4, 4, &b, diag) == MC_OK &&
              mc_dense_create(MC_E4M3, 2, 4, 4, &bytes, diag) == MC_OK,
          "%s", mc_diag_text(diag));
    CHECK(mc_reference_sddmm_ordered(&mask, &a, &b, MC_LAYOUT_COLUMNS, &order, &sums, diag) == MC_CANNOT,
          "f16 by bf16");
    CHECK_TEXT(mc_diag_text(diag), "A is f16, B is bf16: no mma adds up products of these in f32");
    mc_diag_clear(diag);
    CHECK(mc_reference_sddmm_ordered(&mask, &a, &b, MC_LAYOUT_ROWS, &order, &sums, diag) == MC_USAGE,
          "by rows");
    CHECK_TEXT(mc_diag_text(diag), "the mask is 8 x 2, A has 8 rows, B 4 columns");
    mc_diag_clear(diag);
    CHECK(mc_reference_sddmm_ordered(&mask, &a, &bytes, MC_LAYOUT_COLUMNS, &halves, &sums, diag) == MC_CANNOT,
          "f16 by e4m3");
    mc_diag_clear(diag);
    mc_dense_free(&a);
    mc_dense_free(&b);
    mc_dense_free(&bytes);
}

int main(void) {
    mc_diag *diag = mc_diag_create();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) check_case(&cases[i], false, i, diag);
    for (size_t i = 0; i < sizeof halves_cases / sizeof *halves_cases; i++)
        check_case(&halves_cases[i], true, i, diag);
    check_refusals(diag);
    mc_diag_destroy(diag);
    return check_end();
}
