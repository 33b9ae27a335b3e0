#include "context/device_pack.h"

void device_packed_free(mc_context *context, device_packed *packed) {
    for (size_t i = 0; i < MC_MAX_ARRAYS; i++) context_free(context, packed->arrays[i]);
    context_free(context, packed->vectors);
    mc_packed_free(&packed->shape);
    packed_slots_free(&packed->slots);
    *packed = (device_packed){0};
}
