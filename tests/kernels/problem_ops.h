/* What problem.c asks of each operator. */
#ifndef TESTS_PROBLEM_OPS_H
#define TESTS_PROBLEM_OPS_H

#include "problem.h"

typedef struct problem_ops {
    /* Operands of P's kind and case, filled, and their sums; what they made is freed by problem_free. */
    mc_status (*make)(problem *p, const mc_csr *mask, mc_diag *diag);
    mc_status (*run)(const problem *p, mc_device *device, const mc_kernel *kernel, const char *ptx,
                     mc_diag *diag);
    /* The values of the shape fields. */
    void (*shapes)(const problem_case *spec, const problem_kind *kind, int values[PROBLEM_SHAPES]);
    const char *shape_names[PROBLEM_SHAPES];
} problem_ops;

extern const problem_ops problem_spmm, problem_sddmm;

/* Sums of an SpMM's operands, which were changed, and the C that they become. */
mc_status problem_spmm_sum(problem *p, mc_diag *diag);
mc_status problem_spmm_want(const problem *p, const mc_output *output, const mc_factors *factors,
                            reference_result *want, mc_diag *diag);
/* The next launch must leave WANT in the parameter c, in rows LD apart. */
void problem_expect(mc_device *device, const mc_kernel *kernel, int64_t ld, const reference_result *want);

#endif
