/* A set of shapes, problem by problem. */
#ifndef BENCH_GRIDS_H
#define BENCH_GRIDS_H

#include "results.h"

/* For each of ours a grid of its times, and for each peer one of its times over those: a line for each file's
   matrix, a column for each of the COUNT sizes, which ascend. What only one of both has is left open. */
void grids_print(const results *results, const double *sizes, size_t count);

#endif
