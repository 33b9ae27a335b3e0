/* Files that a test writes: in a directory of its own, removed at the end. Also the expectations that nearly
   every test of the runtime has. */
#ifndef TESTS_SCRATCH_H
#define TESTS_SCRATCH_H

#include <stdlib.h>
#include <unistd.h>
#include "check.h"
#include "mcrt_internal.h"

static char scratch_dir[] = "scratch-XXXXXX";

static inline void scratch_begin(void) {
    if (!mkdtemp(scratch_dir)) {
        perror(scratch_dir);
        exit(1);
    }
}

static inline int scratch_end(void) {
    CHECK(rmdir(scratch_dir) == 0, "a test left files in %s", scratch_dir);
    return check_end();
}

/* Valid until the next call. */
static inline const char *scratch_path(const char *name) {
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", scratch_dir, name);
    return path;
}

static inline const char *scratch_write(const char *name, const void *bytes, size_t size) {
    const char *path = scratch_path(name);
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(bytes, 1, size, file) != size || fclose(file) != 0) {
        perror(path);
        exit(1);
    }
    return path;
}

/* STATUS must be WANT, and the message hold FRAGMENT. Clears DIAG. */
static inline void expect_failure(const char *what, mc_status status, mc_status want, mc_diag *diag,
                                  const char *fragment) {
    CHECK(status == want, "%s: status %d, want %d: %s", what, (int)status, (int)want, mc_diag_text(diag));
    CHECK(strstr(mc_diag_text(diag), fragment), "%s: want \"%s\" in \"%s\"", what, fragment,
          mc_diag_text(diag));
    mc_diag_clear(diag);
}

static inline void expect_ok(const char *what, mc_status status, mc_diag *diag) {
    CHECK(status == MC_OK, "%s: %s", what, mc_diag_text(diag));
    mc_diag_clear(diag);
}

static inline bool same_csr(const mc_csr *a, const mc_csr *b) {
    return a->rows == b->rows && a->cols == b->cols && a->nnz == b->nnz &&
           memcmp(a->row_ptr, b->row_ptr, (size_t)(a->rows + 1) * sizeof *a->row_ptr) == 0 &&
           memcmp(a->col_idx, b->col_idx, (size_t)a->nnz * sizeof *a->col_idx) == 0;
}

static inline bool same_vsparse(const mc_vsparse *a, const mc_vsparse *b) {
    return a->type == b->type && a->vec == b->vec && a->rows == b->rows && a->cols == b->cols &&
           a->row_blocks == b->row_blocks && a->vectors == b->vectors &&
           memcmp(a->row_ptr, b->row_ptr, (size_t)(a->row_blocks + 1) * sizeof *a->row_ptr) == 0 &&
           memcmp(a->col_idx, b->col_idx, (size_t)a->vectors * sizeof *a->col_idx) == 0 &&
           memcmp(a->values, b->values, (size_t)mc_type_size(a->type, a->vectors * a->vec)) == 0;
}

/* FNV-1a over SIZE bytes of DATA, going on from HASH (0: from the start). */
static inline uint64_t checksum(uint64_t hash, const void *data, size_t size) {
    const unsigned char *bytes = data;
    if (hash == 0) hash = 0xcbf29ce484222325u;
    for (size_t i = 0; i < size; i++) hash = (hash ^ bytes[i]) * 0x100000001b3u;
    return hash;
}

#endif
