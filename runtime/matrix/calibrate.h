/* The scale, and the zero point of types without a sign, by which activations are quantised: chosen from
   samples. */
#ifndef MCRT_CALIBRATE_H
#define MCRT_CALIBRATE_H

#include "base/quantiser.h"
#include "matrix/dense.h"

/* How far the type's range reaches, away from zero on both sides. ABSMAX: as far as the samples do.
   PERCENTILE: to the least magnitude that P % of the samples do not exceed (nearest rank).
   LEAST_SQUARES: to where the sum of squared errors of the quantised samples is least, as far as the search
   tells (calibrate.c), and never more than with ABSMAX.
   Signed types have one reach for both sides and no zero point. The others have one for each side; what lies
   on the other side counts as 0 in its percentile. */
typedef enum mc_calibrate_by {
    MC_CALIBRATE_ABSMAX,
    MC_CALIBRATE_PERCENTILE,
    MC_CALIBRATE_LEAST_SQUARES
} mc_calibrate_by;

typedef struct mc_calibrate_config {
    mc_type type; /* s8, u8, s4 or u4 */
    mc_calibrate_by by;
    double percentile; /* above 0, at most 100 */
} mc_calibrate_config;

typedef struct mc_calibration {
    quantiser how;
    double saturated; /* part of the values that the type's range cuts off */
    double error;     /* sum of squared errors over the sum of squares; 0 where that is */
} mc_calibration;

/* X: samples x features. MC_CANNOT for infinities, NaN, no sample at all, and a range that has no scale in
   f32; MC_USAGE for another type or percentile. */
MC_API mc_status mc_calibrate(const mc_dense *x, const mc_calibrate_config *config, mc_calibration *out,
                              mc_diag *diag);

#endif
