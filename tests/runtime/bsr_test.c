/* Arrays of a BSR as SciPy and PyTorch have them: the matrix that they give, and what gives none. */
#include <sys/stat.h>
#include "scratch.h"
#include "matrix/bsr.h"

/* An array of small integers: its type in .npy files, its shape, its elements as bytes. */
typedef struct array {
    const char *name, *descr, *shape, *bytes;
    size_t size;
} array;
#define BYTES(text) text, sizeof text - 1
enum { MOST_ARRAYS = 5 };

/* The example of docs/formats.md, 4 x 8 in vectors of 2. */
static const array by_rows[MOST_ARRAYS] = {{"indptr", "|i1", "(3,)", BYTES("\0\3\4")},
                                           {"indices", "|u1", "(4,)", BYTES("\1\4\6\0")},
                                           {"data", "|i1", "(4, 2, 1)", BYTES("\1\2\3\4\5\6\7\10")},
                                           {"shape", "|i1", "(2,)", BYTES("\4\10")}};
static const array by_columns[MOST_ARRAYS] = {{"ccol_indices", "|i1", "(9,)", BYTES("\0\1\2\2\2\3\3\4\4")},
                                              {"row_indices", "|i1", "(4,)", BYTES("\1\0\0\0")},
                                              {"values", "|i1", "(4, 2, 1)", BYTES("\7\10\1\2\3\4\5\6")},
                                              {"shape", "<i2", "(2,)", BYTES("\4\0\10\0")}};

static char directory[256];

static void path_of(const char *name, char path[512]) { snprintf(path, 512, "%s/%s.npy", directory, name); }

static void write_array(const array *a) {
    char path[512], dict[128];
    path_of(a->name, path);
    FILE *file = fopen(path, "wb");
    int length =
        snprintf(dict, sizeof dict, "{'descr': '%s', 'fortran_order': %s, 'shape': %s, }",
                 *a->descr == 'F' ? a->descr + 1 : a->descr, *a->descr == 'F' ? "True" : "False", a->shape);
    if (file == NULL) exit(1);
    fprintf(file, "\x93NUMPY%c%c%c%c%s", 1, 0, length, 0, dict);
    fwrite(a->bytes, 1, a->size, file);
    fclose(file);
}

/* ARRAYS, but OTHER in the place of the one of its name; without bytes there is none. */
static void write_matrix(const array *arrays, const array *other) {
    bool known = false;
    snprintf(directory, sizeof directory, "%s", scratch_path("m"));
    if (mkdir(directory, 0700) != 0) exit(1);
    for (int i = 0; i < MOST_ARRAYS && arrays[i].name != NULL; i++) {
        bool same = other != NULL && strcmp(other->name, arrays[i].name) == 0;
        known |= same;
        if (!same) write_array(&arrays[i]);
        else if (other->bytes != NULL) write_array(other);
    }
    if (other != NULL && !known) write_array(other);
}

static void remove_matrix(void) {
    static const char *const names[] = {"indptr",      "indices",      "data",        "shape", "crow_indices",
                                        "col_indices", "ccol_indices", "row_indices", "values"};
    char path[512];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        path_of(names[i], path);
        unlink(path);
    }
    CHECK(rmdir(directory) == 0, "%s is empty", directory);
}

/* -- What is read */

static const int64_t example_rows[] = {0, 3, 6, 7, 8};
static const int32_t example_cols[] = {1, 4, 6, 1, 4, 6, 0, 0};
static const double example_values[] = {1, 3, 5, 2, 4, 6, 7, 8};

static void check_example(const char *what, const char *path, mc_diag *diag) {
    mc_csr csr;
    mc_blocks blocks;
    CHECK(mc_bsr_is(path) && mc_csr_reads(path), "%s", what);
    expect_ok(what, mc_bsr_read(path, &csr, &blocks, diag), diag);
    CHECK(blocks.rows == 2 && blocks.cols == 1, "%s", what);
    CHECK(csr.rows == 4 && csr.cols == 8 && csr.nnz == 8 && csr.field == MC_CSR_INTEGER, "%s", what);
    CHECK(csr.nnz == 8 && memcmp(csr.row_ptr, example_rows, sizeof example_rows) == 0 &&
              memcmp(csr.col_idx, example_cols, sizeof example_cols) == 0 &&
              memcmp(csr.values, example_values, sizeof example_values) == 0,
          "%s", what);
    mc_csr_free(&csr);
}

static void test_example(mc_diag *diag) {
    static const array torch[MOST_ARRAYS] = {
        {"crow_indices", "<i8", "(3,)", BYTES("\0\0\0\0\0\0\0\0\3\0\0\0\0\0\0\0\4\0\0\0\0\0\0\0")},
        {"col_indices", "<i4", "(4,)", BYTES("\1\0\0\0\4\0\0\0\6\0\0\0\0\0\0\0")},
        {"values", "<i2", "(4, 2, 1)", BYTES("\1\0\2\0\3\0\4\0\5\0\6\0\7\0\10\0")},
        {"shape", "|i1", "(2,)", BYTES("\4\10")}};
    static const array turned = {"values", "|i1", "(4, 1, 2)", BYTES("\7\10\1\2\3\4\5\6")};
    static const struct {
        const char *what;
        const array *arrays, *other;
    } cases[] = {{"SciPy", by_rows, NULL},
                 {"PyTorch", torch, NULL},
                 {"by columns", by_columns, NULL},
                 {"of the transpose", by_columns, &turned}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        write_matrix(cases[i].arrays, cases[i].other);
        check_example(cases[i].what, directory, diag);
        remove_matrix();
    }
}

#define TENSOR(name, shape, from, to)                                                                        \
    "\"" name "\":{\"dtype\":\"I8\",\"shape\":[" shape "],\"data_offsets\":[" from "," to "]}"
#define TENSORS(prefix)                                                                                      \
    TENSOR(prefix "crow_indices", "3", "0", "3")                                                             \
    "," TENSOR(prefix "col_indices", "4", "3", "7") "," TENSOR(                                              \
        prefix "values", "4,2,1", "7", "15") "," TENSOR(prefix "shape", "2", "15", "17")

static void test_safetensors(mc_diag *diag) {
    static const char *const headers[] = {"{" TENSORS("") "}", "{" TENSORS("a.b.") "}"}, *const names[] = {
                                                                                             "", ":a.b"};
    static const char data[] = "\0\3\4\1\4\6\0\1\2\3\4\5\6\7\10\4\10";
    for (size_t i = 0; i < 2; i++) {
        char bytes[512] = "", path[512];
        size_t length = strlen(headers[i]);
        bytes[0] = (char)(length & 255), bytes[1] = (char)(length >> 8);
        memcpy(bytes + 8, headers[i], length);
        memcpy(bytes + 8 + length, data, sizeof data - 1);
        const char *file = scratch_write("m.safetensors", bytes, 8 + length + sizeof data - 1);
        snprintf(path, sizeof path, "%s%s", file, names[i]);
        check_example(headers[i], path, diag);
        snprintf(path, sizeof path, "%s:none", file);
        CHECK(!mc_bsr_is(path), "none");
        unlink(file);
    }
}

/* Blocks with several columns, both ways; values in f32, a stored zero among them. */
static void test_wide(mc_diag *diag) {
    static const array rows[MOST_ARRAYS] = {
        {"indptr", "|i1", "(3,)", BYTES("\0\0\2")},
        {"indices", "|i1", "(2,)", BYTES("\0\2")},
        {"data", "<f4", "(2, 2, 2)",
         BYTES("\0\0\200\077\0\0\0\100\0\0\100\100\0\0\200\100\0\0\240\100\0\0\0\0\0\0\340\100\0\0\0\101")},
        {"shape", "|i1", "(2,)", BYTES("\4\6")}};
    static const array columns[MOST_ARRAYS] = {{"ccol_indices", "|i1", "(4,)", BYTES("\0\1\1\2")},
                                               {"row_indices", "|i1", "(2,)", BYTES("\1\1")},
                                               {"values", "<f4", "(2, 2, 2)", NULL, 32},
                                               {"shape", "|i1", "(2,)", BYTES("\4\6")}};
    static const int64_t row_ptr[] = {0, 0, 0, 4, 8};
    static const int32_t cols[] = {0, 1, 4, 5, 0, 1, 4, 5};
    static const double values[] = {1, 2, 5, 0, 3, 4, 7, 8};
    for (int by_column = 0; by_column < 2; by_column++) {
        array own[MOST_ARRAYS];
        mc_csr csr;
        mc_blocks blocks;
        memcpy(own, by_column ? columns : rows, sizeof own);
        own[2].bytes = rows[2].bytes;
        write_matrix(own, NULL);
        expect_ok("wide", mc_bsr_read(directory, &csr, &blocks, diag), diag);
        CHECK(blocks.rows == 2 && blocks.cols == 2 && csr.nnz == 8 && csr.field == MC_CSR_REAL, "wide");
        CHECK(csr.nnz == 8 && memcmp(csr.row_ptr, row_ptr, sizeof row_ptr) == 0 &&
                  memcmp(csr.col_idx, cols, sizeof cols) == 0 &&
                  memcmp(csr.values, values, sizeof values) == 0,
              "wide, by column %d", by_column);
        mc_csr_free(&csr);
        remove_matrix();
    }
}

/* -- What is not */

static const struct {
    const array *arrays;
    array other;
    mc_status status;
    const char *message;
} bad[] = {
    {by_rows, {"shape", NULL, NULL, NULL, 0}, MC_FORMAT, "there is no shape, two integers"},
    {by_rows, {"shape", "|i1", "(3,)", BYTES("\4\10\1")}, MC_FORMAT, "shape has 3 elements, must have 2"},
    {by_rows, {"shape", "|i1", "(1, 2)", BYTES("\4\10")}, MC_FORMAT, "shape has 2 dimensions, must have 1"},
    {by_rows,
     {"shape", "|i1", "(2,)", BYTES("\4\370")},
     MC_CANNOT,
     "shape is 4 x -8: must be 0 to 2147483647"},
    {by_rows,
     {"shape", "|i1", "(2,)", BYTES("\5\10")},
     MC_FORMAT,
     "shape is 5 x 8, no multiple of blocks of 2 x 1"},
    {by_rows, {"shape", "|i1", "(2,)", BYTES("\6\10")}, MC_FORMAT, "indptr has 3 elements, must have 4"},
    {by_rows, {"shape", "|i1", "(2,)", BYTES("\4\6")}, MC_FORMAT, "indices[2] is 6, must be 0 to 5"},
    {by_rows, {"shape", "<f2", "(2,)", BYTES("\0\0\0\0")}, MC_FORMAT, "shape holds f16, must hold integers"},
    {by_rows,
     {"crow_indices", "|i1", "(1,)", BYTES("\0")},
     MC_FORMAT,
     "there must be one of indptr, crow_indices"},
    {by_rows, {"indices", NULL, NULL, NULL, 0}, MC_IO, "indices.npy: No such file"},
    {by_rows, {"indptr", "|i1", "(2,)", BYTES("\0\4")}, MC_FORMAT, "indptr has 2 elements, must have 3"},
    {by_rows,
     {"indptr", "|i1", "(1, 3)", BYTES("\0\3\4")},
     MC_FORMAT,
     "indptr has 2 dimensions, must have 1"},
    {by_rows,
     {"indptr", "|i1", "()", BYTES("\0")},
     MC_CANNOT,
     "the array has 0 dimensions, one to three are read"},
    {by_rows, {"indptr", "|i1", "(3,)", BYTES("\1\3\4")}, MC_FORMAT, "indptr[0] is 1, must be 0"},
    {by_rows,
     {"indptr", "|i1", "(3,)", BYTES("\0\5\4")},
     MC_FORMAT,
     "indptr[2] is 4, below the one before, 5"},
    {by_rows,
     {"indptr", "|i1", "(3,)", BYTES("\0\377\4")},
     MC_FORMAT,
     "indptr[1] is -1, below the one before, 0"},
    {by_rows,
     {"indptr", "|i1", "(3,)", BYTES("\0\3\5")},
     MC_FORMAT,
     "indptr ends in 5, but data has 4 blocks"},
    {by_rows, {"indptr", "<f4", "(3,)", BYTES("\0\0\0\0\0\0\0\0\0\0\0\0")}, MC_FORMAT, "indptr holds f32"},
    {by_rows, {"indices", "|i1", "(3,)", BYTES("\1\4\6")}, MC_FORMAT, "indices has 3 elements, must have 4"},
    {by_rows,
     {"indices", "|i1", "(4,)", BYTES("\4\1\6\0")},
     MC_FORMAT,
     "indices[1] is 1 after 4: indices must"},
    {by_rows,
     {"indices", "|i1", "(4,)", BYTES("\1\1\6\0")},
     MC_FORMAT,
     "indices[1] is 1 after 1: indices must"},
    {by_rows, {"indices", "|i1", "(4,)", BYTES("\1\4\10\0")}, MC_FORMAT, "indices[2] is 8, must be 0 to 7"},
    {by_rows, {"indices", "|i1", "(4,)", BYTES("\377\4\6\0")}, MC_FORMAT, "indices[0] is -1, must be 0 to 7"},
    {by_rows, {"indices", "<f2", "(4,)", BYTES("\0\0\0\0\0\0\0\0")}, MC_FORMAT, "indices holds f16"},
    {by_rows,
     {"data", "|i1", "(8,)", BYTES("\1\2\3\4\5\6\7\10")},
     MC_FORMAT,
     "indptr has 3 elements, must have 5"},
    {by_rows,
     {"data", "|i1", "(4, 2)", BYTES("\1\2\3\4\5\6\7\10")},
     MC_FORMAT,
     "data has 2 dimensions, must have 3"},
    {by_rows,
     {"data", "|i1", "(4, 2, 1, 1)", BYTES("\1\2\3\4\5\6\7\10")},
     MC_CANNOT,
     "the array has 4 dimensions, one to three"},
    {by_rows,
     {"data", "F|i1", "(4, 2, 1)", BYTES("\1\2\3\4\5\6\7\10")},
     MC_CANNOT,
     "three dimensions in Fortran order"},
    {by_rows,
     {"data", "|i1", "(4, 1, 2)", BYTES("\1\2\3\4\5\6\7\10")},
     MC_FORMAT,
     "indptr has 3 elements, must have 5"},
    {by_rows,
     {"data", "|i1", "(4, 1, 1)", BYTES("\1\2\3\4")},
     MC_FORMAT,
     "indptr has 3 elements, must have 5"},
    {by_rows,
     {"data", "|i1", "(4, 3, 1)", BYTES("\1\2\3\4\1\2\3\4\1\2\3\4")},
     MC_FORMAT,
     "no multiple of blocks of 3 x 1"},
    {by_rows, {"data", "|i1", "(4, 0, 1)", "", 0}, MC_CANNOT, "blocks of 0 x 1"},
    {by_rows, {"data", "|i1", "(4, 2, 0)", "", 0}, MC_CANNOT, "blocks of 2 x 0"},
    {by_rows,
     {"data", "|i1", "(3, 2, 1)", BYTES("\1\2\3\4\5\6")},
     MC_FORMAT,
     "indptr ends in 4, but data has 3 blocks"},
    {by_rows,
     {"data", "|i1", "(0, 4611686018427387904, 4)", "", 0},
     MC_FORMAT,
     "shape must hold sizes whose product"},
    {by_rows,
     {"data", "<f2", "(4, 2, 1)", BYTES("\0\0\0\0\0\0\0\0\0\0\0\174\0\0\0\0")},
     MC_CANNOT,
     "entry (2, 7) is inf"},
    {by_rows,
     {"shape", "<i4", "(2,)", BYTES("\0\0\0\100\10\0\0\0")},
     MC_CANNOT,
     "1073741824 rows and 4 blocks: nearly all rows"},
    {by_columns,
     {"row_indices", "|i1", "(4,)", BYTES("\2\0\0\0")},
     MC_FORMAT,
     "row_indices[0] is 2, must be 0 to 1"},
    {by_columns,
     {"ccol_indices", "|i1", "(9,)", BYTES("\0\2\2\2\2\3\3\4\4")},
     MC_FORMAT,
     "row_indices[1] is 0 after 1"},
    {by_columns,
     {"ccol_indices", "|i1", "(8,)", BYTES("\0\1\2\2\2\3\3\4")},
     MC_FORMAT,
     "ccol_indices has 8 elements, must have 9"},
    {by_columns,
     {"values", "|i1", "(4, 1, 3)", BYTES("\7\10\1\2\3\4\5\6\1\2\3\4")},
     MC_FORMAT,
     "no multiple of blocks of 3 x 1"},
};

static void test_bad(mc_diag *diag) {
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        mc_csr csr;
        mc_blocks blocks;
        write_matrix(bad[i].arrays, &bad[i].other);
        expect_failure(bad[i].message, mc_bsr_read(directory, &csr, &blocks, diag), bad[i].status, diag,
                       bad[i].message);
        CHECK(csr.row_ptr == NULL && csr.col_idx == NULL && csr.values == NULL && blocks.rows == 0, "%s",
              bad[i].message);
        remove_matrix();
    }
}

/* docs/formats.md's example as CSR and as CSC: values without blocks, and blocks of 1 x 1. */
static void test_single(mc_diag *diag) {
    static const array csr_arrays[][MOST_ARRAYS] = {
        {{"indptr", "|i1", "(5,)", BYTES("\0\3\6\7\10")},
         {"indices", "|i1", "(8,)", BYTES("\1\4\6\1\4\6\0\0")},
         {"data", "|i1", "(8,)", BYTES("\1\3\5\2\4\6\7\10")},
         {"shape", "|i1", "(2,)", BYTES("\4\10")}},
        {{"ccol_indices", "|i1", "(9,)", BYTES("\0\2\4\4\4\6\6\10\10")},
         {"row_indices", "|i1", "(8,)", BYTES("\2\3\0\1\0\1\0\1")},
         {"values", "|i1", "(8,)", BYTES("\7\10\1\2\3\4\5\6")},
         {"shape", "|i1", "(2,)", BYTES("\4\10")}},
        {{"crow_indices", "|i1", "(5,)", BYTES("\0\3\6\7\10")},
         {"col_indices", "|i1", "(8,)", BYTES("\1\4\6\1\4\6\0\0")},
         {"values", "|i1", "(8, 1, 1)", BYTES("\1\3\5\2\4\6\7\10")},
         {"shape", "|i1", "(2,)", BYTES("\4\10")}}};
    static const int32_t col_idx[] = {1, 4, 6, 1, 4, 6, 0, 0};
    static const int row_ptr[] = {0, 3, 6, 7, 8}, values[] = {1, 3, 5, 2, 4, 6, 7, 8};
    for (int form = 0; form < 3; form++) {
        mc_csr csr;
        mc_blocks blocks;
        write_matrix(csr_arrays[form], NULL);
        expect_ok("single", mc_bsr_read(directory, &csr, &blocks, diag), diag);
        CHECK(csr.rows == 4 && csr.cols == 8 && csr.nnz == 8, "form %d", form);
        for (int i = 0; csr.nnz == 8 && i < 8; i++)
            CHECK(csr.col_idx[i] == col_idx[i] && csr.values[i] == values[i], "form %d, entry %d", form, i);
        for (int i = 0; csr.nnz == 8 && i < 5; i++) CHECK(csr.row_ptr[i] == row_ptr[i], "row %d", i);
        CHECK(blocks.rows == (form == 2) && blocks.cols == (form == 2), "form %d: blocks", form);
        mc_csr_free(&csr);
        remove_matrix();
    }
}

/* An empty matrix is one; a directory with other files, or none, is not of this kind. */
static void test_empty(mc_diag *diag) {
    static const array empty[MOST_ARRAYS] = {{"indptr", "|i1", "(3,)", BYTES("\0\0\0")},
                                             {"indices", "|i1", "(0,)", "", 0},
                                             {"data", "|i1", "(0, 8, 1)", "", 0},
                                             {"shape", "|i1", "(2,)", BYTES("\20\10")}};
    static const array other[MOST_ARRAYS] = {{"values", "|i1", "(1,)", BYTES("\1")}};
    mc_csr csr;
    write_matrix(empty, NULL);
    expect_ok("empty", mc_csr_read(directory, &csr, diag), diag);
    CHECK(csr.rows == 16 && csr.cols == 8 && csr.nnz == 0, "empty");
    mc_csr_free(&csr);
    remove_matrix();
    CHECK(!mc_bsr_is(directory), "no directory");
    write_matrix(other, NULL);
    CHECK(!mc_bsr_is(directory), "other arrays");
    expect_failure("other", mc_csr_read(directory, &csr, diag), MC_USAGE, diag, "a matrix must be");
    remove_matrix();
    expect_failure("npz", mc_csr_read("a.npz", &csr, diag), MC_USAGE, diag,
                   "a.npz: .npz files are not read: unzip a.npz -d DIR");
}

int main(void) {
    mc_diag *diag = mc_diag_create();
    scratch_begin();
    test_example(diag);
    test_safetensors(diag);
    test_single(diag);
    test_wide(diag);
    test_bad(diag);
    test_empty(diag);
    mc_diag_destroy(diag);
    return scratch_end();
}
