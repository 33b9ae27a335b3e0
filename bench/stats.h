/* Medians, quartiles and geometric means. */
#ifndef BENCH_STATS_H
#define BENCH_STATS_H

#include <stddef.h>

/* Smallest, first quartile, median, third quartile, largest: a box of a box plot. */
typedef struct box {
    double least, low, median, high, most;
} box;

/* COUNT >= 1 values, which it sorts. Quartiles lie between neighbours in proportion (Hyndman and Fan's
   seventh definition, the usual one). */
box box_of(double *values, size_t count);

/* exp(mean(log)) of COUNT positive values; 0 for none. */
double geometric_mean(const double *values, size_t count);

#endif
