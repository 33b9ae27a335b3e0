#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "matrix/bsr.h"
#include "matrix/csr.h"
#include "matrix/dense.h"
#include "text/file.h"
#include "base/gunzip.h"
#include "base/memory.h"

mc_status mcrt_csr_create(int64_t rows, int64_t cols, int64_t nnz, mc_csr *csr, mc_diag *diag) {
    *csr = (mc_csr){.rows = rows, .cols = cols, .nnz = nnz};
    csr->row_ptr = mcrt_array(rows < INT64_MAX ? rows + 1 : -1, sizeof *csr->row_ptr);
    csr->col_idx = mcrt_array(nnz, sizeof *csr->col_idx);
    if (csr->row_ptr && csr->col_idx) return MC_OK;
    mc_csr_free(csr);
    return mc_fail(diag, MC_NOMEM, "no memory for a pattern of %" PRId64 " rows and %" PRId64 " nonzeros",
                   rows, nnz);
}

void mc_csr_free(mc_csr *csr) {
    free(csr->row_ptr);
    free(csr->col_idx);
    free(csr->values);
    *csr = (mc_csr){0};
}

typedef mc_status csr_reader(const char *path, mc_csr *csr, mc_diag *diag);

static mc_status read_bsr(const char *path, mc_csr *csr, mc_diag *diag) {
    mc_blocks blocks;
    return mc_bsr_read(path, csr, &blocks, diag);
}

static const struct {
    const char *ending;
    csr_reader *read;
    bool text; /* .gz may stand behind the ending */
} readers[] = {
    {".smtx", mcrt_smtx_read, true}, {".mtx", mcrt_mtx_read, true}, {".npy", mcrt_array_read, false}};

/* Of TEXT the first LENGTH characters are meant. */
static bool ends_with(const char *text, size_t length, const char *ending) {
    size_t tail = strlen(ending);
    return length >= tail && strncmp(text + length - tail, ending, tail) == 0;
}

/* NULL: there is none for PATH. */
static csr_reader *reader_of(const char *path) {
    size_t length;
    if (mc_bsr_is(path)) return read_bsr;
    if (mc_is_safetensors(path, &length)) return mcrt_array_read;
    bool compressed = gunzip_is(path, &length);
    for (size_t i = 0; i < sizeof readers / sizeof readers[0]; i++)
        if (ends_with(path, length, readers[i].ending) && (readers[i].text || !compressed))
            return readers[i].read;
    return NULL;
}

bool mc_csr_is_smtx(const char *path) { return reader_of(path) == mcrt_smtx_read; }

bool mc_csr_reads(const char *path) { return reader_of(path) != NULL; }

mc_status mc_csr_read(const char *path, mc_csr *csr, mc_diag *diag) {
    csr_reader *read = reader_of(path);
    *csr = (mc_csr){0};
    if (read != NULL) return read(path, csr, diag);
    if (ends_with(path, strlen(path), ".npz"))
        return mc_fail(diag, MC_USAGE, "%s: .npz files are not read: unzip %s -d DIR, and name DIR", path,
                       path);
    return mc_fail(diag, MC_USAGE,
                   "%s: a matrix must be a .smtx, .mtx, .npy or .safetensors file (a .smtx or .mtx perhaps "
                   "compressed, .gz)",
                   path);
}

static const char *field_name(const mc_csr *csr) {
    if (csr->values == NULL) return "pattern";
    return csr->field == MC_CSR_INTEGER ? "integer" : "real";
}

/* 17 digits tell every double. */
mc_status mc_csr_write_mtx(const char *path, const mc_csr *csr, mc_diag *diag) {
    file_output output;
    mc_status status = file_open(path, &output, diag);
    if (status != MC_OK) return status;
    FILE *stream = output.stream;
    fprintf(stream, "%%%%MatrixMarket matrix coordinate %s general\n", field_name(csr));
    fprintf(stream, "%" PRId64 " %" PRId64 " %" PRId64 "\n", csr->rows, csr->cols, csr->nnz);
    for (int64_t row = 0; row < csr->rows; row++)
        for (int64_t i = csr->row_ptr[row]; i < csr->row_ptr[row + 1]; i++) {
            fprintf(stream, "%" PRId64 " %d", row + 1, csr->col_idx[i] + 1);
            if (csr->values != NULL) fprintf(stream, " %.17g", csr->values[i]);
            fputc('\n', stream);
        }
    return file_commit(&output, diag);
}

mc_status mc_csr_write_smtx(const char *path, const mc_csr *csr, mc_diag *diag) {
    file_output output;
    mc_status status = file_open(path, &output, diag);
    if (status != MC_OK) return status;
    FILE *stream = output.stream;
    fprintf(stream, "%" PRId64 ", %" PRId64 ", %" PRId64 "\n0", csr->rows, csr->cols, csr->nnz);
    for (int64_t row = 1; row <= csr->rows; row++) fprintf(stream, " %" PRId64, csr->row_ptr[row]);
    for (int64_t i = 0; i < csr->nnz; i++) fprintf(stream, "%c%" PRId32, i ? ' ' : '\n', csr->col_idx[i]);
    fputc('\n', stream);
    return file_commit(&output, diag);
}
