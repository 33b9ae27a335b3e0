/* Any bytes as a matrix or array file, compressed or not, or as the arrays of a BSR; the first byte chooses
   which. */
#include "mcrt_internal.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { KIND_NPY = 2, KIND_BSR = 4, KINDS = 7 };

static bool write_file(const char *path, const uint8_t *data, size_t size) {
    FILE *file = fopen(path, "wb");
    if (!file) return false;
    bool written = fwrite(data, 1, size, file) == size;
    return fclose(file) == 0 && written;
}

/* A .safetensors file whose header tells the arrays of a BSR: seven bytes say how many lines and blocks there
   are, how large blocks and the matrix are, and which of the namings it is. The others are the arrays. */
static bool write_bsr(const char *path, const uint8_t *data, size_t size) {
    static const char *const namings[][3] = {{"indptr", "indices", "data"},
                                             {"crow_indices", "col_indices", "values"},
                                             {"ccol_indices", "row_indices", "values"}};
    enum { NUMBERS = 7, MOST = 1024 };
    if (size < NUMBERS) return false;
    const char *const *names = namings[data[6] % 3];
    unsigned offsets = data[0], blocks = data[1], block_rows = data[2], block_cols = data[3];
    unsigned values = offsets + blocks, shape = values + blocks * block_rows * block_cols;
    char header[MOST];
    int length = snprintf(header, MOST,
                          "{\"%s\":{\"dtype\":\"U8\",\"shape\":[%u],\"data_offsets\":[0,%u]},"
                          "\"%s\":{\"dtype\":\"U8\",\"shape\":[%u],\"data_offsets\":[%u,%u]},"
                          "\"%s\":{\"dtype\":\"I8\",\"shape\":[%u,%u,%u],\"data_offsets\":[%u,%u]},"
                          "\"shape\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[%u,%u]}}",
                          names[0], offsets, offsets, names[1], blocks, offsets, values, names[2], blocks,
                          block_rows, block_cols, values, shape, shape, shape + 2);
    const uint8_t prefix[8] = {(uint8_t)(length & 255), (uint8_t)(length >> 8)};
    FILE *file = fopen(path, "wb");
    if (!file) return false;
    fwrite(prefix, 1, sizeof prefix, file);
    fwrite(header, 1, (size_t)length, file);
    fwrite(data + NUMBERS, 1, size - NUMBERS, file);
    for (size_t i = size - NUMBERS; i < shape; i++) fputc(0, file); /* those that are missing */
    fwrite(data + 4, 1, 2, file);
    return fclose(file) == 0;
}

static void check_csr(const mc_csr *csr) {
    if (csr->row_ptr != NULL && csr->row_ptr[csr->rows] != csr->nnz) abort();
    for (int64_t row = 0; row < csr->rows; row++)
        for (int64_t i = csr->row_ptr[row]; i < csr->row_ptr[row + 1]; i++)
            if (csr->col_idx[i] < 0 || csr->col_idx[i] >= csr->cols ||
                (i > csr->row_ptr[row] && csr->col_idx[i] <= csr->col_idx[i - 1]))
                abort();
}

static void read_file(const char *path, bool array, mc_diag *diag) {
    mc_dense dense = {0};
    mc_csr csr = {0};
    mc_status status = array ? mc_npy_read(path, &dense, diag) : mc_csr_read(path, &csr, diag);
    if ((status != MC_OK) != (mc_diag_count(diag) > 0)) abort();
    check_csr(&csr);
    mc_dense_free(&dense);
    mc_csr_free(&csr);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char *const endings[KINDS] = {"smtx",        "mtx",     "npy",   "safetensors",
                                               "safetensors", "smtx.gz", "mtx.gz"};
    char path[64];
    if (size == 0) return 0;
    int kind = (data[0] + 256 - '0') % KINDS; /* "0" is the first */
    snprintf(path, sizeof path, "/dev/shm/mcgen-fuzz-%ld.%s", (long)getpid(), endings[kind]);
    mc_diag *diag = mc_diag_create();
    bool written =
        kind == KIND_BSR ? write_bsr(path, data + 1, size - 1) : write_file(path, data + 1, size - 1);
    if (written) read_file(path, kind == KIND_NPY, diag);
    unlink(path);
    mc_diag_destroy(diag);
    return 0;
}
