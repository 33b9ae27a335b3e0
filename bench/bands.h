/* How our kernels stand beside each peer on problems of many columns, and on those of few. */
#ifndef BENCH_BANDS_H
#define BENCH_BANDS_H

#include "results.h"

/* A table for each of ours: the geometric means of the peers' times over ours, where N >= 512 and where
   N <= 64, in brackets the problems that both have and the least of these ratios. */
mc_status bands_print(const results *results, mc_diag *diag);
/* The same as JSON, a line for each of ours, each peer and each band that has problems:
   {"kind":"band","op":...,"ours":...,"peer":...,"least_n":512,"ratio":...,"worst":...,"problems":...}, or
   "most_n":64 in place of "least_n". */
mc_status bands_print_json(const results *results, mc_diag *diag);

#endif
