/* Matrices made from device memory: what they keep there, and how their host side gets it. Values are kept in
   BCRS order, as a packing of its own kind, so that new ones come into it as into all others. */
#include <inttypes.h>
#include <stdlib.h>
#include "base/memory.h"
#include "base/type.h"
#include "context/device_pack.h"
#include "context/matrix.h"

static mc_status make_room(mc_context *context, const mc_vsparse *host, matrix_packing *own, mc_diag *diag) {
    const packed_slots *slots = &own->slots;
    const int64_t values = slots->groups * SLOTS_PLAIN * host->vec;
    const size_t piece_bytes = (size_t)slots->period * sizeof *slots->pieces;
    own->host.arrays[own->host.array_count++] = (mc_packed_array){slots->array, host->type, values, NULL};
    mc_status status =
        context_alloc(context, (size_t)mc_type_size(host->type, values), &own->arrays[0], diag);
    if (status == MC_OK)
        status = context_alloc(context, (size_t)(slots->groups * SLOTS_PLAIN) * sizeof(int32_t),
                               &own->vectors, diag);
    if (status == MC_OK) status = context_alloc(context, piece_bytes, &own->pieces, diag);
    if (status == MC_OK)
        status = mc_device_upload(context->device, own->pieces, slots->pieces, piece_bytes, diag);
    return status;
}

static mc_status number_slots(device_work *work, const matrix_packing *own, int64_t count, mc_diag *diag) {
    return device_number_slots(work, own->vectors, count, own->slots.groups * SLOTS_PLAIN, diag);
}

mc_status matrix_fill_own(device_work *work, mc_matrix *matrix, mc_values_from from, mc_address source,
                          int64_t ld, mc_diag *diag) {
    /* Slots without vectors have zeros, and nothing is read for them. */
    const int64_t held = source != 0 ? matrix->host.vectors : 0;
    mc_status status = number_slots(work, matrix->own, held, diag);
    if (status == MC_OK) status = packing_make_way(work, matrix, matrix->own, from, diag);
    if (status == MC_OK) status = packing_put_values(matrix->own, from, source, ld, work->stream, diag);
    if (status == MC_OK && source == 0) status = number_slots(work, matrix->own, matrix->host.vectors, diag);
    if (status == MC_OK) work->running = true;
    return status;
}

/* -- The matrix --------------------------------------------------------------------------------------- */

/* Row offsets, which fit, and room for columns. */
static mc_status make_pattern(mc_matrix *matrix, mc_diag *diag) {
    const mc_vsparse *host = &matrix->host;
    mc_context *context = matrix->context;
    const size_t bytes = (size_t)(host->row_blocks + 1) * sizeof(int32_t);
    int32_t *offsets = mcrt_array(host->row_blocks + 1, sizeof *offsets);
    if (offsets == NULL) return mcrt_no_memory(diag, host->row_blocks, "row blocks");
    for (int64_t b = 0; b <= host->row_blocks; b++) offsets[b] = (int32_t)host->row_ptr[b];
    mc_status status = context_alloc(context, bytes, &matrix->offsets, diag);
    if (status == MC_OK) status = mc_device_upload(context->device, matrix->offsets, offsets, bytes, diag);
    if (status == MC_OK)
        status = context_alloc(context, (size_t)host->vectors * sizeof(int32_t), &matrix->columns, diag);
    free(offsets);
    return status;
}

mc_status matrix_new_own(device_work *work, mc_vsparse *host, mc_matrix **matrix, mc_diag *diag) {
    mc_status status = matrix_new(work->context, host, matrix, diag);
    if (status != MC_OK) return status;
    matrix_packing *own = calloc(1, sizeof *own);
    (*matrix)->has_columns = false;
    (*matrix)->device_values = true;
    (*matrix)->own = (*matrix)->packings = own;
    status = own != NULL ? make_pattern(*matrix, diag) : mc_fail(diag, MC_NOMEM, "out of memory");
    const mc_vsparse *kept = &(*matrix)->host;
    if (status == MC_OK)
        status = packed_slots_plain("values", kept->type, kept->vec, kept->vectors, &own->slots, diag);
    if (status == MC_OK) status = make_room(work->context, kept, own, diag);
    return status;
}

void matrix_free_own(mc_matrix *matrix) {
    mc_context *context = matrix->context;
    context_visit visit;
    if (matrix->own == NULL) return;
    (void)context_enter(context, &visit, NULL);
    packing_free(context, matrix->own);
    context_free(context, matrix->offsets);
    context_free(context, matrix->columns);
    context_leave(context, &visit);
}

/* -- The host side ------------------------------------------------------------------------------------ */

mc_status matrix_fetch_columns(mc_matrix *matrix, mc_diag *diag) {
    mc_device *device = matrix->context->device;
    mc_vsparse *host = &matrix->host;
    void *stream = NULL;
    if (matrix->has_columns) return MC_OK;
    if (host->col_idx == NULL) host->col_idx = mcrt_array(host->vectors, sizeof *host->col_idx);
    if (host->col_idx == NULL) return mcrt_no_memory(diag, host->vectors, "nonzero vectors");
    mc_status status = mc_device_own_stream(device, &stream, diag);
    if (status == MC_OK)
        status = mc_device_read_on(device, matrix->columns, host->col_idx,
                                   (size_t)host->vectors * sizeof *host->col_idx, stream, diag);
    matrix->has_columns = status == MC_OK;
    return status;
}

mc_status matrix_complete(mc_matrix *matrix, mc_diag *diag) {
    if (matrix == NULL) return MC_OK;
    mc_status status = matrix_refuse_borrowed(matrix, diag);
    if (status == MC_OK) status = matrix_fetch_columns(matrix, diag);
    return status == MC_OK ? matrix_fetch_values(matrix, NULL, diag) : status;
}
