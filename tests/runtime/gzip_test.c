/* .smtx.gz and .mtx.gz: what gzip compressed, in one member or more, and what each damaged file is told. */
#include <zlib.h>
#include "scratch.h"
#include "base/gunzip.h"

enum { ROOM = 1 << 16 };

typedef struct bytes {
    unsigned char at[ROOM];
    size_t size;
} bytes;

static const char smtx[] = "3, 4, 3\n0 1 2 3\n0 1 3\n";
static const char mtx[] = "%%MatrixMarket matrix coordinate real symmetric\n% c\n3 3 2\n1 1 0.5\n3 1 -2e3\n";

/* Appends a member with the SIZE bytes of TEXT. */
static void add_member(bytes *file, const void *text, size_t size) {
    z_stream stream = {.next_in = (Bytef *)(uintptr_t)text,
                       .avail_in = (uInt)size,
                       .next_out = file->at + file->size,
                       .avail_out = (uInt)(ROOM - file->size)};
    CHECK(deflateInit2(&stream, 9, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK, "deflate");
    CHECK(deflate(&stream, Z_FINISH) == Z_STREAM_END, "deflate");
    file->size += stream.total_out;
    deflateEnd(&stream);
}

static void add_bytes(bytes *file, const void *what, size_t size) {
    memcpy(file->at + file->size, what, size);
    file->size += size;
}

static void expect_pattern(const char *name, const bytes *file, int64_t nnz, mc_diag *diag) {
    const char *path = scratch_write(name, file->at, file->size);
    mc_csr csr;
    expect_ok(name, mc_csr_read(path, &csr, diag), diag);
    CHECK(csr.nnz == nnz, "%s: %d nonzeros", name, (int)csr.nnz);
    mc_csr_free(&csr);
    unlink(path);
}

static void test_read(mc_diag *diag) {
    bytes whole = {0}, parts = {0}, matrix = {0};
    add_member(&whole, smtx, sizeof smtx - 1);
    expect_pattern("a.smtx.gz", &whole, 3, diag);
    add_member(&matrix, mtx, sizeof mtx - 1);
    expect_pattern("a.mtx.gz", &matrix, 3, diag);
    add_member(&parts, smtx, 5); /* several members are one text, and zeros behind them nothing */
    add_member(&parts, "", 0);
    add_member(&parts, smtx + 5, sizeof smtx - 6);
    add_bytes(&parts, "\0\0\0", 3);
    expect_pattern("b.smtx.gz", &parts, 3, diag);
    CHECK(mc_csr_is_smtx("a.smtx.gz") && mc_csr_is_smtx("a.smtx") && !mc_csr_is_smtx("a.mtx.gz"), "endings");
    CHECK(!mc_csr_reads("a.npy.gz") && !mc_csr_reads("a.gz") && mc_csr_reads("a.mtx.gz"), "endings");
}

/* Lines are counted in the text, not in the file. */
static void test_lines(mc_diag *diag) {
    static const char text[] = "3, 4, 3\n0 1 2 3\n0 1 4\n";
    bytes file = {0};
    mc_csr csr;
    add_member(&file, text, sizeof text - 1);
    const char *path = scratch_write("a.smtx.gz", file.at, file.size);
    expect_failure("line", mc_csr_read(path, &csr, diag), MC_FORMAT, diag,
                   "a.smtx.gz:3: a column index is out of range: '4'");
    unlink(path);
}

static void expect_refused(const char *what, const void *at, size_t size, const char *message,
                           mc_diag *diag) {
    const char *path = scratch_write("bad.smtx.gz", at, size);
    mc_csr csr;
    mc_status status = mc_csr_read(path, &csr, diag);
    CHECK(csr.row_ptr == NULL && csr.nnz == 0, "%s: the output is not zeroed", what);
    expect_failure(what, status, MC_FORMAT, diag, message);
    unlink(path);
}

static void test_damaged(mc_diag *diag) {
    bytes file = {0}, empty = {0}, tail;
    add_member(&file, smtx, sizeof smtx - 1);
    for (size_t size = 0; size < file.size; size++)
        expect_refused("cut off", file.at, size, "the compressed bytes end early", diag);
    expect_refused("plain", smtx, sizeof smtx - 1, "not what gzip writes: incorrect header check", diag);
    add_member(&empty, "", 0);
    expect_refused("empty", empty.at, empty.size, ":1: the file is empty", diag);
    tail = file;
    add_bytes(&tail, "\0tail", 5);
    expect_refused("tail", tail.at, tail.size, "not what gzip writes: incorrect header check", diag);
    file.at[file.size - 8] ^= 1;
    expect_refused("checksum", file.at, file.size, "not what gzip writes: incorrect data check", diag);
    file.at[file.size - 8] ^= 1, file.at[file.size - 4] ^= 1;
    expect_refused("length", file.at, file.size, "not what gzip writes: incorrect length check", diag);
}

/* More than the room that decompression begins with, and as much as it is then: 64 KiB, 192 KiB, ... */
static void test_sizes(mc_diag *diag) {
    for (size_t size = 65535; size <= 196609; size += size == 65537 ? 131070 : 1) {
        char *text = calloc(size, 1), *out;
        size_t out_size;
        bytes file = {0};
        text[size - 1] = 'x';
        add_member(&file, text, size);
        expect_ok("sizes", gunzip("sizes", file.at, file.size, &out, &out_size, diag), diag);
        CHECK(out_size == size && memcmp(out, text, size) == 0, "%zu bytes became %zu others", size,
              out_size);
        free(out);
        free(text);
    }
}

int main(void) {
    mc_diag *diag = mc_diag_create();
    scratch_begin();
    test_read(diag);
    test_lines(diag);
    test_damaged(diag);
    test_sizes(diag);
    mc_diag_destroy(diag);
    return scratch_end();
}
