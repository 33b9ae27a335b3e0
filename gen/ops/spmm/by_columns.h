/* What solvers have in common whose B and C lie by columns, and whose tiles of B come by tensor copies. */
#ifndef MC_SPMM_BY_COLUMNS_H
#define MC_SPMM_BY_COLUMNS_H

#include "ops/spmm/problem.h"
#include "parts/shared_tile.h"

/* Complains of operands by rows, and of what none of these solvers has. */
void spmm_check_by_columns(const int64_t *point, const char *staging, mc_complaints *complaints);

/* B, of which a copy brings TILE. */
void spmm_add_b_by_columns(const shared_tile *tile, mc_contract *c);
/* The shapes; of C's columns the distance, too, where the kernel TAKES_LDC. */
void spmm_add_shapes_by_columns(const spmm_plan *plan, bool takes_ldc, mc_contract *c);
/* The last of the constraints, k's, and the contract of the sums. */
void spmm_add_sums_by_columns(const spmm_plan *plan, mc_contract *c);

const char *spmm_computes_by_columns(const void *plan);

#endif
