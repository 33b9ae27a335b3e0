/* New values for the vectors of a matrix, from host memory. */
#include <stdlib.h>
#include <string.h>
#include "base/memory.h"
#include "base/type.h"
#include "context/matrix.h"
#include "context/matrix_make.h"

const mc_packed_array *packing_values(const matrix_packing *packing) {
    static const char *const names[] = {"values", "mask_values", "packed_blocks"};
    const mc_packed_array *values = NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names && values == NULL; i++)
        values = mc_packed_find(&packing->host, names[i]);
    return values;
}

/* On the host. What is left of a failure there does not matter: nothing is copied to the device until all
   packings are made anew. */
static mc_status pack_anew(mc_matrix *matrix, const mc_vsparse *fresh, mc_diag *diag) {
    mc_status status = MC_OK;
    for (matrix_packing *p = matrix->packings; p != NULL && status == MC_OK; p = p->next) {
        const mc_vsparse seen = matrix_seen_by(p->kernel, fresh);
        if (packing_values(p) != NULL) status = mc_pack_values(p->kernel, &seen, &p->host, diag);
    }
    return status;
}

static mc_status write_values(mc_matrix *matrix, void *stream, mc_diag *diag) {
    mc_status status = MC_OK;
    for (const matrix_packing *p = matrix->packings; p != NULL && status == MC_OK; p = p->next) {
        const mc_packed_array *values = packing_values(p);
        if (values == NULL) continue;
        status = mc_device_write_on(matrix->context->device, p->arrays[values - p->host.arrays], values->data,
                                    (size_t)mc_type_size(values->type, values->count), stream, diag);
    }
    return status;
}

static mc_status replace_packed(mc_matrix *matrix, const mc_vsparse *fresh, void *stream, mc_diag *diag) {
    context_visit visit;
    mc_status status = pack_anew(matrix, fresh, diag);
    if (status != MC_OK) return status;
    status = context_enter(matrix->context, &visit, diag);
    if (status == MC_OK) status = write_values(matrix, stream, diag);
    context_leave(matrix->context, &visit);
    return status;
}

/* -- Of a matrix made from device memory: its own values first, and all others out of these */

/* What the device would make the nearest value is refused, as packing on the host does. */
static mc_status check_digits(mc_matrix *matrix, const mc_vsparse *fresh, mc_diag *diag) {
    mc_status status = MC_OK;
    for (const matrix_packing *p = matrix->packings; p != NULL && status == MC_OK; p = p->next) {
        if (p == matrix->own || packing_values(p) == NULL) continue;
        if (mc_type_is_real(fresh->type) || code_most(&p->slots.code) >= mc_type_max(fresh->type)) continue;
        status = matrix_fetch_columns(matrix, diag); /* for the message */
        mc_vsparse checked = *fresh;
        checked.col_idx = matrix->host.col_idx;
        if (status == MC_OK) status = code_check(&p->slots.code, &checked, diag);
    }
    return status;
}

static mc_status put_own(mc_matrix *matrix, const mc_vsparse *fresh, void *stream, mc_diag *diag) {
    const mc_address own = matrix_own_values(matrix);
    const size_t bytes = (size_t)mc_type_size(fresh->type, fresh->vectors * fresh->vec);
    mc_status status = matrix_make_ways(matrix, MC_FROM_VECTORS, diag);
    if (status == MC_OK) status = check_digits(matrix, fresh, diag);
    if (status == MC_OK)
        status = mc_device_write_on(matrix->context->device, own, fresh->values, bytes, stream, diag);
    for (matrix_packing *p = matrix->packings; p != NULL && status == MC_OK; p = p->next)
        if (p != matrix->own) status = packing_put_values(p, MC_FROM_VECTORS, own, 0, stream, diag);
    return status;
}

static mc_status replace_own(mc_matrix *matrix, const mc_vsparse *fresh, void *stream, mc_diag *diag) {
    context_visit visit;
    pthread_mutex_lock(&matrix->lock);
    mc_status status = context_enter(matrix->context, &visit, diag);
    if (status == MC_OK) status = put_own(matrix, fresh, stream, diag);
    context_leave(matrix->context, &visit);
    pthread_mutex_unlock(&matrix->lock);
    return status;
}

/* -- The whole */

/* The pattern, without values. */
static mc_vsparse pattern_of(mc_matrix *matrix) {
    pthread_mutex_lock(&matrix->lock); /* columns may be on their way */
    mc_vsparse pattern = matrix->host;
    pthread_mutex_unlock(&matrix->lock);
    pattern.values = NULL;
    return pattern;
}

/* FRESH's values become the matrix's, and FRESH has the old ones; on failure nothing changes hands. */
static mc_status replace_values(mc_matrix *matrix, mc_vsparse *fresh, void *stream, mc_diag *diag) {
    pthread_mutex_lock(&matrix->lock);
    mc_status status = replace_packed(matrix, fresh, stream, diag);
    if (status == MC_OK) {
        void *old = matrix->host.values;
        matrix->host.values = fresh->values;
        fresh->values = old;
    }
    pthread_mutex_unlock(&matrix->lock);
    return status;
}

mc_status mc_matrix_set_values(mc_matrix *matrix, const void *values, void *stream, mc_diag *diag) {
    if (matrix == NULL) return check_handle(matrix, "matrix", diag);
    matrix = matrix_now(matrix);
    int64_t count = matrix->host.vectors * matrix->host.vec;
    int64_t bytes = mc_type_size(matrix->host.type, count);
    if (values == NULL && count > 0) return mc_fail(diag, MC_USAGE, "values is NULL");
    mc_status status = matrix_refuse_borrowed(matrix, diag);
    if (status == MC_OK) status = matrix_check_values(matrix->host.type, values, count, diag);
    if (status != MC_OK) return status;
    mc_vsparse fresh = pattern_of(matrix);
    fresh.values = mcrt_array(bytes, 1);
    if (fresh.values == NULL) return mc_fail(diag, MC_NOMEM, "out of memory");
    if (bytes > 0) memcpy(fresh.values, values, (size_t)bytes);
    status = matrix->own != NULL ? replace_own(matrix, &fresh, stream, diag)
                                 : replace_values(matrix, &fresh, stream, diag);
    free(fresh.values);
    return status;
}
