/* C of an SDDMM as a sparse matrix, for the operator that comes next. */
#ifndef MCRUN_SAMPLED_H
#define MCRUN_SAMPLED_H

#include "mcrt_internal.h"

/* Places in the list of words of --format; 0: not given. */
enum { SAMPLED_NPY = 1, SAMPLED_BCRS, SAMPLED_SRBCRS };

/* MC_CANNOT where what KERNEL makes is nothing for FORMAT. */
mc_status sampled_check_format(const mc_kernel *kernel, int format, mc_diag *diag);

/* Writes C, which has MASK's vectors in ORDER, into DIRECTORY in a published format, with elements of the
   narrowest of s8, u8, s16 and u16 that holds all of them. Of SR-BCRS: strides of ORDER, or of 16, and digits
   of 8 bits without a shuffle. MC_CANNOT for greater elements. */
mc_status sampled_write(int format, const mc_vsparse *mask, mc_order order, const mc_dense *c,
                        const char *directory, bool force, mc_diag *diag);

#endif
