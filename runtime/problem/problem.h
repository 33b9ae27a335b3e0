/* A problem, whole and canonical: what records are kept for, what candidates are made for, what the choice of
   a kernel is cached under. Made of a mc_plan_config, whose matrix it summarises. */
#ifndef MCRT_PLAN_PROBLEM_H
#define MCRT_PLAN_PROBLEM_H

#include "matrix/vsparse.h"

enum { ROW_QUANTILES = 5 };

/* How the vectors lie in the row blocks: lengths are a row block's vectors. */
typedef struct matrix_features {
    int64_t vectors;
    int64_t quantiles[ROW_QUANTILES]; /* of the lengths: least, quarter, median, three quarters, longest */
    double spread;                    /* standard deviation of the lengths */
} matrix_features;

typedef struct plan_problem {
    mc_op op;
    mc_type lhs, rhs, out; /* a, b, c of the config; SpMM: lhs is the matrix's */
    int vec;
    mc_per scale, bias;
    mc_activation activation;
    bool exact, mask_values;
    mc_layout layout;
    mc_order order;
    unsigned align;
    mc_shapes shapes;
    int64_t m, n, k;
    /* 0: the operator has no such one; others are set, never 0, and even where two elements share a byte. */
    int64_t lda, ldb, ldc;
    matrix_features features;
} plan_problem;

/* MC_USAGE or MC_CANNOT, naming the member, where CONFIG makes no sense; PROBLEM is then zeroed. CONFIG is
   whole (of this version's size), MATRIX is its matrix's host side, a valid one: CONFIG->matrix is not looked
   at. */
MC_API mc_status plan_problem_of(const mc_plan_config *config, const mc_vsparse *matrix,
                                 plan_problem *problem, mc_diag *diag);

MC_API matrix_features matrix_features_of(const mc_vsparse *matrix);

/* What estimates (mc_spec_estimate) want to know. */
MC_API mc_problem plan_problem_estimate(const plan_problem *problem);

/* The settings that make a spec of the problem's family one for this problem: types, vec, output, layout,
   shapes if they are fixed ("open" if not, or 0, which no kernel is made for), ... Texts live in SETTINGS. */
enum { PROBLEM_MAX_SETTINGS = 20 };
typedef struct problem_settings {
    mc_setting items[PROBLEM_MAX_SETTINGS];
    size_t count;
    char texts[PROBLEM_MAX_SETTINGS][24];
} problem_settings;
MC_API void plan_problem_settings(const plan_problem *problem, problem_settings *settings);

MC_API const char *plan_op_text(mc_op op); /* "spmm": also the family's name */

#endif
