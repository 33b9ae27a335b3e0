/* Patterns of 2N - 2 of 2N on tensor cores that keep two of four: A spread, B's rows repeated, the product
   kept. */
#include "matrix/random.h"
#include "matrix/slide24.h"
#include "scratch.h"

static mc_dense dense_of(mc_type type, int64_t rows, int64_t cols, mc_diag *diag) {
    mc_dense dense;
    expect_ok("create", mc_dense_create(type, rows, cols, cols + cols % 2, &dense, diag), diag);
    return dense;
}

static bool same(const mc_dense *a, const mc_dense *b) {
    bool same = a->rows == b->rows && a->cols == b->cols;
    for (int64_t i = 0; same && i < a->rows; i++)
        for (int64_t j = 0; same && j < a->cols; j++) same = mc_dense_get(a, i, j) == mc_dense_get(b, i, j);
    return same;
}

/* Row i has nonzeros where i has bits, in a span of SPAN units. */
static mc_dense all_masks(mc_type type, int span, int unit, mc_diag *diag) {
    mc_dense a = dense_of(type, 1 << span, span * unit, diag);
    for (int row = 0; row < 1 << span; row++)
        for (int col = 0; col < span * unit; col++)
            if (row >> col / unit & 1) mc_dense_set(&a, row, col, 1 + (row + col) % 7);
    return a;
}

static int bits_of(int64_t mask) { return __builtin_popcountll((unsigned long long)mask); }

/* The rows of A with at most SPAN - 2 nonzeros. */
static mc_dense allowed_rows(const mc_dense *a, int span, mc_diag *diag) {
    int64_t count = 0;
    mc_dense some = dense_of(a->type, a->rows, a->cols, diag);
    for (int64_t row = 0; row < a->rows; row++) {
        if (bits_of(row) > span - 2) continue;
        for (int64_t col = 0; col < a->cols; col++)
            mc_dense_set(&some, count, col, mc_dense_get(a, row, col));
        count++;
    }
    some.rows = count;
    return some;
}

static int64_t product(const mc_dense *a, const mc_dense *b, int64_t row, int64_t col) {
    int64_t sum = 0;
    for (int64_t i = 0; i < a->cols; i++) sum += mc_dense_get(a, row, i) * mc_dense_get(b, i, col);
    return sum;
}

static void check_product(const mc_dense *a, const mc_dense *spread, int span, mc_diag *diag) {
    mc_dense b = dense_of(MC_S8, a->cols, 2, diag), rows, more;
    int64_t wrong = 0;
    mc_dense_fill(&b, MC_VALUES_FULL, 1);
    expect_ok("rows", mc_slide24_rows(a->type, span, a->cols, &rows, diag), diag);
    expect_ok("B'", mc_slide24_gather(&b, &rows, &more, diag), diag);
    for (int64_t i = 0; i < a->rows; i++)
        for (int64_t j = 0; j < b.cols; j++) wrong += product(a, &b, i, j) != product(spread, &more, i, j);
    CHECK(wrong == 0, "%lld elements of the product", (long long)wrong);
    mc_dense_free(&rows);
    mc_dense_free(&more);
    mc_dense_free(&b);
}

/* Every mask: those that are allowed go through strictly, and A' is 2:4, and comes back. Of the others as
   many are pruned as there are, and full ones are refused. */
static void test_masks(mc_type type, int span, int unit, mc_diag *diag) {
    mc_dense all = all_masks(type, span, unit, diag), a = allowed_rows(&all, span, diag), spread, back;
    mc_sparse24 s;
    int64_t lost, cols;
    expect_ok("cols", mc_slide24_cols(type, span, a.cols, &cols, diag), diag);
    CHECK(cols == (span / 2 - 1) * 4 * unit, "%lld columns", (long long)cols);
    expect_ok("expand", mc_slide24_expand(&a, span, MC_SPARSE24_STRICT, &spread, &lost, diag), diag);
    CHECK(lost == 0 && spread.cols == cols, "nothing is lost");
    expect_ok("2:4", mc_sparse24_compress(&spread, MC_SPARSE24_STRICT, &s, diag), diag);
    expect_ok("collapse", mc_slide24_collapse(&spread, span, a.cols, &back, diag), diag);
    CHECK(same(&a, &back), "%d of %d", span - 2, span);
    check_product(&a, &spread, span, diag);
    mc_dense_free(&back);
    mc_dense_free(&spread);
    mc_sparse24_free(&s);
    expect_failure("full", mc_slide24_expand(&all, span, MC_SPARSE24_STRICT, &spread, &lost, diag), MC_FORMAT,
                   diag, "nonzero");
    expect_ok("prune", mc_slide24_expand(&all, span, MC_SPARSE24_PRUNE, &spread, &lost, diag), diag);
    CHECK(lost == all.rows - a.rows && lost == span + 1, "%lld lost", (long long)lost);
    expect_ok("2:4", mc_sparse24_compress(&spread, MC_SPARSE24_STRICT, &s, diag), diag);
    mc_dense_free(&spread);
    mc_sparse24_free(&s);
    mc_dense_free(&all);
    mc_dense_free(&a);
}

/* Columns that are no multiple of a span. */
static void test_tails(mc_diag *diag) {
    for (int64_t cols = 0; cols <= 20; cols++)
        for (int span = 4; span <= 10; span += 2) {
            mc_dense a = dense_of(MC_S8, 2, cols, diag), spread, back;
            int64_t lost;
            for (int64_t i = 0; i < 2 * cols; i++)
                if (i % span < span - 2) mc_dense_set(&a, i / cols, i % cols, 3);
            expect_ok("prune", mc_slide24_expand(&a, span, MC_SPARSE24_PRUNE, &spread, &lost, diag), diag);
            expect_ok("back", mc_slide24_collapse(&spread, span, cols, &back, diag), diag);
            CHECK(back.cols == cols && (lost > 0 || same(&a, &back)), "%lld columns", (long long)cols);
            check_product(&back, &spread, span, diag);
            mc_dense_free(&back);
            mc_dense_free(&spread);
            mc_dense_free(&a);
        }
}

static void test_rows(mc_diag *diag) {
    static const int want[] = {0, 1, 2,  3,  2,  3,  4,  5,  4,  5,  6,  7,
                               8, 9, 10, -1, 10, -1, -1, -1, -1, -1, -1, -1};
    mc_dense rows;
    expect_ok("rows", mc_slide24_rows(MC_F16, 8, 11, &rows, diag), diag);
    CHECK(rows.cols == 24, "%lld rows", (long long)rows.cols);
    for (int i = 0; i < 24 && i < rows.cols; i++)
        CHECK(mc_dense_get(&rows, 0, i) == want[i], "row %d is %lld", i,
              (long long)mc_dense_get(&rows, 0, i));
    mc_dense_free(&rows);
}

static void test_refused(mc_diag *diag) {
    mc_dense a = dense_of(MC_S8, 1, 12, diag), out;
    int64_t lost;
    expect_failure("odd", mc_slide24_expand(&a, 7, MC_SPARSE24_PRUNE, &out, &lost, diag), MC_USAGE, diag,
                   "a span of 7: must be even, 4 to 64");
    expect_failure("large", mc_slide24_cols(MC_S8, 66, 4, &lost, diag), MC_USAGE, diag, "a span of 66");
    expect_failure("tf32", mc_slide24_cols(MC_TF32, 8, 4, &lost, diag), MC_CANNOT, diag,
                   "tf32: one of two elements is kept");
    expect_failure("cols", mc_slide24_cols(MC_S8, 8, INT32_MAX, &lost, diag), MC_CANNOT, diag, "at most");
    expect_failure("size", mc_slide24_collapse(&a, 8, 9, &out, diag), MC_FORMAT, diag,
                   "9 columns of spans of 8 become 24, and there are 12");
    mc_dense_set(&a, 0, 11, 1);
    expect_failure("beyond", mc_slide24_collapse(&a, 8, 7, &out, diag), MC_FORMAT, diag,
                   "row 0 has a nonzero in column 7, beyond the last of 7 columns");
    mc_dense_set(&a, 0, 2, 1), mc_dense_set(&a, 0, 4, 1);
    expect_failure("twice", mc_slide24_collapse(&a, 8, 8, &out, diag), MC_FORMAT, diag,
                   "row 0 has column 2 in two groups");
    expect_failure("rows", mc_slide24_gather(&a, &a, &out, diag), MC_FORMAT, diag,
                   "row 2 of B' is row 1 of B, which has 1");
    mc_dense_free(&a);
}

int main(void) {
    mc_diag *diag = mc_diag_create();
    for (int span = 4; span <= 10; span += 2) test_masks(MC_S8, span, 1, diag);
    test_masks(MC_S4, 8, 2, diag);
    test_masks(MC_BF16, 6, 1, diag);
    test_tails(diag);
    test_rows(diag);
    test_refused(diag);
    mc_diag_destroy(diag);
    return check_end();
}
