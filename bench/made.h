/* Operations without sums: C is made of A itself, as quantise and softmax make it. Their part of what
   operation.h asks for; what a variant of theirs has that mcbench cannot give it each refuses by itself. */
#ifndef BENCH_MADE_H
#define BENCH_MADE_H

#include "operation.h"
#include "race_state.h"

/* make_sums: there are none. */
mc_status made_sums(race *r, our_sums *sums, mc_diag *diag);

/* The problem of the first variant that gives KIND, as far as its kernel says it. */
mc_status made_problem(const race *r, const want_kind *kind, plan_problem *problem, mc_diag *diag);
/* The C of it, at OUT in f32, of the problem's own operands and of SCALE; NULL: the kernel reads none. */
mc_status made_output(race *r, const want_kind *kind, const float *scale, uint64_t out, mc_diag *diag);

/* load: A is read, C written. */
floor_load made_load(const variant *v, const floor_problem *problem);

/* Of operators whose inputs lie as C does, in the one order that all variants have, and which have no size
   beside the mask's: shape, slots; prepare: A, and with a second type B; load: as many elements of each. */
problem_shape made_sampled_shape(const mc_vsparse *a, int64_t size);
int64_t made_sampled_slots(const mc_packed *packed, const mc_vsparse *a);
mc_status made_sampled_prepare(work *w, const work_plan *plan, mc_diag *diag);
floor_load made_sampled_load(const variant *v, const floor_problem *problem);

#endif
