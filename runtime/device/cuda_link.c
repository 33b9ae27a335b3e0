/* PTX to an image: to a cubin by the driver's linker, whose result can be stored (cuModuleLoadData keeps its
   own to itself). The linker compiles for other files to call what it makes, so that setmaxnreg has no effect
   there, and wgmma of large tiles wait for each other (C7504 and C7512 in its log). A kernel with setmaxnreg
   is therefore loaded as it is: the image is its PTX, and the driver's own cache keeps the machine code. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "device/cuda.h"

/* The driver reads numbers and pointers alike out of the void * slots. */
void jit_log_begin(jit_log *log) {
    const int options[JIT_OPTIONS] = {CUDA_JIT_INFO_LOG_BUFFER, CUDA_JIT_INFO_LOG_BUFFER_SIZE_BYTES,
                                      CUDA_JIT_ERROR_LOG_BUFFER, CUDA_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
                                      CUDA_JIT_LOG_VERBOSE};
    /* a byte less: a driver that fills the buffer may leave out the NUL */
    void *const values[JIT_OPTIONS] = {log->info, (void *)(uintptr_t)(JIT_LOG_BYTES - 1), log->error,
                                       (void *)(uintptr_t)(JIT_LOG_BYTES - 1), (void *)(uintptr_t)1};
    memset(log, 0, sizeof *log);
    memcpy(log->options, options, sizeof options);
    memcpy(log->values, values, sizeof values);
}

void jit_log_report(const jit_log *log, mc_status status, mc_diag *diag) {
    const char *line = log->error[0] != '\0' ? log->error : log->info;
    for (line += strspn(line, "\r\n"); *line != '\0'; line += strspn(line, "\r\n")) {
        size_t length = strcspn(line, "\r\n");
        (void)mc_fail(diag, status, "%.*s", (int)length, line);
        line += length;
    }
}

/* Both parts, what went wrong first. NULL: out of memory. */
static char *join_log(const jit_log *log) {
    char *text;
    const char *between = log->error[0] != '\0' && log->info[0] != '\0' ? "\n" : "";
    return asprintf(&text, "%s%s%s", log->error, between, log->info) < 0 ? NULL : text;
}

static mc_status copy_image(const void *data, size_t size, mc_image *image, mc_diag *diag) {
    image->data = malloc(size > 0 ? size : 1);
    if (image->data == NULL) return mc_fail(diag, MC_NOMEM, "out of memory");
    memcpy(image->data, data, size);
    image->size = size;
    return MC_OK;
}

/* For the GPU of the current context, which is the linker's default (CU_JIT_TARGET_FROM_CUCONTEXT).
   The size of PTX includes its NUL. The linker owns the cubin that it makes, until it is destroyed. */
static mc_status link_ptx(const cuda_driver *driver, cuda_link link, const char *ptx, mc_image *image,
                          mc_diag *diag) {
    void *cubin = NULL;
    size_t size = 0;
    mc_status status = CUDA_CALL(driver, diag, LinkAddData, link, CUDA_JIT_INPUT_PTX, (void *)(uintptr_t)ptx,
                                 strlen(ptx) + 1, "kernel", 0, NULL, NULL);
    if (status == MC_OK) status = CUDA_CALL(driver, diag, LinkComplete, link, &cubin, &size);
    return status == MC_OK ? copy_image(cubin, size, image, diag) : status;
}

static mc_status compile_linked(const cuda_driver *driver, jit_log *log, const char *ptx, mc_image *image,
                                mc_diag *diag) {
    cuda_link link;
    mc_status status = CUDA_CALL(driver, diag, LinkCreate, JIT_OPTIONS, log->options, log->values, &link);
    if (status != MC_OK) return status;
    status = link_ptx(driver, link, ptx, image, diag);
    (void)driver->LinkDestroy(link);
    return status;
}

/* Compiles PTX, and leaves the machine code in the driver's cache, where the next load finds it. */
static mc_status compile_whole(const cuda_driver *driver, jit_log *log, const char *ptx, mc_image *image,
                               mc_diag *diag) {
    cuda_module module;
    mc_status status =
        CUDA_CALL(driver, diag, ModuleLoadDataEx, &module, ptx, JIT_OPTIONS, log->options, log->values);
    if (status != MC_OK) return status;
    (void)driver->ModuleUnload(module);
    return copy_image(ptx, strlen(ptx) + 1, image, diag);
}

bool mc_ptx_exchanges_registers(const char *ptx) { return strstr(ptx, "setmaxnreg") != NULL; }

mc_status cuda_compile(mc_device *device, const char *ptx, mc_image *image, char **log, mc_diag *diag) {
    mc_status status = cuda_make_current(device, diag);
    if (status != MC_OK) return status;
    jit_log *said = malloc(sizeof *said);
    if (said == NULL) return mc_fail(diag, MC_NOMEM, "out of memory");
    jit_log_begin(said);
    bool whole = mc_ptx_exchanges_registers(ptx);
    status = (whole ? compile_whole : compile_linked)(cuda_of(device)->driver, said, ptx, image, diag);
    if (status == MC_DEVICE) jit_log_report(said, status, diag);
    *log = join_log(said);
    free(said);
    return status;
}
