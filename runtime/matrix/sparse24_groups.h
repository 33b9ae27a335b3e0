/* The groups of a vector-sparse matrix for sparse tensor cores (sparse24.h): what each one keeps. */
#ifndef MCRT_SPARSE24_GROUPS_H
#define MCRT_SPARSE24_GROUPS_H

#include "matrix/sparse24.h"
#include "matrix/vsparse.h"

enum { SPARSE24_MOST_ELEMENTS = 4 }; /* that a group keeps: two pairs */

/* A group of a row. It keeps the units that have vectors and, where there are fewer than may be kept, the
   earliest units beside them, which are zeros. */
typedef struct row_group {
    int64_t row, group;
    int64_t column[SPARSE24_MOST_ELEMENTS]; /* ascending; those of zeros may lie beyond the last column */
    int64_t vector[SPARSE24_MOST_ELEMENTS]; /* -1: a zero */
    int code;                               /* its metadata */
} row_group;

/* Elements that a group keeps. */
static inline int sparse24_elements(const mc_sparse24_rule *rule) { return rule->kept * rule->unit; }

/* Calls VISIT for each group of A, row by row, in the order of columns. MC_CANNOT, before
   any visit, for vectors of several rows, for a type without a rule, and where a group has vectors in more
   units than it may keep. */
mc_status sparse24_walk(const mc_vsparse *a, void (*visit)(void *user, const row_group *group), void *user,
                        mc_diag *diag);

/* A with all that its groups keep, zeros too, but for those beyond the last column. The call creates
   FILLED. */
mc_status sparse24_fill(const mc_vsparse *a, mc_vsparse *filled, mc_diag *diag);

#endif
