/* Matrices for sparse tensor cores ("2:4"): of each group of neighbouring elements of a row two of four are
   kept, and metadata say which (docs/sparse24.md; PTX ISA, "Sparse matrix storage"). */
#ifndef MCRT_SPARSE24_H
#define MCRT_SPARSE24_H

#include "matrix/dense.h"

/* What a group of a type is. A group has `group` units, of which `kept` are kept. A unit is `unit`
   neighbouring elements, which are kept or dropped together.

     f16, bf16, s8, u8, e4m3, e5m2   two of four elements ("2:4")
     tf32, f32                       one of two elements ("1:2")
     s4, u4                          two of four pairs of elements ("4:8", pairwise) */
typedef struct mc_sparse24_rule {
    int unit, group, kept;
} mc_sparse24_rule;

enum { MC_SPARSE24_MOST_KEPT = 2 };

/* MC_CANNOT for a type that sparse tensor cores do not have. */
MC_API mc_status mc_sparse24_rule_of(mc_type type, mc_sparse24_rule *rule, mc_diag *diag);
/* Groups of a row of COLS elements; the last one may be filled up with zeros. */
MC_API int64_t mc_sparse24_groups(const mc_sparse24_rule *rule, int64_t cols);

/* A compressed matrix of rows x cols elements.

     values  rows x (groups of a row * kept * unit): the kept elements, in their order, with their bits
     meta    u8, rows x ceil(groups / 2): a code of 4 bits for each group, that of the lower group in the low
             half of its byte; a code behind the last group is 4. This is the layout natural8.

   A code is index 0 | index 1 << 2, where the indices of the two kept units ascend: one of 4, 8, 9, C, D, E.
   Of 1:2 it is 4 where the first element is kept and E where the second is. */
typedef struct mc_sparse24 {
    int64_t rows, cols;
    mc_dense values, meta;
    int64_t lost; /* groups in which a nonzero was dropped */
} mc_sparse24;

/* What becomes of a group with more nonzeros than it may keep: it is MC_FORMAT, where the message has the
   number of such groups, and the row and the group of the first; or those of least magnitude are dropped. */
typedef enum mc_sparse24_mode { MC_SPARSE24_STRICT, MC_SPARSE24_PRUNE } mc_sparse24_mode;

/* Keeps the units of the greatest magnitudes, and of equal ones the earlier. So a group with room to spare
   keeps the earliest zeros beside its nonzeros. -0 is a zero. A NaN is greater than infinity, and all NaNs
   are equal. The magnitude of a pair is the sum of those of its elements. MC_CANNOT for a type without a
   rule, and for more than INT32_MAX rows or columns. The call creates OUT. */
MC_API mc_status mc_sparse24_compress(const mc_dense *a, mc_sparse24_mode mode, mc_sparse24 *out,
                                      mc_diag *diag);
/* The way back: what was not kept is 0. MC_FORMAT with row and group for a code that is none of the six,
   or, of 1:2, none of the two; for a nonzero beyond the last column; and for arrays whose types or sizes do
   not fit rows and cols. */
MC_API mc_status mc_sparse24_decompress(const mc_sparse24 *s, mc_dense *out, mc_diag *diag);
/* Makes 4 of the codes that are none of the six where the values of their groups are all zero: CUTLASS's
   compressor for sm_90 writes 0 there. *MENDED is their number. MC_FORMAT for sizes that do not fit. */
MC_API mc_status mc_sparse24_mend(mc_sparse24 *s, int64_t *mended, mc_diag *diag);
MC_API void mc_sparse24_free(mc_sparse24 *s);

#endif
