/* Tuning: the kernels that could do a problem, compiled on all cores, verified, timed; what came of it is
 * recorded (docs/tuning.md).
 *
 *   tune.c          from the first to the last step: mc_tune
 *   pick.c     which kernels take part; what the record knows already (contest.h)
 *   progress.c what the caller hears meanwhile
 *   record.c   the new record, and the caller's result
 *   measure.c  a list of kernels, measured in this process: compiled, verified, timed
 *                   (measurement.h)
 *   worker.c   the same in another process, which a faulty kernel may end (wire.h) */
#ifndef MCRT_TUNE_H
#define MCRT_TUNE_H

#include "context/context.h"
#include "records/record.h"

/* -- Measuring a list of kernels ------------------------------------------------------------------------ */

/* What makes a kernel: kernels_make, or a test's. Called from several threads at once. */
typedef mc_status tune_maker(mc_context *context, const char *fields, mc_kernel **kernel, mc_image *image,
                             bool *from_cache, char **log, mc_diag *diag);

typedef struct tune_entrant {
    const char *fields; /* whole */
    bool standard;      /* a spec's default: timed to the end, and taken where others are hardly faster */
} tune_entrant;

/* Which kernels, on what. Everything belongs to the caller. */
typedef struct tune_race {
    const plan_problem *problem;
    const mc_vsparse *matrix; /* with values; where they are all zero, random ones are taken */
    const tune_entrant *entrants;
    size_t count;
    bool cold;
    double seconds;   /* at most; 0: no limit */
    tune_maker *make; /* NULL: kernels_make */
} tune_race;

/* COMPILE: on all cores. VERIFY: one kernel after another, each against the exact reference, with a first
   guess of its time. TIME: in rounds of all that are left. */
typedef enum tune_stage { TUNE_COMPILE, TUNE_VERIFY, TUNE_TIME } tune_stage;

/* How far an entrant is. */
typedef enum tune_state {
    TUNE_WAITS,   /* nothing is known of it yet */
    TUNE_RUNS,    /* it runs for the first time: if the process ends now, it is this one that ended it */
    TUNE_RIGHT,   /* verified; microseconds is a first guess */
    TUNE_TIMED,   /* microseconds is the median so far */
    TUNE_DROPPED, /* too slow to be timed well: microseconds is the median until then */
    TUNE_WRONG,   /* another result than the reference's, or it wrote what is not its own */
    TUNE_FAILED,  /* it could not be generated, compiled, loaded, packed for or launched */
    TUNE_CHOSEN   /* TIMED, and what should be taken: once, and last, unless no entrant is right */
} tune_state;

/* One entrant's new state, or only how far the stage is. */
typedef struct tune_event {
    tune_stage stage;
    size_t done, total; /* of the stage; 0 of 0: not known yet */
    size_t index;       /* of the entrant; race->count: none */
    tune_state state;
    double microseconds; /* RIGHT, TIMED, DROPPED, CHOSEN */
    const char *message; /* why, of WRONG and FAILED; else "" */
} tune_event;

/* Called on the thread that measures, at least ten times a second while kernels are compiled, and at each new
   state. False: stop; events with what is known by then still come (their answers do not matter). */
typedef bool tune_listener(void *user, const tune_event *event);

/* Measures RACE in this process, between context_enter and context_leave. Entrants of which there is no event
   but WAITS, RUNS and RIGHT were not reached. *COMPLETE: neither was the listener against it nor the time
   over. What is wrong with an entrant is its state and not an error; MC_DEVICE where the device is of no use
   any more (the entrant that did it is FAILED), MC_NOMEM. */
mc_status tune_measure(mc_context *context, const tune_race *race, tune_listener *listener, void *user,
                       bool *complete, mc_diag *diag);

/* The same in a process of PROGRAM (mcrun), started again for the rest where an entrant ends it. race->make
   is ignored. */
mc_status tune_measure_by(const char *program, mc_context *context, const tune_race *race,
                          tune_listener *listener, void *user, bool *complete, mc_diag *diag);

/* -- A whole tuning ------------------------------------------------------------------------------------- */

/* A problem to tune with everything that it takes. */
typedef struct tune_job {
    mc_context *context;
    plan_problem problem;
    const mc_vsparse *matrix;     /* as in tune_race; must not change meanwhile */
    const mc_tune_config *config; /* NULL: the usual */
    const char *const *specs;     /* as in mc_plan_config */
    size_t spec_count;
    tune_maker *make; /* as in tune_race; with one, there is no worker */
} tune_job;

/* MC_CANNOT for problems that are not tuned. */
mc_status tune_check(const plan_problem *problem, mc_diag *diag);
/* Measures, and adds to the context's records. RESULT may be NULL. Tunings of one context take turns. */
mc_status tune_run(const tune_job *job, mc_tune_result *result, mc_diag *diag);

#endif
