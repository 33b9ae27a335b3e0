/* The solver `dense` of the SDDMM: its plan, and what its emitters share, a thread block's tile of A B and
   its threads' registers. */
#ifndef MC_SDDMM_DENSE_H
#define MC_SDDMM_DENSE_H

#include "ops/sddmm/problem.h"
#include "parts/emit.h"
#include "parts/fragment.h"

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

typedef struct dense_plan {
    sddmm_problem problem;
    int tile_n, tile_rows; /* columns of B and rows of A in a tile */
    int row_warps, column_warps;
    int warp_rows, warp_columns; /* of a warp, in groups of 8 rows of A and of 16 columns of B */
    int stages;                  /* stages of k */
    int64_t shared_bytes;
} dense_plan;

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
    const dense_plan *plan;
    mc_builder *b;
    sddmm_multiplier multiplier;
    thread_place place;
    /* this warp's number along the tile's rows and along its columns; none where there is one */
    mc_reg warp_row, warp_column;
    mc_reg tile_row, tile_column;  /* the tile's first row of A and column of B */
    mc_reg last_row, last_column;  /* the last row and column that there are, counted in the tile */
    mc_reg shared, a_lane, b_lane; /* the shared memory; this lane's unit of its first row of A, and of B */
    /* this lane's row block of each 8 rows; the lane's number among that row block's lanes */
    mc_reg row_block, in_row_block;
    dense_copies a_copies, b_copies;
    dense_turn turn[DENSE_MAX_TURNS];
    mc_reg tile_ptr, col_idx, ptr_row; /* ptr_row: bytes of a row of tile_ptr */
    mc_reg acc[DENSE_MAX_ACC];         /* [rows][columns][sum][4] */
    mc_reg word[DENSE_MAX_ROWS * DENSE_MAX_UNIT], operand[DENSE_MAX_ROWS * 2 * SDDMM_MAX_STEP_A];
    mc_reg scale, row_scale[2 * DENSE_MAX_ROWS], column_scale[2 * DENSE_MAX_COLUMNS];
    out_scratch scratch;
} dense_emitter;

static inline mc_reg *dense_acc(dense_emitter *d, int row, int column) {
    return &d->acc[(row * d->plan->warp_columns + column) * d->plan->problem.arithmetic.accs];
}

/* Bytes of a column of the result. Columns lie one behind the other, padded so that the stores of an mma's
   sums meet no bank twice: four lanes store in each of 8 columns. */
static inline int dense_column_bytes(const dense_plan *plan) {
    int element = out_element_bytes(plan->problem.output.element);
    return (plan->tile_rows + SDDMM_MMA_ROWS) * element;
}
/* A's rows of a stage in shared memory lie in planes: each has 4 neighbouring lanes' loads of every row. */
static inline int dense_a_plane_row(const dense_plan *plan) {
    return 4 * sddmm_a_access(&plan->problem.arithmetic);
}
static inline int dense_a_planes(const dense_plan *plan) {
    return (int)values_bytes(plan->problem.arithmetic.lhs, plan->problem.arithmetic.unit_k) /
           sddmm_a_access(&plan->problem.arithmetic);
}
static inline int dense_a_bytes(const dense_plan *plan) {
    return plan->tile_rows * dense_a_planes(plan) * dense_a_plane_row(plan);
}
static inline int dense_stage_bytes(const dense_plan *plan) {
    return dense_a_bytes(plan) + plan->tile_n * DENSE_STAGE_ROW;
}
/* The row blocks of a group of 8 rows; the lanes that each has; bytes and lanes of a vector. */
static inline int dense_row_blocks(const dense_plan *plan) { return SDDMM_MMA_ROWS / plan->problem.vec; }
static inline int dense_lanes(const dense_plan *plan) { return MC_WARP / dense_row_blocks(plan); }
static inline int dense_vector_bytes(const dense_plan *plan) {
    return plan->problem.vec * out_element_bytes(plan->problem.output.element);
}
static inline int dense_vector_lanes(const dense_plan *plan) {
    int pieces = dense_vector_bytes(plan) / DENSE_COPY;
    return plan->problem.order == SDDMM_BCRS && pieces > 1 ? pieces : 1;
}

/* The multiple of elements that rows of A must be: 16 bytes. */
static inline int dense_a_multiple(const sddmm_problem *p) { return 8 * SDDMM_UNIT / p->arithmetic.lhs.bits; }

void dense_check(const int64_t *point, const dense_plan *plan, mc_complaints *complaints);

/* -- emit.c -------------------------------------------------------------------------------------- */

void dense_emit(const void *plan, mc_builder *b);

/* -- store.c ------------------------------------------------------------------------------------ */

/* Load where each turn's vectors begin and end; their first columns; scales. */
void dense_emit_ranges(dense_emitter *d);
void dense_emit_first_columns(dense_emitter *d);
void dense_emit_scales(dense_emitter *d);
/* Bring the sums to shared memory, and the mask's vectors from there to C. */
void dense_emit_result(dense_emitter *d);
void dense_emit_samples(dense_emitter *d);

#endif
