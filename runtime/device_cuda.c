/* The device that is a GPU, by the CUDA driver API. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include "device_cuda.h"

enum { JIT_LOG_BYTES = 8192 };

static cuda_device_state *cuda_of(mc_device *device) { return (cuda_device_state *)device; }

mc_status cuda_enter(mc_device *device, mc_diag *diag) {
    return CUDA_CALL(cuda_of(device)->driver, diag, CtxSetCurrent, cuda_of(device)->context);
}

/* -- Memory */

static mc_status cuda_alloc(mc_device *device, size_t bytes, uint64_t *address, mc_diag *diag) {
    mc_status status = cuda_enter(device, diag);
    if (status != MC_OK) return status;
    return CUDA_CALL(cuda_of(device)->driver, diag, MemAlloc, address, bytes > 0 ? bytes : 1);
}

static void cuda_free(mc_device *device, uint64_t address) {
    (void)cuda_enter(device, NULL);
    (void)cuda_of(device)->driver->MemFree(address);
}

static mc_status cuda_write(mc_device *device, uint64_t address, const void *data, size_t bytes,
                            mc_diag *diag) {
    mc_status status = cuda_enter(device, diag);
    if (status != MC_OK) return status;
    return CUDA_CALL(cuda_of(device)->driver, diag, MemcpyHtoD, address, data, bytes);
}

static mc_status cuda_read(mc_device *device, uint64_t address, void *data, size_t bytes, mc_diag *diag) {
    mc_status status = cuda_enter(device, diag);
    if (status != MC_OK) return status;
    return CUDA_CALL(cuda_of(device)->driver, diag, MemcpyDtoH, data, address, bytes);
}

static mc_status cuda_fill(mc_device *device, uint64_t address, int byte, size_t bytes, mc_diag *diag) {
    mc_status status = cuda_enter(device, diag);
    if (status != MC_OK) return status;
    return CUDA_CALL(cuda_of(device)->driver, diag, MemsetD8, address, (unsigned char)byte, bytes);
}

/* -- Tensor maps */

static const int cuda_type_of[] = {
    [MC_S8] = CUDA_TENSOR_UINT8,      [MC_U8] = CUDA_TENSOR_UINT8,   [MC_S12] = CUDA_TENSOR_UINT16,
    [MC_U12] = CUDA_TENSOR_UINT16,    [MC_S16] = CUDA_TENSOR_UINT16, [MC_U16] = CUDA_TENSOR_UINT16,
    [MC_S32] = CUDA_TENSOR_INT32,     [MC_S64] = CUDA_TENSOR_INT64,  [MC_F16] = CUDA_TENSOR_FLOAT16,
    [MC_BF16] = CUDA_TENSOR_BFLOAT16, [MC_F32] = CUDA_TENSOR_FLOAT32};

static const int cuda_swizzle_of[] = {[MC_SWIZZLE_NONE] = CUDA_SWIZZLE_NONE,
                                      [MC_SWIZZLE_32B] = CUDA_SWIZZLE_32B,
                                      [MC_SWIZZLE_64B] = CUDA_SWIZZLE_64B,
                                      [MC_SWIZZLE_128B] = CUDA_SWIZZLE_128B};

static mc_status cuda_tensor_map(mc_device *device, const mc_tensor *tensor, mc_tensor_map *map,
                                 mc_diag *diag) {
    static const unsigned every_element[MC_TENSOR_RANK] = {1, 1, 1};
    const cuda_driver *driver = cuda_of(device)->driver;
    if (driver->TensorMapEncodeTiled == NULL)
        return mc_fail(diag, MC_CANNOT, "the CUDA driver has no tensor maps: it is older than 12.0");
    mc_status status = cuda_enter(device, diag);
    if (status != MC_OK) return status;
    return CUDA_CALL(driver, diag, TensorMapEncodeTiled, map->opaque, cuda_type_of[tensor->type],
                     (unsigned)tensor->rank, (void *)(uintptr_t)tensor->address, tensor->dims,
                     tensor->strides, tensor->box, every_element, CUDA_INTERLEAVE_NONE,
                     cuda_swizzle_of[tensor->swizzle], CUDA_L2_PROMOTION_256B, CUDA_FILL_ZERO);
}

/* -- Modules */

/* Adds each line of the JIT's log as a message of its own. */
static void report_log(char *log, mc_status status, mc_diag *diag) {
    char *rest = log;
    for (char *line = strtok_r(log, "\r\n", &rest); line != NULL; line = strtok_r(NULL, "\r\n", &rest))
        (void)mc_fail(diag, status, "%s", line);
}

/* The driver reads sizes and pointers alike out of the void * slots. */
static mc_status load_image(cuda_device_state *device, const char *ptx, cuda_module *module, mc_diag *diag) {
    char info[JIT_LOG_BYTES] = "", error[JIT_LOG_BYTES] = "";
    int options[] = {CUDA_JIT_INFO_LOG_BUFFER, CUDA_JIT_INFO_LOG_BUFFER_SIZE_BYTES, CUDA_JIT_ERROR_LOG_BUFFER,
                     CUDA_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {info, (void *)(uintptr_t)sizeof info, error, (void *)(uintptr_t)sizeof error};
    mc_status status = CUDA_CALL(device->driver, diag, ModuleLoadDataEx, module, ptx, 4, options, values);
    if (status == MC_OK) return MC_OK;
    info[sizeof info - 1] = error[sizeof error - 1] = '\0';
    report_log(error[0] != '\0' ? error : info, status, diag);
    return status;
}

static void cuda_unload(mc_module *module) {
    cuda_module_state *loaded = (cuda_module_state *)module;
    (void)cuda_enter(module->device, NULL);
    if (loaded->module != NULL) (void)cuda_of(module->device)->driver->ModuleUnload(loaded->module);
    free(loaded);
}

static mc_status cuda_load(mc_device *device, const char *ptx, const char *entry, mc_module **module,
                           mc_diag *diag) {
    mc_status status = cuda_enter(device, diag);
    if (status != MC_OK) return status;
    cuda_module_state *loaded = calloc(1, sizeof *loaded);
    if (loaded == NULL) return mc_fail(diag, MC_NOMEM, "out of memory");
    loaded->base.device = device;
    status = load_image(cuda_of(device), ptx, &loaded->module, diag);
    if (status == MC_OK)
        status = CUDA_CALL(cuda_of(device)->driver, diag, ModuleGetFunction, &loaded->function,
                           loaded->module, entry);
    if (status == MC_OK) *module = &loaded->base;
    else cuda_unload(&loaded->base);
    return status;
}

/* -- Launches */

/* Static and dynamic shared memory beyond 48 KB together want the kernel's consent, given here for whatever
   dynamic part there is (CUDA programming guide, "Shared Memory" of compute capability 8.x). */
static mc_status allow_shared(const cuda_driver *driver, cuda_function function, unsigned bytes,
                              mc_diag *diag) {
    if (bytes == 0) return MC_OK;
    if (bytes > INT_MAX) return mc_fail(diag, MC_CANNOT, "%u bytes of dynamic shared memory", bytes);
    return CUDA_CALL(driver, diag, FuncSetAttribute, function, CUDA_FUNC_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                     (int)bytes);
}

/* The kernel waits for what was launched before it by itself (CUDA programming guide, "Programmatic Dependent
   Launch and Synchronization"). */
static mc_status launch_overlapped(const cuda_driver *driver, cuda_function function, const mc_launch *launch,
                                   cuda_stream stream, void **pointers, mc_diag *diag) {
    cuda_launch_attribute attribute = {.id = CUDA_ATTRIBUTE_PROGRAMMATIC_SERIALIZATION, .value.allowed = 1};
    cuda_launch_config config = {.shared_bytes = launch->shared_dynamic,
                                 .stream = stream,
                                 .attributes = &attribute,
                                 .attribute_count = 1};
    memcpy(config.grid, launch->grid, sizeof config.grid);
    memcpy(config.block, launch->block, sizeof config.block);
    return CUDA_CALL(driver, diag, LaunchKernelEx, &config, function, pointers, NULL);
}

mc_status cuda_enqueue(const cuda_module_state *module, const mc_launch *launch, cuda_stream stream,
                       mc_diag *diag) {
    const cuda_driver *driver = cuda_of(module->base.device)->driver;
    const unsigned *grid = launch->grid, *block = launch->block;
    void *pointers[MC_MAX_PARAMS];
    mc_launch_pointers(launch, pointers);
    mc_status status = allow_shared(driver, module->function, launch->shared_dynamic, diag);
    if (status != MC_OK) return status;
    if (launch->overlap && driver->LaunchKernelEx != NULL)
        return launch_overlapped(driver, module->function, launch, stream, pointers, diag);
    return CUDA_CALL(driver, diag, LaunchKernel, module->function, grid[0], grid[1], grid[2], block[0],
                     block[1], block[2], launch->shared_dynamic, stream, pointers, NULL);
}

/* PTX edited by hand may ask for other parameters than its contract gives. Drivers before 12.4 do not tell. */
mc_status cuda_check_params(const cuda_module_state *module, const mc_launch *launch, mc_diag *diag) {
    const cuda_driver *driver = cuda_of(module->base.device)->driver;
    size_t offset, size, count = 0;
    if (driver->FuncGetParamInfo == NULL) return MC_OK;
    for (; count <= MC_MAX_PARAMS &&
           driver->FuncGetParamInfo(module->function, count, &offset, &size) == CUDA_SUCCESS;
         count++)
        if (mc_launch_check_size(launch, count, size, diag) != MC_OK) return MC_CANNOT;
    return count == launch->count ? MC_OK
                                  : mc_fail(diag, MC_CANNOT, MC_PARAM_COUNT_MESSAGE, count, launch->count);
}

static mc_status cuda_launch(mc_module *module, const mc_launch *launch, mc_diag *diag) {
    mc_status status = cuda_enter(module->device, diag);
    if (status == MC_OK) status = cuda_check_params((const cuda_module_state *)module, launch, diag);
    if (status == MC_OK) status = cuda_enqueue((const cuda_module_state *)module, launch, NULL, diag);
    if (status == MC_OK) status = CUDA_CALL(cuda_of(module->device)->driver, diag, CtxSynchronize, );
    return status;
}

static mc_status cuda_enqueue_on(mc_module *module, const mc_launch *launch, void *stream, mc_diag *diag) {
    mc_status status = cuda_enter(module->device, diag);
    if (status == MC_OK) status = cuda_check_params((const cuda_module_state *)module, launch, diag);
    return status != MC_OK ? status : cuda_enqueue((const cuda_module_state *)module, launch, stream, diag);
}

/* -- Devices */

static void cuda_close(mc_device *device) {
    (void)cuda_of(device)->driver->DevicePrimaryCtxRelease(cuda_of(device)->handle);
    free(device);
}

static const mc_device_ops cuda_ops = {
    .close = cuda_close,
    .alloc = cuda_alloc,
    .free = cuda_free,
    .write = cuda_write,
    .read = cuda_read,
    .fill = cuda_fill,
    .tensor_map = cuda_tensor_map,
    .load = cuda_load,
    .unload = cuda_unload,
    .launch = cuda_launch,
    .enqueue = cuda_enqueue_on,
    .time = cuda_time,
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

/* Everything of opening but the struct. */
static mc_status open_handle(cuda_device_state *opened, int ordinal, mc_diag *diag) {
    int count;
    mc_status status = count_devices(&opened->driver, &count, diag);
    if (status != MC_OK) return status;
    if (ordinal >= count)
        return mc_fail(diag, MC_CANNOT, "cuda:%d: the driver sees %d GPU%s", ordinal, count,
                       count == 1 ? "" : "s");
    status = CUDA_CALL(opened->driver, diag, DeviceGet, &opened->handle, ordinal);
    if (status == MC_OK) status = read_info(opened->driver, opened->handle, &opened->base.info, diag);
    if (status == MC_OK)
        status = CUDA_CALL(opened->driver, diag, DevicePrimaryCtxRetain, &opened->context, opened->handle);
    return status;
}

mc_status mc_device_cuda_open(int ordinal, mc_device **device, mc_diag *diag) {
    cuda_device_state *opened = calloc(1, sizeof *opened);
    if (opened == NULL) return mc_fail(diag, MC_NOMEM, "out of memory");
    opened->base.ops = &cuda_ops;
    mc_status status = open_handle(opened, ordinal, diag);
    if (status == MC_OK) *device = &opened->base;
    else free(opened);
    return status;
}
