/* Which kernel a problem gets. */
#ifndef MCRT_CHOOSE_H
#define MCRT_CHOOSE_H

#include "context/context.h"
#include "problem/problem.h"

typedef struct choice {
    char *fields, *spec, *reason; /* owned; reason: as mc_plan_info says it */
    mc_origin origin;
    double microseconds; /* measured or estimated; 0: not known */
    double distance;     /* NEAR: from the recorded problem */
    bool cold;           /* MEASURED: with cold operands, for want of another record */
} choice;

enum { CHOICE_ORIGINS = MC_ORIGIN_DEFAULT + 1 };
extern const char *const choice_origin_texts[CHOICE_ORIGINS]; /* "measured", ... */

/* Chooses a kernel by the policy TUNING (not ENVIRONMENT; TUNE is the caller's matter and means REPLAY here).
   What was worked out without a record is kept in the context's cache, so that it is worked out once;
   so is, where DIAG is NULL, that there is no kernel.
   choice_free frees what CHOSEN holds; on failure it is zeroed. MC_CANNOT, MC_IO and MC_USAGE as
   candidates_find. */
mc_status choose_kernel(mc_context *context, const plan_problem *problem, const mc_plan_config *config,
                        mc_tuning tuning, choice *chosen, mc_diag *diag);
void choice_free(choice *chosen);

#endif
