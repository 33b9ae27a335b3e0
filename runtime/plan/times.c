/* How long kernels and the passes ahead of them take, by records or by estimates. */
#include <math.h>
#include "choose/candidates.h"
#include "plan/plan.h"

/* The microseconds that a kernel should take; INFINITY: there is no model. */
static double estimate(const mc_context *context, const plan_problem *problem, const char *fields) {
    const candidate_target target = candidate_target_of(context->device);
    const mc_problem shape = plan_problem_estimate(problem);
    mc_kernel *kernel = NULL;
    if (mc_kernel_outline_fields(fields, &kernel, NULL) != MC_OK) return INFINITY;
    double us = mc_kernel_estimate_alone(kernel, &target.gpu, &shape);
    mc_kernel_destroy(kernel);
    return us;
}

static side_time time_of(const mc_context *context, const plan_problem *problem, const choice *chosen) {
    const bool measured = chosen->origin == MC_ORIGIN_MEASURED && !chosen->cold;
    return (side_time){estimate(context, problem, chosen->fields), measured ? chosen->microseconds : 0};
}

side_time plan_time_of(const mc_context *context, const plan_problem *problem, const choice *chosen,
                       const plan_passes *passes) {
    side_time all = time_of(context, problem, chosen);
    for (int i = 0; i < passes->count; i++) {
        const mc_plan *pass = passes->items[i].plan;
        const side_time ahead = time_of(context, &pass->problem, &pass->choice);
        const double either = ahead.measured > 0 ? ahead.measured : ahead.estimate;
        all.estimate += ahead.estimate;
        all.measured = all.measured > 0 && isfinite(either) ? all.measured + either : 0;
    }
    return all;
}

bool plan_times_compare(side_time one, side_time other, bool *measured) {
    *measured = one.measured > 0 && other.measured > 0;
    return *measured || (isfinite(one.estimate) && isfinite(other.estimate));
}
