/* Architectures. Families ask for a capability, never for a number: a capability is a column here, with its first user. */
#include "all.h"

#define ARCH_LIST(X)                                                                                         \
    /* target, sm, least .version */                                                                         \
    X("sm_80", 80, 70)                                                                                       \
    X("sm_86", 86, 71)                                                                                       \
    X("sm_89", 89, 78)                                                                                       \
    X("sm_90", 90, 78)                                                                                       \
    X("sm_90a", 90, 80)                                                                                      \
    X("sm_100", 100, 86)                                                                                     \
    X("sm_120", 120, 87)

const mc_arch mc_archs[] = {
#define X(target, sm, version) {target, sm, version},
    ARCH_LIST(X)
#undef X
};

const char *const mc_arch_names[] = {
#define X(target, sm, version) target,
    ARCH_LIST(X)
#undef X
        NULL};
