/* How what applications hand over becomes a matrix that holds to all rules of mc_vsparse. */
#ifndef MCRT_MATRIX_MAKE_H
#define MCRT_MATRIX_MAKE_H

#include "matrix/vsparse.h"

/* MC_USAGE for shapes that no matrix has, MC_FORMAT, with the place, for its contents. MATRIX is the caller's
   to free. */
mc_status matrix_make(const mc_matrix_config *config, mc_vsparse *matrix, mc_diag *diag);
/* Makes a matrix of the vectors that are not all zero. With 4 bits, an odd number of columns wants its ld. */
mc_status matrix_make_dense(const mc_dense_config *config, mc_vsparse *matrix, mc_diag *diag);

/* MC_FORMAT where one of COUNT elements is no number of TYPE. */
mc_status matrix_check_values(mc_type type, const void *values, int64_t count, mc_diag *diag);

#endif
