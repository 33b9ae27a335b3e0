/* The least time that a variant could take on a problem: for each resource what it moves or issues over the
   rate measured in the same run; the largest counts. */
#ifndef BENCH_FLOOR_H
#define BENCH_FLOOR_H

#include "ceilings.h"
#include "variants.h"

typedef struct floor_problem {
    int64_t m, n, k, vectors; /* nonzero vectors, or what stands for those of a panel in one column */
    int64_t slots;            /* with padding, as packed */
    int64_t a_bytes, b_bytes; /* of the dense operands; spmm: A is packed */
    int64_t elements;         /* of C */
    double packed_bytes;
} floor_problem;

/* Bytes, and multiply-adds of s8; 0 where a resource does not apply. */
typedef struct floor_load {
    double memory; /* A, B and C once */
    /* what leaves L2 for the SMs: the rows or columns of B that each vector names, or the staged tiles of B;
       spmm: A once for each column tile */
    double gathered;
    double footprint; /* what that is gathered out of */
    double shared;    /* staged kernels: the rows that each vector names, out of shared memory */
    double macs;      /* of the mma issued, padding included */
} floor_load;

floor_load floor_load_spmm(const variant *variant, const floor_problem *problem);
floor_load floor_load_sddmm(const variant *variant, const floor_problem *problem);

/* Microseconds; 0 where a resource does not apply. Memory at the copy rate of its size, launch an empty
   kernel. */
typedef struct floor_times {
    double launch, memory, gather, shared, mma;
} floor_times;

floor_times floor_of(const ceilings *ceilings, const floor_load *load);
/* The largest; *LIMIT is its name. */
double floor_us(const floor_times *times, const char **limit);

#endif
