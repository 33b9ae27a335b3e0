/* GPUs as estimates see them: one record a GPU. The first numbers are the programming guide's ("Technical Specifications per Compute
   Capability") and the rates of `mcbench run`'s ceilings over the number of multiprocessors; the costs are what
   `mcbench fit` printed. docs/choice.md says from which measurements. */
#include "all.h"
#include <stdlib.h>

static const mc_gpu gpus[] = {
    {
        .name = "NVIDIA H200",
        .capability = 90,
        .multiprocessors = 132,
        .threads = 2048,
        .registers = 65536,
        .shared_bytes = 228 << 10,
        .l1_bytes = 200e3,
        .l2_rate = 70e3,
        .l1_rate = 150e3,
        .store_rate = 61e3,
        .shared_rate = 249e3,
        .mma_rate = 1155,
        .costs =
            {
                .launch = 0.661,
                .start = 0.0289,
                .start_warp = 0.0264,
                .direct_step = 0.333,
                .direct_chain = 0.438,
                .direct_width = 0.0917,
                .direct_columns = 0.0162,
                .direct_sum = 0.138,
                .ring_block = 0.484,
                .ring_step = 0.159,
                .ring_turn = 0.546,
                .ring_window = 0.383,
                .ring_leave = 0.00378,
                .ring_copy = 0.00396,
                .tail = 0.148,
            },
    },
};
enum { GPU_COUNT = sizeof gpus / sizeof *gpus };

const mc_gpu *mc_gpu_find(int capability) {
    const mc_gpu *nearest = &gpus[0];
    for (int i = 1; i < GPU_COUNT; i++)
        if (abs(gpus[i].capability - capability) < abs(nearest->capability - capability)) nearest = &gpus[i];
    return nearest;
}
