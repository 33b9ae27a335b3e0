/* The steps from a sum to an element of C, for the reference (output.c) and for ranges (range.c). */
#ifndef MCRT_OUTPUT_H
#define MCRT_OUTPUT_H

#include "ops/reference.h"

/* The factors for C[i][j]; what there is none of is NULL. */
mc_factors output_factors_at(const mc_output *output, const mc_factors *all, int64_t i, int64_t j);
/* An element of the reference's sums, of TYPE, becomes what the activation is of: scaled, with bias and
   RESIDUAL. What F has not is left out, and NULL too. */
float output_scaled(const mc_output *output, mc_type type, int64_t sum, mc_factors f, const float *residual);
/* What an integer C's own scale is multiplied by. */
static inline float output_c_factor(mc_factors f) { return 1 / *f.c_scale; }
/* REAL as an element of TYPE. Integers are the nearest ones, 0 for a NaN, cut off at the type's ends. A ZERO
   point, itself such an integer, is added before that. */
int64_t output_element(mc_type type, float real, const float *zero);
/* The value of the mask that an element is multiplied by. */
float output_mask_value(const mc_vsparse *mask, int64_t vector, int row);

/* MC_USAGE where sums of the arithmetic OF do not become a C as OUTPUT says; the same with the shapes of
   sampled SUMS. */
mc_status output_check(const arithmetic *of, const mc_output *output, mc_diag *diag);
mc_status output_check_sampled(const mc_output *output, const mc_vsparse *mask, const mc_dense *sums,
                               mc_diag *diag);
/* Checks, and creates the C that SUMS become. */
mc_status output_create(const mc_output *output, const mc_factors *factors, const mc_dense *sums, mc_dense *c,
                        mc_diag *diag);

#endif
