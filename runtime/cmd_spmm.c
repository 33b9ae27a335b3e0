/* mcrun spmm: runs a kernel on a matrix and compares it with the exact result. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cmd_counts.h"
#include "cmd_factors.h"
#include "cmd_spmm_report.h"
#include "file.h"

enum { DEFAULT_N = 256, BENCH_LAUNCHES = 20, BENCH_ROUNDS = 15 };

enum { VARIANTS_ALL = 1, VARIANTS_BEST };

typedef struct spmm_options {
    problem_options problem;
    int64_t n, ldb, ldc; /* 0: not given */
    const char *b_file, *ptx_file, *out_file, *device;
    int variants; /* VARIANTS_*; 0: one */
    bool specialise, bench, report, json;
} spmm_options;

static const cmd_option spmm_table[] = {
    {"n", 0, OPTION_INTEGER, offsetof(spmm_options, n), "N", 1, INT32_MAX,
     "columns of B (the spec's, those of --b, or 256)"},
    {"b", 0, OPTION_TEXT, offsetof(spmm_options, b_file), "FILE.npy", 0, 0, "B, K x N (random)"},
    {"ldb", 0, OPTION_INTEGER, offsetof(spmm_options, ldb), "L", 1, INT32_MAX, "leading dimension of B (N)"},
    {"ldc", 0, OPTION_INTEGER, offsetof(spmm_options, ldc), "L", 1, INT32_MAX, "leading dimension of C (N)"},
    {"out", 'o', OPTION_TEXT, offsetof(spmm_options, out_file), "FILE.npy", 0, 0, "write C here"},
    {"device", 0, OPTION_TEXT, offsetof(spmm_options, device), "DEVICE", 0, 0,
     "auto (the usual), cuda:I, sim, sim:reversed, sim:seed=N; behind these :landing=first or last, "
     ":limit=N"},
    {"ptx", 0, OPTION_TEXT, offsetof(spmm_options, ptx_file), "FILE", 0, 0,
     "run this PTX with the variant's packing and contract"},
    {"specialise", 0, OPTION_SWITCH, offsetof(spmm_options, specialise), NULL, 0, 0,
     "fix m, n, k, ldb and ldc in the kernel"},
    {"variants", 0, OPTION_CHOICE, offsetof(spmm_options, variants), "all|best", 0, 0,
     "run every legal variant, or the one of all specs that should be fastest"},
    {"bench", 0, OPTION_SWITCH, offsetof(spmm_options, bench), NULL, 0, 0,
     "time on a GPU: median of 15 graphs of 20 launches"},
    {"report", 0, OPTION_SWITCH, offsetof(spmm_options, report), NULL, 0, 0,
     "counts of the simulator: totals, and the PTX with counts beside its lines"},
    {"json", 0, OPTION_SWITCH, offsetof(spmm_options, json), NULL, 0, 0, "print JSON"},
};

/* Everything that the command holds. */
typedef struct session {
    const spmm_options *options;
    problem problem;
    mc_device *device;
    char device_text[192];
    char *ptx, *ran; /* of --ptx; what ran last, for --report */
    factors factors;
    mc_dense b, want, c; /* c: of the last run */
    int64_t ldc;
    double estimate; /* of the variant that --variants best picked, us; 0: none */
} session;

static void session_close(session *s) {
    mc_dense_free(&s->c);
    mc_dense_free(&s->want);
    mc_dense_free(&s->b);
    factors_free(&s->factors);
    free(s->ptx);
    free(s->ran);
    mc_device_close(s->device);
    problem_close(&s->problem);
}

/* -- Inputs */

/* The text as one string: PTX ends in NUL for the driver, and holds none before. */
static mc_status read_ptx(const char *path, char **ptx, mc_diag *diag) {
    size_t size;
    char *bytes;
    mc_status status = file_read(path, &bytes, &size, diag);
    if (status != MC_OK) return status;
    if (memchr(bytes, '\0', size) != NULL)
        status = mc_fail(diag, MC_FORMAT, "%s: PTX is text, this holds a zero byte", path);
    else if ((*ptx = strndup(bytes, size)) == NULL) status = mc_fail(diag, MC_NOMEM, "out of memory");
    free(bytes);
    return status;
}

static mc_status open_device(session *s, mc_diag *diag) {
    mc_status status = mc_device_open(s->options->device, &s->device, diag);
    if (status != MC_OK) return status;
    const mc_device_info *info = mc_device_get_info(s->device);
    if (info->kind == MC_DEVICE_SIM && s->options->bench)
        return mc_fail(diag, MC_CANNOT, "--bench: the simulator has no time to measure, this needs a GPU");
    if (info->kind != MC_DEVICE_SIM && s->options->report)
        return mc_fail(diag, MC_CANNOT, "--report: the counts are the simulator's (--device sim)");
    bool automatic = strcmp(s->options->device, "auto") == 0;
    const char *name = !automatic ? s->options->device : info->kind == MC_DEVICE_CUDA ? "cuda:0" : "sim";
    snprintf(s->device_text, sizeof s->device_text, "%s (%s)", name, info->name);
    return MC_OK;
}

/* Of B for KERNEL; where one of many is to be found, those that cannot take it are passed over. */
static mc_status check_ldb(const session *s, int64_t ldb, int64_t n, const mc_kernel *kernel, mc_diag *diag) {
    int64_t unit = mc_kernel_contract(kernel)->ldb_multiple;
    if (ldb < n)
        return mc_fail(diag, MC_USAGE, "--ldb is %lld, less than N = %lld", (long long)ldb, (long long)n);
    if (unit == 0 || ldb % unit == 0 || s->options->variants == VARIANTS_BEST) return MC_OK;
    return mc_fail(diag, MC_USAGE,
                   "--ldb is %lld, not a multiple of the %lld that the kernel needs: %lld is one",
                   (long long)ldb, (long long)unit, (long long)((ldb / unit + 1) * unit));
}

/* The least leading dimension of rows of N elements. */
static int64_t tight(mc_type type, int64_t n) { return mc_type_bytes(type) == 0 ? n + n % 2 : n; }

/* B out of --b, of the kernel's type and with --ldb's gap where one is asked for. */
static mc_status convert_b(session *s, const mc_kernel *kernel, mc_type type, mc_diag *diag) {
    mc_dense read = s->b;
    int64_t ldb = s->options->ldb > 0 ? s->options->ldb : tight(type, read.cols);
    mc_status status = check_ldb(s, ldb, read.cols, kernel, diag);
    if (status != MC_OK || (read.type == type && read.ld == ldb)) return status;
    status = mc_dense_convert(&read, "B", type, ldb, &s->b, diag);
    mc_dense_free(&read);
    return status;
}

static mc_status read_b(session *s, const mc_kernel *kernel, mc_type type, mc_diag *diag) {
    const spmm_options *o = s->options;
    mc_status status = mc_npy_read(o->b_file, &s->b, diag);
    if (status != MC_OK) return status;
    if (s->b.rows != s->problem.pattern.cols)
        return mc_fail(diag, MC_CANNOT, "%s has %lld rows, the matrix %lld columns", o->b_file,
                       (long long)s->b.rows, (long long)s->problem.pattern.cols);
    if (o->n > 0 && o->n != s->b.cols)
        return mc_fail(diag, MC_USAGE, "--n is %lld, but %s has %lld columns", (long long)o->n, o->b_file,
                       (long long)s->b.cols);
    return convert_b(s, kernel, type, diag);
}

/* What the command line says of a shape, else what the kernel has fixed it to, else USUAL. */
static int64_t choose_shape(int64_t given, const mc_kernel *kernel, const char *field, int64_t usual) {
    int64_t fixed = mc_kernel_field(kernel, field);
    return given > 0 ? given : fixed > 0 ? fixed : usual;
}

static mc_status make_b(session *s, const mc_kernel *kernel, mc_type type, mc_diag *diag) {
    const spmm_options *o = s->options;
    int64_t n = choose_shape(o->n, kernel, "n", DEFAULT_N),
            ldb = choose_shape(o->ldb, kernel, "ldb", tight(type, n));
    mc_status status = check_ldb(s, ldb, n, kernel, diag);
    if (status == MC_OK) status = mc_dense_create(type, s->problem.pattern.cols, n, ldb, &s->b, diag);
    if (status == MC_OK) mc_dense_fill(&s->b, MC_VALUES_FULL, (uint64_t)o->problem.seed + 1);
    return status;
}

/* B has its type from the first kernel; a variant that reads another type says so when it runs. */
static mc_status prepare_b(session *s, const mc_kernel *kernel, mc_diag *diag) {
    mc_type type;
    mc_status status = mc_type_of(kernel, "rhs", &type, diag);
    if (status == MC_OK)
        status = s->options->b_file != NULL ? read_b(s, kernel, type, diag) : make_b(s, kernel, type, diag);
    if (status != MC_OK) return status;
    s->ldc = choose_shape(s->options->ldc, kernel, "ldc", s->b.cols);
    if (s->ldc < s->b.cols)
        return mc_fail(diag, MC_USAGE, "--ldc is %lld, less than N = %lld", (long long)s->ldc,
                       (long long)s->b.cols);
    return MC_OK;
}

/* Fixes the shapes for the default variant's V, and V itself, which M follows from. */
static mc_status specialise(session *s, const mc_kernel *kernel, mc_diag *diag) {
    enum { COUNT = 6 };
    int64_t vec = mc_kernel_field(kernel, "vec");
    if (vec < 1 || vec > INT32_MAX) return mc_fail(diag, MC_CANNOT, "--specialise: the kernel has no vec");
    const int64_t values[COUNT] = {vec,   problem_rows(&s->problem, (int)vec), s->b.cols, s->b.rows, s->b.ld,
                                   s->ldc};
    mc_setting settings[COUNT] = {{"vec", NULL}, {"m", NULL},   {"n", NULL},
                                  {"k", NULL},   {"ldb", NULL}, {"ldc", NULL}};
    char texts[COUNT][24];
    for (int i = 0; i < COUNT; i++) {
        snprintf(texts[i], sizeof texts[i], "%" PRId64, values[i]);
        settings[i].value = texts[i];
    }
    return problem_respec(&s->problem, settings, COUNT, diag);
}

static mc_status check_family(const mc_kernel *kernel, mc_diag *diag) {
    const char *family = mc_kernel_contract(kernel)->family;
    if (strcmp(family, "spmm") == 0) return MC_OK;
    return mc_fail(diag, MC_CANNOT, "this is a kernel of family %s: mcrun spmm runs family spmm", family);
}

/* Of the GPU that the spec is read for. PTX of a file was made without knowing the device. */
static int capability_of(const session *s) {
    return s->options->ptx_file ? 0 : mc_device_get_info(s->device)->capability;
}

static mc_status session_open(session *s, const char *spec, const char *matrix, mc_diag *diag) {
    const spmm_options *o = s->options;
    mc_kernel *kernel = NULL;
    mc_status status = open_device(s, diag);
    if (status == MC_OK)
        status = problem_open(&s->problem, spec, matrix, &o->problem, capability_of(s), diag);
    if (status == MC_OK && o->ptx_file != NULL) status = read_ptx(o->ptx_file, &s->ptx, diag);
    if (status == MC_OK)
        status = mc_kernel_generate(s->problem.spec, mc_spec_default(s->problem.spec), &kernel, diag);
    if (status == MC_OK) status = check_family(kernel, diag);
    if (status == MC_OK) status = prepare_b(s, kernel, diag);
    if (status == MC_OK && o->specialise) status = specialise(s, kernel, diag);
    mc_kernel_destroy(kernel);
    return status;
}

/* -- One variant */

/* The scales, the biases, and the C that the kernel must give. */
static mc_status make_want(session *s, const mc_kernel *kernel, mc_diag *diag) {
    mc_dense sums;
    mc_dense_free(&s->want);
    factors_free(&s->factors);
    mc_status status = mc_reference_spmm(&s->problem.a, &s->b, &sums, diag);
    if (status != MC_OK) return status;
    status = factors_make(&s->options->problem, kernel, sums.rows, sums.cols, &s->factors, diag);
    if (status == MC_OK)
        status =
            mc_reference_output(&s->factors.output, s->factors.scale, s->factors.bias, &sums, &s->want, diag);
    mc_dense_free(&sums);
    return status;
}

/* A and the exact result as this kernel's V and output want them. */
static mc_status fit(session *s, const mc_kernel *kernel, mc_diag *diag) {
    bool changed;
    mc_status status = problem_fit(&s->problem, kernel, &changed, diag);
    if (status != MC_OK || (!changed && s->want.data != NULL)) return status;
    return make_want(s, kernel, diag);
}

static mc_status run_once(session *s, const mc_kernel *kernel, mc_spmm_timing *timing, mc_diag *diag) {
    const mc_spmm spmm = {
        .a = &s->problem.a, .b = &s->b, .ldc = s->ldc, .scale = s->factors.scale, .bias = s->factors.bias};
    mc_dense_free(&s->c);
    mc_status status = mc_spmm_run(s->device, kernel, s->ptx, &spmm, timing, &s->c, diag);
    return status != MC_OK ? status : mc_dense_compare(&s->c, &s->want, diag);
}

/* Time is taken of a kernel that has been verified, and its last result is verified again. */
static mc_status run_kernel(session *s, const mc_kernel *kernel, double *microseconds, mc_diag *diag) {
    mc_spmm_timing timing = {.launches = BENCH_LAUNCHES, .rounds = BENCH_ROUNDS};
    mc_status status = fit(s, kernel, diag);
    if (status == MC_OK) status = run_once(s, kernel, NULL, diag);
    if (status == MC_OK && s->options->report) {
        free(s->ran);
        s->ran = strdup(s->ptx != NULL ? s->ptx : mc_kernel_ptx(kernel));
        if (s->ran == NULL) status = mc_fail(diag, MC_NOMEM, "out of memory");
    }
    if (status == MC_OK && s->options->bench) {
        status = run_once(s, kernel, &timing, diag);
        *microseconds = timing.microseconds;
    }
    return status;
}

/* Runs VARIANT; what goes wrong stands in RESULT. */
static void run_variant(session *s, size_t variant, spmm_result *result) {
    mc_diag *diag = mc_diag_create();
    mc_kernel *kernel = NULL;
    *result = (spmm_result){.variant = variant,
                            .hash = mc_spec_variant_hash(s->problem.spec, variant),
                            .spec = s->problem.spec_path,
                            .estimate = s->estimate,
                            .text = mc_spec_variant_text(s->problem.spec, variant, s->options->json)};
    result->status = mc_kernel_generate(s->problem.spec, variant, &kernel, diag);
    if (result->text == NULL) result->status = mc_fail(diag, MC_NOMEM, "out of memory");
    if (result->status == MC_OK) result->status = run_kernel(s, kernel, &result->microseconds, diag);
    if (result->status != MC_OK && diag != NULL) result->message = strdup(mc_diag_text(diag));
    mc_kernel_destroy(kernel);
    mc_diag_destroy(diag);
}

static void result_free(spmm_result *result) {
    free(result->text);
    free(result->message);
}

static spmm_shape shape_of(const session *s) {
    const mc_vsparse *a = &s->problem.a;
    return (spmm_shape){.m = a->rows,
                        .n = s->b.cols,
                        .k = a->cols,
                        .ldb = s->b.ld,
                        .ldc = s->ldc,
                        .vectors = a->vectors,
                        .vec = a->vec,
                        .row_bytes = mc_type_size(s->b.type, s->b.cols),
                        .sparsity = spmm_sparsity(a),
                        .fill = s->problem.fill};
}

/* -- The variant that should be fastest */

/* Times of different products are no choice. BEFORE: A of the spec before; its vec is 0 where there was none. */
static mc_status check_same(const session *s, const mc_kernel *kernel, const mc_vsparse *before,
                            mc_diag *diag) {
    const char *rhs = mc_kernel_field_text(kernel, "rhs");
    bool first = before->vec == 0, types = rhs != NULL && strcmp(rhs, mc_type_text(s->b.type)) == 0;
    types = types && (first || s->problem.a.type == before->type);
    if (types && (first || s->problem.a.rows == before->rows)) return MC_OK;
    return mc_fail(diag, MC_USAGE, "%s: another %s than the first spec's: not the same product",
                   s->problem.spec_path, types ? "vec, and so m," : "lhs or rhs");
}

/* Makes the spec at PATH the problem's, with fixed shapes if they are asked for. */
static mc_status change_spec(session *s, const char *path, mc_diag *diag) {
    mc_kernel *kernel = NULL;
    bool changed;
    const mc_vsparse before = s->problem.a; /* its arrays may be gone */
    s->problem.spec_path = path;
    mc_status status = problem_respec(&s->problem, NULL, 0, diag);
    if (status == MC_OK)
        status = mc_kernel_generate(s->problem.spec, mc_spec_default(s->problem.spec), &kernel, diag);
    if (status == MC_OK) status = check_family(kernel, diag);
    if (status == MC_OK) status = problem_fit(&s->problem, kernel, &changed, diag);
    if (status == MC_OK) status = check_same(s, kernel, &before, diag);
    if (status == MC_OK && s->options->specialise) status = specialise(s, kernel, diag);
    mc_kernel_destroy(kernel);
    return status;
}

static mc_status pick_variant(session *s, char **specs, size_t count, size_t *variant, mc_diag *diag) {
    const mc_gpu gpu = mc_device_gpu(s->device);
    const char *best = NULL;
    mc_status status = MC_OK;
    for (size_t i = 0; i < count && status == MC_OK; i++) {
        size_t pick;
        status = change_spec(s, specs[i], diag);
        if (status != MC_OK) break;
        mc_problem shape = mc_problem_of(&s->problem.a, s->b.cols, s->b.ld);
        double us = mc_spec_pick(s->problem.spec, &gpu, &shape, &pick);
        if (!isfinite(us) || (best != NULL && us >= s->estimate)) continue;
        best = specs[i], s->estimate = us, *variant = pick;
    }
    if (status != MC_OK) return status;
    if (best == NULL) return mc_fail(diag, MC_CANNOT, "no variant of these specs can run on this problem");
    return change_spec(s, best, diag);
}

/* -- The command */

static mc_status print_json(json_t *json, mc_diag *diag) {
    if (json == NULL) return mc_fail(diag, MC_NOMEM, "out of memory");
    json_dumpf(json, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(10));
    printf("\n");
    json_decref(json);
    return MC_OK;
}

static mc_status print_result(const session *s, const spmm_result *result, mc_diag *diag) {
    spmm_shape shape = shape_of(s);
    const struct ptxsim *sim = s->ran != NULL ? mc_device_ptxsim(s->device) : NULL;
    if (s->options->json) {
        json_t *json = spmm_json(&shape, result, s->device_text);
        if (sim != NULL) json_object_set_new(json, "counts", counts_json(sim));
        return print_json(json, diag);
    }
    if (result->status == MC_OK || result->status == MC_MISMATCH)
        spmm_print_table(&shape, result, s->device_text);
    if (sim != NULL) counts_print(sim, s->ran);
    return MC_OK;
}

static mc_status run_one(session *s, size_t variant, mc_diag *diag) {
    spmm_result result;
    mc_status status = MC_OK;
    run_variant(s, variant, &result);
    if (result.status == MC_OK && s->options->out_file != NULL)
        status = mc_npy_write(s->options->out_file, &s->c, diag);
    if (status == MC_OK) status = print_result(s, &result, diag);
    if (status == MC_OK && result.status != MC_OK)
        status =
            mc_fail(diag, result.status, "%s", result.message != NULL ? result.message : "out of memory");
    result_free(&result);
    return status;
}

/* The tally of --variants all. */
typedef struct sweep {
    size_t failures;
    spmm_result best; /* text NULL: none yet */
    spmm_shape best_shape;
    json_t *list; /* NULL: printed as lines */
} sweep;

static bool is_better(const spmm_result *result, const spmm_result *best) {
    if (result->status != MC_OK) return false;
    return best->text == NULL || result->microseconds < best->microseconds;
}

static void sweep_add(sweep *all, const session *s, spmm_result *result) {
    spmm_shape shape = shape_of(s);
    if (all->list != NULL) json_array_append_new(all->list, spmm_json(&shape, result, s->device_text));
    else spmm_print_line(&shape, result, "");
    fflush(stdout);
    all->failures += result->status != MC_OK;
    if (is_better(result, &all->best)) {
        result_free(&all->best);
        all->best = *result;
        all->best_shape = shape;
    } else {
        result_free(result);
    }
}

static mc_status run_all_variants(session *s, mc_diag *diag) {
    sweep all = {.list = s->options->json ? json_array() : NULL};
    size_t count = mc_spec_variant_count(s->problem.spec);
    if (!s->options->json) printf("device     %s\n", s->device_text);
    for (size_t variant = 0; variant < count; variant++) {
        spmm_result result;
        run_variant(s, variant, &result);
        sweep_add(&all, s, &result);
    }
    mc_status status = s->options->json ? print_json(all.list, diag) : MC_OK;
    if (!s->options->json && s->options->bench && all.best.text != NULL)
        spmm_print_line(&all.best_shape, &all.best, "best");
    result_free(&all.best);
    if (status == MC_OK && all.failures > 0)
        status = mc_fail(diag, MC_MISMATCH, "%zu of %zu variants did not give the exact result", all.failures,
                         count);
    return status;
}

static int check_options(const spmm_options *o, size_t specs) {
    static const char *const words[] = {[VARIANTS_ALL] = "all", [VARIANTS_BEST] = "best"};
    if (specs > 1 && o->variants != VARIANTS_BEST)
        return cmd_usage("spmm: several specs go with --variants best alone");
    if (o->variants == 0) return CMD_DONE;
    bool all = o->variants == VARIANTS_ALL;
    const char *other = o->problem.variant != NULL   ? "--variant"
                        : o->ptx_file != NULL        ? "--ptx"
                        : all && o->out_file != NULL ? "--out"
                        : all && o->report           ? "--report"
                                                     : NULL;
    if (other == NULL) return CMD_DONE;
    return cmd_usage("spmm: --variants %s and %s exclude each other", words[o->variants], other);
}

static mc_status run_session(session *s, char **specs, size_t count, mc_diag *diag) {
    size_t variant = 0;
    if (s->options->variants == VARIANTS_ALL) return run_all_variants(s, diag);
    mc_status status = s->options->variants == VARIANTS_BEST ? pick_variant(s, specs, count, &variant, diag)
                                                             : problem_variant(&s->problem, &variant, diag);
    return status == MC_OK ? run_one(s, variant, diag) : status;
}

static int spmm_run_command(int argc, char **argv) {
    spmm_options options = {.problem.seed = 1, .device = "auto"};
    char **operands;
    int exit_status;
    if (!cmd_parse(&cmd_spmm, argc, argv, &options, &operands, &exit_status)) return exit_status;
    size_t specs = 1; /* the last operand is the matrix */
    while (operands[specs + 1] != NULL) specs++;
    exit_status = check_options(&options, specs);
    if (exit_status != CMD_DONE) return exit_status;
    mc_diag *diag = mc_diag_create();
    session s = {.options = &options};
    mc_status status = session_open(&s, operands[0], operands[specs], diag);
    if (status == MC_OK) status = run_session(&s, operands, specs, diag);
    session_close(&s);
    return cmd_finish(status, diag);
}

const cmd cmd_spmm = {
    "spmm",
    "SPEC... MATRIX",
    "runs a kernel on a sparse matrix and verifies it",
    -2,
    {{spmm_table, sizeof spmm_table / sizeof spmm_table[0]}, {problem_option_table, PROBLEM_OPTION_COUNT}},
    spmm_run_command};
