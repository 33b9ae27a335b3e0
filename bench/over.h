/* Our times beside the base's, by size and by matrix: what a summary has of runs whose base is named. */
#ifndef BENCH_OVER_H
#define BENCH_OVER_H

#include "results.h"

/* For each of ours, in one table: geometric means by size, and of all sizes, with how many problems and the
   least. Then the least problem of each, and those where the base is clearly faster. Unless BRIEF, speeds by
   matrix and size, too. SIZES: as they are, ascending. VALUES has room for all problems. */
void over_print(const results *results, const double *sizes, size_t size_count, bool brief, double *values);

#endif
