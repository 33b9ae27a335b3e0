/* The format sampled-panels: what a warp of an SDDMM kernel is told of its work. The packer writes it, and
 * kernels read it.
 *
 * A panel is 8 or 16 neighbouring rows. Its active columns are those in which any of them has a nonzero. They
 * are its slots, in ascending order, and SLOTS of them, 16 or 32, are a stride. */
#ifndef MC_PARTS_SAMPLED_PANELS_H
#define MC_PARTS_SAMPLED_PANELS_H

#include "parts/fragment.h"

/* An entry of the array `items`, one for each warp of the grid. */
enum {
    SAMPLED_PANEL,       /* which panel */
    SAMPLED_STRIDE,      /* the first of the warp's strides, counted over all panels */
    SAMPLED_STRIDES,     /* how many it has, at least one */
    SAMPLED_LAST_ROW,    /* the last row of the panel that the matrix has, counted from the panel's first */
    SAMPLED_PANEL_WORDS, /* of an entry */
};

/* Where the column of slot SLOT stands in its stride: lane group g has slots 8 q + g, side by side. */
static inline int sampled_panel_column(int slot, int slots) { return slot % 8 * (slots / 8) + slot / 8; }

/* Rows of a panel that a lane has sums of, and which row its I-th one is. */
static inline int sampled_lane_rows(int rows) { return rows / 4; }
static inline int sampled_lane_row(int t, int i) { return 8 * (i / 2) + frag_c_col(t, i % 2); }

/* A stride has two words for each of its ROWS rows: the mask, bit s of slot s, and the number of the first
   nonzero, counted over the matrix in the order of CSR. Lane t's masks stand side by side, and then its
   numbers. Here is where the mask of its I-th row stands; its number is sampled_lane_rows words behind. */
static inline int sampled_panel_mask(int t, int i, int rows) { return 2 * sampled_lane_rows(rows) * t + i; }

#endif
