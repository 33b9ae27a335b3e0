/* Orders of rows: permutations that are as their definitions say, row by row, on small matrices of many kinds;
   one by hand; and that panels never have more columns than in the order in which rows come. */
#include "csr_checks.h"
#include "matrix/row_order.h"
#include "matrix/unstructured.h"

enum { MOST = 400 };

static int64_t length_of(const mc_csr *csr, int64_t row) { return csr->row_ptr[row + 1] - csr->row_ptr[row]; }

static bool has(const mc_csr *csr, int64_t row, int32_t column) {
    for (int64_t i = csr->row_ptr[row]; i < csr->row_ptr[row + 1]; i++)
        if (csr->col_idx[i] == column) return true;
    return false;
}

static int64_t rows_with(const mc_csr *csr, int32_t column) {
    int64_t count = 0;
    for (int64_t row = 0; row < csr->rows; row++) count += has(csr, row, column);
    return count;
}

static bool any_has(const mc_csr *csr, const int32_t *row_of, int64_t first, int64_t end, int32_t column) {
    for (int64_t at = first; at < end; at++)
        if (has(csr, row_of[at], column)) return true;
    return false;
}

static int64_t columns_of(const mc_csr *csr, const int32_t *row_of, int rows) {
    int64_t columns = 0;
    for (int64_t first = 0; first < csr->rows; first += rows)
        for (int32_t c = 0; c < csr->cols; c++)
            columns += any_has(csr, row_of, first, first + rows < csr->rows ? first + rows : csr->rows, c);
    return columns;
}

static bool is_permutation(const mc_csr *csr, const int32_t *row_of) {
    bool there[MOST] = {false};
    for (int64_t at = 0; at < csr->rows; at++) {
        if (row_of[at] < 0 || row_of[at] >= csr->rows || there[row_of[at]]) return false;
        there[row_of[at]] = true;
    }
    return true;
}

static bool longer(const mc_csr *csr, int64_t a, int64_t b) {
    return length_of(csr, a) != length_of(csr, b) ? length_of(csr, a) > length_of(csr, b) : a < b;
}

/* Columns that ROW shares with those from FIRST to END, without popular ones. */
static int64_t shared_by(const mc_csr *csr, const int32_t *row_of, int64_t first, int64_t end, int64_t row) {
    int64_t shared = 0;
    for (int64_t i = csr->row_ptr[row]; i < csr->row_ptr[row + 1]; i++)
        shared += rows_with(csr, csr->col_idx[i]) <= ROW_ORDER_MOST_SHARED &&
                  any_has(csr, row_of, first, end, csr->col_idx[i]);
    return shared;
}

/* The row that comes at AT, by the definition. */
static int32_t similar_row(const mc_csr *csr, const int32_t *row_of, int64_t at, int rows) {
    bool placed[MOST] = {false};
    for (int64_t i = 0; i < at; i++) placed[row_of[i]] = true;
    int32_t best = -1;
    int64_t most = 0;
    for (int32_t row = 0; row < csr->rows; row++) {
        if (placed[row]) continue;
        const int64_t shared = shared_by(csr, row_of, at - at % rows, at, row);
        const bool better = best < 0 || shared > most ||
                            (shared == most && (shared == 0 ? longer(csr, row, best)
                                                            : length_of(csr, row) < length_of(csr, best)));
        if (better) best = row, most = shared;
    }
    return best;
}

static void check_similar(const mc_csr *csr, int rows, mc_diag *diag) {
    int32_t row_of[MOST], want[MOST], come[MOST];
    for (int64_t i = 0; i < csr->rows; i++) come[i] = (int32_t)i;
    for (int64_t at = 0; at < csr->rows; at++) want[at] = similar_row(csr, want, at, rows);
    const int64_t before = columns_of(csr, come, rows), after = columns_of(csr, want, rows);
    expect_ok("order", row_order_of(csr, ROWS_SIMILAR, rows, row_of, diag), diag);
    int64_t wrong = 0;
    for (int64_t at = 0; at < csr->rows; at++) wrong += row_of[at] != (after < before ? want[at] : come[at]);
    CHECK(wrong == 0, "%d x %d, panels of %d: %d rows elsewhere", (int)csr->rows, (int)csr->cols, rows,
          (int)wrong);
    CHECK(row_order_columns(csr, row_of, rows) == (after < before ? after : before), "columns");
}

static void check_all(mc_csr *csr, mc_diag *diag) {
    int32_t row_of[MOST];
    expect_ok("order", row_order_of(csr, ROWS_AS_THEY_COME, 8, row_of, diag), diag);
    for (int64_t at = 0; at < csr->rows; at++) CHECK(row_of[at] == at, "as they come");
    expect_ok("order", row_order_of(csr, ROWS_BY_DEGREE, 8, row_of, diag), diag);
    CHECK(is_permutation(csr, row_of), "by degree: no permutation");
    for (int64_t at = 1; at < csr->rows; at++)
        CHECK(longer(csr, row_of[at - 1], row_of[at]), "by degree: row %d", (int)at);
    check_similar(csr, 8, diag);
    check_similar(csr, 16, diag);
    mc_csr_free(csr);
}

static void test_definition(mc_diag *diag) {
    static const mc_pattern patterns[] = {
        {0, 0, 0, MC_PATTERN_UNIFORM, 0, 1},       {7, 0, 0, MC_PATTERN_UNIFORM, 0, 1},
        {0, 7, 0, MC_PATTERN_UNIFORM, 0, 1},       {33, 40, 1, MC_PATTERN_UNIFORM, 0, 1},
        {65, 17, 0, MC_PATTERN_UNIFORM, 0, 1},     {1, 30, .5, MC_PATTERN_UNIFORM, 0, 1},
        {70, 1, .5, MC_PATTERN_UNIFORM, 0, 1},     {64, 64, .9, MC_PATTERN_UNIFORM, 0, 2},
        {130, 210, .99, MC_PATTERN_UNIFORM, 0, 3}, {97, 101, .8, MC_PATTERN_REALISTIC, 2, 4}};
    mc_csr csr;
    for (size_t i = 0; i < sizeof patterns / sizeof patterns[0]; i++) {
        expect_ok("generate", mc_csr_generate(&patterns[i], &csr, diag), diag);
        check_all(&csr, diag);
    }
    for (uint64_t seed = 1; seed < 4; seed++) {
        const mc_power_law power = {151, 133, 5, 2, MC_ROWS_POWER, seed};
        expect_ok("generate", mc_csr_generate_power(&power, &csr, diag), diag);
        check_all(&csr, diag);
    }
    expect_ok("generate", mc_csr_generate_mesh(&(mc_mesh){{5, 4, 3}, 2, MC_STENCIL_BOX}, &csr, diag), diag);
    check_all(&csr, diag);
}

/* Rows 0, 2, 4 and so on have one set of columns, rows 1, 3 and so on another one. */
static void test_by_hand(mc_diag *diag) {
    int64_t row_ptr[17];
    int32_t col_idx[32], row_of[16];
    for (int row = 0; row <= 16; row++) row_ptr[row] = 2 * row;
    for (int i = 0; i < 32; i++) col_idx[i] = i / 2 % 2 * 2 + i % 2;
    const mc_csr csr = {16, 4, 32, row_ptr, col_idx, MC_CSR_PATTERN, NULL, 0};
    expect_ok("order", row_order_of(&csr, ROWS_SIMILAR, 8, row_of, diag), diag);
    for (int at = 0; at < 16; at++) CHECK(row_of[at] == at % 8 * 2 + at / 8, "row %d", at);
    CHECK(row_order_columns(&csr, row_of, 8) == 4, "two columns in each panel");
}

int main(void) {
    mc_diag *diag = mc_diag_create();
    test_definition(diag);
    test_by_hand(diag);
    mc_diag_destroy(diag);
    return check_end();
}
