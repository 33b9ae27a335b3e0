/* The costs of the estimate (mc_spec_estimate), fitted to measured times; and how well it picks. */
#ifndef BENCH_FIT_H
#define BENCH_FIT_H

#include "variants.h"

typedef struct fit_problem {
    mc_problem shape;
    double class;  /* of sparsity */
    bool held_out; /* the fit does not see it */
    double *us;    /* one a variant, 0: not measured */
    double best;   /* the least of them */
} fit_problem;

typedef struct fit_data {
    const variant_list *variants;
    fit_problem *problems;
    size_t count;
} fit_data;

/* Which problems a score is of. */
typedef struct fit_part {
    bool fitted, held_out;
    double class; /* 0: any */
} fit_part;

typedef struct fit_score {
    size_t problems;
    double
        error; /* root of the mean square of log(estimate / time); a variant counts by (best / its time)^4 */
    double loss;  /* geometric mean of time of the pick / best time */
    double worst; /* least best time / time of the pick */
} fit_score;

/* The variant with the least estimate among those measured. */
size_t fit_pick(const fit_data *data, const mc_gpu *gpu, const fit_problem *problem);
fit_score fit_score_of(const fit_data *data, const mc_gpu *gpu, const fit_part *part);
/* Changes GPU's costs by random steps, smaller and smaller ones, and keeps those that help the problems that
   are not held out: first their error, then error and loss together. The same numbers every time. */
void fit_search(const fit_data *data, mc_gpu *gpu);
/* Half of all names, always the same. */
bool fit_holds_out(const char *matrix);

#endif
