/* One variant of a spec, or all of them: run, compared with the exact result, timed, printed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "counts.h"
#include "session.h"

enum { BENCH_LAUNCHES = 20, BENCH_ROUNDS = 15 };

/* -- A run */

/* The sparse matrix and the exact result as this kernel's V and output want them. */
static mc_status fit(session *s, const mc_kernel *kernel, mc_diag *diag) {
    bool changed;
    mc_status status = problem_fit(&s->problem, kernel, &changed, diag);
    if (status != MC_OK || (!changed && s->want.low.data != NULL)) return status;
    session_drop_wanted(s);
    status = s->calls->expect(s, kernel, diag);
    if (status != MC_OK) session_drop_wanted(s); /* nothing half-made stays */
    return status;
}

/* Further outputs are looked at first, as C may be made of them. */
static mc_status run_once(session *s, const mc_kernel *kernel, mc_timing *timing, mc_diag *diag) {
    session_drop_results(s);
    mc_status status = s->calls->run(s, kernel, timing, diag);
    bool launched = s->c.rows * s->c.cols > 0; /* where C has no elements nothing is */
    for (size_t i = 0; i < MAX_OPERANDS && status == MC_OK && launched; i++)
        if (s->want_others[i].low.data != NULL)
            status =
                mc_result_compare_named(s->op->operands[i].name, &s->others[i], &s->want_others[i], diag);
    return status != MC_OK ? status : s->calls->judge(s, kernel, diag);
}

/* Time is taken of a kernel that has been verified, and its last result is verified again. */
static mc_status run_kernel(session *s, const mc_kernel *kernel, double *microseconds, mc_diag *diag) {
    mc_timing timing = {.launches = BENCH_LAUNCHES, .rounds = BENCH_ROUNDS};
    mc_status status = fit(s, kernel, diag);
    if (status == MC_OK) status = session_load(s, kernel, diag);
    if (status == MC_OK) status = run_once(s, kernel, NULL, diag);
    if (status == MC_OK && s->options->report) {
        free(s->ran);
        s->ran = strdup(s->ptx != NULL ? s->ptx : mc_kernel_ptx(kernel));
        s->passes = mc_kernel_contract(kernel)->passes;
        if (s->ran == NULL) status = mc_fail(diag, MC_NOMEM, "out of memory");
    }
    if (status == MC_OK && s->options->bench) {
        status = run_once(s, kernel, &timing, diag);
        *microseconds = timing.microseconds;
    }
    return status;
}

/* Runs VARIANT; what goes wrong stands in RESULT. */
static void run_variant(session *s, size_t variant, run_result *result) {
    mc_diag *diag = mc_diag_create();
    mc_kernel *kernel = NULL;
    *result = (run_result){.variant = variant,
                           .hash = mc_spec_variant_hash(s->problem.spec, variant),
                           .spec = s->problem.spec_path,
                           .estimate = s->estimate,
                           .simulated = mc_device_get_info(s->device)->kind == MC_DEVICE_SIM,
                           .text = mc_spec_variant_text(s->problem.spec, variant, s->options->json)};
    result->status = mc_kernel_generate(s->problem.spec, variant, &kernel, diag);
    if (result->text == NULL) result->status = mc_fail(diag, MC_NOMEM, "out of memory");
    if (result->status == MC_OK) result->status = run_kernel(s, kernel, &result->microseconds, diag);
    result->bounded = s->want.high.data != NULL;
    if (result->status != MC_OK && diag != NULL) result->message = strdup(mc_diag_text(diag));
    mc_kernel_destroy(kernel);
    mc_diag_destroy(diag);
}

static void result_free(run_result *result) {
    free(result->text);
    free(result->message);
}

/* -- One */

static mc_status print_result(const session *s, const run_result *result, mc_diag *diag) {
    run_shape shape = session_shape(s);
    const struct ptxsim *sim = s->ran != NULL ? mc_device_ptxsim(s->device) : NULL;
    if (s->options->json) {
        json_t *json = report_json(&shape, result, s->device_text);
        if (sim != NULL) json_object_set_new(json, "counts", counts_json(sim));
        if (sim != NULL && s->passes > 1)
            json_object_set_new(json, "counted_pass", json_integer((json_int_t)s->passes - 1));
        return cmd_print_json(json, diag);
    }
    if (result->status == MC_OK || result->status == MC_MISMATCH)
        report_print_table(&shape, result, s->device_text);
    if (sim != NULL && s->passes > 1)
        printf("passes     %u, of which the last one is counted below\n", s->passes);
    if (sim != NULL) counts_print(sim, s->ran);
    return MC_OK;
}

/* Writes and prints what RESULT says, and frees it. */
static mc_status tell_one(session *s, run_result *result, mc_diag *diag) {
    mc_status status = MC_OK;
    if (result->status == MC_OK) status = s->calls->write(s, diag);
    if (status == MC_OK) status = print_result(s, result, diag);
    if (status == MC_OK && result->status != MC_OK)
        status =
            mc_fail(diag, result->status, "%s", result->message != NULL ? result->message : "out of memory");
    result_free(result);
    return status;
}

mc_status session_run_one(session *s, size_t variant, mc_diag *diag) {
    run_result result;
    run_variant(s, variant, &result);
    return tell_one(s, &result, diag);
}

/* -- The tuned one */

static void run_kernel_of(session *s, const tuned_kernel *tuned, run_result *result) {
    mc_diag *diag = mc_diag_create();
    *result = (run_result){.variant = NO_VARIANT,
                           .hash = mc_kernel_hash(tuned->kernel),
                           .spec = tuned->spec,
                           .recorded = tuned->microseconds,
                           .simulated = mc_device_get_info(s->device)->kind == MC_DEVICE_SIM,
                           .cold = tuned->cold,
                           .other_generator = tuned->other_generator,
                           .text = strdup(mc_kernel_fields(tuned->kernel))};
    result->status = result->text != NULL ? run_kernel(s, tuned->kernel, &result->microseconds, diag)
                                          : mc_fail(diag, MC_NOMEM, "out of memory");
    result->bounded = s->want.high.data != NULL;
    if (result->status != MC_OK && diag != NULL) result->message = strdup(mc_diag_text(diag));
    mc_diag_destroy(diag);
}

mc_status session_run_tuned(session *s, const tuned_kernel *tuned, mc_diag *diag) {
    run_result result;
    run_kernel_of(s, tuned, &result);
    return tell_one(s, &result, diag);
}

/* -- All */

/* The tally of --variants all. */
typedef struct sweep {
    size_t failures, unable; /* wrong or failed; that cannot run on the problem */
    run_result best;         /* text NULL: none yet */
    run_shape best_shape;
    json_t *list; /* NULL: printed as lines */
} sweep;

static bool is_better(const run_result *result, const run_result *best) {
    if (result->status != MC_OK) return false;
    return best->text == NULL || result->microseconds < best->microseconds;
}

static void sweep_add(sweep *all, const session *s, run_result *result) {
    run_shape shape = session_shape(s);
    if (all->list != NULL) json_array_append_new(all->list, report_json(&shape, result, s->device_text));
    else report_print_line(&shape, result, "");
    fflush(stdout);
    all->unable += result->status == MC_CANNOT;
    all->failures += result->status != MC_OK && result->status != MC_CANNOT;
    if (is_better(result, &all->best)) {
        result_free(&all->best);
        all->best = *result;
        all->best_shape = shape;
    } else {
        result_free(result);
    }
}

mc_status session_run_all(session *s, mc_diag *diag) {
    sweep all = {.list = s->options->json ? json_array() : NULL};
    size_t count = mc_spec_variant_count(s->problem.spec);
    if (!s->options->json) printf("device     %s\n", s->device_text);
    for (size_t variant = 0; variant < count; variant++) {
        run_result result;
        run_variant(s, variant, &result);
        sweep_add(&all, s, &result);
    }
    mc_status status = s->options->json ? cmd_print_json(all.list, diag) : MC_OK;
    if (!s->options->json && s->options->bench && all.best.text != NULL)
        report_print_line(&all.best_shape, &all.best, "best");
    result_free(&all.best);
    if (status != MC_OK) return status;
    if (all.failures > 0)
        return mc_fail(diag, MC_MISMATCH, "%zu of %zu variants did not give the right result", all.failures,
                       count);
    if (all.unable == count && count > 0)
        return mc_fail(diag, MC_CANNOT, "none of %zu variants can run on this problem", count);
    if (all.unable > 0 && !s->options->json)
        printf("%zu of %zu variants cannot run on this problem\n", all.unable, count);
    return MC_OK;
}
