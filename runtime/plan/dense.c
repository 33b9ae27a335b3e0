/* Never slower than dense: a plan compares its best sparse kernel with the best dense one of the matrix with
   its zeros, and takes the faster. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "plan/plan.h"
#include "problem/densify.h"

/* -- What the plan says of it */

enum { MOST_REASON = 256 };

static mc_status say(mc_plan *plan, mc_diag *diag, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static mc_status say(mc_plan *plan, mc_diag *diag, const char *format, ...) {
    char text[MOST_REASON];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    free(plan->dense.reason);
    plan->dense.reason = strdup(text);
    return plan->dense.reason != NULL ? MC_OK : mc_fail(diag, MC_NOMEM, "out of memory");
}

/* The reason is WHAT and the last line of WHY. */
static mc_status say_why(mc_plan *plan, const char *what, const mc_diag *why, mc_diag *diag) {
    const char *text = mc_diag_text(why), *line = strrchr(text, '\n');
    return say(plan, diag, "%s: %s", what, line != NULL ? line + 1 : text);
}

/* The reason is WHAT and what choose_kernel says first behind its title. */
static mc_status say_first(mc_plan *plan, const char *what, const mc_diag *why, mc_diag *diag) {
    static const char setting[] = "--set: ";
    const char *text = mc_diag_text(why), *line = strchr(text, '\n');
    line = line != NULL ? line + 1 : text;
    if (strncmp(line, setting, strlen(setting)) == 0) line += strlen(setting);
    return say(plan, diag, "%s: %.*s", what, (int)strcspn(line, "\n"), line);
}

mc_status plan_pose_dense(mc_plan *plan, const mc_plan_config *config, mc_tuning tuning, mc_diag *diag) {
    if (config->dense == MC_DENSE_NEVER) return MC_OK;
    mc_diag *why = mc_diag_create();
    mc_status status = plan_problem_densify(&plan->problem, &plan->dense.problem, why);
    if (status == MC_OK)
        status = plan_add_passes(plan->context, &plan->dense.problem, tuning, &plan->dense.passes, why);
    plan->dense.is_there = status == MC_OK;
    status = status == MC_OK ? MC_OK : say_why(plan, "there is no dense product of this", why, diag);
    mc_diag_destroy(why);
    return status;
}

/* -- Both sides */

/* Whether there is anything to compare. */
static bool compare(plan_dense *dense, side_time of_dense, side_time of_sparse) {
    if (!plan_times_compare(of_dense, of_sparse, &dense->measured)) return false;
    dense->microseconds = dense->measured ? of_dense.measured : of_dense.estimate;
    dense->sparse_microseconds = dense->measured ? of_sparse.measured : of_sparse.estimate;
    return true;
}

/* -- Taking it */

void plan_join_dense(mc_plan *plan) {
    plan_launch *launch = &plan->launch;
    for (size_t i = 0; i < launch->operator->operand_count; i++)
        launch->arguments[i].from = densified_from(&plan->posed, launch->operator->operands[i].name);
}

static mc_status take(planning *p, choice *chosen, mc_diag *diag) {
    mc_plan *plan = p->plan;
    plan->dense.taken = planning_try(p, chosen);
    if (plan->dense.taken)
        return say(plan, diag, "%s %s, by %s", operator_of(p->problem->op)->title,
                   plan->dense.measured ? "is faster" : "should be faster",
                   plan->dense.measured ? "records" : "estimates");
    return say_why(plan, "a dense kernel should be faster, and cannot be had", p->why, diag);
}

/* CHOSEN is taken, or freed. */
static mc_status decide(planning *p, choice *chosen, const choice *sparse, mc_diag *diag) {
    mc_plan *plan = p->plan;
    plan_dense *dense = &plan->dense;
    const side_time of_dense = plan_time_of(plan->context, p->problem, chosen, &dense->passes),
                    of_sparse = plan_time_of(plan->context, &plan->problem, sparse, &plan->passes);
    if (!compare(dense, of_dense, of_sparse)) {
        choice_free(chosen);
        return say(plan, diag, "there are no estimates to compare");
    }
    if (dense->microseconds < dense->sparse_microseconds) return take(p, chosen, diag);
    choice_free(chosen);
    return say(plan, diag, "%s %s slower, by %s", operator_of(dense->problem.op)->title,
               dense->measured ? "is" : "should be", dense->measured ? "records" : "estimates");
}

/* What choose_kernel says, or why there is nothing, after WHAT. */
static mc_status choose(const planning *p, choice *chosen, const char *what, bool *found, mc_diag *diag) {
    mc_diag *why = mc_diag_create();
    mc_status status = choose_kernel(p->plan->context, p->problem, p->config, p->tuning, chosen, why);
    *found = status == MC_OK;
    if (!*found) status = say_first(p->plan, what, why, diag);
    mc_diag_destroy(why);
    return status;
}

static mc_status choose_dense(planning *p, const choice *sparse, mc_diag *diag) {
    choice chosen;
    bool found;
    planning_tune(p);
    mc_status status = choose(p, &chosen, "there is no dense kernel for this", &found, diag);
    return found ? decide(p, &chosen, sparse, diag) : status;
}

static void log_dense(const mc_plan *plan) {
    const plan_dense *d = &plan->dense;
    context_log(plan->context, MC_LOG_DETAIL, "%s: %s; dense %.2f, sparse %.2f us",
                d->taken ? "a dense kernel is taken" : "no dense kernel is taken", d->reason, d->microseconds,
                d->sparse_microseconds);
}

mc_status plan_take_dense(const planning *sparse, mc_diag *diag) {
    mc_plan *plan = sparse->plan;
    planning p = *sparse;
    choice chosen;
    bool found;
    if (!plan->dense.is_there) return MC_OK;
    mc_status status = choose(sparse, &chosen, "no sparse kernel was found to compare with", &found, diag);
    if (!found) return status; /* the plan fails, or takes a default */
    p.problem = &plan->dense.problem;
    status = choose_dense(&p, &chosen, diag);
    choice_free(&chosen);
    planning_end(&p);
    if (status == MC_OK) log_dense(plan);
    return status;
}
