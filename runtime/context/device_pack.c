#include "context/device_pack.h"

mc_vsparse device_outline(const device_pattern *pattern, mc_type type) {
    return (mc_vsparse){.type = type,
                        .vec = pattern->vec,
                        .rows = pattern->rows,
                        .cols = pattern->cols,
                        .row_blocks = pattern->row_blocks,
                        .vectors = pattern->vectors,
                        .row_ptr = (int64_t *)(uintptr_t)pattern->row_ptr};
}

void device_packed_free(mc_context *context, device_packed *packed) {
    for (size_t i = 0; i < MC_MAX_ARRAYS; i++) context_free(context, packed->arrays[i]);
    context_free(context, packed->vectors);
    mc_packed_free(&packed->shape);
    packed_slots_free(&packed->slots);
    *packed = (device_packed){0};
}
