/* .smtx: what is accepted, what each malformed file is told, and the way out and back. */
#include "scratch.h"

typedef struct good_case {
    const char *text;
    int64_t rows, cols, nnz;
} good_case;

/* All describe rows {0, 2}, {}, {1} where there are three nonzeros. */
static const good_case good[] = {
    {"3, 4, 3\n0 2 2 3\n0 2 1\n", 3, 4, 3},
    {"3, 4, 3\n0 2 2 3\n0 2 1", 3, 4, 3},
    {"3, 4, 3\r\n0 2 2 3\r\n0 2 1\r\n", 3, 4, 3},
    {"3 4 3\n0 2 2 3\n0 2 1\n", 3, 4, 3},
    {"3,4,3 \n0 2\n2 3 \n\n0\t2 1 \n\n", 3, 4, 3},
    {"0, 0, 0\n0\n\n", 0, 0, 0},
    {"0, 5, 0\n0\n", 0, 5, 0},
    {"2, 0, 0\n0 0 0", 2, 0, 0},
    {"1, 2147483647, 1\n0 1\n2147483646\n", 1, INT32_MAX, 1},
};

static void test_good(mc_diag *diag) {
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        const good_case *c = &good[i];
        const char *path = scratch_write("good.smtx", c->text, strlen(c->text));
        mc_csr csr;
        expect_ok(c->text, mc_csr_read(path, &csr, diag), diag);
        CHECK(csr.rows == c->rows && csr.cols == c->cols && csr.nnz == c->nnz, "%s", c->text);
        if (c->nnz == 3 && csr.nnz == 3) {
            static const int64_t row_ptr[] = {0, 2, 2, 3};
            static const int32_t col_idx[] = {0, 2, 1};
            mc_csr want = {3, 4, 3, (int64_t *)row_ptr, (int32_t *)col_idx, MC_CSR_PATTERN, NULL, 0};
            CHECK(same_csr(&csr, &want), "%s", c->text);
        }
        mc_csr_free(&csr);
        unlink(path);
    }
}

/* SIZE 0: strlen. */
static const struct {
    const char *text, *message;
    size_t size;
} bad[] = {
    {"", ":1: the file is empty", 0},
    {"\n", ":1: the line ends where the number of rows must be", 0},
    {"3", ":1: the file ends where the number of columns must be", 0},
    {"3, 4\n0 2 2 3\n0 2 1\n", ":1: the line ends where the number of nonzeros must be", 0},
    {"3, 4, 3, 9\n0 2 2 3\n0 2 1\n", ":1: ',' after the header", 0},
    {"3, 4, 3 0\n2 2 3 0 2 1\n", ":1: '0' after the header", 0},
    {"3,, 4, 3\n0 2 2 3\n0 2 1\n", ":1: the number of columns must be a whole number, not ','", 0},
    {"-3, 4, 3\n0 2 2 3\n0 2 1\n", ":1: the number of rows is negative: '-3'", 0},
    {"3, 4, x\n", ":1: the number of nonzeros must be a whole number, not 'x'", 0},
    {"3, 4, 3.0\n", ":1: the number of nonzeros must be a whole number, not '3.0'", 0},
    {"3, 2147483648, 3\n0 2 2 3\n0 2 1\n", ":1: the number of columns is out of range: '2147483648'", 0},
    {"99999999999999999999, 4, 3\n", ":1: the number of rows is out of range: '99999999999999999999", 0},
    {"3, 4, 4000000000\n0 2 2 3\n0 2 1\n", ":1: the header claims 3 rows and 4000000000 nonzeros", 0},
    {"4000000000, 4, 3\n0 2 2 3\n0 2 1\n", "claims 4000000000 rows and 3 nonzeros, the file has room", 0},
    {"9223372036854775807, 4, 9223372036854775807\n0\n", "the file has room for", 0},
    {"1, 2, 3\n0 3\n0 1 1\n", ":1: the header claims 3 nonzeros in 1 x 2 elements", 0},
    {"3, 4, 3\n1 2 2 3\n0 2 1\n", ":2: the first row offset is 1, must be 0", 0},
    {"3, 4, 3\n0 2 1 3\n0 2 1\n", ":2: row offset 1 of row 2 is below the one before, 2", 0},
    {"3, 4, 3\n0 2 2 2\n0 2 1\n", ":2: the last row offset is 2, the header claims 3 nonzeros", 0},
    {"3, 4, 3\n0 2 2 4\n0 2 1\n", ":2: a row offset is out of range: '4' is not in 0 to 3", 0},
    {"3, 4, 3\n0 2 -2 3\n0 2 1\n", ":2: a row offset is negative: '-2'", 0},
    {"3, 4, 3\n0 2 2 3\n0 4 1\n", ":3: a column index is out of range: '4' is not in 0 to 3", 0},
    {"3, 4, 3\n0 2 2 3\n2 0 1\n", ":3: column 0 of row 0 comes after column 2", 0},
    {"3, 4, 3\n0 2 2 3\n2 2 1\n", ":3: column 2 occurs twice in row 0", 0},
    {"3, 4, 3\n0 2 2 3\n0 2 \n  \n", ":5: the file ends where a column index must be", 0},
    {"3, 4, 3\n0 2 2 3\n0 2 1 7\n", ":3: '7' after the last column index", 0},
    {"3, 4, 3\n0 2 2 3\n0 2 1\nend", ":4: 'end' after the last column index", 0},
    {"3, 4, 3\n0 2 2 3\n0,2,1\n", ":3: a column index must be a whole number, not ','", 0},
    {"3, 4, 3\n0 2 2 3\n0 0x2 1\n", ":3: a column index must be a whole number, not '0x2'", 0},
    {"3, 4, 3\n0 2 2 3\n0 +2 1\n", ":3: a column index must be a whole number, not '+2'", 0},
    {"3, 4, 3\n0 2 2 3\n0 \0 1\n", ":3: a column index must be a whole number, not byte 0x00", 22},
    {"3, 4, 3\n0 2 2 3\n0 2 1\0", ":3: a column index must be a whole number, not '1'", 22},
    {"3, 4, 3\n0 2 2 3\n0 2 1\n\0", ":4: byte 0x00 after the last column index", 23},
    {"\xef\xbb\xbf"
     "3, 4, 3\n0 2 2 3\n0 2 1\n",
     ":1: the number of rows must be a whole number, not byte 0xef", 0},
};

static void test_bad(mc_diag *diag) {
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        size_t size = bad[i].size ? bad[i].size : strlen(bad[i].text);
        const char *path = scratch_write("bad.smtx", bad[i].text, size);
        mc_csr csr;
        mc_status status = mc_csr_read(path, &csr, diag);
        CHECK(!csr.row_ptr && !csr.col_idx && csr.nnz == 0, "%s: the output is not zeroed", bad[i].text);
        CHECK(strncmp(mc_diag_text(diag), path, strlen(path)) == 0, "%s", mc_diag_text(diag));
        expect_failure(bad[i].text, status, MC_FORMAT, diag, bad[i].message);
        unlink(path);
    }
}

static void test_paths(mc_diag *diag) {
    mc_csr csr;
    expect_failure("missing", mc_csr_read(scratch_path("missing.smtx"), &csr, diag), MC_IO, diag,
                   "missing.smtx: No such file or directory");
    expect_failure("ending", mc_csr_read("matrix.csv", &csr, diag), MC_USAGE, diag,
                   "must be a .smtx, .mtx, .npy or .safetensors file");
    expect_failure("directory", mc_csr_read("/.smtx/..", &csr, diag), MC_USAGE, diag, "must be a .smtx");
    expect_failure("no directory", mc_csr_write_smtx("/nonexistent/a.smtx", &(mc_csr){0}, diag), MC_IO, diag,
                   "/nonexistent/a.smtx: No such file or directory");
}

static void test_round_trip(mc_diag *diag) {
    static const mc_pattern patterns[] = {
        {40, 70, .5, MC_PATTERN_UNIFORM, 0, 1},   {40, 70, .9, MC_PATTERN_REALISTIC, .3, 2},
        {1, 1, 0, MC_PATTERN_UNIFORM, 0, 3},      {30, 1, .5, MC_PATTERN_UNIFORM, 0, 4},
        {1, 3000, .01, MC_PATTERN_UNIFORM, 0, 5}, {20, 20, 1, MC_PATTERN_REALISTIC, .3, 6},
        {0, 20, 0, MC_PATTERN_REALISTIC, .3, 7},  {20, 0, 0, MC_PATTERN_UNIFORM, 0, 8},
    };
    for (size_t i = 0; i < sizeof patterns / sizeof patterns[0]; i++) {
        mc_csr csr, back;
        const char *path = scratch_path("trip.smtx");
        expect_ok("generate", mc_csr_generate(&patterns[i], &csr, diag), diag);
        expect_ok("write", mc_csr_write_smtx(path, &csr, diag), diag);
        expect_ok("read", mc_csr_read(path, &back, diag), diag);
        CHECK(same_csr(&csr, &back), "pattern %zu", i);
        mc_csr_free(&csr);
        mc_csr_free(&back);
        unlink(path);
    }
}

int main(void) {
    mc_diag *diag = mc_diag_create();
    scratch_begin();
    test_good(diag);
    test_bad(diag);
    test_paths(diag);
    test_round_trip(diag);
    mc_diag_destroy(diag);
    return scratch_end();
}
