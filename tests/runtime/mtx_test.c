/* .mtx: what is accepted, and what each malformed file is told. */
#include "scratch.h"

#define ARRAY(field, symmetry)  "%%MatrixMarket matrix array " field " " symmetry "\n"
#define BANNER(field, symmetry) "%%MatrixMarket matrix coordinate " field " " symmetry "\n"

typedef struct good_case {
    const char *text;
    mc_csr want;
} good_case;

#define CSR(rows, cols, nnz, ...)                                                                            \
    { rows, cols, nnz, __VA_ARGS__, MC_CSR_PATTERN, NULL, 0 }
#define VALUED(rows, cols, nnz, ...)                                                                         \
    { rows, cols, nnz, __VA_ARGS__, 0 }
/* SUM entries were added to others */
#define SUMMED(sum, rows, cols, nnz, ...)                                                                    \
    { rows, cols, nnz, __VA_ARGS__, sum }
#define VALUES(...)                                                                                          \
    (double[]) { __VA_ARGS__ }
#define ROWS(...)                                                                                            \
    (int64_t[]) { __VA_ARGS__ }
#define COLS(...)                                                                                            \
    (int32_t[]) { __VA_ARGS__ }

static const good_case good[] = {
    {BANNER("pattern", "general") "3 4 3\n3 2\n1 3\n1 1\n", CSR(3, 4, 3, ROWS(0, 2, 2, 3), COLS(0, 2, 1))},
    {BANNER("real", "general") "% comment\n\n%\n3 4 3\n1 1 -1.5e-3\n% in between\n\n 3 2 .5\n1 3 2.D+10",
     VALUED(3, 4, 3, ROWS(0, 2, 2, 3), COLS(0, 2, 1), MC_CSR_REAL, VALUES(-.0015, 2e10, .5))},
    {"%%matrixmarket MATRIX Coordinate Integer General\r\n2 2 1\r\n2 1 -7\r\n",
     VALUED(2, 2, 1, ROWS(0, 0, 1), COLS(0), MC_CSR_INTEGER, VALUES(-7))},
    {BANNER("complex", "general") "1 1 1\n1 1 0 1e5\n",
     VALUED(1, 1, 1, ROWS(0, 1), COLS(0), MC_CSR_COMPLEX, NULL)},
    {BANNER("real", "symmetric") "3 3 3\n3 1 1.5\n2 2 2\n3 2 -3\n",
     VALUED(3, 3, 5, ROWS(0, 1, 3, 5), COLS(2, 1, 2, 0, 1), MC_CSR_REAL, VALUES(1.5, 2, -3, 1.5, -3))},
    {BANNER("integer", "skew-symmetric") "2 2 1\n2 1 4\n",
     VALUED(2, 2, 2, ROWS(0, 1, 2), COLS(1, 0), MC_CSR_INTEGER, VALUES(-4, 4))},
    {BANNER("complex", "hermitian") "2 2 2\n2 1 4 1\n1 1 1 0\n",
     VALUED(2, 2, 3, ROWS(0, 2, 3), COLS(0, 1, 0), MC_CSR_COMPLEX, NULL)},
    {BANNER("pattern", "general") "0 0 0\n", CSR(0, 0, 0, ROWS(0), COLS(0))},
    {BANNER("pattern", "general") "2 3 0\n%\n", CSR(2, 3, 0, ROWS(0, 0, 0), COLS(0))},
    {BANNER("unsigned-integer", "general") "1 2 1\n1 2 9007199254740992\n",
     VALUED(1, 2, 1, ROWS(0, 1), COLS(1), MC_CSR_INTEGER, VALUES(0x1p53))},
    {BANNER("integer", "general") "1 2 1\n1 2 -30e1\n",
     VALUED(1, 2, 1, ROWS(0, 1), COLS(1), MC_CSR_INTEGER, VALUES(-300))},
    /* A zero that is told is a nonzero of the pattern; those of the upper half alone */
    {BANNER("real", "symmetric") "2 2 2\n1 2 0\n1 1 3\n",
     VALUED(2, 2, 3, ROWS(0, 2, 3), COLS(0, 1, 0), MC_CSR_REAL, VALUES(3, 0, 0))},
    /* Several entries in one place: in the file's order, 2^53 + 1 is 2^53, less 2^53 is 0 */
    {BANNER("real", "general") "2 2 5\n2 1 9007199254740992\n1 1 2\n2 1 1\n1 1 5\n2 1 -9007199254740992\n",
     SUMMED(3, 2, 2, 2, ROWS(0, 1, 2), COLS(0, 0), MC_CSR_REAL, VALUES(7, 0))},
    {BANNER("integer", "skew-symmetric") "3 3 3\n2 1 4\n3 2 1\n2 1 -6\n",
     SUMMED(1, 3, 3, 4, ROWS(0, 1, 3, 4), COLS(1, 0, 2, 1), MC_CSR_INTEGER, VALUES(2, -2, -1, 1))},
    {BANNER("real", "symmetric") "2 2 3\n2 2 4\n2 1 1\n2 2 .5\n",
     SUMMED(1, 2, 2, 3, ROWS(0, 1, 3), COLS(1, 0, 1), MC_CSR_REAL, VALUES(1, 1, 4.5))},
    {BANNER("pattern", "general") "3 4 4\n2 3\n% x\n1 1\n2 3\n2 3\n",
     SUMMED(2, 3, 4, 2, ROWS(0, 1, 2, 2), COLS(0, 2), MC_CSR_PATTERN, NULL)},
    {BANNER("complex", "general") "1 1 2\n1 1 1 0\n1 1 1 0\n",
     SUMMED(1, 1, 1, 1, ROWS(0, 1), COLS(0), MC_CSR_COMPLEX, NULL)},
    /* Arrays, column by column; zeros are left out */
    {ARRAY("real", "general") "% c\n2 3\n1\n\n2\n0\n%\n-0.0\r\n 5d0 \n6",
     VALUED(2, 3, 4, ROWS(0, 2, 4), COLS(0, 2, 0, 2), MC_CSR_REAL, VALUES(1, 5, 2, 6))},
    {ARRAY("integer", "symmetric") "3 3\n1\n2\n3\n0\n5\n6\n",
     VALUED(3, 3, 8, ROWS(0, 3, 5, 8), COLS(0, 1, 2, 0, 2, 0, 1, 2), MC_CSR_INTEGER,
            VALUES(1, 2, 3, 2, 5, 3, 5, 6))},
    {ARRAY("real", "skew-symmetric") "3 3\n1\n2\n3\n",
     VALUED(3, 3, 6, ROWS(0, 2, 4, 6), COLS(1, 2, 0, 2, 0, 1), MC_CSR_REAL, VALUES(-1, -2, 1, -3, 2, 3))},
    {ARRAY("real", "skew-symmetric") "1 1\n", VALUED(1, 1, 0, ROWS(0, 0), COLS(0), MC_CSR_REAL, VALUES(0))},
    {ARRAY("real", "general") "0 5\n", VALUED(0, 5, 0, ROWS(0), COLS(0), MC_CSR_REAL, VALUES(0))},
    {ARRAY("real", "symmetric") "0 0\n", VALUED(0, 0, 0, ROWS(0), COLS(0), MC_CSR_REAL, VALUES(0))},
};

static void test_good(mc_diag *diag) {
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        const char *path = scratch_write("good.mtx", good[i].text, strlen(good[i].text));
        mc_csr csr;
        expect_ok(good[i].text, mc_csr_read(path, &csr, diag), diag);
        CHECK(same_csr(&csr, &good[i].want), "%s", good[i].text);
        CHECK(csr.summed == good[i].want.summed, "%s: summed %d", good[i].text, (int)csr.summed);
        CHECK(csr.field == good[i].want.field, "%s: field %d", good[i].text, (int)csr.field);
        CHECK((csr.values == NULL) == (good[i].want.values == NULL), "%s: values", good[i].text);
        for (int64_t v = 0; csr.values != NULL && v < csr.nnz; v++)
            CHECK(csr.values[v] == good[i].want.values[v], "%s: value %lld is %g", good[i].text, (long long)v,
                  csr.values[v]);
        mc_csr_free(&csr);
        unlink(path);
    }
}

static const struct {
    const char *text;
    mc_status status;
    const char *message;
} bad[] = {
    {"", MC_FORMAT, ":1: the file is empty"},
    {"3 4 3\n", MC_FORMAT, ":1: the file must begin with %%MatrixMarket"},
    {"%%MatrixMarketing matrix\n", MC_FORMAT, ":1: the file must begin with %%MatrixMarket"},
    {"%%MatrixMarket vector coordinate real general\n", MC_FORMAT, ":1: the banner must name a matrix"},
    {ARRAY("pattern", "general") "1 1\n1\n", MC_FORMAT, ":1: an array has values, it cannot be a pattern"},
    {ARRAY("complex", "general") "1 1\n1 0\n", MC_CANNOT, ":1: an array of complex values"},
    {ARRAY("complex", "hermitian") "1 1\n1 0\n", MC_CANNOT, ":1: an array of complex values"},
    {ARRAY("real", "general") "2 2 4\n1\n1\n1\n1\n", MC_FORMAT, ":2: '4' after the size line"},
    {ARRAY("real", "general") "2 3\n1\n2\n3\n", MC_FORMAT,
     ":2: the size line claims 6 elements, the file has room for 4"},
    {ARRAY("real", "general") "2 2\n1.5\n2\n3\n", MC_FORMAT, ":6: the file ends where a value must be"},
    {ARRAY("real", "general") "2147483647 2147483647\n1\n", MC_FORMAT,
     ":2: the size line claims 4611686014132420609 elements"},
    {ARRAY("real", "symmetric") "2147483647 2147483647\n1\n", MC_FORMAT,
     ":2: the size line claims 2305843008139952128 elements"},
    {ARRAY("real", "general") "2147483647 0\n", MC_CANNOT, ":2: 2147483647 x 0 elements with 0"},
    {ARRAY("real", "symmetric") "1 2\n1\n2\n", MC_FORMAT, ":2: a symmetric matrix must be square"},
    {ARRAY("real", "general") "1 2\n1 2\n3\n", MC_FORMAT, ":3: '2' after the value"},
    {ARRAY("real", "general") "1 2\n1\n2\n3\n", MC_FORMAT, ":5: '3' after the last value"},
    {ARRAY("real", "general") "1 2\n1\nx\n", MC_FORMAT, ":4: a value must be a number, not 'x'"},
    {ARRAY("integer", "general") "1 2\n1\n2.5\n", MC_FORMAT,
     ":4: a value of an integer matrix must be a "
     "whole number, not '2.5'"},
    {"%%MatrixMarket matrix csr real general\n", MC_FORMAT, ":1: 'csr' is no format: coordinate or array"},
    {BANNER("quaternion", "general"), MC_FORMAT, ":1: 'quaternion' is no field"},
    {BANNER("real", "upper"), MC_FORMAT, ":1: 'upper' is no symmetry"},
    {BANNER("pattern", "skew-symmetric") "1 1 0\n", MC_FORMAT, ":1: a pattern cannot be skew-symmetric"},
    {BANNER("real", "hermitian") "1 1 0\n", MC_FORMAT, ":1: only a complex matrix can be hermitian"},
    {BANNER("real", "general extra") "1 1 0\n", MC_FORMAT, ":1: 'extra' after the banner"},
    {BANNER("real", "general"), MC_FORMAT, ":2: the file ends where the number of rows must be"},
    {BANNER("real", "general") "% x\n3 4\n", MC_FORMAT, ":3: the line ends where the number of entries must"},
    {BANNER("real", "general") "3 4 0 1\n", MC_FORMAT, ":2: '1' after the size line"},
    {BANNER("real", "general") "-3 4 0\n", MC_FORMAT, ":2: the number of rows is negative"},
    {BANNER("real", "general") "3 4 9000000000\n1 1 1\n", MC_FORMAT,
     ":2: the size line claims 9000000000 entries, the file has room for 1"},
    {BANNER("real", "general") "2147483647 4 1\n1 1 1\n", MC_CANNOT, ":2: 2147483647 x 4 elements with 1"},
    {BANNER("real", "general") "4294967296 4 1\n1 1 1\n", MC_FORMAT,
     ":2: the number of rows is out of range"},
    {BANNER("real", "symmetric") "3 4 1\n1 1 1\n", MC_FORMAT, ":2: a symmetric matrix must be square, not 3"},
    {BANNER("real", "general") "3 4 2\n1 1 1\n% no more\n", MC_FORMAT,
     ":5: the file ends where a row index must be"},
    {BANNER("real", "general") "3 4 1\n0 1 1\n", MC_FORMAT, ":3: a row index is out of range: '0'"},
    {BANNER("real", "general") "3 4 1\n1 5 1\n", MC_FORMAT, ":3: a column index is out of range: '5'"},
    {BANNER("real", "general") "3 4 1\n-1 1 1\n", MC_FORMAT, ":3: a row index is negative"},
    {BANNER("real", "general") "3 4 1\n1 1 \n\n", MC_FORMAT, ":3: the line ends where a value must be"},
    {BANNER("real", "general") "3 4 1\n1 1 one\n", MC_FORMAT, ":3: a value must be a number, not 'one'"},
    {BANNER("real", "general") "3 4 1\n1 1 1e\n", MC_FORMAT, ":3: a value must be a number, not '1e'"},
    {BANNER("real", "general") "3 4 1\n1 1 .\n", MC_FORMAT, ":3: a value must be a number, not '.'"},
    {BANNER("real", "general") "3 4 1\n1 1 1 1\n", MC_FORMAT, ":3: '1' after the entry"},
    {BANNER("complex", "general") "3 4 1\n1 1 1\n \n", MC_FORMAT, ":3: the line ends where a value must be"},
    {BANNER("pattern", "general") "3 4 1\n1 1 1\n", MC_FORMAT, ":3: '1' after the entry"},
    {BANNER("pattern", "general") "3 4 1\n1 1\n2 2\n", MC_FORMAT, ":4: '2' after the last entry"},
    {BANNER("real", "skew-symmetric") "3 3 1\n2 2 0\n", MC_FORMAT, ":3: a skew-symmetric matrix has no diag"},
    {BANNER("pattern", "symmetric") "3 3 3\n1 1\n1 2\n2 1\n", MC_FORMAT,
     ":5: entry (2, 1) is below the diagonal, that of line 4 on the other side: a symmetric matrix has one"},
    {BANNER("real", "skew-symmetric") "3 3 2\n3 1 1\n1 2 1\n", MC_FORMAT,
     ":4: entry (1, 2) is above the diagonal, that of line 3 on the other side: a skew-symmetric matrix"},
    {BANNER("integer", "general") "3 4 1\n1 1 1.5\n", MC_FORMAT,
     ":3: a value of an integer matrix must be a whole number, not '1.5'"},
    {BANNER("integer", "general") "3 4 1\n1 1 9007199254740994\n", MC_FORMAT,
     ":3: a value is out of range: '9007199254740994'"},
    {BANNER("integer", "general") "3 4 2\n1 2 9007199254740992\n1 2 2\n", MC_FORMAT,
     ": the values of entry (1, 2) add up to 9.0072e+15, beyond what is read, 9.0072e+15"},
    {BANNER("real", "general") "3 4 2\n1 2 -1e308\n1 2 -1e308\n", MC_FORMAT,
     ": the values of entry (1, 2) add up to -inf"},
};

static void test_bad(mc_diag *diag) {
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        const char *path = scratch_write("bad.mtx", bad[i].text, strlen(bad[i].text));
        mc_csr csr;
        mc_status status = mc_csr_read(path, &csr, diag);
        CHECK(!csr.row_ptr && !csr.col_idx && csr.nnz == 0, "%s: the output is not zeroed", bad[i].text);
        expect_failure(bad[i].text, status, bad[i].status, diag, bad[i].message);
        unlink(path);
    }
}

/* Entries in a scrambled order must give what the sorted .smtx gives. */
static void test_sorting(mc_diag *diag) {
    mc_pattern pattern = {97, 131, .8, MC_PATTERN_REALISTIC, .5, 9};
    mc_csr want, got;
    expect_ok("generate", mc_csr_generate(&pattern, &want, diag), diag);
    const char *path = scratch_path("sort.mtx");
    FILE *file = fopen(path, "w");
    fputs(BANNER("pattern", "general"), file);
    fprintf(file, "97 131 %lld\n", (long long)want.nnz);
    const int64_t step = 5003; /* a prime above nnz's factors: visits every entry once */
    for (int64_t i = 0, at = 0; i < want.nnz; i++, at = (at + step) % want.nnz) {
        int64_t row = 0;
        while (want.row_ptr[row + 1] <= at) row++;
        fprintf(file, "%lld %d\n", (long long)row + 1, want.col_idx[at] + 1);
    }
    fclose(file);
    expect_ok("read", mc_csr_read(path, &got, diag), diag);
    CHECK(same_csr(&want, &got), "sorted differently");
    mc_csr_free(&want);
    mc_csr_free(&got);
    unlink(path);
}

int main(void) {
    mc_diag *diag = mc_diag_create();
    scratch_begin();
    test_good(diag);
    test_bad(diag);
    test_sorting(diag);
    mc_diag_destroy(diag);
    return scratch_end();
}
