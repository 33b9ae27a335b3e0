#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "text/file.h"
#include "results.h"

static const char *text_of(const json_t *line, const char *key) {
    return json_string_value(json_object_get(line, key));
}
static double real_of(const json_t *line, const char *key) {
    return json_number_value(json_object_get(line, key));
}
static int64_t integer_of(const json_t *line, const char *key) {
    return json_integer_value(json_object_get(line, key));
}

/* -- Lines ----------------------------------------------------------------------------------------------- */

static mc_status keep_line(results *r, json_t *line, mc_diag *diag) {
    json_t **grown = realloc(r->lines, (r->line_count + 1) * sizeof(json_t *));
    if (grown == NULL) {
        json_decref(line);
        return mc_fail(diag, MC_NOMEM, "out of memory");
    }
    r->lines = grown;
    r->lines[r->line_count++] = line;
    return MC_OK;
}

/* The label's number; a new one at the end. RESULTS_MAX_LABELS: there are too many. */
static size_t label_number(results *r, const char *label) {
    for (size_t i = 0; i < r->label_count; i++)
        if (strcmp(r->labels[i], label) == 0) return i;
    if (r->label_count < RESULTS_MAX_LABELS) r->labels[r->label_count] = label;
    return r->label_count < RESULTS_MAX_LABELS ? r->label_count++ : RESULTS_MAX_LABELS;
}

/* Lines that name no operator are of the time when there was one. */
static const char *op_of(const json_t *line) {
    const char *op = text_of(line, "op");
    return op != NULL ? op : operator_at(0)->name;
}

static bool same_problem(const result_problem *p, size_t file, const json_t *line) {
    return p->file == file && p->n == integer_of(line, "n") && p->k == integer_of(line, "k") &&
           p->vec == integer_of(line, "vec") && strcmp(p->matrix, text_of(line, "matrix")) == 0 &&
           strcmp(p->op, op_of(line)) == 0;
}

/* Lines of a problem stand together, so the search goes from the end. NULL: out of memory. */
static result_problem *problem_of(results *r, size_t file, const json_t *line) {
    for (size_t i = r->problem_count; i-- > 0;)
        if (same_problem(&r->problems[i], file, line)) return &r->problems[i];
    result_problem *grown = realloc(r->problems, (r->problem_count + 1) * sizeof *grown);
    if (grown == NULL) return NULL;
    r->problems = grown;
    result_problem *p = &grown[r->problem_count++];
    const mc_operator *o = operator_named(op_of(line));
    const char *size = o != NULL ? problem_members[o->size].name : "n";
    *p = (result_problem){.file = file,
                          .op = op_of(line),
                          .size_name = (char)toupper((unsigned char)*size),
                          .size = integer_of(line, size),
                          .matrix = text_of(line, "matrix"),
                          .m = integer_of(line, "m"),
                          .n = integer_of(line, "n"),
                          .k = integer_of(line, "k"),
                          .vec = (int)integer_of(line, "vec"),
                          .class = real_of(line, "class")};
    return p;
}

/* Microseconds of what is done once. */
static double prepared_of(const json_t *line, results_packed packed) {
    double there = real_of(line, "device_prepare_us");
    if (packed == PACKED_HOST || !(there > 0)) return real_of(line, "prepare_us");
    return there + (packed == PACKED_ARRAYS ? real_of(line, "device_matrix_us") : 0);
}

static void keep_best(result_best *best, const json_t *line, const results_rule *rule) {
    double us = real_of(line, "us");
    if (rule->products > 0) us += prepared_of(line, rule->packed) / (double)rule->products;
    if (json_is_true(json_object_get(line, "picked"))) best->picked_us = us;
    if (best->us > 0 && best->us <= us) return;
    *best = (result_best){.us = us,
                          .picked_us = best->picked_us,
                          .floor_us = real_of(line, "floor_us"),
                          .fraction = real_of(line, "fraction"),
                          .variant = text_of(line, "variant"),
                          .detail = text_of(line, "detail"),
                          .limit = text_of(line, "limit")};
}

/* False: *FAULT says why the line is none. */
static bool add_result(results *r, size_t file, const json_t *line, const char **fault) {
    const char *label = text_of(line, "contender"), *series = text_of(line, "series");
    *fault = "a result without matrix, contender or us";
    if (label == NULL || text_of(line, "matrix") == NULL || !(real_of(line, "us") > 0)) return false;
    size_t number = label_number(r, label), part = series == NULL ? 0 : label_number(r, series);
    *fault = "more than 63 contenders";
    if (number == RESULTS_MAX_LABELS || part == RESULTS_MAX_LABELS) return false;
    result_problem *p = problem_of(r, file, line);
    *fault = "out of memory";
    if (p == NULL) return false;
    keep_best(&p->best[number], line, &r->rule);
    if (part == 0) return true;
    r->parents[part] = number;
    keep_best(&p->best[part], line, &r->rule);
    return true;
}

static mc_status read_line(results *r, size_t file, const char *path, size_t number, const char *text,
                           size_t size, mc_diag *diag) {
    json_error_t error;
    json_t *line = json_loadb(text, size, 0, &error);
    if (line == NULL) return mc_fail(diag, MC_FORMAT, "%s:%zu: not JSON: %s", path, number, error.text);
    const char *kind = text_of(line, "kind");
    if (kind == NULL) {
        json_decref(line);
        return mc_fail(diag, MC_FORMAT, "%s:%zu: a line without kind", path, number);
    }
    mc_status status = keep_line(r, line, diag);
    if (status != MC_OK || strcmp(kind, "result") != 0) return status;
    const char *fault = NULL;
    if (add_result(r, file, line, &fault)) return MC_OK;
    return mc_fail(diag, MC_FORMAT, "%s:%zu: %s", path, number, fault);
}

static mc_status read_file(results *r, size_t file, const char *path, mc_diag *diag) {
    char *bytes;
    size_t size, number = 0;
    mc_status status = file_read(path, NULL, &bytes, &size, diag);
    if (status != MC_OK) return status;
    for (size_t at = 0; at < size && status == MC_OK;) {
        const char *end = memchr(bytes + at, '\n', size - at);
        size_t length = end == NULL ? size - at : (size_t)(end - bytes) - at;
        number++;
        if (length > 0) status = read_line(r, file, path, number, bytes + at, length, diag);
        at += length + 1;
    }
    free(bytes);
    return status;
}

static bool has_base(const results *r) {
    for (size_t i = 0; i < r->problem_count; i++)
        if (r->problems[i].best[0].us > 0) return true;
    return false;
}

static bool tells_preparation(const results *r) {
    for (size_t i = 0; i < r->line_count; i++)
        if (real_of(r->lines[i], "prepare_us") > 0) return true;
    return false;
}

/* Whether LABEL begins with the words of OVER, and is of the same matrix. */
static bool begins_with(const char *label, const char *over) {
    static const char other[] = "cusparse uniform";
    size_t length = strlen(over);
    if (strncmp(label, other, strlen(other)) == 0 && strncmp(over, other, strlen(other)) != 0) return false;
    return strncmp(label, over, length) == 0 && (label[length] == ' ' || label[length] == '\0');
}

/* The fastest on P of those that begin with the base's words. */
static void find_base(const results *r, result_problem *p) {
    for (size_t label = 1; label < r->label_count; label++) {
        const result_best *b = &p->best[label];
        if (r->parents[label] > 0 || b->us <= 0 || !begins_with(r->labels[label], r->labels[0])) continue;
        if (p->base == 0 || b->us < p->best[0].us) p->best[0] = *b, p->base = label;
    }
}

/* Where no contender has just the base's name. */
static void find_bases(results *r) {
    if (r->rule.over == NULL || has_base(r)) return;
    for (size_t i = 0; i < r->problem_count; i++) find_base(r, &r->problems[i]);
}

mc_status results_read(results *r, const results_rule *rule, char *const *paths, mc_diag *diag) {
    const char *over = rule->over;
    *r = (results){.rule = *rule, .labels = {over != NULL ? over : RESULTS_BASE}, .label_count = 1};
    mc_status status = MC_OK;
    for (size_t i = 0; paths[i] != NULL && status == MC_OK; i++) status = read_file(r, i, paths[i], diag);
    if (status == MC_OK && r->problem_count == 0) status = mc_fail(diag, MC_CANNOT, "there are no results");
    if (status == MC_OK) find_bases(r);
    if (status == MC_OK && rule->products > 0 && !tells_preparation(r))
        status = mc_fail(diag, MC_CANNOT, "--products: no result tells what was prepared before it");
    if (status == MC_OK && over != NULL && !has_base(r))
        status = mc_fail(diag, MC_CANNOT, "--over: there are no results of '%s'", over);
    return status;
}

void results_free(results *r) {
    for (size_t i = 0; i < r->line_count; i++) json_decref(r->lines[i]);
    free(r->lines);
    free(r->problems);
    *r = (results){0};
}

double result_speed(const result_problem *problem, size_t label) {
    double base = problem->best[0].us, us = problem->best[label].us;
    return base > 0 && us > 0 ? base / us : 0;
}

bool label_is_part(const results *r, size_t label) {
    size_t siblings = 0;
    for (size_t i = 1; i < r->label_count; i++) siblings += r->parents[i] == r->parents[label];
    return r->parents[label] > 0 && siblings > 1;
}

bool label_is_ours(const char *label) { return strncmp(label, "mcgen ", 6) == 0; }
bool label_is_cusparse(const char *label) {
    return strncmp(label, "cusparse ", 9) == 0 && strncmp(label, "cusparse uniform ", 17) != 0;
}
