/* Architectures. Families ask for a capability, never for a number: a capability is a column here, with its first user. */
#include "all.h"

#define ARCH_LIST(X)                                                                                         \
    /* target, sm, least .version, shared, tma, overlap, int4 */                                             \
    X("sm_80", 80, 70, 163, false, false, true)                                                              \
    X("sm_86", 86, 71, 99, false, false, true)                                                               \
    X("sm_89", 89, 78, 99, false, false, true)                                                               \
    X("sm_90", 90, 78, 227, true, true, false)                                                               \
    X("sm_90a", 90, 80, 227, true, true, false)                                                              \
    X("sm_100", 100, 86, 227, true, true, false)                                                             \
    X("sm_120", 120, 87, 99, true, true, false)

const mc_arch mc_archs[] = {
#define X(target, sm, version, shared, tma, overlap, int4) {target, sm, version, shared, tma, overlap, int4},
    ARCH_LIST(X)
#undef X
};

const char *const mc_arch_names[] = {
#define X(target, sm, version, shared, tma, overlap, int4) target,
    ARCH_LIST(X)
#undef X
        NULL};
