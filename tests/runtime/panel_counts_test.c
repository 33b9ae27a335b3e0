/* What is counted of panels in one pass, against a walk from panel to panel; and of large matrices, of which
   a part is looked at, how far off it is. */
#include <math.h>
#include "csr_checks.h"
#include "matrix/panel_counts.h"
#include "matrix/row_panels.h"
#include "matrix/unstructured.h"

static int class_of(int64_t strides) {
    int class = 0;
    for (int64_t most = 1; strides > most && class < MC_PANEL_CLASSES - 1; most *= 2) class ++;
    return class;
}

/* Active columns of panels of ROWS rows, and how many strides these have, by a walk. */
static int64_t walked(const mc_csr *csr, int rows, mc_panel_strides *of, mc_diag *diag) {
    row_panel_walk walk;
    row_panel panel;
    int64_t columns = 0;
    *of = (mc_panel_strides){0};
    expect_ok("open", row_panels_open(csr, rows, &walk, diag), diag);
    while (row_panels_next(&walk, &panel)) {
        const int64_t strides = panel.columns / 32 + (panel.columns % 32 != 0);
        columns += panel.columns;
        of->strides += strides;
        if (strides > of->longest) of->longest = strides;
        of->panels[class_of(strides)]++;
    }
    row_panels_close(&walk);
    return columns;
}

/* Of panels that are higher than a walk takes: each entry that is its column's first one in its panel. */
static int64_t first_ones(const mc_csr *csr, int rows) {
    int64_t count = 0, *seen = calloc((size_t)csr->cols + 1, sizeof *seen);
    for (int64_t row = 0; row < csr->rows; row++)
        for (int64_t i = csr->row_ptr[row]; i < csr->row_ptr[row + 1]; i++) {
            count += seen[csr->col_idx[i]] != 1 + row / rows;
            seen[csr->col_idx[i]] = 1 + row / rows;
        }
    free(seen);
    return count;
}

/* GOT is WANT but for a part of it, PART, and half a unit. */
static void expect_near(const char *what, int64_t got, int64_t want, double part) {
    CHECK(fabs((double)(got - want)) <= part * (double)want + 0.5, "%s: %lld for %lld", what, (long long)got,
          (long long)want);
}

/* Columns from the first to the last one of so many ROWS neighbouring rows, at most. */
static int64_t widest_of(const mc_csr *csr, int rows) {
    int64_t widest = 0;
    for (int64_t first = 0; first < csr->rows; first++) {
        const int64_t end = first + rows < csr->rows ? first + rows : csr->rows;
        int64_t least = csr->cols, most = -1;
        for (int64_t i = csr->row_ptr[first]; i < csr->row_ptr[end]; i++) {
            if (csr->col_idx[i] < least) least = csr->col_idx[i];
            if (csr->col_idx[i] > most) most = csr->col_idx[i];
        }
        if (most - least + 1 > widest) widest = most - least + 1;
    }
    return widest;
}

static void check_counts(const char *what, mc_csr *csr, double part, mc_diag *diag) {
    mc_vsparse a;
    mc_row_panels counts;
    mc_panel_strides of;
    expect_ok("dilate", mc_vsparse_dilate(csr, 1, MC_F16, &a, diag), diag);
    panel_counts_of(&a, &counts);
    for (int h = 0; h < MC_PANEL_HEIGHTS; h++) {
        const int rows = 8 << h;
        const int64_t columns =
            rows <= ROW_PANEL_MOST_ROWS ? walked(csr, rows, &of, diag) : first_ones(csr, rows);
        expect_near(what, counts.columns[h], columns, part);
        if (h >= MC_PANEL_FORMS) continue;
        expect_near(what, counts.of[h].strides, of.strides, part);
        expect_near(what, counts.of[h].longest, of.longest, part);
        int64_t panels = 0;
        for (int i = 0; i < MC_PANEL_CLASSES; i++) {
            if (part <= 0) expect_near(what, counts.of[h].panels[i], of.panels[i], 0);
            panels += counts.of[h].panels[i];
        }
        CHECK(panels == csr->rows / rows + (csr->rows % rows != 0), "%s: %lld panels", what,
              (long long)panels);
    }
    const mc_problem problem = mc_problem_of(&a, 1, 1);
    if (csr->rows < 3000)
        CHECK(problem.span >= widest_of(csr, 32) && problem.span <= widest_of(csr, 64), "%s: a span of %lld",
              what, (long long)problem.span);
    CHECK(memcmp(&problem.panels, &counts, sizeof counts) == 0, "%s: as a problem has it", what);
    mc_vsparse_free(&a);
    mc_csr_free(csr);
}

static void test_all(mc_diag *diag) {
    static const mc_pattern patterns[] = {
        {9, 2, 0, MC_PATTERN_UNIFORM, 0, 1},       {33, 40, .98, MC_PATTERN_UNIFORM, 0, 1},
        {65, 17, 0, MC_PATTERN_UNIFORM, 0, 1},     {1, 3000, .1, MC_PATTERN_UNIFORM, 0, 1},
        {300, 1, .5, MC_PATTERN_UNIFORM, 0, 1},    {128, 64, .9, MC_PATTERN_UNIFORM, 0, 2},
        {130, 210, .99, MC_PATTERN_UNIFORM, 0, 3}, {597, 401, .8, MC_PATTERN_REALISTIC, 2, 4}};
    mc_csr csr;
    for (size_t i = 0; i < sizeof patterns / sizeof patterns[0]; i++) {
        expect_ok("generate", mc_csr_generate(&patterns[i], &csr, diag), diag);
        check_counts("pattern", &csr, 0, diag);
    }
    for (uint64_t seed = 1; seed < 6; seed++) {
        const mc_power_law power = {2010, 3033, 5, 2, MC_ROWS_POWER, seed};
        expect_ok("generate", mc_csr_generate_power(&power, &csr, diag), diag);
        check_counts("power", &csr, 0, diag);
    }
    expect_ok("generate", mc_csr_generate_mesh(&(mc_mesh){{15, 4, 13}, 3, MC_STENCIL_BOX}, &csr, diag), diag);
    check_counts("mesh", &csr, 0, diag);
}

/* Two to ten times as many nonzeros as are looked at. */
static void test_part(mc_diag *diag) {
    mc_csr csr;
    const mc_power_law power = {90000, 90000, 12, 2.3, MC_ROWS_POWER, 3};
    expect_ok("generate", mc_csr_generate_power(&power, &csr, diag), diag);
    CHECK(csr.nnz > 2 * PANEL_COUNTS_MOST, "%lld nonzeros", (long long)csr.nnz);
    check_counts("large power", &csr, 0.03, diag);
    expect_ok("generate", mc_csr_generate_mesh(&(mc_mesh){{31, 30, 40}, 1, MC_STENCIL_BOX}, &csr, diag),
              diag);
    check_counts("large mesh", &csr, 0.06, diag);
    const mc_heavy_row heavy = {20000, 900000, 20, 5};
    expect_ok("generate", mc_csr_generate_heavy(&heavy, &csr, diag), diag);
    check_counts("large heavy", &csr, 0.03, diag);
}

/* Eight rows share their columns, but for one with many more, in panels that are not looked at: they are as
   long as it is. */
static void test_long_row(mc_diag *diag) {
    enum { ROWS = 40000, COLS = 80000, EACH = 16, LONG = 20000, LONG_ROW = 133 };
    mc_csr csr = {.rows = ROWS, .cols = COLS, .nnz = (ROWS - 1) * EACH + LONG};
    csr.row_ptr = calloc(ROWS + 1, sizeof *csr.row_ptr);
    csr.col_idx = calloc((size_t)csr.nnz, sizeof *csr.col_idx);
    for (int64_t row = 0, at = 0; row < ROWS; row++) {
        const int64_t length = row == LONG_ROW ? LONG : EACH, from = row == LONG_ROW ? 0 : row / 8 * EACH;
        for (int64_t i = 0; i < length; i++) csr.col_idx[at++] = (int32_t)(from + i);
        csr.row_ptr[row + 1] = at;
    }
    CHECK(csr.nnz > 2 * PANEL_COUNTS_MOST, "%lld nonzeros", (long long)csr.nnz);
    check_counts("a long row", &csr, 0.2, diag);
}

/* Nothing of other vectors, of no nonzeros, and of columns that are elsewhere. */
static void test_none(void) {
    static const mc_row_panels none = {0};
    int64_t row_ptr[] = {0, 2, 3};
    int32_t col_idx[] = {0, 2, 2};
    const mc_vsparse a = {.type = MC_F16,
                          .vec = 1,
                          .rows = 2,
                          .cols = 3,
                          .row_blocks = 2,
                          .vectors = 3,
                          .row_ptr = row_ptr,
                          .col_idx = col_idx};
    mc_vsparse other = a;
    mc_row_panels counts;
    panel_counts_of(&a, &counts);
    CHECK(counts.columns[0] == 2 && counts.of[1].strides == 1 && counts.of[1].panels[0] == 1, "by hand");
    CHECK(column_span_of(&a) == 3, "a span of %lld", (long long)column_span_of(&a));
    other.vec = 2, other.rows = 4;
    panel_counts_of(&other, &counts);
    CHECK(memcmp(&counts, &none, sizeof none) == 0 && column_span_of(&other) == 0, "vectors of 2");
    other = a, other.col_idx = NULL;
    panel_counts_of(&other, &counts);
    CHECK(memcmp(&counts, &none, sizeof none) == 0 && column_span_of(&other) == 0, "no columns");
    other = (mc_vsparse){.vec = 1};
    panel_counts_of(&other, &counts);
    CHECK(memcmp(&counts, &none, sizeof none) == 0 && column_span_of(&other) == 0, "nothing");
}

int main(void) {
    mc_diag *diag = mc_diag_create();
    test_all(diag);
    test_part(diag);
    test_long_row(diag);
    test_none();
    mc_diag_destroy(diag);
    return check_end();
}
