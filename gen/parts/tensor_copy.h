/* Tensor copies of tiles (shared_tile.h) into the stages of a pipeline, by its one producer thread.
 *
 * In a cluster, thread blocks that need the same tile share the work: each copies a part of it, and the copy
 * goes to the same place in all of them (multicast). Part i is the tile's rows from i * rows / sharers on.
 * The bytes of a part are counted by the full barrier of each thread block that gets them. */
#ifndef MC_TENSOR_COPY_H
#define MC_TENSOR_COPY_H

#include "parts/shared_tile.h"

/* The caller sets the first part. */
typedef struct tensor_copy {
    mc_builder *b;
    const char *name;  /* begins the names of registers */
    const char *param; /* the tensor map */
    const shared_tile *tile;
    int at;      /* where the tile begins in a stage, bytes */
    int sharers; /* thread blocks of the cluster, which all need the same tile; 0 and 1: this one alone */
    mc_reg rank; /* with sharers: the thread block's number */
    bool once;   /* without sharers: what is copied is read once, and leaves L2 first */
    /* without sharers: the matrix's number in a batch, the tensor map's third coordinate; none: it has two */
    mc_reg product;
    mc_reg
        map; /* the tensor map's address, which tensor_copy_prefetch gave; none: tensor_copy_begin sets it */

    mc_reg policy;
    mc_reg row;       /* the first row that this thread block copies, in the matrix */
    mc_reg part, to;  /* with sharers: where the part begins in the tile, bytes; in shared memory */
    mc_reg rank_rows; /* with sharers: rows of the tile before the part */
    mc_reg along;     /* scratch: a panel's coordinate */
} tensor_copy;

/* Elements of the box that the tensor map must have: `inner` and `outer`. */
typedef struct tensor_box {
    int inner, outer;
} tensor_box;
tensor_box tensor_copy_box(const shared_tile *tile, int sharers);

/* Asks for the tensor map where GUARD holds (none: always), well ahead of the first copy; its address. */
mc_reg tensor_copy_prefetch(mc_builder *b, const char *name, const char *param, mc_reg guard);
void tensor_copy_begin(tensor_copy *c);
/* Says where the tile begins in the matrix. */
void tensor_copy_row(const tensor_copy *c, mc_reg row);
/* Copies the tile from column K of the matrix on to the stage at STAGE, with BARRIER. */
void tensor_copy_tile(const tensor_copy *c, mc_reg k, mc_reg stage, mc_reg barrier);

#endif
