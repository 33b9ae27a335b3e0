/* SpMM: the plan, which spmm.c derives from a point and spmm_emit.c turns into instructions. */
#ifndef MC_SPMM_H
#define MC_SPMM_H

#include "spmm_output.h"

enum {
    SPMM_VEC = 8,           /* rows of a row block: the mma's 8 columns */
    SPMM_EDGE_COLUMNS = 32, /* of C that the edge path computes at a time: 4 a lane */
};

/* How one of the kernel's two paths reads B and writes C. Each lane of a row's 8 (one per mma row g) owns
   columns / 8 neighbouring columns. */
typedef struct spmm_path {
    bool emitted;
    int columns; /* of C that one pass computes */
    int unit;    /* bytes of B that one load takes: all of a lane's columns, or 4, or 1 */
    bool clamp;  /* columns can lie beyond n: loads move left to the last unit inside, stores are guarded */
    int whole;   /* clamp: this many neighbouring columns of C lie inside n or beyond it together */
    int store;   /* columns of C that one store takes */
} spmm_path;

/* What the wide path needs and the spec does not settle: tested once a block. */
typedef struct spmm_checks {
    bool full_tile, ldb, ldc, b_address, c_address;
} spmm_checks;

/* Where a warp puts its partial sums: row 2t + r of the row block lies at r * half + t * pitch + (t / 2) *
   pair, in s32. The pads make the 16-byte stores of 8 neighbouring lanes (two g, four t) meet 8 different
   bank groups. */
typedef struct spmm_partial {
    int pitch, pair, half, warp; /* warp: one warp's share */
} spmm_partial;

typedef struct spmm_plan {
    int stride, tile_n, warps, split, align;
    bool prefetch;
    int64_t m, n, k, ldb, ldc;
    spmm_output output;
    int row_blocks;   /* of a thread block: warps / split */
    int stride_steps; /* mma steps of 32 vectors in a stride */
    bool guard_rows;  /* the last block can have row blocks beyond m */
    spmm_path wide, edge;
    spmm_checks checks;
    unsigned shared_bytes;
} spmm_plan;

/* Requires columns of 32, 64 or 128. */
spmm_partial spmm_partial_of(int columns);

void spmm_emit(const void *plan, mc_builder *b);

#endif
