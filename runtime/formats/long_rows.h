/* Rows that several warps share, in the order in which kernels take them. */
#ifndef MCRT_FORMAT_LONG_ROWS_H
#define MCRT_FORMAT_LONG_ROWS_H

#include "formats/panels.h"
#include "parts/csr_lanes.h"

typedef struct long_row {
    int64_t row;
    panel_sharing sharing;
} long_row;

/* Those that several thread blocks share come first, then those of WARPS warps, of half as many and so on;
   alike ones as they come. */
typedef struct long_rows {
    long_row *rows;
    int64_t count;
    int64_t pieces; /* thread blocks that share a row with others */
} long_rows;

/* How a row of LENGTH nonzeros is shared, by FORM. */
typedef panel_sharing long_row_share(const void *form, int64_t length);

/* Rows of A with more than MOST nonzeros. The caller frees. */
mc_status long_rows_find(const mc_vsparse *a, int64_t most, int warps, long_row_share *share,
                         const void *form, long_rows *found, mc_diag *diag);
void long_rows_free(long_rows *found);

/* How warp PART of thread block PIECE shares a row, as items of csr and csr-stream say it. */
static inline unsigned long_row_sharing(panel_sharing s, int64_t piece, int part) {
    return CSR_LONG | (unsigned)(s.parts - 1) << PANEL_PARTS_SHIFT |
           (unsigned)(s.pieces - 1) << PANEL_PIECES_SHIFT | (unsigned)part |
           (unsigned)piece << PANEL_PIECE_SHIFT;
}

/* What leaf after leaf of a row takes: floor(length * i / leaves) to floor(length * (i + 1) / leaves), as
   panels_cut cuts. */
typedef struct row_cutter {
    int64_t at, each, rest, leaves, over;
} row_cutter;
static inline row_cutter row_cutter_of(panel_sharing s, int64_t length) {
    const int64_t leaves = s.pieces * s.parts;
    return (row_cutter){.each = length / leaves, .rest = length % leaves, .leaves = leaves};
}
/* The end of the next leaf. */
static inline int64_t row_cutter_next(row_cutter *c) {
    c->at += c->each, c->over += c->rest;
    if (c->over >= c->leaves) c->over -= c->leaves, c->at++;
    return c->at;
}

#endif
