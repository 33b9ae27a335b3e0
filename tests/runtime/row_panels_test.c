/* Row panels against their plain definition, entry by entry, on small matrices of many kinds; facts that were
   counted by hand; what is refused. */
#include <math.h>
#include "csr_checks.h"
#include "matrix/row_panels.h"
#include "matrix/unstructured.h"

/* Whether each entry is there. */
typedef struct table {
    int64_t rows, cols;
    bool *there;
} table;

static table table_of(const mc_csr *csr) {
    table t = {csr->rows, csr->cols, calloc((size_t)(csr->rows * csr->cols + 1), sizeof(bool))};
    for (int64_t row = 0; row < csr->rows; row++)
        for (int64_t i = csr->row_ptr[row]; i < csr->row_ptr[row + 1]; i++)
            t.there[row * t.cols + csr->col_idx[i]] = true;
    return t;
}

/* The rows of COL from FIRST on, ROWS of them if there are so many. */
static uint64_t mask_of(const table *t, int64_t first, int rows, int64_t col) {
    uint64_t mask = 0;
    for (int r = 0; r < rows && first + r < t->rows; r++)
        if (t->there[(first + r) * t->cols + col]) mask |= (uint64_t)1 << r;
    return mask;
}

static void check_panel(const table *t, int rows, const row_panel *panel) {
    int64_t at = 0, wrong = 0, nonzeros = 0;
    for (int64_t col = 0; col < t->cols; col++) {
        const uint64_t mask = mask_of(t, panel->first_row, rows, col);
        if (mask == 0) continue;
        wrong += at >= panel->columns || panel->column[at] != col || panel->row_mask[at] != mask;
        nonzeros += __builtin_popcountll(mask);
        at++;
    }
    CHECK(wrong == 0 && at == panel->columns && nonzeros == panel->nonzeros,
          "panel of %d rows at %d: %d columns wrong, %d for %d", rows, (int)panel->first_row, (int)wrong,
          (int)panel->columns, (int)at);
}

static void check_walk(const mc_csr *csr, const table *t, int rows, mc_diag *diag) {
    row_panel_walk walk;
    row_panel panel;
    int64_t row = 0, columns = 0, most = 0, count = 0;
    expect_ok("open", row_panels_open(csr, rows, &walk, diag), diag);
    for (; row_panels_next(&walk, &panel); row += panel.rows, count++) {
        CHECK(panel.first_row == row && panel.rows == (rows < t->rows - row ? rows : t->rows - row), "rows");
        check_panel(t, rows, &panel);
        columns += panel.columns;
        most = panel.columns > most ? panel.columns : most;
    }
    CHECK(row == t->rows, "the walk ends at row %d of %d", (int)row, (int)t->rows);
    row_panels_close(&walk);
    row_panel_facts facts;
    expect_ok("facts", row_panel_facts_of(csr, rows, &facts, diag), diag);
    CHECK(facts.panels == count && facts.columns == columns && facts.most_columns == most, "facts");
    CHECK(facts.reuse == (columns > 0 ? (double)csr->nnz / (double)columns : 0), "reuse %g", facts.reuse);
}

/* HRPB as section 3.2 has it: active columns to the left, and then tiles of what is left there. */
static void check_hrpb(const mc_csr *csr, const table *t, int rows, mc_diag *diag) {
    enum { MOST_COLS = 512 };
    hrpb_facts facts, want = {0};
    for (int64_t first = 0; first < t->rows; first += rows) {
        uint64_t packed[MOST_COLS + 16] = {0};
        int64_t active = 0, blocks;
        for (int64_t col = 0; col < t->cols; col++)
            if ((packed[active] = mask_of(t, first, rows, col)) != 0) active++;
        for (int64_t col = 0; col < active; col += 4) {
            want.brick_columns++;
            for (int r = 0; r < rows; r += 16) {
                uint64_t brick = (packed[col] | packed[col + 1] | packed[col + 2] | packed[col + 3]) >> r;
                want.bricks += (brick & 0xffff) != 0;
            }
        }
        blocks = active / 16 + (active % 16 != 0);
        want.panels++, want.blocks += blocks;
        want.most_blocks = blocks > want.most_blocks ? blocks : want.most_blocks;
    }
    expect_ok("hrpb", hrpb_facts_of(csr, rows, &facts, diag), diag);
    CHECK(facts.panels == want.panels && facts.blocks == want.blocks &&
              facts.most_blocks == want.most_blocks && facts.bricks == want.bricks &&
              facts.brick_columns == want.brick_columns,
          "%d rows: %d bricks in %d columns, want %d in %d", rows, (int)facts.bricks,
          (int)facts.brick_columns, (int)want.bricks, (int)want.brick_columns);
    if (want.bricks == 0) return;
    CHECK(facts.alpha == (double)csr->nnz / (64.0 * (double)want.bricks), "alpha %g", facts.alpha);
    CHECK(facts.beta == (double)want.bricks / (double)want.brick_columns, "beta %g", facts.beta);
    CHECK(rows > 16 || (facts.beta == 1 && fabs(facts.intensity - 512 * facts.alpha) < 1e-9), "OI %g",
          facts.intensity);
}

static void check_all(mc_csr *csr, mc_diag *diag) {
    table t = table_of(csr);
    static const int rows[] = {1, 2, 3, 8, 16, 31, 32, 63, 64};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) check_walk(csr, &t, rows[i], diag);
    for (int tile = 16; tile <= 64; tile += 16) check_hrpb(csr, &t, tile, diag);
    free(t.there);
    mc_csr_free(csr);
}

static void test_definition(mc_diag *diag) {
    static const mc_pattern patterns[] = {
        {0, 0, 0, MC_PATTERN_UNIFORM, 0, 1},       {7, 0, 0, MC_PATTERN_UNIFORM, 0, 1},
        {0, 7, 0, MC_PATTERN_UNIFORM, 0, 1},       {33, 40, 1, MC_PATTERN_UNIFORM, 0, 1},
        {65, 17, 0, MC_PATTERN_UNIFORM, 0, 1},     {1, 300, .5, MC_PATTERN_UNIFORM, 0, 1},
        {300, 1, .5, MC_PATTERN_UNIFORM, 0, 1},    {64, 64, .9, MC_PATTERN_UNIFORM, 0, 2},
        {130, 210, .99, MC_PATTERN_UNIFORM, 0, 3}, {97, 101, .8, MC_PATTERN_REALISTIC, 2, 4}};
    mc_csr csr;
    for (size_t i = 0; i < sizeof patterns / sizeof patterns[0]; i++) {
        expect_ok("generate", mc_csr_generate(&patterns[i], &csr, diag), diag);
        check_all(&csr, diag);
    }
    for (uint64_t seed = 1; seed < 6; seed++) {
        const mc_power_law power = {201, 333, 5, 2, MC_ROWS_POWER, seed};
        expect_ok("generate", mc_csr_generate_power(&power, &csr, diag), diag);
        check_all(&csr, diag);
    }
    expect_ok("generate", mc_csr_generate_mesh(&(mc_mesh){{5, 4, 3}, 3, MC_STENCIL_BOX}, &csr, diag), diag);
    check_all(&csr, diag);
}

/* Rows 0 and 1 share columns 1 and 5, row 17 has 5 alone, row 20 what nobody has. */
static void test_by_hand(mc_diag *diag) {
    int64_t row_ptr[] = {0, 2, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 6, 6, 6, 9};
    int32_t col_idx[] = {1, 5, 1, 5, 7, 5, 0, 2, 9};
    const mc_csr csr = {21, 10, 9, row_ptr, col_idx, MC_CSR_PATTERN, NULL, 0};
    row_panel_facts panels;
    hrpb_facts hrpb;
    expect_ok("panels", row_panel_facts_of(&csr, 16, &panels, diag), diag);
    CHECK(panels.panels == 2 && panels.columns == 3 + 4 && panels.most_columns == 4, "panels");
    CHECK(fabs(panels.reuse - 9. / 7) < 1e-12, "%g", panels.reuse);
    expect_ok("hrpb", hrpb_facts_of(&csr, 16, &hrpb, diag), diag);
    CHECK(hrpb.bricks == 2 && hrpb.blocks == 2 && hrpb.alpha == 9 / 128. && hrpb.beta == 1, "16 rows");
    CHECK(fabs(hrpb.intensity - 36) < 1e-12 && hrpb.synergy == HRPB_LOW, "%g", hrpb.intensity);
    /* Both panels together have columns 0, 1, 2, 5 and 7, 9: of the first four both bricks have nonzeros, and
       of the others, too. */
    expect_ok("hrpb", hrpb_facts_of(&csr, 32, &hrpb, diag), diag);
    CHECK(hrpb.bricks == 4 && hrpb.brick_columns == 2 && hrpb.blocks == 1 && hrpb.beta == 2, "32 rows");
    CHECK(fabs(hrpb.intensity - 1024 * (9 / 256.) * 2 / 3) < 1e-12, "%g", hrpb.intensity);
}

/* Bricks with 1 to 16 nonzeros a column: which synergy that is. */
static void test_synergy(mc_diag *diag) {
    for (int rows = 1; rows <= 16; rows++) {
        const mc_pattern full = {rows, 8, 0, MC_PATTERN_UNIFORM, 0, 1};
        mc_csr csr;
        hrpb_facts facts;
        expect_ok("generate", mc_csr_generate(&full, &csr, diag), diag);
        expect_ok("hrpb", hrpb_facts_of(&csr, 16, &facts, diag), diag);
        CHECK(facts.alpha == rows / 16., "%g", facts.alpha);
        CHECK(facts.synergy == (rows < 2 ? HRPB_LOW : rows < 4 ? HRPB_MEDIUM : HRPB_HIGH), "%d rows", rows);
        mc_csr_free(&csr);
    }
}

/* The paper's example, of section 5: 991 panels, 10 blocks in one and one in each of the others, 10 waves. */
static void test_parts(void) {
    const double mean = 1000. / 991;
    CHECK(hrpb_parts(10, mean, 10) == 1 && hrpb_parts(1, mean, 10) == 1, "10 waves");
    CHECK(hrpb_parts(10, mean, 2) == 5 && hrpb_parts(10, mean, 1) == 10, "fewer waves");
    CHECK(hrpb_parts(10, mean, .01) == 10 && hrpb_parts(0, 0, 1) == 1, "as many as there are blocks");
    CHECK(hrpb_parts(11, 5, 2) == 2, "rounded up");
}

static void test_refused(mc_diag *diag) {
    mc_csr csr = {0};
    row_panel_walk walk;
    row_panel_facts panels;
    hrpb_facts hrpb;
    expect_failure("0", row_panels_open(&csr, 0, &walk, diag), MC_USAGE, diag,
                   "panels of 0 rows: must be 1 to 64");
    row_panels_close(&walk);
    expect_failure("65", row_panel_facts_of(&csr, 65, &panels, diag), MC_USAGE, diag, "panels of 65 rows");
    expect_failure("24", hrpb_facts_of(&csr, 24, &hrpb, diag), MC_USAGE, diag, "must be a multiple of 16");
    expect_failure("80", hrpb_facts_of(&csr, 80, &hrpb, diag), MC_USAGE, diag, "must be 1 to 64");
}

int main(void) {
    mc_diag *diag = mc_diag_create();
    test_definition(diag);
    test_by_hand(diag);
    test_synergy(diag);
    test_parts();
    test_refused(diag);
    mc_diag_destroy(diag);
    return check_end();
}
