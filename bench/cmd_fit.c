/* mcbench fit: the costs of the estimate from recorded times, and how well the estimate picks. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "commands.h"
#include "fit.h"
#include "results.h"
#include "work.h"

typedef struct fit_options {
    cmd_settings settings;
    const char *matrices, *results;
    bool keep, picks;
} fit_options;

static const cmd_option fit_table[] = {
    {"matrices", 'm', OPTION_TEXT, offsetof(fit_options, matrices), "FOLDER", 0, 0,
     "the .smtx files that were measured"},
    {"results", 'r', OPTION_TEXT, offsetof(fit_options, results), "FILE", 0, 0, "what mcbench run wrote"},
    {"keep", 0, OPTION_SWITCH, offsetof(fit_options, keep), NULL, 0, 0,
     "keep the costs that mcgen has: only say how well they pick"},
    {"picks", 0, OPTION_SWITCH, offsetof(fit_options, picks), NULL, 0, 0, "a line for each problem"},
    {"vec", 0, OPTION_SETTING, offsetof(fit_options, settings), "V", 0, 0, "rows of a nonzero vector"},
    {"arch", 0, OPTION_SETTING, offsetof(fit_options, settings), "A", 0, 0, "target, such as sm_90a"},
    {"set", 0, OPTION_ASSIGN, offsetof(fit_options, settings), "FIELD=VALUE", 0, 0,
     "override a field of the specs, as the run did"},
};

typedef struct session {
    const fit_options *options;
    variant_list variants;
    results results;
    work *items;
    size_t item_count;
    fit_data data;
    mc_gpu gpu;
} session;

static void session_close(session *s) {
    for (size_t i = 0; i < s->data.count; i++) free(s->data.problems[i].us);
    free(s->data.problems);
    for (size_t i = 0; i < s->item_count; i++) mc_vsparse_free(&s->items[i].a);
    work_list_free(s->items, s->item_count);
    results_free(&s->results);
    variants_close(&s->variants);
}

/* -- Measured times -------------------------------------------------------------------------------------- */

/* The matrix NAME, read when it is first asked for. */
static mc_status find_matrix(session *s, const char *name, int vec, const mc_vsparse **a, mc_diag *diag) {
    for (size_t i = 0; i < s->item_count; i++) {
        work *item = &s->items[i];
        if (strcmp(item->name, name) != 0) continue;
        mc_csr csr = {0};
        *a = &item->a;
        if (item->a.row_ptr != NULL) return MC_OK;
        mc_status status = mc_csr_read(item->path, &csr, diag);
        if (status == MC_OK) status = mc_vsparse_dilate(&csr, vec, MC_S8, &item->a, diag);
        mc_csr_free(&csr);
        return status;
    }
    return mc_fail(diag, MC_CANNOT, "%s: there is no %s", s->options->matrices, name);
}

/* The times of LINE that belong to variants of the specs; how many. */
static size_t take_times(const session *s, const json_t *line, fit_problem *p) {
    const json_t *times = json_object_get(line, "us");
    size_t found = 0;
    for (size_t i = 0; i < s->variants.count; i++) {
        char hash[17];
        snprintf(hash, sizeof hash, "%016llx", (unsigned long long)s->variants.items[i].hash);
        p->us[i] = json_number_value(json_object_get(times, hash));
        if (p->us[i] <= 0) continue;
        if (found++ == 0 || p->us[i] < p->best) p->best = p->us[i];
    }
    return found;
}

static mc_status add_problem(session *s, const json_t *line, mc_diag *diag) {
    const char *name = json_string_value(json_object_get(line, "matrix"));
    int64_t n = json_integer_value(json_object_get(line, "n"));
    int vec = (int)json_integer_value(json_object_get(line, "vec"));
    const char *op = json_string_value(json_object_get(line, "op"));
    const mc_vsparse *a = NULL;
    if (op != NULL && (operator_named(op) == NULL || !operator_named(op)->estimates))
        return mc_fail(diag, MC_CANNOT, "%s: results of %s, for which there are no estimates",
                       s->options->results, op);
    if (name == NULL || n < 1 || vec < 1)
        return mc_fail(diag, MC_FORMAT, "%s: a line of quick times without matrix, n or vec",
                       s->options->results);
    mc_status status = find_matrix(s, name, vec, &a, diag);
    if (status != MC_OK) return status;
    fit_problem *p = &s->data.problems[s->data.count];
    *p = (fit_problem){.shape = mc_problem_of(a, n, n),
                       .class = json_number_value(json_object_get(line, "class")),
                       .held_out = fit_holds_out(name)};
    p->us = calloc(s->variants.count, sizeof *p->us);
    if (p->us == NULL) return mc_fail(diag, MC_NOMEM, "out of memory");
    if (take_times(s, line, p) > 0) s->data.count++;
    else free(p->us);
    return MC_OK;
}

static mc_status add_problems(session *s, mc_diag *diag) {
    s->data = (fit_data){.variants = &s->variants,
                         .problems = calloc(s->results.line_count, sizeof *s->data.problems)};
    if (s->data.problems == NULL) return mc_fail(diag, MC_NOMEM, "out of memory");
    mc_status status = MC_OK;
    for (size_t i = 0; i < s->results.line_count && status == MC_OK; i++) {
        const json_t *line = s->results.lines[i];
        if (strcmp(json_string_value(json_object_get(line, "kind")), "quick") == 0)
            status = add_problem(s, line, diag);
    }
    if (status == MC_OK && s->data.count == 0)
        status = mc_fail(diag, MC_CANNOT, "%s has no time of a variant of these specs (the run's --set?)",
                         s->options->results);
    return status;
}

/* The record of the GPU that the results are of. */
/* Of the GPU that the results are from, 0 where no line says it. */
static int measured_capability(const results *r) {
    int capability = 0;
    for (size_t i = 0; i < r->line_count; i++) {
        json_int_t said = json_integer_value(json_object_get(r->lines[i], "capability"));
        if (said > 0 && said < INT32_MAX) capability = (int)said;
    }
    return capability;
}

static mc_gpu measured_gpu(const results *r) {
    mc_gpu gpu = *mc_gpu_find(0);
    for (size_t i = 0; i < r->line_count; i++) {
        const json_t *line = r->lines[i];
        if (strcmp(json_string_value(json_object_get(line, "kind")), "machine") != 0) continue;
        gpu = *mc_gpu_find((int)json_integer_value(json_object_get(line, "capability")));
        int64_t multiprocessors = json_integer_value(json_object_get(line, "multiprocessors"));
        if (multiprocessors > 0 && multiprocessors <= INT32_MAX) gpu.multiprocessors = (int)multiprocessors;
    }
    return gpu;
}

static mc_status session_open(session *s, char **specs, mc_diag *diag) {
    const fit_options *o = s->options;
    char *const paths[] = {(char *)o->results, NULL};
    mc_status status = results_read(&s->results, paths, diag);
    if (status == MC_OK)
        status = variants_choose(&s->variants, specs, o->settings.items, o->settings.count,
                                 measured_capability(&s->results), "all", diag);
    if (status == MC_OK) status = work_list(o->matrices, NULL, 0, &s->items, &s->item_count, diag);
    if (status == MC_OK) status = add_problems(s, diag);
    if (status == MC_OK) s->gpu = measured_gpu(&s->results);
    return status;
}

/* -- What it says ---------------------------------------------------------------------------------------- */

static void print_score(const session *s, const char *name, fit_part part) {
    fit_score score = fit_score_of(&s->data, &s->gpu, &part);
    if (score.problems > 0)
        printf("%-12s%9zu%12.3f%12.3f%12.3f\n", name, score.problems, score.loss, score.worst, score.error);
}

static void print_scores(const session *s) {
    static const double classes[] = {0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99};
    printf("%-12s%9s%12s%12s%12s\n", "", "problems", "pick/best", "worst", "error");
    print_score(s, "fitted", (fit_part){.fitted = true});
    print_score(s, "held out", (fit_part){.held_out = true});
    print_score(s, "all", (fit_part){.fitted = true, .held_out = true});
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++) {
        char name[24];
        snprintf(name, sizeof name, "  at %g", classes[i]);
        print_score(s, name, (fit_part){.fitted = true, .held_out = true, .class = classes[i]});
    }
}

static void print_picks(const session *s) {
    printf("\n%6s %9s %9s  %s\n", "speed", "best us", "pick us", "problem, pick");
    for (size_t i = 0; i < s->data.count; i++) {
        const fit_problem *p = &s->data.problems[i];
        size_t pick = fit_pick(&s->data, &s->gpu, p);
        printf("%6.2f %9.2f %9.2f  m %lld n %lld k %lld vectors %lld: %s\n", p->best / p->us[pick], p->best,
               p->us[pick], (long long)p->shape.m, (long long)p->shape.n, (long long)p->shape.k,
               (long long)p->shape.vectors, s->variants.items[pick].text);
    }
}

/* As gpu.c has them. */
static void print_costs(const mc_costs *costs) {
#define X(name, doc) printf("                ." #name " = %.3g,\n", costs->name);
    MC_COST_LIST(X)
#undef X
}

static int fit_run(int argc, char **argv) {
    fit_options options = {0};
    char **operands;
    int exit_status;
    if (!cmd_parse(&cmd_fit, argc, argv, &options, &operands, &exit_status)) return exit_status;
    if (options.matrices == NULL) return cmd_usage("fit: --matrices is missing");
    if (options.results == NULL) return cmd_usage("fit: --results is missing");
    mc_diag *diag = mc_diag_create();
    session s = {.options = &options};
    mc_status status = session_open(&s, operands, diag);
    if (status == MC_OK) {
        if (!options.keep) fit_search(&s.data, &s.gpu);
        if (!options.keep) print_costs(&s.gpu.costs);
        print_scores(&s);
        if (options.picks) print_picks(&s);
    }
    session_close(&s);
    return cmd_finish(status, diag);
}

const cmd cmd_fit = {"fit",
                     "SPEC...",
                     "fits the costs of mcgen's estimates to results; says how well they pick",
                     -1,
                     {{fit_table, sizeof fit_table / sizeof fit_table[0]}},
                     fit_run};
