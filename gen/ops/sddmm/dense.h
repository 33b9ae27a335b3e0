/* What the emitters of method "dense" share: a thread block's tile of A B, and its threads' registers. */
#ifndef MC_SDDMM_DENSE_H
#define MC_SDDMM_DENSE_H

#include "ops/sddmm/emit.h"

enum {
    DENSE_COPY = 16,       /* bytes of a copy */
    DENSE_STAGE_ROW = 64,  /* bytes of a row of B in a stage: the units of four lanes */
    DENSE_MAX_COPIES = 16, /* copies of a thread, for each stage and side */
    DENSE_MAX_ROWS = 8,    /* groups of 8 rows of A, a warp */
    DENSE_MAX_COLUMNS = 4, /* groups of 16 columns of B, a warp */
    DENSE_MAX_ACC = 192,
    DENSE_MAX_UNIT = 16, /* registers of a unit of A */
    DENSE_MAX_TURNS = 8, /* groups of 8 rows that a warp samples one after another */
};

/* How a thread copies one side's rows of a stage. */
typedef struct dense_copies {
    int count, step,
        /* copies of a thread; rows from one to the next; bytes that these are apart in shared memory */
        step_bytes;
    int stage_k_bytes; /* bytes of a row from stage to stage */
    mc_reg to, from[DENSE_MAX_COPIES];
    mc_reg some; /* whether this thread copies; none where all do */
} dense_copies;

/* The vectors of a group of 8 rows of A that a lane samples. */
typedef struct dense_turn {
    mc_reg slot, end, column;
    mc_reg at; /* where the row block's rows lie in column 0 of the result */
} dense_turn;

typedef struct dense_emitter {
    sddmm_emitter e; /* what multiplies and scales */
    thread_place place;
    /* this warp's number along the tile's rows and along its columns; none where there is one */
    mc_reg warp_row, warp_column;
    mc_reg tile_row, tile_column;  /* the tile's first row of A and column of B */
    mc_reg last_row, last_column;  /* the last row and column that there are, counted in the tile */
    mc_reg shared, a_lane, b_lane; /* the shared memory; this lane's unit of its first row of A, and of B */
    /* this lane's row block of each 8 rows; the lane's number among that row block's lanes */
    mc_reg row_block, in_row_block;
    dense_copies a, b;
    dense_turn turn[DENSE_MAX_TURNS];
    mc_reg tile_ptr, col_idx, ptr_row; /* ptr_row: bytes of a row of tile_ptr */
    mc_reg acc[DENSE_MAX_ACC];         /* [rows][columns][sum][4] */
    mc_reg word[DENSE_MAX_ROWS * DENSE_MAX_UNIT], operand[DENSE_MAX_ROWS * 2 * SDDMM_MAX_STEP_A];
    mc_reg row_scale[2 * DENSE_MAX_ROWS], column_scale[2 * DENSE_MAX_COLUMNS];
} dense_emitter;

static inline mc_reg *dense_acc(dense_emitter *d, int row, int column) {
    const sddmm_plan *plan = d->e.plan;
    return &d->acc[(row * plan->dense.warp_columns + column) * plan->sums * SDDMM_ACC];
}

/* Bytes of a column of the result. Columns lie one behind the other, padded so that the stores of an mma's
   sums meet no bank twice: four lanes store in each of 8 columns. */
static inline int dense_column_bytes(const sddmm_plan *plan) {
    int element = out_element_bytes(plan->output.element);
    return (plan->tile_rows + SDDMM_MMA_ROWS) * element;
}
/* A's rows of a stage in shared memory lie in planes: each has 4 neighbouring lanes' loads of every row. */
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
/* The row blocks of a group of 8 rows; the lanes that each has; bytes and lanes of a vector. */
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

/* Load where each turn's vectors begin and end; their first columns; scales. */
void dense_emit_ranges(dense_emitter *d);
void dense_emit_first_columns(dense_emitter *d);
void dense_emit_scales(dense_emitter *d);
/* Bring the sums to shared memory, and the mask's vectors from there to C. */
void dense_emit_result(dense_emitter *d);
void dense_emit_samples(dense_emitter *d);

#endif
