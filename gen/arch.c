/* Architectures. Families ask for a capability, never for a number: a capability is a column here, with its first user. */
#include "all.h"

#define ARCH_LIST(X)                                                                                         \
    /* target, sm, least .version, tma, overlap */                                                           \
    X("sm_80", 80, 70, false, false)                                                                         \
    X("sm_86", 86, 71, false, false)                                                                         \
    X("sm_89", 89, 78, false, false)                                                                         \
    X("sm_90", 90, 78, true, true)                                                                           \
    X("sm_90a", 90, 80, true, true)                                                                          \
    X("sm_100", 100, 86, true, true)                                                                         \
    X("sm_120", 120, 87, true, true)

const mc_arch mc_archs[] = {
#define X(target, sm, version, tma, overlap) {target, sm, version, tma, overlap},
    ARCH_LIST(X)
#undef X
};

const char *const mc_arch_names[] = {
#define X(target, sm, version, tma, overlap) target,
    ARCH_LIST(X)
#undef X
        NULL};
