/* The solver `dense` of the SDDMM: its plan, and the stages of its kernel. */
#ifndef MC_SDDMM_DENSE_H
#define MC_SDDMM_DENSE_H

#include "ops/sddmm/problem.h"
#include "parts/emit.h"
#include "parts/fragment.h"

enum {
    DENSE_COPY = 16,       /* bytes of a copy */
    DENSE_STAGE_ROW = 64,  /* bytes of a row of B in a stage: the units of four lanes */
    DENSE_MAX_COPIES = 16, /* copies of a thread, for each stage and side */
    DENSE_MAX_ROWS = 8,    /* groups of 8 rows of A that a warp multiplies */
    DENSE_MAX_COLUMNS = 4, /* groups of 16 columns of B that it multiplies them by */
    DENSE_MAX_ACC = 192,
    DENSE_MAX_SAMPLED = 8, /* groups of rows that a warp samples one after another */
};

typedef struct dense_plan {
    sddmm_problem problem;
    int tile_n, tile_rows; /* columns of B and rows of A in a tile */
    int row_warps, column_warps;
    int warp_rows, warp_columns; /* of a warp, in groups of 8 rows of A and of 16 columns of B */
    int stages;                  /* stages of k */
    int64_t shared_bytes;
} dense_plan;

/* A side of the tile: its rows of A, or its columns of B. */
typedef struct dense_side {
    mc_reg first; /* the first row or column */
    mc_reg last;  /* the last one that there is, counted in the tile */
    mc_reg warp;  /* this warp's number along the side; none where there is one warp */
} dense_side;

/* What all stages of the kernel know. */
typedef struct dense_emitter {
    const dense_plan *plan;
    mc_builder *b;
    thread_place place;
    mc_reg shared; /* the thread block's shared memory */
    dense_side rows, columns;
    mc_reg ptr_row; /* bytes of a row of tile_ptr */
} dense_emitter;

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
/* Rows that a warp samples at a time: 8, or a row block of 16. The row blocks of such a group; the lanes that
   each has; bytes and lanes of a vector. */
static inline int dense_group_rows(const dense_plan *plan) {
    return SDDMM_MMA_ROWS * sddmm_octets(&plan->problem);
}
static inline int dense_row_blocks(const dense_plan *plan) {
    return dense_group_rows(plan) / plan->problem.vec;
}
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

/* -- emit.c ------------------------------------------------------------------------------------------- */

void dense_emit(const void *plan, mc_builder *b);

/* -- copy.c: A and B to shared memory ----------------------------------------------------------------- */

/* Asks for the copies of all stages. */
void dense_emit_copies(const dense_emitter *d);

/* -- multiply.c: the tile's sums ---------------------------------------------------------------------- */

/* The accumulators of a warp's rows and columns: [rows][columns][sum][4]. */
typedef struct dense_sums {
    sddmm_multiplier multiplier;
    mc_reg acc[DENSE_MAX_ACC];
} dense_sums;

/* Those of the ROW-th group of 8 rows and the COLUMN-th group of 16 columns. */
static inline const mc_reg *dense_acc(const dense_plan *plan, const dense_sums *sums, int row, int column) {
    return &sums->acc[(row * plan->warp_columns + column) * plan->problem.arithmetic.accs];
}

/* Multiplies each stage as soon as it has arrived. */
void dense_emit_products(const dense_emitter *d, dense_sums *sums);

/* -- result.c: C's elements of the whole tile, in shared memory --------------------------------------- */

/* Scales in registers, as the output wants them. */
typedef struct dense_scales {
    mc_reg tensor;
    mc_reg row[2 * DENSE_MAX_ROWS];       /* of rows 2 t and 2 t + 1 of each group */
    mc_reg column[2 * DENSE_MAX_COLUMNS]; /* of columns g and g + 8 of each group */
} dense_scales;

dense_scales dense_emit_scales(const dense_emitter *d);
void dense_emit_result(const dense_emitter *d, const dense_sums *sums, const dense_scales *scales);

/* -- sample.c: the mask's vectors, from there to C ---------------------------------------------------- */

/* The vectors of a lane's row block, one of a group of rows. The lane copies every so-many-th of them. */
typedef struct dense_vectors {
    mc_reg slot, column; /* of the next vector that the lane copies: its slot of C and its column of B */
    mc_reg end;          /* the slot behind the row block's last one in this tile */
    mc_reg at;           /* where the row block's rows lie in column 0 of the result */
} dense_vectors;

/* The mask's vectors in the tile. */
typedef struct dense_mask {
    mc_reg col_idx;
    mc_reg in_row_block;                      /* this lane's number among the lanes of its row block */
    dense_vectors vectors[DENSE_MAX_SAMPLED]; /* of the groups of rows that this warp samples */
} dense_mask;

/* Load where the vectors of each row block begin and end; the columns of each lane's first ones. */
void dense_emit_ranges(const dense_emitter *d, dense_mask *mask);
void dense_emit_first_columns(const dense_emitter *d, const dense_mask *mask);
/* Copies the vectors to C. */
void dense_emit_samples(const dense_emitter *d, const dense_mask *mask);

#endif
