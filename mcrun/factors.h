/* Scales and biases, as the commands that run and pack take them. */
#ifndef MCRUN_FACTORS_H
#define MCRUN_FACTORS_H

#include "problem.h"

typedef struct factors {
    mc_output output;
    float *scale, *bias; /* NULL: the kernel's output has none */
    int64_t scale_count, bias_count;
} factors;

/* Those of KERNEL for a C of ROWS x COLS (-1: not known): from the files of P's options, else random; scales
   are else that which P's values were quantised by. MC_CANNOT for a file whose length does not fit, or for
   which the kernel has no use. */
mc_status factors_make(const problem *p, const mc_kernel *kernel, int64_t rows, int64_t cols, factors *f,
                       mc_diag *diag);
void factors_free(factors *f);

/* One operand's: what it is called, its file (NULL: none), what there is one for, what all of them are
   without a file (0: random), how they are drawn. */
typedef struct factor_source {
    const char *name, *file;
    mc_per per;
    float all;
    void (*fill)(float *values, int64_t count, mc_value_law law, uint64_t seed);
    uint64_t seed;
} factor_source;

/* Allocates and makes *VALUES, *COUNT of them, for a matrix of ROWS x COLS; NULL: the kernel takes none. */
mc_status factor_make(const factor_source *from, int64_t rows, int64_t cols, float **values, int64_t *count,
                      mc_diag *diag);

#endif
