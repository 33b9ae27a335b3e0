/* Between the files of the gather kernel's epilogue. */
#ifndef MC_SPMM_GATHER_STORE_H
#define MC_SPMM_GATHER_STORE_H

#include "ops/spmm/gather/emit.h"

/* output.c. Collects COUNT columns of run RUN, from word WORD on. */
void spmm_gather_run_of_sums(const gather_emitter *e, int word, int run, int count, mc_reg *out);
out_columns spmm_gather_columns_of(const gather_emitter *e, const gather_path *path);
/* RUN: columns of a run. */
out_writer spmm_gather_declare_writer(const gather_emitter *e, const gather_path *path, int run);
/* The exponent of V, by which a row block's number becomes that of its first row. */
mc_operand spmm_gather_log_vec(const gather_emitter *e);

/* columns.c, of a column-major C. Where its tile lies in shared memory; the writer of the tile there, for
   patches of ROWS rows and COLUMNS columns; sets where the elements of row ROW of the row block go, from
   column COL of the path on. */
mc_reg spmm_gather_emit_tile_at(const gather_emitter *e, const gather_path *path);
column_writer spmm_gather_declare_columns(gather_emitter *e, const gather_path *path, mc_reg tile_at,
                                          int rows, int columns, mc_reg row, mc_reg col);
/* Stores the tile, once all warps have filled it. */
void spmm_gather_emit_tile_store(gather_emitter *e, column_writer *w, mc_reg path_col);
/* Stores from registers: the lane's first row in its row block is ROW, its first column of the path's COL. */
void spmm_gather_emit_direct_columns(gather_emitter *e, const gather_path *path, mc_reg path_col, mc_reg row,
                                     mc_reg col, out_factors *factors);

/* partial.c. Load the factors of sums that warps share; and add these up through shared memory, and store
   them. */
out_factors spmm_gather_emit_shared_factors(gather_emitter *e, const gather_path *path, mc_reg path_col,
                                            mc_reg inside);
void spmm_gather_emit_shared_sums(gather_emitter *e, const gather_path *path, mc_reg path_col,
                                  const out_factors *factors);

#endif
