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

/* partial.c. Load the factors of sums that warps share; and add these up through shared memory, and store
   them. */
out_factors spmm_gather_emit_shared_factors(gather_emitter *e, const gather_path *path, mc_reg path_col,
                                            mc_reg inside);
void spmm_gather_emit_shared_sums(gather_emitter *e, const gather_path *path, mc_reg path_col,
                                  const out_factors *factors);

#endif
