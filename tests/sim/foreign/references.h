/* One reference for each foreign kernel. */
#ifndef TESTS_SIM_FOREIGN_REFERENCES_H
#define TESTS_SIM_FOREIGN_REFERENCES_H

#include "foreign.h"

/* X(name): the kernels. */
#define FOREIGN_NAMES(X)                                                                                     \
    X(saxpy)                                                                                                 \
    X(reduce)                                                                                                \
    X(scan)                                                                                                  \
    X(histogram)                                                                                             \
    X(transpose)                                                                                             \
    X(half2)                                                                                                 \
    X(half)                                                                                                  \
    X(bf16)                                                                                                  \
    X(shuffle)                                                                                               \
    X(call)                                                                                                  \
    X(local)                                                                                                 \
    X(constant)                                                                                              \
    X(global)                                                                                                \
    X(math)                                                                                                  \
    X(fastmath)                                                                                              \
    X(double)                                                                                                \
    X(divide)                                                                                                \
    X(bits)                                                                                                  \
    X(matmul)                                                                                                \
    X(tensor)                                                                                                \
    X(pipeline)                                                                                              \
    X(async)                                                                                                 \
    X(barrier)                                                                                               \
    X(cluster)                                                                                               \
    X(template)                                                                                              \
    X(switch)                                                                                                \
    X(atomics)                                                                                               \
    X(vector) X(bulk) X(wgmma)

#define X(name) foreign_reference reference_##name;
FOREIGN_NAMES(X)
#undef X

#endif
