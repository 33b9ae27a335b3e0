/* The architectures, and what each can do. */
#ifndef MC_ARCH_H
#define MC_ARCH_H

#include "mcgen.h"

typedef struct mc_arch {
    const char *target;
    int sm;                   /* 90 for sm_90 and sm_90a */
    int ptx_version;          /* least PTX .version that knows the target */
    unsigned shared;          /* KiB that a thread block can have */
    unsigned threads, blocks; /* threads and thread blocks that a multiprocessor can hold at once */
    bool tma;                 /* bulk tensor copies and mbarriers that count their bytes */
    bool overlap;             /* programmatic dependent launch (griddepcontrol) */
    bool clusters;            /* thread block clusters with distributed shared memory */
    bool int4;                /* mma of 4-bit integers; elsewhere ptxas makes several instructions of one */
    bool wgmma;               /* asynchronous tensor cores, and setmaxnreg: what only sm_90a has */
} mc_arch;

extern const mc_arch mc_archs[];
/* The newest architecture that a GPU of CAPABILITY runs, but for those that run on no other GPU. NULL:
   none. */
const mc_arch *arch_of_capability(int capability);
/* The GPUs that were measured (gpu.c). */
enum { MC_GPU_H200, MC_GPU_H100, MC_GPUS };

extern const char *const mc_arch_names[]; /* the targets, NULL-terminated, in the order of mc_archs */

#endif
