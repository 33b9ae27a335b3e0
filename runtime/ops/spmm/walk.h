/* In which order a kernel takes the nonzero vectors of a matrix, where it adds floats up by mma. The slots of
   its format, whichever packed array they lie in, are taken in groups of 32. A row block has one part or
   several, each of which a warp adds up group by group; of a group two mma take half of the slots each. */
#ifndef MCRT_SPMM_WALK_H
#define MCRT_SPMM_WALK_H

#include "ops/reference.h"

enum { WALK_GROUP = 32, WALK_DEPTH = 16, WALK_PADDING = -1 };

typedef struct slot_walk {
    int parts;
    int stride;
    bool heads;
    int64_t *vector; /* of each slot; WALK_PADDING: none */
    int64_t *start;  /* each row block's first slot, behind the heads; and the number of slots */
    /* The first slot of group number GROUP of a row block's part; -1: it has no more. */
    int64_t (*group)(const struct slot_walk *walk, int64_t block, int part, int64_t group);
    /* Which slot of a group mma MMA, 0 or 1, has at place K along k. */
    int (*slot)(int mma, int k);
} slot_walk;

/* That of the gather kernel. walk_free frees it, also after a failure. */
mc_status walk_gather(const mc_vsparse *a, const mc_gather_order *order, slot_walk *walk, mc_diag *diag);
void walk_free(slot_walk *walk);
#endif
