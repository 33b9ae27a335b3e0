/* The format dense: a matrix with its zeros, as kernels of dense operators read it. */
#ifndef MCRT_FORMATS_DENSE_H
#define MCRT_FORMATS_DENSE_H

#include "formats/format.h"

/* Kernels that read it have it as an operand, and their contracts name no format: functions that take a
   kernel for the sake of its format (pack.h) take NULL for this one.
     values  [rows][ld]  elements of A's type, ld = type_leading(type, cols), and behind them as many as make
                         a whole number of groups of SLOTS_PLAIN */
extern const packed_format format_dense;

/* Elements of the array; -1: they leave s32. */
int64_t dense_elements(mc_type type, int64_t rows, int64_t cols);

#endif
