/* Architectures. A family asks for a capability, never for a number: a capability is a column here, added
   with its first user. Numbers are from the CUDA programming guide, "Technical Specifications per Compute
   Capability". */
#include "arch/arch.h"
#include <string.h>

#define ARCH_LIST(X)                                                                                         \
    /* target, sm, least .version, shared, threads, blocks, tma, overlap, clusters, int4, wgmma */           \
    X("sm_80", 80, 70, 163, 2048, 32, false, false, false, true, false)                                      \
    X("sm_86", 86, 71, 99, 1536, 16, false, false, false, true, false)                                       \
    X("sm_89", 89, 78, 99, 1536, 24, false, false, false, true, false)                                       \
    X("sm_90", 90, 78, 227, 2048, 32, true, true, true, false, false)                                        \
    X("sm_90a", 90, 80, 227, 2048, 32, true, true, true, false, true)                                        \
    X("sm_100", 100, 86, 227, 2048, 32, true, true, true, false, false)                                      \
    X("sm_120", 120, 87, 99, 1536, 24, true, true, true, false, false)

const mc_arch mc_archs[] = {
#define X(target, sm, version, shared, threads, blocks, tma, overlap, clusters, int4, wgmma)                 \
    {target, sm, version, shared, threads, blocks, tma, overlap, clusters, int4, wgmma},
    ARCH_LIST(X)
#undef X
};

const char *const mc_arch_names[] = {
#define X(target, ...) target,
    ARCH_LIST(X)
#undef X
        NULL};

/* No later GPU runs its kernels. */
static bool is_of_one_capability(const mc_arch *arch) {
    return arch->target[strlen(arch->target) - 1] == 'a';
}

const mc_arch *arch_of_capability(int capability) {
    const mc_arch *best = NULL;
    for (size_t i = 0; mc_arch_names[i]; i++) {
        const mc_arch *arch = &mc_archs[i];
        if (!is_of_one_capability(arch) && arch->sm <= capability && (!best || arch->sm > best->sm))
            best = arch;
    }
    return best;
}

const char *mc_arch_for(int capability) {
    const mc_arch *arch = arch_of_capability(capability);
    return arch ? arch->target : NULL;
}

bool mc_arch_suits(const char *name, int capability) {
    const mc_arch *newest = arch_of_capability(capability);
    for (size_t i = 0; newest && mc_arch_names[i]; i++) {
        const mc_arch *arch = &mc_archs[i];
        if (strcmp(mc_arch_names[i], name) == 0)
            return arch == newest || (is_of_one_capability(arch) && arch->sm == capability);
    }
    return !newest;
}
