/* The solvers of the SpMM: those that stagings.def names. */
#ifndef MC_SPMM_SOLVERS_H
#define MC_SPMM_SOLVERS_H

#include "schema/family.h"

#define STAGING(name, word, solver, kind, doc) extern const mc_solver solver;
#include "ops/spmm/stagings.def"
#undef STAGING
extern const mc_hint spmm_hints[]; /* hints.c */

#endif
