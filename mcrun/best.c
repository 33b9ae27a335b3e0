/* --variants best: the variant of some specs that should be fastest (docs/choice.md). */
#include <math.h>
#include <string.h>
#include "session.h"

/* Refuses a choice between times of different products. BEFORE is A of the spec before; its vec is 0 where
   there was none. */
static mc_status check_same(const session *s, const mc_kernel *kernel, const mc_vsparse *before,
                            mc_diag *diag) {
    plan_problem own;
    mc_status status = plan_problem_read(kernel, &own, diag);
    bool first = before->vec == 0, types = own.lhs == s->shape.lhs && own.rhs == s->shape.rhs;
    if (status == MC_OK && own.sums != s->shape.sums)
        return mc_fail(diag, MC_USAGE, "%s: other sums than the first spec's: not the same product",
                       s->problem.spec_path);
    if (status == MC_OK && own.block_scales != s->shape.block_scales)
        return mc_fail(diag, MC_USAGE,
                       "%s: scales of blocks as the first spec has not, or has: not the same product",
                       s->problem.spec_path);
    if (status != MC_OK || (types && (first || s->problem.a.rows == before->rows))) return status;
    return mc_fail(diag, MC_USAGE, "%s: another %s than the first spec's: not the same product",
                   s->problem.spec_path, types ? "vec, and so m," : "lhs or rhs");
}

/* What estimates want to know. */
static mc_problem shape_of(const session *s) {
    plan_problem whole = s->shape;
    if (s->problem.a.vec > 0) whole.m = s->problem.a.rows;
    whole.features = matrix_features_of(&s->problem.a);
    return plan_problem_estimate(&whole);
}

/* Makes the spec at PATH the problem's, with fixed shapes if they are asked for. */
static mc_status change_spec(session *s, const char *path, mc_diag *diag) {
    mc_kernel *kernel = NULL;
    bool changed;
    const mc_vsparse before = s->problem.a; /* its arrays may be gone */
    s->problem.spec_path = path;
    mc_status status = problem_respec(&s->problem, NULL, 0, diag);
    if (status == MC_OK)
        status = mc_kernel_generate(s->problem.spec, mc_spec_default(s->problem.spec), &kernel, diag);
    if (status == MC_OK) status = session_check_family(s, kernel, diag);
    if (status == MC_OK) status = problem_fit(&s->problem, kernel, &changed, diag);
    if (status == MC_OK) status = check_same(s, kernel, &before, diag);
    if (status == MC_OK && s->options->specialise) status = session_specialise(s, kernel, diag);
    mc_kernel_destroy(kernel);
    return status;
}

mc_status session_pick(session *s, char **specs, size_t count, size_t *variant, mc_diag *diag) {
    const mc_gpu gpu = mc_device_gpu(s->device);
    const char *best = NULL;
    mc_status status = MC_OK;
    for (size_t i = 0; i < count && status == MC_OK; i++) {
        size_t pick;
        status = change_spec(s, specs[i], diag);
        if (status != MC_OK) break;
        mc_problem shape = shape_of(s);
        double us = mc_spec_pick(s->problem.spec, &gpu, &shape, &pick);
        if (!isfinite(us) || (best != NULL && us >= s->estimate)) continue;
        best = specs[i], s->estimate = us, *variant = pick;
    }
    if (status != MC_OK) return status;
    if (best == NULL) return mc_fail(diag, MC_CANNOT, "no variant of these specs can run on this problem");
    return change_spec(s, best, diag);
}
