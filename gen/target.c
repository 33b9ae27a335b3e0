#include "target.h"
#include "driver_gpu.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *target_name_at(const void *names, size_t i) { return ((const char *const *)names)[i]; }

mc_status target_check(const char *option, const char *target, mc_diag *diag) {
    size_t count = 0;
    for (; mc_arch_names[count]; count++)
        if (!target || strcmp(mc_arch_names[count], target) == 0) return MC_OK;
    const char *near = nearest_name(target, mc_arch_names, count, target_name_at);
    return mc_fail(diag, MC_USAGE,
                   near ? "%s: no target is called '%s' (did you mean '%s'?)"
                        : "%s: no target is called '%s'",
                   option, target, near);
}

/* The architecture of this machine's GPU. Which one is taken, and why, is said on stderr. NULL: there is no
   GPU. */
static const char *target_of_gpu(void) {
    driver_gpu gpu = driver_gpu_find();
    const char *target = mc_arch_for(gpu.capability);
    if (gpu.failed)
        fprintf(stderr, "mcgen: no --arch, and the CUDA driver does not work (%s: error %d): kernel for %s\n",
                gpu.failed, gpu.error, mc_arch_names[0]);
    else if (target) fprintf(stderr, "mcgen: no --arch: kernel for %s (%s, device 0)\n", target, gpu.name);
    else if (gpu.capability)
        fprintf(stderr, "mcgen: no --arch: kernel for %s; %s (device 0) is sm_%d, for which there are none\n",
                mc_arch_names[0], gpu.name, gpu.capability);
    return target;
}

static const char *default_target(void *user) {
    target_source *source = user;
    const char *of_gpu = source->environment ? NULL : target_of_gpu();
    source->guessed = !of_gpu;
    return source->environment ? source->environment : of_gpu;
}

mc_status target_source_begin(target_source *source, mc_diag *diag) {
    const char *target = getenv("MCGEN_ARCH");
    *source = (target_source){.environment = target && *target ? target : NULL};
    source->spec = (mc_arch_default){default_target, source};
    return target_check("MCGEN_ARCH", source->environment, diag);
}

void target_note(const target_source *source, const mc_kernel *kernel) {
    const char *ptx = mc_kernel_ptx(kernel), *mma = mc_kernel_field_text(kernel, "mma");
    bool chosen = source->guessed && mma && strcmp(mma, "auto") == 0;
    if (chosen && (strstr(ptx, ".s4.s32 ") || strstr(ptx, ".u4.s32 ")))
        fprintf(
            stderr,
            "mcgen: note: this kernel for %s has mma of 4 bits, which sm_90 and newer GPUs emulate; --arch "
            "sm_90 makes another one for them\n",
            mc_kernel_contract(kernel)->target);
}
