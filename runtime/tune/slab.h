/* Operands on the device. They are laid out once in a piece of memory, a set, and that piece is repeated, so
   that launches that rotate over enough sets find none of them in the L2 cache. */
#ifndef MCRT_TUNE_SLAB_H
#define MCRT_TUNE_SLAB_H

#include "context/context.h"

enum { TUNE_MAX_PARTS = MC_MAX_ARRAYS + 1, TUNE_BOUNDARY = 256 };

typedef struct tune_part {
    const char *name; /* the name that it is bound by */
    const void *data; /* what it holds; NULL: it is a result */
    bool written;     /* kernels write it: it is not looked at */
    size_t bytes;
    size_t place;        /* its offset in the set */
    size_t copies, step; /* how often it is there, so many bytes apart */
} tune_part;

typedef struct tune_slab {
    tune_part parts[TUNE_MAX_PARTS];
    size_t count, set_bytes;
    mc_address base; /* 0: none yet */
    int sets;
} tune_slab;

/* Host memory that device memory is looked at through, a piece at a time. */
typedef struct tune_buffer {
    unsigned char *bytes;
    size_t size;
} tune_buffer;

/* Adds a part, OFFSET bytes past a boundary of 256. Data stays the caller's and must stay. */
mc_status tune_slab_add(tune_slab *slab, const char *name, const void *data, size_t bytes, size_t offset,
                        mc_diag *diag);
/* The part that was added last is there COPIES times, STEP bytes apart, which is no less than it has. */
mc_status tune_slab_repeat(tune_slab *slab, size_t copies, size_t step, mc_diag *diag);
/* Allocates SETS sets and fills them. */
mc_status tune_slab_upload(mc_context *context, tune_slab *slab, int sets, mc_diag *diag);
mc_address tune_slab_address(const tune_slab *slab, size_t part, int set);
/* MC_MISMATCH, naming it, where a part of the first set has other data than it had; and it has them again. */
mc_status tune_slab_check(mc_context *context, const tune_slab *slab, const tune_buffer *buffer,
                          mc_diag *diag);
void tune_slab_free(mc_context *context, tune_slab *slab);

/* Whether the BYTES at ADDRESS are those at WANT. */
mc_status tune_compare(mc_context *context, mc_address address, const void *want, size_t bytes,
                       const tune_buffer *buffer, bool *same, mc_diag *diag);

#endif
