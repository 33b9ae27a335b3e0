/* A matrix, as its creator may have it back. */
#include <string.h>
#include "context/matrix.h"
#include "matrix/slide24.h"

static void write_pattern(const mc_vsparse *host, int32_t *row_ptr, int32_t *col_idx) {
    const mc_vsparse source = mc_slide24_source(host);
    for (int64_t b = 0; row_ptr != NULL && b <= host->row_blocks; b++) row_ptr[b] = (int32_t)host->row_ptr[b];
    if (col_idx != NULL && host->vectors > 0)
        memcpy(col_idx, source.col_idx, (size_t)host->vectors * sizeof *col_idx);
}

static void write_values(const mc_vsparse *host, void *values) {
    const size_t bytes = (size_t)mc_type_size(host->type, host->vectors * host->vec);
    if (values == NULL || bytes == 0) return;
    if (host->values != NULL) memcpy(values, host->values, bytes);
    else memset(values, 0, bytes);
}

mc_status mc_matrix_read(mc_matrix *matrix, int32_t *row_ptr, int32_t *col_idx, void *values, mc_diag *diag) {
    context_visit visit;
    if (matrix == NULL) return check_handle(matrix, "matrix", diag);
    matrix = matrix_now(matrix);
    pthread_mutex_lock(&matrix->lock);
    mc_status status = context_enter(matrix->context, &visit, diag);
    if (status == MC_OK) status = matrix_complete(matrix, diag);
    context_leave(matrix->context, &visit);
    if (status == MC_OK) {
        write_pattern(&matrix->host, row_ptr, col_idx);
        write_values(&matrix->host, values);
    }
    pthread_mutex_unlock(&matrix->lock);
    return status;
}
