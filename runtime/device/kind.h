/* What a kind of device implements. A backend's device, module and graph structs begin with the structs
   below. */
#ifndef MC_DEVICE_H
#define MC_DEVICE_H

#include "device/device.h"

/* Each does what the function of that name does (device/device.h). That has already seen to it that there is
   a handle, a byte to copy, and a launch to put into a graph or to time. */
typedef struct mc_device_ops {
    void (*close)(mc_device *device);
    mc_status (*alloc)(mc_device *device, size_t bytes, uint64_t *address, mc_diag *diag);
    void (*free)(mc_device *device, uint64_t address);
    mc_status (*write)(mc_device *device, uint64_t address, const void *data, size_t bytes, mc_diag *diag);
    mc_status (*upload)(mc_device *device, uint64_t address, const void *data, size_t bytes, mc_diag *diag);
    mc_status (*read)(mc_device *device, uint64_t address, void *data, size_t bytes, mc_diag *diag);
    mc_status (*fill)(mc_device *device, uint64_t address, int byte, size_t bytes, mc_diag *diag);
    mc_status (*tensor_map)(mc_device *device, const mc_tensor *tensor, mc_tensor_map *map, mc_diag *diag);
    mc_status (*write_on)(mc_device *device, uint64_t address, const void *data, size_t bytes, void *stream,
                          mc_diag *diag);
    /* Of a kind with streams; NULL: there are none (stream.c). */
    mc_status (*read_on)(mc_device *device, uint64_t address, void *data, size_t bytes, void *stream,
                         mc_diag *diag);
    mc_status (*check_stream)(mc_device *device, void *stream, mc_diag *diag);
    mc_status (*own_stream)(mc_device *device, void **stream, mc_diag *diag);
    mc_status (*synchronize)(mc_device *device, void *stream, mc_diag *diag);
    mc_status (*enter)(mc_device *device, int *mode, mc_diag *diag);
    void (*leave)(mc_device *device, int mode);
    bool (*is_current)(mc_device *device);
    /* *LOG and *DIAG as in mc_device_compile; LOG is never NULL. */
    mc_status (*compile)(mc_device *device, const char *ptx, mc_image *image, char **log, mc_diag *diag);
    /* IMAGE: PTX with its NUL, or what compile made. */
    mc_status (*load)(mc_device *device, const mc_image *image, const char *entry, mc_module **module,
                      mc_diag *diag);
    void (*unload)(mc_module *module);
    mc_status (*prepare)(mc_module *module, const mc_launch *launch, mc_diag *diag);
    mc_status (*put)(mc_module *module, const mc_launch *launch, void *stream, mc_diag *diag);
    mc_status (*launch)(mc_module *module, const mc_launch *launch, mc_diag *diag);
    mc_status (*enqueue)(mc_module *module, const mc_launch *launch, void *stream, mc_diag *diag);
    mc_status (*time)(mc_module *module, const mc_launch *launch, int launches, int rounds,
                      double *microseconds, mc_diag *diag);
    mc_status (*graph_create)(mc_module *module, const mc_launch *launches, size_t count, mc_graph **graph,
                              mc_diag *diag);
    mc_status (*graph_replay)(mc_graph *graph, int count, double *microseconds, mc_diag *diag);
    void (*graph_destroy)(mc_graph *graph);
} mc_device_ops;

enum { MC_BUILD_TEXT = 64 };

struct mc_device {
    const mc_device_ops *ops;
    mc_device_info info;
    char build[MC_BUILD_TEXT];
};

struct mc_module {
    mc_device *device;
};

struct mc_graph {
    mc_device *device;
};

#define MC_PARAM_COUNT_MESSAGE "the PTX's entry has %zu parameters, its contract %zu"
#define MC_PARAM_SIZE_MESSAGE  "the PTX's parameter %zu has %zu bytes, more than any of the contract's"
#define MC_PARAM_MAP_MESSAGE   "the PTX's parameter %zu has %zu bytes, and a tensor map is passed"

/* A pointer for each parameter. The driver and the simulator both read as many bytes there as the parameter
   has, and so a launch first checks the entry's parameters against the contract's. */
static inline void mc_launch_pointers(const mc_launch *launch, void *pointers[MC_MAX_PARAMS]) {
    for (size_t i = 0; i < MC_MAX_PARAMS; i++) {
        const void *value = launch->maps[i] ? (const void *)launch->maps[i] : &launch->values[i];
        pointers[i] = (void *)(uintptr_t)value;
    }
}

/* Whether parameter I may have SIZE bytes. */
static inline mc_status mc_launch_check_size(const mc_launch *launch, size_t i, size_t size, mc_diag *diag) {
    bool map = i < MC_MAX_PARAMS && launch->maps[i] != NULL;
    if (map && size != sizeof(mc_tensor_map)) return mc_fail(diag, MC_CANNOT, MC_PARAM_MAP_MESSAGE, i, size);
    if (!map && size > sizeof launch->values[0])
        return mc_fail(diag, MC_CANNOT, MC_PARAM_SIZE_MESSAGE, i, size);
    return MC_OK;
}

/* One pass of a launch, on behalf of USER. */
typedef mc_status mc_put_pass(mc_module *module, const mc_launch *launch, void *user, mc_diag *diag);
/* Calls PUT for each pass of LAUNCH. A pass does not start before the one ahead of it has ended. */
mc_status mc_launch_passes(mc_module *module, const mc_launch *launch, mc_put_pass *put, void *user,
                           mc_diag *diag);

typedef enum mc_landing { MC_LANDING_ANY, MC_LANDING_FIRST, MC_LANDING_LAST } mc_landing;

typedef struct mc_sim_settings {
    bool reversed; /* order of the warps */
    mc_landing landing;
    uint64_t seed;  /* of the random order of warps; 0: the order is not random */
    uint64_t limit; /* warp instructions a launch, 0: the simulator's own */
} mc_sim_settings;

mc_status mc_device_sim_open(const mc_sim_settings *settings, mc_device **device, mc_diag *diag);
/* Opens a GPU in CONTEXT, or, where that is NULL, in the GPU's primary context. ANY_GPU as ordinal is the GPU
   of the context. */
enum { ANY_GPU = -1 };
mc_status mc_device_cuda_open(int ordinal, void *context, mc_device **device, mc_diag *diag);

/* Whether the machine has no GPU to speak of: no driver, or one that sees no device. A driver that is there
   but does not work is another matter, and worth an error. */
bool mc_device_cuda_absent(void);

#endif
