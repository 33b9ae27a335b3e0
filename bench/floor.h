/* The least time that a variant could take on a problem: for each resource what it moves or issues over the rate
   measured in the same run; the largest counts. */
#ifndef BENCH_FLOOR_H
#define BENCH_FLOOR_H

#include "ceilings.h"
#include "variants.h"

typedef struct floor_problem {
    int64_t m, n, k, vectors; /* nonzero vectors */
    int64_t slots;            /* with padding, as packed */
    int64_t row_bytes;        /* of a row of B */
    double packed_bytes;
} floor_problem;

/* Microseconds; 0 where a resource does not apply. */
typedef struct floor_times {
    double launch; /* an empty kernel */
    double memory; /* A, B and C once, at the copy rate of their size together */
    double
        gather; /* what leaves L2 for the SMs: the rows of B that each vector names, or the staged tiles of B; A once
                      for each column tile */
    double shared; /* staged kernels: the rows that each vector names, out of shared memory */
    double mma;    /* the mma issued, padding included */
} floor_times;

floor_times floor_of(const ceilings *ceilings, const variant *variant, const floor_problem *problem);
/* The largest; *LIMIT is its name. */
double floor_us(const floor_times *times, const char **limit);

#endif
