/* Bulk copies of a packed array's atoms into the stages of a pipeline, by its one producer thread. The array
 * has atoms of a size, those of a row block one after another in the order of k, then those of the next row
 * block (packed24.h). */
#ifndef MC_ATOM_COPY_H
#define MC_ATOM_COPY_H

#include "ptx/builder.h"

enum { ATOM_BLOCKS = 4 };

/* The caller sets the first part. */
typedef struct atom_copy {
    mc_builder *b;
    const char *name; /* begins the names of registers */
    const char *param;
    int bytes;    /* of an atom, a multiple of 16 */
    int blocks;   /* row blocks of a tile, at most ATOM_BLOCKS */
    int at;       /* where the tile begins in a stage, bytes */
    bool once;    /* atoms are read once, and leave L2 first */
    mc_reg first; /* the step that a row block begins with; none: 0 */

    mc_reg array;
    mc_reg is_inside;         /* with `first`: scratch */
    mc_reg policy;            /* with `once` */
    mc_reg from[ATOM_BLOCKS]; /* where each row block's next atom is */
} atom_copy;

void atom_copy_begin(atom_copy *c);
/* Goes to the first atoms of the row blocks from BLOCK on, which have STEPS atoms each. Row blocks beyond
   LAST are read as that one. Steps from STEPS on are the atom behind all others, once. SCRATCH is for any
   use. */
void atom_copy_row(const atom_copy *c, mc_reg block, mc_reg steps, mc_reg last, mc_reg scratch);
/* Copies the next atom of each row block to the stage at STAGE, with BARRIER. */
void atom_copy_step(const atom_copy *c, mc_reg stage, mc_reg barrier);

#endif
