/* What the files of the CUDA backend share:
 *
 *   cuda.c          devices, the calling thread's context, memory, tensor maps
 *   cuda_module.c   modules and launches
 *   cuda_link.c     PTX to a cubin; what the compiler says
 *   cuda_graph.c    launches in a CUDA graph, timed
 *   cuda_driver.c          the driver's functions (cuda_driver.h)
 *   driver_build.c         which driver it is */
#ifndef MC_DEVICE_CUDA_H
#define MC_DEVICE_CUDA_H

#include "device/cuda_driver.h"
#include "device/kind.h"

typedef struct cuda_device_state {
    mc_device base;
    const cuda_driver *driver;
    cuda_device handle;
    cuda_context context;
    bool retained;       /* it is the primary one, and ours to release */
    bool reads_pageable; /* copies may read pageable host memory after the call that puts them on a stream */
    _Atomic(cuda_stream) uploads; /* NULL: nothing has been uploaded */
} cuda_device_state;

static inline cuda_device_state *cuda_of(mc_device *device) { return (cuda_device_state *)device; }

typedef struct cuda_module_state {
    mc_module base;
    cuda_module module;
    cuda_function function;
} cuda_module_state;

/* Makes the device's context current to the calling thread: before every use of the driver, since a thread
   may hold several devices and a device may be used from several threads. */
mc_status cuda_make_current(mc_device *device, mc_diag *diag);

/* -- The JIT's options and log -- */

enum { JIT_LOG_BYTES = 8192, JIT_OPTIONS = 5 };

/* Must stay where it is while the driver uses it. */
typedef struct jit_log {
    char info[JIT_LOG_BYTES], error[JIT_LOG_BYTES];
    int options[JIT_OPTIONS];
    void *values[JIT_OPTIONS];
} jit_log;

void jit_log_begin(jit_log *log);
/* Adds each line as a message of its own. */
void jit_log_report(const jit_log *log, mc_status status, mc_diag *diag);

/* -- mc_device_ops -- */

mc_status cuda_compile(mc_device *device, const char *ptx, mc_image *image, char **log, mc_diag *diag);
mc_status cuda_load(mc_device *device, const mc_image *image, const char *entry, mc_module **module,
                    mc_diag *diag);
void cuda_unload(mc_module *module);
mc_status cuda_prepare(mc_module *module, const mc_launch *launch, mc_diag *diag);
mc_status cuda_put(mc_module *module, const mc_launch *launch, void *stream, mc_diag *diag);
mc_status cuda_launch(mc_module *module, const mc_launch *launch, mc_diag *diag);
mc_status cuda_enqueue(mc_module *module, const mc_launch *launch, void *stream, mc_diag *diag);
mc_status cuda_time(mc_module *module, const mc_launch *launch, int launches, int rounds,
                    double *microseconds, mc_diag *diag);
mc_status cuda_graph_create(mc_module *module, const mc_launch *launches, size_t count, mc_graph **graph,
                            mc_diag *diag);
mc_status cuda_graph_replay(mc_graph *graph, int count, double *microseconds, mc_diag *diag);
void cuda_graph_destroy(mc_graph *graph);

/* The driver's build, "580.95.05"; VERSION (13000 for 13.0) stands for it where nothing tells. */
void driver_build(const cuda_driver *driver, int version, char text[MC_BUILD_TEXT]);

#endif
