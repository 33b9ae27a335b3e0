#include "context/device_pack.h"

mc_status device_pack_windowed(mc_context *context, const device_pattern *pattern, mc_type type,
                               const mc_kernel *kernel, void *stream, device_packed *packed, mc_diag *diag) {
    (void)context, (void)pattern, (void)type, (void)kernel, (void)stream;
    *packed = (device_packed){0};
    return mc_fail(diag, MC_CANNOT, "windowed-bcrs is not made on the device");
}
