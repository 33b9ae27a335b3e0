/* Sets of problems that need no files: shapes of A, with the sizes that a run has if none are listed. */
#ifndef BENCH_SHAPES_H
#define BENCH_SHAPES_H

#include "operation.h"

typedef struct shape {
    int64_t m, k;
} shape;

typedef struct shape_set {
    const char *name, *sizes; /* "1,8,16" */
    const shape *shapes;
    size_t count;
} shape_set;

/* The sets, in the order of the words of --shapes, and those words. */
enum { SHAPE_SETS = 2 };
#define SHAPE_SET_WORDS "layers|tiny"
extern const shape_set shape_sets[SHAPE_SETS];

/* As work_list does: the shapes of SET whose names ("4096x11008", m and k) contain FILTER, at most LIMIT. */
mc_status shape_set_list(const shape_set *set, const char *filter, size_t limit, work **items, size_t *count,
                         mc_diag *diag);

/* The pattern of a matrix of ROWS x COLS that no file has, as MASK says what of it counts: uniform places,
   SPARSITY of which are empty, a nonzero for each VEC rows; or none, where only the shape counts. The same
   arguments give the same pattern. */
typedef struct shape_pattern {
    operation_mask mask;
    int64_t rows, cols;
    int vec;
    double sparsity;
    uint64_t seed;
} shape_pattern;
mc_status shape_pattern_make(const shape_pattern *pattern, mc_csr *csr, mc_diag *diag);

#endif
