/* Plans: from a configuration to a kernel that is loaded and a matrix that is packed for it. */
#include "plan/plan.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/clock.h"
#include "base/fields.h"
#include "choose/candidates.h"
#include "problem/densify.h"
#include "records/record.h"
#include "tune/tune.h"

#define INFO_FIRST STRUCT_SIZE_TO(mc_plan_info, c_elements)

/* -- One kernel */

static void drop_kernel(mc_plan *plan) {
    if (plan->packing != NULL) matrix_unpack(plan->matrix, plan->packing);
    if (plan->kernel != NULL) kernels_release(plan->context, plan->kernel);
    plan->packing = NULL;
    plan->kernel = NULL;
}

/* The operand of the problem's operator that is the matrix with its zeros; NULL: there is none. */
static const char *matrix_operand(const planning *p) {
    return p->problem == &p->plan->dense.problem ? densified_operand(&p->plan->posed) : NULL;
}

static mc_status ready_kernel(const planning *p, const char *fields, mc_diag *diag) {
    mc_plan *plan = p->plan;
    const char *matrix = matrix_operand(p);
    mc_status status = kernels_obtain(plan->context, fields, &plan->kernel, diag);
    if (status != MC_OK) return status;
    const mc_kernel *kernel = plan->kernel->kernel;
    if (plan->matrix != NULL)
        status = matrix_pack_for(plan->matrix, matrix != NULL ? NULL : kernel, &plan->packing, diag);
    if (status == MC_OK)
        status =
            plan_launch_make(plan->context, p->problem, kernel, plan->packing, matrix, &plan->launch, diag);
    if (status == MC_OK && matrix != NULL) plan_join_dense(plan);
    if (status == MC_OK) status = mc_module_prepare(plan->kernel->module, &plan->launch.launch, diag);
    if (status != MC_OK) drop_kernel(plan);
    return status;
}

/* Records and estimates are of kernels that begin when the one before has ended. The chosen one, where it and
   the GPU can, waits for that by itself: its launch is then over by the time. */
static void let_wait(choice *chosen) {
    size_t size;
    if (fields_value(chosen->fields, "overlap", strlen("overlap"), &size) != NULL) return;
    mc_kernel *waiting = candidate_changed(chosen->fields, "overlap=wait");
    char *fields = waiting != NULL ? strdup(mc_kernel_fields(waiting)) : NULL;
    mc_kernel_destroy(waiting);
    if (fields == NULL) return;
    free(chosen->fields);
    chosen->fields = fields;
}

bool planning_try(planning *p, choice *chosen) {
    mc_diag *diag = mc_diag_create();
    if (p->config->spec_count == 0) let_wait(chosen);
    mc_status status = ready_kernel(p, chosen->fields, diag);
    if (status == MC_OK) {
        p->plan->choice = *chosen;
        mc_diag_destroy(diag);
        return true;
    }
    if (diag != NULL)
        context_log(p->plan->context, MC_LOG_NOTE, "kernel \"%s\" of %s cannot be had: %s", chosen->fields,
                    chosen->spec, mc_diag_text(diag));
    if (p->why == NULL) {
        p->failure = status;
        p->why = diag;
    } else {
        mc_diag_destroy(diag);
    }
    free(p->tried);
    p->tried = chosen->fields;
    chosen->fields = NULL;
    choice_free(chosen);
    return false;
}

/* -- One kernel after another */

static mc_status try_policy(planning *p, mc_tuning tuning, mc_origin *origin, bool *done, mc_diag *diag) {
    choice chosen;
    mc_status status = choose_kernel(p->plan->context, p->problem, p->config, tuning, &chosen, diag);
    if (status != MC_OK) return status;
    *origin = chosen.origin;
    *done = planning_try(p, &chosen);
    return MC_OK;
}

static bool try_candidate(planning *p, const candidate *next) {
    if (p->tried != NULL && strcmp(p->tried, next->fields) == 0) return false;
    choice chosen = {.fields = strdup(next->fields),
                     .spec = strdup(next->spec),
                     .reason = strdup("what was chosen first cannot be had: the default of its spec"),
                     .origin = MC_ORIGIN_DEFAULT,
                     .microseconds = isfinite(next->estimate) ? next->estimate : 0};
    if (chosen.fields != NULL && chosen.spec != NULL && chosen.reason != NULL)
        return planning_try(p, &chosen);
    choice_free(&chosen);
    return false;
}

/* The default of every spec. */
static mc_status try_defaults(planning *p, bool *done, mc_diag *diag) {
    candidate_list list;
    const candidate_target target = candidate_target_of(p->plan->context->device);
    mc_status status =
        candidates_find(p->problem, &target, p->config->specs, p->config->spec_count, &list, diag);
    if (status != MC_OK) return status;
    for (size_t i = 0; i < list.count && !*done; i++)
        if (list.items[i].standard) *done = try_candidate(p, &list.items[i]);
    candidates_free(&list);
    return MC_OK;
}

/* A choice may name what this generator, driver, GPU or matrix does not take: then the next best is taken. */
static mc_status find_kernel(planning *p, mc_diag *diag) {
    bool done = false;
    mc_origin origin = MC_ORIGIN_DEFAULT;
    mc_status status = try_policy(p, p->tuning, &origin, &done, diag);
    bool recorded = origin == MC_ORIGIN_MEASURED || origin == MC_ORIGIN_NEAR;
    if (status == MC_OK && !done && recorded) status = try_policy(p, MC_TUNING_OFF, &origin, &done, diag);
    if (status == MC_OK && !done) status = try_defaults(p, &done, diag);
    if (status != MC_OK || done) return status;
    return mc_fail(diag, p->why != NULL ? p->failure : MC_NOMEM, "%s",
                   p->why != NULL ? mc_diag_text(p->why) : "out of memory");
}

/* -- Tuning first */

static bool is_recorded(const planning *p) {
    const mc_context *context = p->plan->context;
    record found;
    if (!record_find(context->records, mc_device_get_info(context->device)->name, p->problem, false, &found))
        return false;
    record_free(&found);
    return true;
}

/* A plan comes of it even where tuning does not succeed. The matrix's values stay as they are meanwhile. */
static void tune_first(const planning *p) {
    mc_plan *plan = p->plan;
    const bool dense = matrix_operand(p) != NULL;
    const tune_job job = {.context = plan->context,
                          .problem = *p->problem,
                          .matrix = matrix_host(dense ? NULL : plan->matrix),
                          .specs = p->config->specs,
                          .spec_count = p->config->spec_count};
    mc_diag *diag = mc_diag_create();
    matrix_lock(plan->matrix);
    mc_status status = matrix_complete(plan->matrix, diag);
    if (status == MC_OK) status = tune_run(&job, NULL, diag);
    matrix_unlock(plan->matrix);
    if (status != MC_OK && diag != NULL)
        context_log(plan->context, MC_LOG_NOTE, "tuning failed: %s", mc_diag_text(diag));
    mc_diag_destroy(diag);
}

void planning_tune(planning *p) {
    if (p->tuning == MC_TUNING_TUNE && tune_check(p->problem, NULL) == MC_OK && !is_recorded(p))
        tune_first(p);
}

void planning_end(planning *p) {
    mc_diag_destroy(p->why);
    free(p->tried);
}

/* -- The whole */

mc_plan *plan_new(mc_context *context, mc_matrix *matrix) {
    mc_plan *plan = calloc(1, sizeof *plan);
    if (plan != NULL) plan->context = context, plan->matrix = matrix;
    return plan;
}

size_t plan_workspace_bytes(const mc_plan *plan) {
    return plan->kernel == NULL ? 0 : plan->passes.bytes + plan->launch.workspace.bytes;
}

static mc_status count_elements(const plan_problem *problem, const mc_vsparse *matrix, int64_t *count,
                                mc_diag *diag) {
    const mc_operator *o = operator_of(problem->op);
    mc_dense shape;
    mc_status status = operator_out_shape(o, problem, matrix, &shape, diag);
    *count = status == MC_OK && operator_gives(o, problem) ? shape.rows * shape.cols : 0;
    return status;
}

static mc_status plan_on_device(planning *p, mc_diag *diag) {
    context_visit visit;
    mc_status status = context_enter(p->plan->context, &visit, diag);
    if (status != MC_OK) return status;
    planning_tune(p);
    status = plan_take_dense(p, diag);
    if (status == MC_OK && !p->plan->dense.taken) status = find_kernel(p, diag);
    planning_end(p);
    context_leave(p->plan->context, &visit);
    return status;
}

mc_status plan_solve(mc_plan *plan, const mc_plan_config *config, mc_tuning tuning, mc_diag *diag) {
    planning p = {.plan = plan, .config = config, .tuning = tuning, .problem = &plan->problem};
    double begin = clock_seconds();
    mc_status status = count_elements(&plan->problem, matrix_host(plan->matrix), &plan->c_elements, diag);
    if (status != MC_OK || plan->c_elements == 0) return status;
    status = plan_on_device(&p, diag);
    if (status == MC_OK)
        context_log(plan->context, MC_LOG_DETAIL, "planned in %.2f ms: %s: %s (%s: %s)",
                    1e3 * (clock_seconds() - begin), plan->choice.spec, plan->choice.fields,
                    choice_origin_texts[plan->choice.origin], plan->choice.reason);
    return status;
}

/* Where there is no kernel, DIAG also gets the reasons why a caller's specs have none for operands as they
   lie. Returns STATUS. */
static mc_status tell(const mc_plan *plan, const mc_plan_config *config, mc_status status, mc_diag *diag) {
    const candidate_target target = candidate_target_of(plan->context->device);
    if (status == MC_CANNOT)
        candidates_tell_posed(&plan->posed, &target, config->specs, config->spec_count, diag);
    return status;
}

static mc_status plan_fill(mc_plan *plan, const mc_plan_config *config, mc_diag *diag) {
    const mc_tuning usual = plan->context->config.tuning,
                    tuning = config->tuning != MC_TUNING_ENVIRONMENT ? config->tuning : usual;
    mc_status status = plan_problem_of(config, matrix_host(plan->matrix), &plan->problem, diag);
    plan->problem.as_csr = matrix_is_borrowed(plan->matrix);
    plan->posed = plan->problem;
    if (status == MC_OK) status = plan_pose_dense(plan, config, tuning, diag);
    if (status == MC_OK) status = plan_pose(plan, config, tuning, diag);
    if (status == MC_OK) status = plan_solve(plan, config, tuning, diag);
    if (status != MC_OK) return tell(plan, config, status, diag);
    plan_join_passes(plan);
    if (plan->dense.taken) plan->problem = plan->posed;
    return MC_OK;
}

/* Nothing is known of a borrowed matrix that records are kept for, and it is copied for no dense kernel. What
   CONFIG has that makes no sense stays, so that it is refused. */
static void be_quick(mc_plan_config *config) {
    if ((unsigned)config->tuning <= MC_TUNING_TUNE) config->tuning = MC_TUNING_OFF;
    if (config->dense == MC_DENSE_IF_FASTER) config->dense = MC_DENSE_NEVER;
}

mc_status mc_plan_create(mc_context *context, const mc_plan_config *config, mc_plan **plan, mc_diag *diag) {
    mc_plan_config whole;
    if (plan == NULL) return check_handle(plan, "plan", diag);
    *plan = NULL;
    mc_status status = take_struct(&whole, sizeof whole, config, PLAN_CONFIG_FIRST, "mc_plan_config", diag);
    if (status != MC_OK) return status;
    whole.matrix = matrix_now(whole.matrix);
    status = matrix_check(whole.op, whole.matrix, context, diag);
    if (status != MC_OK) return status;
    mc_plan *made = plan_new(context, whole.matrix);
    if (made == NULL) return mc_fail(diag, MC_NOMEM, "out of memory");
    if (matrix_is_borrowed(whole.matrix)) be_quick(&whole);
    status = plan_fill(made, &whole, diag);
    if (status == MC_OK) *plan = made;
    else mc_plan_destroy(made);
    return status;
}

void mc_plan_destroy(mc_plan *plan) {
    context_visit visit;
    if (plan == NULL) return;
    plan_drop_passes(&plan->passes);
    plan_drop_passes(&plan->dense.passes);
    (void)context_enter(plan->context, &visit, NULL);
    drop_kernel(plan);
    context_leave(plan->context, &visit);
    choice_free(&plan->choice);
    free(plan->dense.reason);
    free(plan);
}

mc_status mc_plan_get_info(const mc_plan *plan, mc_plan_info *info, mc_diag *diag) {
    if (plan == NULL) return check_handle(plan, "plan", diag);
    const loaded_kernel *kernel = plan->kernel;
    mc_plan_info all = {.origin = plan->choice.origin,
                        .microseconds = plan->choice.microseconds,
                        .spec = "",
                        .fields = "",
                        .jit_log = "",
                        .reason = "",
                        .transpose_fields = "",
                        .dense = plan->dense.taken,
                        .dense_measured = plan->dense.measured,
                        .dense_reason = plan->dense.reason != NULL ? plan->dense.reason : "",
                        .dense_microseconds = plan->dense.microseconds,
                        .sparse_microseconds = plan->dense.sparse_microseconds,
                        .c_elements = plan->c_elements};
    if (kernel != NULL) {
        all.spec = plan->choice.spec;
        all.fields = mc_kernel_fields(kernel->kernel);
        all.hash = mc_kernel_hash(kernel->kernel);
        all.jit_log = kernel->jit_log;
        all.reason = plan->choice.reason;
        all.distance = plan->choice.distance;
    } else {
        all.origin = MC_ORIGIN_DEFAULT;
    }
    for (int i = 0; i < plan->passes.count; i++) {
        const mc_plan *pass = plan->passes.items[i].plan;
        if (i == 0) all.transpose_fields = mc_kernel_fields(pass->kernel->kernel);
        all.transpose_microseconds += pass->choice.microseconds;
    }
    if (plan->dense.is_there) all.dense_bytes = densified_bytes(&plan->posed);
    return give_struct(info, INFO_FIRST, &all, sizeof all, "mc_plan_info", diag);
}

size_t mc_plan_workspace(const mc_plan *plan) { return plan == NULL ? 0 : plan_workspace_bytes(plan); }
