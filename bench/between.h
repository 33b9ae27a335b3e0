/* An ordinary kernel that runs before each timed launch, and whose own time is subtracted: what a kernel
   costs behind one that is not its own kind and does not give way early. */
#ifndef BENCH_BETWEEN_H
#define BENCH_BETWEEN_H

#include "timer.h"

typedef struct between {
    mc_module *module;
    mc_launch launch;
    uint64_t memory;
    contender contender;
} between;

/* Makes BETWEEN gpu->between. It must stay where it is until it is closed; the caller closes also after a
   failure. */
mc_status between_open(between *between, gpu_device *gpu, mc_diag *diag);
void between_close(between *between, gpu_device *gpu);

#endif
