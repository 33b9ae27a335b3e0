/* mcrun matrix-info */
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include "problem.h"

enum { INFO_STRIDE = 32 };            /* the least stride of the strided format */
static const double nearly_full = .9; /* the fill from which vectors are what the matrix was pruned in */

typedef struct info_options {
    int64_t vec; /* 0: not given */
    bool json, dilate;
} info_options;

static const cmd_option info_table[] = {
    {"vec", 0, OPTION_INTEGER, offsetof(info_options, vec), "V", 1, 64,
     "also: vectors of V rows, their fill and padding"},
    {"dilate", 0, OPTION_SWITCH, offsetof(info_options, dilate), NULL, 0, 0,
     "with --vec: each nonzero becomes a vector, as mcrun spmm reads .smtx (V rows share vectors)"},
    {"json", 0, OPTION_SWITCH, offsetof(info_options, json), NULL, 0, 0, "print JSON"},
};

typedef struct row_lengths {
    int64_t min, max, empty;
    double mean, cv;
} row_lengths;

typedef struct vector_info {
    int64_t vectors, slots; /* slots: vectors with the padding to whole strides */
    double fill;
} vector_info;

static row_lengths measure_rows(const mc_csr *csr) {
    row_lengths lengths = {.min = csr->rows > 0 ? INT64_MAX : 0};
    double squares = 0;
    if (csr->rows == 0) return lengths;
    lengths.mean = (double)csr->nnz / (double)csr->rows;
    for (int64_t row = 0; row < csr->rows; row++) {
        int64_t length = csr->row_ptr[row + 1] - csr->row_ptr[row];
        if (length < lengths.min) lengths.min = length;
        if (length > lengths.max) lengths.max = length;
        lengths.empty += length == 0;
        squares += ((double)length - lengths.mean) * ((double)length - lengths.mean);
    }
    if (csr->nnz > 0) lengths.cv = sqrt(squares / (double)csr->rows) / lengths.mean;
    return lengths;
}

static mc_status measure_vectors(const mc_csr *csr, int vec, bool dilate, vector_info *info, mc_diag *diag) {
    mc_vsparse a;
    *info = (vector_info){.fill = 1};
    mc_status status = dilate ? mc_vsparse_dilate(csr, vec, MC_S8, &a, diag)
                              : mc_vsparse_union(csr, vec, MC_S8, &a, &info->fill, NULL, diag);
    if (status != MC_OK) return status;
    info->vectors = a.vectors;
    for (int64_t i = 0; i < a.row_blocks; i++) {
        int64_t length = a.row_ptr[i + 1] - a.row_ptr[i];
        info->slots += (length + INFO_STRIDE - 1) / INFO_STRIDE * INFO_STRIDE;
    }
    mc_vsparse_free(&a);
    return MC_OK;
}

static double sparsity_of(const mc_csr *csr) {
    double elements = (double)csr->rows * (double)csr->cols;
    return elements > 0 ? 1 - (double)csr->nnz / elements : 0;
}

static double padding_of(const vector_info *info) {
    return info->slots > 0 ? 1 - (double)info->vectors / (double)info->slots : 0;
}

static void print_info(const mc_csr *csr, const mc_blocks *blocks, const row_lengths *rows, int vec,
                       const vector_info *vectors) {
    printf("shape        %" PRId64 " x %" PRId64 "\n", csr->rows, csr->cols);
    printf("nonzeros     %" PRId64 ", sparsity %.4f\n", csr->nnz, sparsity_of(csr));
    printf("row length   %" PRId64 " to %" PRId64 ", mean %.2f, cv %.3f, %" PRId64 " rows empty\n", rows->min,
           rows->max, rows->mean, rows->cv, rows->empty);
    if (csr->summed > 0)
        printf("summed       %" PRId64 " entries added to others in their place\n", csr->summed);
    if (blocks->rows > 0)
        printf("blocks       %" PRId64 " x %" PRId64 " of a BSR\n", blocks->rows, blocks->cols);
    if (vec == 0) return;
    printf("vectors      %" PRId64 " of %d x 1, fill %.4f\n", vectors->vectors, vec, vectors->fill);
    if (vectors->fill < nearly_full)
        printf("             not vector-sparse: %.1f values stand there for each nonzero\n",
               1 / vectors->fill);
    printf("padding      %.4f of %" PRId64 " slots in strides of %d\n", padding_of(vectors), vectors->slots,
           INFO_STRIDE);
}

static mc_status print_info_json(const mc_csr *csr, const mc_blocks *blocks, const row_lengths *rows, int vec,
                                 bool dilate, const vector_info *vectors, mc_diag *diag) {
    json_t *json =
        json_pack("{s:I, s:I, s:I, s:f, s:{s:I, s:f, s:I, s:f, s:I}}", "rows", (json_int_t)csr->rows, "cols",
                  (json_int_t)csr->cols, "nonzeros", (json_int_t)csr->nnz, "sparsity", sparsity_of(csr),
                  "row_length", "min", (json_int_t)rows->min, "mean", rows->mean, "max",
                  (json_int_t)rows->max, "cv", rows->cv, "empty", (json_int_t)rows->empty);
    json_t *vector_json =
        json_pack("{s:i, s:I, s:f, s:I, s:f}", "vec", vec, "vectors", (json_int_t)vectors->vectors, "fill",
                  vectors->fill, "slots", (json_int_t)vectors->slots, "padding", padding_of(vectors));
    if (blocks->rows > 0)
        json_object_set_new(
            json, "blocks",
            json_pack("{s:I, s:I}", "rows", (json_int_t)blocks->rows, "cols", (json_int_t)blocks->cols));
    if (vec == 0) json_decref(vector_json);
    else json_object_set_new(json, dilate ? "dilated" : "union", vector_json);
    return cmd_print_json(json, diag);
}

static int info_run(int argc, char **argv) {
    info_options options = {0};
    char **operands;
    int exit_status;
    if (!cmd_parse(&cmd_matrix_info, argc, argv, &options, &operands, &exit_status)) return exit_status;
    if (options.dilate && options.vec == 0) return cmd_usage("matrix-info: --dilate goes with --vec");
    mc_diag *diag = mc_diag_create();
    mc_csr csr;
    vector_info vectors = {0};
    mc_blocks blocks;
    mc_status status = problem_read_pattern(operands[0], &csr, &blocks, diag);
    if (status == MC_OK && options.dilate && blocks.rows > 0)
        status = mc_fail(diag, MC_USAGE, "--dilate: %s holds blocks", operands[0]);
    if (status == MC_OK && options.vec > 0)
        status = measure_vectors(&csr, (int)options.vec, options.dilate, &vectors, diag);
    if (status == MC_OK) {
        row_lengths rows = measure_rows(&csr);
        if (options.json)
            status = print_info_json(&csr, &blocks, &rows, (int)options.vec, options.dilate, &vectors, diag);
        else print_info(&csr, &blocks, &rows, (int)options.vec, &vectors);
    }
    mc_csr_free(&csr);
    return cmd_finish(status, diag);
}

const cmd cmd_matrix_info = {"matrix-info",
                             "MATRIX",
                             "tells a sparsity pattern's size, row lengths and vectors",
                             1,
                             {{info_table, sizeof info_table / sizeof info_table[0]}},
                             info_run};
