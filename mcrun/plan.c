/* mcrun plan: which kernel a plan of the embedded runtime takes for a matrix, sizes and types, and why. It
   makes that plan, and nothing is executed. */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "context/matrix.h"
#include "costs.h"
#include "mcrt_internal.h"
#include "records/text.h"
#include "pattern.h"
#include "shown.h"
#include "text/file.h"
#include "tune.h"

typedef struct plan_options {
    tune_options problem;
    const char *ptx_file;
    int a_major;  /* mc_major, from 1; 0: not given */
    int b_layout; /* mc_layout, from 1; 0: the spec's */
    int dense;    /* mc_dense_policy, from 1; 0: not given */
} plan_options;

static const cmd_option plan_table[] = {
    {"ptx", 0, OPTION_TEXT, offsetof(plan_options, ptx_file), "FILE", 0, 0,
     "write the kernel's PTX here, without those of transposes; the problem has to be one"},
    {"a-major", 0, OPTION_CHOICE, offsetof(plan_options, a_major), "row|column", 0, 0,
     "gemm: how A lies; column: which a kernel transposes first (row)"},
    {"b-layout", 0, OPTION_CHOICE, offsetof(plan_options, b_layout), "columns|rows", 0, 0,
     "SDDMM, gemm, gemm24: how B lies, whatever specs say; of 8 and 4 bits a gemm's rows are transposed "
     "first (the spec's)"},
    {"dense", 0, OPTION_CHOICE, offsetof(plan_options, dense), "never|if-faster", 0, 0,
     "SpMM, gemm24: if-faster: a dense kernel and the matrix with its zeros where that is faster (never)"},
};

typedef struct planner {
    const plan_options *options;
    tune_kind kind;
    tune_sources sources;
    mc_context *context;
    mc_context_info device;
    size_t shown; /* problems */
} planner;

/* -- What is said of a plan */

/* A plan, its problem, and its kernel, generated anew: that of the plan may be without PTX. */
typedef struct planned {
    const mc_plan *plan;
    const tune_source *source;
    plan_problem problem;
    mc_plan_info info;
    size_t workspace;
    int64_t packed_bytes;    /* of the matrix, as the sparse kernel reads it; with --dense if-faster */
    const mc_kernel *kernel; /* NULL: C has no elements, and needs none */
    json_t *facts;           /* what mcgen --describe --json says of the kernel */
} planned;

static const char *const origins[] = {[MC_ORIGIN_MEASURED] = "measured",
                                      [MC_ORIGIN_NEAR] = "near",
                                      [MC_ORIGIN_ESTIMATED] = "estimated",
                                      [MC_ORIGIN_DEFAULT] = "default"};

static bool is_measured(const planned *p) { return p->info.origin == MC_ORIGIN_MEASURED; }

/* What a measurement on the simulator counted. An estimate is of a GPU in any case. */
static bool in_instructions(const planner *t, const planned *p) {
    return t->device.capability == 0 && is_measured(p);
}

static json_int_t fact(const planned *p, const char *name) {
    return json_integer_value(json_object_get(json_object_get(p->facts, "facts"), name));
}

static bool wants_dense(const planner *t) { return t->options->dense - 1 == MC_DENSE_IF_FASTER; }
static const char *basis_of(const planned *p) { return p->info.dense_measured ? "measured" : "estimate"; }

/* The sides of the comparison that --dense asks for. */
static void print_dense(const planner *t, const planned *p) {
    const bool counted = t->device.capability == 0 && p->info.dense_measured;
    if (!wants_dense(t)) return;
    printf("dense      %s: %s\n", p->info.dense ? "taken" : "not taken", shown(p->info.dense_reason).text);
    if (p->info.dense_microseconds > 0)
        printf("           %s: dense %s, sparse %s%s\n", basis_of(p),
               cost_text(p->info.dense_microseconds, counted, 2).text,
               cost_text(p->info.sparse_microseconds, counted, 2).text,
               t->device.capability == 0 && !counted ? " on a GPU" : "");
    if (p->info.dense_bytes > 0)
        printf("memory     %" PRId64 " bytes for the matrix with its zeros, %" PRId64 " packed\n",
               p->info.dense_bytes, p->packed_bytes);
}

/* Whether there is pass I. */
static bool pass_at(const planned *p, size_t i, mc_pass_info *pass) {
    *pass = (mc_pass_info){.size = sizeof *pass};
    return mc_plan_get_pass(p->plan, i, pass, NULL) == MC_OK;
}

/* Whether a pass of these FIELDS makes B as long as the matrix's spans want it. */
static bool is_spreading(const char *fields) {
    char start[32];
    const int length = snprintf(start, sizeof start, "op=%s ", operator_spreading()->name);
    return strncmp(fields, start, (size_t)length) == 0;
}

static void print_passes(const planner *t, const planned *p) {
    mc_pass_info pass;
    for (size_t i = 0; pass_at(p, i, &pass); i++) {
        const bool spreads = is_spreading(pass.fields);
        printf("%s  %s\n           of %s, before the kernel", spreads ? "spread   " : "transpose",
               shown(pass.fields).text, pass.operand);
        if (pass.microseconds > 0)
            printf(", some %.2f us%s", pass.microseconds, t->device.capability == 0 ? " on a GPU" : "");
        printf("\n");
    }
}

static void print_kernel(const planner *t, const planned *p) {
    const mc_contract *c = mc_kernel_contract(p->kernel);
    printf("kernel     %016" PRIx64 "  of %s\nwhy        %s: %s\n", p->info.hash, shown(p->info.spec).text,
           origins[p->info.origin], shown(p->info.reason).text);
    if (p->info.microseconds > 0)
        printf("%s   %s%s\n", is_measured(p) ? "measured" : "estimate",
               cost_text(p->info.microseconds, in_instructions(t, p), 2).text,
               !is_measured(p) && t->device.capability == 0 ? " on a GPU" : "");
    printf("launch     %u threads a block, %u bytes of shared memory, some %" JSON_INTEGER_FORMAT
           " registers a thread\n",
           c->block[0] * c->block[1] * c->block[2], c->shared_static + c->shared_dynamic,
           fact(p, "register_estimate"));
    printf("fields     %s\n", shown(p->info.fields).text);
    print_dense(t, p);
    print_passes(t, p);
    if (p->workspace > 0) printf("workspace  %zu bytes\n", p->workspace);
}

static void print_plan(const planner *t, const planned *p) {
    char title[PROBLEM_TITLE];
    problem_title(&p->problem, title);
    printf("%smatrix     %s\nproblem    %s\ndevice     %s\n", t->shown > 0 ? "\n" : "",
           shown(p->source->name).text, title, t->device.device);
    if (p->kernel != NULL) print_kernel(t, p);
    else printf("kernel     none: C has no elements\n");
    fflush(stdout);
}

/* The problem as records have it. */
static json_t *problem_json(const plan_problem *problem) {
    mc_text text = {0};
    problem_print(problem, &text);
    char *line = text_take(&text);
    json_t *json = line != NULL ? json_loads(line, 0, NULL) : NULL;
    free(line);
    return json;
}

static bool put_passes(const planned *p, json_t *json) {
    json_t *passes = json_array();
    mc_pass_info pass;
    bool whole = passes != NULL;
    for (size_t i = 0; whole && pass_at(p, i, &pass); i++)
        whole = json_array_append_new(passes, json_pack("{s:s, s:o, s:f}", "operand", pass.operand, "fields",
                                                        shown_json(pass.fields), "estimate_us",
                                                        pass.microseconds)) == 0;
    return json_object_set_new(json, "transposes", passes) == 0 && whole &&
           json_object_set_new(json, "workspace_bytes", json_integer((json_int_t)p->workspace)) == 0;
}

static bool put_dense(const planner *t, const planned *p, json_t *json) {
    const bool counted = t->device.capability == 0 && p->info.dense_measured;
    json_t *dense = json_pack("{s:b, s:o, s:I, s:I}", "taken", p->info.dense, "reason",
                              shown_json(p->info.dense_reason), "dense_bytes",
                              (json_int_t)p->info.dense_bytes, "packed_bytes", (json_int_t)p->packed_bytes);
    char name[32];
    bool whole = dense != NULL;
    snprintf(name, sizeof name, "dense_%s", basis_of(p));
    whole = whole && cost_put(dense, name, p->info.dense_microseconds, counted);
    snprintf(name, sizeof name, "sparse_%s", basis_of(p));
    whole = whole && cost_put(dense, name, p->info.sparse_microseconds, counted);
    return json_object_set_new(json, "dense", dense) == 0 && whole;
}

static bool put_kernel(const planner *t, const planned *p, json_t *json) {
    char hash[17];
    const mc_contract *c = mc_kernel_contract(p->kernel);
    snprintf(hash, sizeof hash, "%016" PRIx64, p->info.hash);
    json_t *kernel = json_pack(
        "{s:s, s:o, s:o, s:s, s:o, s:i, s:i, s:I}", "origin", origins[p->info.origin], "reason",
        shown_json(p->info.reason), "spec", shown_json(p->info.spec), "hash", hash, "fields",
        shown_json(p->info.fields), "threads", (int)(c->block[0] * c->block[1] * c->block[2]), "shared_bytes",
        (int)(c->shared_static + c->shared_dynamic), "register_estimate", fact(p, "register_estimate"));
    bool whole = kernel != NULL && json_object_update(json, kernel) == 0;
    json_decref(kernel);
    if (p->info.origin == MC_ORIGIN_NEAR)
        whole &= json_object_set_new(json, "distance", json_real(p->info.distance)) == 0;
    if (p->info.transpose_fields[0] != '\0') whole &= put_passes(p, json);
    if (wants_dense(t)) whole &= put_dense(t, p, json);
    return whole && cost_put(json, is_measured(p) ? "measured" : "estimate", p->info.microseconds,
                             in_instructions(t, p));
}

static mc_status print_json(const planner *t, const planned *p, mc_diag *diag) {
    json_t *json = json_pack("{s:o, s:o, s:s}", "matrix", shown_json(p->source->name), "problem",
                             problem_json(&p->problem), "device", t->device.device);
    bool whole = json != NULL && (p->kernel == NULL || put_kernel(t, p, json));
    if (whole) return tune_print_json(json, diag);
    json_decref(json);
    return mc_fail(diag, MC_NOMEM, "out of memory");
}

static mc_status write_ptx(const planner *t, const planned *p, mc_diag *diag) {
    const char *path = t->options->ptx_file;
    file_output output;
    if (path == NULL) return MC_OK;
    if (p->kernel == NULL) return mc_fail(diag, MC_CANNOT, "--ptx: C has no elements: there is no kernel");
    const char *ptx = mc_kernel_ptx(p->kernel);
    mc_status status = file_open(path, &output, diag);
    if (status != MC_OK) return status;
    file_write(&output, ptx, strlen(ptx));
    return file_commit(&output, diag);
}

/* The file first: what is printed is then true of it. */
static mc_status show(planner *t, const planned *p, mc_diag *diag) {
    mc_status status = write_ptx(t, p, diag);
    if (status != MC_OK) return status;
    if (t->options->problem.json) status = print_json(t, p, diag);
    else print_plan(t, p);
    t->shown++;
    return status;
}

static mc_status show_kernel(planner *t, planned *p, mc_diag *diag) {
    mc_kernel *kernel;
    if (p->info.fields[0] == '\0') return show(t, p, diag);
    mc_status status = mc_kernel_from_fields(p->info.fields, &kernel, diag);
    if (status != MC_OK) return status;
    char *described = mc_kernel_describe(kernel, true);
    p->kernel = kernel;
    p->facts = described != NULL ? json_loads(described, 0, NULL) : NULL;
    status = p->facts != NULL ? show(t, p, diag) : mc_fail(diag, MC_NOMEM, "out of memory");
    json_decref(p->facts);
    free(described);
    mc_kernel_destroy(kernel);
    return status;
}

/* -- One problem, one matrix, all of them */

/* A policy of the environment's that would measure first is taken for the usual one. */
static mc_tuning policy(void) {
    const char *value = getenv("MCGEN_TUNING");
    return value != NULL && strcmp(value, "off") == 0 ? MC_TUNING_OFF : MC_TUNING_REPLAY;
}

/* What the matrix takes on the device for a plan of CONFIG without the policy. */
static mc_status measure_packed(planner *t, const mc_plan_config *config, int64_t *bytes, mc_diag *diag) {
    mc_plan_config sparse = *config;
    mc_matrix_info info = {.size = sizeof info};
    mc_plan *plan = NULL;
    sparse.dense = MC_DENSE_NEVER;
    mc_status status = mc_plan_create(t->context, &sparse, &plan, diag);
    if (status == MC_OK) status = mc_matrix_get_info(config->matrix, &info, diag);
    *bytes = info.device_bytes;
    mc_plan_destroy(plan);
    return status;
}

static mc_status plan_problem_at(planner *t, const tune_source *source, int64_t size,
                                 const mc_vsparse *matrix, mc_matrix *handle, mc_diag *diag) {
    mc_plan_config config = tune_problem_at(&t->kind, matrix, handle, size);
    planned p = {.source = source, .info = {.size = sizeof p.info}};
    mc_plan *plan = NULL;
    config.tuning = policy();
    if (t->options->a_major != 0) config.a_major = (mc_major)(t->options->a_major - 1);
    if (t->options->b_layout != 0) config.b_layout = (mc_layout)(t->options->b_layout - 1);
    if (t->options->dense != 0) config.dense = (mc_dense_policy)(t->options->dense - 1);
    mc_status status = plan_problem_of(&config, matrix, &p.problem, diag);
    if (status == MC_OK && wants_dense(t)) status = measure_packed(t, &config, &p.packed_bytes, diag);
    if (status == MC_OK) status = mc_plan_create(t->context, &config, &plan, diag);
    if (status == MC_OK) status = mc_plan_get_info(plan, &p.info, diag);
    p.workspace = mc_plan_workspace(plan), p.plan = plan;
    if (status == MC_OK) status = show_kernel(t, &p, diag);
    mc_plan_destroy(plan);
    return status;
}

static mc_status plan_source(planner *t, const tune_source *source, mc_diag *diag) {
    mc_vsparse matrix;
    mc_matrix *handle = NULL;
    mc_status status = tune_source_load(source, &t->options->problem, &t->kind, &matrix, diag);
    if (status == MC_OK && t->kind.op->matrix.wanted)
        status = matrix_of_host(t->context, &matrix, &handle, diag);
    for (size_t i = 0; i < source->size_count && status == MC_OK; i++)
        status = plan_problem_at(t, source, source->sizes[i], &matrix, handle, diag);
    mc_matrix_destroy(handle);
    mc_vsparse_free(&matrix);
    return status;
}

static mc_status plan_all(planner *t, mc_diag *diag) {
    mc_status status = MC_OK;
    if (t->options->ptx_file != NULL && t->sources.problems > 1)
        return mc_fail(diag, MC_USAGE, "plan: --ptx is for one problem, these are %zu", t->sources.problems);
    for (size_t i = 0; i < t->sources.count && status == MC_OK; i++)
        status = plan_source(t, &t->sources.items[i], diag);
    return status;
}

/* -- The command */

static mc_status open_context(planner *t, mc_diag *diag) {
    const mc_context_config config = {.size = sizeof config,
                                      .device = t->options->problem.device,
                                      .records = t->options->problem.records,
                                      .log = cmd_log};
    mc_status status = mc_context_create(&config, &t->context, diag);
    t->device.size = sizeof t->device;
    return status == MC_OK ? mc_context_get_info(t->context, &t->device, diag) : status;
}

static mc_status run(planner *t, char **operands, size_t specs, size_t count, mc_diag *diag) {
    const tune_options *options = &t->options->problem;
    mc_status status = open_context(t, diag);
    if (status == MC_OK)
        status = tune_kind_read(options, operands, specs, t->device.capability, &t->kind, diag);
    if (status == MC_OK)
        status = tune_sources_read(options, &t->kind, operands + specs, count - specs, &t->sources, diag);
    if (status == MC_OK) status = plan_all(t, diag);
    tune_sources_free(&t->sources);
    mc_context_destroy(t->context);
    return status;
}

/* Whether --ptx would replace what is read. */
static int check_ptx(const plan_options *options, char *const *operands) {
    const char *path = options->ptx_file, *taken = NULL;
    if (path == NULL) return CMD_DONE;
    for (size_t i = 0; operands[i] != NULL; i++)
        if (!cmd_is_spec_name(operands[i]) && cmd_reads(operands[i], path)) taken = operands[i];
    const char *shapes = options->problem.shapes_file;
    if (shapes != NULL && file_is_same(shapes, path)) taken = shapes;
    return taken == NULL ? CMD_DONE
                         : cmd_usage("plan: --ptx %s would overwrite %s, which is read", path, taken);
}

static int plan_run(int argc, char **argv) {
    plan_options options = {.problem = {.command = "plan", .device = "auto", .seed = 1}};
    char **operands;
    size_t count;
    int exit_status;
    if (!cmd_parse(&cmd_plan, argc, argv, &options, &operands, &exit_status)) return exit_status;
    exit_status = pattern_check(options.problem.pattern);
    if (exit_status == CMD_DONE) exit_status = check_ptx(&options, operands);
    if (exit_status != CMD_DONE) return exit_status;
    size_t specs = tune_sort_specs(operands, &count);
    planner t = {.options = &options};
    mc_diag *diag = mc_diag_create();
    return cmd_finish(run(&t, operands, specs, count, diag), diag);
}

const cmd cmd_plan = {
    "plan",
    "[SPEC...] MATRIX...",
    "tells which kernel the runtime takes for a problem, and why",
    CMD_ANY_COUNT,
    {{tune_problem_table, TUNE_PROBLEM_OPTIONS}, {plan_table, sizeof plan_table / sizeof plan_table[0]}},
    plan_run};
