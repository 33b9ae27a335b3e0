/* Scales and biases, as the commands that run and pack take them. */
#ifndef MCRUN_FACTORS_H
#define MCRUN_FACTORS_H

#include "problem.h"

typedef struct factors {
    mc_output output;
    float *scale, *bias; /* NULL: the kernel's output has none */
    int64_t scale_count, bias_count;
} factors;

/* Those of KERNEL for a C of ROWS x COLS (-1: not known): from the files of OPTIONS, else random. MC_CANNOT
   for a file whose length does not fit, or for which the kernel has no use. */
mc_status factors_make(const problem_options *options, const mc_kernel *kernel, int64_t rows, int64_t cols,
                       factors *f, mc_diag *diag);
void factors_free(factors *f);

/* One operand's: what it is called, its file (NULL: random), what there is one for, how it is drawn. */
typedef struct factor_source {
    const char *name, *file;
    mc_per per;
    void (*fill)(float *values, int64_t count, mc_value_law law, uint64_t seed);
    uint64_t seed;
} factor_source;

/* Allocates and makes *VALUES, *COUNT of them, for a matrix of ROWS x COLS; NULL: the kernel takes none. */
mc_status factor_make(const factor_source *from, int64_t rows, int64_t cols, float **values, int64_t *count,
                      mc_diag *diag);

#endif
