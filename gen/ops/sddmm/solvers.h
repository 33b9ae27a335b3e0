/* The solvers of the SDDMM: sddmm.c chooses one of them. */
#ifndef MC_SDDMM_SOLVERS_H
#define MC_SDDMM_SOLVERS_H

#include "schema/family.h"

extern const mc_solver sddmm_gather, sddmm_window, sddmm_dense;

#endif
