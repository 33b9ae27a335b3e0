/* Problems (ops/members.h) are made of configurations, and become what specs and estimates want to know. */
#ifndef MCRT_PLAN_PROBLEM_H
#define MCRT_PLAN_PROBLEM_H

#include "ops/operator.h"

/* MC_USAGE or MC_CANNOT, naming the member, where CONFIG makes no sense; PROBLEM is then zeroed. CONFIG is
   whole (of this version's size), MATRIX is its matrix's host side, a valid one (NULL for an operator without):
   CONFIG->matrix is not looked at. */
MC_API mc_status plan_problem_of(const mc_plan_config *config, const mc_vsparse *matrix,
                                 plan_problem *problem, mc_diag *diag);

MC_API matrix_features matrix_features_of(const mc_vsparse *matrix);

/* The members that KERNEL's fields say; a shape that is open is 0. MC_CANNOT for a family that is no operator. */
MC_API mc_status plan_problem_read(const mc_kernel *kernel, plan_problem *problem, mc_diag *diag);
/* The whole problem: what KERNEL's fields say, and the sizes and leading dimensions of OPERANDS, whose own problem is not
   looked at. LD: the output's leading dimension, if it has one; 0: rows without gaps. MC_CANNOT where OPERANDS do not fit
   each other, or KERNEL: sizes, types, factors that are missing. */
MC_API mc_status plan_problem_measure(const mc_kernel *kernel, const host_operands *operands, int64_t ld,
                                      plan_problem *problem, mc_diag *diag);
/* MC_CANNOT where KERNEL computes anything else than PROBLEM asks for: types, output, layout, order, V. */
MC_API mc_status plan_problem_check(const plan_problem *problem, const mc_kernel *kernel, mc_diag *diag);

/* What estimates (mc_spec_estimate) want to know. */
MC_API mc_problem plan_problem_estimate(const plan_problem *problem);

/* The settings that make a spec of the problem's family one for this problem: types, vec, output, layout,
   shapes if they are fixed ("open" if not, or 0, which no kernel is made for), ... Texts live in SETTINGS. */
enum { PROBLEM_MAX_SETTINGS = MEMBERS + 1 }; /* and the arch that callers add */
typedef struct problem_settings {
    mc_setting items[PROBLEM_MAX_SETTINGS];
    size_t count;
    char texts[PROBLEM_MAX_SETTINGS][24];
} problem_settings;
MC_API void plan_problem_settings(const plan_problem *problem, problem_settings *settings);

MC_API const char *plan_op_text(mc_op op); /* "spmm": also the family's name */

#endif
