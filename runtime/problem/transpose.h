/* An operand that lies by columns where kernels read rows: its problem becomes two, the operand's transpose,
   and what is computed of that. */
#ifndef MCRT_PROBLEM_TRANSPOSE_H
#define MCRT_PROBLEM_TRANSPOSE_H

#include "problem/problem.h"

typedef struct problem_transpose {
    int operand;          /* its index in the operator's list; -1: there is none, and nothing below */
    plan_problem problem; /* of the operator that transposes: the operand as it lies becomes rows */
    int64_t bytes;        /* of these rows, of all products */
} problem_transpose;

/* Makes PROBLEM one that kernels solve: with rows of the operand, each at a multiple of 16 bytes, one
   product's behind the other's. An operand without elements lies as kernels read it. MC_CANNOT where rows
   would be too many. */
MC_API mc_status plan_problem_transpose(plan_problem *problem, problem_transpose *transpose, mc_diag *diag);

#endif
