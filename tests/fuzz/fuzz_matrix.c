/* Any bytes as a matrix or array file; the first byte chooses which. */
#include "mcrt_internal.h"
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool write_file(const char *path, const uint8_t *data, size_t size) {
    FILE *file = fopen(path, "wb");
    if (!file) return false;
    bool written = fwrite(data, 1, size, file) == size;
    return fclose(file) == 0 && written;
}

static void read_file(const char *path, bool array, mc_diag *diag) {
    mc_dense dense = {0};
    mc_csr csr = {0};
    mc_status status = array ? mc_npy_read(path, &dense, diag) : mc_csr_read(path, &csr, diag);
    if ((status != MC_OK) != (mc_diag_count(diag) > 0)) abort();
    mc_dense_free(&dense);
    mc_csr_free(&csr);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char *const endings[] = {"smtx", "mtx", "npy"};
    char path[64];
    if (size == 0) return 0;
    int kind = data[0] % 3;
    snprintf(path, sizeof path, "/dev/shm/mcgen-fuzz-%ld.%s", (long)getpid(), endings[kind]);
    mc_diag *diag = mc_diag_create();
    if (write_file(path, data + 1, size - 1)) read_file(path, kind == 2, diag);
    unlink(path);
    mc_diag_destroy(diag);
    return 0;
}
