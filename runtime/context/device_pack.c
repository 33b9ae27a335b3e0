#include "context/device_pack.h"
#include <stdlib.h>

mc_vsparse device_outline(const device_pattern *pattern, mc_type type) {
    return (mc_vsparse){.type = type,
                        .vec = pattern->vec,
                        .rows = pattern->rows,
                        .cols = pattern->cols,
                        .row_blocks = pattern->row_blocks,
                        .vectors = pattern->vectors,
                        .row_ptr = (int64_t *)(uintptr_t)pattern->row_ptr};
}

mc_status device_packed_create(mc_context *context, device_packed *packed, mc_diag *diag) {
    mc_status status = MC_OK;
    for (size_t i = 0; i < packed->shape.array_count && status == MC_OK; i++) {
        mc_packed_array *array = &packed->shape.arrays[i];
        size_t bytes = (size_t)mc_type_size(array->type, array->count);
        status = context_alloc(context, bytes, &packed->arrays[i], diag);
        if (status == MC_OK && array->data != NULL)
            status = mc_device_upload(context->device, packed->arrays[i], array->data, bytes, diag);
        free(array->data);
        array->data = NULL;
    }
    if (status != MC_OK) return status;
    size_t slots = (size_t)(packed->slots.groups * packed->slots.group);
    return context_alloc(context, slots * sizeof(int32_t), &packed->vectors, diag);
}

void device_packed_free(mc_context *context, device_packed *packed) {
    for (size_t i = 0; i < MC_MAX_ARRAYS; i++) context_free(context, packed->arrays[i]);
    context_free(context, packed->vectors);
    mc_packed_free(&packed->shape);
    packed_slots_free(&packed->slots);
    *packed = (device_packed){0};
}

mc_address device_packed_at(const device_packed *packed, const char *name) {
    const mc_packed_array *array = mc_packed_find(&packed->shape, name);
    return array != NULL ? packed->arrays[array - packed->shape.arrays] : 0;
}

mc_status device_number_slots(device_work *work, mc_address address, int64_t count, int64_t slots,
                              mc_diag *diag) {
    const mc_binding bindings[] = {{"vectors", (int64_t)address}, {"count", count}, {"slots", slots}};
    if (slots == 0) return MC_OK;
    return work_put_step(work, "number", ANY_VEC, bindings, sizeof bindings / sizeof *bindings, diag);
}
