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

/* -- The same of what lies in device memory ----------------------------------------------------------- */

mc_status matrix_check_shape(mc_type type, int vec, int64_t rows, int64_t cols, mc_diag *diag);
mc_status matrix_check_patterns(int64_t patterns, int64_t row_blocks, int64_t cols, mc_diag *diag);
mc_status matrix_check_offsets(const int32_t *row_ptr, int64_t row_blocks, mc_diag *diag);

/* What is said of the first wrong column, value, or element of a dense matrix, and of too many vectors. */
mc_status matrix_refuse_column(int64_t vector, int64_t block, int64_t column, int64_t cols, mc_diag *diag);
mc_status matrix_refuse_value(mc_type type, int64_t index, int64_t value, mc_diag *diag);
mc_status matrix_refuse_element(mc_type type, int64_t row, int64_t column, int64_t value, mc_diag *diag);
mc_status matrix_refuse_count(int64_t vectors, mc_diag *diag);

#endif
