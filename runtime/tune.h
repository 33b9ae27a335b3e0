/* Tuning: candidates of a problem, compiled on all cores, verified, timed. */
#ifndef MCRT_TUNE_H
#define MCRT_TUNE_H

#include "candidates.h"
#include "context.h"
#include "record.h"

/* A problem to tune with everything that it takes. */
typedef struct tune_job {
    mc_context *context;
    plan_problem problem;
    const mc_vsparse *matrix; /* with values; random ones where they are all zero */
    const mc_tune_config *config;
    const char *const *specs;
    size_t spec_count;
} tune_job;

/* Measures, and adds to the context's records. */
mc_status tune_run(const tune_job *job, mc_tune_result *result, mc_diag *diag);

#endif
