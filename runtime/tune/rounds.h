/* Interleaved rounds. Every kernel is timed in turn, again and again, so that a clock that rises or a
   neighbour that wakes up is the same for all of them. Nothing here knows a device: the caller says where
   times come from. */
#ifndef MCRT_TUNE_ROUNDS_H
#define MCRT_TUNE_ROUNDS_H

#include <stdbool.h>
#include "mc_status.h"

typedef struct tune_runner {
    bool stays;               /* is timed to the end however slow it is */
    double guess;             /* microseconds of a launch */
    double lap_us;            /* what a lap takes in all */
    bool out;                 /* no longer timed */
    bool failed;              /* and no longer of any use */
    int rounds;               /* rounds that it was timed in */
    double *times;            /* the rounds' times, ascending; the caller frees */
    double median, low, high; /* median and quartiles of the times; the guess where there was no round */
} tune_runner;

/* Who drops out: after FIRST rounds those that take more than twice the least median; from LEAST rounds on
   those that are clearly behind, by 3 % and with their lower quartile above the leader's upper one. The end
   comes after MOST rounds, after LEAST when the budget is spent, or after FIRST when it is spent twice.
   Rounds of the first WARM_US microseconds do not count, since clocks rise. */
typedef struct tune_rules {
    int first, least, most;
    double warm_us, budget_us;
} tune_rules;

extern const tune_rules tune_rules_field; /* for all that are right */
extern const tune_rules tune_rules_final; /* for the best of them */
extern const tune_rules tune_rules_exact; /* for a clock without noise */

typedef struct tune_track {
    /* One lap: microseconds of a launch. A status other than MC_OK ends everything;
       *FAILED only this runner's part. */
    mc_status (*lap)(void *user, size_t runner, double *microseconds, bool *failed, mc_diag *diag);
    /* After ROUND of at most ROUNDS; false: stop. NULL: go on. */
    bool (*tick)(void *user, int round, int rounds);
    void *user;
} tune_track;

/* RUNNERS have stays, guess and lap_us set, the rest zeroed. */
mc_status tune_rounds(const tune_track *track, const tune_rules *rules, tune_runner *runners, size_t count,
                      mc_diag *diag);
void tune_runners_free(tune_runner *runners, size_t count);

/* Which runner to take: the one of the least median, or, if it is slower by at most 1 %, which is noise, the
   fastest of those that stay. COUNT where all are out. */
size_t tune_choose(const tune_runner *runners, size_t count);

#endif
