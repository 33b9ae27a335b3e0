/* Operands that lie otherwise than kernels read them, by columns or by rows: a problem becomes several, the
   transposes of these operands, and what is computed of those. */
#ifndef MCRT_PROBLEM_TRANSPOSE_H
#define MCRT_PROBLEM_TRANSPOSE_H

#include "problem/problem.h"

enum { MOST_PASSES = 2 /* an operator has no more operands that may be transposed */ };

typedef struct problem_pass {
    int operand;          /* its index in the operator's list */
    plan_problem problem; /* of the operator that transposes: the operand as it lies becomes its transpose */
    int64_t bytes;        /* of that, of all products */
} problem_pass;

typedef struct problem_passes {
    problem_pass items[MOST_PASSES];
    int count;
} problem_passes;

/* Makes PROBLEM one that kernels solve: with rows of an operand that lies by columns, and columns of one
   that lies by rows, each at a multiple of 16 bytes, one product's behind the other's. An operand without
   elements lies as kernels read it. MC_CANNOT where there would be too many elements. */
MC_API mc_status plan_problem_transpose(plan_problem *problem, problem_passes *passes, mc_diag *diag);

/* How OPERAND lies where it wants a pass: "columns" or "rows". */
const char *pass_from(const operand_row *operand);

#endif
