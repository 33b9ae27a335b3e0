/* Kernels by their fields ("op=spmm arch=sm_90 ..."), ready to launch. In memory first, then the cache on disk (kernel and
   machine code in one entry), then generated and compiled; of several threads or processes that want one, one makes it. */
#ifndef MCRT_KERNELS_H
#define MCRT_KERNELS_H

#include "context.h"

typedef struct loaded_kernel {
    struct loaded_kernel *next;
    char *fields;
    mc_kernel *kernel; /* may be without PTX (mc_kernel_restore) */
    mc_module *module;
    char *jit_log; /* never NULL */
    int users;     /* 0: unloaded at the next chance, or kept */
    int state;     /* being made, ready, failed */
} loaded_kernel;

/* The kernel with FIELDS; kernels_release gives it back. Thread-safe. */
mc_status kernels_obtain(mc_context *context, const char *fields, loaded_kernel **kernel, mc_diag *diag);
void kernels_release(mc_context *context, loaded_kernel *kernel);
/* Unloads all: at the end of the context. */
void kernels_close(mc_context *context);

/* What kernels_obtain does before it loads: generates KERNEL and compiles it, or finds both in the cache. For tuning, which wants many
   at once: thread-safe, and nothing is kept in memory. *FROM_CACHE and *LOG may be NULL; the caller frees *LOG. */
mc_status kernels_make(mc_context *context, const char *fields, mc_kernel **kernel, mc_image *image,
                       bool *from_cache, char **log, mc_diag *diag);

#endif
