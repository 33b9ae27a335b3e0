/* What `mcrun spmm` prints. */
#ifndef MCRUN_SPMM_REPORT_H
#define MCRUN_SPMM_REPORT_H

#include <jansson.h>
#include "cmd_problem.h"

/* What the run of one variant came to. */
typedef struct spmm_result {
    size_t variant;
    uint64_t hash;
    const char *spec;    /* its path */
    double estimate;     /* us; 0: nobody asked */
    char *text;          /* fields of the variant, in text only those left to tuning; owned */
    mc_status status;    /* MC_OK: exact */
    char *message;       /* what went wrong, NULL: nothing; owned */
    double microseconds; /* 0: not timed */
} spmm_result;

typedef struct spmm_shape {
    int64_t m, n, k, ldb, ldc, vectors;
    int64_t row_bytes; /* of a row of B, without its gap */
    int vec;
    double sparsity, fill;
} spmm_shape;

/* 1 - vectors / (row blocks x columns); 0 where A has no element. */
double spmm_sparsity(const mc_vsparse *a);

void spmm_print_table(const spmm_shape *shape, const spmm_result *result, const char *device);
/* Head and lines of --variants all. */
void spmm_print_shape(const spmm_shape *shape, const char *device);
void spmm_print_line(const spmm_shape *shape, const spmm_result *result, const char *mark);

/* NULL: out of memory. Gathered bytes are those of B's rows, one a nonzero vector, without padding; an
   operation is a multiplication or an addition of a stored value. */
json_t *spmm_json(const spmm_shape *shape, const spmm_result *result, const char *device);

#endif
