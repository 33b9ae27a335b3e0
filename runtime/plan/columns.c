/* Operands that lie by columns. Some kernels read them as they lie; the others read rows, which a pass writes
   first. A plan takes what is faster. */
#include "plan/plan.h"

/* A way to solve the plan's problem. */
typedef struct way {
    plan_problem problem;
    plan_passes passes;
    choice chosen;
    bool found; /* there is a kernel, which is CHOSEN */
} way;

/* Chooses the kernel of W's problem, if there is one. With the policy TUNE the problem is measured first. */
static mc_status choose(mc_plan *plan, const mc_plan_config *config, mc_tuning tuning, way *w,
                        mc_diag *diag) {
    planning p = {.plan = plan, .config = config, .tuning = tuning, .problem = &w->problem};
    context_visit visit;
    mc_status status = context_enter(plan->context, &visit, diag);
    if (status != MC_OK) return status;
    w->found = choose_kernel(plan->context, &w->problem, config, tuning, &w->chosen, NULL) == MC_OK;
    if (w->found && tuning == MC_TUNING_TUNE) {
        planning_tune(&p);
        choice_free(&w->chosen);
        w->found = choose_kernel(plan->context, &w->problem, config, tuning, &w->chosen, NULL) == MC_OK;
    }
    planning_end(&p);
    context_leave(plan->context, &visit);
    return MC_OK;
}

/* Operands stay as they lie where there is nothing to compare. */
static bool is_faster(const mc_context *context, const way *turned, const way *direct) {
    const side_time by_pass = plan_time_of(context, &turned->problem, &turned->chosen, &turned->passes),
                    at_once = plan_time_of(context, &direct->problem, &direct->chosen, &direct->passes);
    bool measured;
    if (!plan_times_compare(by_pass, at_once, &measured)) return false;
    return measured ? by_pass.measured < at_once.measured : by_pass.estimate < at_once.estimate;
}

/* PLAN gets passes, and a problem of rows, where these are faster than DIRECT. Else it stays as it is. */
static mc_status take_faster(mc_plan *plan, const mc_plan_config *config, mc_tuning tuning, const way *direct,
                             mc_diag *diag) {
    way turned = {.problem = plan->problem};
    mc_status status = MC_OK;
    if (plan_add_passes(plan->context, &turned.problem, tuning, &turned.passes, NULL) == MC_OK)
        status = choose(plan, config, tuning, &turned, diag);
    if (status == MC_OK && turned.found && is_faster(plan->context, &turned, direct))
        plan->problem = turned.problem, plan->passes = turned.passes;
    else plan_drop_passes(&turned.passes);
    choice_free(&turned.chosen);
    return status;
}

mc_status plan_pose(mc_plan *plan, const mc_plan_config *config, mc_tuning tuning, mc_diag *diag) {
    way direct = {.problem = plan->problem};
    mc_status status = MC_OK;
    if (plan_problem_may_stay(&plan->problem)) status = choose(plan, config, tuning, &direct, diag);
    if (status == MC_OK && direct.found) status = take_faster(plan, config, tuning, &direct, diag);
    else if (status == MC_OK)
        status = plan_add_passes(plan->context, &plan->problem, tuning, &plan->passes, diag);
    choice_free(&direct.chosen);
    return status;
}
