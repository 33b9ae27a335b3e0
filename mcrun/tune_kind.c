#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "pattern.h"
#include "tune.h"
#include "mcrt_internal.h"
#include "problem/problem.h"
#include "tune/tune.h"

#define MEMBER(name) offsetof(tune_options, name)

/* "|spmm|sddmm" */
static const char operator_words[] =
#define O(upper, lower) "|" #lower
#include "ops/operators.def"
#undef O
    ;

const cmd_option tune_problem_table[TUNE_PROBLEM_OPTIONS] = {
    {"op", 0, OPTION_CHOICE, MEMBER(op), &operator_words[1], 0, 0, "without a SPEC: the operator"},
    {"lhs", 0, OPTION_SETTING, MEMBER(settings), "TYPE", 0, 0, "type of A (the spec's)"},
    {"rhs", 0, OPTION_SETTING, MEMBER(settings), "TYPE", 0, 0, "type of B (the spec's)"},
    {"out", 0, OPTION_SETTING, MEMBER(settings), "TYPE", 0, 0, "type of C (the spec's)"},
    {"vec", 0, OPTION_SETTING, MEMBER(settings), "V", 0, 0, "rows of a nonzero vector (the spec's)"},
    {"set", 0, OPTION_ASSIGN, MEMBER(settings), "FIELD=VALUE", 0, 0,
     "another field that says what is computed: scale, bias, act, sum, mask, layout, align, ldb, ..."},
    {"n", 'n', OPTION_TEXT, MEMBER(n), "N[,N...]", 0, 0, "SpMM: columns of B (the spec's, or 256)"},
    {"k", 0, OPTION_TEXT, MEMBER(k), "K[,K...]", 0, 0, "SDDMM: columns of A (the spec's, or 256)"},
    {"shapes", 0, OPTION_TEXT, MEMBER(shapes_file), "FILE", 0, 0,
     "generated matrices instead of files, a line each: rows columns sparsity sizes"},
    {"b-major", 0, OPTION_CHOICE, MEMBER(b_major), "row|column", 0, 0,
     "SpMM: how B lies; column: token by token, which a kernel may transpose first (the spec's, or row)"},
    {"open", 0, OPTION_SWITCH, MEMBER(open), NULL, 0, 0, "kernels for any shapes (made for these)"},
    {"dilate", 0, OPTION_SWITCH, MEMBER(dilate), NULL, 0, 0,
     "each nonzero becomes a vector (usual for .smtx)"},
    {"union", 0, OPTION_SWITCH, MEMBER(unite), NULL, 0, 0,
     "V rows share the union of their columns (usual for .mtx)"},
    {"pattern", 0, OPTION_TEXT, MEMBER(pattern), PATTERN_WORDS, 0, 0, "gemm24: " PATTERN_HELP},
    {"seed", 0, OPTION_INTEGER, MEMBER(seed), "S", 0, INT64_MAX, "of the matrices of --shapes (1)"},
    {"device", 0, OPTION_TEXT, MEMBER(device), "DEVICE", 0, 0, "auto (the usual), cuda:I or sim"},
    {"records", 0, OPTION_TEXT, MEMBER(records), "FILE", 0, 0,
     "one's own records (MCGEN_RECORDS, or records.jsonl in $XDG_DATA_HOME/mcgen)"},
    {"json", 0, OPTION_SWITCH, MEMBER(json), NULL, 0, 0, "print JSON, an object a line"},
};

/* Where there is no matrix of the name, it is that of a spec, and misspelt. */
static bool is_spec(const char *word) {
    return cmd_is_spec(word) || (strpbrk(word, "/.") == NULL && access(word, F_OK) != 0);
}

size_t tune_sort_specs(char **operands, size_t *count) {
    size_t specs = 0, i;
    for (i = 0; operands[i] != NULL; i++) {
        if (!is_spec(operands[i])) continue;
        char *spec = operands[i];
        memmove(operands + specs + 1, operands + specs, (i - specs) * sizeof *operands);
        operands[specs++] = spec;
    }
    *count = i;
    return specs;
}

/* Fields that say what is computed, not how: those that --set may set, and on which specs have to agree. */
static bool says_what(const mc_operator *o, problem_member member) {
    return operator_has(o, member) && problem_members[member].field != NULL;
}

/* -- Settings */

static mc_status check_setting(const mc_setting *setting, const mc_operator *o, mc_diag *diag) {
    for (problem_member i = FIRST_MEMBER; i < MEMBERS; i++)
        if (says_what(o, i) && strcmp(problem_members[i].field, setting->field) == 0) return MC_OK;
    return mc_fail(diag, MC_USAGE,
                   "--set %s: only fields that say what is computed, others are what tuning is about (a spec "
                   "of your own has fewer candidates)",
                   setting->field);
}

static mc_status check_settings(const tune_options *options, const mc_operator *o, mc_diag *diag) {
    mc_status status = MC_OK;
    for (size_t i = 0; i < options->settings.count && status == MC_OK; i++)
        status = check_setting(&options->settings.items[i], o, diag);
    return status;
}

static bool is_set(const tune_options *options, const char *field) {
    for (size_t i = 0; i < options->settings.count; i++)
        if (strcmp(options->settings.items[i].field, field) == 0) return true;
    return false;
}

/* Without a spec nothing says what the types are: what the schema has as a default is not what somebody
   wants. Where one operand alone becomes C, its type is half of what is computed. */
static mc_status check_types(const tune_options *options, mc_diag *diag) {
    static const problem_member wanted[] = {MEMBER_lhs, MEMBER_rhs, MEMBER_vec, MEMBER_out};
    if (options->op == 0)
        return mc_fail(diag, MC_USAGE, "%s: wants a SPEC, or --op, --lhs, --rhs and --vec", options->command);
    const mc_operator *o = operator_of((mc_op)(options->op - 1));
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        const char *field = problem_members[wanted[i]].field;
        bool usual = (wanted[i] == MEMBER_out && operator_has(o, MEMBER_rhs)) ||
                     (wanted[i] == MEMBER_vec && o->two_of_four);
        if (operator_has(o, wanted[i]) && !usual && !is_set(options, field))
            return mc_fail(diag, MC_USAGE, "%s: without a SPEC --%s is missing", options->command, field);
    }
    return MC_OK;
}

/* -- From a kernel to a problem */

static mc_status read_kernel(const mc_kernel *kernel, tune_kind *kind, mc_diag *diag) {
    mc_plan_config *config = &kind->config;
    plan_problem own;
    mc_status status = plan_problem_read(kernel, &own, diag);
    if (status != MC_OK) return mc_fail(diag, status, "such kernels are not tuned");
    if (own.batch != 0)
        return mc_fail(diag, MC_CANNOT, "no spec says how many products a batch has: mc_tune tunes them");
    status = tune_check(&own, diag);
    if (status != MC_OK) return status;
    const mc_operator *o = kind->op = operator_of(own.op);
    config->size = sizeof *config;
    for (problem_member i = FIRST_MEMBER; i < MEMBERS; i++) {
        bool of_matrix =
            o->matrix.wanted && (i == o->matrix.type || i == o->matrix.rows || i == o->matrix.cols);
        if (operator_has(o, i) && !of_matrix) member_set_config(config, i, member_get(&own, i));
    }
    kind->type = o->matrix.type != NO_MEMBER ? (mc_type)member_get(&own, o->matrix.type) : MC_F32;
    kind->vec = own.vec > 0 ? own.vec : 1; /* 1: there is no matrix */
    return MC_OK;
}

/* -- Specs */

/* LINES: of a spec made of types alone, where PATH is NULL. */
static mc_status read_spec(const tune_options *options, const char *path, const char *lines, int capability,
                           mc_spec **spec, mc_diag *diag) {
    const cmd_settings *settings = &options->settings;
    char text[256];
    if (path != NULL) return mc_spec_read_for(path, settings->items, settings->count, capability, spec, diag);
    const char *name = operator_of((mc_op)(options->op - 1))->name;
    int size = snprintf(text, sizeof text, "op = \"%s\"\n%s", name, lines != NULL ? lines : "");
    return mc_spec_read_text_for("options", text, (size_t)size, settings->items, settings->count, capability,
                                 spec, diag);
}

static mc_status make_from(const tune_options *options, const char *path, const char *lines, int capability,
                           mc_kernel **kernel, mc_diag *diag) {
    mc_spec *spec = NULL;
    *kernel = NULL;
    mc_status status = read_spec(options, path, lines, capability, &spec, diag);
    if (status == MC_OK) status = mc_kernel_generate(spec, mc_spec_default(spec), kernel, diag);
    mc_spec_destroy(spec);
    return status;
}

static mc_status make_kernel(const tune_options *options, const char *path, int capability,
                             mc_kernel **kernel, mc_diag *diag) {
    if (path != NULL) return make_from(options, path, NULL, capability, kernel, diag);
    const mc_operator *o = operator_of((mc_op)(options->op - 1));
    mc_status status = make_from(options, NULL, o->spec, capability, kernel, diag);
    if (status == MC_OK || o->other_spec == NULL) return status;
    if (make_from(options, NULL, o->other_spec, capability, kernel, NULL) != MC_OK) return status;
    mc_diag_clear(diag);
    return MC_OK;
}

/* A field's text, "" where the family has no such field. */
static const char *text_of(const mc_kernel *kernel, const char *field) {
    const char *text = mc_kernel_field_text(kernel, field);
    return text != NULL ? text : "";
}

/* Shapes may differ from spec to spec: the problem's are taken. */
static mc_status check_same(const mc_operator *o, const mc_kernel *first, const mc_kernel *kernel,
                            const char *path, mc_diag *diag) {
    const char *family = mc_kernel_contract(first)->family;
    if (strcmp(family, mc_kernel_contract(kernel)->family) != 0)
        return mc_fail(diag, MC_USAGE, "%s: op is \"%s\", the first spec's \"%s\": not the same problem",
                       path, mc_kernel_contract(kernel)->family, family);
    for (problem_member i = FIRST_MEMBER; i < MEMBERS; i++) {
        const member_row *row = &problem_members[i];
        if (!says_what(o, i) || row->setting == SETTING_SHAPE) continue;
        const char *want = text_of(first, row->field), *got = text_of(kernel, row->field);
        if (strcmp(want, got) == 0) continue;
        return mc_fail(
            diag, MC_USAGE,
            "%s: %s is \"%s\", the first spec's \"%s\": not the same problem (--set %s=... sets both)", path,
            row->field, got, want, row->field);
    }
    return MC_OK;
}

static mc_status check_spec(const tune_options *options, const mc_operator *o, const mc_kernel *first,
                            const char *path, int capability, mc_diag *diag) {
    mc_kernel *kernel;
    mc_status status = make_kernel(options, path, capability, &kernel, diag);
    if (status == MC_OK) status = check_same(o, first, kernel, path, diag);
    mc_kernel_destroy(kernel);
    return status;
}

mc_status tune_kind_read(const tune_options *options, char **paths, size_t count, int capability,
                         tune_kind *kind, mc_diag *diag) {
    mc_kernel *first = NULL;
    *kind = (tune_kind){0};
    mc_status status = MC_OK;
    if (count == 0) status = check_types(options, diag);
    else if (options->op != 0)
        status = mc_fail(diag, MC_USAGE, "%s: --op goes without a SPEC", options->command);
    if (status == MC_OK) status = make_kernel(options, count > 0 ? paths[0] : NULL, capability, &first, diag);
    if (status == MC_OK) status = read_kernel(first, kind, diag);
    if (status == MC_OK) status = check_settings(options, kind->op, diag);
    for (size_t i = 1; i < count && status == MC_OK; i++)
        status = check_spec(options, kind->op, first, paths[i], capability, diag);
    mc_kernel_destroy(first);
    kind->config.specs = (const char *const *)paths;
    kind->config.spec_count = count;
    kind->config.shapes = options->open ? MC_SHAPES_OPEN : MC_SHAPES_FIXED;
    if (options->b_major != 0) kind->config.b_major = (mc_major)(options->b_major - 1);
    return status;
}

mc_plan_config tune_problem_at(const tune_kind *kind, const mc_vsparse *matrix, mc_matrix *handle,
                               int64_t size) {
    mc_plan_config config = kind->config;
    config.matrix = handle;
    member_set_config(&config, kind->op->size, size);
    if (kind->op->matrix.wanted) return config;
    member_set_config(&config, kind->op->matrix.rows, matrix->rows);
    if (kind->op->matrix.cols != NO_MEMBER) member_set_config(&config, kind->op->matrix.cols, matrix->cols);
    return config;
}
