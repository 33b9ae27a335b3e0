/* Packings of matrices made from device memory: the formats that are made there. */
#include <string.h>
#include "context/device_pack.h"
#include "context/matrix.h"

typedef mc_status device_packer(mc_context *context, const device_pattern *pattern, mc_type type,
                                const mc_kernel *kernel, void *stream, device_packed *packed, mc_diag *diag);

static const struct {
    const char *format;
    device_packer *pack;
} packers[] = {
    {"strided-bcrs", device_pack_strided},   {"strided-bcrs-int4", device_pack_strided},
    {"windowed-bcrs", device_pack_windowed}, {"panels", device_pack_panels},
    {"packed24", device_pack_packed24},      {"csr", device_pack_csr},
};

static device_packer *find_packer(const char *format) {
    for (size_t i = 0; i < sizeof packers / sizeof *packers; i++)
        if (strcmp(packers[i].format, format) == 0) return packers[i].pack;
    return NULL;
}

bool matrix_packs_on_device(const mc_kernel *kernel) {
    return find_packer(mc_kernel_contract(kernel)->format) != NULL;
}

/* All that was made becomes PACKING's. */
static mc_status take_packed(mc_context *context, device_packed *packed, matrix_packing *packing,
                             mc_diag *diag) {
    const packed_slots *slots = &packed->slots;
    const size_t bytes = (size_t)slots->period * sizeof *slots->pieces;
    packing->host = packed->shape;
    memcpy(packing->arrays, packed->arrays, sizeof packing->arrays);
    packing->slots = packed->slots;
    packing->vectors = packed->vectors;
    mc_status status = context_alloc(context, bytes, &packing->pieces, diag);
    return status == MC_OK ? mc_device_upload(context->device, packing->pieces, slots->pieces, bytes, diag)
                           : status;
}

static mc_status pack_values(device_work *work, mc_matrix *matrix, matrix_packing *packing, mc_diag *diag) {
    mc_status status = packing_make_way(work, matrix, packing, MC_FROM_VECTORS, diag);
    if (status != MC_OK) return status;
    work->running = true;
    return packing_put_values(packing, MC_FROM_VECTORS, matrix_own_values(matrix), 0, work->stream, diag);
}

mc_status matrix_pack_on_device(mc_matrix *matrix, const mc_kernel *kernel, matrix_packing *packing,
                                mc_diag *diag) {
    const mc_vsparse *host = &matrix->host;
    const device_pattern pattern = {.vec = host->vec,
                                    .rows = host->rows,
                                    .cols = host->cols,
                                    .row_blocks = host->row_blocks,
                                    .vectors = host->vectors,
                                    .row_ptr = host->row_ptr,
                                    .offsets = matrix->offsets,
                                    .columns = matrix->columns};
    device_packer *pack = kernel != NULL ? find_packer(mc_kernel_contract(kernel)->format) : NULL;
    device_packed packed = {0};
    device_work work;
    if (pack == NULL) return mc_fail(diag, MC_CANNOT, "its format is not made on the device");
    mc_status status = mc_pack_fits(kernel, host, diag);
    if (status == MC_OK) status = work_begin_own(&work, matrix->context, diag);
    if (status != MC_OK) return status;
    status = pack(matrix->context, &pattern, host->type, kernel, work.stream, &packed, diag);
    if (status != MC_OK) return status;
    status = take_packed(matrix->context, &packed, packing, diag);
    if (status == MC_OK) status = pack_values(&work, matrix, packing, diag);
    status = work_end(&work, status, diag);
    if (status != MC_OK) packing_empty(matrix->context, packing);
    return status;
}
