/* Kernels by their fields ("op=spmm arch=sm_90 ..."), ready to launch. A kernel is looked for in memory
   first, then in the cache on disk (kernel and machine code in one entry), else generated and compiled. Where
   several threads or processes want one, one of them makes it. Callers stand between context_enter and
   context_leave. */
#ifndef MCRT_KERNELS_H
#define MCRT_KERNELS_H

#include "context/context.h"

typedef enum kernel_state { KERNEL_BEING_MADE, KERNEL_READY } kernel_state;

typedef struct loaded_kernel {
    struct loaded_kernel *next;
    char *fields;      /* the fields as they were asked for */
    mc_kernel *kernel; /* may be without PTX (mc_kernel_restore) */
    mc_module *module;
    char *jit_log; /* never NULL; "" where it comes out of the cache */
    int users;     /* 0: it is kept for the next user, or unloaded */
    kernel_state state;
} loaded_kernel;

enum { KERNELS_KEPT = 64 }; /* loaded ones that nobody uses, at most */

/* The kernel with FIELDS, as mc_kernel_fields gives them (others that name a kernel do as well, but are not
   cached); kernels_release gives it back. Thread-safe. MC_USAGE for fields that make no kernel. A failure is
   not kept: the next call tries again. */
mc_status kernels_obtain(mc_context *context, const char *fields, loaded_kernel **kernel, mc_diag *diag);
void kernels_release(mc_context *context, loaded_kernel *kernel);
/* Loads KERNEL as kernels_obtain does, with machine code out of the cache if it is there, for callers that
   keep modules themselves; nothing is shared. The caller unloads *MODULE before the context ends. */
mc_status kernels_load(mc_context *context, const mc_kernel *kernel, mc_module **module, mc_diag *diag);
/* Unloads all: at the end of the context. */
void kernels_close(mc_context *context);

/* What kernels_obtain does before it loads: generates KERNEL and compiles it, or finds both in the cache. For
   tuning, which wants many at once: thread-safe, and nothing is kept in memory. *FROM_CACHE and *LOG may be
   NULL; the caller frees *LOG, which is never NULL on success. */
mc_status kernels_make(mc_context *context, const char *fields, mc_kernel **kernel, mc_image *image,
                       bool *from_cache, char **log, mc_diag *diag);
/* The same for a kernel that the cache has, but that cannot be used, as WHY says: that is told in the log,
   the entry is dropped, and the kernel is made anew. */
mc_status kernels_make_anew(mc_context *context, const char *fields, const char *why, mc_kernel **kernel,
                            mc_image *image, char **log, mc_diag *diag);

#endif
