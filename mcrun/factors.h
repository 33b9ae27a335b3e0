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
/* Those of OPERAND; NULL: none. */
const float *factors_of(const factors *f, const operand_row *operand);
void factors_free(factors *f);

#endif
