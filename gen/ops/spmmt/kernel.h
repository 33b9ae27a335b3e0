/* The emitters of a transposed product. */
#ifndef MC_SPMMT_KERNEL_H
#define MC_SPMMT_KERNEL_H

#include "ops/spmmt/spmmt.h"

enum {
    SPMMT_MAX_TURN = 2 * SPMMT_MAX_AHEAD,
    SPMMT_MAX_ROWS = 2 * SPMMT_MAX_MMA, /* of the mma of a step, that a lane has */
    SPMMT_MAX_VALUES = 2 * SPMMT_MAX_TURN * SPMMT_MAX_ROWS * 2,
    SPMMT_MAX_ACC = SPMMT_MAX_ROWS * SPMMT_MAX_HALVES * 4,
    SPMMT_MAX_FRAGMENTS = 8,
};

/* The shapes as operands, and what rows take in memory. */
typedef struct spmmt_shapes {
    mc_operand m, n, k;
    mc_reg b_row, c_row; /* bytes from row to row */
} spmmt_shapes;

/* Of a stage of B a thread copies the same piece of 16 bytes of every so-many-th row. */
typedef struct spmmt_copier {
    int count, step;   /* copies of a stage; rows from one to the next */
    mc_operand rows;   /* that are copied */
    mc_reg row;        /* of B, the thread's first one of the next stage */
    mc_reg from, to;   /* where its piece lies, and where in shared memory it goes */
    mc_reg end;        /* behind the thread's place in the last stage */
    mc_reg left, size; /* columns of C from the piece's first one on; bytes of the piece */
    mc_reg wide;       /* whether rows of B lie so that 16 bytes can be copied */
    mc_reg copies;     /* whether the thread copies; none: all do */
} spmmt_copier;

/* What a warp goes through. Of each step of two turns `step`, its row of B; `column`, [step][row], the
   slots of the lane's rows [mma][half]; and `value`, [step][block][row][word]. Of each step of one turn
   `vector`, [step][block][row]. */
typedef struct spmmt_stream {
    mc_reg steps_at, columns_at, vectors_at, left;
    mc_reg step[2 * SPMMT_MAX_TURN], column[2 * SPMMT_MAX_TURN * SPMMT_MAX_ROWS];
    mc_reg vector[SPMMT_MAX_TURN * TRANSPOSED_MAX_BLOCKS * SPMMT_MAX_ROWS], value[SPMMT_MAX_VALUES];
} spmmt_stream;

/* Where this lane finds what: its values in a vector of A, its 16 bytes in row 0 of the warp's
   accumulators, its row in row 0 of B's stages and how far the next one is. */
typedef struct spmmt_lane {
    mc_reg a, acc, b, b_step;
    mc_reg valued; /* whether it has values of A; none: all lanes have */
} spmmt_lane;

/* Registers of a step and of the next one: `acc`, [step][row][half of columns][4]; `product`,
   [step][block][mma][8 columns][4]; `at` and `there`, [step][row]; and of the two behind it `fragment`. */
typedef struct spmmt_step_sums {
    mc_reg acc[2 * SPMMT_MAX_ACC], product[2 * TRANSPOSED_MAX_BLOCKS * SPMMT_MAX_ACC];
    mc_reg fragment[2 * SPMMT_MAX_FRAGMENTS];
    mc_reg zero;
    mc_reg at[2 * SPMMT_MAX_ROWS], there[2 * SPMMT_MAX_ROWS];
    mc_reg row, bits, vector_at, has; /* scratch */
} spmmt_step_sums;

typedef struct spmmt_emitter {
    mc_builder *b;
    const spmmt_plan *plan;
    thread_place place;
    mc_reg shared, share;           /* addresses of the block's shared memory, of the warp's accumulators */
    mc_reg part, side;              /* the warp's numbers along k and along n, in the tile */
    mc_reg tile_column;             /* of C, the block's first one */
    mc_reg first_row, first_column; /* of C, the warp's first ones */
    spmmt_shapes shapes;
    spmmt_copier copier;
    spmmt_stream stream;
    spmmt_lane lane;
    spmmt_step_sums sums;
} spmmt_emitter;

/* -- copy.c */

void spmmt_begin_copies(spmmt_emitter *e);
/* Asks for the next stage, if there is one. PREFIX is of its labels and registers. */
void spmmt_copy_stage(spmmt_emitter *e, const char *prefix);

/* -- step.c */

void spmmt_declare_steps(spmmt_emitter *e);
/* Asks for all that the first turn needs, and for the vectors of the second one. */
void spmmt_load_first(spmmt_emitter *e);
/* At the beginning of turn TURN, 0 or 1, asks for all that the other one needs, and for the vectors of the
   one behind that. */
void spmmt_load_turn(spmmt_emitter *e, int turn);
/* Loads and makes what the first step and those behind it take from steps before them. */
void spmmt_begin_steps(spmmt_emitter *e);
/* Adds the products of step STEP of the two turns, and makes those of the next one. */
void spmmt_take_step(spmmt_emitter *e, int step);

/* -- store.c */

void spmmt_zero_sums(spmmt_emitter *e);
void spmmt_store(spmmt_emitter *e);

#endif
