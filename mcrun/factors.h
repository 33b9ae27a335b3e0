/* Scales and biases, as the commands that run and pack take them. */
#ifndef MCRUN_FACTORS_H
#define MCRUN_FACTORS_H

#include "ops/operator.h"
#include "problem.h"

/* Those of a kernel, each at its operand's index in the operator's list; NULL: the kernel takes none. */
typedef struct factors {
    const mc_operator *op;
    float *values[MAX_OPERANDS];
    int64_t counts[MAX_OPERANDS];
} factors;

enum { FACTOR_OPTION = 20 };
/* The option, without dashes before it, that names the file of factors NAME: "b_scale" is b-scale. */
void factor_option(const char *name, char option[FACTOR_OPTION]);

/* All of KERNEL for a C of ROWS x COLS (-1: not known): from FILES, each at its operand's index (NULL: there
   is none), else random; scales are else that which P's values were quantised by. MC_CANNOT for a file whose
   length does not fit, or for which the kernel has no use. Those that it computes are NULL. */
mc_status factors_make(const problem *p, const mc_kernel *kernel, const char *const files[MAX_OPERANDS],
                       int64_t rows, int64_t cols, factors *f, mc_diag *diag);
void factors_free(factors *f);

#endif
