/* .safetensors: the tensor that is named is read, and what is wrong with a file is told. */
#include "scratch.h"

/* A file with the header TEXT, said to have LENGTH bytes, and DATA bytes 0, 1, 2... */
static const char *write_file(const char *text, size_t length, size_t data) {
    unsigned char bytes[1024];
    size_t size = strlen(text);
    for (int i = 0; i < 8; i++) bytes[i] = (unsigned char)(length >> 8 * i);
    memcpy(bytes + 8, text, size);
    for (size_t i = 0; i < data; i++) bytes[8 + size + i] = (unsigned char)i;
    return scratch_write("a.safetensors", bytes, 8 + size + data);
}

#define TENSOR(name, dtype, shape, from, to)                                                                 \
    "\"" name "\":{\"dtype\":\"" dtype "\",\"shape\":[" shape "],\"data_offsets\":[" from "," to "]}"

static const struct {
    const char *text, *name; /* behind the file's; NULL: none */
    mc_type type;
    int64_t rows, cols;
    int first; /* the tensor's first byte */
} good[] = {
    {"{" TENSOR("w", "I8", "2,3", "0", "6") "}", NULL, MC_S8, 2, 3, 0},
    {"{\"__metadata__\":{\"a\":\"b\"}," TENSOR("w", "F16", "2,2", "2", "10") "}  ", NULL, MC_F16, 2, 2, 2},
    {"{" TENSOR("b", "F32", "2", "0", "8") "," TENSOR("w", "BF16", "1,2", "8", "12") "}", NULL, MC_BF16, 1, 2,
     8},
    {"{" TENSOR("v", "U8", "2,1", "0", "2") "," TENSOR("w", "F32", "1,2", "2", "10") "}", "w", MC_F32, 1, 2,
     2},
    {"{" TENSOR("v", "U8", "2,1", "0", "2") "," TENSOR("w:x", "I64", "1,1", "4", "12") "}", "w:x", MC_S64, 1,
     1, 4},
    {"{" TENSOR("w", "I16", "0,3", "5", "5") "}", NULL, MC_S16, 0, 3, 5},
    {"{" TENSOR("w", "F8_E4M3", "2,2", "1", "5") "}", NULL, MC_E4M3, 2, 2, 1},
    {"{" TENSOR("w", "F8_E5M2", "1,3", "0", "3") "}", NULL, MC_E5M2, 1, 3, 0},
};

static void test_good(mc_diag *diag) {
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        const char *file = write_file(good[i].text, strlen(good[i].text), 16);
        char path[512];
        mc_dense dense;
        snprintf(path, sizeof path, "%s%s%s", file, good[i].name ? ":" : "",
                 good[i].name ? good[i].name : "");
        expect_ok(good[i].text, mc_dense_read(path, &dense, diag), diag);
        CHECK(dense.type == good[i].type && dense.rows == good[i].rows && dense.cols == good[i].cols &&
                  dense.ld == dense.cols,
              "%s", good[i].text);
        size_t bytes = (size_t)mc_type_size(dense.type, dense.rows * dense.cols);
        for (size_t b = 0; dense.data && b < bytes; b++)
            CHECK(((unsigned char *)dense.data)[b] == good[i].first + (int)b, "%s", good[i].text);
        mc_dense_free(&dense);
        unlink(file);
    }
}

static const struct {
    const char *text, *name;
    size_t more, data; /* what the header is longer by than its text, as it says itself */
    mc_status status;
    const char *message;
} bad[] = {
    {"", NULL, 0, 0, MC_FORMAT, "its header is no JSON object"},
    {"[1]", NULL, 0, 0, MC_FORMAT, "its header is no JSON object"},
    {"{", NULL, 0, 6, MC_FORMAT, "its header is no JSON object: "},
    {"{}", NULL, 1, 0, MC_FORMAT, "not a .safetensors file, or one that was cut off"},
    {"{}", NULL, (size_t)1 << 60, 0, MC_FORMAT, "not a .safetensors file, or one that was cut off"},
    {"{}", NULL, 0, 0, MC_CANNOT, "no matrix is in it"},
    {"{}", "w", 0, 0, MC_USAGE, "there is no w; its matrices are none"},
    {"{" TENSOR("w", "I8", "1,1", "0", "1") "}", "__metadata__", 0, 1, MC_USAGE, "its matrices are w"},
    {"{" TENSOR("b", "I8", "2", "0", "2") "}", NULL, 0, 2, MC_CANNOT, "no matrix is in it"},
    {"{" TENSOR("b", "I8", "2", "0", "2") "}", "b", 0, 2, MC_CANNOT, "b is no matrix"},
    {"{" TENSOR("v", "I8", "1,1", "0", "1") "," TENSOR("w\\u001b", "I8", "1,1", "1", "2") "}", NULL, 0, 2,
     MC_USAGE, "2 matrices are in it: name one, "},
    {"{" TENSOR("v", "I8", "1,1", "0", "1") "," TENSOR("w\\u001b", "I8", "1,1", "1", "2") "}", NULL, 0, 2,
     MC_USAGE, "of v, w?"},
    {"{" TENSOR("w", "I8", "1,1", "0", "1") "," TENSOR("w", "I8", "1,1", "0", "1") "}", NULL, 0, 1, MC_FORMAT,
     "no JSON object: duplicate"},
    {"{" TENSOR("w", "F64", "1,1", "0", "8") "}", NULL, 0, 8, MC_CANNOT, "w holds F64: F16, BF16"},
    {"{\"w\":{\"shape\":[1,1],\"data_offsets\":[0,1]}}", NULL, 0, 1, MC_CANNOT, "w holds no dtype"},
    {"{" TENSOR("w", "I8", "2,3", "0", "5") "}", NULL, 0, 6, MC_FORMAT,
     "data_offsets of w are not those of 2 x 3"},
    {"{" TENSOR("w", "I8", "2,3", "0", "6") "}", NULL, 0, 5, MC_FORMAT, "data_offsets of w"},
    {"{" TENSOR("w", "I8", "2,3", "7", "1") "}", NULL, 0, 9, MC_FORMAT, "data_offsets of w"},
    {"{" TENSOR("w", "I8", "2,3", "-3", "3") "}", NULL, 0, 9, MC_FORMAT, "data_offsets of w"},
    {"{" TENSOR("w", "I8", "2,-3", "0", "6") "}", NULL, 0, 6, MC_CANNOT, "w is no matrix"},
    {"{" TENSOR("w", "I8", "2,3.0", "0", "6") "}", NULL, 0, 6, MC_CANNOT, "w is no matrix"},
    {"{" TENSOR("w", "I64", "4611686018427387904,4", "0", "8") "}", NULL, 0, 8, MC_FORMAT,
     "data_offsets of w"},
    {"{\"w\":7,\"v\":{\"dtype\":\"I8\",\"shape\":[1,1]}}", NULL, 0, 8, MC_FORMAT, "data_offsets of v"},
};

static void test_bad(mc_diag *diag) {
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const char *file = write_file(bad[i].text, strlen(bad[i].text) + bad[i].more, bad[i].data);
        char path[512];
        mc_dense dense;
        snprintf(path, sizeof path, "%s%s%s", file, bad[i].name ? ":" : "", bad[i].name ? bad[i].name : "");
        expect_failure(bad[i].text, mc_dense_read(path, &dense, diag), bad[i].status, diag, bad[i].message);
        CHECK(dense.data == NULL, "%s", bad[i].text);
        unlink(file);
    }
}

static void test_files(mc_diag *diag) {
    mc_dense dense;
    mc_csr csr;
    size_t length;
    const char *file = scratch_write("short.safetensors", "1234567", 7);
    expect_failure("short", mc_dense_read(file, &dense, diag), MC_FORMAT, diag, "not a .safetensors file");
    unlink(file);
    expect_failure("absent", mc_dense_read("absent.safetensors:w", &dense, diag), MC_IO, diag,
                   "absent.safetensors: No such file");
    expect_failure("other", mc_csr_read("a.tensors", &csr, diag), MC_USAGE, diag, "or .safetensors file");
    file = write_file("{" TENSOR("w", "I8", "2,3", "0", "6") "}",
                      strlen("{" TENSOR("w", "I8", "2,3", "0", "6") "}"), 6);
    expect_ok("csr", mc_csr_read(file, &csr, diag), diag);
    CHECK(csr.nnz == 5 && csr.rows == 2 && csr.cols == 3 && csr.field == MC_CSR_INTEGER);
    mc_csr_free(&csr);
    unlink(file);
    CHECK(mc_is_safetensors("a.safetensors", &length) && length == 13);
    CHECK(mc_is_safetensors("a.safetensors:b.c", &length) && length == 13);
    CHECK(mc_is_safetensors("a.safetensors:b.safetensors", &length) && length == 27);
    CHECK(!mc_is_safetensors("a.safetensors.npy", &length) && length == 17);
}

int main(void) {
    mc_diag *diag = mc_diag_create();
    scratch_begin();
    test_good(diag);
    test_bad(diag);
    test_files(diag);
    mc_diag_destroy(diag);
    return scratch_end();
}
