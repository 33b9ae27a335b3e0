/* The format panels: what a warp of an SpMM kernel is told of its work. The packer writes it, kernels read
   it. */
#ifndef MC_PARTS_PANELS_H
#define MC_PARTS_PANELS_H

/* An entry of the array `items` is four words, one entry for each warp of the grid: the panel's number, the
   first of the warp's strides and the one behind its last, and how the panel is shared.
 *
 * A panel that is short is one warp's alone, and its fourth word is 0. One that is longer is shared by 2, 4
 * or 8 neighbouring warps of a thread block, its parts. One that is longer still has several thread blocks,
 * all of whose warps share it: its pieces, which lie one after another. The last piece finishes the panel. */
enum {
    PANEL_ITEM_WORDS = 4,
    PANEL_PART_BITS = 4,   /* the warp's part */
    PANEL_PARTS_SHIFT = 4, /* parts of this piece, less 1 */
    PANEL_PARTS_BITS = 4,
    PANEL_PIECE_SHIFT = 8, /* the thread block's piece */
    PANEL_PIECE_BITS = 11,
    PANEL_PIECES_SHIFT = PANEL_PIECE_SHIFT + PANEL_PIECE_BITS, /* pieces of this panel, less 1 */
    PANEL_MOST_PIECES = 1 << PANEL_PIECE_BITS,
    PANEL_SHARES_SHIFT = 30, /* set where warps of this thread block share a panel, whichever it is */
};

/* Bytes of the workspace behind the sums of a piece: a flag for each 32 columns. */
enum { PANEL_FLAGS = 64, PANEL_FLAG_COLUMNS = 32, PANEL_FLAG = 8 };

#endif
