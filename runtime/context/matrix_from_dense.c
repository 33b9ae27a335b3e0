/* Matrices out of a dense one in device memory, and perhaps a mask. */
#include <inttypes.h>
#include <stdlib.h>
#include "base/memory.h"
#include "base/type.h"
#include "context/matrix.h"
#include "context/matrix_make.h"
#include "context/matrix_segments.h"
#include "matrix/vsparse.h"

#define DENSE_FIRST STRUCT_SIZE_TO(mc_device_dense_config, mask_ld)

/* -- What is refused before the device is asked ------------------------------------------------------- */

static mc_status check_ld(const char *name, int64_t ld, int64_t length, mc_type type, bool by_columns,
                          mc_diag *diag) {
    if (ld < length || ld > INT32_MAX)
        return mc_fail(diag, MC_USAGE, "%s is %" PRId64 ", must be %" PRId64 ", the %s, to %d", name, ld,
                       length, by_columns ? "rows" : "columns", INT32_MAX);
    if (mc_type_bytes(type) > 0 || ld % 2 == 0) return MC_OK;
    return mc_fail(diag, MC_USAGE, "%s is %" PRId64 ", must be even: two elements of %s share a byte", name,
                   ld, mc_type_text(type));
}

/* Leading dimensions of 0 become what they stand for. */
static mc_status check_config(mc_device_dense_config *config, mc_diag *diag) {
    mc_status status = matrix_check_shape(config->type, config->vec, config->rows, config->cols, diag);
    if (status == MC_OK) status = matrix_check_device_type(config->type, diag);
    if (status != MC_OK) return status;
    if ((unsigned)config->major > MC_MAJOR_COLUMN)
        return mc_fail(diag, MC_USAGE, "major is %d, must be an mc_major", (int)config->major);
    const bool by_columns = config->major == MC_MAJOR_COLUMN;
    const int64_t length = by_columns ? config->rows : config->cols;
    if (config->ld == 0) config->ld = length;
    if (config->mask_ld == 0) config->mask_ld = length;
    status = check_ld("ld", config->ld, length, config->type, by_columns, diag);
    if (status == MC_OK) status = check_ld("mask_ld", config->mask_ld, length, MC_U8, by_columns, diag);
    if (status == MC_OK && config->data == 0 && config->rows > 0 && config->cols > 0)
        status = mc_fail(diag, MC_USAGE, "data is 0");
    return status == MC_OK ? matrix_check_address("data", config->data, config->type, diag) : status;
}

/* -- Which vectors there are -------------------------------------------------------------------------- */

typedef struct dense_search {
    device_dense data, mask;
    row_segments segments;
    mc_address bits, starts;
    int64_t vectors;
} dense_search;

static bool has_mask(const dense_search *search) { return search->mask.data != 0; }

static dense_search search_of(const mc_device_dense_config *config) {
    const bool by_columns = config->major == MC_MAJOR_COLUMN;
    dense_search search = {.data = {.type = config->type,
                                    .vec = config->vec,
                                    .rows = config->rows,
                                    .cols = config->cols,
                                    .ld = config->ld,
                                    .by_columns = by_columns,
                                    .data = config->data}};
    search.mask = search.data;
    search.mask.type = MC_U8;
    search.mask.ld = config->mask_ld;
    search.mask.data = config->mask;
    return search;
}

/* All elements are looked at, also those that a mask leaves out. */
static mc_status check_range(device_work *work, const dense_search *search, mc_address wrong, mc_diag *diag) {
    dense_place place = {-1, 0};
    int64_t value = 0;
    mc_status status = dense_first_wrong(work, &search->data, &search->segments, wrong, &place, diag);
    if (status != MC_OK || place.row < 0) return status;
    status = dense_read(work, &search->data, place, &value, diag);
    if (status != MC_OK) return status;
    return matrix_refuse_element(search->data.type, place.row, place.column, value, diag);
}

static mc_status find_vectors(device_work *work, dense_search *search, mc_diag *diag) {
    const row_segments *segments = &search->segments;
    const size_t words = (size_t)(segment_count(segments) * MC_SEGMENT_WORDS);
    const bool ranged = dense_is_ranged(search->data.type);
    mc_address wrong = 0;
    mc_status status = work_scratch(work, words * sizeof(int32_t), &search->bits, diag);
    if (status == MC_OK) status = segments_scratch(work, segments, &search->starts, diag);
    if (status == MC_OK && ranged) status = segments_scratch(work, segments, &wrong, diag);
    if (status == MC_OK && (ranged || !has_mask(search)))
        status = dense_put_find(work, &search->data, segments, search->bits, search->starts, wrong, diag);
    if (status == MC_OK && ranged) status = check_range(work, search, wrong, diag);
    if (status == MC_OK && has_mask(search))
        status = dense_put_find(work, &search->mask, segments, search->bits, search->starts, 0, diag);
    return status;
}

/* -- Their numbers ------------------------------------------------------------------------------------ */

/* COUNTS, of segments, become the numbers of their first vectors. Returns how many vectors there are. */
static int64_t count_up(const row_segments *segments, int32_t *counts, int64_t *row_ptr) {
    int64_t vectors = 0;
    for (int64_t row = 0; row < segments->rows; row++) {
        for (int64_t i = row * segments->each; i < (row + 1) * segments->each; i++) {
            int32_t count = counts[i];
            counts[i] = vectors <= INT32_MAX ? (int32_t)vectors : 0;
            vectors += count;
        }
        row_ptr[row + 1] = vectors;
    }
    return vectors;
}

/* The row offsets, and where each segment's vectors begin, on the device in place of their numbers. */
static mc_status number_vectors(device_work *work, dense_search *search, int64_t *row_ptr, mc_diag *diag) {
    const row_segments *segments = &search->segments;
    int32_t *counts = NULL;
    mc_status status = segments_read(work, segments, search->starts, &counts, diag);
    if (status == MC_OK) {
        search->vectors = count_up(segments, counts, row_ptr);
        if (search->vectors > INT32_MAX) status = matrix_refuse_count(search->vectors, diag);
    }
    if (status == MC_OK)
        status = mc_device_write_on(work->context->device, search->starts, counts,
                                    (size_t)segment_count(segments) * sizeof *counts, work->stream, diag);
    free(counts);
    return status;
}

/* The host's side, of which the columns and values are not there yet. */
static mc_status make_host(const dense_search *search, const int64_t *row_ptr, mc_vsparse *host,
                           mc_diag *diag) {
    const device_dense *data = &search->data;
    int64_t row_blocks = data->rows / data->vec;
    mc_status status =
        mcrt_vsparse_outline(data->type, data->vec, row_blocks, data->cols, search->vectors, host, diag);
    for (int64_t b = 0; b <= row_blocks && status == MC_OK; b++) host->row_ptr[b] = row_ptr[b];
    return status;
}

static mc_status search_host(device_work *work, dense_search *search, mc_vsparse *host, mc_diag *diag) {
    const int64_t row_blocks = search->data.rows / search->data.vec;
    int64_t *row_ptr = mcrt_array(row_blocks + 1, sizeof *row_ptr);
    *host = (mc_vsparse){0};
    if (row_ptr == NULL) return mcrt_no_memory(diag, row_blocks, "row blocks");
    mc_status status = segments_of_rows(row_blocks, search->data.cols, &search->segments, diag);
    if (status == MC_OK && segment_count(&search->segments) > 0) {
        status = find_vectors(work, search, diag);
        if (status == MC_OK) status = number_vectors(work, search, row_ptr, diag);
    }
    if (status == MC_OK) status = make_host(search, row_ptr, host, diag);
    free(row_ptr);
    return status;
}

/* -- The whole ---------------------------------------------------------------------------------------- */

static mc_status put_columns(device_work *work, const dense_search *search, const mc_matrix *matrix,
                             mc_diag *diag) {
    const mc_binding bindings[] = {{"bits", (int64_t)search->bits},
                                   {"starts", (int64_t)search->starts},
                                   {"columns", (int64_t)matrix->columns},
                                   {"cols", search->data.cols},
                                   {"items", segment_count(&search->segments)},
                                   {"segments", search->segments.each}};
    return work_put_step(work, "list", ANY_VEC, bindings, sizeof bindings / sizeof *bindings, diag);
}

static mc_status make_dense(device_work *work, const void *data, mc_matrix **matrix, mc_diag *diag) {
    const mc_device_dense_config *config = data;
    dense_search search = search_of(config);
    mc_vsparse host;
    mc_status status = search_host(work, &search, &host, diag);
    if (status == MC_OK) status = matrix_new_own(work, &host, matrix, diag);
    if (status != MC_OK || search.vectors == 0) return status;
    status = put_columns(work, &search, *matrix, diag);
    if (status != MC_OK) return status;
    return matrix_fill_own(work, *matrix, search.data.by_columns ? MC_FROM_COLUMNS : MC_FROM_ROWS,
                           config->data, config->ld, diag);
}

mc_status mc_matrix_from_device_dense(mc_context *context, const mc_device_dense_config *config, void *stream,
                                      mc_matrix **matrix, mc_diag *diag) {
    mc_device_dense_config whole;
    if (matrix == NULL) return check_handle(matrix, "matrix", diag);
    *matrix = NULL;
    mc_status status = check_handle(context, "context", diag);
    if (status == MC_OK)
        status = take_struct(&whole, sizeof whole, config, DENSE_FIRST, "mc_device_dense_config", diag);
    if (status == MC_OK) status = check_config(&whole, diag);
    return status == MC_OK ? matrix_on_stream(context, make_dense, &whole, stream, matrix, diag) : status;
}
