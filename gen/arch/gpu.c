/* GPUs as estimates see them. The first numbers are the programming guide's ("Technical Specifications per
   Compute Capability"). Rates are those of `mcbench run`'s ceilings, divided by the number of
   multiprocessors. What a model adds to them is in its operator's folder (costs.c). */
#include "arch/arch.h"
#include <stdlib.h>
#include <string.h>

/* All of compute capability 9.0 with 132 multiprocessors. */
#define HOPPER                                                                                               \
    .capability = 90, .multiprocessors = 132, .threads = 2048, .registers = 65536,                           \
    .shared_bytes = 228 << 10, .l1_bytes = 200e3, .l1_rate = 150e3, .store_rate = 61e3,                      \
    .shared_rate = 249e3, .mma_rate = 1155

static const mc_gpu gpus[MC_GPUS] = {
    [MC_GPU_H200] = {.name = "NVIDIA H200", .index = MC_GPU_H200, HOPPER},
    [MC_GPU_H100] = {.name = "NVIDIA H100 80GB HBM3", .index = MC_GPU_H100, HOPPER},
};

const mc_gpu *mc_gpu_list(size_t *count) {
    *count = MC_GPUS;
    return gpus;
}

static int far(const mc_gpu *gpu, const char *name, int capability) {
    return 2 * abs(gpu->capability - capability) + (name == NULL || strcmp(gpu->name, name) != 0);
}

const mc_gpu *mc_gpu_find(const char *name, int capability) {
    const mc_gpu *nearest = &gpus[0];
    for (int i = 1; i < MC_GPUS; i++)
        if (far(&gpus[i], name, capability) < far(nearest, name, capability)) nearest = &gpus[i];
    return nearest;
}
