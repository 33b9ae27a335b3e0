/* A tuning in progress: which kernels take part, what is known of them, and what came of it. */
#ifndef MCRT_TUNE_CONTEST_H
#define MCRT_TUNE_CONTEST_H

#include "choose/candidates.h"
#include "tune/tune.h"

typedef struct contestant {
    const char *spec, *fields, *tuned; /* the list's, or the old record's */
    uint64_t hash;
    bool standard;
    bool known; /* measured before, and now only beside the new ones */
    tune_state state;
    double microseconds;
} contestant;

typedef struct contest {
    const tune_job *job; /* its config is not NULL */
    bool cold;
    candidate_list list;
    record old; /* of this problem, by this generator and driver; storage NULL: there is none */
    contestant *items;
    size_t count, known;       /* KNOWN: candidates that OLD has; not measured, or only again */
    const candidate *standard; /* the default kernel: that of the first spec that has one; NULL: none */
    mc_diag *reason;           /* why the first one of those that are wrong or failed is */
    /* For what the listener hears */
    double begin, stage_begin, told;
    tune_stage stage;
    bool stopped;
} contest;

/* Fills LIST, OLD and ITEMS (pick.c). MC_CANNOT where no kernel can do the problem. */
mc_status contest_open(contest *c, const tune_job *job, mc_diag *diag);
void contest_close(contest *c);
/* What OLD says of the kernel HASH. NULL: nothing. */
const record_candidate *contest_find_known(const contest *c, uint64_t hash);
/* Whether there is nothing to measure: all is known. */
bool contest_is_empty(const contest *c);

/* The listener of a contest (progress.c). */
bool contest_listen(void *user, const tune_event *event);

/* The fastest so far, the CHOSEN one if there is one; COUNT: none (record.c). */
size_t contest_best(const contest *c);
/* Records what came of it: the new record, merged with the old one. */
mc_status contest_record(contest *c, mc_diag *diag);
void contest_result(const contest *c, bool complete, mc_tune_result *result);

#endif
