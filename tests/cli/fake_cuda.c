/* A libcuda.so.1 that records its calls. Device memory is host memory, a kernel is a function of the test,
   events tell the times that the test sets. Written from the CUDA Driver API manual, and apart from
   runtime/cuda_driver.h, so that a wrong symbol or signature there shows here. */
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "fake_cuda.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT fake_cuda fake_cuda_state = {.devices = 2};

static fake_cuda *const fake = &fake_cuda_state;
static void *current, *pushed[8]; /* contexts: the thread's current one, those below it */
static int depth;
static int capturing;
EXPORT char fake_cuda_handles[64]; /* objects are addresses in here; the contexts of the GPUs are 0 and 1 */
static char *const handles = fake_cuda_handles;

enum {
    FAILURE = 1,
    STUB_LIBRARY = 34,
    NO_DEVICE = 100,
    BAD_CONTEXT = 201,
    BAD_PTX = 218,
    NOT_FOUND = 500,
    UNKNOWN = 999
};
enum { MODULE = 8, FUNCTION, STREAM, GRAPH, EXEC, LINK, OTHER_FUNCTION, EVENT = 20 };

static void note_list(const char *format, va_list arguments) {
    size_t used = strlen(fake->log);
    vsnprintf(fake->log + used, sizeof fake->log - used, format, arguments);
    used = strlen(fake->log);
    snprintf(fake->log + used, sizeof fake->log - used, "\n");
}

/* Logs a call that gives something back: it never fails. */
__attribute__((format(printf, 1, 2))) static void note(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    note_list(format, arguments);
    va_end(arguments);
}

/* Logs a call; what it returns is what the call returns. */
__attribute__((format(printf, 1, 2))) static int call(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    note_list(format, arguments);
    va_end(arguments);
    return ++fake->calls == fake->fail_at ? FAILURE : 0;
}

/* Calls that need a current context fail without one, as the driver does. */
static int in_context(int result) { return current == NULL ? BAD_CONTEXT : result; }

static const char *stream_name(const void *stream) {
    return stream == NULL ? "none" : stream == &handles[STREAM] ? "own" : "the caller's";
}

static int make(int result, void **object, int which) {
    if (result == 0) *object = &handles[which];
    fake->alive += result == 0;
    return result;
}

static int unmake(const char *name) {
    note("%s", name);
    fake->alive--;
    return 0;
}

EXPORT int cuInit(unsigned flags) {
    const char *mode = getenv("FAKE_CUDA");
    if (mode != NULL && strcmp(mode, "no device") == 0) return NO_DEVICE;
    if (mode != NULL && strcmp(mode, "broken") == 0) return UNKNOWN;
    if (mode != NULL && strcmp(mode, "stub") == 0) return STUB_LIBRARY;
    return call("cuInit %u", flags);
}

EXPORT int cuDriverGetVersion(int *version) {
    *version = 13000;
    return call("cuDriverGetVersion");
}

EXPORT int cuGetErrorName(int result, const char **name) {
    *name = result == NO_DEVICE ? "CUDA_ERROR_NO_DEVICE"
            : result == BAD_PTX ? "CUDA_ERROR_INVALID_PTX"
            : result == FAILURE ? "CUDA_ERROR_INVALID_VALUE"
                                : NULL;
    return *name == NULL;
}

EXPORT int cuGetErrorString(int result, const char **text) {
    *text = result == UNKNOWN ? NULL : "meaning of the error";
    return *text == NULL;
}

EXPORT int cuDeviceGetCount(int *count) {
    *count = fake->devices;
    return call("cuDeviceGetCount");
}

EXPORT int cuDeviceGet(int *device, int ordinal) {
    *device = 70 + ordinal;
    return call("cuDeviceGet %d", ordinal);
}

EXPORT int cuDeviceGetName(char *name, int size, int device) {
    snprintf(name, (size_t)size, "Fake GPU %d", device);
    return call("cuDeviceGetName");
}

/* 90 for 9.0, or what the environment says. */
static int capability(void) {
    const char *text = getenv("FAKE_CUDA_CAPABILITY");
    return text != NULL ? atoi(text) : 90;
}

EXPORT int cuDeviceGetAttribute(int *value, int attribute, int device) {
    *value = attribute == 16    ? 132
             : attribute == 75  ? capability() / 10
             : attribute == 76  ? capability() % 10
             : attribute == 100 ? fake->host_tables
                                : -1;
    return call("cuDeviceGetAttribute %d %d", attribute, device);
}

EXPORT int cuDeviceTotalMem_v2(size_t *bytes, int device) {
    *bytes = (size_t)1 << 34;
    return call("cuDeviceTotalMem_v2 %d", device);
}

EXPORT int cuDevicePrimaryCtxRetain(void **context, int device) {
    return make(call("cuDevicePrimaryCtxRetain %d", device), context, device - 70);
}

EXPORT int cuDevicePrimaryCtxRelease_v2(int device) {
    (void)device;
    return unmake("cuDevicePrimaryCtxRelease_v2");
}

EXPORT int cuCtxSetCurrent(void *context) {
    int result = call("cuCtxSetCurrent %td", (char *)context - handles);
    if (result == 0) current = context;
    return result;
}

EXPORT int cuCtxGetCurrent(void **context) { return *context = current, 0; }

EXPORT int cuCtxGetDevice(int *device) {
    *device = 70 + (int)((char *)current - handles);
    return in_context(call("cuCtxGetDevice"));
}

EXPORT int cuCtxPushCurrent_v2(void *context) {
    int result = call("cuCtxPushCurrent_v2 %td", (char *)context - handles);
    if (result != 0 || depth == 8) return FAILURE;
    pushed[depth++] = current;
    current = context;
    fake->alive++;
    return 0;
}

EXPORT int cuCtxPopCurrent_v2(void **context) {
    if (depth == 0) return BAD_CONTEXT;
    *context = current;
    current = pushed[--depth];
    return unmake("cuCtxPopCurrent_v2");
}

EXPORT int cuThreadExchangeStreamCaptureMode(int *mode) {
    int before = fake->capture_mode;
    if (*mode == 0) { /* the thread's own mode: it is being put back */
        note("cuThreadExchangeStreamCaptureMode 0");
    } else if (call("cuThreadExchangeStreamCaptureMode %d", *mode) != 0) {
        return FAILURE;
    }
    fake->capture_mode = *mode;
    *mode = before;
    return 0;
}

EXPORT int cuCtxSynchronize(void) { return in_context(call("cuCtxSynchronize")); }

EXPORT int cuMemAlloc_v2(unsigned long long *address, size_t bytes) {
    int result = in_context(call("cuMemAlloc_v2 %zu", bytes));
    if (result == 0 && bytes == 0) result = FAILURE;
    if (result == 0) *address = (unsigned long long)(size_t)aligned_alloc(256, (bytes + 255) / 256 * 256);
    fake->alive += result == 0;
    return result;
}

EXPORT int cuMemFree_v2(unsigned long long address) {
    free((void *)(size_t)address);
    return unmake("cuMemFree_v2");
}

EXPORT int cuMemcpyHtoD_v2(unsigned long long to, const void *from, size_t bytes) {
    int result = in_context(call("cuMemcpyHtoD_v2 %zu", bytes));
    if (result == 0) memcpy((void *)(size_t)to, from, bytes);
    return result;
}

EXPORT int cuMemcpyHtoDAsync_v2(unsigned long long to, const void *from, size_t bytes, void *stream) {
    int result = in_context(call("cuMemcpyHtoDAsync_v2 %zu stream %s", bytes, stream_name(stream)));
    if (result == 0) memcpy((void *)(size_t)to, from, bytes);
    return result;
}

EXPORT int cuMemcpyDtoHAsync_v2(void *to, unsigned long long from, size_t bytes, void *stream) {
    int result = in_context(call("cuMemcpyDtoHAsync_v2 %zu stream %s", bytes, stream_name(stream)));
    if (result == 0) memcpy(to, (void *)(size_t)from, bytes);
    return result;
}

EXPORT int cuMemcpyDtoH_v2(void *to, unsigned long long from, size_t bytes) {
    int result = in_context(call("cuMemcpyDtoH_v2 %zu", bytes));
    if (result == 0) memcpy(to, (void *)(size_t)from, bytes);
    return result;
}

EXPORT int cuMemsetD8_v2(unsigned long long address, unsigned char byte, size_t count) {
    int result = in_context(call("cuMemsetD8_v2 0x%x %zu", byte, count));
    if (result == 0) memset((void *)(size_t)address, byte, count);
    return result;
}

EXPORT int cuTensorMapEncodeTiled(void *map, int type, unsigned rank, void *address,
                                  const unsigned long long *dims, const unsigned long long *strides,
                                  const unsigned *box, const unsigned *steps, int interleave, int swizzle,
                                  int promotion, int fill) {
    int result = in_context(
        call("cuTensorMapEncodeTiled type %d rank %u at %p dims %llu,%llu stride %llu box %u,%u steps "
             "%u,%u interleave %d swizzle %d promotion %d fill %d",
             type, rank, address, dims[0], dims[1], strides[0], box[0], box[1], steps[0], steps[1],
             interleave, swizzle, promotion, fill));
    if ((size_t)map % 64 != 0) return FAILURE;
    if (result == 0) memset(map, 0x6d, 128);
    return result;
}

/* -- The linker. There is one at a time. */

static struct {
    char *info, *error, cubin[32];
    size_t info_size, error_size;
    int verbose;
} linker;

EXPORT int cuLinkCreate_v2(unsigned count, int *options, void **values, void **link) {
    int result = in_context(call("cuLinkCreate_v2"));
    memset(&linker, 0, sizeof linker);
    for (unsigned i = 0; i < count && result == 0; i++) {
        if (options[i] == 3) linker.info = values[i];
        else if (options[i] == 4) linker.info_size = (size_t)values[i];
        else if (options[i] == 5) linker.error = values[i];
        else if (options[i] == 6) linker.error_size = (size_t)values[i];
        else if (options[i] == 12) linker.verbose = values[i] != NULL;
        else result = FAILURE;
    }
    return make(result, link, LINK);
}

EXPORT int cuLinkAddData_v2(void *link, int type, void *data, size_t size, const char *name, unsigned count,
                            int *options, void **values) {
    (void)link, (void)options, (void)values;
    int result = in_context(call("cuLinkAddData_v2 %d \"%.20s\" %zu", type, (const char *)data, size));
    if (result == 0 && (name == NULL || count != 0 || ((const char *)data)[size - 1] != 0)) result = FAILURE;
    if (result == 0) snprintf(linker.cubin, sizeof linker.cubin, "cubin of %s", (const char *)data);
    if (result == 0 && fake->jit_error != NULL) {
        snprintf(linker.error, linker.error_size, "%s", fake->jit_error);
        result = BAD_PTX;
    }
    return result;
}

EXPORT int cuLinkComplete(void *link, void **cubin, size_t *size) {
    (void)link;
    int result = in_context(call("cuLinkComplete"));
    if (result == 0 && fake->jit_info != NULL && linker.verbose)
        snprintf(linker.info, linker.info_size, "%s", fake->jit_info);
    *cubin = linker.cubin;
    *size = strlen(linker.cubin) + 1;
    return result;
}

EXPORT int cuLinkDestroy(void *link) {
    (void)link;
    memset(linker.cubin, 'x', sizeof linker.cubin); /* it was the linker's */
    return unmake("cuLinkDestroy");
}

EXPORT int cuModuleLoadDataEx(void **module, const void *image, unsigned count, int *options, void **values) {
    int result = in_context(call("cuModuleLoadDataEx \"%.20s\"", (const char *)image));
    for (unsigned i = 0; i < count && result == 0 && fake->jit_error != NULL; i++)
        if (options[i] == 5) snprintf(values[i], (size_t)values[i + 1], "%s", fake->jit_error);
    if (result == 0 && fake->jit_error != NULL) result = BAD_PTX;
    return make(result, module, MODULE);
}

EXPORT int cuModuleUnload(void *module) {
    (void)module;
    return unmake("cuModuleUnload");
}

static int is_function(void *function) {
    return function == &handles[FUNCTION] || function == &handles[OTHER_FUNCTION];
}

EXPORT int cuModuleGetFunction(void **function, void *module, const char *name) {
    (void)module;
    int other = fake->other != NULL && strncmp(name, fake->other, strlen(fake->other)) == 0;
    *function = &handles[other ? OTHER_FUNCTION : FUNCTION];
    int result = in_context(call("cuModuleGetFunction %s", name));
    return result == 0 && strcmp(name, "absent") == 0 ? NOT_FOUND : result;
}

EXPORT int cuFuncSetAttribute(void *function, int attribute, int value) {
    (void)function;
    return in_context(call("cuFuncSetAttribute %d %d", attribute, value));
}

EXPORT int cuFuncGetParamInfo(void *function, size_t index, size_t *offset, size_t *size) {
    *offset = 8 * index;
    *size = fake->map_at != 0 && index == fake->map_at ? 128 : 8;
    size_t count = function == &handles[OTHER_FUNCTION] ? fake->other_params
                   : fake->params                       ? fake->params
                                                        : 2;
    return index < count ? 0 : FAILURE;
}

EXPORT int cuFuncLoad(void *function) {
    return is_function(function) ? in_context(call("cuFuncLoad")) : FAILURE;
}

/* CUlaunchConfig; an attribute is its id, a word without meaning, and its value. */
typedef struct launch_config {
    unsigned size[6], shared;
    void *stream;
    const int *attributes;
    unsigned attribute_count;
} launch_config;

static int launch(const char *name, void *function, const unsigned size[6], unsigned shared, void *stream,
                  void **params, void **extra) {
    int result = in_context(call("%s %u,%u,%u %u,%u,%u shared %u stream %s args %llu %d", name, size[0],
                                 size[1], size[2], size[3], size[4], size[5], shared, stream_name(stream),
                                 *(unsigned long long *)params[0], *(int *)params[1]));
    if (!is_function(function) || extra != NULL) return FAILURE;
    if ((capturing != 0) != (stream == &handles[STREAM])) return FAILURE;
    if (result == 0 && fake->map_at != 0)
        (void)call("map begins with 0x%x", *(unsigned *)params[fake->map_at]);
    if (result == 0 && fake->kernel != NULL && !capturing) fake->kernel(params);
    return result;
}

EXPORT int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                          unsigned bz, unsigned shared, void *stream, void **params, void **extra) {
    const unsigned size[] = {gx, gy, gz, bx, by, bz};
    return launch("cuLaunchKernel", function, size, shared, stream, params, extra);
}

/* With one attribute: it may start early. */
EXPORT int cuLaunchKernelEx(const launch_config *config, void *function, void **params, void **extra) {
    enum { PROGRAMMATIC_SERIALIZATION = 6 };
    const int *attribute = config->attributes;
    if (config->attribute_count != 1 || attribute[0] != PROGRAMMATIC_SERIALIZATION || attribute[2] != 1)
        return FAILURE;
    return launch("cuLaunchKernelEx", function, config->size, config->shared, config->stream, params, extra);
}

EXPORT int cuStreamCreate(void **stream, unsigned flags) {
    return make(in_context(call("cuStreamCreate %u", flags)), stream, STREAM);
}

EXPORT int cuStreamDestroy_v2(void *stream) {
    (void)stream;
    return unmake("cuStreamDestroy_v2");
}

EXPORT int cuStreamSynchronize(void *stream) {
    return capturing ? FAILURE : call("cuStreamSynchronize %s", stream_name(stream));
}

EXPORT int cuStreamIsCapturing(void *stream, int *status) {
    *status = stream == &handles[STREAM] ? capturing : fake->captured;
    return in_context(call("cuStreamIsCapturing %s", stream_name(stream)));
}

EXPORT int cuStreamBeginCapture_v2(void *stream, int mode) {
    (void)stream;
    int result = call("cuStreamBeginCapture_v2 %d", mode);
    capturing = result == 0;
    return result;
}

EXPORT int cuStreamEndCapture(void *stream, void **graph) {
    (void)stream;
    if (!capturing) return FAILURE;
    capturing = 0;
    return make(call("cuStreamEndCapture"), graph, GRAPH);
}

EXPORT int cuGraphInstantiateWithFlags(void **exec, void *graph, unsigned long long flags) {
    (void)graph;
    return make(call("cuGraphInstantiateWithFlags %llu", flags), exec, EXEC);
}

EXPORT int cuGraphLaunch(void *exec, void *stream) {
    (void)exec, (void)stream;
    return call("cuGraphLaunch");
}

EXPORT int cuGraphExecDestroy(void *exec) {
    (void)exec;
    return unmake("cuGraphExecDestroy");
}

EXPORT int cuGraphDestroy(void *graph) {
    (void)graph;
    return unmake("cuGraphDestroy");
}

EXPORT int cuEventCreate(void **event, unsigned flags) {
    static int next;
    return make(call("cuEventCreate %u", flags), event, EVENT + next++ % 2);
}

EXPORT int cuEventDestroy_v2(void *event) {
    (void)event;
    return unmake("cuEventDestroy_v2");
}

EXPORT int cuEventRecord(void *event, void *stream) {
    (void)stream;
    return call("cuEventRecord %td", (char *)event - handles);
}

EXPORT int cuEventSynchronize(void *event) { return call("cuEventSynchronize %td", (char *)event - handles); }

#ifndef FAKE_CUDA_OLD /* the old driver lacks a symbol */
EXPORT int cuEventElapsedTime(float *milliseconds, void *begin, void *end) {
    int result = call("cuEventElapsedTime");
    if (begin == end || fake->elapsed == NULL) return FAILURE;
    *milliseconds = *fake->elapsed++;
    return result;
}
#endif
