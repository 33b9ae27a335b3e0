/* csr, packed on the device: the list of who takes what comes of row offsets, which the host has, too;
   offsets and columns are copied where they lie. */
#include "context/device_pack.h"
#include "context/device_work.h"
#include "context/matrix_segments.h"
#include "formats/csr.h"

/* COUNT numbers from SOURCE to TO, as columns of a single row, in which they need not ascend: what the kernel
   says of that is not read. */
static mc_status copy(device_work *work, mc_address source, mc_address to, int64_t count, mc_diag *diag) {
    const int32_t offsets[] = {0, (int32_t)count};
    mc_address row = 0, wrong = 0;
    row_segments segments;
    mc_status status = segments_of_rows(1, count, &segments, diag);
    if (status == MC_OK) status = segments_scratch(work, &segments, &wrong, diag);
    if (status == MC_OK) status = work_scratch(work, sizeof offsets, &row, diag);
    if (status == MC_OK) status = mc_device_upload(work->context->device, row, offsets, sizeof offsets, diag);
    const mc_binding bindings[] = {
        {"source", (int64_t)source},         {"offsets", (int64_t)row},  {"columns", (int64_t)to},
        {"wrong", (int64_t)wrong},           {"cols", INT32_MAX},        {"each", 1},
        {"items", segment_count(&segments)}, {"segments", segments.each}};
    if (status != MC_OK) return status;
    return work_put_step(work, "columns", ANY_VEC, bindings, sizeof bindings / sizeof *bindings, diag);
}

/* The pattern's own arrays, and which vector is in which slot. */
static mc_status copy_pattern(device_work *work, const device_pattern *pattern, device_packed *packed,
                              mc_diag *diag) {
    const int64_t slots = packed->slots.groups * packed->slots.group;
    mc_status status =
        copy(work, pattern->offsets, device_packed_at(packed, "row_ptr"), pattern->rows + 1, diag);
    if (status != MC_OK || pattern->vectors == 0) return status;
    status = copy(work, pattern->columns, device_packed_at(packed, "col_idx"), pattern->vectors, diag);
    if (status != MC_OK) return status;
    return device_number_slots(work, packed->vectors, pattern->vectors, slots, diag);
}

mc_status device_pack_csr(mc_context *context, const device_pattern *pattern, mc_type type,
                          const mc_kernel *kernel, void *stream, device_packed *packed, mc_diag *diag) {
    const mc_vsparse a = device_outline(pattern, type);
    device_work work;
    *packed = (device_packed){0};
    mc_status status = work_begin(&work, context, stream, diag);
    if (status != MC_OK) return status;
    status = csr_outline(kernel, &a, &packed->shape, &packed->slots, diag);
    if (status == MC_OK) status = device_packed_create(context, packed, diag);
    if (status == MC_OK) status = copy_pattern(&work, pattern, packed, diag);
    status = work_end(&work, status, diag);
    if (status != MC_OK) device_packed_free(context, packed);
    return status;
}
