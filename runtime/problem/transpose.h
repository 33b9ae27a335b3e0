/* Operands that lie otherwise than kernels read them, by columns or by rows, or whose spans kernels read as
   groups: a problem becomes several, those that bring these operands into order, and what is computed of
   those. */
#ifndef MCRT_PROBLEM_TRANSPOSE_H
#define MCRT_PROBLEM_TRANSPOSE_H

#include "problem/problem.h"

enum { MOST_PASSES = 2 /* an operator has no more for its operands */ };

typedef struct problem_pass {
    int operand; /* its index in the operator's list */
    /* Of the operator that transposes, or of the one that spreads: the first operand becomes the last one */
    plan_problem problem;
    int64_t bytes; /* of that, of all products */
} problem_pass;

typedef struct problem_passes {
    problem_pass items[MOST_PASSES];
    int count;
} problem_passes;

/* Makes PROBLEM one that kernels solve: with rows of an operand that lies by columns, and columns of one
   that lies by rows, each at a multiple of 16 bytes, one product's behind the other's. An operand that wants
   both is transposed first, and what comes of that is spread; k is then as long as its columns, and there is
   no pattern. An operand without elements lies as kernels read it. MC_CANNOT where there would be too many
   elements. */
MC_API mc_status plan_problem_transpose(plan_problem *problem, problem_passes *passes, mc_diag *diag);

/* Whether kernels may solve PROBLEM without passes: specs have fields for how the operands lie that passes
   would transpose, of which there is at least one, and no operand wants a pass of another kind. False where
   there is nothing to compute. */
bool plan_problem_may_stay(const plan_problem *problem);

/* How OPERAND lies where it wants a pass: "columns" or "rows". */
const char *pass_from(const operand_row *operand);

/* Appends the pass that makes operand AT of PROBLEM, which lies by columns, as long as kernels read it
   (spread.c). */
mc_status problem_spread(plan_problem *problem, int at, problem_passes *passes, mc_diag *diag);

/* Any type of as many bits: passes leave elements as they are. */
mc_type pass_type(mc_type type);
/* The products of a batch that have an OPERAND of their own. */
int64_t pass_products(const plan_problem *problem, const operand_row *operand);

#endif
