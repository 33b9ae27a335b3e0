/* Products in the bench: what the CPU multiplied, exact sums or a range of them, becomes what variants must
   give. Their part of what operation.h asks for. */
#ifndef BENCH_PRODUCTS_H
#define BENCH_PRODUCTS_H

#include "operation.h"
#include "race_state.h"

/* make_sums, make_output, make_range: of the problem's `want`, or of its `within`. */
mc_status products_sums(race *r, our_sums *sums, mc_diag *diag);
mc_status products_output(race *r, const our_sums *sums, const want_kind *kind, const output_rule *rule,
                          uint64_t out, mc_diag *diag);
mc_status products_range(race *r, const want_kind *kind, reference_result *want, mc_diag *diag);

/* Of a dense product, or one by a 2:4 matrix, whose sizes are columns of B, which lies by columns: its shape;
   random B; what the CPU makes of OPERANDS, of operator OP: `want` or `within`; the floor of kernels with
   tiles. */
problem_shape products_shape(const mc_vsparse *a, int64_t size);
mc_status products_make_b(work_problem *p, const work_plan *plan, mc_diag *diag);
mc_status products_multiply(mc_op op, host_operands operands, const variant_list *list, work_problem *p,
                            mc_diag *diag);
floor_load products_tiled_load(const variant *v, const floor_problem *p);

#endif
