/* The metadata of a 2:4 sparse A for wgmma, from global memory to the register that each lane passes.
 *
 * They lie row by row, each row's in the order of k: 4 bits for each two nonzeros of 4 neighbouring elements
 * (tf32: for each one of 2), the place of the first in the lower 2 bits. A stage has 16 or 32 bytes of a row:
 * those of four wgmma.
 *
 *   2 and 4 bytes   a wgmma takes 4 bytes of a row. Lane 4 g + t has rows g and g + 8, and of each the half t
 *                   mod 2: row g in the lower half of its register
 *   1 byte          a wgmma takes 8 bytes of a row. Lane 4 g + t has row g + 8 (t mod 2) and the word t / 2
 *
 * (PTX ISA, "Sparse matrix storage" of wgmma; the selector is 0.) */
#ifndef MC_METADATA_H
#define MC_METADATA_H

#include "ptx/builder.h"

enum { METADATA_STEPS = 4, METADATA_ROWS = 2, METADATA_BLOCKS = 2 };

/* The caller sets the first part. */
typedef struct wgmma_metadata {
    mc_builder *b;
    int bytes;             /* of an element of A */
    int blocks;            /* of 64 rows that the warpgroup has, at most METADATA_BLOCKS */
    mc_reg array;          /* the address of row 0's, a multiple of 16; so is the distance from row to row */
    mc_reg row_bytes;      /* that distance */
    mc_reg lane, warp_row; /* as in warp_roles */

    mc_reg at[METADATA_BLOCKS][METADATA_ROWS];                     /* where the lane's rows' next stage is */
    mc_reg of_row[METADATA_BLOCKS][METADATA_ROWS][METADATA_STEPS]; /* a stage's, as it was loaded */
    mc_reg order;     /* which halves of two words are the lane's */
    mc_reg line, row; /* the lane's first row of the warp's; scratch */
} wgmma_metadata;

void metadata_begin(wgmma_metadata *m);
/* Goes to the first stage of the blocks of 64 rows from ROW on. Rows beyond LAST are read as that one. */
void metadata_rows(const wgmma_metadata *m, mc_reg row, mc_reg last);
/* Loads a stage's. Then, once no wgmma reads them any more, makes the registers METADATA of a block's. */
void metadata_load(const wgmma_metadata *m);
void metadata_take(const wgmma_metadata *m, int block, const mc_reg metadata[METADATA_STEPS]);

#endif
