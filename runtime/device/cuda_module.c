/* Modules of the CUDA backend, and launches of their kernels. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include "device/cuda.h"

static mc_status load_image(cuda_device_state *device, const void *data, cuda_module *module, mc_diag *diag) {
    jit_log log;
    jit_log_begin(&log);
    mc_status status =
        CUDA_CALL(device->driver, diag, ModuleLoadDataEx, module, data, JIT_OPTIONS, log.options, log.values);
    if (status != MC_OK) jit_log_report(&log, status, diag);
    return status;
}

void cuda_unload(mc_module *module) {
    cuda_module_state *loaded = (cuda_module_state *)module;
    (void)cuda_make_current(module->device, NULL);
    if (loaded->module != NULL) (void)cuda_of(module->device)->driver->ModuleUnload(loaded->module);
    free(loaded);
}

/* Otherwise a driver that loads lazily does so at the first launch, which then allocates, waits, and cannot
   be captured (CUDA C++ Programming Guide, "Lazy Loading"). Drivers before 12.4 load in
   cuModuleGetFunction. */
static mc_status load_function(const cuda_driver *driver, cuda_function function, mc_diag *diag) {
    return driver->FuncLoad == NULL ? MC_OK : CUDA_CALL(driver, diag, FuncLoad, function);
}

mc_status cuda_load(mc_device *device, const mc_image *image, const char *entry, mc_module **module,
                    mc_diag *diag) {
    mc_status status = cuda_make_current(device, diag);
    if (status != MC_OK) return status;
    cuda_module_state *loaded = calloc(1, sizeof *loaded);
    if (loaded == NULL) return mc_fail(diag, MC_NOMEM, "out of memory");
    loaded->base.device = device;
    status = load_image(cuda_of(device), image->data, &loaded->module, diag);
    if (status == MC_OK)
        status = CUDA_CALL(cuda_of(device)->driver, diag, ModuleGetFunction, &loaded->function,
                           loaded->module, entry);
    if (status == MC_OK) status = load_function(cuda_of(device)->driver, loaded->function, diag);
    if (status == MC_OK) *module = &loaded->base;
    else cuda_unload(&loaded->base);
    return status;
}

/* -- Launches */

/* Static and dynamic shared memory beyond 48 KB together want the kernel's consent, given here for whatever
   dynamic part there is (CUDA C++ Programming Guide, "Shared Memory" of compute capability 8.x). */
static mc_status allow_shared(const cuda_driver *driver, cuda_function function, unsigned bytes,
                              mc_diag *diag) {
    if (bytes == 0) return MC_OK;
    if (bytes > INT_MAX) return mc_fail(diag, MC_CANNOT, "%u bytes of dynamic shared memory", bytes);
    return CUDA_CALL(driver, diag, FuncSetAttribute, function, CUDA_FUNC_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                     (int)bytes);
}

/* The kernel waits for what was launched before it by itself (CUDA C++ Programming Guide,
   "Programmatic Dependent Launch and Synchronization"). */
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

static mc_status put_pass(mc_module *module, const mc_launch *launch, void *stream, mc_diag *diag) {
    const cuda_driver *driver = cuda_of(module->device)->driver;
    const cuda_function function = ((const cuda_module_state *)module)->function;
    const unsigned *grid = launch->grid, *block = launch->block;
    void *pointers[MC_MAX_PARAMS];
    mc_launch_pointers(launch, pointers);
    if (launch->overlap && driver->LaunchKernelEx != NULL)
        return launch_overlapped(driver, function, launch, stream, pointers, diag);
    return CUDA_CALL(driver, diag, LaunchKernel, function, grid[0], grid[1], grid[2], block[0], block[1],
                     block[2], launch->shared_dynamic, stream, pointers, NULL);
}

mc_status cuda_put(mc_module *module, const mc_launch *launch, void *stream, mc_diag *diag) {
    return mc_launch_passes(module, launch, put_pass, stream, diag);
}

/* PTX edited by hand may ask for other parameters than its contract gives.
   Drivers before 12.4 do not tell. */
static mc_status check_params(const cuda_driver *driver, cuda_function function, const mc_launch *launch,
                              mc_diag *diag) {
    size_t offset, size, count = 0;
    if (driver->FuncGetParamInfo == NULL) return MC_OK;
    for (;
         count <= MC_MAX_PARAMS && driver->FuncGetParamInfo(function, count, &offset, &size) == CUDA_SUCCESS;
         count++)
        if (mc_launch_check_size(launch, count, size, diag) != MC_OK) return MC_CANNOT;
    return count == launch->count ? MC_OK
                                  : mc_fail(diag, MC_CANNOT, MC_PARAM_COUNT_MESSAGE, count, launch->count);
}

mc_status cuda_prepare(mc_module *module, const mc_launch *launch, mc_diag *diag) {
    const cuda_driver *driver = cuda_of(module->device)->driver;
    cuda_function function = ((cuda_module_state *)module)->function;
    mc_status status = check_params(driver, function, launch, diag);
    if (status == MC_OK) status = allow_shared(driver, function, launch->shared_dynamic, diag);
    return status;
}

mc_status cuda_enqueue(mc_module *module, const mc_launch *launch, void *stream, mc_diag *diag) {
    mc_status status = cuda_make_current(module->device, diag);
    if (status == MC_OK) status = cuda_prepare(module, launch, diag);
    return status != MC_OK ? status : cuda_put(module, launch, stream, diag);
}

mc_status cuda_launch(mc_module *module, const mc_launch *launch, mc_diag *diag) {
    mc_status status = cuda_enqueue(module, launch, NULL, diag);
    return status != MC_OK ? status : CUDA_CALL(cuda_of(module->device)->driver, diag, CtxSynchronize, );
}
