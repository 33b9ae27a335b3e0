/* The same product of a matrix with its zeros: a problem of the operator that the row of PROBLEM's names as
   `dense`. */
#ifndef MCRT_PROBLEM_DENSIFY_H
#define MCRT_PROBLEM_DENSIFY_H

#include "problem/problem.h"

/* Makes DENSE of PROBLEM, as a configuration has it: no operand is transposed yet. The matrix's rows begin at
   multiples of 16 bytes. Where C lies by columns DENSE is the problem of its transpose, in rows. MC_CANNOT,
   and why, where there is no such problem; MC_USAGE and MC_CANNOT as plan_problem_of where the dense operator
   has not these types or this output. */
MC_API mc_status plan_problem_densify(const plan_problem *problem, plan_problem *dense, mc_diag *diag);

/* Of the dense operator's operands, the one that the matrix of PROBLEM is. */
const char *densified_operand(const plan_problem *problem);
/* The operand of PROBLEM that the dense operator has as NAME; NULL: none is, or it is the matrix. */
const operand_row *densified_from(const plan_problem *problem, const char *name);

/* Bytes of the matrix in a problem that plan_problem_densify made of PROBLEM. */
MC_API int64_t densified_bytes(const plan_problem *problem);

#endif
