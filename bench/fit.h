/* The costs of a family's model (mc_costs_of), fitted to measured times; and how well the model picks. */
#ifndef BENCH_FIT_H
#define BENCH_FIT_H

#include "mcgen.h"

typedef struct fit_kernel {
    mc_kernel *kernel; /* an outline, as behind a kernel that does not begin early */
    char *text;        /* its spec, and the fields that this leaves to tuning */
    double us;
} fit_kernel;

typedef struct fit_problem {
    mc_problem shape;
    const mc_gpu *gpu; /* that it was measured on */
    char *title;
    int64_t size;  /* of the dense side: n, or an SDDMM's k */
    bool held_out; /* the fit does not see it */
    fit_kernel *kernels;
    size_t count;
    double best; /* microseconds of the fastest one */
} fit_problem;

enum { FIT_MAX_COSTS = 64 };

typedef struct fit_data {
    fit_problem *problems;
    size_t count;
    double costs[FIT_MAX_COSTS]; /* in the family's order, on whatever GPU */
    bool fixed[FIT_MAX_COSTS];   /* the search leaves it as it is */
    size_t cost_count;
} fit_data;

/* Which problems a score is of. */
typedef struct fit_part {
    bool fitted, held_out;
    int64_t size; /* 0: any */
    bool warm, cold;
} fit_part;

typedef struct fit_score {
    size_t problems;
    /* Root of the mean square of log(estimate / time). A kernel counts by (best / its time)^4, all of a
       problem together by 1. */
    double error;
    double loss;  /* geometric mean of time of the pick / best time */
    double worst; /* the greatest of these */
} fit_score;

/* The kernel of the least estimate. */
const fit_kernel *fit_pick(const fit_data *data, const fit_problem *problem, double *estimate);
fit_score fit_score_of(const fit_data *data, const fit_part *part);
/* Changes DATA's costs until the problems that are not held out have little error (Levenberg and
   Marquardt's way, over the costs' logarithms), then by random steps that help error and loss together. The
   same numbers every time. MC_NOMEM. */
mc_status fit_search(fit_data *data, mc_diag *diag);

#endif
