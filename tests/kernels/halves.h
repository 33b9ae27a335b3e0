/* What kernels make of floats before they multiply them. */
#ifndef TESTS_HALVES_H
#define TESTS_HALVES_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "base/type.h"

static inline bool arch_has_mma_of_8_bits(const char *arch) {
    int sm = atoi(arch + strlen("sm_"));
    return sm == 89 || sm >= 120;
}

/* Whether floats of 8 bits become f16: for all GPUs but those that have an mma of them. */
static inline bool kernel_makes_halves(const mc_kernel *kernel) {
    return !arch_has_mma_of_8_bits(mc_kernel_field_text(kernel, "arch"));
}

/* Whether floats of TYPE are neither made f16 nor, as tf32, rounded. Of others no two groups of an SDDMM's window are multiplied at
   once (`interleave`). */
static inline bool multiplies_as_stored(const char *arch, mc_type type) {
    int bits = mc_type_bits(type);
    return bits == 16 || (bits == 8 && arch_has_mma_of_8_bits(arch));
}

#endif
