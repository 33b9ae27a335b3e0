/* What the emitters of the solver `hrpb` share: the registers that live through the kernel. */
#ifndef MC_SPMM_HRPB_EMIT_H
#define MC_SPMM_HRPB_EMIT_H

#include "ops/spmm/emit.h"
#include "ops/spmm/hrpb/hrpb.h"

enum { HRPB_MOST_SUMS = HRPB_MOST_TM / HRPB_TILE_ROWS * HRPB_MOST_TN / HRPB_N * HRPB_HALVES * HRPB_LANE_N };
enum { HRPB_MOST_ROWS = HRPB_MOST_TM / HRPB_TILE_ROWS * HRPB_HALVES /* of a lane */ };

typedef struct hrpb_emitter {
    const hrpb_plan *plan;
    mc_builder *b;
    spmm_emitter at;
    mc_reg thread_block, sharing; /* its number; which virtual panel of its panel it has */
    mc_reg warp_col;              /* the warp's first column in the tile; none where there is one warp */
    mc_reg row;                   /* the lane's first row, g of the panel */
    mc_reg has_row[HRPB_MOST_ROWS];
    mc_reg left;                /* blocks to go */
    mc_reg size_at, columns_at; /* of the block at hand, in size_ptr and active_cols */
    mc_reg packed;
    mc_reg block_shared, rows_shared; /* where in shared memory the block and the rows of B lie */
    mc_reg acc[HRPB_MOST_SUMS];
} hrpb_emitter;

/* A lane's sum, of row g + 8 HALF of brick row ROW, in column 2 t + ODD of the MMA-th 8 columns. */
static inline mc_reg *hrpb_acc(hrpb_emitter *e, int row, int mma) {
    return &e->acc[(row * hrpb_mma(e->plan) + mma) * HRPB_HALVES * HRPB_LANE_N];
}

/* copy.c: from global to shared memory. */
enum { HRPB_WIDTHS = 2 /* pieces of 16 and of 4 bytes of B */, HRPB_COLUMN_PIECES = 8 };
enum { HRPB_GROUP = 8 /* rows of B whose indices a thread loads together */ };

/* How a thread's pieces of rows of B lie: a piece has `width` bytes; `columns` pieces of a row, `step` bytes
   apart, are its own, of every `row_step`-th row from its first one on. */
typedef struct hrpb_pieces {
    int width, columns, step, row_step, rows;
    mc_reg row;      /* its first row; none: row 0 */
    mc_reg from, to; /* addresses of its first piece, of row 0 of B, and of its first row in shared memory */
    mc_reg size[HRPB_COLUMN_PIECES];               /* bytes of each that are inside of B */
    mc_reg has;                                    /* whether the thread has any; none: all have */
    mc_reg index[HRPB_GROUP], used, source, bytes; /* scratch */
} hrpb_pieces;

typedef struct hrpb_copier {
    hrpb_pieces pieces[HRPB_WIDTHS];
    bool has[HRPB_WIDTHS];
    mc_reg is_wide; /* where both are there */
    mc_reg a_lane, a_to;
} hrpb_copier;

void spmm_hrpb_begin_copies(hrpb_emitter *e, hrpb_copier *c);
/* Asks for the block at hand, and for its rows of B. */
void spmm_hrpb_emit_copies(hrpb_emitter *e, const hrpb_copier *c);

/* multiply.c: the block in shared memory times the warp's columns of the rows there. */
typedef struct hrpb_multiplier {
    mc_reg bit, below; /* the lane's bit, and those below it */
    mc_reg lane_rows;  /* where the lane reads rows of B */
} hrpb_multiplier;

void spmm_hrpb_begin_multiply(hrpb_emitter *e, hrpb_multiplier *m);
void spmm_hrpb_emit_multiply(hrpb_emitter *e, const hrpb_multiplier *m);

/* join.c: adds up a panel's virtual panels. A thread block that does not finish the panel goes to END. */
void spmm_hrpb_emit_join(hrpb_emitter *e, mc_label end);

/* store.c */
void spmm_hrpb_emit_store(hrpb_emitter *e);

#endif
