/* The .smtx reader (DLMC): "rows, cols, nnz" on a line, rows + 1 row offsets, nnz column indices. */
#include <inttypes.h>
#include "matrix/csr.h"
#include "base/memory.h"
#include "base/text_input.h"

typedef struct smtx_header {
    int64_t rows, cols, nnz;
} smtx_header;

/* DLMC separates by ", "; other writers by blanks alone. */
static void skip_comma(text_input *in) {
    input_skip_blanks(in);
    if (in->at < in->end && *in->at == ',') in->at++;
}

/* Every number takes a digit and a separator, so a header's claim is held against the file's size before
   anything is allocated for it. */
static mc_status check_claim(const text_input *in, const smtx_header *header) {
    int64_t room = (int64_t)input_left(in) / 2 + 1;
    if (header->nnz > room - header->rows - 1)
        return input_fail(in, MC_FORMAT,
                          "the header claims %" PRId64 " rows and %" PRId64
                          " nonzeros, the file has room for %" PRId64 " numbers",
                          header->rows, header->nnz, room);
    int64_t cells = mcrt_product(header->rows, header->cols);
    if (cells >= 0 && header->nnz > cells)
        return input_fail(in, MC_FORMAT,
                          "the header claims %" PRId64 " nonzeros in %" PRId64 " x %" PRId64 " elements",
                          header->nnz, header->rows, header->cols);
    return MC_OK;
}

static mc_status read_header(text_input *in, smtx_header *header) {
    mc_status status = input_integer(in, "the number of rows", 0, INT64_MAX, &header->rows);
    if (status != MC_OK) return status;
    skip_comma(in);
    status = input_integer(in, "the number of columns", 0, INT32_MAX, &header->cols);
    if (status != MC_OK) return status;
    skip_comma(in);
    status = input_integer(in, "the number of nonzeros", 0, INT64_MAX, &header->nnz);
    if (status != MC_OK) return status;
    status = check_claim(in, header);
    return status == MC_OK ? input_end_line(in, "the header \"rows, cols, nnz\"") : status;
}

static mc_status read_row_offsets(text_input *in, mc_csr *csr) {
    for (int64_t row = 0; row <= csr->rows; row++) {
        int64_t *offset = &csr->row_ptr[row];
        input_skip_space(in);
        mc_status status = input_integer(in, "a row offset", 0, csr->nnz, offset);
        if (status != MC_OK) return status;
        if (row == 0 && *offset != 0)
            return input_fail(in, MC_FORMAT, "the first row offset is %" PRId64 ", must be 0", *offset);
        if (row > 0 && *offset < offset[-1])
            return input_fail(in, MC_FORMAT,
                              "row offset %" PRId64 " of row %" PRId64 " is below the one before, %" PRId64,
                              *offset, row, offset[-1]);
    }
    if (csr->row_ptr[csr->rows] != csr->nnz)
        return input_fail(in, MC_FORMAT,
                          "the last row offset is %" PRId64 ", the header claims %" PRId64 " nonzeros",
                          csr->row_ptr[csr->rows], csr->nnz);
    return MC_OK;
}

static mc_status read_row(text_input *in, mc_csr *csr, int64_t row) {
    int64_t before = -1;
    for (int64_t i = csr->row_ptr[row]; i < csr->row_ptr[row + 1]; i++) {
        int64_t col;
        input_skip_space(in);
        mc_status status = input_integer(in, "a column index", 0, csr->cols - 1, &col);
        if (status != MC_OK) return status;
        if (col == before)
            return input_fail(in, MC_FORMAT, "column %" PRId64 " occurs twice in row %" PRId64, col, row);
        if (col < before)
            return input_fail(in, MC_FORMAT,
                              "column %" PRId64 " of row %" PRId64 " comes after column %" PRId64
                              ": columns must ascend",
                              col, row, before);
        csr->col_idx[i] = (int32_t)col;
        before = col;
    }
    return MC_OK;
}

static mc_status read_arrays(text_input *in, mc_csr *csr) {
    mc_status status = read_row_offsets(in, csr);
    for (int64_t row = 0; status == MC_OK && row < csr->rows; row++) status = read_row(in, csr, row);
    if (status != MC_OK) return status;
    input_skip_space(in);
    if (in->at == in->end) return MC_OK;
    return input_fail(in, MC_FORMAT, "%s after the last column index", input_token(in).text);
}

mc_status mcrt_smtx_read(const char *path, mc_csr *csr, mc_diag *diag) {
    text_input in;
    smtx_header header;
    mc_status status = input_open(&in, path, diag);
    if (status == MC_OK) status = read_header(&in, &header);
    if (status == MC_OK) status = mcrt_csr_create(header.rows, header.cols, header.nnz, csr, diag);
    if (status == MC_OK) status = read_arrays(&in, csr);
    if (status != MC_OK) mc_csr_free(csr);
    input_close(&in);
    return status;
}
