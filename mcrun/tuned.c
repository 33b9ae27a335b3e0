/* --variants tuned: the kernel that the records say is the fastest for this problem on this device
   (docs/tuning.md). The spec says what is computed, and no more. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "choose/fits.h"
#include "records/record.h"
#include "records/text.h"
#include "session.h"

/* The problem as records know it, which needs A as KERNEL wants it. */
static mc_status problem_of(session *s, const mc_kernel *kernel, plan_problem *wanted, mc_diag *diag) {
    bool changed;
    mc_status status = problem_fit(&s->problem, kernel, &changed, diag);
    if (status != MC_OK) return status;
    *wanted = s->shape;
    if (!s->op->matrix.wanted) return MC_OK;
    member_set(wanted, s->op->matrix.rows, s->problem.a.rows);
    wanted->features = matrix_features_of(&s->problem.a);
    return MC_OK;
}

/* That of fixed shapes before that of open ones, warm operands before cold ones. */
static bool find_record(const session *s, plan_problem *wanted, record *found) {
    const char *gpu = mc_device_get_info(s->device)->name;
    for (int i = 0; i < 4; i++) {
        wanted->shapes = i < 2 ? MC_SHAPES_FIXED : MC_SHAPES_OPEN;
        if (record_find(s->context->records, gpu, wanted, i % 2, found)) return true;
    }
    return false;
}

static mc_status no_record(const session *s, const plan_problem *wanted, mc_diag *diag) {
    char title[PROBLEM_TITLE];
    problem_title(wanted, title);
    return mc_fail(diag, MC_CANNOT, "no record of this problem on %s: %s (mcrun tune measures it)",
                   mc_device_get_info(s->device)->name, title);
}

/* What makes the fastest of R's kernels that this generator makes and this device runs. */
static char *fields_of(const session *s, const record *r, const plan_problem *wanted, tuned_kernel *tuned) {
    int capability = mc_device_get_info(s->device)->capability;
    char *fields = NULL;
    for (size_t i = 0; i < r->candidate_count && fields == NULL; i++) {
        const record_candidate *c = &r->candidates[i];
        mc_kernel *kernel = c->status == RECORD_TIMED ? record_kernel_for(r, i, wanted) : NULL;
        bool runs = kernel != NULL && kernel_fits(kernel, wanted, NULL) == MC_OK &&
                    mc_arch_suits(mc_kernel_field_text(kernel, "arch"), capability);
        if (runs) {
            fields = strdup(mc_kernel_fields(kernel));
            snprintf(tuned->spec, sizeof tuned->spec, "%s", c->spec);
            tuned->microseconds = c->microseconds;
        }
        mc_kernel_destroy(kernel);
    }
    return fields;
}

static mc_status make_kernel(session *s, const record *r, const plan_problem *wanted, tuned_kernel *tuned,
                             mc_diag *diag) {
    char *fields = fields_of(s, r, wanted, tuned);
    tuned->cold = r->cold;
    tuned->other_generator = strcmp(r->generator, mc_generator_id()) != 0;
    mc_status status =
        fields != NULL
            ? mc_kernel_from_fields(fields, &tuned->kernel, diag)
            : mc_fail(diag, MC_CANNOT, "the record of this problem has no kernel that this generator makes");
    free(fields);
    return status;
}

mc_status session_find_tuned(session *s, tuned_kernel *tuned, mc_diag *diag) {
    plan_problem wanted;
    record found;
    mc_kernel *kernel = NULL;
    *tuned = (tuned_kernel){0};
    mc_status status = mc_kernel_generate(s->problem.spec, mc_spec_default(s->problem.spec), &kernel, diag);
    if (status == MC_OK) status = problem_of(s, kernel, &wanted, diag);
    mc_kernel_destroy(kernel);
    if (status != MC_OK) return status;
    if (!find_record(s, &wanted, &found)) return no_record(s, &wanted, diag);
    status = make_kernel(s, &found, &wanted, tuned, diag);
    record_free(&found);
    return status;
}
