#include <ctype.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "mcrt_internal.h"
#include "choose/candidates.h"
#include "costs.h"
#include "tune.h"
#include "shown.h"

void tune_outcome_free(tune_outcome *outcome) {
    free(outcome->message);
    free(outcome->spec);
    free(outcome->fields);
    free(outcome->tuned);
    *outcome = (tune_outcome){0};
}

tune_label tune_size_of(const tune_outcome *outcome) {
    tune_label label;
    snprintf(label.text, sizeof label.text, "%c %" PRId64,
             toupper((unsigned char)problem_members[outcome->op->size].name[0]), outcome->size);
    return label;
}

/* How much faster than the default; 0: not known. */
static double gain_of(const mc_tune_result *result) {
    return result->microseconds > 0 && result->standard > 0 ? result->standard / result->microseconds : 0;
}

static const char *verdict_of(const tune_outcome *outcome) {
    if (outcome->status != MC_OK) return "failed";
    if (!outcome->result.complete) return "stopped";
    return outcome->result.measured == 0 ? "known" : "tuned";
}

/* -- The table */

/* Wide enough for the heading. */
enum { COST_WIDTH = 12, INSTRUCTIONS_WIDTH = 22 };

static void print_cost(double microseconds, bool simulated) {
    printf("%*s", simulated ? INSTRUCTIONS_WIDTH : COST_WIDTH,
           microseconds > 0 ? cost_number(microseconds, simulated, 2).text : "-");
}

void tune_report_row(const tune_outcome *o) {
    const mc_tune_result *result = &o->result;
    double gain = gain_of(result);
    printf("%-28s %-9s %-8s", shown(o->source->name).text, tune_size_of(o).text, verdict_of(o));
    if (o->status != MC_OK) {
        const char *message = o->message != NULL ? o->message : "out of memory";
        printf("  %.*s\n", (int)strcspn(message, "\n"), shown(message).text);
        fflush(stdout);
        return;
    }
    printf("%9zu%7zu%7zu%7zu", result->measured, result->known, result->wrong, result->failed);
    print_cost(result->standard, o->simulated);
    print_cost(result->microseconds, o->simulated);
    if (gain > 0) printf("%7.2fx", gain);
    else printf("%8s", "-");
    printf("  %s  %s\n", shown(o->spec != NULL ? o->spec : "-").text,
           shown(o->tuned != NULL ? o->tuned : "").text);
    fflush(stdout);
}

void tune_report_head(bool simulated) {
    const char *unit = cost_unit(simulated);
    int width = simulated ? INSTRUCTIONS_WIDTH : COST_WIDTH;
    char standard[32], best[32];
    snprintf(standard, sizeof standard, "default %s", unit);
    snprintf(best, sizeof best, "best %s", unit);
    printf("%-28s %-9s %-8s%9s%7s%7s%7s%*s%*s%8s  %s\n", "matrix", "size", "", "measured", "known", "wrong",
           "failed", width, standard, width, best, "gain", "spec and tuned fields");
}

/* -- JSON: an object a line */

mc_status tune_print_json(json_t *json, mc_diag *diag) {
    char *text = json != NULL ? json_dumps(json, JSON_REAL_PRECISION(10)) : NULL;
    json_decref(json);
    if (text == NULL) return mc_fail(diag, MC_NOMEM, "out of memory");
    printf("%s\n", text);
    fflush(stdout);
    free(text);
    return MC_OK;
}

static json_t *problem_json(const tune_outcome *o) {
    plan_problem p = {0};
    if (o->op->matrix.rows != NO_MEMBER) member_set(&p, o->op->matrix.rows, o->rows);
    if (o->op->matrix.cols != NO_MEMBER) member_set(&p, o->op->matrix.cols, o->cols);
    member_set(&p, o->op->size, o->size);
    return json_pack("{s:s, s:o, s:I, s:I, s:I, s:i, s:I}", "op", o->op->name, "matrix",
                     shown_json(o->source->name), "m", (json_int_t)p.m, "n", (json_int_t)p.n, "k",
                     (json_int_t)p.k, "vec", o->vec, "vectors", (json_int_t)o->vectors);
}

/* NULL, which s:o* leaves out, for what is not known. */
static json_t *real_or_nothing(double value) { return value > 0 ? json_real(value) : NULL; }

mc_status tune_report_json(const tune_outcome *o, mc_diag *diag) {
    const mc_tune_result *result = &o->result;
    json_t *json = json_pack(
        "{s:o, s:s, s:o*, s:I, s:I, s:I, s:I, s:b, s:b, s:f, s:o*, s:o*, s:o*, s:o*}", "problem",
        problem_json(o), "verdict", verdict_of(o), "message", shown_json(o->message), "measured",
        (json_int_t)result->measured, "known", (json_int_t)result->known, "wrong", (json_int_t)result->wrong,
        "failed", (json_int_t)result->failed, "complete", result->complete, "recorded", result->recorded,
        "seconds", o->seconds, "gain", real_or_nothing(gain_of(result)), "spec", shown_json(o->spec),
        "fields", shown_json(o->fields), "tuned", shown_json(o->tuned));
    bool whole = json != NULL && cost_put(json, "default", result->standard, o->simulated) &&
                 cost_put(json, "best", result->microseconds, o->simulated);
    if (whole) return tune_print_json(json, diag);
    json_decref(json);
    return mc_fail(diag, MC_NOMEM, "out of memory");
}

/* -- Candidates */

static mc_status find_problem(const mc_plan_config *config, const mc_vsparse *matrix,
                              const candidate_target *target, plan_problem *problem, mc_diag *diag) {
    mc_status status = plan_problem_of(config, matrix, problem, diag);
    return status == MC_OK ? candidates_pose(problem, target, config->specs, config->spec_count, diag)
                           : status;
}

char *tune_fields_of(const mc_plan_config *config, const mc_vsparse *matrix, int capability, uint64_t hash) {
    const candidate_target target = {.gpu = *mc_gpu_find(NULL, capability), .capability = capability};
    plan_problem problem;
    candidate_list list = {0};
    char *tuned = NULL;
    if (find_problem(config, matrix, &target, &problem, NULL) == MC_OK)
        (void)candidates_find(&problem, &target, config->specs, config->spec_count, &list, NULL);
    for (size_t i = 0; i < list.count && tuned == NULL; i++)
        if (list.items[i].hash == hash) tuned = strdup(list.items[i].tuned);
    candidates_free(&list);
    return tuned;
}

static mc_status print_candidate(const tune_outcome *o, const candidate *c, bool json, mc_diag *diag) {
    char hash[17];
    snprintf(hash, sizeof hash, "%016" PRIx64, c->hash);
    double estimate = isfinite(c->estimate) ? c->estimate : 0;
    if (json)
        return tune_print_json(json_pack("{s:o, s:s, s:o, s:o, s:o*, s:b}", "problem", problem_json(o),
                                         "hash", hash, "spec", shown_json(c->spec), "fields",
                                         shown_json(c->tuned), "estimate", real_or_nothing(estimate),
                                         "default", c->standard),
                               diag);
    printf("%-28s %-9s ", shown(o->source->name).text, tune_size_of(o).text);
    print_cost(estimate, false);
    printf("  %s  %s  %s%s\n", hash, shown(c->spec).text, shown(c->tuned).text,
           c->standard ? "  (default)" : "");
    return MC_OK;
}

mc_status tune_report_candidates(const tune_options *options, const tune_outcome *outcome,
                                 const mc_plan_config *config, const mc_vsparse *matrix,
                                 const mc_device *device, mc_diag *diag) {
    candidate_target target = candidate_target_of(device);
    target.cold = options->cold;
    plan_problem problem;
    candidate_list list = {0};
    mc_status status = find_problem(config, matrix, &target, &problem, diag);
    if (status == MC_OK)
        status = candidates_find(&problem, &target, config->specs, config->spec_count, &list, diag);
    for (size_t i = 0; i < list.count && (int64_t)i < options->candidates && status == MC_OK; i++)
        status = print_candidate(outcome, &list.items[i], options->json, diag);
    candidates_free(&list);
    return status;
}
