/* Architectures: what each can do. Families ask for a capability, never for a number.
   Shared memory a block: CUDA C++ Programming Guide, "Technical Specifications per Compute Capability". */
#include "all.h"

#define ARCH_LIST(X)                                                                                         \
    /* target, sm, specific, least .version, shared memory a block */                                        \
    X("sm_80", 80, false, 70, 163 * 1024)                                                                    \
    X("sm_86", 86, false, 71, 99 * 1024)                                                                     \
    X("sm_89", 89, false, 78, 99 * 1024)                                                                     \
    X("sm_90", 90, false, 78, 227 * 1024)                                                                    \
    X("sm_90a", 90, true, 80, 227 * 1024)                                                                    \
    X("sm_100", 100, false, 86, 227 * 1024)                                                                  \
    X("sm_120", 120, false, 87, 99 * 1024)

const mc_arch mc_archs[] = {
#define X(target, sm, specific, version, shared) {target, sm, specific, version, shared},
    ARCH_LIST(X)
#undef X
};

const char *const mc_arch_names[] = {
#define X(target, sm, specific, version, shared) target,
    ARCH_LIST(X)
#undef X
        NULL};
