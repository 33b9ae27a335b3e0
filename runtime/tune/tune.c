/* Tuning a problem, from the first to the last step. */
#include <stdlib.h>
#include "base/clock.h"
#include "context/matrix.h"
#include "tune/contest.h"
#include "tune/wire.h"

#define CONFIG_FIRST STRUCT_SIZE_TO(mc_tune_config, progress_user)
#define RESULT_FIRST STRUCT_SIZE_TO(mc_tune_result, recorded)

static tune_entrant *entrants_of(const contest *c) {
    tune_entrant *entrants = calloc(c->count + 1, sizeof *entrants);
    for (size_t i = 0; entrants != NULL && i < c->count; i++)
        entrants[i] = (tune_entrant){c->items[i].fields, c->items[i].standard};
    return entrants;
}

/* The program that kernels run in; NULL: this one. A test's maker of kernels is here, and nowhere else. A
   set-user-ID program takes none from who started it, and a worker none at all. */
static const char *find_worker(const tune_job *job) {
    if (secure_getenv(WIRE_WORKER_SIGN) != NULL) return NULL;
    const char *named = job->config->worker;
    if (named == NULL) named = secure_getenv("MCGEN_TUNER");
    return job->make == NULL && named != NULL && *named != '\0' ? named : NULL;
}

static mc_status measure(contest *c, bool *complete, mc_diag *diag) {
    const tune_job *job = c->job;
    tune_entrant *entrants = entrants_of(c);
    if (entrants == NULL) return mc_fail(diag, MC_NOMEM, "out of memory");
    const tune_race race = {.problem = &job->problem,
                            .matrix = job->matrix,
                            .entrants = entrants,
                            .count = c->count,
                            .cold = c->cold,
                            .seconds = job->config->seconds,
                            .make = job->make};
    const char *worker = find_worker(job);
    if (worker == NULL)
        context_log(job->context, MC_LOG_DETAIL,
                    "tuning in this process: a kernel that faults would be its end");
    mc_status status = worker != NULL
                           ? tune_measure_by(worker, job->context, &race, contest_listen, c, complete, diag)
                           : tune_measure(job->context, &race, contest_listen, c, complete, diag);
    free(entrants);
    return status;
}

/* Whatever ended the measurement, what it found out is kept. */
static mc_status run(contest *c, mc_tune_result *result, mc_diag *diag) {
    bool complete = true, simulated = mc_device_get_info(c->job->context->device)->kind == MC_DEVICE_SIM;
    mc_status status = MC_OK;
    c->begin = c->stage_begin = clock_seconds();
    if (!contest_is_empty(c)) status = measure(c, &complete, diag);
    mc_status kept = contest_is_empty(c) ? MC_OK : contest_record(c, diag);
    contest_result(c, complete, result);
    context_log(c->job->context, MC_LOG_DETAIL,
                "tuning: %zu kernels measured, %zu wrong, %zu failed, %zu known, in %.2f s: %.2f %s",
                result->measured, result->wrong, result->failed, result->known, clock_seconds() - c->begin,
                simulated ? 1000 * result->microseconds : result->microseconds,
                simulated ? "instructions" : "us");
    if (status == MC_OK && complete && contest_best(c) == c->count && c->old.fields == NULL)
        status = mc_fail(diag, MC_CANNOT, "none of %zu kernels could be measured: %s", c->count,
                         mc_diag_text(c->reason));
    return status == MC_OK ? kept : status;
}

/* What kernels compute beside C is one product's. */
mc_status tune_check(const plan_problem *problem, mc_diag *diag) {
    const mc_operator *o = operator_of(problem->op);
    for (size_t i = 0; i < o->operand_count && problem->batch > 1; i++)
        if (operand_is_computed(problem, &o->operands[i]))
            return mc_fail(diag, MC_CANNOT,
                           "batches with a computed %s are not tuned: plans take the usual kernel",
                           o->operands[i].name);
    return MC_OK;
}

mc_status tune_run(const tune_job *job, mc_tune_result *result, mc_diag *diag) {
    static const mc_tune_config usual = {.size = sizeof usual};
    contest c;
    tune_job whole = *job;
    mc_tune_result mine = {.size = sizeof mine};
    if (job->config == NULL) whole.config = &usual;
    /* The problem may have been posed before the matrix's columns came from the device. */
    if (operator_of(job->problem.op)->matrix.wanted && job->matrix != NULL)
        whole.problem.features = matrix_features_of(job->matrix);
    if (!operator_gives(operator_of(job->problem.op), &job->problem))
        return mc_fail(diag, MC_CANNOT, "C has no elements: there is nothing to measure");
    mc_status status = tune_check(&job->problem, diag);
    if (status != MC_OK) return status;
    pthread_mutex_lock(&job->context->tuning);
    status = contest_open(&c, &whole, diag);
    if (status == MC_OK) status = run(&c, &mine, diag);
    contest_close(&c);
    pthread_mutex_unlock(&job->context->tuning);
    if (result != NULL) *result = mine;
    return status;
}

/* -- For applications */

static mc_status take_job(mc_context *context, const mc_plan_config *problem, tune_job *job, mc_diag *diag) {
    mc_status status = matrix_check(problem->op, problem->matrix, context, diag);
    if (status != MC_OK) return status;
    *job = (tune_job){.context = context,
                      .matrix = matrix_host(problem->matrix),
                      .specs = problem->specs,
                      .spec_count = problem->spec_count};
    const candidate_target target = candidate_target_of(context->device);
    status = plan_problem_of(problem, job->matrix, &job->problem, diag);
    return status == MC_OK ? candidates_pose(&job->problem, &target, job->specs, job->spec_count, diag)
                           : status;
}

/* The matrix's values stay as they are meanwhile. */
static mc_status enter_and_run(const tune_job *job, mc_matrix *matrix, mc_tune_result *result,
                               mc_diag *diag) {
    context_visit visit;
    mc_status status = context_enter(job->context, &visit, diag);
    if (status != MC_OK) return status;
    matrix_lock(matrix);
    status = matrix_complete(matrix, diag);
    if (status == MC_OK) status = tune_run(job, result, diag);
    matrix_unlock(matrix);
    context_leave(job->context, &visit);
    return status;
}

mc_status mc_tune(mc_context *context, const mc_plan_config *problem, const mc_tune_config *config,
                  mc_tune_result *result, mc_diag *diag) {
    mc_plan_config plan;
    mc_tune_config tune = {.size = sizeof tune};
    mc_tune_result mine = {.size = sizeof mine};
    tune_job job;
    mc_status status = take_struct(&plan, sizeof plan, problem, PLAN_CONFIG_FIRST, "mc_plan_config", diag);
    if (status == MC_OK && config != NULL)
        status = take_struct(&tune, sizeof tune, config, CONFIG_FIRST, "mc_tune_config", diag);
    if (status == MC_OK && !(tune.seconds >= 0))
        status = mc_fail(diag, MC_USAGE, "seconds is %g, must be 0 or more", tune.seconds);
    if (status == MC_OK && result != NULL)
        status = check_struct_size(result->size, RESULT_FIRST, sizeof mine, "mc_tune_result", diag);
    if (status == MC_OK) plan.matrix = matrix_now(plan.matrix);
    if (status == MC_OK) status = take_job(context, &plan, &job, diag);
    if (status != MC_OK) return status;
    job.config = &tune;
    status = enter_and_run(&job, plan.matrix, &mine, diag);
    if (result == NULL) return status;
    mc_status given = give_struct(result, RESULT_FIRST, &mine, sizeof mine, "mc_tune_result", diag);
    return status == MC_OK ? given : status;
}
