/* Vector-sparse matrices: dilation, union, values. */
#include <math.h>
#include "scratch.h"

/* Rows {0, 2}, {2}, {}, {1, 3}, {0}. */
static int64_t row_ptr[] = {0, 2, 3, 3, 5, 6};
static int32_t col_idx[] = {0, 2, 2, 1, 3, 0};
static const mc_csr five_rows = {5, 4, 6, row_ptr, col_idx, MC_CSR_PATTERN, NULL, 0};

static void test_dilate(mc_diag *diag) {
    mc_vsparse a;
    expect_ok("dilate", mc_vsparse_dilate(&five_rows, 4, MC_S16, &a, diag), diag);
    CHECK(a.rows == 20 && a.cols == 4 && a.row_blocks == 5 && a.vectors == 6, "%lld rows", (long long)a.rows);
    CHECK(memcmp(a.row_ptr, row_ptr, sizeof row_ptr) == 0, "row_ptr differs");
    CHECK(memcmp(a.col_idx, col_idx, sizeof col_idx) == 0, "col_idx differs");
    for (int i = 0; i < 24; i++) CHECK(mc_vsparse_value(&a, i / 4, i % 4) == 0, "value %d", i);
    mc_vsparse_free(&a);
    expect_failure("vec 0", mc_vsparse_dilate(&five_rows, 0, MC_S8, &a, diag), MC_USAGE, diag,
                   "vectors of 0 elements");
}

/* What an estimate knows of the five rows: the longest has 2, their variance is 2.8 / 5. */
static void test_problem_of(mc_diag *diag) {
    mc_vsparse a;
    expect_ok("dilate", mc_vsparse_dilate(&five_rows, 4, MC_S8, &a, diag), diag);
    mc_problem p = mc_problem_of(&a, 7, 9);
    CHECK(p.m == 20 && p.n == 7 && p.k == 4 && p.ldb == 9 && p.vectors == 6, "sizes");
    CHECK(p.longest == 2 && p.spread * p.spread > 0.559 && p.spread * p.spread < 0.561, "%lld, %g",
          (long long)p.longest, p.spread);
    mc_vsparse_free(&a);
    p = mc_problem_of(&a, 1, 1);
    CHECK(p.m == 0 && p.longest == 0 && p.spread == 0, "nothing");
}

typedef struct union_case {
    int vec;
    int64_t row_blocks, vectors;
    double fill;
    int64_t row_ptr[6];
    int32_t col_idx[6];
    const char *mask;
} union_case;

static const union_case unions[] = {
    {1, 5, 6, 1, {0, 2, 3, 3, 5, 6}, {0, 2, 2, 1, 3, 0}, "111111"},
    {2, 3, 5, .6, {0, 2, 4, 5}, {0, 2, 1, 3, 0}, "1011010110"},
    {4, 2, 5, .3, {0, 4, 5}, {0, 1, 2, 3, 0}, "10000001110000011000"},
    {8, 1, 4, 6. / 32, {0, 4}, {0, 1, 2, 3}, "10001000000100001100000000010000"},
};

static void test_union(mc_diag *diag) {
    for (size_t i = 0; i < sizeof unions / sizeof unions[0]; i++) {
        const union_case *c = &unions[i];
        mc_vsparse a;
        double fill;
        uint8_t *mask;
        expect_ok("union", mc_vsparse_union(&five_rows, c->vec, MC_S8, &a, &fill, &mask, diag), diag);
        CHECK(a.row_blocks == c->row_blocks && a.vectors == c->vectors && a.rows == c->row_blocks * c->vec,
              "vec %d: %lld vectors", c->vec, (long long)a.vectors);
        CHECK(fill == c->fill, "vec %d: fill %g", c->vec, fill);
        CHECK(memcmp(a.row_ptr, c->row_ptr, (size_t)(c->row_blocks + 1) * 8) == 0, "vec %d", c->vec);
        CHECK(memcmp(a.col_idx, c->col_idx, (size_t)c->vectors * 4) == 0, "vec %d", c->vec);
        mc_vsparse_fill(&a, MC_VALUES_ONES, 1, mask);
        for (int64_t v = 0; v < a.vectors * a.vec; v++) {
            CHECK(mask[v] == c->mask[v] - '0', "vec %d: mask %lld", c->vec, (long long)v);
            CHECK(((int8_t *)a.values)[v] == mask[v], "vec %d: value %lld", c->vec, (long long)v);
        }
        free(mask);
        mc_vsparse_free(&a);
    }
}

static void test_union_edges(mc_diag *diag) {
    int64_t zeros[4] = {0};
    int32_t none;
    const mc_csr shapes[] = {{.row_ptr = zeros, .col_idx = &none},
                             {.rows = 3, .cols = 5, .row_ptr = zeros, .col_idx = &none},
                             {.cols = 5, .row_ptr = zeros, .col_idx = &none}};
    for (size_t i = 0; i < 3; i++) {
        mc_vsparse a;
        double fill;
        expect_ok("union", mc_vsparse_union(&shapes[i], 2, MC_S8, &a, &fill, NULL, diag), diag);
        CHECK(fill == 1 && a.vectors == 0 && a.rows == (shapes[i].rows + 1) / 2 * 2, "shape %zu", i);
        mc_vsparse_free(&a);
    }
    mc_vsparse a;
    double fill;
    expect_failure("vec 0", mc_vsparse_union(&five_rows, 0, MC_S8, &a, &fill, NULL, diag), MC_USAGE, diag,
                   "vectors of 0 elements");
}

static mc_vsparse dilated(int vec, mc_type type, mc_diag *diag) {
    mc_vsparse a;
    expect_ok("dilate", mc_vsparse_dilate(&five_rows, vec, type, &a, diag), diag);
    return a;
}

static void test_fill(mc_diag *diag) {
    static const struct {
        mc_type type;
        uint64_t checksum;
    } cases[] = {{MC_S8, 0x88a60a7108b87d70u},
                 {MC_S16, 0x3b5ccaf4806c64c3u},
                 {MC_S32, 0x6467e040b09732afu},
                 {MC_S64, 0xfc59a40c3043e88eu}};
    for (size_t i = 0; i < 4; i++) {
        mc_vsparse a = dilated(8, cases[i].type, diag);
        mc_vsparse_fill(&a, MC_VALUES_FULL, 3, NULL);
        uint64_t sum = checksum(0, a.values, 48 * mc_type_bytes(a.type));
        CHECK(sum == cases[i].checksum, "%s: 0x%016llx", mc_type_text(a.type), (unsigned long long)sum);
        mc_vsparse_fill(&a, MC_VALUES_EXTREME, 3, NULL);
        int least = 0, most = 0;
        for (int v = 0; v < 48; v++) {
            least += mc_vsparse_value(&a, v / 8, v % 8) == mc_type_min(a.type);
            most += mc_vsparse_value(&a, v / 8, v % 8) == mc_type_max(a.type);
        }
        CHECK(least + most == 48 && least > 10 && most > 10, "%d least, %d most", least, most);
        mc_vsparse_free(&a);
    }
}

static void test_dense_fill(mc_diag *diag) {
    mc_dense tight, wide;
    expect_ok("create", mc_dense_create(MC_S8, 9, 300, 300, &tight, diag), diag);
    expect_ok("create", mc_dense_create(MC_S8, 9, 300, 320, &wide, diag), diag);
    mc_dense_fill(&tight, MC_VALUES_FULL, 4);
    mc_dense_fill(&wide, MC_VALUES_FULL, 4);
    expect_ok("values do not depend on ld", mc_dense_compare(&tight, &wide, diag), diag);
    bool seen[256] = {false};
    for (int i = 0; i < 2700; i++) seen[((uint8_t *)tight.data)[i]] = true;
    int missing = 0, gap = 0;
    for (int i = 0; i < 256; i++) missing += !seen[i];
    for (int i = 0; i < 9 * 20; i++) gap += mc_dense_get(&wide, i / 20, 300 + i % 20) != 0;
    CHECK(missing == 0, "%d values never drawn", missing);
    CHECK(gap > 150, "%d gap elements filled", gap);
    mc_dense_free(&tight);
    mc_dense_free(&wide);
}

/* The dense form and the vectors must give the same values. */
static void test_take(mc_diag *diag) {
    mc_vsparse want = dilated(2, MC_S8, diag), got = dilated(2, MC_S8, diag);
    mc_dense matrix, vectors;
    expect_ok("create", mc_dense_create(MC_S32, want.rows, want.cols, 6, &matrix, diag), diag);
    expect_ok("create", mc_dense_create(MC_S64, want.vectors, 2, 2, &vectors, diag), diag);
    mc_vsparse_fill(&want, MC_VALUES_FULL, 8, NULL);
    for (int64_t block = 0; block < 5; block++)
        for (int64_t v = row_ptr[block]; v < row_ptr[block + 1]; v++)
            for (int r = 0; r < 2; r++) {
                mc_dense_set(&matrix, 2 * block + r, col_idx[v], mc_vsparse_value(&want, v, r));
                mc_dense_set(&vectors, v, r, mc_vsparse_value(&want, v, r));
            }
    expect_ok("matrix", mc_vsparse_take(&got, &matrix, diag), diag);
    CHECK(same_vsparse(&want, &got), "taken from the matrix");
    mc_vsparse_fill(&got, MC_VALUES_ONES, 0, NULL);
    expect_ok("vectors", mc_vsparse_take(&got, &vectors, diag), diag);
    CHECK(same_vsparse(&want, &got), "taken from the vectors");

    expect_ok("as the matrix", mc_vsparse_take_as(&got, &matrix, MC_TAKE_MATRIX, diag), diag);
    expect_failure("as vectors", mc_vsparse_take_as(&got, &matrix, MC_TAKE_VECTORS, diag), MC_FORMAT, diag,
                   "values are 10 x 4, must be 10 x 4 (the matrix) or 6 x 2");
    expect_failure("as the matrix", mc_vsparse_take_as(&got, &vectors, MC_TAKE_MATRIX, diag), MC_FORMAT, diag,
                   "values are 6 x 2, must be");

    mc_dense_set(&vectors, 3, 1, 128);
    expect_failure("range", mc_vsparse_take(&got, &vectors, diag), MC_FORMAT, diag,
                   "A[3][1] is 128, out of s8's range");
    mc_dense_set(&matrix, 3, 0, -1);
    expect_failure("outside", mc_vsparse_take(&got, &matrix, diag), MC_FORMAT, diag,
                   "A[3][0] is -1, but outside of the pattern");
    matrix.type = MC_F32;
    expect_failure("floats", mc_vsparse_take(&got, &matrix, diag), MC_FORMAT, diag,
                   "values of A are integers, these are f32");
    matrix.rows = 9;
    expect_failure("shape", mc_vsparse_take(&got, &matrix, diag), MC_FORMAT, diag,
                   "values are 9 x 4, must be 10 x 4 (the matrix) or 6 x 2");
    CHECK(same_vsparse(&want, &got), "a failure changed the values");
    mc_dense_free(&matrix);
    mc_dense_free(&vectors);
    mc_vsparse_free(&want);
    mc_vsparse_free(&got);
}

/* A mask's values are f32 as they are: -0 counts as nothing outside of the pattern. */
static void test_take_reals(mc_diag *diag) {
    enum { HALF = 0x3f000000, MINUS_ZERO = -0x7fffffff - 1 };
    mc_vsparse mask = dilated(2, MC_F32, diag);
    mc_dense matrix, other;
    expect_ok("create", mc_dense_create(MC_F32, mask.rows, mask.cols, mask.cols, &matrix, diag), diag);
    expect_ok("create", mc_dense_create(MC_F16, mask.vectors, 2, 2, &other, diag), diag);
    for (int64_t i = 0; i < mask.rows; i++)
        for (int64_t j = 0; j < mask.cols; j++) mc_dense_set(&matrix, i, j, (uint32_t)MINUS_ZERO);
    mc_dense_set(&matrix, 1, col_idx[0], HALF);
    expect_ok("reals", mc_vsparse_take(&mask, &matrix, diag), diag);
    CHECK(mc_vsparse_value(&mask, 0, 0) == (uint32_t)MINUS_ZERO && mc_vsparse_value(&mask, 0, 1) == HALF,
          "bits of the first vector: %llx, %llx", (long long)mc_vsparse_value(&mask, 0, 0),
          (long long)mc_vsparse_value(&mask, 0, 1));
    mc_dense_set(&matrix, 3, 0, HALF);
    expect_failure("outside", mc_vsparse_take(&mask, &matrix, diag), MC_FORMAT, diag,
                   "matrix[3][0] is 0.5, but outside of the pattern");
    expect_failure("halves", mc_vsparse_take(&mask, &other, diag), MC_FORMAT, diag,
                   "values of the matrix are f32, these are f16");
    mc_dense_free(&matrix);
    mc_dense_free(&other);
    mc_vsparse_free(&mask);
}

/* Values of the nonzeros of five_rows, in the vectors that rows share. */
static void test_take_csr(mc_diag *diag) {
    double values[6] = {1, -2, 3, 127, -128, 0};
    mc_csr csr = five_rows;
    mc_vsparse a, reals;
    double fill;
    csr.field = MC_CSR_REAL, csr.values = values;
    expect_ok("union", mc_vsparse_union(&csr, 2, MC_S8, &a, &fill, NULL, diag), diag);
    expect_ok("union", mc_vsparse_union(&csr, 2, MC_F32, &reals, &fill, NULL, diag), diag);
    mc_vsparse_fill(&a, MC_VALUES_FULL, 1, NULL);
    expect_ok("take", mc_vsparse_take_csr(&a, &csr, 0, diag), diag);
    int64_t sum = 0, count = 0;
    for (int64_t row = 0; row < csr.rows; row++)
        for (int64_t i = csr.row_ptr[row]; i < csr.row_ptr[row + 1]; i++)
            for (int64_t v = a.row_ptr[row / 2]; v < a.row_ptr[row / 2 + 1]; v++)
                if (a.col_idx[v] == csr.col_idx[i]) {
                    CHECK(mc_vsparse_value(&a, v, (int)(row % 2)) == (int64_t)values[i], "entry %lld",
                          (long long)i);
                    count++;
                }
    for (int64_t v = 0; v < a.vectors * 2; v++) sum += ((int8_t *)a.values)[v];
    CHECK(count == 6 && sum == 1 - 2 + 3 + 127 - 128, "%lld entries, and zeros: %lld", (long long)count,
          (long long)sum);
    values[1] = 128;
    expect_failure("range", mc_vsparse_take_csr(&a, &csr, 0, diag), MC_CANNOT, diag,
                   "is 128, out of s8's range");
    values[1] = .5;
    expect_failure("integer", mc_vsparse_take_csr(&a, &csr, 0, diag), MC_CANNOT, diag, "is 0.5, no integer");
    expect_ok("rounded", mc_vsparse_take_csr(&a, &csr, 1, diag), diag);
    expect_ok("scaled", mc_vsparse_take_csr(&a, &csr, 2, diag), diag);
    expect_ok("reals", mc_vsparse_take_csr(&reals, &csr, 0, diag), diag);
    CHECK(((float *)reals.values)[0] == 1, "the first is %g", (double)((float *)reals.values)[0]);
    mc_vsparse_free(&a);
    mc_vsparse_free(&reals);
}

/* Reals become the nearest floats, each rounded once: of values of 53 bits that lie just beside a tie between two of
   them, too. */
static void test_take_floats(mc_diag *diag) {
    static const struct {
        double value;
        uint32_t f16, bf16;
    } known[] = {{1, 0x3c00, 0x3f80},
                 {-0.1, 0xae66, 0xbdcd},
                 {1 + 0x1p-11, 0x3c00, 0x3f80},           /* a tie */
                 {1 + 0x1p-11 + 0x1p-40, 0x3c01, 0x3f80}, /* a tie as f32 */
                 {1 + 0x3p-11 - 0x1p-40, 0x3c01, 0x3f80}, /* likewise */
                 {1 + 0x1p-8 + 0x1p-50, 0x3c04, 0x3f81},
                 {-0x1p-25 - 0x1p-70, 0x8001, 0xb300}, /* subnormal, beside a tie with 0 */
                 {65519.999, 0x7bff, 0x4780}};
    static const mc_type types[] = {MC_F16, MC_BF16};
    double values[6] = {0};
    mc_csr csr = five_rows;
    csr.field = MC_CSR_REAL, csr.values = values;
    for (int t = 0; t < 2; t++) {
        double fill;
        mc_vsparse a;
        expect_ok("union", mc_vsparse_union(&csr, 2, types[t], &a, &fill, NULL, diag), diag);
        for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
            values[0] = known[i].value;
            expect_ok("take", mc_vsparse_take_csr(&a, &csr, 0, diag), diag);
            uint32_t want = t ? known[i].bf16 : known[i].f16;
            CHECK(mc_vsparse_value(&a, 0, 0) == want, "%s of %a is %llx, must be %x", mc_type_text(types[t]),
                  known[i].value, (long long)mc_vsparse_value(&a, 0, 0), want);
        }
        values[0] = t ? 3.4e38 : 65520;
        expect_failure("beyond", mc_vsparse_take_csr(&a, &csr, 0, diag), MC_CANNOT, diag,
                       t ? "is 3.4e+38, out of bf16's range" : "is 65520, out of f16's range");
        values[0] = 0;
        mc_dense other;
        expect_ok("create", mc_dense_create(MC_F32, a.vectors, 2, 2, &other, diag), diag);
        expect_failure("f32", mc_vsparse_take(&a, &other, diag), MC_FORMAT, diag,
                       t ? "values of A are bf16, these are f32" : "values of A are f16, these are f32");
        mc_dense_free(&other);
        mc_vsparse_free(&a);
    }
}

/* Random floats: finite ones of either sign, whose products add up far below the type's end; and the ends. */
static void test_random_floats(mc_diag *diag) {
    static const mc_type types[] = {MC_F16, MC_BF16};
    const mc_pattern pattern = {40, 400, 0.5, MC_PATTERN_UNIFORM, 0, 2};
    for (int t = 0; t < 2; t++) {
        int above = 0, below = 0, nans = 0, infinite = 0, subnormal = 0, minus_zeros = 0;
        double squares = 0;
        mc_csr csr;
        mc_vsparse a;
        expect_ok("generate", mc_csr_generate(&pattern, &csr, diag), diag);
        expect_ok("dilate", mc_vsparse_dilate(&csr, 8, types[t], &a, diag), diag);
        const mc_dense values = {a.type, a.vectors, 8, 8, a.values};
        mc_vsparse_fill(&a, MC_VALUES_FULL, 1, NULL);
        for (int64_t i = 0; i < a.vectors * 8; i++) {
            double value = mc_dense_real(&values, i / 8, i % 8);
            CHECK(fabs(value) <= 16, "%g", value); /* 2 - 2^-23 may round up */
            above += value > 0, below += value < 0, squares += value * value;
        }
        CHECK(above > a.vectors * 3 && below > a.vectors * 3, "signs: %d, %d", above, below);
        CHECK(squares < 20. * 8 * (double)a.vectors && squares > 8. * 8 * (double)a.vectors, "squares %g",
              squares);
        mc_vsparse_fill(&a, MC_VALUES_EXTREME, 1, NULL);
        for (int64_t i = 0; i < a.vectors * 8; i++) {
            double value = mc_dense_real(&values, i / 8, i % 8);
            nans += isnan(value) != 0, infinite += isinf(value) != 0;
            subnormal += value != 0 && fabs(value) < (t ? 0x1p-126 : 0x1p-14);
            minus_zeros += mc_dense_get(&values, i / 8, i % 8) == 0x8000;
        }
        CHECK(nans > 100 && infinite > 100 && subnormal > 100 && minus_zeros > 100,
              "%d NaNs, %d infinities, %d subnormal, %d zeros", nans, infinite, subnormal, minus_zeros);
        mc_vsparse_free(&a);
        mc_csr_free(&csr);
    }
}

int main(void) {
    mc_diag *diag = mc_diag_create();
    test_dilate(diag);
    test_problem_of(diag);
    test_union(diag);
    test_union_edges(diag);
    test_fill(diag);
    test_dense_fill(diag);
    test_take(diag);
    test_take_reals(diag);
    test_take_csr(diag);
    test_take_floats(diag);
    test_random_floats(diag);
    mc_diag_destroy(diag);
    return check_end();
}
