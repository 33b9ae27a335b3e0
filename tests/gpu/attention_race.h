/* Which kernel of a step is fastest at a shape, of specs made for attention: plans know the shipped ones. */
#ifndef TESTS_GPU_ATTENTION_RACE_H
#define TESTS_GPU_ATTENTION_RACE_H

#include "attention_chain.h"
#include "device/cuda.h"

typedef struct attention_race {
    const cuda_driver *driver; /* NULL: the simulator, where the last one that can run wins */
    cuda_stream stream;
    size_t most; /* kernels of a spec that take part, the best estimates first */
    bool told;   /* each one's time is printed */
} attention_race;

/* Of each step the plan that there is and kernels of tests/gpu/attention_*.lua; the fastest plan stays. */
mc_status attention_hold_race(attention *t, const attention_race *race, mc_diag *diag);

#endif
