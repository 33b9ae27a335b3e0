/* What the families share. */
#include "schema/family.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int family_field(const mc_family *family, const char *name) {
    for (size_t i = 0; i < family->field_count; i++) {
        const char *other = family->fields[i].name;
        if (other[0] == name[0] && strcmp(other, name) == 0) return (int)i;
    }
    return -1;
}

/* Whether NAME is one of WORDS. */
static bool is_among(const char *name, const char *words) {
    size_t length = strlen(name);
    for (const char *word = words; *word; word += strcspn(word, " "), word += strspn(word, " "))
        if (strcspn(word, " ") == length && strncmp(word, name, length) == 0) return true;
    return false;
}

bool family_lacks(const mc_family *family, const mc_solver *solver, size_t field) {
    const char *solvers = family->fields[field].solvers;
    return solvers && !is_among(solver->name, solvers);
}

void complain_lacking(const mc_family *family, const int64_t *point, size_t field,
                      mc_complaints *complaints) {
    const mc_field *chooser = &family->fields[family->chooser];
    const char *lacking = family->fields[field].lacking;
    char chosen[MC_MAX_NAME];
    field_value_text(chooser, point[family->chooser], chosen);
    complain(complaints, (int)field, "%s = \"%s\" %s", chooser->name, chosen,
             lacking ? lacking : "has none: leave it out");
}

const mc_solver *family_plan(const mc_family *family, const int64_t *point, void *plan,
                             mc_complaints *complaints) {
    const mc_solver *solver = family->solver(point);
    solver->plan(point, plan, complaints);
    for (size_t i = 0; i < family->field_count; i++)
        if (point[i] != family->fields[i].standard && family_lacks(family, solver, i))
            complain_lacking(family, point, i, complaints);
    return solver;
}

const mc_solver *family_try(const mc_family *family, const int64_t *point, void *plan) {
    mc_complaints complaints; /* 10 KiB, which nobody reads: only what counts is set */
    complaints.count = 0;
    complaints.only_counts = true;
    const mc_solver *solver = family_plan(family, point, plan, &complaints);
    return complaints.count == 0 ? solver : NULL;
}

double family_estimate(const mc_solver *solver, const int64_t *point, const void *plan, const mc_gpu *gpu,
                       const mc_problem *problem) {
    bool runs = mc_archs[point[FIELD_ARCH]].sm <= gpu->capability;
    return solver->estimate && runs ? solver->estimate(plan, gpu, problem) : INFINITY;
}

void complain(mc_complaints *complaints, int field, const char *format, ...) {
    if (complaints->count == MC_MAX_FIELDS) return;
    mc_complaint *complaint = &complaints->list[complaints->count++];
    if (complaints->only_counts) return;
    complaint->field = field;
    va_list args;
    va_start(args, format);
    vsnprintf(complaint->text, sizeof complaint->text, format, args);
    va_end(args);
}

const int family_vecs[] = {1, 2, 4, 8, 16, 0}, family_aligns[] = {1, 4, 16, 0};

const char *const family_overlaps[] = {"off", "on", "wait", NULL};

void check_overlap(const int64_t *point, int field, mc_complaints *complaints) {
    const mc_arch *arch = &mc_archs[point[FIELD_ARCH]];
    if (point[field] && !arch->overlap)
        complain(complaints, field, "%s has no programmatic dependent launch", arch->target);
}

void add_param(mc_contract *c, mc_param param) {
    if (c->param_count++ < MC_MAX_PARAMS) c->params[c->param_count - 1] = param;
}

void add_array(mc_contract *c, unsigned align, mc_array array) {
    if (c->array_count++ < MC_MAX_ARRAYS) c->arrays[c->array_count - 1] = array;
    add_param(c, (mc_param){array.name, "u64", MC_PARAM_ARRAY, align, "packed array"});
}

void add_map(mc_contract *c, mc_map_param map, const char *doc) {
    if (c->map_count++ < MC_MAX_MAPS) c->maps[c->map_count - 1] = map;
    add_param(c, (mc_param){map.param, "b8[128]", MC_PARAM_TENSOR_MAP, 64, doc});
}

void add_constraint(mc_contract *c, mc_constraint constraint) {
    if (!constraint.multiple && !constraint.limit) return;
    if (c->constraint_count++ < MC_MAX_CONSTRAINTS) c->constraints[c->constraint_count - 1] = constraint;
}

void add_shape(mc_contract *c, const char *name, int64_t shape, const char *doc) {
    if (shape == MC_OPEN) add_param(c, (mc_param){name, "s32", MC_PARAM_SHAPE, 4, doc});
}

void add_passes(mc_contract *c, unsigned passes, const char *doc) {
    c->passes = passes;
    add_param(c, (mc_param){"pass", "s32", MC_PARAM_PASS, 4, doc});
}

void add_workspace(mc_contract *c, unsigned bytes, unsigned align, const char *doc) {
    c->workspace = bytes;
    add_param(c, (mc_param){MC_WORKSPACE, "u64", MC_PARAM_ARRAY, align, doc});
}

void add_fact(mc_facts *facts, const char *name, int64_t value, const char *doc) {
    if (facts->count++ < MC_MAX_FACTS) facts->list[facts->count - 1] = (mc_fact){name, value, doc};
}
