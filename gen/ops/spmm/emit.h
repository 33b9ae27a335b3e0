/* What the emitters of all SpMM kernels begin with: where a thread is, and the operands. */
#ifndef MC_SPMM_EMIT_H
#define MC_SPMM_EMIT_H

#include "ops/spmm/problem.h"
#include "parts/emit.h"
#include "parts/fragment.h"

typedef struct spmm_emitter {
    const spmm_plan *plan;
    mc_builder *b;
    thread_place place;
    mc_reg part;           /* this warp's part of the row block; none where one warp has it all */
    mc_reg tile_col;       /* the first column of the thread block's tile */
    mc_reg in_rows;        /* whether A has the row block; none where that is certain */
    mc_reg has_sums;       /* vec < 8: whether this lane has sums */
    mc_reg stores;         /* whether this lane stores sums, where one warp has the row block */
    mc_reg m, n, ldb, ldc; /* shapes that are parameters; none where fixed */
    mc_reg b_array, c_array;
    mc_operand row_bytes; /* bytes from a row of B to the next */
} spmm_emitter;

/* Set place and part; and tile_col. */
void spmm_emit_lane(spmm_emitter *e);
void spmm_emit_tile_column(spmm_emitter *e);
/* Loads the shapes that are parameters. */
void spmm_emit_shapes(spmm_emitter *e);
/* Sets has_sums and stores, once in_rows is known. Where all lanes SHARE_SUMS in the end, none stores its
   own. */
void spmm_emit_sum_guards(spmm_emitter *e, bool share_sums);
/* Loads where the residual lies, and nothing where there is none. Writers of C say how much they load of
   it. */
out_residual spmm_emit_residual(const spmm_emitter *e);
/* Sets row_bytes, once ldb is known. */
void spmm_emit_row_bytes(spmm_emitter *e);

/* A test of what the spec leaves open: whether VALUE, or the LOW half of an address, is a multiple of UNIT, a
   power of two. */
typedef struct spmm_choice {
    bool tested;
    mc_reg value;
    const char *low;
    int unit;
    const char *otherwise;
} spmm_choice;
/* Goes to EDGE where the tile, of FULL_TILE, reaches beyond n, or one of the tests fails. */
void spmm_emit_choice(const spmm_emitter *e, bool full_tile, const spmm_choice *choices, size_t count,
                      mc_label edge);

#endif
