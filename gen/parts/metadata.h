/* The metadata of a 2:4 sparse A for wgmma, from the stages of a pipeline to the registers that lanes pass
 * (packed24.h). Each lane's lie side by side there. */
#ifndef MC_METADATA_H
#define MC_METADATA_H

#include "ptx/builder.h"

/* The caller sets the first part. */
typedef struct wgmma_metadata {
    mc_builder *b;
    int bytes;       /* of an element of A */
    int stage_bytes; /* from a stage to the next */

    mc_reg first, at; /* where the lane's are in stage 0, and in the stage at hand */
} wgmma_metadata;

/* FIRST is the shared address of stage 0's metadata, ROW the first of the warpgroup's rows of the tile (none:
   0), and WARP_ROW as in warp_roles. */
void metadata_begin(wgmma_metadata *m, mc_reg first, mc_reg row, mc_reg warp_row, mc_reg lane);
/* Loads to WORDS (packed24_words) what the lane passes of the warpgroup's BLOCK-th 64 rows, in the stage at
   hand. No wgmma that was not waited for may read WORDS. */
void metadata_load(const wgmma_metadata *m, int block, const mc_reg *words);
/* Goes to the next stage: to stage 0 where WRAP holds. To stage STAGE. */
void metadata_next(const wgmma_metadata *m, mc_reg wrap);
void metadata_seek(const wgmma_metadata *m, mc_reg stage);

#endif
