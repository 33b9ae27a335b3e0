/* A small sparse matrix whose products are known: what the tests of faults and threads plan and execute, on
   the simulator. */
#ifndef TESTS_LAYER_H
#define TESTS_LAYER_H

#include "mcrt.h"

enum { LAYER_ROWS = 64, LAYER_COLS = 96, LAYER_MOST_N = 96 };

/* On the simulator, with a cache and a file of records of the test's own. */
mc_context_config layer_context(const char *cache_directory, const char *records);

/* Every third vector of 8 s8; values follow from SEED. */
mc_status layer_matrix(mc_context *context, unsigned seed, mc_matrix **matrix, mc_diag *diag);
/* The same out of device memory. */
mc_status layer_device_matrix(mc_context *context, unsigned seed, mc_matrix **matrix, mc_diag *diag);
mc_status layer_set_values(mc_matrix *matrix, unsigned seed, mc_diag *diag);

/* MATRIX times B of N columns of s8, in s32; shapes are fixed, so that each N has a kernel of its own. */
mc_plan_config layer_problem(mc_matrix *matrix, int n);
/* A plan of it. */
mc_status layer_plan(mc_context *context, mc_matrix *matrix, int n, mc_plan **plan, mc_diag *diag);

/* Executes PLAN on a poisoned C; *WRONG elements are not what values of SEED give. */
mc_status layer_execute(mc_context *context, const mc_plan *plan, unsigned seed, int n, int *wrong,
                        mc_diag *diag);

/* All of it: matrix, plan, one execution, new values, another execution. */
mc_status layer_run(mc_context *context, unsigned seed, int n, int *wrong, mc_diag *diag);

#endif
