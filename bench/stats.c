#include <math.h>
#include <stdlib.h>
#include "stats.h"

static int compare_doubles(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double quantile(const double *sorted, size_t count, double part) {
    double place = part * (double)(count - 1);
    size_t below = (size_t)place;
    if (below + 1 >= count) return sorted[count - 1];
    return sorted[below] + (place - (double)below) * (sorted[below + 1] - sorted[below]);
}

box box_of(double *values, size_t count) {
    qsort(values, count, sizeof values[0], compare_doubles);
    return (box){values[0], quantile(values, count, 0.25), quantile(values, count, 0.5),
                 quantile(values, count, 0.75), values[count - 1]};
}

double geometric_mean(const double *values, size_t count) {
    double sum = 0;
    for (size_t i = 0; i < count; i++) sum += log(values[i]);
    return count == 0 ? 0 : exp(sum / (double)count);
}
