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

#endif
