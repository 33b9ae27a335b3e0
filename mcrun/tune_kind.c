#include <stdio.h>
#include <string.h>
#include "tune.h"
#include "mcrt_internal.h"
#include "problem/problem.h"

/* Fields that say what is computed, not how: those that --set may set, and on which specs have to agree. */
typedef struct problem_field {
    const char *name;
    bool shape;          /* may differ from spec to spec: the problem's are taken */
    const char *only_in; /* family; NULL: in all that have it */
} problem_field;

static const problem_field problem_fields[] = {
    {.name = "op"},
    {.name = "lhs"},
    {.name = "rhs"},
    {.name = "out"},
    {.name = "vec"},
    {.name = "scale"},
    {.name = "bias"},
    {.name = "act"},
    {.name = "sum"},
    {.name = "mask"},
    {.name = "layout"},
    {.name = "order", .only_in = "sddmm"},
    {.name = "align"},
    {.name = "m", .shape = true},
    {.name = "n", .shape = true},
    {.name = "k", .shape = true},
    {.name = "lda", .shape = true},
    {.name = "ldb", .shape = true},
    {.name = "ldc", .shape = true},
};
enum { FIELD_COUNT = sizeof problem_fields / sizeof problem_fields[0] };

static bool is_of(const problem_field *field, const char *family) {
    return field->only_in == NULL || strcmp(field->only_in, family) == 0;
}

/* -- Settings */

static mc_status check_setting(const mc_setting *setting, const char *family, mc_diag *diag) {
    for (int i = 0; i < FIELD_COUNT; i++)
        if (strcmp(problem_fields[i].name, setting->field) == 0 && is_of(&problem_fields[i], family))
            return MC_OK;
    return mc_fail(diag, MC_USAGE,
                   "--set %s: only fields that say what is computed, others are what tuning is about (a spec "
                   "of your own has fewer candidates)",
                   setting->field);
}

static mc_status check_settings(const tune_options *options, const mc_kernel *kernel, mc_diag *diag) {
    const char *family = mc_kernel_contract(kernel)->family;
    mc_status status = MC_OK;
    for (size_t i = 0; i < options->settings.count && status == MC_OK; i++)
        status = check_setting(&options->settings.items[i], family, diag);
    return status;
}

/* Without a spec nothing says what the types are: what the schema has as a
   default is not what somebody wants. */
static mc_status check_types(const tune_options *options, mc_diag *diag) {
    static const char *const wanted[] = {"lhs", "rhs", "vec"};
    if (options->op == 0)
        return mc_fail(diag, MC_USAGE, "tune: wants a SPEC, or --op, --lhs, --rhs and --vec");
    for (int i = 0; i < 3; i++) {
        bool given = false;
        for (size_t j = 0; j < options->settings.count; j++)
            given |= strcmp(options->settings.items[j].field, wanted[i]) == 0;
        if (!given) return mc_fail(diag, MC_USAGE, "tune: without a SPEC --%s is missing", wanted[i]);
    }
    return MC_OK;
}

/* -- From a kernel to a problem */

static int64_t fixed(const mc_kernel *kernel, const char *field) {
    int64_t value = mc_kernel_field(kernel, field);
    return value > 0 ? value : 0;
}

static bool has_text(const mc_kernel *kernel, const char *field, const char *text) {
    const char *value = mc_kernel_field_text(kernel, field);
    return value != NULL && strcmp(value, text) == 0;
}

static mc_status read_family(const mc_kernel *kernel, mc_op *op, mc_diag *diag) {
    const char *family = mc_kernel_contract(kernel)->family;
    for (*op = MC_OP_SPMM; *op <= MC_OP_SDDMM; ++*op)
        if (strcmp(plan_op_text(*op), family) == 0) return MC_OK;
    return mc_fail(diag, MC_CANNOT, "kernels of family %s are not tuned", family);
}

static mc_status read_types(const mc_kernel *kernel, tune_kind *kind, mc_diag *diag) {
    mc_plan_config *config = &kind->config;
    bool sampled = config->op == MC_OP_SDDMM;
    mc_output output;
    mc_type lhs;
    mc_status status = mc_type_of(kernel, "lhs", &lhs, diag);
    if (status == MC_OK) status = mc_type_of(kernel, "rhs", &config->b, diag);
    if (status == MC_OK) status = mc_output_of(kernel, &output, diag);
    if (status != MC_OK) return status;
    kind->type = sampled ? MC_F32 : lhs;
    config->a = sampled ? lhs : (mc_type)0;
    config->c = output.type;
    config->scale = output.scale;
    config->bias = output.bias;
    config->mask_values = output.masked;
    return MC_OK;
}

static mc_status read_kernel(const mc_kernel *kernel, tune_kind *kind, mc_diag *diag) {
    mc_plan_config *config = &kind->config;
    config->size = sizeof *config;
    mc_status status = read_family(kernel, &config->op, diag);
    if (status == MC_OK) status = read_types(kernel, kind, diag);
    if (status != MC_OK) return status;
    bool sampled = config->op == MC_OP_SDDMM;
    kind->vec = (int)mc_kernel_field(kernel, "vec");
    config->activation = has_text(kernel, "act", "relu") ? MC_ACTIVATION_RELU : MC_ACTIVATION_NONE;
    config->exact = has_text(kernel, "sum", "exact");
    config->n = sampled ? 0 : fixed(kernel, "n");
    config->k = sampled ? fixed(kernel, "k") : 0;
    config->lda = sampled ? fixed(kernel, "lda") : 0;
    config->ldb = fixed(kernel, "ldb");
    config->ldc = sampled ? 0 : fixed(kernel, "ldc");
    config->align = (unsigned)fixed(kernel, "align");
    if (sampled) status = mc_layout_of(kernel, &config->b_layout, diag);
    if (sampled && status == MC_OK) status = mc_order_of(kernel, &config->c_order, diag);
    return status;
}

/* -- Specs */

static mc_status read_spec(const tune_options *options, const char *path, int capability, mc_spec **spec,
                           mc_diag *diag) {
    const cmd_settings *settings = &options->settings;
    char text[32];
    if (path != NULL) return mc_spec_read_for(path, settings->items, settings->count, capability, spec, diag);
    int size = snprintf(text, sizeof text, "op = \"%s\"\n", plan_op_text((mc_op)(options->op - 1)));
    return mc_spec_read_text_for("options", text, (size_t)size, settings->items, settings->count, capability,
                                 spec, diag);
}

static mc_status make_kernel(const tune_options *options, const char *path, int capability,
                             mc_kernel **kernel, mc_diag *diag) {
    mc_spec *spec = NULL;
    *kernel = NULL;
    mc_status status = read_spec(options, path, capability, &spec, diag);
    if (status == MC_OK) status = mc_kernel_generate(spec, mc_spec_default(spec), kernel, diag);
    mc_spec_destroy(spec);
    return status;
}

/* A field's text, "" where the family has no such field. */
static const char *text_of(const mc_kernel *kernel, const char *field) {
    const char *text = mc_kernel_field_text(kernel, field);
    return text != NULL ? text : "";
}

static mc_status check_same(const mc_kernel *first, const mc_kernel *kernel, const char *path,
                            mc_diag *diag) {
    const char *family = mc_kernel_contract(first)->family;
    for (int i = 0; i < FIELD_COUNT; i++) {
        const problem_field *field = &problem_fields[i];
        const char *want = text_of(first, field->name), *got = text_of(kernel, field->name);
        if (field->shape || !is_of(field, family) || strcmp(want, got) == 0) continue;
        return mc_fail(
            diag, MC_USAGE,
            "%s: %s is \"%s\", the first spec's \"%s\": not the same problem (--set %s=... sets both)", path,
            field->name, got, want, field->name);
    }
    return MC_OK;
}

static mc_status check_spec(const tune_options *options, const mc_kernel *first, const char *path,
                            int capability, mc_diag *diag) {
    mc_kernel *kernel;
    mc_status status = make_kernel(options, path, capability, &kernel, diag);
    if (status == MC_OK) status = check_same(first, kernel, path, diag);
    mc_kernel_destroy(kernel);
    return status;
}

mc_status tune_kind_read(const tune_options *options, char **paths, size_t count, int capability,
                         tune_kind *kind, mc_diag *diag) {
    mc_kernel *first = NULL;
    *kind = (tune_kind){0};
    mc_status status = MC_OK;
    if (count == 0) status = check_types(options, diag);
    else if (options->op != 0) status = mc_fail(diag, MC_USAGE, "tune: --op goes without a SPEC");
    if (status == MC_OK) status = make_kernel(options, count > 0 ? paths[0] : NULL, capability, &first, diag);
    if (status == MC_OK) status = check_settings(options, first, diag);
    if (status == MC_OK) status = read_kernel(first, kind, diag);
    for (size_t i = 1; i < count && status == MC_OK; i++)
        status = check_spec(options, first, paths[i], capability, diag);
    mc_kernel_destroy(first);
    kind->config.specs = (const char *const *)paths;
    kind->config.spec_count = count;
    kind->config.shapes = options->open ? MC_SHAPES_OPEN : MC_SHAPES_FIXED;
    return status;
}
