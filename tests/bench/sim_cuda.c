/* A libcuda.so.1 that is the simulator, so that a whole run of mcbench works without a GPU: launches compute,
   those in graphs when they are captured; a launch in a graph lasts 10 us. The kernels of the ceilings do
   nothing, nor do those whose names begin with the value of SIM_CUDA_SKIP; those that begin with SIM_CUDA_REFUSE
   are not launched. Where SIM_CUDA_LOST is set, a launch that faults is the last one: from then on the device is
   lost, as after an illegal address. Where SIM_CUDA_HANG is set, a launch makes the file of that name and never
   ends. Written from the CUDA Driver API manual. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>
#include <unistd.h>
#include "ptxsim.h"

#define EXPORT __attribute__((visibility("default")))

enum { FAILURE = 1, LAUNCH_US = 10, MOST_FILLED = 1 << 28, MAX_SKIPPED = 64 };

typedef struct event {
    int time;
} event;

static ptxsim *sim;
static mtx_t lock;
static int now;                                                 /* microseconds */
static int capturing;                                           /* launches of the capture that runs */
static char handles[8];                                         /* objects that are nothing but an address */
static const void *skipped[MAX_SKIPPED], *refused[MAX_SKIPPED]; /* functions */
static int skipped_count, refused_count;
static int lost;

/* One call at a time: the simulator is one thread's. */
static int after(ptxsim_status status) {
    if (status != PTXSIM_OK) fprintf(stderr, "sim_cuda: %s\n", ptxsim_fault_text(sim));
    int result = status == PTXSIM_OK && !lost ? 0 : FAILURE;
    mtx_unlock(&lock);
    return result;
}

EXPORT int cuInit(unsigned flags) {
    const ptxsim_options options = {.size = sizeof options, .no_races = 1};
    (void)flags;
    return mtx_init(&lock, mtx_plain) == thrd_success && ptxsim_create(&options, &sim) == PTXSIM_OK ? 0
                                                                                                    : FAILURE;
}

EXPORT int cuDriverGetVersion(int *version) { return *version = 13000, 0; }
EXPORT int cuGetErrorName(int result, const char **name) { return (void)result, *name = "FAILURE", 0; }
EXPORT int cuGetErrorString(int result, const char **text) { return (void)result, *text = "of sim_cuda", 0; }
EXPORT int cuDeviceGetCount(int *count) { return *count = 1, 0; }
EXPORT int cuDeviceGet(int *device, int ordinal) { return *device = ordinal, 0; }

EXPORT int cuDeviceGetName(char *name, int size, int device) {
    (void)device;
    return snprintf(name, (size_t)size, "Simulated GPU"), 0;
}

/* Multiprocessors, L2, compute capability. A small L2 makes few sets of cold operands. */
EXPORT int cuDeviceGetAttribute(int *value, int attribute, int device) {
    (void)device;
    *value = attribute == 16 ? 2 : attribute == 38 ? 24000 : attribute == 75 ? 9 : 0;
    return 0;
}

EXPORT int cuDeviceTotalMem_v2(size_t *bytes, int device) {
    return (void)device, *bytes = (size_t)1 << 32, 0;
}
EXPORT int cuDevicePrimaryCtxRetain(void **context, int device) {
    return (void)device, *context = handles, 0;
}
EXPORT int cuDevicePrimaryCtxRelease_v2(int device) { return (void)device, 0; }

/* How many contexts the thread has pushed; there is only one. */
static _Thread_local int depth;

EXPORT int cuCtxSetCurrent(void *context) {
    if (depth == 0) depth = 1;
    return context == handles ? 0 : FAILURE;
}
EXPORT int cuCtxPushCurrent_v2(void *context) { return depth++, context == handles ? 0 : FAILURE; }
EXPORT int cuCtxPopCurrent_v2(void **context) { return *context = handles, depth-- > 0 ? 0 : FAILURE; }
EXPORT int cuCtxGetCurrent(void **context) { return *context = depth > 0 ? handles : NULL, 0; }
EXPORT int cuCtxGetDevice(int *device) { return *device = 0, depth > 0 ? 0 : FAILURE; }
/* What waits for the device. */
static int is_lost(void) {
    mtx_lock(&lock);
    return after(PTXSIM_OK);
}

EXPORT int cuCtxSynchronize(void) { return is_lost(); }

/* -- Memory */

EXPORT int cuMemAlloc_v2(unsigned long long *address, size_t bytes) {
    uint64_t at;
    mtx_lock(&lock);
    ptxsim_status status = ptxsim_alloc(sim, bytes, &at);
    *address = at;
    return after(status);
}

EXPORT int cuMemFree_v2(unsigned long long address) {
    mtx_lock(&lock);
    return after(ptxsim_free(sim, address));
}

EXPORT int cuMemcpyHtoD_v2(unsigned long long to, const void *from, size_t bytes) {
    mtx_lock(&lock);
    return after(ptxsim_write(sim, to, from, bytes));
}

EXPORT int cuMemcpyHtoDAsync_v2(unsigned long long to, const void *from, size_t bytes, void *stream) {
    return (void)stream, cuMemcpyHtoD_v2(to, from, bytes);
}

EXPORT int cuMemcpyDtoH_v2(void *to, unsigned long long from, size_t bytes) {
    mtx_lock(&lock);
    return after(ptxsim_read(sim, from, to, bytes));
}

EXPORT int cuMemcpyDtoHAsync_v2(void *to, unsigned long long from, size_t bytes, void *stream) {
    return (void)stream, cuMemcpyDtoH_v2(to, from, bytes);
}

EXPORT int cuMemsetD8_v2(unsigned long long address, unsigned char byte, size_t count) {
    if (count > MOST_FILLED) return 0; /* the ceilings' */
    mtx_lock(&lock);
    return after(ptxsim_fill(sim, address, byte, count));
}

/* -- Modules and launches */

EXPORT int cuModuleLoadDataEx(void **module, const void *image, unsigned count, int *options, void **values) {
    ptxsim_module *loaded;
    (void)count, (void)options, (void)values;
    mtx_lock(&lock);
    ptxsim_status status = ptxsim_module_load(sim, image, &loaded);
    *module = loaded;
    return after(status);
}

/* The linker's cubin is the PTX itself, if it parses. */
EXPORT int cuLinkCreate_v2(unsigned count, int *options, void **values, void **link) {
    (void)count, (void)options, (void)values;
    *link = calloc(1, sizeof(char *));
    return *link == NULL ? FAILURE : 0;
}

EXPORT int cuLinkAddData_v2(void *link, int type, void *data, size_t size, const char *name, unsigned count,
                            int *options, void **values) {
    ptxsim_module *module;
    char *text = strndup(data, size);
    (void)name, (void)count, (void)options, (void)values;
    free(*(char **)link);
    *(char **)link = text;
    if (type != 1 || text == NULL) return FAILURE;
    mtx_lock(&lock);
    ptxsim_status status = ptxsim_module_load(sim, text, &module);
    if (status == PTXSIM_OK) status = ptxsim_module_unload(sim, module);
    return after(status);
}

EXPORT int cuLinkComplete(void *link, void **cubin, size_t *size) {
    *cubin = *(char **)link;
    return *size = strlen(*cubin) + 1, 0;
}

EXPORT int cuLinkDestroy(void *link) { return free(*(char **)link), free(link), 0; }

EXPORT int cuModuleUnload(void *module) {
    mtx_lock(&lock);
    return after(ptxsim_module_unload(sim, module));
}

static int begins_with(const char *name, const char *start) {
    return start != NULL && strncmp(name, start, strlen(start)) == 0;
}

static int is_unwanted(const char *name) {
    static const char *const ceilings[] = {"gather", "copy", "shared", "mma_s8"};
    for (int i = 0; i < 4; i++)
        if (strcmp(name, ceilings[i]) == 0) return 1;
    return begins_with(name, getenv("SIM_CUDA_SKIP"));
}

/* A module that is gone may have left its functions' addresses to another. */
static void forget(const void *function, const void **list, int count) {
    for (int i = 0; i < count; i++)
        if (list[i] == function) list[i] = NULL;
}

EXPORT int cuModuleGetFunction(void **function, void *module, const char *name) {
    const ptxsim_function *found;
    mtx_lock(&lock);
    ptxsim_status status = ptxsim_module_function(sim, module, name, &found);
    *function = (void *)(uintptr_t)found;
    forget(found, skipped, skipped_count);
    forget(found, refused, refused_count);
    if (is_unwanted(name) && skipped_count < MAX_SKIPPED) skipped[skipped_count++] = found;
    if (begins_with(name, getenv("SIM_CUDA_REFUSE")) && refused_count < MAX_SKIPPED)
        refused[refused_count++] = found;
    return after(status);
}

static int is_among(const void *function, const void *const *list, int count) {
    for (int i = 0; i < count; i++)
        if (list[i] == function) return 1;
    return 0;
}

EXPORT int cuFuncSetAttribute(void *function, int attribute, int value) {
    return (void)function, (void)attribute, (void)value, 0;
}

static void hang(const char *path) {
    FILE *file = fopen(path, "w");
    if (file != NULL) fclose(file);
    for (;;) pause();
}

EXPORT int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                          unsigned bz, unsigned shared, void *stream, void **params, void **extra) {
    (void)stream, (void)extra;
    capturing++;
    if (is_among(function, refused, refused_count)) return FAILURE;
    if (is_among(function, skipped, skipped_count)) return 0;
    if (getenv("SIM_CUDA_HANG") != NULL) hang(getenv("SIM_CUDA_HANG"));
    mtx_lock(&lock);
    ptxsim_status status =
        ptxsim_launch(sim, function, (ptxsim_dim3){gx, gy, gz}, (ptxsim_dim3){bx, by, bz}, shared, params);
    if (status != PTXSIM_OK && getenv("SIM_CUDA_LOST") != NULL) lost = 1;
    return after(status);
}

/* A launch by a library (sim_vendor.c). */
EXPORT void sim_cuda_count(void) { capturing++; }

/* CUlaunchConfig. A launch that may overlap with the one before runs after it here. */
typedef struct launch_config {
    unsigned grid[3], block[3], shared;
    void *stream, *attributes;
    unsigned attribute_count;
} launch_config;

EXPORT int cuLaunchKernelEx(const launch_config *config, void *function, void **params, void **extra) {
    const unsigned *g = config->grid, *b = config->block;
    return cuLaunchKernel(function, g[0], g[1], g[2], b[0], b[1], b[2], config->shared, config->stream,
                          params, extra);
}

/* CUtensorMapDataType, from CU_TENSOR_MAP_DATA_TYPE_UINT8 to _BFLOAT16. */
static const ptxsim_element elements[] = {
    PTXSIM_ELEMENT_U8,  PTXSIM_ELEMENT_U16, PTXSIM_ELEMENT_U32, PTXSIM_ELEMENT_S32, PTXSIM_ELEMENT_U64,
    PTXSIM_ELEMENT_S64, PTXSIM_ELEMENT_F16, PTXSIM_ELEMENT_F32, PTXSIM_ELEMENT_F64, PTXSIM_ELEMENT_BF16};

/* Of two or three dimensions. */
EXPORT int cuTensorMapEncodeTiled(void *map, int type, unsigned rank, void *address,
                                  const unsigned long long *dims, const unsigned long long *strides,
                                  const unsigned *box, const unsigned *steps, int interleave, int swizzle,
                                  int promotion, int fill) {
    enum { TYPES = sizeof elements / sizeof *elements };
    if (type < 0 || type >= TYPES || rank < 2 || rank > 3 || (uintptr_t)map % 64 != 0) return FAILURE;
    ptxsim_tensor tensor = {.size = sizeof tensor,
                            .element = elements[type],
                            .rank = rank,
                            .address = (uintptr_t)address,
                            .swizzle = (ptxsim_swizzle)swizzle};
    for (unsigned i = 0; i < rank; i++) {
        tensor.dims[i] = dims[i], tensor.box[i] = box[i];
        if (i > 0) tensor.strides[i - 1] = strides[i - 1];
    }
    (void)steps, (void)interleave, (void)promotion, (void)fill;
    mtx_lock(&lock);
    return after(ptxsim_tensor_map_encode(sim, &tensor, map));
}

/* -- Streams, graphs and events */

EXPORT int cuStreamCreate(void **stream, unsigned flags) { return (void)flags, *stream = handles + 1, 0; }
EXPORT int cuStreamDestroy_v2(void *stream) { return (void)stream, 0; }
EXPORT int cuStreamSynchronize(void *stream) { return (void)stream, is_lost(); }
EXPORT int cuStreamIsCapturing(void *stream, int *status) { return (void)stream, *status = 0; }
EXPORT int cuStreamBeginCapture_v2(void *stream, int mode) { return (void)stream, (void)mode, capturing = 0; }

EXPORT int cuStreamEndCapture(void *stream, void **graph) {
    int *launches = malloc(sizeof *launches);
    (void)stream;
    if (launches != NULL) *launches = capturing;
    *graph = launches;
    return launches == NULL ? FAILURE : 0;
}

EXPORT int cuGraphInstantiateWithFlags(void **exec, void *graph, unsigned long long flags) {
    return (void)flags, *exec = graph, 0;
}

EXPORT int cuGraphLaunch(void *exec, void *stream) {
    return (void)stream, now += LAUNCH_US * *(int *)exec, 0;
}
EXPORT int cuGraphExecDestroy(void *exec) { return (void)exec, 0; }
EXPORT int cuGraphDestroy(void *graph) { return free(graph), 0; }

EXPORT int cuEventCreate(void **made, unsigned flags) {
    (void)flags;
    *made = calloc(1, sizeof(event));
    return *made == NULL ? FAILURE : 0;
}

EXPORT int cuEventDestroy_v2(void *old) { return free(old), 0; }
EXPORT int cuEventRecord(void *at, void *stream) { return (void)stream, ((event *)at)->time = now, 0; }
EXPORT int cuEventSynchronize(void *at) { return (void)at, 0; }

EXPORT int cuEventElapsedTime(float *milliseconds, void *begin, void *end) {
    *milliseconds = (float)(((event *)end)->time - ((event *)begin)->time) / 1000;
    return *milliseconds > 0 ? 0 : FAILURE;
}
