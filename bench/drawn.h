/* Products whose dense operands are drawn on the GPU, which multiplies them plainly, too: for shapes that the
   host would take minutes for. An operation takes part that has `drawn`: C[m,n] = A[m,k] B[k,n], where A is
   dense, or the matrix of a work, and B is dense.

   Sums of integers are exact. Those of floats are the plain product's, in f32; what a kernel gives may be off
   by as much as the peers' results may (dense.c). Some sums are computed again on the host. */
#ifndef BENCH_DRAWN_H
#define BENCH_DRAWN_H

#include "operation.h"
#include "race_state.h"

/* On the host: the values of W's matrix, if those count; its problems' operands have shapes and no data. */
mc_status drawn_prepare(work *w, const work_plan *plan, mc_diag *diag);
/* Draws DENSE, which has no data, into PART of all sets. SEED tells operands apart. */
mc_status drawn_write(race *r, const operand_slab *slab, size_t part, const mc_dense *dense, uint32_t seed,
                      mc_diag *diag);
/* As an operation's make_sums and make_output. MC_MISMATCH: the host's sums are others. */
mc_status drawn_sums(race *r, our_sums *sums, mc_diag *diag);
mc_status drawn_output(race *r, const our_sums *sums, const want_kind *kind, const output_rule *rule,
                       uint64_t out, mc_diag *diag);
/* Frees what TRACK keeps of the last work. */
void drawn_forget(race_track *track);

/* N rounded up to a multiple of 16: so many columns B has, and so many elements a row of C, which tensor
   copies need. A kernel that does not take N itself is launched for as many. */
int64_t drawn_ld(int64_t n);
/* Makes C's check one of such a result: how far those of OUTPUT may be off, and where they lie. Its
   detail says where it is launched for COLUMNS other than the problem's. */
void drawn_check(const race *r, const mc_output *output, int64_t columns, contender *c);

#endif
