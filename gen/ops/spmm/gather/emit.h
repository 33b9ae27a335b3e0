/* What the gather kernel's emitters share: the registers that live through the kernel. */
#ifndef MC_SPMM_GATHER_EMIT_H
#define MC_SPMM_GATHER_EMIT_H

#include "ops/spmm/emit.h"
#include "ops/spmm/gather/gather.h"
#include "ops/spmm/sums.h"

/* Values of panels without zeros (nonzeros.c). For each 8 rows: the mask of the lane's row in the stride that
   is loaded, and the number of its first value; the elements of the lane's slots. The rest is scratch, but
   for `values`, and what finds the lane's bits. */
typedef struct gather_nonzeros {
    mc_reg words[2][2], element[2][MC_LANE_SLOTS];
    mc_reg values, shift, below;
    mc_reg bits, bit, number, has, at;
} gather_nonzeros;

/* The strides of A that a warp takes, and the one that is loaded. */
typedef struct gather_stream {
    mc_reg head, first, last;    /* this warp's head; the row block's strides that are no heads */
    spmm_value_lanes has_values; /* whether this lane holds values of A, for each mma */
    /* Without heads in front of all strides: whether this warp has one, and this lane values of it for each
       mma; none else */
    mc_reg has_head;
    spmm_value_lanes head_values;
    mc_reg col_idx;
    mc_reg index_lane, value_lane; /* address of this lane's indices and values of stride 0 */
    int indices;                   /* of a lane in a step: 8, or one for each row that it copies */
    mc_reg index_at, value_at;     /* index_lane and value_lane of the stride that is loaded */
    mc_reg index[SPMM_MAX_STEPS * MC_LANE_SLOTS], value[SPMM_MAX_VALUES];
    gather_nonzeros nonzeros;
} gather_stream;

/* Of panels: which of the lane's rows A has; the thread block's number; how the item says that warps share
   the panel. */
typedef struct gather_panel {
    mc_reg has_row[2];
    mc_reg row[2]; /* with `reorder`: which rows of C they are */
    mc_reg block, sharing;
} gather_panel;

typedef struct gather_emitter {
    const gather_plan *plan;
    mc_builder *b;
    spmm_emitter at;
    mc_reg row_block;
    out_residual residual;
    gather_panel panel;
    gather_stream stream;
    spmm_sums sums;
    spmm_gathered gathered;
} gather_emitter;

/* The name of the shared array: of partial sums, or of rows of B, where partial sums lie later, or of the
   tile of a column-major C alone, which else lies behind them. */
static inline const char *gather_shared_name(const gather_plan *plan) {
    if (plan->shared) return "rows";
    return plan->base.c_columns && plan->base.split == 1 ? "tile" : "partial";
}

/* -- stream.c ----------------------------------------------------------------------------------------- */

/* Sets head, which lies where row_ptr need not be known; and first and last. Without heads in front of all
   strides the second alone is called. */
void spmm_gather_emit_head(gather_emitter *e);
void spmm_gather_emit_strides(gather_emitter *e);
/* Sets what is left of the stream, and begins to load the head, where the kernel prefetches. */
void spmm_gather_emit_stream(gather_emitter *e);
/* Sets which indices a lane loads on PATH: those of the rows that it reads, or of those that it copies. */
void spmm_gather_emit_index_lane(gather_emitter *e, const gather_path *path);
/* Loads this lane's indices and values of the head. */
void spmm_gather_emit_load_head(gather_emitter *e);
/* Load the indices of STRIDE where GUARD holds (none: always), and its values where WITH_VALUES of an mma
   does. */
void spmm_gather_emit_load_indices(gather_emitter *e, mc_reg stride, mc_reg guard);
void spmm_gather_emit_load_values(gather_emitter *e, mc_reg stride, spmm_value_lanes with_values);
/* The same of both. Addresses come first. */
void spmm_gather_emit_load_stride(gather_emitter *e, mc_reg stride, mc_reg guard,
                                  spmm_value_lanes with_values);

/* -- panels.c ----------------------------------------------------------------------------------------- */

/* Sets row_block, and of the stream first and last, by the warp's item. */
void spmm_gather_emit_item(gather_emitter *e);
/* Where the lane stores the ROW-th of its rows. */
mc_reg spmm_gather_guard(const gather_emitter *e, int row);
/* Adds the sums of PATH's columns, from PATH_COL on, of warps that share a panel. A warp that does not finish
   one goes to END. */
void spmm_gather_emit_join(gather_emitter *e, const gather_path *path, mc_reg path_col, mc_label end);

/* -- nonzeros.c: values of panels without zeros -------------------------------------------------------- */

/* Sets value_lane, to the lane's masks; MASKS and VALUES are the packed arrays. */
void spmm_gather_declare_nonzeros(gather_emitter *e, mc_reg masks, mc_reg values);
/* Loads the masks of the stride at value_at, where GUARD holds (none: always), by LOAD. */
void spmm_gather_load_masks(gather_emitter *e, mc_reg guard, mc_opcode load);
/* Loads the elements that these say; and, once they are wanted, brings them into VALUE, registers of mma. */
void spmm_gather_load_elements(gather_emitter *e);
void spmm_gather_join_elements(gather_emitter *e, const mc_reg *value);

/* -- shared.c: rows of B on their way through shared memory -------------------------------------------- */

typedef struct gather_stager {
    mc_reg base;                  /* address of this lane's 16 bytes of row 0 of B */
    mc_reg to, from;              /* where its first copy goes; where its columns of slot 8 t are read */
    const mc_reg *used, *address; /* scratch, one a copy */
    mc_reg size, index;           /* scratch, of floats: bytes that a copy reads, and of which row */
} gather_stager;

/* Sets index_lane for the rows that this lane copies. */
void spmm_gather_shared_index_lane(gather_emitter *e);
/* The first of the columns that this lane copies. */
mc_reg spmm_gather_shared_first_column(gather_emitter *e, mc_reg path_col);
/* Sets s->to and s->from, and fills what this lane copies to with zeros. */
void spmm_gather_shared_start(gather_emitter *e, gather_stager *s);
/* Copies this lane's part of the rows that the indices name, where GUARD holds (none: always). */
void spmm_gather_shared_copy(gather_emitter *e, const gather_stager *s, mc_reg guard);
/* Waits until the warp's rows are there, and reads this lane's columns of slots 8 t to 8 t + 7 of each step
   into ROW[step][slot][WORDS]. After it the rows may be overwritten. */
void spmm_gather_shared_read(gather_emitter *e, const gather_stager *s, const mc_reg *row, int words);

/* -- loop.c and store.c: a path ------------------------------------------------------------------------ */

/* Loads scales and biases for PATH, but for those of 16 columns. INSIDE says whether the path is taken (none:
   always); where it is not, nothing beyond n is read. */
out_factors spmm_gather_emit_factors(gather_emitter *e, const gather_path *path, mc_reg path_col,
                                     mc_reg inside);

/* Computes and stores one tile of path->columns columns from path_col on. The head has been loaded. */
void spmm_gather_emit_tile(gather_emitter *e, const gather_path *path, mc_reg path_col, out_factors *factors);

/* Adds up the warps that share the row block and stores its rows of C, path->columns columns from path_col
   on. LANE_COL is the first column that this lane has loaded of B; none where it loads for others. */
void spmm_gather_emit_epilogue(gather_emitter *e, const gather_path *path, mc_reg path_col, mc_reg lane_col,
                               out_factors *factors);

#endif
