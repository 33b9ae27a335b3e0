/* What the CUDA backend's two files share: device_cuda.c (devices, modules) and device_cuda_time.c. */
#ifndef MC_DEVICE_CUDA_H
#define MC_DEVICE_CUDA_H

#include "cuda_driver.h"
#include "device.h"

typedef struct cuda_device_state {
    mc_device base;
    const cuda_driver *driver;
    cuda_device handle;
    cuda_context context; /* the primary context, retained */
} cuda_device_state;

typedef struct cuda_module_state {
    mc_module base;
    cuda_module module;
    cuda_function function;
} cuda_module_state;

/* Makes the device's context current to the calling thread: before every use of the driver, since a thread
   may hold several devices and a device may be used from several threads. */
mc_status cuda_enter(mc_device *device, mc_diag *diag);

/* Puts one launch on STREAM without waiting. */
mc_status cuda_check_params(const cuda_module_state *module, const mc_launch *launch, mc_diag *diag);
mc_status cuda_enqueue(const cuda_module_state *module, const mc_launch *launch, cuda_stream stream,
                       mc_diag *diag);

/* The backend's mc_module_time. */
mc_status cuda_time(mc_module *module, const mc_launch *launch, int launches, int rounds,
                    double *microseconds, mc_diag *diag);

#endif
