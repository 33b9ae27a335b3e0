/* mcbench fit: the costs of a family's model from records of tuning, and how well the model picks. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "choose/candidates.h"
#include "commands.h"
#include "fit.h"
#include "records/record.h"
#include "records/text.h"

typedef struct fit_options {
    const char *gpu, *from, *only, *held_out;
    bool keep, picks;
} fit_options;

static const cmd_option fit_table[] = {
    {"gpu", 0, OPTION_TEXT, offsetof(fit_options, gpu), "NAME", 0, 0,
     "records of this GPU alone (of all, which then share the costs)"},
    {"from", 0, OPTION_TEXT, offsetof(fit_options, from), "NAME", 0, 0,
     "begin with the costs of this GPU (the first record's)"},
    {"only", 0, OPTION_TEXT, offsetof(fit_options, only), "COST,COST", 0, 0, "fit these costs alone (all)"},
    {"hold-out", 0, OPTION_TEXT, offsetof(fit_options, held_out), "MxK,MxK", 0, 0,
     "shapes of A that the fit does not see (a third of all)"},
    {"keep", 0, OPTION_SWITCH, offsetof(fit_options, keep), NULL, 0, 0,
     "keep the costs that mcgen has: only say how well they pick"},
    {"picks", 0, OPTION_SWITCH, offsetof(fit_options, picks), NULL, 0, 0, "a line for each problem"},
};

typedef struct session {
    const fit_options *options;
    record_store *store;
    const char *family; /* NULL: no record yet */
    fit_data data;
    mc_status status;
    mc_diag *diag;
} session;

/* -- Problems -------------------------------------------------------------------------------------------- */

/* Whether WORD is one of LIST, which has commas between. */
static bool is_listed(const char *list, const char *word) {
    size_t length = strlen(word);
    for (const char *at = list; (at = strstr(at, word)) != NULL; at += length)
        if ((at == list || at[-1] == ',') && (at[length] == ',' || at[length] == '\0')) return true;
    return false;
}

/* Whether the fit does not see the shape of P. */
static bool holds_out(const char *list, const plan_problem *p) {
    char shape[48];
    const mc_operator *op = operator_of(p->op);
    int64_t inner = member_get(p, op->matrix.wanted ? op->matrix.cols : MEMBER_n);
    snprintf(shape, sizeof shape, "%" PRId64 "x%" PRId64, p->m, inner);
    return list != NULL ? is_listed(list, shape) : (p->m * 7 + inner * 13) / 64 % 3 == 0;
}

static const record_candidate *find_time(const record *r, uint64_t hash) {
    for (size_t i = 0; i < r->candidate_count; i++) {
        const record_candidate *c = &r->candidates[i];
        bool timed = c->status == RECORD_TIMED || c->status == RECORD_DROPPED;
        if (c->hash == hash && timed && c->microseconds > 0) return c;
    }
    return NULL;
}

static bool add_kernel(fit_problem *p, const candidate *from, double us) {
    char text[1024];
    snprintf(text, sizeof text, "%s %s", from->spec, from->tuned);
    fit_kernel *k = &p->kernels[p->count++];
    *k = (fit_kernel){.kernel = candidate_alone(from->fields), .text = strdup(text), .us = us};
    if (p->best == 0 || us < p->best) p->best = us;
    return k->kernel != NULL && k->text != NULL;
}

/* The candidates that R has times of. */
static mc_status add_kernels(session *s, const record *r, fit_problem *p) {
    const candidate_target target = {.gpu = *p->gpu, .capability = r->capability};
    candidate_list list;
    mc_status status = candidates_find(&r->problem, &target, NULL, 0, &list, s->diag);
    if (status != MC_OK) return status;
    p->kernels = calloc(list.count + 1, sizeof *p->kernels);
    bool held = p->kernels != NULL;
    for (size_t i = 0; i < list.count && held; i++) {
        const record_candidate *c = find_time(r, list.items[i].hash);
        if (c != NULL) held = add_kernel(p, &list.items[i], c->microseconds);
    }
    candidates_free(&list);
    return held ? MC_OK : mc_fail(s->diag, MC_NOMEM, "out of memory");
}

static void free_problem(fit_problem *p) {
    for (size_t i = 0; i < p->count; i++) {
        mc_kernel_destroy(p->kernels[i].kernel);
        free(p->kernels[i].text);
    }
    free(p->kernels);
    free(p->title);
}

static mc_status add_problem(session *s, const record *r) {
    char title[PROBLEM_TITLE], line[PROBLEM_TITLE + 160];
    fit_problem *grown = realloc(s->data.problems, (s->data.count + 1) * sizeof *grown);
    if (grown == NULL) return mc_fail(s->diag, MC_NOMEM, "out of memory");
    s->data.problems = grown;
    problem_title(&r->problem, title);
    snprintf(line, sizeof line, "%s%s, %s", title, r->cold ? ", cold" : "", r->gpu);
    fit_problem *p = &s->data.problems[s->data.count];
    *p = (fit_problem){.shape = plan_problem_estimate(&r->problem),
                       .gpu = mc_gpu_find(r->gpu, r->capability),
                       .title = strdup(line),
                       .size = member_get(&r->problem, operator_of(r->problem.op)->size),
                       .held_out = holds_out(s->options->held_out, &r->problem)};
    p->shape.cold = r->cold;
    mc_status status = p->title != NULL ? add_kernels(s, r, p) : MC_NOMEM;
    if (status == MC_OK && p->count > 1) s->data.count++;
    else free_problem(p);
    return status;
}

/* The first record says which family all are of. */
static mc_status choose_costs(session *s, const record *r) {
    const fit_options *o = s->options;
    const double *values;
    const char *family = plan_op_text(r->problem.op);
    const mc_gpu *gpu = mc_gpu_find(o->from != NULL ? o->from : r->gpu, r->capability);
    const mc_cost *costs = mc_costs_of(family, gpu, &values, &s->data.cost_count);
    if (o->from != NULL && strcmp(gpu->name, o->from) != 0)
        return mc_fail(s->diag, MC_USAGE, "--from: there are no costs of %s", o->from);
    if (costs == NULL || s->data.cost_count > FIT_MAX_COSTS)
        return mc_fail(s->diag, MC_CANNOT, "%s: kernels without a model", family);
    s->family = family;
    memcpy(s->data.costs, values, s->data.cost_count * sizeof *values);
    for (size_t i = 0; i < s->data.cost_count; i++)
        s->data.fixed[i] = o->only != NULL && !is_listed(o->only, costs[i].name);
    return MC_OK;
}

static bool visit(void *user, const record *r, bool own) {
    session *s = user;
    (void)own;
    if (s->options->gpu != NULL && strcmp(r->gpu, s->options->gpu) != 0) return true;
    if (s->family == NULL) s->status = choose_costs(s, r);
    else if (strcmp(plan_op_text(r->problem.op), s->family) != 0)
        s->status = mc_fail(s->diag, MC_CANNOT, "records of %s and of %s: a file each", s->family,
                            plan_op_text(r->problem.op));
    if (s->status == MC_OK) s->status = add_problem(s, r);
    return s->status == MC_OK;
}

static void tell(void *user, const char *message) {
    (void)user;
    fprintf(stderr, "mcbench: %s\n", message);
}

static mc_status session_open(session *s, char **paths) {
    const record_store_config config = {.log = tell};
    s->status = record_store_open(&config, &s->store, s->diag);
    for (; *paths != NULL && s->status == MC_OK; paths++) {
        size_t count;
        s->status = record_import(s->store, *paths, &count, s->diag);
    }
    if (s->status == MC_OK) record_walk(s->store, visit, s);
    if (s->status == MC_OK && s->data.count == 0)
        s->status = mc_fail(s->diag, MC_CANNOT, "no record has times of two kernels that there are");
    return s->status;
}

static void session_close(session *s) {
    for (size_t i = 0; i < s->data.count; i++) free_problem(&s->data.problems[i]);
    free(s->data.problems);
    record_store_close(s->store);
}

/* -- What it says ---------------------------------------------------------------------------------------- */

static void print_score(const session *s, const char *name, fit_part part) {
    fit_score score = fit_score_of(&s->data, &part);
    if (score.problems > 0)
        printf("%-16s%9zu%12.3f%12.3f%12.3f\n", name, score.problems, score.loss, score.worst, score.error);
}

static int by_number(const void *a, const void *b) {
    const int64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static void print_sizes(const session *s) {
    int64_t *sizes = malloc(s->data.count * sizeof *sizes);
    if (sizes == NULL) return;
    for (size_t i = 0; i < s->data.count; i++) sizes[i] = s->data.problems[i].size;
    qsort(sizes, s->data.count, sizeof *sizes, by_number);
    for (size_t i = 0; i < s->data.count; i++) {
        char name[32];
        if (i > 0 && sizes[i] == sizes[i - 1]) continue;
        snprintf(name, sizeof name, "  size %" PRId64, sizes[i]);
        print_score(s, name, (fit_part){true, true, sizes[i], true, true});
    }
    free(sizes);
}

static void print_scores(const session *s) {
    printf("%-16s%9s%12s%12s%12s\n", "", "problems", "pick/best", "worst", "error");
    print_score(s, "fitted", (fit_part){.fitted = true, .warm = true});
    print_score(s, "held out", (fit_part){.held_out = true, .warm = true});
    print_score(s, "fitted, cold", (fit_part){.fitted = true, .cold = true});
    print_score(s, "held out, cold", (fit_part){.held_out = true, .cold = true});
    print_score(s, "all", (fit_part){true, true, 0, true, true});
    print_sizes(s);
}

static void print_picks(const session *s) {
    printf("\n%6s %9s %9s %9s  %s\n", "ratio", "best us", "pick us", "estimate", "problem: pick");
    for (size_t i = 0; i < s->data.count; i++) {
        const fit_problem *p = &s->data.problems[i];
        double least;
        const fit_kernel *pick = fit_pick(&s->data, p, &least);
        printf("%6.3f %9.2f %9.2f %9.2f  %s%s: %s\n", pick->us / p->best, p->best, pick->us, least, p->title,
               p->held_out ? ", held out" : "", pick->text);
    }
}

/* As the family's costs.c has them. */
static void print_costs(const session *s) {
    const double *before;
    size_t count;
    const mc_cost *costs = mc_costs_of(s->family, s->data.problems[0].gpu, &before, &count);
    for (size_t i = 0; i < count; i++)
        if (!s->data.fixed[i]) printf("    .%s = %.4g,\n", costs[i].name, s->data.costs[i]);
}

static int fit_run(int argc, char **argv) {
    fit_options options = {0};
    char **operands;
    int exit_status;
    if (!cmd_parse(&cmd_fit, argc, argv, &options, &operands, &exit_status)) return exit_status;
    session s = {.options = &options, .diag = mc_diag_create()};
    mc_status status = session_open(&s, operands);
    if (status == MC_OK && !options.keep) status = fit_search(&s.data, s.diag);
    if (status == MC_OK) {
        if (!options.keep) print_costs(&s);
        print_scores(&s);
        if (options.picks) print_picks(&s);
    }
    session_close(&s);
    return cmd_finish(status, s.diag);
}

const cmd cmd_fit = {"fit",
                     "RECORDS...",
                     "fits the costs of mcgen's estimates to records of tuning; says how well they pick",
                     -1,
                     {{fit_table, sizeof fit_table / sizeof fit_table[0]}},
                     fit_run};
