/* What the emitters of method "dense" share: a thread block's tile of A B, and the registers of its threads. */
#ifndef MC_SDDMM_DENSE_H
#define MC_SDDMM_DENSE_H

#include "ops/sddmm/emit.h"

enum {
    DENSE_COPY = 16,       /* bytes of a copy */
    DENSE_STAGE_ROW = 64,  /* of a row of B in a stage: its four lanes' units */
    DENSE_MAX_COPIES = 16, /* of a thread, a stage and side */
    DENSE_MAX_ROWS = 8,    /* of 8 rows of A, a warp */
    DENSE_MAX_COLUMNS = 4, /* of 16 columns of B, a warp */
    DENSE_MAX_ACC = 192,
    DENSE_MAX_UNIT = 16, /* registers of a unit of A */
    DENSE_MAX_TURNS = 8, /* 8 rows that a warp samples one after another */
};

/* One side's rows of a stage. */
typedef struct dense_copies {
    int count, step,
        step_bytes;    /* copies of a thread; rows from one to the next, and their bytes in shared memory */
    int stage_k_bytes; /* of a row, from stage to stage */
    mc_reg to, from[DENSE_MAX_COPIES];
    mc_reg some; /* threads that copy; none where all do */
} dense_copies;

/* The vectors of 8 rows of A that a lane samples. */
typedef struct dense_turn {
    mc_reg slot, end, column;
    mc_reg at; /* of its row block in column 0 of the result */
} dense_turn;

typedef struct dense_emitter {
    sddmm_emitter e; /* what multiplies and scales */
    thread_place place;
    mc_reg warp_row, warp_column;   /* of the split; none where there is one */
    mc_reg tile_row, tile_column;   /* the tile's first row of A and column of B */
    mc_reg last_row, last_column;   /* that there are, counted in the tile */
    mc_reg shared, a_lane, b_lane;  /* this lane's unit of its first row */
    mc_reg row_block, in_row_block; /* of 8 rows, this lane's; the lane's number among its lanes */
    dense_copies a, b;
    dense_turn turn[DENSE_MAX_TURNS];
    mc_reg tile_ptr, col_idx, ptr_row; /* bytes of a row of tile_ptr */
    mc_reg acc[DENSE_MAX_ACC];         /* [rows][columns][sum][4] */
    mc_reg word[DENSE_MAX_ROWS * DENSE_MAX_UNIT], operand[DENSE_MAX_ROWS * 2 * SDDMM_MAX_STEP_A];
    mc_reg row_scale[2 * DENSE_MAX_ROWS], column_scale[2 * DENSE_MAX_COLUMNS];
} dense_emitter;

static inline mc_reg *dense_acc(dense_emitter *d, int row, int column) {
    const sddmm_plan *plan = d->e.plan;
    return &d->acc[(row * plan->dense.warp_columns + column) * plan->sums * SDDMM_ACC];
}

/* Bytes of a column of the result: one behind the other, padded so that the stores of an mma's sums, four lanes of each of 8
   columns, meet no bank twice. */
static inline int dense_column_bytes(const sddmm_plan *plan) {
    int element = out_element_bytes(plan->output.element);
    return (plan->tile_rows + SDDMM_MMA_ROWS) * element;
}
/* A's rows of a stage in shared memory: planes of 4 neighbouring lanes' loads. */
static inline int dense_a_plane_row(const sddmm_plan *plan) { return 4 * sddmm_a_access(plan); }
static inline int dense_a_planes(const sddmm_plan *plan) {
    return (int)sddmm_bytes(plan->lhs, plan->unit_k) / sddmm_a_access(plan);
}
static inline int dense_a_bytes(const sddmm_plan *plan) {
    return plan->tile_rows * dense_a_planes(plan) * dense_a_plane_row(plan);
}
static inline int dense_stage_bytes(const sddmm_plan *plan) {
    return dense_a_bytes(plan) + plan->tile_n * DENSE_STAGE_ROW;
}
/* C's row blocks in 8 rows; lanes of each; lanes of a vector. */
static inline int dense_row_blocks(const sddmm_plan *plan) { return SDDMM_MMA_ROWS / plan->vec; }
static inline int dense_lanes(const sddmm_plan *plan) { return MC_WARP / dense_row_blocks(plan); }
static inline int dense_vector_bytes(const sddmm_plan *plan) {
    return plan->vec * out_element_bytes(plan->output.element);
}
static inline int dense_vector_lanes(const sddmm_plan *plan) {
    int pieces = dense_vector_bytes(plan) / DENSE_COPY;
    return plan->order == SDDMM_BCRS && pieces > 1 ? pieces : 1;
}

/* -- dense_store.c ------------------------------------------------------------------------------ */

/* Where each turn's vectors begin and end; their first columns. */
void dense_emit_ranges(dense_emitter *d);
void dense_emit_first_columns(dense_emitter *d);
void dense_emit_scales(dense_emitter *d);
/* The sums to shared memory, and the mask's from there to C. */
void dense_emit_result(dense_emitter *d);
void dense_emit_samples(dense_emitter *d);

#endif
