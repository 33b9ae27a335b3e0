/* The GPU that the CUDA driver has first. Of the program mcgen: libmcgen asks no driver. */
#ifndef MC_DRIVER_GPU_H
#define MC_DRIVER_GPU_H

typedef struct driver_gpu {
    int capability; /* 90 for 9.0; 0: no driver, no GPU, or a driver that does not work */
    char name[128];
    const char *failed; /* the driver's call that went wrong, NULL: none */
    int error;          /* its CUresult */
} driver_gpu;

/* The driver is libcuda.so.1, as the loader finds it; which GPU is its first, CUDA_VISIBLE_DEVICES says. */
driver_gpu driver_gpu_find(void);

#endif
