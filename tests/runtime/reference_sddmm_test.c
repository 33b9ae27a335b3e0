/* The SDDMM's reference: sums against a whole product sampled afterwards, and what becomes of them against values worked out
   with exact arithmetic elsewhere. */
#include "scratch.h"

/* -- Sums */

typedef struct product_case {
    mc_pattern pattern; /* the mask, in row blocks */
    int vec;
    mc_type lhs, rhs;
    int64_t k, gap;
    mc_value_law law;
} product_case;

static const product_case products[] = {
    {{9, 50, .7, MC_PATTERN_UNIFORM, 0, 1}, 8, MC_S8, MC_S8, 33, 0, MC_VALUES_FULL},
    {{9, 50, .7, MC_PATTERN_UNIFORM, 0, 2}, 4, MC_S8, MC_U8, 64, 7, MC_VALUES_EXTREME},
    {{9, 50, .7, MC_PATTERN_UNIFORM, 0, 3}, 2, MC_S4, MC_U4, 31, 1, MC_VALUES_FULL},
    {{9, 50, .7, MC_PATTERN_UNIFORM, 0, 4}, 1, MC_U16, MC_U16, 7, 2, MC_VALUES_EXTREME},
    {{9, 50, .7, MC_PATTERN_UNIFORM, 0, 5}, 8, MC_S16, MC_S8, 20, 4, MC_VALUES_EXTREME},
    {{9, 50, .7, MC_PATTERN_UNIFORM, 0, 6}, 8, MC_S16, MC_S32, 8, 0, MC_VALUES_EXTREME},
    {{9, 50, .7, MC_PATTERN_UNIFORM, 0, 7}, 8, MC_S12, MC_U12, 9, 1, MC_VALUES_FULL},
    {{9, 50, .7, MC_PATTERN_UNIFORM, 0, 8}, 2, MC_S8, MC_S8, 0, 2, MC_VALUES_FULL},
    {{9, 50, .7, MC_PATTERN_UNIFORM, 0, 9}, 2, MC_S8, MC_S8, 1, 1, MC_VALUES_ONES},
    {{9, 50, 1, MC_PATTERN_UNIFORM, 0, 10}, 8, MC_S8, MC_S8, 5, 1, MC_VALUES_FULL},
    {{0, 50, .7, MC_PATTERN_UNIFORM, 0, 11}, 8, MC_S8, MC_S8, 5, 1, MC_VALUES_FULL},
    {{9, 0, .7, MC_PATTERN_UNIFORM, 0, 12}, 8, MC_S8, MC_S8, 5, 1, MC_VALUES_FULL},
    /* More terms than an int32 of partial sums holds: 140000 * 2^14 > 2^31. */
    {{1, 3, 0, MC_PATTERN_UNIFORM, 0, 13}, 2, MC_S8, MC_S8, 140000, 0, MC_VALUES_EXTREME},
    {{1, 3, 0, MC_PATTERN_UNIFORM, 0, 14}, 2, MC_U8, MC_U8, 140000, 0, MC_VALUES_EXTREME},
    {{1, 3, 0, MC_PATTERN_UNIFORM, 0, 15}, 2, MC_U12, MC_U12, 2000, 0, MC_VALUES_EXTREME},
};

/* All of A B, one element of k after another. B: n x k. */
static int64_t *whole_product(const mc_dense *a, const mc_dense *b) {
    int64_t *c = calloc((size_t)(a->rows * b->rows) + 1, sizeof *c);
    for (int64_t k = 0; c && k < a->cols; k++)
        for (int64_t i = 0; i < a->rows; i++)
            for (int64_t j = 0; j < b->rows; j++)
                c[i * b->rows + j] += mc_dense_get(a, i, k) * mc_dense_get(b, j, k);
    return c;
}

/* Element by element over the whole matrix: the vectors are met in the order of their columns. */
static void check_sums(const mc_vsparse *mask, const int64_t *c, const mc_dense *sums) {
    int64_t wrong = 0, found = 0;
    for (int64_t i = 0; i < mask->rows; i++) {
        int64_t vector = mask->row_ptr[i / mask->vec], end = mask->row_ptr[i / mask->vec + 1];
        for (int64_t j = 0; j < mask->cols; j++) {
            if (vector == end || mask->col_idx[vector] != j) continue;
            wrong += mc_dense_get(sums, vector++, i % mask->vec) != c[i * mask->cols + j];
            found++;
        }
    }
    CHECK(wrong == 0 && found == mask->vectors * mask->vec, "%d of %d sums wrong", (int)wrong, (int)found);
}

/* The leading dimension of rows of LENGTH with a gap: even, as two elements of 4 bits want. */
static int64_t leading(int64_t length, int64_t gap) { return length + gap + (length + gap) % 2; }

static void transpose(const mc_dense *from, mc_dense *to) {
    for (int64_t i = 0; i < from->rows; i++)
        for (int64_t j = 0; j < from->cols; j++) mc_dense_set(to, j, i, mc_dense_get(from, i, j));
}

static void check_product(const product_case *p, mc_diag *diag) {
    mc_csr csr;
    mc_vsparse mask;
    mc_dense a, b, rows, sums;
    expect_ok("generate", mc_csr_generate(&p->pattern, &csr, diag), diag);
    expect_ok("dilate", mc_vsparse_dilate(&csr, p->vec, MC_S8, &mask, diag), diag);
    int64_t ld = leading(p->k, p->gap), n = mask.cols;
    expect_ok("a", mc_dense_create(p->lhs, mask.rows, p->k, ld, &a, diag), diag);
    expect_ok("b", mc_dense_create(p->rhs, n, p->k, ld, &b, diag), diag);
    expect_ok("b", mc_dense_create(p->rhs, p->k, n, leading(n, p->gap), &rows, diag), diag);
    mc_dense_fill(&a, p->law, 1);
    mc_dense_fill(&b, p->law, 2);
    transpose(&b, &rows);
    int64_t *c = whole_product(&a, &b);
    for (int layout = 0; layout < 2; layout++) {
        expect_ok("reference",
                  mc_reference_sddmm(&mask, &a, layout == MC_LAYOUT_COLUMNS ? &b : &rows, (mc_layout)layout,
                                     &sums, diag),
                  diag);
        CHECK(sums.type == MC_S64 && sums.rows == mask.vectors && sums.cols == p->vec, "%s x %s",
              mc_type_text(p->lhs), mc_type_text(p->rhs));
        if (c && sums.data) check_sums(&mask, c, &sums);
        mc_dense_free(&sums);
    }
    free(c);
    mc_csr_free(&csr);
    mc_vsparse_free(&mask);
    mc_dense_free(&a);
    mc_dense_free(&b);
    mc_dense_free(&rows);
}

/* -- Outputs: three vectors of two, at columns 0, 2 and 1. The steps' order matters in some of them */

static int64_t row_ptr[] = {0, 2, 3};
static int32_t col_idx[] = {0, 2, 1};
static float mask_values[] = {1.f / 3, 1.7f, .7f, -0.f, 1.1e-3f, 3.3e38f};
static const mc_vsparse mask = {MC_F32, 2, 4, 3, 2, 3, row_ptr, col_idx, mask_values, {0}};
static int64_t sum_values[] = {16777217, -3, 2147483653, 7, -2147483648, 33554435};
static const mc_dense exact_sums = {MC_S64, 3, 2, 2, sum_values};
static const float scales[] = {1.f / 3, -.1f, 3e-7f, 1.5f};

static const struct {
    mc_type type;
    mc_per scale;
    bool masked;
    uint32_t bits[6];
} outputs[] = {
    {MC_F32, MC_PER_TENSOR, false, {0x4aaaaaab, 0xbf800000, 0xce2aaaab, 0x40155556, 0xce2aaaab, 0x4b2aaaac}},
    {MC_F16, MC_PER_TENSOR, false, {0x7c00, 0xbc00, 0xfc00, 0x40ab, 0xfc00, 0x7c00}},
    {MC_BF16, MC_PER_TENSOR, false, {0x4aab, 0xbf80, 0xce2b, 0x4015, 0xce2b, 0x4b2b}},
    {MC_F32, MC_PER_ROW, false, {0x4aaaaaab, 0x3e99999a, 0xce2aaaab, 0xbf333333, 0xc4210fb0, 0x4c400002}},
    {MC_F16, MC_PER_ROW, false, {0x7c00, 0x34cd, 0xfc00, 0xb99a, 0xe108, 0x7c00}},
    {MC_BF16, MC_PER_ROW, false, {0x4aab, 0x3e9a, 0xce2b, 0xbf33, 0xc421, 0x4c40}},
    {MC_F32, MC_PER_COLUMN, false, {0x4aaaaaab, 0xbf800000, 0xc4210fb0, 0x360cedba, 0x4d4ccccd, 0xca4ccccf}},
    {MC_F16, MC_PER_COLUMN, false, {0x7c00, 0xbc00, 0xe108, 0x23, 0x7c00, 0xfc00}},
    {MC_BF16, MC_PER_COLUMN, false, {0x4aab, 0xbf80, 0xc421, 0x360d, 0x4d4d, 0xca4d}},
    {MC_F32, MC_PER_TENSOR, true, {0x49e38e3a, 0xbfd9999a, 0xcdeeeeef, 0x80000000, 0xc9403d2b, 0x7f800000}},
    {MC_F16, MC_PER_TENSOR, true, {0x7c00, 0xbecd, 0xfc00, 0x8000, 0xfc00, 0x7c00}},
    {MC_BF16, MC_PER_TENSOR, true, {0x49e4, 0xbfda, 0xcdef, 0x8000, 0xc940, 0x7f80}},
    {MC_F32, MC_PER_ROW, true, {0x49e38e3a, 0x3f028f5d, 0xcdeeeeef, 0x0, 0xbf356b5f, 0x7f800000}},
    {MC_F16, MC_PER_ROW, true, {0x7c00, 0x3814, 0xfc00, 0x0, 0xb9ab, 0x7c00}},
    {MC_BF16, MC_PER_ROW, true, {0x49e4, 0x3f03, 0xcdef, 0x0, 0xbf35, 0x7f80}},
    {MC_F32, MC_PER_COLUMN, true, {0x49e38e3a, 0xbfd9999a, 0xc3e17c5d, 0x80000000, 0x4866afcd, 0xff800000}},
    {MC_F16, MC_PER_COLUMN, true, {0x7c00, 0xbecd, 0xdf0c, 0x8000, 0x7c00, 0xfc00}},
    {MC_BF16, MC_PER_COLUMN, true, {0x49e4, 0xbfda, 0xc3e1, 0x8000, 0x4867, 0xff80}},
};

static void check_bits(const mc_dense *c, mc_order order, const uint32_t *want, const char *what) {
    int64_t wrong = 0;
    for (int v = 0; v < 3; v++)
        for (int r = 0; r < 2; r++) {
            /* Row block 1's vector is the first one of its stride. */
            int64_t got =
                order == MC_ORDER_BCRS ? mc_dense_get(c, v, r) : mc_dense_get(c, v / 2 * 2 + r, v % 2);
            wrong += got != want[2 * v + r];
        }
    CHECK(wrong == 0, "%s: %d elements wrong", what, (int)wrong);
}

static void test_outputs(mc_diag *diag) {
    static const mc_order orders[] = {MC_ORDER_BCRS, MC_ORDER_SRBCRS16, MC_ORDER_SRBCRS32};
    for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++)
        for (int o = 0; o < 3; o++) {
            const mc_output output = {
                .type = outputs[i].type, .scale = outputs[i].scale, .masked = outputs[i].masked};
            mc_dense c;
            expect_ok("sampled",
                      mc_reference_sampled(&output, &mask, orders[o], scales, &exact_sums, &c, diag), diag);
            CHECK(c.type == output.type && c.rows == (o == 0 ? 3 : 4) && c.cols == (o == 0 ? 2 : 16 * o),
                  "shape");
            check_bits(&c, orders[o], outputs[i].bits, mc_type_text(output.type));
            if (o > 0) CHECK(mc_dense_get(&c, 1, 15) == 0 && mc_dense_get(&c, 3, 1) == 0, "padding");
            mc_dense_free(&c);
        }
}

/* Modulo 2^32. */
static void test_integers(mc_diag *diag) {
    static const uint32_t want[] = {16777217, (uint32_t)-3, 0x80000005, 7, 0x80000000, 33554435};
    const mc_output output = {.type = MC_S32};
    mc_dense c;
    expect_ok("s32", mc_reference_sampled(&output, &mask, MC_ORDER_BCRS, NULL, &exact_sums, &c, diag), diag);
    CHECK(c.type == MC_S32 && memcmp(c.data, want, sizeof want) == 0, "sums modulo 2^32");
    mc_dense_free(&c);
}

/* -- Refusals */

static void test_refused(mc_diag *diag) {
    static const struct {
        mc_output output;
        const char *message;
    } rows[] = {
        {{.type = MC_F16}, "C of f16 wants a scale"},
        {{.type = MC_S32, .scale = MC_PER_ROW}, "C of s32 takes no scale"},
        {{.type = MC_S32, .masked = true}, "C of s32 is not multiplied by the mask"},
        {{.type = MC_F32, .scale = MC_PER_ROW, .bias = MC_PER_ROW}, "sampled sums take no bias"},
    };
    mc_dense c;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        mc_status status =
            mc_reference_sampled(&rows[i].output, &mask, MC_ORDER_BCRS, scales, &exact_sums, &c, diag);
        expect_failure("output", status, MC_USAGE, diag, rows[i].message);
        CHECK(!c.data, "the output is not zeroed");
    }
    const mc_output masked = {.type = MC_F32, .scale = MC_PER_TENSOR, .masked = true};
    mc_vsparse integers = mask;
    mc_dense fewer = exact_sums;
    integers.type = MC_S32;
    fewer.rows = 2;
    expect_failure("values",
                   mc_reference_sampled(&masked, &integers, MC_ORDER_BCRS, scales, &exact_sums, &c, diag),
                   MC_USAGE, diag, "the mask's values are s32, C is multiplied by f32");
    expect_failure("sums", mc_reference_sampled(&masked, &mask, MC_ORDER_BCRS, scales, &fewer, &c, diag),
                   MC_USAGE, diag, "the mask has 3 vectors of 2 elements, there are 2 x 2 sums");
}

static void test_shapes(mc_diag *diag) {
    mc_dense a, b, sums;
    expect_ok("a", mc_dense_create(MC_S64, 4, 2, 2, &a, diag), diag);
    expect_ok("b", mc_dense_create(MC_S64, 3, 2, 2, &b, diag), diag);
    mc_dense_set(&a, 2, 1, INT64_MAX);
    mc_dense_set(&b, 1, 1, 2);
    expect_failure("sum", mc_reference_sddmm(&mask, &a, &b, MC_LAYOUT_COLUMNS, &sums, diag), MC_CANNOT, diag,
                   "a sum of row block 1 leaves int64");
    CHECK(!sums.data, "the output is not zeroed");
    expect_failure("layout", mc_reference_sddmm(&mask, &a, &b, MC_LAYOUT_ROWS, &sums, diag), MC_USAGE, diag,
                   "the mask is 4 x 3, A has 4 rows, B 2 columns");
    b.cols = 1;
    expect_failure("k", mc_reference_sddmm(&mask, &a, &b, MC_LAYOUT_COLUMNS, &sums, diag), MC_USAGE, diag,
                   "A has 2 columns, B has 1 rows");
    b.cols = 2, b.type = MC_F32;
    expect_failure("floats", mc_reference_sddmm(&mask, &a, &b, MC_LAYOUT_COLUMNS, &sums, diag), MC_USAGE,
                   diag, "B is f32: the reference multiplies integers");
    mc_dense_free(&a);
    mc_dense_free(&b);
}

int main(void) {
    mc_diag *diag = mc_diag_create();
    for (size_t i = 0; i < sizeof products / sizeof *products; i++) check_product(&products[i], diag);
    test_outputs(diag);
    test_integers(diag);
    test_refused(diag);
    test_shapes(diag);
    mc_diag_destroy(diag);
    return check_end();
}
