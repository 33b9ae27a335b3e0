/* Products, dense or of a 2:4 sparse A: what all solvers have of the problem. A solver's plan begins with
   it. */
#ifndef MC_GEMM_PROBLEM_H
#define MC_GEMM_PROBLEM_H

#include "parts/gemm_order.h"
#include "parts/product.h"

/* The names of C's types, for the field: NULL-terminated; and the usual one, "f16". */
extern const char *const gemm_out_names[];
enum { GEMM_STANDARD_OUT = 1 };

/* Derives the problem from a point of the family gemm, or, SPARSE, of gemm24, and complains of what no solver
   can do. */
gemm_problem gemm_problem_of(const int64_t *point, bool sparse, mc_complaints *complaints);

/* Lines of a kernel's header. */
const char *gemm_computes(const void *plan);
const char *gemm24_computes(const void *plan);
/* The kernel's name up to what the solver adds. Returns its length. */
size_t gemm_entry_name(const gemm_problem *p, char name[MC_MAX_ENTRY]);

/* Complains of elements, and of addresses of C, that do not go with STORE's pairs and singles. */
void gemm_check_store(const gemm_problem *p, gemm_store store, mc_complaints *complaints);
/* Complains where a shape that the spec fixes is no MULTIPLE. */
void gemm_check_multiple(int field, int64_t value, int64_t multiple, mc_complaints *complaints);

/* Sparse: adds A's packed arrays to the contract. */
void gemm_add_packed(const gemm_problem *p, mc_contract *c);
/* Adds the scales of blocks to the contract, if there are any. */
void gemm_add_block_scales(const gemm_problem *p, mc_contract *c);
/* Adds the shapes to the contract; C's and the residual's rows where WITH_C. */
void gemm_add_shapes(const gemm_problem *p, bool with_c, mc_contract *c);
/* Adds what n and rows of C are multiples of, COLUMNS, and rows of the residual, of which STORE columns are
   stored at a time; and that m and n end before the last of tiles of TILE_M x TILE_N would leave s32. */
void gemm_add_c_limits(const gemm_problem *p, int tile_m, int tile_n, int64_t columns, int store,
                       mc_contract *c);
/* Adds a batch's strides to the contract, if there is one, and what they are multiples of: those of A and B
   of OPERANDS elements, C's of COLUMNS, the residual's as STORE says. */
void gemm_add_batch(const gemm_problem *p, int64_t operands, int64_t columns, int store, mc_contract *c);
/* What sums may grow to, and the k up to which they are exact. */
void gemm_add_sums(const gemm_problem *p, mc_contract *c);

/* Rows of A and of B: how many there are, and what each consists of; names of shapes. */
static inline const char *gemm_b_rows(const gemm_problem *p) { return p->b_rows ? "k" : "n"; }
static inline const char *gemm_b_columns(const gemm_problem *p) { return p->b_rows ? "n" : "k"; }

#endif
