/* The GPU of a run: libmcrt's device, and beside it the driver's own calls for streams, graphs and events. */
#ifndef BENCH_GPU_H
#define BENCH_GPU_H

#include "mcrt_internal.h"
#include "context/context.h"
#include "device/cuda_driver.h"

/* -- kept.c

   Memory of the context's own (mc_context_config.allocate), which the bench's main thread alone asks for.
   Blocks that are given back are kept, and given again to whoever wants as many bytes, as programs' pools do:
   so what is timed does not wait for the driver's allocations, once it has run before. */
typedef struct kept_block {
    mc_address address;
    size_t bytes;
    bool used;
} kept_block;

typedef struct kept_memory {
    kept_block *blocks;
    size_t count;
} kept_memory;

typedef struct gpu_device {
    mc_context *context;
    mc_device *device; /* the context's */
    kept_memory kept;
    const cuda_driver *driver;
    /* Waits for the legacy default stream and is waited for by it: what libmcrt launches and copies there is
       in order with what runs here. */
    cuda_stream stream;
    int64_t l2_bytes;
    const struct contender *between; /* runs before each timed launch (between.h); NULL: nothing does */
} gpu_device;

/* MC_CANNOT where DEVICE is not a GPU. The caller closes also after a failure. CACHED: compiled kernels are
   kept as the environment says (docs/cache.md). */
mc_status gpu_open(gpu_device *gpu, const char *device, bool cached, mc_diag *diag);
void gpu_close(gpu_device *gpu);

/* mc_context_config's allocate and release, of the gpu_device USER. */
mc_address kept_take(void *user, size_t bytes);
void kept_give(void *user, mc_address address);
/* Frees what is not in use. */
void kept_empty(gpu_device *gpu);

/* -- slab.c

   Operands of one contender, laid out once in a piece of memory, and that piece repeated: launches that
   rotate over enough sets find none of their operands in L2. */
enum { SLAB_MAX_PARTS = MC_MAX_ARRAYS + 5 + MAX_OPERANDS, SLAB_ALIGN = 256 };

typedef struct operand_slab {
    uint64_t base;
    size_t offsets[SLAB_MAX_PARTS]; /* of the parts inside of a set */
    size_t lengths[SLAB_MAX_PARTS]; /* bytes of the parts, without what aligns the next one */
    size_t parts, set_bytes;
    int sets;
} operand_slab;

/* Reserves BYTES and returns the part's number. */
size_t slab_part(operand_slab *slab, size_t bytes);
/* Allocates SETS sets of the parts reserved. */
mc_status slab_create(gpu_device *gpu, operand_slab *slab, int sets, mc_diag *diag);
void slab_free(gpu_device *gpu, operand_slab *slab);
uint64_t slab_address(const operand_slab *slab, size_t part, int set);
/* Copies DATA into PART of every set. */
mc_status slab_write(gpu_device *gpu, const operand_slab *slab, size_t part, const void *data, size_t bytes,
                     mc_diag *diag);

/* Zeros what lies between the first PARTS parts of every set, for whoever reads over them as one piece. */
mc_status slab_clear_gaps(gpu_device *gpu, const operand_slab *slab, size_t parts, mc_diag *diag);

/* Sets that together exceed three times the L2, or 1 where COLD is false. */
int gpu_sets(const gpu_device *gpu, const operand_slab *slab, bool cold);

#endif
