/* The solvers of the SpMM: the only file that knows them all but for the choice in spmm.c. */
#ifndef MC_SPMM_SOLVERS_H
#define MC_SPMM_SOLVERS_H

#include "schema/family.h"

extern const mc_solver spmm_gather, spmm_ring, spmm_csr, spmm_hrpb;
extern const mc_hint spmm_hints[]; /* hints.c */

#endif
