/* What the tests of the simulator share: run a kernel made of a few lines, and look at what it stored or
 * where it stopped. */
#ifndef TESTS_SIM_HARNESS_H
#define TESTS_SIM_HARNESS_H

#include "../check.h"
#include "ptxsim.h"

#include <stdarg.h>
#include <stdlib.h>

#define PTX_HEADER ".version 8.0\n.target sm_80\n.address_size 64\n"

/* Loads TEXT's entry `k` and launches it with PARAMS; returns the status of the first step that failed. */
static inline ptxsim_status run_kernel(ptxsim *sim, const char *text, ptxsim_dim3 grid, ptxsim_dim3 block,
                                       size_t dynamic, void **params) {
    ptxsim_module *module;
    const ptxsim_function *function;
    ptxsim_status status = ptxsim_module_load(sim, text, &module);
    if (status == PTXSIM_OK) status = ptxsim_module_function(sim, module, "k", &function);
    if (status == PTXSIM_OK) status = ptxsim_launch(sim, function, grid, block, dynamic, params);
    return status;
}

/* xorshift64*, so that every run tests the same. */
static inline uint64_t next_random(uint64_t *state) {
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * UINT64_C(2685821657736338717);
}

#endif
