/* Tuning by kernels that are made here: counted, and some of them with a fault that is planted in the PTX between
   the generator and the device. */
#ifndef TESTS_TUNE_WORKSHOP_H
#define TESTS_TUNE_WORKSHOP_H

#include "tune_common.h"

static inline bool find_record(mc_context *context, const mc_plan_config *config, bool cold, record *found) {
    plan_problem problem;
    if (plan_problem_of(config, &config->matrix->host, &problem, NULL) != MC_OK) return false;
    return record_find(context->records, mc_device_get_info(context->device)->name, &problem, cold, found);
}

/* -- What kernels are made by: counted, and some of them with a fault */

typedef struct fault {
    const char *name;
    const char *line;      /* the first line of the PTX with this in it ... */
    const char *from, *to; /* ... has TO instead of FROM; FROM NULL: TO is a line behind it */
    tune_state state;
    const char *message;
} fault;

/* The maker has no argument of its own: what it does stands here. */
static struct {
    pthread_mutex_t lock;
    int made;
    const fault *fault;
    const char *victim; /* fields; NULL: all */
    bool all_fail;
} workshop = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* TEXT with the fault in it; the caller frees. */
static inline char *plant(const fault *f, const char *text) {
    const char *line = strstr(text, f->line);
    char *made = malloc(strlen(text) + strlen(f->to) + 2);
    CHECK(line != NULL, "%s: no line with %s", f->name, f->line);
    if (line == NULL || made == NULL) return made;
    const char *at = f->from != NULL ? strstr(line, f->from) : strchr(line, '\n') + 1;
    size_t skipped = f->from != NULL ? strlen(f->from) : 0;
    sprintf(made, "%.*s%s%s%s", (int)(at - text), text, f->to, f->from != NULL ? "" : "\n", at + skipped);
    return made;
}

static inline mc_status make(mc_context *context, const char *fields, mc_kernel **kernel, mc_image *image,
                             bool *from_cache, char **log, mc_diag *diag) {
    pthread_mutex_lock(&workshop.lock);
    workshop.made++;
    pthread_mutex_unlock(&workshop.lock);
    if (workshop.all_fail) return mc_fail(diag, MC_CANNOT, "the workshop is closed");
    mc_status status = kernels_make(context, fields, kernel, image, from_cache, log, diag);
    bool victim = workshop.victim == NULL || strcmp(workshop.victim, fields) == 0;
    if (status != MC_OK || workshop.fault == NULL || !victim) return status;
    char *planted = plant(workshop.fault, image->data);
    free(image->data);
    *image = (mc_image){planted, strlen(planted) + 1};
    return MC_OK;
}

static inline mc_status tune_made(mc_context *context, const mc_plan_config *config,
                                  const mc_tune_config *tune, mc_tune_result *result, mc_diag *diag) {
    tune_job job = {.context = context,
                    .matrix = config->matrix != NULL ? &config->matrix->host : NULL,
                    .config = tune,
                    .specs = config->specs,
                    .spec_count = config->spec_count,
                    .make = make};
    mc_status status = plan_problem_of(config, job.matrix, &job.problem, diag);
    workshop.made = 0;
    return status == MC_OK ? tune_run(&job, result, diag) : status;
}

static inline record_status recorded_as(const record *r, const char *fields) {
    for (size_t i = 0; i < r->candidate_count; i++)
        if (strcmp(r->candidates[i].fields, fields) == 0) return r->candidates[i].status;
    return (record_status)-1;
}

#endif
