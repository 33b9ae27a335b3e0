/* A problem in a record: its members (ops/members.def), then the features of its matrix. */
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include "records/text.h"

enum { PANEL_NUMBERS = sizeof(mc_row_panels) / sizeof(int64_t) };

/* -- Printing */

static void add_lengths(const plan_problem *problem, mc_text *text) {
    for (int i = 0; i < ROW_QUANTILES; i++)
        text_add(text, "%c%" PRId64, i ? ',' : '[', problem->features.quantiles[i]);
    text_add(text, "]");
}

/* Numbers in the order of mc_row_panels. */
static void add_panels(const mc_row_panels *panels, mc_text *text) {
    int64_t numbers[PANEL_NUMBERS];
    memcpy(numbers, panels, sizeof numbers);
    for (size_t i = 0; i < PANEL_NUMBERS; i++)
        text_add(text, "%s%" PRId64, i ? "," : ",\"panels\":[", numbers[i]);
    text_add(text, "]");
}

static void add_member(const plan_problem *problem, problem_member member, mc_text *text) {
    const member_row *row = &problem_members[member];
    int64_t value = member_get(problem, member);
    const char *word = row->words != NULL ? word_text(row->words, value) : NULL;
    if (row->quiet && value == 0) return;
    text_add(text, member == FIRST_MEMBER ? "\"%s\":" : ",\"%s\":", row->name);
    if (row->words == NULL) text_add(text, "%" PRId64, value);
    else text_add(text, "\"%s\"", word != NULL ? word : "");
}

void problem_print(const plan_problem *problem, mc_text *text) {
    text_add(text, "{");
    for (problem_member i = FIRST_MEMBER; i < MEMBERS; i++) add_member(problem, i, text);
    text_add(text, ",\"vectors\":%" PRId64 ",\"lengths\":", problem->features.vectors);
    add_lengths(problem, text);
    text_add(text, ",\"spread\":");
    json_add_real(text, problem->features.spread);
    if (problem->features.panels.columns[0] > 0) add_panels(&problem->features.panels, text);
    if (problem->features.span > 0) text_add(text, ",\"span\":%" PRId64, problem->features.span);
    text_add(text, "}");
}

void problem_title(const plan_problem *p, char title[PROBLEM_TITLE]) {
    const mc_operator *o = operator_of(p->op);
    char rhs[24] = "", k[32] = "", pattern[32] = "";
    if (operator_has(o, MEMBER_rhs)) snprintf(rhs, sizeof rhs, " x %s", mc_type_text(p->rhs));
    if (operator_has(o, MEMBER_k)) snprintf(k, sizeof k, " k %" PRId64, p->k);
    if (p->pattern != 0)
        snprintf(pattern, sizeof pattern, ", pattern %s",
                 word_text(problem_members[MEMBER_pattern].words, p->pattern));
    snprintf(title, PROBLEM_TITLE,
             "%s %s%s -> %s, vec %d, m %" PRId64 " n %" PRId64 "%s, %" PRId64 " vectors%s%s",
             plan_op_text(p->op), mc_type_text(p->lhs), rhs, mc_type_text(p->out), p->vec, p->m, p->n, k,
             p->features.vectors, pattern, p->shapes == MC_SHAPES_OPEN ? ", open shapes" : "");
}

/* -- Reading */

static mc_status take_word(const json_t *object, const member_row *row, int64_t *value, mc_diag *diag) {
    const char *text;
    mc_status status = json_take_string(object, row->name, &text, diag);
    if (status != MC_OK || word_value(row->words, text, value)) return status;
    return mc_fail(diag, MC_FORMAT, "%s is '%.40s', which it cannot be", row->name, text);
}

static mc_status take_numbers(const json_t *object, const char *name, size_t count, int64_t *numbers,
                              mc_diag *diag) {
    const json_t *array = json_object_get(object, name);
    if (json_array_size(array) != count)
        return mc_fail(diag, MC_FORMAT, "%s are not %zu whole numbers", name, count);
    for (size_t i = 0; i < count; i++) {
        const json_t *number = json_array_get(array, i);
        numbers[i] = json_integer_value(number);
        if (!json_is_integer(number) || numbers[i] < 0)
            return mc_fail(diag, MC_FORMAT, "%s are not %zu whole numbers", name, count);
    }
    return MC_OK;
}

static mc_status take_panels(const json_t *object, mc_row_panels *panels, mc_diag *diag) {
    int64_t numbers[PANEL_NUMBERS] = {0};
    mc_status status = MC_OK;
    if (json_object_get(object, "panels") != NULL)
        status = take_numbers(object, "panels", PANEL_NUMBERS, numbers, diag);
    if (status == MC_OK) memcpy(panels, numbers, sizeof numbers);
    return status;
}

static mc_status take_member(const json_t *object, problem_member member, plan_problem *problem,
                             mc_diag *diag) {
    const member_row *row = &problem_members[member];
    int64_t value = 0, most = row->form == FORM_SMALL ? INT32_MAX : INT64_MAX;
    mc_status status;
    if (row->quiet && json_object_get(object, row->name) == NULL) return MC_OK;
    if (row->words != NULL) status = take_word(object, row, &value, diag);
    else status = json_take_integer(object, row->name, 0, most, &value, diag);
    if (status == MC_OK) member_set(problem, member, value);
    return status;
}

static mc_status take_features(const json_t *object, matrix_features *features, mc_diag *diag) {
    mc_status status = json_take_integer(object, "vectors", 0, INT64_MAX, &features->vectors, diag);
    if (status == MC_OK) status = take_numbers(object, "lengths", ROW_QUANTILES, features->quantiles, diag);
    if (status == MC_OK) status = json_take_real(object, "spread", &features->spread, diag);
    if (status == MC_OK) status = take_panels(object, &features->panels, diag);
    if (status != MC_OK || json_object_get(object, "span") == NULL) return status;
    return json_take_integer(object, "span", 0, INT64_MAX, &features->span, diag);
}

mc_status problem_parse(const json_t *object, plan_problem *problem, mc_diag *diag) {
    *problem = (plan_problem){0};
    mc_status status = MC_OK;
    if (!json_is_object(object)) status = mc_fail(diag, MC_FORMAT, "problem is missing, or no object");
    for (problem_member i = FIRST_MEMBER; i < MEMBERS && status == MC_OK; i++)
        status = take_member(object, i, problem, diag);
    return status == MC_OK ? take_features(object, &problem->features, diag) : status;
}

/* -- Comparing */

enum { FEATURE_BYTES = offsetof(matrix_features, panels) /* of those that say which problem it is */ };

/* Between members a problem has bytes of no meaning; its features have none. */
bool problem_same(const plan_problem *a, const plan_problem *b) {
    for (problem_member i = FIRST_MEMBER; i < MEMBERS; i++)
        if (member_get(a, i) != member_get(b, i)) return false;
    return memcmp(&a->features, &b->features, FEATURE_BYTES) == 0;
}

/* FNV-1a. */
static uint64_t add_bytes(uint64_t hash, const void *data, size_t size) {
    const unsigned char *bytes = data;
    for (size_t i = 0; i < size; i++) hash = (hash ^ bytes[i]) * 0x100000001b3u;
    return hash;
}

uint64_t problem_hash(const plan_problem *problem) {
    uint64_t hash = 0xcbf29ce484222325u;
    for (problem_member i = FIRST_MEMBER; i < MEMBERS; i++) {
        int64_t value = member_get(problem, i);
        hash = add_bytes(hash, &value, sizeof value);
    }
    return add_bytes(hash, &problem->features, FEATURE_BYTES);
}
