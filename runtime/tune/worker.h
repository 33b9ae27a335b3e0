/* tune_measure_by with its patience as a parameter, for tests. */
#ifndef MCRT_TUNE_WORKER_H
#define MCRT_TUNE_WORKER_H

#include "tune/tune.h"

/* Seconds that a worker may say nothing: before it is ready, while an entrant runs for the first time,
   otherwise (while a large reference is computed), and after it was asked to stop. */
typedef struct tune_patience {
    double start, run, silence, stop;
} tune_patience;

mc_status tune_worker_measure(const char *program, const tune_patience *patience, mc_context *context,
                              const tune_race *race, tune_listener *listener, void *user, bool *complete,
                              mc_diag *diag);

#endif
