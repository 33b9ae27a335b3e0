/* Inside of a context: what the files of the embedded runtime share. Of this folder,
 *
 *   context.c   opens it; the calling thread's CUDA context, memory
 *   log.c       its log
 *   kernels.c   loaded kernels: in memory, then on disk, else generated and compiled
 *   matrix*.c   matrices and their packings
 *
 * and of others, choose/ finds the kernel's fields for a problem, plan/ makes of these a launch that lacks
 * nothing but addresses, records/ keeps records of tuning, and tune/ makes them.
 *
 * Locks are those of pthreads: ThreadSanitizer knows nothing of <threads.h> and sees races everywhere. */
#ifndef MCRT_CONTEXT_H
#define MCRT_CONTEXT_H

#include <pthread.h>
#include "mccache.h"
#include "device/device.h"

struct loaded_kernel;
struct record_store;

struct mc_context {
    mc_context_config config; /* strings copied */
    mc_device *device;
    mccache *cache;               /* never NULL */
    struct record_store *records; /* never NULL: shipped and own */
    pthread_mutex_t tuning;       /* tunings take turns: they would disturb each other */
    pthread_mutex_t lock;         /* guards all below */
    pthread_cond_t loaded;        /* a kernel's state changed */
    struct loaded_kernel *kernels;
    uint64_t loads, compiled, from_cache; /* kernels: what mc_context_info tells */
};

/* A line for config.log, printf's format. Nothing where there is none. */
void context_log(mc_context *context, mc_log_level level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Where CONFIG has no log, the one that MCGEN_LOG asks for: "note" or "detail", on standard error. Another
   value is told there, once. */
void context_take_log(mc_context_config *config);

/* Every public function that may call the driver stands between these two: they make the device's context
   current and the thread's capture mode relaxed, and put both back. On the simulator nothing. */
typedef struct context_visit {
    bool entered;
    int capture_mode;
} context_visit;
mc_status context_enter(mc_context *context, context_visit *visit, mc_diag *diag);
void context_leave(mc_context *context, const context_visit *visit);

/* Memory of the library's own, at a multiple of 256: by config.allocate, else the device's. Between
   context_enter and context_leave. MC_USAGE where config.allocate gave another address, MC_NOMEM where it
   gave none; 0 may be freed. */
mc_status context_alloc(mc_context *context, size_t bytes, mc_address *address, mc_diag *diag);
void context_free(mc_context *context, mc_address address);

/* Public structs, which begin with their size: STRUCT_SIZE_TO the LAST member that a version has. NEWEST is
   this version's size, LEAST the first version's; MC_USAGE, naming WHAT ("mc_args"), for a size that no
   version has. Taken into a struct of NEWEST bytes, with zeros for what the caller does not know; given back
   as far as the caller knows it. */
#define STRUCT_SIZE_TO(type, last) (offsetof(type, last) + sizeof(((type *)0)->last))
#define PLAN_CONFIG_FIRST          STRUCT_SIZE_TO(mc_plan_config, spec_count)
mc_status check_struct_size(size_t size, size_t least, size_t newest, const char *what, mc_diag *diag);
mc_status take_struct(void *to, size_t newest, const void *from, size_t least, const char *what,
                      mc_diag *diag);
mc_status give_struct(void *to, size_t least, const void *from, size_t newest, const char *what,
                      mc_diag *diag);
/* What was not created is often passed on: MC_USAGE, naming WHAT ("plan"), for NULL. */
mc_status check_handle(const void *handle, const char *what, mc_diag *diag);

#endif
