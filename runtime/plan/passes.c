/* Passes: kernels that are launched ahead, and write operands that lie otherwise than kernels read them
   into the workspace. */
#include <string.h>
#include "plan/plan.h"

#define PASS_FIRST STRUCT_SIZE_TO(mc_pass_info, bytes)

void plan_drop_passes(plan_passes *passes) {
    for (int i = 0; i < passes->count; i++) mc_plan_destroy(passes->items[i].plan);
    *passes = (plan_passes){0};
}

/* The last one of OPERAND, or NONE. */
static int last_pass(const plan_passes *passes, int operand) {
    int last = passes->count - 1;
    while (last >= 0 && passes->items[last].operand != operand) last--;
    return last >= 0 ? last : PLAN_NONE;
}

static mc_status say_why(const operand_row *operand, const plan_problem *problem, mc_status status,
                         mc_diag *diag) {
    char title[OPERAND_TITLE];
    operand_title(operand, title);
    if (operator_of(problem->op)->spreads)
        return mc_fail(diag, status, "the matrix has spans of %d, and nothing makes %s as long",
                       problem->pattern, title);
    return mc_fail(diag, status, "%s lies by %s, and nothing transposes it", title, pass_from(operand));
}

/* With the usual specs and without tuning, which is the other problem's. */
static mc_status add_pass(mc_context *context, const mc_operator *o, const problem_pass *of, mc_tuning tuning,
                          plan_passes *made, mc_diag *diag) {
    const mc_plan_config usual = {.size = sizeof usual};
    const operand_row *operand = &o->operands[of->operand];
    plan_pass *pass = &made->items[made->count];
    *pass = (plan_pass){.operand = of->operand,
                        .from = last_pass(made, of->operand),
                        .at = made->bytes,
                        .bytes = (size_t)of->bytes};
    pass->plan = plan_new(context, NULL);
    if (pass->plan == NULL) return mc_fail(diag, MC_NOMEM, "out of memory");
    made->count++;
    made->bytes += (pass->bytes + PLAN_WORKSPACE_ALIGN - 1) & -(size_t)PLAN_WORKSPACE_ALIGN;
    pass->plan->problem = of->problem;
    mc_status status =
        plan_solve(pass->plan, &usual, tuning == MC_TUNING_TUNE ? MC_TUNING_REPLAY : tuning, diag);
    return status == MC_OK ? MC_OK : say_why(operand, &of->problem, status, diag);
}

mc_status plan_add_passes(mc_context *context, plan_problem *problem, mc_tuning tuning, plan_passes *passes,
                          mc_diag *diag) {
    problem_passes of;
    mc_status status = plan_problem_transpose(problem, &of, diag);
    for (int i = 0; i < of.count && status == MC_OK; i++)
        status = add_pass(context, operator_of(problem->op), &of.items[i], tuning, passes, diag);
    return status;
}

const plan_pass *plan_pass_of(const plan_passes *passes, size_t operand) {
    const int last = last_pass(passes, (int)operand);
    return last != PLAN_NONE ? &passes->items[last] : NULL;
}

/* Whether KERNEL copies operands that are `early` before the launch ahead has ended. */
static bool is_early(const mc_kernel *kernel) {
    const char *early = mc_kernel_field_text(kernel, "early");
    return early != NULL && strcmp(early, "on") == 0;
}

void plan_join_passes(mc_plan *plan) {
    plan_passes *taken = plan->dense.taken ? &plan->dense.passes : &plan->passes, passes = *taken;
    *taken = (plan_passes){0};
    plan_drop_passes(&plan->passes);
    plan_drop_passes(&plan->dense.passes);
    plan->passes = passes;
    if (plan->kernel == NULL) plan_drop_passes(&plan->passes);
    for (int i = 0; i < plan->passes.count; i++) {
        const plan_pass *pass = &plan->passes.items[i];
        plan_launch *launch = &plan->launch;
        if (pass->from == PLAN_NONE)
            launch->arguments[pass->operand].align = pass->plan->launch.arguments[0].align;
        if (launch->operator->operands[pass->operand].early && is_early(plan->kernel->kernel))
            launch->launch.overlap = false;
    }
}

mc_status mc_plan_get_pass(const mc_plan *plan, size_t index, mc_pass_info *info, mc_diag *diag) {
    if (plan == NULL) return check_handle(plan, "plan", diag);
    if (index >= (size_t)plan->passes.count) return MC_USAGE;
    const plan_pass *pass = &plan->passes.items[index];
    const mc_pass_info all = {.operand = plan->launch.arguments[pass->operand].from->name,
                              .fields = mc_kernel_fields(pass->plan->kernel->kernel),
                              .microseconds = pass->plan->choice.microseconds,
                              .bytes = pass->bytes};
    return give_struct(info, PASS_FIRST, &all, sizeof all, "mc_pass_info", diag);
}
