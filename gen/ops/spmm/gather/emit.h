/* What the gather kernel's emitters share: the registers that live through the kernel. */
#ifndef MC_SPMM_GATHER_EMIT_H
#define MC_SPMM_GATHER_EMIT_H

#include "ops/spmm/emit.h"
#include "ops/spmm/gather/gather.h"
#include "ops/spmm/integer/sums.h"

typedef struct gather_emitter {
    spmm_emitter at;
    const gather_plan *plan;
    mc_builder *b;
    mc_reg row_block;
    spmm_value_lanes has_values; /* whether this lane holds values of A, for each mma */
    mc_reg head, first, last;    /* this warp's head; the row block's strides that are no heads */
    /* Without heads in front of all strides: whether this warp has one, and this lane values of it for each
       mma; none else */
    mc_reg has_head;
    spmm_value_lanes head_values;
    mc_reg col_idx;
    mc_reg index_lane, value_lane; /* address of this lane's indices and values of stride 0 */
    /* indices of a lane in a step: 8, or one for each row that it copies */
    int indices;
    mc_reg index_at, value_at; /* the same of the stride that is loaded */
    mc_reg index[SPMM_MAX_STEPS * MC_LANE_SLOTS], value[SPMM_MAX_VALUES];
    spmm_sums sums;
    spmm_gathered gathered;
    mc_reg odd, odd_bits;
    mc_reg col;          /* this lane's first column of C in the path's tile */
    out_factors factors; /* scales and biases of the path that is being emitted */
} gather_emitter;

/* The name of the shared array: of partial sums, or of rows of B, where partial sums lie later. */
static inline const char *gather_shared_name(const gather_plan *plan) {
    return plan->shared ? "rows" : "partial";
}

/* shared.c: rows of B on their way through shared memory. */
typedef struct gather_stager {
    mc_reg base;                  /* address of this lane's 16 bytes of row 0 of B */
    mc_reg to, from;              /* where its first copy goes; where its columns of slot 8 t are read */
    const mc_reg *used, *address; /* scratch, one a copy */
} gather_stager;

/* Sets e->index_lane for the rows that this lane copies. */
void gather_shared_index_lane(gather_emitter *e);
/* The first of the columns that this lane copies. */
mc_reg gather_shared_first_column(gather_emitter *e, mc_reg path_col);
/* Sets s->to and s->from, and fills what this lane copies to with zeros. */
void gather_shared_start(gather_emitter *e, gather_stager *s);
/* Copies this lane's part of the rows that e->index names, where GUARD holds (none: always). */
void gather_shared_copy(gather_emitter *e, const gather_stager *s, mc_reg guard);
/* Waits until the warp's rows are there, and reads this lane's columns of slots 8 t to 8 t + 7 of each step
   into ROW[step][slot][WORDS]. After it the rows may be overwritten. */
void gather_shared_read(gather_emitter *e, const gather_stager *s, const mc_reg *row, int words);

/* Loads this lane's indices and values of the head to e->index and e->value. */
void gather_emit_load_head(gather_emitter *e);

/* Computes and stores one tile of path->columns columns from path_col on. The head has been loaded. */
void gather_emit_tile(gather_emitter *e, const gather_path *path, mc_reg path_col);

/* Loads scales and biases for PATH, but for those of 16 columns. INSIDE says whether the path is taken (none:
   always); where it is not, nothing beyond n is read. */
void gather_emit_factors(gather_emitter *e, const gather_path *path, mc_reg path_col, mc_reg inside);

/* Adds up the warps that share the row block and stores its rows of C, path->columns columns from path_col
 * on. */
void gather_emit_epilogue(gather_emitter *e, const gather_path *path, mc_reg path_col);

#endif
