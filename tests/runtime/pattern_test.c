/* The generator: the same matrix everywhere (literal checksums), well-formed, and of the asked statistics. */
#include <math.h>
#include "csr_checks.h"

static const struct {
    mc_pattern pattern;
    uint64_t checksum;
} cases[] = {
    {{64, 96, .75, MC_PATTERN_UNIFORM, 0, 1}, 0x82c37f1e31ba4b8au},
    {{64, 96, .75, MC_PATTERN_UNIFORM, 0, 2}, 0xf0f0e1b712a6a483u},
    {{64, 96, .75, MC_PATTERN_REALISTIC, .3, 1}, 0x29507f7a3553f150u},
    {{64, 96, .3, MC_PATTERN_REALISTIC, .3, 1}, 0x52ee4be7c114b90cu},
    {{1000, 3000, .98, MC_PATTERN_REALISTIC, .4, 7}, 0x48c285ae2cd45088u},
    {{10, 10, 0, MC_PATTERN_UNIFORM, 0, 1}, 0x4ee294ecd2ab9f6bu},
};

static void test_checksums(mc_diag *diag) {
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        mc_csr csr;
        expect_ok("generate", mc_csr_generate(&cases[i].pattern, &csr, diag), diag);
        CHECK(csr_checksum(&csr) == cases[i].checksum, "case %zu: 0x%016llx", i,
              (unsigned long long)csr_checksum(&csr));
        mc_csr_free(&csr);
    }
}

static double row_cv(const mc_csr *csr) {
    double mean = (double)csr->nnz / (double)csr->rows, squares = 0;
    for (int64_t row = 0; row < csr->rows; row++) {
        double off = (double)(csr->row_ptr[row + 1] - csr->row_ptr[row]) - mean;
        squares += off * off;
    }
    return sqrt(squares / (double)csr->rows) / mean;
}

/* Of the columns' occupations: binomial alone, or with the shared preference on top. */
static double col_cv(const mc_csr *csr) {
    double mean = (double)csr->nnz / (double)csr->cols, squares = 0;
    int64_t *count = calloc((size_t)csr->cols, sizeof *count);
    for (int64_t i = 0; i < csr->nnz; i++) count[csr->col_idx[i]]++;
    for (int64_t col = 0; col < csr->cols; col++)
        squares += ((double)count[col] - mean) * ((double)count[col] - mean);
    free(count);
    return sqrt(squares / (double)csr->cols) / mean;
}

static const struct {
    mc_pattern pattern;
    double row_cv, row_cv_tolerance, col_cv_least, col_cv_most;
} statistics[] = {
    {{2000, 2000, .7, MC_PATTERN_UNIFORM, 0, 11}, .034, .005, .02, .05},
    {{2000, 2000, .98, MC_PATTERN_UNIFORM, 0, 12}, .157, .02, .1, .2},
    {{2000, 2000, .9, MC_PATTERN_REALISTIC, 0, 13}, 0, .01, .2, .4},
    {{2000, 2000, .9, MC_PATTERN_REALISTIC, .3, 14}, .3, .03, .2, .4},
    {{2000, 2000, .98, MC_PATTERN_REALISTIC, .4, 15}, .4, .04, .2, .4},
    {{2000, 2000, .7, MC_PATTERN_REALISTIC, .2, 16}, .2, .02, .15, .4},
    {{2000, 2000, .3, MC_PATTERN_REALISTIC, .1, 17}, .1, .02, .05, .3},
};

static void test_statistics(mc_diag *diag) {
    for (size_t i = 0; i < sizeof statistics / sizeof statistics[0]; i++) {
        const mc_pattern *p = &statistics[i].pattern;
        mc_csr csr;
        expect_ok("generate", mc_csr_generate(p, &csr, diag), diag);
        CHECK(well_formed(&csr), "case %zu", i);
        double sparsity = 1 - (double)csr.nnz / (double)(csr.rows * csr.cols);
        CHECK(fabs(sparsity - p->sparsity) < .002, "case %zu: sparsity %g", i, sparsity);
        CHECK(fabs(row_cv(&csr) - statistics[i].row_cv) < statistics[i].row_cv_tolerance, "case %zu: %g", i,
              row_cv(&csr));
        CHECK(col_cv(&csr) > statistics[i].col_cv_least && col_cv(&csr) < statistics[i].col_cv_most,
              "case %zu: %g", i, col_cv(&csr));
        mc_csr_free(&csr);
    }
}

/* A row's columns from FIRST on, before END: how many there are. */
static int64_t kept_in(const mc_csr *csr, int64_t row, int64_t first, int64_t end) {
    int64_t count = 0;
    for (int64_t i = csr->row_ptr[row]; i < csr->row_ptr[row + 1]; i++)
        count += csr->col_idx[i] >= first && csr->col_idx[i] < end;
    return count;
}

/* The band is whole, and cut off at the ends; what is outside of it is spread evenly over both sides. */
static void test_band(mc_diag *diag) {
    enum { LENGTH = 4096, VEC = 8, BLOCKS = LENGTH / VEC, BAND = 256, HALF = BAND / 2 };
    const mc_banded p = {BLOCKS, LENGTH, .9, BAND, 5, 0};
    mc_csr csr;
    int64_t left = 0, right = 0;
    expect_ok("generate", mc_csr_generate_banded(&p, &csr, diag), diag);
    CHECK(well_formed(&csr) && csr_checksum(&csr) == 0xa76e9cac577126dbu, "0x%016llx",
          (unsigned long long)csr_checksum(&csr));
    for (int64_t b = 0; b < BLOCKS; b++) {
        int64_t middle = VEC * b + VEC / 2, first = middle > HALF ? middle - HALF : 0,
                end = middle + HALF < LENGTH ? middle + HALF : LENGTH;
        CHECK(kept_in(&csr, b, first, end) == end - first, "row block %lld", (long long)b);
        left += kept_in(&csr, b, 0, first), right += kept_in(&csr, b, end, LENGTH);
    }
    CHECK(fabs((double)left / (double)right - 1) < .03, "%lld and %lld", (long long)left, (long long)right);
    CHECK(fabs(1 - (double)csr.nnz / LENGTH / BLOCKS - .9) < .001, "%lld", (long long)csr.nnz);
    mc_csr_free(&csr);
}

/* Of the band a part, and nothing else. */
static void test_band_fill(mc_diag *diag) {
    enum { ROWS = 3000, BAND = 40, HALF = BAND / 2 };
    const mc_banded p = {ROWS, ROWS, NAN, BAND, 5, .3};
    mc_csr csr;
    int64_t inside = 0;
    expect_ok("generate", mc_csr_generate_banded(&p, &csr, diag), diag);
    for (int64_t row = 0; row < ROWS; row++)
        inside += kept_in(&csr, row, row > HALF ? row - HALF : 0, row + HALF < ROWS ? row + HALF : ROWS);
    CHECK(well_formed(&csr) && inside == csr.nnz, "%lld of %lld", (long long)inside, (long long)csr.nnz);
    CHECK(fabs((double)csr.nnz / ROWS / BAND - .3) < .005, "%lld", (long long)csr.nnz);
    CHECK(csr_checksum(&csr) == 0x81747589b351dc42u, "0x%016llx", (unsigned long long)csr_checksum(&csr));
    mc_csr_free(&csr);
}

/* Neighbours that count as one are there together, but where the row ends between them. */
static void test_pairs(mc_diag *diag) {
    enum { ROWS = 200, COLS = 405, OF = 8 };
    const mc_grouped p = {ROWS, COLS, 2, OF / 2, 7, 2};
    mc_csr csr;
    expect_ok("generate", mc_csr_generate_grouped(&p, &csr, diag), diag);
    CHECK(well_formed(&csr), "columns");
    for (int64_t row = 0; row < ROWS; row++) {
        for (int64_t first = 0; first + OF <= COLS; first += OF)
            CHECK(kept_in(&csr, row, first, first + OF) == OF / 2, "row %d, column %d", (int)row, (int)first);
        for (int64_t first = 0; first + 1 < COLS; first += 2)
            CHECK(kept_in(&csr, row, first, first + 2) != 1, "row %d, column %d", (int)row, (int)first);
    }
    mc_csr_free(&csr);
}

/* Whole groups keep what they should, each place alike often; the last one, cut off, at most that. */
static void test_groups(mc_diag *diag) {
    enum { ROWS = 200, COLS = 402, KEPT = 2, OF = 4 };
    const mc_grouped p = {ROWS, COLS, KEPT, OF, 7, 1}, full = {3, 9, 4, 4, 1, 0}, wrong = {3, 9, 5, 4, 1, 0};
    int64_t at[OF] = {0};
    mc_csr csr;
    expect_ok("generate", mc_csr_generate_grouped(&p, &csr, diag), diag);
    CHECK(well_formed(&csr), "columns");
    for (int64_t row = 0; row < ROWS; row++) {
        for (int64_t first = 0; first + OF <= COLS; first += OF)
            CHECK(kept_in(&csr, row, first, first + OF) == KEPT, "row %d, column %d", (int)row, (int)first);
        CHECK(kept_in(&csr, row, COLS - COLS % OF, COLS) <= KEPT, "row %d", (int)row);
    }
    for (int64_t i = 0; i < csr.nnz; i++) at[csr.col_idx[i] % OF]++;
    for (int i = 0; i < OF; i++) CHECK(at[i] > 9500 && at[i] < 10500, "place %d: %d", i, (int)at[i]);
    mc_csr_free(&csr);
    expect_ok("generate", mc_csr_generate_grouped(&full, &csr, diag), diag);
    CHECK(csr.nnz == 27, "%lld", (long long)csr.nnz);
    mc_csr_free(&csr);
    test_pairs(diag);
    CHECK(mc_csr_generate_grouped(&wrong, &csr, diag) == MC_USAGE, "5 of 4");
    mc_diag_clear(diag);
}

static void test_band_limits(mc_diag *diag) {
    static const struct {
        mc_banded pattern;
        int64_t nnz;
    } limits[] = {{{50, 70, 0, 8, 1, 0}, 3500}, {{50, 70, 1, 0, 1, 0}, 0},  {{50, 70, 0, 70, 1, 0}, 3500},
                  {{0, 70, .5, 8, 1, 0}, 0},    {{50, 0, .5, 0, 1, 0}, 0},  {{4, 32, .75, 8, 1, 0}, 32},
                  {{1, 64, .75, 16, 1, 0}, 16}, {{3, 64, 0, 1, 1, 0}, 192}, {{3, 64, NAN, 16, 1, 1}, 48}};
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        mc_csr csr;
        expect_ok("generate", mc_csr_generate_banded(&limits[i].pattern, &csr, diag), diag);
        CHECK(csr.nnz == limits[i].nnz && well_formed(&csr), "case %zu: %lld", i, (long long)csr.nnz);
        mc_csr_free(&csr);
    }
}

static void test_limits(mc_diag *diag) {
    static const struct {
        mc_pattern pattern;
        int64_t nnz;
    } limits[] = {
        {{50, 70, 0, MC_PATTERN_UNIFORM, 0, 1}, 3500},    {{50, 70, 0, MC_PATTERN_REALISTIC, .4, 1}, 3500},
        {{50, 70, 1, MC_PATTERN_UNIFORM, 0, 1}, 0},       {{50, 70, 1, MC_PATTERN_REALISTIC, .4, 1}, 0},
        {{0, 70, .5, MC_PATTERN_UNIFORM, 0, 1}, 0},       {{0, 70, .5, MC_PATTERN_REALISTIC, .4, 1}, 0},
        {{50, 0, .5, MC_PATTERN_UNIFORM, 0, 1}, 0},       {{50, 0, .5, MC_PATTERN_REALISTIC, .4, 1}, 0},
        {{3, 64, 0, MC_PATTERN_REALISTIC, 4, 1}, 192},    {{3, 1, 0, MC_PATTERN_REALISTIC, 0, 1}, 3},
        {{2, INT32_MAX, 1, MC_PATTERN_UNIFORM, 0, 1}, 0},
    };
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        mc_csr csr;
        expect_ok("generate", mc_csr_generate(&limits[i].pattern, &csr, diag), diag);
        CHECK(csr.nnz == limits[i].nnz && well_formed(&csr), "case %zu: %lld", i, (long long)csr.nnz);
        mc_csr_free(&csr);
    }
}

static void test_refused(mc_diag *diag) {
    static const struct {
        mc_pattern pattern;
        const char *message;
    } refused[] = {
        {{-1, 5, .5, MC_PATTERN_UNIFORM, 0, 1}, "a pattern of -1 x 5"},
        {{5, -1, .5, MC_PATTERN_UNIFORM, 0, 1}, "a pattern of 5 x -1"},
        {{5, (int64_t)INT32_MAX + 1, .5, MC_PATTERN_UNIFORM, 0, 1}, "a pattern of 5 x 2147483648"},
        {{5, 5, 1.5, MC_PATTERN_UNIFORM, 0, 1}, "sparsity is 1.5, must be 0 to 1"},
        {{5, 5, NAN, MC_PATTERN_UNIFORM, 0, 1}, "sparsity is nan"},
        {{5, 5, .5, MC_PATTERN_REALISTIC, -1, 1}, "coefficient of variation is -1"},
        {{5, 5, .5, MC_PATTERN_REALISTIC, INFINITY, 1}, "coefficient of variation is inf"},
    };
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        mc_csr csr;
        mc_status status = mc_csr_generate(&refused[i].pattern, &csr, diag);
        expect_failure("generate", status, MC_USAGE, diag, refused[i].message);
    }
}

static void test_band_refused(mc_diag *diag) {
    static const struct {
        mc_banded pattern;
        const char *message;
    } refused[] = {{{5, 5, .5, -1, 1, 0}, "a band of -1 columns: must be 0 to the 5 there are"},
                   {{5, 5, .5, 6, 1, 0}, "a band of 6 columns"},
                   {{5, -1, .5, 0, 1, 0}, "a pattern of 5 x -1"},
                   {{5, 5, NAN, 0, 1, 0}, "sparsity is nan"},
                   {{5, 5, 0, 2, 1, 1.5}, "the fill is 1.5, must be 0 to 1"},
                   {{5, 5, 0, 2, 1, NAN}, "the fill is nan"},
                   {{4, 32, .9, 8, 1, 0}, "sparsity is 0.9: a band of 8 columns leaves 0.75 at most"}};
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        mc_csr csr;
        mc_status status = mc_csr_generate_banded(&refused[i].pattern, &csr, diag);
        expect_failure("generate", status, MC_USAGE, diag, refused[i].message);
    }
}

int main(void) {
    mc_diag *diag = mc_diag_create();
    test_checksums(diag);
    test_statistics(diag);
    test_band(diag);
    test_band_fill(diag);
    test_groups(diag);
    test_band_limits(diag);
    test_band_refused(diag);
    test_limits(diag);
    test_refused(diag);
    mc_diag_destroy(diag);
    return check_end();
}
