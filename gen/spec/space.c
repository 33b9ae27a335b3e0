/* The tuning space: which combinations of the lists' values are legal, and their names. */
#include "spec/spec.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* The point with mixed-radix code CODE; the last field varies fastest. */
static void point_of_code(const mc_spec *spec, uint32_t code, int64_t *point) {
    for (size_t i = spec->family->field_count; i-- > 0;) {
        uint32_t count = (uint32_t)spec->fields[i].count;
        point[i] = spec->fields[i].values[code % count];
        code /= count;
    }
}

void space_point(const mc_spec *spec, size_t variant, int64_t point[MC_MAX_FIELDS]) {
    point_of_code(spec, spec->variants[variant], point);
}

static bool is_legal(const mc_spec *spec, uint32_t code) {
    int64_t point[MC_MAX_FIELDS];
    _Alignas(16) unsigned char plan[MC_PLAN_BYTES] = {0};
    point_of_code(spec, code, point);
    return family_try(spec->family, point, plan) != NULL;
}

static mc_status report(const mc_spec *spec, const mc_complaints *complaints, mc_diag *diag) {
    for (size_t i = 0; i < complaints->count; i++) {
        const mc_complaint *complaint = &complaints->list[i];
        const mc_candidates *field = &spec->fields[complaint->field];
        const char *name = spec->family->fields[complaint->field].name;
        if (field->line)
            mc_fail(diag, MC_USAGE, "%s:%d: %s: %s", spec->name, field->line, name, complaint->text);
        else
            mc_fail(diag, MC_USAGE, "%s: %s: %s", field->set ? spec->settings : spec->name, name,
                    complaint->text);
    }
    return MC_USAGE;
}

mc_status space_explain(const mc_spec *spec, mc_diag *diag) {
    int64_t point[MC_MAX_FIELDS];
    _Alignas(16) unsigned char plan[MC_PLAN_BYTES] = {0};
    mc_complaints complaints = {0};
    point_of_code(spec, 0, point);
    family_plan(spec->family, point, plan, &complaints);
    return report(spec, &complaints, diag);
}

/* Whether the solver of some variant has the field. */
static bool is_used(const mc_spec *spec, size_t field) {
    for (size_t i = 0; i < spec->variant_count; i++) {
        int64_t point[MC_MAX_FIELDS];
        space_point(spec, i, point);
        if (!family_lacks(spec->family, spec->family->solver(point), field)) return true;
    }
    return false;
}

/* Whether the command line chooses another solver than the one that the file has its lists for. */
static bool is_another(const mc_spec *spec) {
    const mc_candidates *chooser = &spec->fields[spec->family->chooser];
    int64_t point[MC_MAX_FIELDS];
    if (chooser->set && !chooser->line) return true;
    space_point(spec, 0, point);
    const mc_solver *solver = spec->family->solver(point);
    for (size_t i = 0; i < spec->family->field_count; i++)
        if (spec->fields[i].set && !spec->fields[i].line) point[i] = spec->family->fields[i].standard;
    return spec->family->solver(point) != solver;
}

/* A list that holds the default leaves variants whose solver has no such field. It is refused as one value is
   that is not the default, unless some variant uses it. */
static mc_status refuse_unused(const mc_spec *spec, mc_diag *diag) {
    mc_complaints complaints = {0};
    int64_t point[MC_MAX_FIELDS];
    space_point(spec, 0, point);
    bool another = is_another(spec);
    for (size_t i = 0; i < spec->family->field_count; i++)
        if (spec->fields[i].count > 1 && !is_used(spec, i) && !(another && spec->fields[i].line))
            complain_lacking(spec->family, point, i, &complaints);
    return complaints.count > 0 ? report(spec, &complaints, diag) : MC_OK;
}

mc_status space_build(mc_spec *spec, mc_diag *diag) {
    uint64_t points = 1;
    for (size_t i = 0; i < spec->family->field_count; i++) {
        points *= spec->fields[i].count;
        if (points > MC_MAX_POINTS)
            return mc_fail(diag, MC_USAGE, "%s: the candidates make more than %d combinations", spec->name,
                           MC_MAX_POINTS);
    }
    spec->variants = malloc(points * sizeof *spec->variants);
    if (!spec->variants) return mc_fail(diag, MC_NOMEM, "%s: out of memory", spec->name);
    for (uint32_t code = 0; code < points; code++) {
        if (is_legal(spec, code)) spec->variants[spec->variant_count++] = code;
    }
    return spec->variant_count ? refuse_unused(spec, diag) : space_explain(spec, diag);
}

static bool is_silent(const mc_field *field, int64_t value) {
    return field->quiet && value == field->standard;
}

void point_text(const mc_family *family, const int64_t *point, const bool *wanted, mc_text *text) {
    const char *separator = "";
    for (size_t i = 0; i < family->field_count; i++) {
        if ((wanted && !wanted[i]) || is_silent(&family->fields[i], point[i])) continue;
        char value[MC_MAX_NAME];
        field_value_text(&family->fields[i], point[i], value);
        text_put(text, separator);
        text_put(text, family->fields[i].name);
        text_put(text, "=");
        text_put(text, value);
        separator = " ";
    }
}

/* Needs no allocation, which could fail: a kernel is never told apart from another by chance. */
uint64_t point_hash(const mc_family *family, const int64_t *point) {
    char text[MC_MAX_NAME + MC_MAX_FIELDS * 2 * MC_MAX_NAME]; /* " name=value", of two names */
    const char *end = text + sizeof text;
    char *at = text_copy(text, sizeof text, "mcgen " MC_VERSION);
    for (size_t i = 0; i < family->field_count; i++) {
        char value[MC_MAX_NAME];
        if (is_silent(&family->fields[i], point[i])) continue;
        field_value_text(&family->fields[i], point[i], value);
        const char *const pieces[] = {" ", family->fields[i].name, "=", value};
        for (int j = 0; j < 4; j++) at = text_copy(at, (size_t)(end - at), pieces[j]);
    }
    return XXH3_64bits(text, (size_t)(at - text));
}

/* -- Public ------------------------------------------------------------------------------------------- */

size_t mc_spec_variant_count(const mc_spec *spec) { return spec->variant_count; }

/* The point of the first values has code 0. If it is legal it is variant 0, and if not variant 0 stands for
 * it. */
size_t mc_spec_default(const mc_spec *spec) {
    (void)spec;
    return 0;
}

uint64_t mc_spec_variant_hash(const mc_spec *spec, size_t variant) {
    int64_t point[MC_MAX_FIELDS];
    space_point(spec, variant, point);
    return point_hash(spec->family, point);
}

char *mc_spec_variant_text(const mc_spec *spec, size_t variant, bool all) {
    int64_t point[MC_MAX_FIELDS];
    bool wanted[MC_MAX_FIELDS];
    mc_text text = {0};
    space_point(spec, variant, point);
    for (size_t i = 0; i < MC_MAX_FIELDS; i++) wanted[i] = all || spec->fields[i].count > 1;
    point_text(spec->family, point, wanted, &text);
    return text_take(&text);
}

static mc_status find_hash(const mc_spec *spec, const char *text, size_t *variant, mc_diag *diag) {
    uint64_t hash = strtoull(text, NULL, 16);
    for (*variant = 0; *variant < spec->variant_count; ++*variant) {
        if (mc_spec_variant_hash(spec, *variant) == hash) return MC_OK;
    }
    return mc_fail(diag, MC_USAGE, "%s: no variant has the hash %s", spec->name, text);
}

mc_status mc_spec_find_variant(const mc_spec *spec, const char *text, size_t *variant, mc_diag *diag) {
    size_t length = strlen(text);
    if (length == 16 && strspn(text, "0123456789abcdef") == length)
        return find_hash(spec, text, variant, diag);
    if (length == 0 || length > 9 || strspn(text, "0123456789") != length)
        return mc_fail(diag, MC_USAGE, "%s: a variant is an index or a hash of 16 digits, not '%s'",
                       spec->name, text);
    *variant = strtoull(text, NULL, 10);
    if (*variant < spec->variant_count) return MC_OK;
    return mc_fail(diag, MC_USAGE, "%s: variant %s: there are %zu, counted from 0", spec->name, text,
                   spec->variant_count);
}

double mc_spec_estimate(const mc_spec *spec, size_t variant, const mc_gpu *gpu, const mc_problem *problem) {
    int64_t point[MC_MAX_FIELDS];
    _Alignas(16) unsigned char plan[MC_PLAN_BYTES] = {0};
    if (variant >= spec->variant_count) return INFINITY;
    space_point(spec, variant, point);
    const mc_solver *solver = family_try(spec->family, point, plan);
    return family_estimate(solver, point, plan, gpu, problem);
}

double mc_spec_pick(const mc_spec *spec, const mc_gpu *gpu, const mc_problem *problem, size_t *variant) {
    double least = INFINITY;
    *variant = mc_spec_default(spec);
    for (size_t i = 0; i < spec->variant_count; i++) {
        double us = mc_spec_estimate(spec, i, gpu, problem);
        if (us < least) least = us, *variant = i;
    }
    return least;
}
