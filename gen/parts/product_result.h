/* How a lane makes C of sums that lie as an mma's do: rows g and g + 8 of 16, columns 2 t and 2 t + 1 of 8
   (fragment.h). The output's arithmetic happens in registers (output.h), two neighbouring columns at a time.
   From there elements go to C, or, direct being false, stay in the sums' own registers. */
#ifndef MC_PRODUCT_RESULT_H
#define MC_PRODUCT_RESULT_H

#include "parts/product.h"

/* Columns that a lane has side by side, rows that it has, and columns of an octet. */
enum { RESULT_RUN = 2, RESULT_ROWS = 2, RESULT_OCTET = 8 };

typedef struct gemm_row {
    mc_reg inside, c_at, residual_at; /* whether it is one of C's; where its elements are */
} gemm_row;

/* The caller sets the first part. */
typedef struct gemm_result {
    mc_builder *b;
    const gemm_problem *problem;
    int store; /* columns that are stored at a time: 1 or 2 */
    bool direct;
    mc_reg m, n;
    mc_reg line; /* the lane's first row, of C or of what gemm_place_rows is told */
    mc_reg row;  /* scratch; none: it matters nowhere which rows there are */
    mc_reg col;  /* the lane's first column of C */

    out_writer writer;
    out_factors factors;
    mc_reg at_col; /* scratch */
    gemm_row rows[RESULT_ROWS];
} gemm_result;

/* An octet's sums of f16, two in each word, in f32. */
void gemm_widen_sums(mc_builder *b, const mc_reg words[RESULT_ROWS], const mc_reg *sums);

void gemm_begin_result(gemm_result *r);
/* Goes to the lane's rows FIRST (none: 0) + line + OFFSET, and 8 below: where they are in C and the residual,
   and their factors. */
void gemm_place_rows(gemm_result *r, mc_reg first, int offset);
/* Makes C of an octet's SUMS, two of the upper row and two of the lower one, OFFSET columns on. */
void gemm_make_octet(gemm_result *r, const mc_reg *sums, int offset);

#endif
