#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "mcrt_internal.h"
#include "base/clock.h"
#include "pattern.h"
#include "tune.h"
#include "context/matrix.h"
#include "records/parts.h"

#define MEMBER(name) offsetof(tune_options, name)

static const cmd_option tune_table[] = {
    {"candidates", 0, OPTION_INTEGER, MEMBER(candidates), "C", 1, 1000000,
     "kernels to measure of a problem, besides defaults and those best for the like (40)"},
    {"seconds", 0, OPTION_REAL, MEMBER(seconds), "S", 0, 1000000,
     "for a problem, at most; then its best so far is kept (no limit)"},
    {"again", 0, OPTION_SWITCH, MEMBER(again), NULL, 0, 0, "measure also what the records have"},
    {"cold", 0, OPTION_SWITCH, MEMBER(cold), NULL, 0, 0, "operands not in the L2 cache"},
    {"worker", 0, OPTION_TEXT, MEMBER(worker), "PROGRAM", 0, 0,
     "runs kernels in a process of its own (this program does)"},
    {"in-process", 0, OPTION_SWITCH, MEMBER(in_process), NULL, 0, 0,
     "run them in this process, which a faulty one may end"},
    {"dry-run", 0, OPTION_SWITCH, MEMBER(dry_run), NULL, 0, 0, "list candidates and estimates, run none"},
};

typedef struct tuning {
    const tune_options *options;
    tune_kind kind;
    tune_sources sources;
    mc_context *context; /* NULL with --dry-run */
    mc_device *device;   /* likewise without */
    int capability;
    const char *records, *worker;
    tune_view view;
    size_t tuned, kept, failed; /* problems; kept: the best so far */
    size_t lost;                /* of them, those whose records are not in the file */
    bool head;                  /* of the table: is printed */
} tuning;

/* -- One problem */

static char *copy_text(const char *text) { return text != NULL && *text != '\0' ? strdup(text) : NULL; }

/* What a plan of this problem gets from now on, if it is what was measured: of a problem with two records,
   one of them of cold operands, it is the other one's. That there is none is no failure of the tuning. */
static void look_up(tuning *t, const mc_plan_config *problem, const mc_vsparse *matrix,
                    tune_outcome *outcome) {
    mc_plan_config config = *problem;
    mc_plan_info info = {.size = sizeof info};
    mc_plan *plan = NULL;
    config.tuning = MC_TUNING_REPLAY;
    bool got = mc_plan_create(t->context, &config, &plan, NULL) == MC_OK &&
               mc_plan_get_info(plan, &info, NULL) == MC_OK;
    if (got && info.origin == MC_ORIGIN_MEASURED && info.microseconds == outcome->result.microseconds) {
        outcome->spec = copy_text(info.spec);
        outcome->fields = copy_text(info.fields);
        outcome->tuned = tune_fields_of(problem, matrix, t->capability, info.hash);
    } else {
        outcome->tuned = copy_text(t->view.best_fields);
    }
    mc_plan_destroy(plan);
}

/* A tuning that ran out of --seconds is no failure, if there is a record. */
static bool has_nothing(const mc_tune_result *result) {
    return !result->complete && !(result->microseconds > 0) && !tune_stop_asked();
}

static void tune_one(tuning *t, const mc_plan_config *problem, const mc_vsparse *matrix,
                     tune_outcome *outcome, mc_diag *diag) {
    const tune_options *options = t->options;
    const mc_tune_config config = {.size = sizeof config,
                                   .candidates = (size_t)options->candidates,
                                   .seconds = options->seconds,
                                   .again = options->again,
                                   .cold = options->cold,
                                   .worker = t->worker,
                                   .progress = tune_view_progress,
                                   .progress_user = &t->view};
    double begin = clock_seconds();
    outcome->result.size = sizeof outcome->result;
    tune_view_problem(&t->view, outcome);
    outcome->status = mc_tune(t->context, problem, &config, &outcome->result, diag);
    if (outcome->status == MC_OK && has_nothing(&outcome->result))
        outcome->status =
            mc_fail(diag, MC_CANNOT, "no kernel was measured: %g seconds are too few", options->seconds);
    outcome->seconds = clock_seconds() - begin;
    tune_view_clear(&t->view);
    if (outcome->status == MC_OK) look_up(t, problem, matrix, outcome);
    else outcome->message = copy_text(mc_diag_text(diag));
}

static void count_outcome(tuning *t, const tune_outcome *outcome) {
    t->lost += outcome->status == MC_OK && !outcome->result.recorded;
    if (outcome->status != MC_OK) t->failed++;
    else if (outcome->result.complete) t->tuned++;
    else t->kept += outcome->result.microseconds > 0;
}

/* At once: what is done is said whatever comes. */
static mc_status report(tuning *t, const tune_outcome *outcome, mc_diag *diag) {
    count_outcome(t, outcome);
    if (t->options->json) return tune_report_json(outcome, diag);
    if (!t->head) tune_report_head(t->capability == 0);
    t->head = true;
    tune_report_row(outcome);
    return MC_OK;
}

/* A problem's own failure is in its outcome; what is returned ends the command. */
static mc_status run_problem(tuning *t, const tune_source *source, int64_t size, const mc_vsparse *matrix,
                             mc_matrix *handle, mc_diag *diag) {
    const mc_plan_config problem = tune_problem_at(&t->kind, matrix, handle, size);
    tune_outcome outcome = {.source = source,
                            .size = size,
                            .op = t->kind.op,
                            .rows = matrix->rows,
                            .cols = matrix->cols,
                            .vectors = matrix->vectors,
                            .vec = matrix->vec,
                            .simulated = t->capability == 0};
    if (t->options->dry_run)
        return tune_report_candidates(t->options, &outcome, &problem, matrix, t->device, diag);
    mc_diag *own = mc_diag_create();
    tune_one(t, &problem, matrix, &outcome, own);
    mc_diag_destroy(own);
    mc_status status = report(t, &outcome, diag);
    tune_outcome_free(&outcome);
    return status;
}

/* -- One matrix */

/* A matrix that cannot be read is the failure of its problems, and no other's. */
static mc_status report_unread(tuning *t, const tune_source *source, mc_status failure, const mc_diag *why,
                               mc_diag *diag) {
    mc_status status = MC_OK;
    for (size_t i = 0; i < source->size_count && status == MC_OK; i++) {
        tune_outcome outcome = {.source = source,
                                .size = source->sizes[i],
                                .op = t->kind.op,
                                .vec = t->kind.vec,
                                .status = failure,
                                .message = why != NULL ? copy_text(mc_diag_text(why)) : NULL};
        status = report(t, &outcome, diag);
        tune_outcome_free(&outcome);
    }
    return status;
}

static mc_status run_source(tuning *t, const tune_source *source, mc_diag *diag) {
    mc_vsparse matrix;
    mc_matrix *handle = NULL;
    mc_diag *own = mc_diag_create();
    mc_status status = tune_source_load(source, t->options, &t->kind, &matrix, own);
    if (status == MC_OK && t->context != NULL && t->kind.op->matrix.wanted)
        status = matrix_of_host(t->context, &matrix, &handle, own);
    if (status != MC_OK) status = report_unread(t, source, status, own, diag);
    else
        for (size_t i = 0; i < source->size_count && status == MC_OK && !tune_stop_asked(); i++)
            status = run_problem(t, source, source->sizes[i], &matrix, handle, diag);
    mc_diag_destroy(own);
    mc_matrix_destroy(handle);
    mc_vsparse_free(&matrix);
    return status;
}

/* -- All of them */

static mc_status sum_up(const tuning *t, mc_diag *diag) {
    char kept[64] = "";
    if (t->kept > 0) snprintf(kept, sizeof kept, ", of %zu more the best so far is kept", t->kept);
    if (tune_stop_asked())
        return mc_fail(diag, MC_CANNOT, "stopped: %zu of %zu problems are tuned%s; records: %s", t->tuned,
                       t->sources.problems, kept, t->records);
    if (t->failed > 0)
        return mc_fail(diag, MC_CANNOT, "%zu of %zu problems could not be tuned", t->failed,
                       t->sources.problems);
    if (t->lost > 0)
        return mc_fail(diag, MC_IO, "%s: records of %zu problem%s could not be written, and are lost",
                       t->records, t->lost, t->lost == 1 ? "" : "s");
    return MC_OK;
}

static mc_status run_all(tuning *t, mc_diag *diag) {
    mc_status status = MC_OK;
    tune_view_begin(&t->view, t->sources.problems, t->capability == 0);
    for (size_t i = 0; i < t->sources.count && status == MC_OK && !tune_stop_asked(); i++)
        status = run_source(t, &t->sources.items[i], diag);
    return status == MC_OK ? sum_up(t, diag) : status;
}

/* -- Opening */

/* Found out before the first measurement, not after hours. */
static mc_status check_records(const char *path, mc_diag *diag) {
    mc_diag *why = mc_diag_create();
    mc_status status = record_file_check(path, why);
    if (status != MC_OK)
        status = mc_fail(diag, status, "%s: records could not be appended", mc_diag_text(why));
    mc_diag_destroy(why);
    return status;
}

static mc_status open_context(tuning *t, mc_diag *diag) {
    mc_context_info info = {.size = sizeof info};
    const mc_context_config config = {.size = sizeof config,
                                      .device = t->options->device,
                                      .records = t->options->records,
                                      .log = tune_view_log,
                                      .log_user = &t->view};
    mc_status status = mc_context_create(&config, &t->context, diag);
    if (status == MC_OK) status = mc_context_get_info(t->context, &info, diag);
    if (status != MC_OK) return status;
    t->capability = info.capability;
    t->records = info.records;
    if (info.records == NULL) return cmd_no_records(diag);
    return check_records(info.records, diag);
}

static mc_status open_device(tuning *t, mc_diag *diag) {
    if (!t->options->dry_run) return open_context(t, diag);
    mc_status status = mc_device_open(t->options->device, &t->device, diag);
    if (status == MC_OK) t->capability = mc_device_get_info(t->device)->capability;
    return status;
}

/* This program itself, unless another is named. "": none. */
static const char *find_worker(const tune_options *options, char *own, size_t size) {
    if (options->in_process) return "";
    if (options->worker != NULL) return options->worker;
    ssize_t length = readlink("/proc/self/exe", own, size - 1);
    if (length <= 0) return NULL;
    own[length] = '\0';
    return own;
}

static mc_status run(tuning *t, char **operands, size_t spec_count, size_t count, mc_diag *diag) {
    mc_status status = open_device(t, diag);
    if (status == MC_OK)
        status = tune_kind_read(t->options, operands, spec_count, t->capability, &t->kind, diag);
    if (status == MC_OK)
        status = tune_sources_read(t->options, &t->kind, operands + spec_count, count - spec_count,
                                   &t->sources, diag);
    if (status == MC_OK) status = run_all(t, diag);
    tune_sources_free(&t->sources);
    mc_device_close(t->device);
    mc_context_destroy(t->context);
    return status;
}

/* -- The command */

static int check_options(const tune_options *options) {
    if (pattern_check(options->pattern) != CMD_DONE) return CMD_USAGE;
    if (options->in_process && options->worker != NULL)
        return cmd_usage("tune: --worker and --in-process exclude each other");
    if (options->dry_run && options->again)
        return cmd_usage("tune: --dry-run and --again exclude each other");
    return CMD_DONE;
}

static int tune_run_command(int argc, char **argv) {
    tune_options options = {.command = "tune", .device = "auto", .candidates = 40, .seed = 1};
    char **operands, own[4096];
    size_t count;
    int exit_status;
    if (!cmd_parse(&cmd_tune, argc, argv, &options, &operands, &exit_status)) return exit_status;
    exit_status = check_options(&options);
    if (exit_status != CMD_DONE) return exit_status;
    size_t specs = tune_sort_specs(operands, &count);
    tuning t = {.options = &options, .worker = find_worker(&options, own, sizeof own)};
    mc_diag *diag = mc_diag_create();
    tune_stop_catch();
    return cmd_finish(run(&t, operands, specs, count, diag), diag);
}

const cmd cmd_tune = {
    "tune",
    "[SPEC...] MATRIX...",
    "measures which kernels are fastest, and records it",
    CMD_ANY_COUNT,
    {{tune_problem_table, TUNE_PROBLEM_OPTIONS}, {tune_table, sizeof tune_table / sizeof tune_table[0]}},
    tune_run_command};
