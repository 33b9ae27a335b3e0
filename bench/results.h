/* Recorded results: JSON lines as `mcbench run` writes them, read back and put in order by problem. */
#ifndef BENCH_RESULTS_H
#define BENCH_RESULTS_H

#include <jansson.h>
#include "mcrt_internal.h"

enum { RESULTS_MAX_LABELS = 64 };

/* The contender that speeds are relative to, where no other is named. */
#define RESULTS_BASE "cublaslt f16"

/* Where a matrix of ours is packed that is prepared once: on the device, where its format can be, and it lies
   there as a matrix; there, and made of CSR's arrays on the device before that; on the host. */
typedef enum results_packed { PACKED_DEVICE, PACKED_ARRAYS, PACKED_HOST } results_packed;
#define RESULTS_PACKED_WORDS "device|arrays|host"

/* How results are read. */
typedef struct results_rule {
    const char *over; /* the base: a contender, or words that several begin with; NULL: RESULTS_BASE */
    int64_t products; /* not 0: a time has its share, one of so many, of what was prepared before the first */
    results_packed packed;
} results_rule;

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
    size_t base;                          /* the label that is the base here; 0: the base is one contender */
} result_problem;

typedef struct results {
    json_t **lines;
    size_t line_count;
    /* In the order of their first line, the base first. A series holds the variants of one spec; its lines
       also count for their contender, which is the series' parent. */
    results_rule rule;
    const char *labels[RESULTS_MAX_LABELS];
    size_t parents[RESULTS_MAX_LABELS]; /* 0: no series */
    size_t label_count;
    result_problem *problems;
    size_t problem_count;
} results;

/* Reads the files at PATHS (NULL-terminated). MC_FORMAT with "file:line: ..." for what is no result. Where no
   contender has just the name that RULE has for the base, it is on each problem the fastest of those that
   begin with its words; those of a uniform matrix, which is another one, begin so if the words say uniform.
   MC_CANNOT where there is none, or RULE counts preparation and no result tells any. The caller frees also
   after a failure. */
mc_status results_read(results *results, const results_rule *rule, char *const *paths, mc_diag *diag);
void results_free(results *results);

/* Whether LABEL is a series that is not all of its parent. */
bool label_is_part(const results *results, size_t label);
/* How many times as fast as the base; 0 where either is missing. */
double result_speed(const result_problem *problem, size_t label);
bool label_is_ours(const char *label);
/* Of the problem's own matrix. */
bool label_is_cusparse(const char *label);

#endif
