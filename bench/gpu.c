#include <stdio.h>
#include "gpu.h"
#include "../mcrun/options.h"

enum { DEVICE_L2_BYTES = 38 /* CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE */ };

static mc_status read_l2(gpu_device *gpu, const char *name, mc_diag *diag) {
    int ordinal = 0, bytes = 0;
    cuda_device handle;
    if (sscanf(name, "cuda:%d", &ordinal) != 1) ordinal = 0;
    mc_status status = CUDA_CALL(gpu->driver, diag, DeviceGet, &handle, ordinal);
    if (status == MC_OK)
        status = CUDA_CALL(gpu->driver, diag, DeviceGetAttribute, &bytes, DEVICE_L2_BYTES, handle);
    gpu->l2_bytes = bytes;
    return status;
}

/* An allocation makes libmcrt's context, the primary one, current to this thread, where it stays. */
static mc_status enter_context(gpu_device *gpu, mc_diag *diag) {
    uint64_t address;
    mc_status status = mc_device_alloc(gpu->device, 1, &address, diag);
    if (status == MC_OK) mc_device_free(gpu->device, address);
    return status;
}

mc_status gpu_open(gpu_device *gpu, const char *device, bool cached, mc_diag *diag) {
    const char *why;
    const mc_context_config config = {.size = sizeof config,
                                      .device = device,
                                      .cache = cached ? MC_CACHE_ENVIRONMENT : MC_CACHE_OFF,
                                      .records = "",
                                      .log = cmd_log,
                                      .allocate = kept_take,
                                      .release = kept_give,
                                      .memory_user = gpu};
    mc_status status = mc_context_create(&config, &gpu->context, diag);
    if (status != MC_OK) return status;
    gpu->device = gpu->context->device;
    if (mc_device_get_info(gpu->device)->kind != MC_DEVICE_CUDA)
        return mc_fail(diag, MC_CANNOT, "%s: the simulator has no time to measure, mcbench needs a GPU",
                       device);
    if (cuda_driver_get(&gpu->driver, &why) != CUDA_READY) return mc_fail(diag, MC_CANNOT, "%s", why);
    status = enter_context(gpu, diag);
    if (status == MC_OK) status = read_l2(gpu, device, diag);
    if (status == MC_OK) status = CUDA_CALL(gpu->driver, diag, StreamCreate, &gpu->stream, 0);
    return status;
}

void gpu_close(gpu_device *gpu) {
    if (gpu->stream != NULL) (void)gpu->driver->StreamDestroy(gpu->stream);
    if (gpu->device != NULL) kept_empty(gpu);
    mc_context_destroy(gpu->context);
    gpu->context = NULL;
    gpu->device = NULL;
    gpu->stream = NULL;
}
