/* GPUs as estimates see them. The first numbers are the programming guide's ("Technical Specifications per
   Compute Capability"). Rates are those of `mcbench run`'s ceilings, divided by the number of
   multiprocessors. Costs are what `mcbench fit` printed. docs/choice.md says from which measurements. */
#include "arch/arch.h"
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
                .launch = 0.655,
                .alone = 0.724,
                .begin = 0.135,
                .uneven = 0.497,
                .start_warp = 0.0248,
                .direct_step = 0.275,
                .direct_chain = 0.437,
                .direct_width = 0.0499,
                .direct_columns = 0.0172,
                .direct_sum = 0.0466,
                .ring_block = 0.62,
                .ring_step = 0.0935,
                .ring_cramped = 1.08,
                .ring_stay = 0.188,
                .ring_turn = 0.673,
                .ring_sum = 0.02,
                .ring_window = 0.0673,
                .ring_refill = 0.284,
                .ring_leave = 0.00215,
                .ring_copy = 0.0077,
                .tail = 0.0911,
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
