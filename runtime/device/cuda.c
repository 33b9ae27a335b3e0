/* The device that is a GPU, by the CUDA driver API. */
#include <stdatomic.h>
#include <stdlib.h>
#include "device/cuda.h"
#include "base/type.h"

/* -- The calling thread */

mc_status cuda_make_current(mc_device *device, mc_diag *diag) {
    return CUDA_CALL(cuda_of(device)->driver, diag, CtxSetCurrent, cuda_of(device)->context);
}

static bool cuda_is_current(mc_device *device) {
    cuda_context current = NULL;
    return cuda_of(device)->driver->CtxGetCurrent(&current) == CUDA_SUCCESS &&
           current == cuda_of(device)->context;
}

static void pop(const cuda_driver *driver) {
    cuda_context popped;
    (void)driver->CtxPopCurrent(&popped);
}

static mc_status cuda_enter(mc_device *device, int *mode, mc_diag *diag) {
    const cuda_driver *driver = cuda_of(device)->driver;
    *mode = CUDA_CAPTURE_MODE_RELAXED;
    mc_status status = CUDA_CALL(driver, diag, CtxPushCurrent, cuda_of(device)->context);
    if (status != MC_OK || driver->ThreadExchangeStreamCaptureMode == NULL) return status;
    status = CUDA_CALL(driver, diag, ThreadExchangeStreamCaptureMode, mode);
    if (status != MC_OK) pop(driver);
    return status;
}

static void cuda_leave(mc_device *device, int mode) {
    const cuda_driver *driver = cuda_of(device)->driver;
    if (driver->ThreadExchangeStreamCaptureMode != NULL) (void)driver->ThreadExchangeStreamCaptureMode(&mode);
    pop(driver);
}

static mc_status cuda_synchronize(mc_device *device, void *stream, mc_diag *diag) {
    mc_status status = cuda_make_current(device, diag);
    return status != MC_OK ? status : CUDA_CALL(cuda_of(device)->driver, diag, StreamSynchronize, stream);
}

/* -- Memory */

static mc_status cuda_alloc(mc_device *device, size_t bytes, uint64_t *address, mc_diag *diag) {
    mc_status status = cuda_make_current(device, diag);
    if (status != MC_OK) return status;
    return CUDA_CALL(cuda_of(device)->driver, diag, MemAlloc, address, bytes > 0 ? bytes : 1);
}

static void cuda_free(mc_device *device, uint64_t address) {
    (void)cuda_make_current(device, NULL);
    (void)cuda_of(device)->driver->MemFree(address);
}

/* When cuMemcpyHtoD returns, a copy from pageable memory may still be on its way, and a fill may not have
   begun (CUDA Driver API, "API synchronization behavior"): streams that do not wait for the default one would
   not find them there. */
static mc_status wait_for_default_stream(const cuda_driver *driver, mc_diag *diag) {
    return CUDA_CALL(driver, diag, StreamSynchronize, NULL);
}

static mc_status cuda_write(mc_device *device, uint64_t address, const void *data, size_t bytes,
                            mc_diag *diag) {
    const cuda_driver *driver = cuda_of(device)->driver;
    mc_status status = cuda_make_current(device, diag);
    if (status == MC_OK) status = CUDA_CALL(driver, diag, MemcpyHtoD, address, data, bytes);
    return status == MC_OK ? wait_for_default_stream(driver, diag) : status;
}

/* Made by the first upload; of several threads' first ones, one is kept. */
static mc_status find_upload_stream(cuda_device_state *device, cuda_stream *stream, mc_diag *diag) {
    cuda_stream made, none = NULL;
    *stream = atomic_load(&device->uploads);
    if (*stream != NULL) return MC_OK;
    mc_status status = CUDA_CALL(device->driver, diag, StreamCreate, &made, CUDA_STREAM_NON_BLOCKING);
    if (status != MC_OK) return status;
    bool kept = atomic_compare_exchange_strong(&device->uploads, &none, made);
    if (!kept) (void)device->driver->StreamDestroy(made);
    *stream = kept ? made : none;
    return MC_OK;
}

static mc_status cuda_upload(mc_device *device, uint64_t address, const void *data, size_t bytes,
                             mc_diag *diag) {
    const cuda_driver *driver = cuda_of(device)->driver;
    cuda_stream stream;
    mc_status status = cuda_make_current(device, diag);
    if (status == MC_OK) status = find_upload_stream(cuda_of(device), &stream, diag);
    if (status == MC_OK) status = CUDA_CALL(driver, diag, MemcpyHtoDAsync, address, data, bytes, stream);
    return status == MC_OK ? CUDA_CALL(driver, diag, StreamSynchronize, stream) : status;
}

static mc_status refuse_capture(const cuda_driver *driver, cuda_stream stream, const char *why,
                                mc_diag *diag) {
    int capture = CUDA_CAPTURE_STATUS_NONE;
    mc_status status = CUDA_CALL(driver, diag, StreamIsCapturing, stream, &capture);
    if (status != MC_OK || capture == CUDA_CAPTURE_STATUS_NONE) return status;
    return mc_fail(diag, MC_CANNOT, "%s", why);
}

/* Out of pageable memory the driver has read all when cuMemcpyHtoDAsync returns: it goes through a staging
   buffer (CUDA Driver API, "API synchronization behavior"). Not so on a GPU that reads such memory through
   the host's page tables: it is waited for. */
static mc_status cuda_write_on(mc_device *device, uint64_t address, const void *data, size_t bytes,
                               void *stream, mc_diag *diag) {
    const cuda_driver *driver = cuda_of(device)->driver;
    mc_status status = cuda_make_current(device, diag);
    if (status == MC_OK)
        status = refuse_capture(driver, stream,
                                "a copy from host memory on a stream that is being captured: the graph would "
                                "keep the address, and read what is there at each replay",
                                diag);
    if (status == MC_OK) status = CUDA_CALL(driver, diag, MemcpyHtoDAsync, address, data, bytes, stream);
    if (status == MC_OK && cuda_of(device)->reads_pageable)
        status = CUDA_CALL(driver, diag, StreamSynchronize, stream);
    return status;
}

static mc_status cuda_read_on(mc_device *device, uint64_t address, void *data, size_t bytes, void *stream,
                              mc_diag *diag) {
    const cuda_driver *driver = cuda_of(device)->driver;
    mc_status status = cuda_make_current(device, diag);
    if (status == MC_OK) status = CUDA_CALL(driver, diag, MemcpyDtoHAsync, data, address, bytes, stream);
    return status == MC_OK ? CUDA_CALL(driver, diag, StreamSynchronize, stream) : status;
}

static mc_status cuda_check_stream(mc_device *device, void *stream, mc_diag *diag) {
    mc_status status = cuda_make_current(device, diag);
    if (status != MC_OK) return status;
    return refuse_capture(cuda_of(device)->driver, stream,
                          "the stream is being captured: what is put on it does not run, and cannot be read",
                          diag);
}

static mc_status cuda_own_stream(mc_device *device, void **stream, mc_diag *diag) {
    cuda_stream own = NULL;
    mc_status status = cuda_make_current(device, diag);
    if (status == MC_OK) status = find_upload_stream(cuda_of(device), &own, diag);
    *stream = own;
    return status;
}

static mc_status cuda_read(mc_device *device, uint64_t address, void *data, size_t bytes, mc_diag *diag) {
    mc_status status = cuda_make_current(device, diag);
    if (status != MC_OK) return status;
    return CUDA_CALL(cuda_of(device)->driver, diag, MemcpyDtoH, data, address, bytes);
}

static mc_status cuda_fill(mc_device *device, uint64_t address, int byte, size_t bytes, mc_diag *diag) {
    const cuda_driver *driver = cuda_of(device)->driver;
    mc_status status = cuda_make_current(device, diag);
    if (status == MC_OK) status = CUDA_CALL(driver, diag, MemsetD8, address, (unsigned char)byte, bytes);
    return status == MC_OK ? wait_for_default_stream(driver, diag) : status;
}

/* -- Tensor maps */

static const int cuda_tensor_of[] = {
    [TENSOR_UINT8] = CUDA_TENSOR_UINT8,     [TENSOR_UINT16] = CUDA_TENSOR_UINT16,
    [TENSOR_INT32] = CUDA_TENSOR_INT32,     [TENSOR_INT64] = CUDA_TENSOR_INT64,
    [TENSOR_FLOAT16] = CUDA_TENSOR_FLOAT16, [TENSOR_BFLOAT16] = CUDA_TENSOR_BFLOAT16,
    [TENSOR_FLOAT32] = CUDA_TENSOR_FLOAT32};

static const int cuda_swizzle_of[] = {[MC_SWIZZLE_NONE] = CUDA_SWIZZLE_NONE,
                                      [MC_SWIZZLE_32B] = CUDA_SWIZZLE_32B,
                                      [MC_SWIZZLE_64B] = CUDA_SWIZZLE_64B,
                                      [MC_SWIZZLE_128B] = CUDA_SWIZZLE_128B};

/* How much L2 brings at once. Asked for more than a row, copies of boxes whose rows are less than a line take
   a quarter longer (docs/measurements.md, 2026-11-30). */
static int promotion_of(const mc_tensor *tensor) {
    enum { LINE = 128 };
    return mc_type_size(tensor->type, tensor->box[0]) < LINE ? CUDA_L2_PROMOTION_NONE
                                                             : CUDA_L2_PROMOTION_256B;
}

static mc_status cuda_tensor_map(mc_device *device, const mc_tensor *tensor, mc_tensor_map *map,
                                 mc_diag *diag) {
    static const unsigned every_element[MC_TENSOR_RANK] = {1, 1, 1};
    const cuda_driver *driver = cuda_of(device)->driver;
    if (driver->TensorMapEncodeTiled == NULL)
        return mc_fail(diag, MC_CANNOT, "the CUDA driver has no tensor maps: it is older than 12.0");
    mc_status status = cuda_make_current(device, diag);
    if (status != MC_OK) return status;
    return CUDA_CALL(driver, diag, TensorMapEncodeTiled, map->opaque,
                     cuda_tensor_of[element_rows[tensor->type].tensor], (unsigned)tensor->rank,
                     (void *)(uintptr_t)tensor->address, tensor->dims, tensor->strides, tensor->box,
                     every_element, CUDA_INTERLEAVE_NONE, cuda_swizzle_of[tensor->swizzle],
                     promotion_of(tensor), CUDA_FILL_ZERO);
}

/* -- Devices */

static void end_uploads(cuda_device_state *device) {
    cuda_stream stream = atomic_load(&device->uploads);
    if (stream == NULL || device->driver->CtxPushCurrent(device->context) != CUDA_SUCCESS) return;
    (void)device->driver->StreamDestroy(stream);
    pop(device->driver);
}

static void cuda_close(mc_device *device) {
    end_uploads(cuda_of(device));
    if (cuda_of(device)->retained)
        (void)cuda_of(device)->driver->DevicePrimaryCtxRelease(cuda_of(device)->handle);
    free(device);
}

static const mc_device_ops cuda_ops = {
    .close = cuda_close,
    .alloc = cuda_alloc,
    .free = cuda_free,
    .write = cuda_write,
    .upload = cuda_upload,
    .write_on = cuda_write_on,
    .read_on = cuda_read_on,
    .check_stream = cuda_check_stream,
    .own_stream = cuda_own_stream,
    .synchronize = cuda_synchronize,
    .enter = cuda_enter,
    .leave = cuda_leave,
    .is_current = cuda_is_current,
    .compile = cuda_compile,
    .read = cuda_read,
    .fill = cuda_fill,
    .tensor_map = cuda_tensor_map,
    .load = cuda_load,
    .unload = cuda_unload,
    .prepare = cuda_prepare,
    .put = cuda_put,
    .launch = cuda_launch,
    .enqueue = cuda_enqueue,
    .time = cuda_time,
    .graph_create = cuda_graph_create,
    .graph_replay = cuda_graph_replay,
    .graph_destroy = cuda_graph_destroy,
};

static mc_status read_info(const cuda_driver *driver, cuda_device handle, mc_device_info *info,
                           mc_diag *diag) {
    int major = 0, minor = 0;
    size_t memory = 0;
    info->kind = MC_DEVICE_CUDA;
    mc_status status = CUDA_CALL(driver, diag, DeviceGetName, info->name, (int)sizeof info->name, handle);
    if (status == MC_OK) status = CUDA_CALL(driver, diag, DriverGetVersion, &info->driver);
    if (status == MC_OK)
        status = CUDA_CALL(driver, diag, DeviceGetAttribute, &major, CUDA_COMPUTE_CAPABILITY_MAJOR, handle);
    if (status == MC_OK)
        status = CUDA_CALL(driver, diag, DeviceGetAttribute, &minor, CUDA_COMPUTE_CAPABILITY_MINOR, handle);
    if (status == MC_OK)
        status = CUDA_CALL(driver, diag, DeviceGetAttribute, &info->multiprocessors,
                           CUDA_MULTIPROCESSOR_COUNT, handle);
    if (status == MC_OK)
        status = CUDA_CALL(driver, diag, DeviceGetAttribute, &info->l2_bytes, CUDA_L2_CACHE_SIZE, handle);
    if (status == MC_OK) status = CUDA_CALL(driver, diag, DeviceTotalMem, &memory, handle);
    info->name[sizeof info->name - 1] = '\0';
    info->capability = 10 * major + minor;
    info->memory = memory;
    return status;
}

static mc_status count_devices(const cuda_driver **driver, int *count, mc_diag *diag) {
    const char *why;
    *count = 0;
    if (cuda_driver_get(driver, &why) != CUDA_READY) return mc_fail(diag, MC_CANNOT, "%s", why);
    return CUDA_CALL(*driver, diag, DeviceGetCount, count);
}

int mc_device_cuda_count(void) {
    const cuda_driver *driver;
    int count;
    return count_devices(&driver, &count, NULL) == MC_OK ? count : 0;
}

bool mc_device_cuda_absent(void) {
    const cuda_driver *driver;
    const char *why;
    int count = 0;
    cuda_presence presence = cuda_driver_get(&driver, &why);
    if (presence != CUDA_READY) return presence == CUDA_ABSENT;
    return driver->DeviceGetCount(&count) == CUDA_SUCCESS && count == 0;
}

static mc_status find_gpu(const cuda_driver *driver, int count, int ordinal, cuda_device *handle,
                          mc_diag *diag) {
    if (ordinal >= count)
        return mc_fail(diag, MC_CANNOT, "cuda:%d: the driver sees %d GPU%s", ordinal, count,
                       count == 1 ? "" : "s");
    return CUDA_CALL(driver, diag, DeviceGet, handle, ordinal);
}

/* The GPU of CONTEXT, which is the caller's. */
static mc_status find_gpu_of(const cuda_driver *driver, cuda_context context, cuda_device *handle,
                             mc_diag *diag) {
    mc_status status = CUDA_CALL(driver, diag, CtxPushCurrent, context);
    if (status != MC_OK) return status;
    status = CUDA_CALL(driver, diag, CtxGetDevice, handle);
    pop(driver);
    return status;
}

/* Of the GPU that is OPENED already. */
static mc_status find_ordinal(cuda_device_state *opened, int count, mc_diag *diag) {
    mc_status status = MC_OK;
    for (int i = 0; i < count && status == MC_OK; i++) {
        cuda_device handle = 0;
        status = CUDA_CALL(opened->driver, diag, DeviceGet, &handle, i);
        if (handle == opened->handle) opened->base.info.ordinal = i;
    }
    return status;
}

/* Sets the GPU and its context. */
static mc_status find_context(cuda_device_state *opened, int ordinal, cuda_context context, mc_diag *diag) {
    cuda_device own = 0;
    int count;
    mc_status status = count_devices(&opened->driver, &count, diag);
    if (status == MC_OK && context != NULL) status = find_gpu_of(opened->driver, context, &own, diag);
    opened->handle = own;
    opened->context = context;
    opened->base.info.ordinal = ordinal;
    if (status != MC_OK) return status;
    if (ordinal == ANY_GPU) return find_ordinal(opened, count, diag);
    status = find_gpu(opened->driver, count, ordinal, &opened->handle, diag);
    if (status == MC_OK && context != NULL && own != opened->handle)
        return mc_fail(diag, MC_USAGE, "cuda:%d: the context is another GPU's", ordinal);
    return status;
}

static mc_status read_pageable(cuda_device_state *opened, mc_diag *diag) {
    int reads = 0;
    mc_status status = CUDA_CALL(opened->driver, diag, DeviceGetAttribute, &reads,
                                 CUDA_PAGEABLE_MEMORY_USES_HOST_PAGE_TABLES, opened->handle);
    opened->reads_pageable = reads > 0;
    return status;
}

/* Last, since it is what has to be given back. */
static mc_status retain(cuda_device_state *opened, mc_diag *diag) {
    if (opened->context != NULL) return MC_OK;
    mc_status status =
        CUDA_CALL(opened->driver, diag, DevicePrimaryCtxRetain, &opened->context, opened->handle);
    opened->retained = status == MC_OK;
    return status;
}

mc_status mc_device_cuda_open(int ordinal, void *context, mc_device **device, mc_diag *diag) {
    cuda_device_state *opened = calloc(1, sizeof *opened);
    if (opened == NULL) return mc_fail(diag, MC_NOMEM, "out of memory");
    opened->base.ops = &cuda_ops;
    mc_status status = find_context(opened, ordinal, context, diag);
    if (status == MC_OK) status = read_info(opened->driver, opened->handle, &opened->base.info, diag);
    if (status == MC_OK) status = read_pageable(opened, diag);
    if (status == MC_OK) status = retain(opened, diag);
    if (status == MC_OK) {
        driver_build(opened->driver, opened->base.info.driver, opened->base.build);
        *device = &opened->base;
    } else {
        free(opened);
    }
    return status;
}
