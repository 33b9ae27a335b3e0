/* Recorded results: JSON lines as `mcbench run` writes them, read back and put in order by problem. */
#ifndef BENCH_RESULTS_H
#define BENCH_RESULTS_H

#include <jansson.h>
#include "mcrt_internal.h"

enum { RESULTS_MAX_LABELS = 64 };

/* The contender that speeds are relative to, where no other is named. */
#define RESULTS_BASE "cublaslt f16"

/* A contender's best on one problem; us 0: none. Members point into the lines read. */
typedef struct result_best {
    double us, floor_us, fraction;
    double picked_us;                     /* of the variant that the estimate picked; 0: it was not asked */
    const char *variant, *detail, *limit; /* NULL where there is none */
} result_best;

/* A matrix and a size in one run. */
typedef struct result_problem {
    size_t file;             /* runs are not mixed */
    const char *op, *matrix; /* op: the operator's name */
    int64_t m, n, k;
    int vec;
    double class;
    int64_t size;                         /* n, or k of sddmm: what problems of one matrix differ in */
    char size_name;                       /* 'N' or 'K' */
    result_best best[RESULTS_MAX_LABELS]; /* one a label */
} result_problem;

typedef struct results {
    json_t **lines;
    size_t line_count;
    /* In the order of their first line, the base first. A series holds the variants of one spec; its lines
       also count for their contender, which is the series' parent. */
    const char *labels[RESULTS_MAX_LABELS];
    size_t parents[RESULTS_MAX_LABELS]; /* 0: no series */
    size_t label_count;
    result_problem *problems;
    size_t problem_count;
} results;

/* Reads the files at PATHS (NULL-terminated). MC_FORMAT with "file:line: ..." for what is no result. OVER:
   the base, NULL for the usual one; MC_CANNOT where the one named has no result. The caller frees also after
   a failure. */
mc_status results_read(results *results, const char *over, char *const *paths, mc_diag *diag);
void results_free(results *results);

/* Whether LABEL is a series that is not all of its parent. */
bool label_is_part(const results *results, size_t label);
/* How many times as fast as the base; 0 where either is missing. */
double result_speed(const result_problem *problem, size_t label);
bool label_is_ours(const char *label);
/* Of the problem's own matrix. */
bool label_is_cusparse(const char *label);

#endif
