/* Matrices out of BCRS in device memory. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/memory.h"
#include "base/type.h"
#include "context/matrix.h"
#include "context/matrix_make.h"
#include "context/matrix_segments.h"
#include "matrix/vsparse.h"

#define DEVICE_FIRST STRUCT_SIZE_TO(mc_device_matrix_config, patterns)

/* -- What is refused before the device is asked ------------------------------------------------------- */

mc_status matrix_check_device_type(mc_type type, mc_diag *diag) {
    if (mc_type_bits(type) <= 32) return MC_OK;
    return mc_fail(diag, MC_CANNOT, "type is %s: values from device memory have 32 bits at most",
                   mc_type_text(type));
}

mc_status matrix_check_address(const char *name, mc_address address, mc_type type, mc_diag *diag) {
    const size_t bytes = mc_type_bytes(type);
    if (bytes < 2 || address % bytes == 0) return MC_OK;
    return mc_fail(diag, MC_CANNOT, "%s is 0x%" PRIx64 ", which is not a multiple of the %zu bytes of %s",
                   name, address, bytes, mc_type_text(type));
}

static mc_status check_config(const mc_device_matrix_config *config, mc_diag *diag) {
    mc_status status = matrix_check_shape(config->type, config->vec, config->rows, config->cols, diag);
    if (status == MC_OK) status = matrix_check_device_type(config->type, diag);
    if (status == MC_OK)
        status = matrix_check_patterns(config->patterns, config->rows / config->vec, config->cols, diag);
    if (status == MC_OK && config->row_ptr == 0) status = mc_fail(diag, MC_USAGE, "row_ptr is 0");
    if (status == MC_OK) status = matrix_check_address("row_ptr", config->row_ptr, MC_S32, diag);
    if (status == MC_OK) status = matrix_check_address("col_idx", config->col_idx, MC_S32, diag);
    if (status == MC_OK) status = matrix_check_address("values", config->values, config->type, diag);
    return status;
}

/* -- Row offsets -------------------------------------------------------------------------------------- */

static mc_status host_of_offsets(const mc_device_matrix_config *config, const int32_t *row_ptr,
                                 mc_vsparse *host, mc_diag *diag) {
    int64_t row_blocks = config->rows / config->vec, patterns = config->patterns > 0 ? config->patterns : 1;
    mc_status status = matrix_check_offsets(row_ptr, row_blocks, diag);
    if (status == MC_OK && row_ptr[row_blocks] > 0 && config->col_idx == 0)
        status = mc_fail(diag, MC_USAGE, "col_idx is 0");
    if (status == MC_OK)
        status = mcrt_vsparse_outline(config->type, config->vec, row_blocks, patterns * config->cols,
                                      row_ptr[row_blocks], host, diag);
    for (int64_t b = 0; b <= row_blocks && status == MC_OK; b++) host->row_ptr[b] = row_ptr[b];
    return status;
}

/* The host's side, of which the columns and values are not there yet. */
static mc_status read_offsets(const device_work *work, const mc_device_matrix_config *config,
                              mc_vsparse *host, mc_diag *diag) {
    const int64_t count = config->rows / config->vec + 1;
    int32_t *row_ptr = mcrt_array(count, sizeof *row_ptr);
    *host = (mc_vsparse){0};
    if (row_ptr == NULL) return mcrt_no_memory(diag, count, "row blocks");
    mc_status status = mc_device_read_on(work->context->device, config->row_ptr, row_ptr,
                                         (size_t)count * sizeof *row_ptr, work->stream, diag);
    if (status == MC_OK) status = host_of_offsets(config, row_ptr, host, diag);
    free(row_ptr);
    return status;
}

/* -- Columns ------------------------------------------------------------------------------------------ */

static mc_status put_columns(device_work *work, const mc_device_matrix_config *config,
                             const mc_matrix *matrix, const row_segments *segments, mc_address wrong,
                             mc_diag *diag) {
    const int64_t patterns = config->patterns > 0 ? config->patterns : 1;
    const mc_binding bindings[] = {{"source", (int64_t)config->col_idx},
                                   {"offsets", (int64_t)matrix->offsets},
                                   {"columns", (int64_t)matrix->columns},
                                   {"wrong", (int64_t)wrong},
                                   {"cols", config->cols},
                                   {"each", matrix->host.row_blocks / patterns},
                                   {"items", segment_count(segments)},
                                   {"segments", segments->each}};
    return work_put_step(work, "columns", ANY_VEC, bindings, sizeof bindings / sizeof *bindings, diag);
}

/* Of the row block that the first wrong vector is of. */
static mc_status refuse_vector(const device_work *work, const mc_device_matrix_config *config,
                               const mc_vsparse *host, int64_t vector, mc_diag *diag) {
    int32_t column = 0;
    int64_t block = 0;
    mc_status status =
        mc_device_read_on(work->context->device, config->col_idx + (uint64_t)vector * sizeof column, &column,
                          sizeof column, work->stream, diag);
    while (host->row_ptr[block + 1] <= vector) block++;
    return status == MC_OK ? matrix_refuse_column(vector, block, column, config->cols, diag) : status;
}

static mc_status take_columns(device_work *work, const mc_device_matrix_config *config, mc_matrix *matrix,
                              mc_diag *diag) {
    const mc_vsparse *host = &matrix->host;
    row_segments segments;
    mc_address wrong = 0;
    int32_t *numbers = NULL;
    int64_t first = host->vectors;
    mc_status status =
        segments_of_rows(host->row_blocks, mcrt_vsparse_longest(host, 0, host->row_blocks), &segments, diag);
    if (status == MC_OK) status = segments_scratch(work, &segments, &wrong, diag);
    if (status == MC_OK) status = put_columns(work, config, matrix, &segments, wrong, diag);
    if (status == MC_OK) status = segments_read(work, &segments, wrong, &numbers, diag);
    for (int64_t i = 0; i < segment_count(&segments) && status == MC_OK; i++)
        if (numbers[i] < first) first = numbers[i];
    free(numbers);
    if (status != MC_OK || first == host->vectors) return status;
    return refuse_vector(work, config, host, first, diag);
}

/* -- Values ------------------------------------------------------------------------------------------- */

/* Values of 12 bits lie in 16, which may hold others: they are looked at as a matrix of one row. */
static mc_status check_range(device_work *work, const mc_device_matrix_config *config, int64_t count,
                             mc_diag *diag) {
    const device_dense dense = {
        .type = config->type, .vec = 1, .rows = 1, .cols = count, .ld = count, .data = config->values};
    row_segments segments;
    mc_address bits = 0, counts = 0, wrong = 0;
    dense_place place = {-1, 0};
    int64_t value = 0;
    if (config->values == 0 || !dense_is_ranged(config->type)) return MC_OK;
    mc_status status = segments_of_rows(1, count, &segments, diag);
    if (status == MC_OK && count > INT32_MAX)
        status = mc_fail(diag, MC_CANNOT, "%" PRId64 " values of %s are too many for a launch", count,
                         mc_type_text(config->type));
    if (status == MC_OK) status = segments_scratch(work, &segments, &counts, diag);
    if (status == MC_OK) status = segments_scratch(work, &segments, &wrong, diag);
    const size_t words = (size_t)(segment_count(&segments) * MC_SEGMENT_WORDS);
    if (status == MC_OK) status = work_scratch(work, words * sizeof(int32_t), &bits, diag);
    if (status == MC_OK) status = dense_put_find(work, &dense, &segments, bits, counts, wrong, diag);
    if (status == MC_OK) status = dense_first_wrong(work, &dense, &segments, wrong, &place, diag);
    if (status != MC_OK || place.row < 0) return status;
    status = dense_read(work, &dense, place, &value, diag);
    return status == MC_OK ? matrix_refuse_value(config->type, place.column, value, diag) : status;
}

/* -- The whole ---------------------------------------------------------------------------------------- */

static mc_status fill_matrix(device_work *work, const mc_device_matrix_config *config, mc_matrix *matrix,
                             mc_diag *diag) {
    const mc_vsparse *host = &matrix->host;
    if (host->vectors == 0) return MC_OK;
    mc_status status = take_columns(work, config, matrix, diag);
    if (status == MC_OK) status = check_range(work, config, host->vectors * host->vec, diag);
    if (status == MC_OK) status = matrix_fill_own(work, matrix, MC_FROM_VECTORS, config->values, 0, diag);
    return status;
}

mc_status matrix_make_bcrs(device_work *work, const void *data, mc_matrix **matrix, mc_diag *diag) {
    const mc_device_matrix_config *config = data;
    mc_vsparse host;
    mc_status status = read_offsets(work, config, &host, diag);
    if (status == MC_OK) status = matrix_new_own(work, &host, matrix, diag);
    return status == MC_OK ? fill_matrix(work, config, *matrix, diag) : status;
}

mc_status matrix_on_stream(mc_context *context, matrix_maker *make, const void *config, void *stream,
                           mc_matrix **matrix, mc_diag *diag) {
    context_visit visit;
    device_work work;
    mc_status status = context_enter(context, &visit, diag);
    if (status != MC_OK) return status;
    status = work_begin(&work, context, stream, diag);
    if (status == MC_OK) status = work_end(&work, make(&work, config, matrix, diag), diag);
    context_leave(context, &visit);
    if (status == MC_OK) return MC_OK;
    mc_matrix_destroy(*matrix);
    *matrix = NULL;
    return status;
}

mc_status mc_matrix_from_device(mc_context *context, const mc_device_matrix_config *config, void *stream,
                                mc_matrix **matrix, mc_diag *diag) {
    mc_device_matrix_config whole;
    if (matrix == NULL) return check_handle(matrix, "matrix", diag);
    *matrix = NULL;
    mc_status status = check_handle(context, "context", diag);
    if (status == MC_OK)
        status = take_struct(&whole, sizeof whole, config, DEVICE_FIRST, "mc_device_matrix_config", diag);
    if (status == MC_OK) status = check_config(&whole, diag);
    return status == MC_OK ? matrix_on_stream(context, matrix_make_bcrs, &whole, stream, matrix, diag)
                           : status;
}
