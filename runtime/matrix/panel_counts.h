/* How the rows of a matrix without vectors share columns, counted as estimates want to know it. */
#ifndef MCRT_PANEL_COUNTS_H
#define MCRT_PANEL_COUNTS_H

#include "matrix/vsparse.h"

/* Nonzeros that are looked at. Of a matrix with more a part of the rows is, spread over all of it; from these
   and from the lengths of the others' rows the numbers of the whole are estimated. */
enum { PANEL_COUNTS_MOST = 1 << 18 };

/* Of A, whose vectors are single nonzeros; columns ascend in each row. All 0 for another A, for one without
   nonzeros or whose columns are not on the host, and where memory is short. It takes one to five nanoseconds
   for each nonzero that is looked at. */
MC_API void panel_counts_of(const mc_vsparse *a, mc_row_panels *counts);
/* What mc_problem has as `span`, of the same matrices; of others 0. Rows are taken 32 at a time, and two such
   groups together: the first and the last column of each row are all that is looked at. */
MC_API int64_t column_span_of(const mc_vsparse *a);

#endif
