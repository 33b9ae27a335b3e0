/* Sparse matrices out of what applications have: everything checked, everything copied. */
#include "context/matrix_make.h"
#include <inttypes.h>
#include <string.h>
#include "arithmetic/code.h"
#include "base/element.h"
#include "base/memory.h"
#include "formats/stride.h"
#include "matrix/slide24.h"

/* -- Shapes */

mc_status matrix_check_shape(mc_type type, int vec, int64_t rows, int64_t cols, mc_diag *diag) {
    if ((unsigned)type >= MC_TYPE_COUNT)
        return mc_fail(diag, MC_USAGE, "type is %d, must be an mc_type", (int)type);
    if (vec < 1 || vec > MC_MAX_VEC || (vec & (vec - 1)) != 0)
        return mc_fail(diag, MC_USAGE, "vec is %d, must be 1, 2, 4, 8 or 16", vec);
    if (rows < 0 || rows > INT32_MAX || rows % vec != 0)
        return mc_fail(diag, MC_USAGE, "rows is %" PRId64 ", must be a multiple of vec = %d from 0 to %d",
                       rows, vec, INT32_MAX);
    if (cols < 0 || cols > INT32_MAX)
        return mc_fail(diag, MC_USAGE, "cols is %" PRId64 ", must be 0 to %d", cols, INT32_MAX);
    return MC_OK;
}

/* -- Values */

mc_status matrix_refuse_value(mc_type type, int64_t index, int64_t value, mc_diag *diag) {
    return mc_fail(diag, MC_FORMAT, "values[%" PRId64 "] is %" PRId64 ", out of %s's range", index, value,
                   mc_type_text(type));
}

static bool is_in_range(mc_type type, int64_t value) {
    return value >= mc_type_min(type) && value <= mc_type_max(type);
}

mc_status matrix_check_values(mc_type type, const void *values, int64_t count, mc_diag *diag) {
    if (type_fills_bytes(type)) return MC_OK;
    for (int64_t i = 0; i < count; i++) {
        int64_t value = element_get(type, values, i);
        if (!is_in_range(type, value)) return matrix_refuse_value(type, i, value, diag);
    }
    return MC_OK;
}

/* -- From row blocks and columns */

mc_status matrix_check_offsets(const int32_t *row_ptr, int64_t row_blocks, mc_diag *diag) {
    if (row_ptr[0] != 0) return mc_fail(diag, MC_FORMAT, "row_ptr[0] is %" PRId32 ", must be 0", row_ptr[0]);
    for (int64_t i = 0; i < row_blocks; i++)
        if (row_ptr[i + 1] < row_ptr[i])
            return mc_fail(diag, MC_FORMAT,
                           "row_ptr[%" PRId64 "] is %" PRId32 ", less than the %" PRId32 " before it", i + 1,
                           row_ptr[i + 1], row_ptr[i]);
    return MC_OK;
}

static mc_status check_offsets(const mc_matrix_config *config, int64_t row_blocks, mc_diag *diag) {
    if (config->row_ptr == NULL) return mc_fail(diag, MC_USAGE, "row_ptr is NULL");
    mc_status status = matrix_check_offsets(config->row_ptr, row_blocks, diag);
    if (status == MC_OK && config->row_ptr[row_blocks] > 0 && config->col_idx == NULL)
        return mc_fail(diag, MC_USAGE, "col_idx is NULL");
    return status;
}

mc_status matrix_refuse_column(int64_t vector, int64_t block, int64_t column, int64_t cols, mc_diag *diag) {
    return mc_fail(diag, MC_FORMAT,
                   "col_idx[%" PRId64 "], of row block %" PRId64 ", is %" PRId64
                   ": columns ascend and are less than %" PRId64,
                   vector, block, column, cols);
}

static mc_status check_columns(const mc_matrix_config *config, int64_t row_blocks, mc_diag *diag) {
    for (int64_t block = 0; block < row_blocks; block++) {
        int64_t before = -1;
        for (int64_t v = config->row_ptr[block]; v < config->row_ptr[block + 1]; v++) {
            int64_t col = config->col_idx[v];
            if (col <= before || col >= config->cols)
                return matrix_refuse_column(v, block, col, config->cols, diag);
            before = col;
        }
    }
    return MC_OK;
}

static void copy_matrix(const mc_matrix_config *config, mc_vsparse *matrix) {
    for (int64_t i = 0; i <= matrix->row_blocks; i++) matrix->row_ptr[i] = config->row_ptr[i];
    if (matrix->vectors == 0) return;
    memcpy(matrix->col_idx, config->col_idx, (size_t)matrix->vectors * sizeof *matrix->col_idx);
    if (config->values != NULL)
        memcpy(matrix->values, config->values,
               (size_t)mc_type_size(matrix->type, matrix->vectors * matrix->vec));
}

/* -- Patterns along a diagonal */

mc_status matrix_check_patterns(int64_t patterns, int64_t row_blocks, int64_t cols, mc_diag *diag) {
    if (patterns < 0 || (patterns > 0 && row_blocks % patterns != 0))
        return mc_fail(diag, MC_USAGE, "patterns is %" PRId64 ", must divide the %" PRId64 " row blocks",
                       patterns, row_blocks);
    if (patterns > 0 && cols > INT32_MAX / patterns)
        return mc_fail(diag, MC_USAGE,
                       "%" PRId64 " patterns of %" PRId64 " columns: must be %d columns at most", patterns,
                       cols, INT32_MAX);
    return MC_OK;
}

/* Each pattern's columns begin where those of the one before it end. */
static void move_columns(mc_vsparse *matrix, int64_t patterns, int64_t cols) {
    int64_t each = matrix->row_blocks / patterns;
    for (int64_t block = 0; block < matrix->row_blocks; block++)
        for (int64_t v = matrix->row_ptr[block]; v < matrix->row_ptr[block + 1]; v++)
            matrix->col_idx[v] += (int32_t)(block / each * cols);
}

/* -- The whole */

/* MATRIX is freed where it has not got such spans. */
static mc_status take_spans(mc_vsparse *matrix, int span, mc_diag *diag) {
    mc_status status = mc_slide24_take(matrix, span, diag);
    if (status != MC_OK) mc_vsparse_free(matrix);
    return status;
}

static mc_status check_spans(const mc_matrix_config *config, mc_diag *diag) {
    if (config->span == 0 || config->patterns <= 1) return MC_OK;
    return mc_fail(diag, MC_USAGE, "span is %d, and patterns %" PRId64 ": spans are of one pattern",
                   config->span, config->patterns);
}

mc_status matrix_make(const mc_matrix_config *config, mc_vsparse *matrix, mc_diag *diag) {
    *matrix = (mc_vsparse){0};
    mc_status status = matrix_check_shape(config->type, config->vec, config->rows, config->cols, diag);
    int64_t row_blocks = status == MC_OK ? config->rows / config->vec : 0;
    if (status == MC_OK) status = matrix_check_patterns(config->patterns, row_blocks, config->cols, diag);
    if (status == MC_OK) status = check_spans(config, diag);
    if (status == MC_OK) status = check_offsets(config, row_blocks, diag);
    if (status == MC_OK) status = check_columns(config, row_blocks, diag);
    if (status != MC_OK) return status;
    int64_t vectors = config->row_ptr[row_blocks], patterns = config->patterns > 0 ? config->patterns : 1;
    if (config->values != NULL)
        status = matrix_check_values(config->type, config->values, vectors * config->vec, diag);
    if (status == MC_OK)
        status = mcrt_vsparse_create(config->type, config->vec, row_blocks, patterns * config->cols, vectors,
                                     matrix, diag);
    if (status != MC_OK) return status;
    copy_matrix(config, matrix);
    move_columns(matrix, patterns, config->cols);
    return take_spans(matrix, config->span, diag);
}

/* -- From a dense matrix */

static mc_status check_dense(const mc_dense_config *config, int64_t ld, mc_diag *diag) {
    mc_status status = matrix_check_shape(config->type, config->vec, config->rows, config->cols, diag);
    if (status != MC_OK) return status;
    if (ld < config->cols)
        return mc_fail(diag, MC_USAGE, "ld is %" PRId64 ", less than the %" PRId64 " columns", ld,
                       config->cols);
    if (mc_type_bytes(config->type) == 0 && ld % 2 != 0)
        return mc_fail(diag, MC_USAGE, "ld is %" PRId64 ", must be even: two elements of %s share a byte", ld,
                       mc_type_text(config->type));
    if (mc_type_size(config->type, mcrt_product(config->rows, ld)) < 0)
        return mc_fail(diag, MC_USAGE, "rows of ld = %" PRId64 " leave the address space", ld);
    if (config->data == NULL && config->rows > 0 && config->cols > 0)
        return mc_fail(diag, MC_USAGE, "data is NULL");
    return MC_OK;
}

/* Minus zero is zero. */
static bool is_zero(mc_type type, int64_t value) {
    if (mc_type_is_real(type)) value = element_low(value, mc_type_bits(type) - 1);
    return value == 0;
}

/* Whether the vector at COLUMN of row block BLOCK has a value. */
static bool has_value(const mc_dense *dense, int vec, int64_t block, int64_t column) {
    for (int r = 0; r < vec; r++)
        if (!is_zero(dense->type, mc_dense_get(dense, block * vec + r, column))) return true;
    return false;
}

static int64_t count_vectors(const mc_dense *dense, int vec) {
    int64_t count = 0;
    for (int64_t block = 0; block < dense->rows / vec; block++)
        for (int64_t j = 0; j < dense->cols; j++) count += has_value(dense, vec, block, j);
    return count;
}

static void take_vectors(const mc_dense *dense, mc_vsparse *matrix) {
    int64_t v = 0;
    for (int64_t block = 0; block < matrix->row_blocks; block++) {
        for (int64_t j = 0; j < dense->cols; j++) {
            if (!has_value(dense, matrix->vec, block, j)) continue;
            for (int r = 0; r < matrix->vec; r++)
                mc_vsparse_set_value(matrix, v, r, mc_dense_get(dense, block * matrix->vec + r, j));
            matrix->col_idx[v++] = (int32_t)j;
        }
        matrix->row_ptr[block + 1] = v;
    }
}

mc_status matrix_refuse_element(mc_type type, int64_t row, int64_t column, int64_t value, mc_diag *diag) {
    return mc_fail(diag, MC_FORMAT, "data[%" PRId64 "][%" PRId64 "] is %" PRId64 ", out of %s's range", row,
                   column, value, mc_type_text(type));
}

static mc_status check_elements(const mc_dense *dense, mc_diag *diag) {
    if (type_fills_bytes(dense->type)) return MC_OK;
    for (int64_t i = 0; i < dense->rows; i++)
        for (int64_t j = 0; j < dense->cols; j++) {
            int64_t value = mc_dense_get(dense, i, j);
            if (!is_in_range(dense->type, value))
                return matrix_refuse_element(dense->type, i, j, value, diag);
        }
    return MC_OK;
}

mc_status matrix_refuse_count(int64_t vectors, mc_diag *diag) {
    return mc_fail(diag, MC_CANNOT, "%" PRId64 " nonzero vectors: at most %d", vectors, INT32_MAX);
}

mc_status matrix_make_dense(const mc_dense_config *config, mc_vsparse *matrix, mc_diag *diag) {
    int64_t ld = config->ld != 0 ? config->ld : config->cols;
    *matrix = (mc_vsparse){0};
    mc_status status = check_dense(config, ld, diag);
    if (status != MC_OK) return status;
    const mc_dense dense = {.type = config->type,
                            .rows = config->rows,
                            .cols = config->cols,
                            .ld = ld,
                            .data = (void *)(uintptr_t)config->data};
    status = check_elements(&dense, diag);
    if (status != MC_OK) return status;
    int64_t vectors = count_vectors(&dense, config->vec);
    if (vectors > INT32_MAX) return matrix_refuse_count(vectors, diag);
    status = mcrt_vsparse_create(config->type, config->vec, config->rows / config->vec, config->cols, vectors,
                                 matrix, diag);
    if (status != MC_OK) return status;
    take_vectors(&dense, matrix);
    return take_spans(matrix, config->span, diag);
}
