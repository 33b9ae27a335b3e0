/* What the emitters of the csr kernel share: the registers that live through the kernel. */
#ifndef MC_SPMM_CSR_EMIT_H
#define MC_SPMM_CSR_EMIT_H

#include "ops/spmm/csr/csr.h"
#include "ops/spmm/emit.h"

enum { CSR_MOST_SUMS = 16, CSR_MOST_AHEAD = 8 };

/* The thread block's long rows that are left, where there is no list of them (block_rows.c). */
typedef struct csr_block_rows {
    mc_reg none;   /* whether no row of the thread block may be long */
    mc_reg rows;   /* lane c's: a bit for each of the long rows of chunk c that are left */
    mc_reg turn;   /* where the next sums go in shared memory */
    mc_label next; /* of a path */
} csr_block_rows;

typedef struct csr_emitter {
    const csr_plan *plan;
    mc_builder *b;
    spmm_emitter at;
    mc_reg column, part, group; /* this lane's; part: none where a row's nonzeros are one lane's */
    mc_reg block, sharing;      /* the thread block's number; of dealt rows the item's last word */
    mc_reg is_long;             /* whether the warp has a long row */
    csr_block_rows long_rows;
    mc_reg row, first, last; /* the row of C; the first of this group's nonzeros, and the one behind them */
    mc_reg in_rows;          /* whether there is such a row */
    mc_reg row_ptr, col_idx, values;
    mc_reg stores; /* with `stream`: whether this lane stores the row */
    out_residual residual;
    mc_reg sum[CSR_MOST_SUMS]; /* of a path */
    mc_reg scratch[2];         /* values of 16 bits, made f32: of A and of B */
} csr_emitter;

/* rows.c. Finds this group's row and nonzeros. */
void spmm_csr_emit_rows(csr_emitter *e);
/* Cuts the nonzeros from FROM to TO into COUNT parts, a power of two. Part NUMBER becomes this group's.
   OF_ROW: a row is cut into warps' parts; else a warp's part is cut into groups' parts. */
void spmm_csr_cut(csr_emitter *e, mc_reg from, mc_reg to, mc_reg number, int count, bool of_row);
/* block_rows.c. Finds the thread block's long rows, and takes them from the groups that have them. */
void spmm_csr_find_block_rows(csr_emitter *e);
/* Goes to ROW with this group's part of the next long row, if there is one. */
void spmm_csr_emit_next_row(csr_emitter *e, mc_label row);
/* loop.c. Sums of PATH's columns of the tile, of which LANE_COL is this lane's first one: the lanes that
   share a row have all of them. */
void spmm_csr_emit_loop(csr_emitter *e, const csr_path *path, mc_reg lane_col);
/* segmented.c. PATH's columns of all rows of an item that has no long row: sums and stores. A warp that has a
   long row goes on behind them. */
void spmm_csr_emit_segments(csr_emitter *e, const csr_path *path, mc_reg lane_col);
/* store.c. What PATH's writers of C stand on; STORES: whether this lane's row is there, none where it is. */
out_columns spmm_csr_columns_of(const csr_emitter *e, const csr_path *path);
out_writer spmm_csr_declare_writer(const csr_emitter *e, const csr_path *path, mc_reg stores);
/* loop.c. The address of this lane's elements of B's row 0. Where columns may lie beyond n it is the row's,
   and OFFSET has the bytes to each run. */
mc_reg spmm_csr_find_columns(const csr_emitter *e, const csr_path *path, mc_reg lane_col, mc_reg *offset);
/* Adds up the sums of COUNT lanes whose numbers are APART, in a tree: of four lanes 0 to 3 lane 0 adds what 2
   has, and then what 1 and 3 have. All of them have the result. */
void spmm_csr_add_lanes(csr_emitter *e, int count, int apart, const char *scratch);
/* join.c. Where the warp has a long row, its groups' sums become sums of the row, and those of all that share
   it; who does not finish it goes to END. */
void spmm_csr_emit_join(csr_emitter *e, const csr_path *path, mc_label end);
/* The same of a row that is the thread block's: warps that do not finish it go on with the next one. */
void spmm_csr_emit_block_join(csr_emitter *e, const csr_path *path);
/* store.c. Stores PATH's columns of the row, of which LANE_COL is this lane's first one. */
void spmm_csr_emit_store(csr_emitter *e, const csr_path *path, mc_reg lane_col);
/* stream.c. The kernel with `stream`. */
void spmm_csr_emit_stream(csr_emitter *e);

#define CSR_SEGMENTS "nonzeros" /* the shared array of all warps, with `segmented` */

/* Columns of C from one run of a lane's to the next. */
static inline int csr_pitch(const csr_plan *plan, const csr_path *path) { return plan->columns * path->load; }
static inline int csr_group_lanes(const csr_plan *plan) { return plan->lanes * plan->columns; }

#endif
