/* Patterns that keep 2N - 2 of 2N elements, as 6:8, on sparse tensor cores that keep two of four: a span of
   2N elements becomes N - 1 groups of four, which overlap by two (docs/sparse24.md). A product then has

     A'  A's spans, spread over these groups, each element in one of them
     B'  B's rows, those that lie in two groups twice

   and A' B' = A B. Of types whose elements are kept in units (mc_sparse24_rule), spans have 2N units. */
#ifndef MCRT_SLIDE24_H
#define MCRT_SLIDE24_H

#include "matrix/sparse24.h"
#include "matrix/vsparse.h"

enum { MC_SLIDE24_LEAST = 4, MC_SLIDE24_MOST = 64 }; /* units of a span, an even number */
enum { MC_SLIDE24_GROUP = 4 };

/* Elements of A' and B' that COUNT become, of spans of so many. */
static inline int64_t mc_slide24_length(int span, int64_t count) {
    return (count + span - 1) / span * (span / 2 - 1) * MC_SLIDE24_GROUP;
}
/* Elements of a unit of TYPE: two that share a byte, else one. */
static inline int mc_slide24_unit(mc_type type) { return mc_type_bytes(type) == 0 ? 2 : 1; }

/* Columns of A' where A of TYPE has COLS; the last span may be filled up with zeros. MC_USAGE for a span
   that is odd or out of range, MC_CANNOT for a type without a rule, or of which one of two elements is
   kept. */
MC_API mc_status mc_slide24_cols(mc_type type, int span, int64_t cols, int64_t *expanded, mc_diag *diag);
/* Which row of B is row i of B': s32, 1 x the columns of A'. -1: beyond B's last, a row of zeros. */
MC_API mc_status mc_slide24_rows(mc_type type, int span, int64_t cols, mc_dense *rows, mc_diag *diag);
/* A'. A span with more than SPAN - 2 nonzero units is refused or pruned as a group of mc_sparse24_compress
   is. *LOST is the number of those spans. mc_sparse24_compress then loses nothing of A'. */
MC_API mc_status mc_slide24_expand(const mc_dense *a, int span, mc_sparse24_mode mode, mc_dense *out,
                                   int64_t *lost, mc_diag *diag);
/* From A' the A of COLS columns. MC_FORMAT where A' is not as wide as that, where two groups both have an
   element, and for nonzeros beyond the last column. */
MC_API mc_status mc_slide24_collapse(const mc_dense *expanded, int span, int64_t cols, mc_dense *out,
                                     mc_diag *diag);

/* A, of vectors of one element, becomes A', which keeps A's columns as its source: the vectors stay in their
   order. A span of 0, and one of MC_SLIDE24_LEAST, whose A' is A, leave it as it is. MC_USAGE and MC_CANNOT
   as mc_slide24_cols; MC_CANNOT for longer vectors; MC_FORMAT, with their number and the place of the first,
   where spans have vectors in more than SPAN - 2 units. A is then as before. */
MC_API mc_status mc_slide24_take(mc_vsparse *a, int span, mc_diag *diag);
/* The matrix that A' was made of, or A itself, which has the arrays still. */
MC_API mc_vsparse mc_slide24_source(const mc_vsparse *a);

/* B', of the rows that mc_slide24_rows gives. MC_FORMAT where these are not of B. */
MC_API mc_status mc_slide24_gather(const mc_dense *b, const mc_dense *rows, mc_dense *out, mc_diag *diag);

#endif
