/* The reference against three plain loops over dense matrices, and the comparison. */
#include "scratch.h"

/* C = A B with A written out. */
static void naive(const mc_vsparse *a, const mc_dense *b, mc_dense *c) {
    for (int64_t i = 0; i < a->rows; i++)
        for (int64_t j = 0; j < b->cols; j++) {
            int64_t sum = 0;
            for (int64_t v = a->row_ptr[i / a->vec]; v < a->row_ptr[i / a->vec + 1]; v++)
                sum += mc_vsparse_value(a, v, (int)(i % a->vec)) * mc_dense_get(b, a->col_idx[v], j);
            mc_dense_set(c, i, j, sum);
        }
}

typedef struct product_case {
    mc_pattern pattern;
    int vec;
    mc_type lhs, rhs;
    int64_t n, ldb;
    mc_value_law law;
} product_case;

static const product_case products[] = {
    {{9, 50, .7, MC_PATTERN_UNIFORM, 0, 1}, 8, MC_S8, MC_S8, 33, 33, MC_VALUES_FULL},
    {{9, 50, .7, MC_PATTERN_UNIFORM, 0, 2}, 4, MC_S8, MC_S8, 33, 48, MC_VALUES_EXTREME},
    {{9, 50, .7, MC_PATTERN_UNIFORM, 0, 3}, 2, MC_S8, MC_S8, 1, 1, MC_VALUES_ONES},
    {{9, 50, .7, MC_PATTERN_UNIFORM, 0, 4}, 1, MC_S8, MC_S16, 7, 9, MC_VALUES_EXTREME},
    {{9, 50, .7, MC_PATTERN_UNIFORM, 0, 5}, 8, MC_S16, MC_S8, 8, 8, MC_VALUES_EXTREME},
    {{9, 50, .7, MC_PATTERN_UNIFORM, 0, 6}, 8, MC_S16, MC_S32, 8, 8, MC_VALUES_EXTREME},
    {{3, 1, 0, MC_PATTERN_UNIFORM, 0, 7}, 8, MC_S8, MC_S8, 5, 5, MC_VALUES_EXTREME},
    {{9, 50, 1, MC_PATTERN_UNIFORM, 0, 8}, 8, MC_S8, MC_S8, 5, 5, MC_VALUES_FULL},
    {{0, 50, .7, MC_PATTERN_UNIFORM, 0, 9}, 8, MC_S8, MC_S8, 5, 5, MC_VALUES_FULL},
    {{9, 0, .7, MC_PATTERN_UNIFORM, 0, 10}, 8, MC_S8, MC_S8, 5, 5, MC_VALUES_FULL},
    {{9, 50, .7, MC_PATTERN_UNIFORM, 0, 11}, 8, MC_S8, MC_S8, 0, 5, MC_VALUES_FULL},
    /* More terms than an int32 of partial sums holds: 140000 * 2^14 > 2^31. */
    {{1, 140000, 0, MC_PATTERN_UNIFORM, 0, 12}, 1, MC_S8, MC_S8, 3, 3, MC_VALUES_EXTREME},
    {{1, 140000, 0, MC_PATTERN_UNIFORM, 0, 13}, 1, MC_U8, MC_U8, 3, 3, MC_VALUES_EXTREME},
};

static void check_product(const product_case *p, mc_diag *diag) {
    mc_csr csr;
    mc_vsparse a;
    mc_dense b, c, want;
    expect_ok("generate", mc_csr_generate(&p->pattern, &csr, diag), diag);
    expect_ok("dilate", mc_vsparse_dilate(&csr, p->vec, p->lhs, &a, diag), diag);
    expect_ok("create", mc_dense_create(p->rhs, a.cols, p->n, p->ldb, &b, diag), diag);
    expect_ok("create", mc_dense_create(MC_S64, a.rows, p->n, p->n, &want, diag), diag);
    mc_vsparse_fill(&a, p->law, 1, NULL);
    mc_dense_fill(&b, p->law, 2);
    naive(&a, &b, &want);
    expect_ok("reference", mc_reference_spmm(&a, &b, &c, diag), diag);
    CHECK(c.type == MC_S64 && c.rows == a.rows && c.cols == p->n, "%s x %s", mc_type_text(p->lhs),
          mc_type_text(p->rhs));
    expect_ok(mc_type_text(p->lhs), mc_dense_compare(&c, &want, diag), diag);
    mc_csr_free(&csr);
    mc_vsparse_free(&a);
    mc_dense_free(&b);
    mc_dense_free(&c);
    mc_dense_free(&want);
}

static void test_products(mc_diag *diag) {
    for (size_t i = 0; i < sizeof products / sizeof products[0]; i++) check_product(&products[i], diag);
}

static void test_pairs(mc_diag *diag) {
    static const mc_type types[] = {MC_S4, MC_U4, MC_S8, MC_U8, MC_S12, MC_U12, MC_S16, MC_U16};
    for (int lhs = 0; lhs < 8; lhs++)
        for (int rhs = 0; rhs < 8; rhs++) {
            product_case p = {
                {9, 50, .7, MC_PATTERN_UNIFORM, 0, 1}, 8, types[lhs], types[rhs], 33, 36, MC_VALUES_FULL};
            check_product(&p, diag);
            p.vec = 2, p.law = MC_VALUES_EXTREME;
            check_product(&p, diag);
        }
}

/* Everywhere the value of the greatest magnitude: the sum leaves int32, and is known. */
static void check_extreme_sum(mc_type type, int64_t value, mc_diag *diag) {
    enum { K = 200000 };
    mc_pattern pattern = {1, K, 0, MC_PATTERN_UNIFORM, 0, 1};
    mc_csr csr;
    mc_vsparse a;
    mc_dense b, c;
    expect_ok("generate", mc_csr_generate(&pattern, &csr, diag), diag);
    expect_ok("dilate", mc_vsparse_dilate(&csr, 2, type, &a, diag), diag);
    expect_ok("create", mc_dense_create(type, K, 2, 2, &b, diag), diag);
    for (int i = 0; i < 2 * K; i++) {
        mc_vsparse_set_value(&a, i / 2, i % 2, value);
        mc_dense_set(&b, i / 2, i % 2, value);
    }
    expect_ok("reference", mc_reference_spmm(&a, &b, &c, diag), diag);
    for (int i = 0; i < 4; i++)
        CHECK(mc_dense_get(&c, i / 2, i % 2) == K * value * value, "%s: %lld", mc_type_text(type),
              (long long)mc_dense_get(&c, i / 2, i % 2));
    mc_csr_free(&csr);
    mc_vsparse_free(&a);
    mc_dense_free(&b);
    mc_dense_free(&c);
}

static void test_extreme_sum(mc_diag *diag) {
    check_extreme_sum(MC_S8, -128, diag);
    check_extreme_sum(MC_U8, 255, diag);
    check_extreme_sum(MC_S16, -32768, diag);
    check_extreme_sum(MC_U16, 65535, diag);
}

static void test_refused(mc_diag *diag) {
    int64_t row_ptr[] = {0, 2};
    int32_t col_idx[] = {0, 1};
    int64_t values[] = {INT64_MAX, 1};
    mc_vsparse a = {MC_S64, 1, 1, 2, 1, 2, row_ptr, col_idx, values, {0}};
    mc_dense b, c;
    expect_ok("create", mc_dense_create(MC_S8, 2, 1, 1, &b, diag), diag);
    mc_dense_fill(&b, MC_VALUES_ONES, 0);
    expect_failure("sum", mc_reference_spmm(&a, &b, &c, diag), MC_CANNOT, diag, "row block 0 leaves int64");
    CHECK(!c.data, "the output is not zeroed");
    b.type = MC_F32;
    expect_failure("floats", mc_reference_spmm(&a, &b, &c, diag), MC_USAGE, diag,
                   "B is f32: the reference multiplies integers, floats, or integers of at most 8 bits by");
    b.type = MC_S8;
    a.cols = 3;
    expect_failure("shape", mc_reference_spmm(&a, &b, &c, diag), MC_USAGE, diag, "A has 3 columns, B has 2");
    mc_dense_free(&b);
}

static void test_compare(mc_diag *diag) {
    mc_dense got, want;
    expect_ok("create", mc_dense_create(MC_S32, 3, 4, 5, &got, diag), diag);
    expect_ok("create", mc_dense_create(MC_S64, 3, 4, 4, &want, diag), diag);
    for (int i = 0; i < 12; i++) {
        mc_dense_set(&want, i / 4, i % 4, ((int64_t)i << 32) + 100 - i);
        mc_dense_set(&got, i / 4, i % 4, 100 - i);
    }
    mc_dense_set(&got, 1, 4, 77); /* a gap column */
    expect_ok("modulo 2^32", mc_dense_compare(&got, &want, diag), diag);
    mc_dense_set(&got, 1, 3, 5);
    mc_dense_set(&got, 2, 0, -5);
    expect_failure("wrong", mc_dense_compare(&got, &want, diag), MC_MISMATCH, diag,
                   "C[1][3] is 5, must be 93 (2 of 12 elements wrong)");
    expect_failure("the other way round: no modulo", mc_dense_compare(&want, &got, diag), MC_MISMATCH, diag,
                   "C[0][1] is 4294967395, must be 99");
    want.cols = 3;
    expect_failure("shape", mc_dense_compare(&got, &want, diag), MC_USAGE, diag, "3 x 4");
    mc_dense_free(&got);
    mc_dense_free(&want);
}

int main(void) {
    mc_diag *diag = mc_diag_create();
    test_products(diag);
    test_pairs(diag);
    test_extreme_sum(diag);
    test_refused(diag);
    test_compare(diag);
    mc_diag_destroy(diag);
    return check_end();
}
