/* .npy: headers as NumPy and others write them, refusals, and the way out and back. */
#include <math.h>
#include "scratch.h"

/* A file of version MAJOR.0 with the header DICT and DATA bytes 0, 1, 2... */
static const char *write_npy(int major, const char *dict, size_t data) {
    unsigned char bytes[512] = "\x93NUMPY";
    size_t length = strlen(dict), prefix = major == 1 ? 10 : 12;
    bytes[6] = (unsigned char)major;
    bytes[8] = (unsigned char)length;
    memcpy(bytes + prefix, dict, length);
    for (size_t i = 0; i < data; i++) bytes[prefix + length + i] = (unsigned char)i;
    return scratch_write("a.npy", bytes, prefix + length + data);
}

static const struct {
    int major;
    const char *dict;
    mc_type type;
    int64_t rows, cols;
} good[] = {
    {1, "{'descr': '|i1', 'fortran_order': False, 'shape': (2, 3), }   \n", MC_S8, 2, 3},
    {2, "{'descr': '<i2', 'fortran_order': False, 'shape': (2, 3), }\n", MC_S16, 2, 3},
    {3, "{'descr': '<i4', 'fortran_order': False, 'shape': (2, 3), }\n", MC_S32, 2, 3},
    {1, "{\"shape\":(2,3),\"fortran_order\":False,\"descr\":\"<i8\"}", MC_S64, 2, 3},
    {1, " { 'shape' : ( 2 , 3 , ) , 'descr' : '<i1' , 'fortran_order' : False } ", MC_S8, 2, 3},
    {1, "{'descr': '>i1', 'fortran_order': False, 'shape': (1, 1)}", MC_S8, 1, 1},
    {1, "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 3)}", MC_U8, 2, 3},
    {1, "{'descr': '<u2', 'fortran_order': False, 'shape': (2, 3)}", MC_U16, 2, 3},
    {1, "{'descr': '|i1', 'fortran_order': True, 'shape': (1, 6)}", MC_S8, 1, 6},
    {1, "{'descr': '|i1', 'fortran_order': True, 'shape': (6, 1)}", MC_S8, 6, 1},
    {1, "{'descr': '|i1', 'fortran_order': False, 'shape': (0, 5)}", MC_S8, 0, 5},
};

static void test_good(mc_diag *diag) {
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        size_t size = (size_t)(good[i].rows * good[i].cols) * mc_type_bytes(good[i].type);
        const char *path = write_npy(good[i].major, good[i].dict, size);
        mc_dense dense;
        expect_ok(good[i].dict, mc_npy_read(path, &dense, diag), diag);
        CHECK(dense.type == good[i].type && dense.rows == good[i].rows && dense.cols == good[i].cols &&
                  dense.ld == dense.cols,
              "%s", good[i].dict);
        for (size_t b = 0; dense.data && b < size; b++)
            CHECK(((unsigned char *)dense.data)[b] == b, "%s", good[i].dict);
        mc_dense_free(&dense);
        unlink(path);
    }
}

#define DICT(descr, order, shape) "{'descr': " descr ", 'fortran_order': " order ", 'shape': " shape ", }\n"

static const struct {
    int major;
    const char *dict;
    size_t data;
    mc_status status;
    const char *message;
} bad[] = {
    {0, DICT("'|i1'", "False", "(2, 3)"), 6, MC_CANNOT, ".npy version 0.0 is not read"},
    {4, DICT("'|i1'", "False", "(2, 3)"), 6, MC_CANNOT, ".npy version 4.0 is not read"},
    {1, DICT("'|i1'", "False", "(2, 3)"), 5, MC_FORMAT, "5 bytes of data, a 2 x 3 array of s8 has more"},
    {1, DICT("'|i1'", "False", "(2, 3)"), 7, MC_FORMAT, "7 bytes of data, a 2 x 3 array of s8 has less"},
    {1, DICT("'<i8'", "False", "(2, 3)"), 6, MC_FORMAT, "6 bytes of data, a 2 x 3 array of s64 has more"},
    {1, DICT("'|i1'", "False", "(4294967296, 4294967296)"), 6, MC_FORMAT, "has more"},
    {1, DICT("'<i8'", "False", "(4611686018427387904, 2)"), 0, MC_FORMAT, "has more"},
    {1, DICT("'|i1'", "True", "(2, 3)"), 5, MC_FORMAT, "5 bytes of data, a 2 x 3 array of s8 has more"},
    {1, DICT("'>i4'", "False", "(2, 3)"), 24, MC_CANNOT, "dtype '>i4' is big-endian"},
    {1, DICT("'<f8'", "False", "(2, 3)"), 48, MC_CANNOT, "dtype '<f8' is not read"},
    {1, DICT("'<u4'", "False", "(2, 3)"), 24, MC_CANNOT, "dtype '<u4' is not read"},
    {1, DICT("'>u2'", "False", "(2, 3)"), 12, MC_CANNOT, "dtype '>u2' is big-endian"},
    {1, DICT("[('a', '<i4')]", "False", "(2, 3)"), 24, MC_CANNOT, "structured dtypes"},
    {1, DICT("7", "False", "(2, 3)"), 6, MC_FORMAT, "descr must be a string"},
    {1, DICT("'|i1'", "0", "(2, 3)"), 6, MC_FORMAT, "fortran_order must be True or False"},
    {1, DICT("'|i1'", "False", "()"), 1, MC_CANNOT, "the array has 0 dimensions"},
    {1, DICT("'|i1'", "False", "(6,)"), 6, MC_CANNOT, "the array has 1 dimensions"},
    {1, DICT("'|i1'", "False", "(1, 2, 3)"), 6, MC_CANNOT, "the array has 3 dimensions"},
    {1, DICT("'|i1'", "False", "(2, -3)"), 6, MC_FORMAT, "shape must hold sizes"},
    {1, DICT("'|i1'", "False", "(2, 99999999999999999999)"), 6, MC_FORMAT, "shape must hold sizes"},
    {1, DICT("'|i1'", "False", "(2 3)"), 6, MC_FORMAT, "shape does not end in )"},
    {1, DICT("'|i1'", "False", "[2, 3]"), 6, MC_FORMAT, "shape must be a tuple"},
    {1, "{'descr': '|i1', 'shape': (2, 3)}", 6, MC_FORMAT, "'fortran_order' is missing"},
    {1, "{'descr': '|i1', 'descr': '|i1'}", 6, MC_FORMAT, "'descr' occurs twice"},
    {1, "{'order': 'C'}", 6, MC_FORMAT, "unknown key 'order'"},
    {1, "{'descr' '|i1'}", 6, MC_FORMAT, "a colon must follow a key"},
    {1, "{'descr': '|i1' 'shape': (2, 3)}", 6, MC_FORMAT, "the dict does not end in }"},
    {1, "{descr: '|i1'}", 6, MC_FORMAT, "a key must be a string"},
    {1, "{'descr", 0, MC_FORMAT, "a key must be a string"},
    {1, "[]", 6, MC_FORMAT, "not a dict"},
    {1, DICT("'|i1'", "False", "(2, 3)") "x", 6, MC_FORMAT, "text after the dict"},
};

static void test_bad(mc_diag *diag) {
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        const char *path = write_npy(bad[i].major, bad[i].dict, bad[i].data);
        mc_dense dense;
        mc_status status = mc_npy_read(path, &dense, diag);
        CHECK(!dense.data && dense.rows == 0, "%s: the output is not zeroed", bad[i].dict);
        expect_failure(bad[i].dict, status, bad[i].status, diag, bad[i].message);
        unlink(path);
    }
}

static void test_truncated(mc_diag *diag) {
    static const char file[] = "\x93NUMPY\x01\0\x40\0{'descr': '|i1'";
    static const struct {
        size_t size;
        const char *message;
    } cuts[] = {{0, "not a .npy file"}, {9, "not a .npy file"}, {10, "truncated"}, {20, "truncated"}};
    for (size_t i = 0; i < sizeof cuts / sizeof cuts[0]; i++) {
        const char *path = scratch_write("cut.npy", file, cuts[i].size);
        mc_dense dense;
        expect_failure("cut", mc_npy_read(path, &dense, diag), MC_FORMAT, diag, cuts[i].message);
        unlink(path);
    }
}

static void round_trip(mc_type type, int64_t rows, int64_t cols, int64_t ld, mc_diag *diag) {
    mc_dense out, back;
    const char *path = scratch_path("trip.npy");
    expect_ok("create", mc_dense_create(type, rows, cols, ld, &out, diag), diag);
    mc_dense_fill(&out, MC_VALUES_FULL, 5);
    expect_ok("write", mc_npy_write(path, &out, diag), diag);
    expect_ok("read", mc_npy_read(path, &back, diag), diag);
    CHECK(back.type == type && back.ld == cols, "type or shape differ");
    expect_ok("compare", mc_dense_compare(&back, &out, diag), diag);
    mc_dense_free(&out);
    mc_dense_free(&back);
    unlink(path);
}

static void test_round_trip(mc_diag *diag) {
    static const int64_t shapes[][3] = {{0, 0, 0}, {0, 3, 3}, {3, 0, 2}, {1, 1, 1}, {7, 5, 5}, {7, 5, 9}};
    for (int type = MC_S8; type <= MC_S64; type++)
        for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++)
            round_trip((mc_type)type, shapes[i][0], shapes[i][1], shapes[i][2], diag);
}

/* Rows one after another, without gaps; the header is NumPy's. */
static void test_vector(mc_diag *diag) {
    static const char dict[] = "{'descr': '<i2', 'fortran_order': False, 'shape': (6,), }";
    mc_dense dense, back;
    char head[80] = {0};
    expect_ok("create", mc_dense_create(MC_S16, 3, 2, 5, &dense, diag), diag);
    for (int i = 0; i < 6; i++) mc_dense_set(&dense, i / 2, i % 2, i);
    const char *path = scratch_path("vector.npy");
    expect_ok("write", mc_npy_write_vector(path, &dense, diag), diag);
    FILE *file = fopen(path, "rb");
    CHECK(file && fread(head, 1, 79, file) == 79, "%s", path);
    if (file) fclose(file);
    CHECK(strncmp(head + 10, dict, strlen(dict)) == 0, "%s", head + 10);
    expect_ok("read", mc_npy_read_vector(path, &back, diag), diag);
    CHECK(back.rows == 1 && back.cols == 6, "%lld elements", (long long)back.cols);
    for (int i = 0; back.cols == 6 && i < 6; i++)
        CHECK(mc_dense_get(&back, 0, i) == i, "%d: %lld", i, (long long)mc_dense_get(&back, 0, i));
    mc_dense_free(&dense);
    mc_dense_free(&back);
    unlink(path);
}

/* The bytes that NumPy 1.x writes for np.save of a 2 x 2 int16 array. */
static void test_bytes(mc_diag *diag) {
    mc_dense dense;
    expect_ok("create", mc_dense_create(MC_S16, 2, 2, 3, &dense, diag), diag);
    for (int i = 0; i < 4; i++) mc_dense_set(&dense, i / 2, i % 2, i - 1);
    const char *path = scratch_path("bytes.npy");
    expect_ok("write", mc_npy_write(path, &dense, diag), diag);
    char want[136] = "\x93NUMPY\x01\0\x76\0{'descr': '<i2', 'fortran_order': False, 'shape': (2, 2), }";
    size_t text = 10 + strlen(want + 10);
    memset(want + text, ' ', 127 - text);
    memcpy(want + 127, "\n\xff\xff\0\0\x01\0\x02", 9);
    char got[256];
    FILE *file = fopen(path, "rb");
    size_t size = fread(got, 1, sizeof got, file);
    fclose(file);
    CHECK(size == 136, "%zu bytes", size);
    CHECK(memcmp(got, want, 136) == 0, "bytes differ");
    mc_dense_free(&dense);
    unlink(path);
}

/* 2 x 3, column by column: bytes 0 1, 2 3, 4 5 of each element's size. */
static void test_fortran(mc_diag *diag) {
    static const unsigned char bytes[] = {0, 2, 4, 1, 3, 5};
    mc_dense dense;
    const char *path = write_npy(1, DICT("'|u1'", "True", "(2, 3)"), 6);
    expect_ok("bytes", mc_npy_read(path, &dense, diag), diag);
    CHECK(memcmp(dense.data, bytes, 6) == 0, "bytes in the wrong order");
    mc_dense_free(&dense);
    path = write_npy(1, DICT("'<f2'", "True", "(3, 2)"), 12);
    expect_ok("halves", mc_npy_read(path, &dense, diag), diag);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 2; j++)
            CHECK(mc_dense_get(&dense, i, j) == (2 * (3 * j + i) | (2 * (3 * j + i) + 1) << 8), "%d, %d", i,
                  j);
    mc_dense_free(&dense);
    unlink(path);
}

/* What is not zero, of integers and of reals. */
static void test_csr(mc_diag *diag) {
    const char *path = write_npy(1, DICT("'|i1'", "False", "(2, 3)"), 6);
    mc_csr csr;
    expect_ok("csr", mc_csr_read(path, &csr, diag), diag);
    CHECK(csr.rows == 2 && csr.cols == 3 && csr.nnz == 5 && csr.field == MC_CSR_INTEGER, "%lld nonzeros",
          (long long)csr.nnz);
    CHECK(csr.row_ptr[1] == 2 && csr.row_ptr[2] == 5 && csr.col_idx[0] == 1 && csr.col_idx[2] == 0, "places");
    for (int i = 0; i < 5; i++) CHECK(csr.values[i] == i + 1, "value %d is %g", i, csr.values[i]);
    mc_csr_free(&csr);
    mc_dense real;
    expect_ok("create", mc_dense_create(MC_F32, 2, 2, 2, &real, diag), diag);
    ((float *)real.data)[0] = -0.0F, ((float *)real.data)[3] = .5F;
    expect_ok("write", mc_npy_write(path, &real, diag), diag);
    expect_ok("csr", mc_csr_read(path, &csr, diag), diag);
    CHECK(csr.nnz == 1 && csr.field == MC_CSR_REAL && csr.values[0] == .5 && csr.col_idx[0] == 1, "reals");
    mc_csr_free(&csr);
    ((float *)real.data)[2] = NAN;
    expect_ok("write", mc_npy_write(path, &real, diag), diag);
    expect_failure("nan", mc_csr_read(path, &csr, diag), MC_CANNOT, diag, "entry (2, 1) is nan");
    mc_dense_free(&real);
    unlink(path);
}

int main(void) {
    mc_diag *diag = mc_diag_create();
    scratch_begin();
    test_good(diag);
    test_bad(diag);
    test_truncated(diag);
    test_round_trip(diag);
    test_bytes(diag);
    test_vector(diag);
    test_fortran(diag);
    test_csr(diag);
    mc_diag_destroy(diag);
    return scratch_end();
}
