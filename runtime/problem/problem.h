/* How problems (ops/members.h) are made of configurations and kernels, and what specs and estimates want to
   know of them. */
#ifndef MCRT_PLAN_PROBLEM_H
#define MCRT_PLAN_PROBLEM_H

#include "ops/operator.h"

/* Makes PROBLEM of CONFIG, which is whole (of this version's size), and MATRIX, the host side of its matrix,
   a valid one (NULL for an operator without). CONFIG->matrix is not looked at. MC_USAGE or MC_CANNOT, naming
   the member, where CONFIG makes no sense; PROBLEM is then zeroed. */
MC_API mc_status plan_problem_of(const mc_plan_config *config, const mc_vsparse *matrix,
                                 plan_problem *problem, mc_diag *diag);

MC_API matrix_features matrix_features_of(const mc_vsparse *matrix);

/* Sets the members that KERNEL's fields say; a shape that is open is 0. MC_CANNOT for a family that is no
   operator. */
MC_API mc_status plan_problem_read(const mc_kernel *kernel, plan_problem *problem, mc_diag *diag);
/* Makes the whole problem of what KERNEL's fields say and of the sizes and leading dimensions of OPERANDS,
   whose own problem is not looked at. LD is the leading dimension of the output, if it has one; 0: rows
   without gaps. MC_CANNOT where OPERANDS do not fit each other or KERNEL: sizes, types, factors that are
   missing. */
MC_API mc_status plan_problem_measure(const mc_kernel *kernel, const host_operands *operands, int64_t ld,
                                      plan_problem *problem, mc_diag *diag);
/* MC_CANNOT where KERNEL computes anything else than PROBLEM asks for: types, output, layout, order, V. */
MC_API mc_status plan_problem_check(const plan_problem *problem, const mc_kernel *kernel, mc_diag *diag);

/* What estimates (mc_spec_estimate) want to know of PROBLEM. */
MC_API mc_problem plan_problem_estimate(const plan_problem *problem);

/* The settings that make a spec of the problem's family one for this problem: types, vec, output, layout and
   so on, and the shapes: fixed ones, else "open" (which a shape of 0 is, too, since no kernel is made for
   it). Texts live in SETTINGS. */
enum { PROBLEM_MAX_SETTINGS = MEMBERS + 3 }; /* two for `as_csr`, one for the arch, which callers add */
typedef struct problem_settings {
    mc_setting items[PROBLEM_MAX_SETTINGS];
    size_t count;
    char texts[PROBLEM_MAX_SETTINGS][24];
} problem_settings;
MC_API void plan_problem_settings(const plan_problem *problem, problem_settings *settings);

MC_API const char *plan_op_text(mc_op op); /* "spmm", which is also the family's name. */

#endif
