/* The solver `hrpb`: cuTeSpMM's kernel (Xiang et al., 2025, section 3.3 and algorithm 1) for a matrix in its
   format (parts/hrpb.h). Its plan.
 *
 * A thread block has a virtual panel: TM rows of A and some of its blocks, and `tile_n` columns of C. Block
 * after block it copies the block's bytes and TK rows of B to shared memory; each warp multiplies the block's
 * bricks by its own TN = tile_n / warps columns. A brick is decoded once for all TN of them: of lane 4 g + t
 * bit `lane` of the pattern's low half says whether there is a value in row g and column t, that of the high
 * half the same of row g + 8, and the bits below count the values in front of it.
 *
 * What is not as published:
 *   - virtual panels are not added up by atomic operations. All but a panel's last one leave their sums in
 *     the workspace, each warp with a flag, and the last one adds them to its own, from the first one on
 *   - rows of B go by cp.async, 16 bytes at a time where B allows it, and lie HRPB_PAD apart, so that reads
 *     meet no bank twice
 *   - which panels are cut a field says (`waves`), not the occupancy at launch */
#ifndef MC_SPMM_HRPB_H
#define MC_SPMM_HRPB_H

#include "ops/spmm/problem.h"
#include "parts/hrpb.h"
#include "parts/panels.h"

enum {
    HRPB_N = 8,    /* columns of an mma */
    HRPB_PAD = 32, /* bytes between rows of B in shared memory: lanes t of a brick are 8 banks apart */
    HRPB_MOST_TN = 64,
    HRPB_HALVES = 2, /* of a brick's rows: g and g + 8 */
    HRPB_LANE_N = 2, /* neighbouring columns of C that a lane has of an mma */
    HRPB_VECTOR = 4, /* sums that are loaded or stored at once */
    HRPB_MOST_WARPS = 16,
};

typedef struct hrpb_plan {
    spmm_plan base; /* vec is TM */
    int block_cols; /* TK */
    int warp_n;     /* TN */
    hrpb_block block;
    int block_bytes; /* of the largest block */
    int row_bytes;   /* from a row of B to the next in shared memory */
    char columns[24], doc[96];
} hrpb_plan;

static inline int hrpb_mma(const hrpb_plan *plan) { return plan->warp_n / HRPB_N; }
/* Sums of a lane. */
static inline int hrpb_sums(const hrpb_plan *plan) {
    return plan->block.brick_rows * hrpb_mma(plan) * HRPB_HALVES * HRPB_LANE_N;
}
/* Bytes of a virtual panel's sums, of a tile's columns; and of the workspace with the flags behind them. */
static inline int hrpb_sum_bytes(const hrpb_plan *plan) {
    return plan->base.vec * plan->base.tile_n * (int)sizeof(float);
}
static inline int hrpb_piece_bytes(const hrpb_plan *plan) {
    return hrpb_sum_bytes(plan) + HRPB_MOST_WARPS * PANEL_FLAG;
}

/* plan.c. Derives PLAN, an hrpb_plan, and complains of what cannot run. */
void spmm_hrpb_make_plan(const int64_t *point, void *plan, mc_complaints *complaints);
/* emit.c */
void spmm_hrpb_emit(const void *plan, mc_builder *b);

#endif
