/* What devices with streams have: of a kind without, reads wait for nothing, and no stream is captured. */
#include "device/kind.h"

mc_status mc_device_read_on(mc_device *device, uint64_t address, void *data, size_t bytes, void *stream,
                            mc_diag *diag) {
    if (bytes == 0) return MC_OK;
    if (device->ops->read_on == NULL) return device->ops->read(device, address, data, bytes, diag);
    return device->ops->read_on(device, address, data, bytes, stream, diag);
}

mc_status mc_device_check_stream(mc_device *device, void *stream, mc_diag *diag) {
    return device->ops->check_stream != NULL ? device->ops->check_stream(device, stream, diag) : MC_OK;
}

mc_status mc_device_own_stream(mc_device *device, void **stream, mc_diag *diag) {
    *stream = NULL;
    return device->ops->own_stream != NULL ? device->ops->own_stream(device, stream, diag) : MC_OK;
}
