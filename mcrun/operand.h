/* Dense operands, as the commands that run kernels take them. */
#ifndef MCRUN_OPERAND_H
#define MCRUN_OPERAND_H

#include "mcrt_internal.h"

/* What the command line says of a shape (0: nothing), else what the kernel has fixed it to, else USUAL. */
int64_t operand_shape_or(int64_t given, const mc_kernel *kernel, const char *field, int64_t usual);

/* The least leading dimension of rows of LENGTH elements. */
int64_t operand_tight(mc_type type, int64_t length);

/* A leading dimension, and what it has to be. */
typedef struct operand_ld {
    const char *option, *row; /* "--ldb", and what a row's length is called: "N" */
    bool given;               /* else it follows from the length */
    int64_t value, length;
    int64_t unit; /* that the kernel needs it to be a multiple of; 0: any will do */
} operand_ld;

/* MC_USAGE, with one that would do. */
mc_status operand_check_ld(const operand_ld *ld, mc_diag *diag);

#endif
