/* Which kernels make floats of 8 bits f16 before they multiply them. */
#ifndef TESTS_HALVES_H
#define TESTS_HALVES_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "mcgen.h"

static inline bool arch_has_mma_of_8_bits(const char *arch) {
    int sm = atoi(arch + strlen("sm_"));
    return sm == 89 || sm >= 120;
}

/* All but those for GPUs that have an mma of such floats. */
static inline bool kernel_makes_halves(const mc_kernel *kernel) {
    return !arch_has_mma_of_8_bits(mc_kernel_field_text(kernel, "arch"));
}

#endif
