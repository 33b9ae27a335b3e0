/* Tuning on the simulator, where a kernel's time is the number of its instructions: what is chosen, what is recorded, and that a faulty kernel
   never is. Faults are planted in the PTX between the generator and the device. */
#include <ctype.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include "../runtime/scratch.h"
#include "kernels.h"
#include "matrix.h"
#include "ptxsim.h"
#include "tune.h"

/* A tile of columns; 8 columns of gap in C and 16 in B. */
enum { N = 32, ROWS = 24, LDC = N + 8, LDB = N + 16 };

/* -- A context, its log, a matrix */

static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;
static char log_text[1 << 16];

static void log_line(void *user, mc_log_level level, const char *message) {
    (void)user, (void)level;
    pthread_mutex_lock(&log_lock);
    size_t used = strlen(log_text);
    snprintf(log_text + used, sizeof log_text - used, "%s\n", message);
    pthread_mutex_unlock(&log_lock);
}

static mc_context *open_context(const char *records, mc_diag *diag) {
    mc_context *context = NULL;
    const mc_context_config config = {.size = sizeof config,
                                      .device = "sim",
                                      .cache = MC_CACHE_OFF,
                                      .tuning = MC_TUNING_OFF,
                                      .records = records,
                                      .log = log_line};
    log_text[0] = '\0';
    expect_ok("context", mc_context_create(&config, &context, diag), diag);
    return context;
}

/* A fifth of the vectors of BLOCKS row blocks; values all zero. */
static mc_matrix *make_matrix(mc_context *context, mc_type type, int vec, int64_t blocks, int64_t cols,
                              mc_diag *diag) {
    mc_csr csr;
    mc_matrix *matrix = NULL;
    const mc_pattern pattern = {blocks, cols, .8, MC_PATTERN_UNIFORM, 0, 1};
    expect_ok("pattern", mc_csr_generate(&pattern, &csr, diag), diag);
    int32_t *row_ptr = calloc((size_t)blocks + 1, sizeof *row_ptr);
    for (int64_t i = 0; i <= blocks; i++) row_ptr[i] = (int32_t)csr.row_ptr[i];
    const mc_matrix_config config = {.size = sizeof config,
                                     .type = type,
                                     .vec = vec,
                                     .rows = blocks * vec,
                                     .cols = cols,
                                     .row_ptr = row_ptr,
                                     .col_idx = csr.col_idx};
    expect_ok("matrix", mc_matrix_create(context, &config, &matrix, diag), diag);
    mc_csr_free(&csr);
    free(row_ptr);
    return matrix;
}

static mc_plan_config spmm_of(mc_matrix *matrix, int64_t n) {
    return (mc_plan_config){.size = sizeof(mc_plan_config),
                            .op = MC_OP_SPMM,
                            .matrix = matrix,
                            .b = MC_S8,
                            .c = MC_S32,
                            .n = n,
                            .ldb = n + LDB - N,
                            .ldc = n + LDC - N};
}

static bool find_record(mc_context *context, const mc_plan_config *config, bool cold, record *found) {
    plan_problem problem;
    if (plan_problem_of(config, &config->matrix->host, &problem, NULL) != MC_OK) return false;
    return record_find(context->records, mc_device_get_info(context->device)->name, &problem, cold, found);
}

/* -- What kernels are made by: counted, and some of them with a fault */

typedef struct fault {
    const char *name;
    const char *line;      /* the first line of the PTX with this in it ... */
    const char *from, *to; /* ... has TO instead of FROM; FROM NULL: TO is a line behind it */
    tune_state state;
    const char *message;
} fault;

/* By the first thread of the first block alone: no race, which the simulator would find by itself. */
#define STORE(where)                                                                                         \
    "{ .reg .b32 %planted<3>; .reg .pred %first; mov.u32 %planted0, %tid.x; mov.u32 %planted1, %ctaid.x; "   \
    "mov.u32 %planted2, %ctaid.y; or.b32 %planted0, %planted0, %planted1; "                                  \
    "or.b32 %planted0, %planted0, %planted2; setp.eq.s32 %first, %planted0, 0; "                             \
    "@%first st.global.b32 [" where "], %planted0; }"
#define AT_C "cvta.to.global.u64              %c,"
#define AT_B "cvta.to.global.u64              %b,"

static const fault faults[] = {
    {"wrong digits", "mma.sync", "s8.s8.s32", "u8.s8.s32", TUNE_WRONG, "must be"},
    {"a part of C left out", "st.global", "st.global", "// ", TUNE_WRONG, "must be"},
    {"in front of C", AT_C, NULL, STORE("%c+-4"), TUNE_WRONG, "in front of C"},
    {"behind C", AT_C, NULL, STORE("%c+3840"), TUNE_WRONG, "behind C"}, /* ROWS * LDC * 4 */
    {"in C's gap", AT_C, NULL, STORE("%c+292"), TUNE_WRONG, "C's gap in row 1"},
    {"into B's gap", AT_B, NULL, STORE("%b+32"), TUNE_WRONG, "wrote into b"},
    {"to nowhere", AT_C, NULL, "mov.u64 %c, 64;", TUNE_FAILED, "simulator"},
    {"no PTX", ".version", ".version", ".virgin", TUNE_FAILED, "simulator"},
};

/* The maker has no argument of its own: what it does stands here. */
static struct {
    pthread_mutex_t lock;
    int made;
    const fault *fault;
    const char *victim; /* fields; NULL: all */
    bool all_fail;
} workshop = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* TEXT with the fault in it; the caller frees. */
static char *plant(const fault *f, const char *text) {
    const char *line = strstr(text, f->line);
    char *made = malloc(strlen(text) + strlen(f->to) + 2);
    CHECK(line != NULL, "%s: no line with %s", f->name, f->line);
    if (line == NULL || made == NULL) return made;
    const char *at = f->from != NULL ? strstr(line, f->from) : strchr(line, '\n') + 1;
    size_t skipped = f->from != NULL ? strlen(f->from) : 0;
    sprintf(made, "%.*s%s%s%s", (int)(at - text), text, f->to, f->from != NULL ? "" : "\n", at + skipped);
    return made;
}

static mc_status make(mc_context *context, const char *fields, mc_kernel **kernel, mc_image *image,
                      bool *from_cache, char **log, mc_diag *diag) {
    pthread_mutex_lock(&workshop.lock);
    workshop.made++;
    pthread_mutex_unlock(&workshop.lock);
    if (workshop.all_fail) return mc_fail(diag, MC_CANNOT, "the workshop is closed");
    mc_status status = kernels_make(context, fields, kernel, image, from_cache, log, diag);
    bool victim = workshop.victim == NULL || strcmp(workshop.victim, fields) == 0;
    if (status != MC_OK || workshop.fault == NULL || !victim) return status;
    char *planted = plant(workshop.fault, image->data);
    free(image->data);
    *image = (mc_image){planted, strlen(planted) + 1};
    return MC_OK;
}

static mc_status tune_made(mc_context *context, const mc_plan_config *config, const mc_tune_config *tune,
                           mc_tune_result *result, mc_diag *diag) {
    tune_job job = {.context = context,
                    .matrix = &config->matrix->host,
                    .config = tune,
                    .specs = config->specs,
                    .spec_count = config->spec_count,
                    .make = make};
    mc_status status = plan_problem_of(config, job.matrix, &job.problem, diag);
    workshop.made = 0;
    return status == MC_OK ? tune_run(&job, result, diag) : status;
}

/* -- What is chosen */

/* Warp instructions of the kernel with FIELDS on this problem, by a device that tuning knows nothing of. */
static double count_instructions(const char *fields, const mc_plan_config *config, mc_diag *diag) {
    mc_device *device;
    mc_kernel *kernel;
    mc_dense b, c;
    expect_ok("device", mc_device_open("sim", &device, diag), diag);
    expect_ok("kernel", mc_kernel_from_fields(fields, &kernel, diag), diag);
    expect_ok("b", mc_dense_create(MC_S8, config->matrix->host.cols, config->n, config->ldb, &b, diag), diag);
    const mc_spmm problem = {.a = &config->matrix->host, .b = &b, .ldc = config->ldc};
    expect_ok("run", mc_spmm_run(device, kernel, NULL, &problem, NULL, &c, diag), diag);
    double count = (double)ptxsim_counts_of(mc_device_ptxsim(device))->warp_instructions;
    mc_dense_free(&b);
    mc_dense_free(&c);
    mc_kernel_destroy(kernel);
    mc_device_close(device);
    return count;
}

static void check_least(const record *r) {
    CHECK(r->candidate_count > 0 && strcmp(r->candidates[0].fields, r->fields) == 0, "the chosen one first");
    for (size_t i = 0; i < r->candidate_count; i++)
        CHECK(r->microseconds <= 1.01 * r->candidates[i].microseconds, "candidate %zu: %g, chosen %g", i,
              r->candidates[i].microseconds, r->microseconds);
}

static long file_lines(const char *path) {
    FILE *file = fopen(path, "r");
    long lines = 0;
    for (int c; file != NULL && (c = getc(file)) != EOF;) lines += c == '\n';
    if (file != NULL) fclose(file);
    return lines;
}

typedef struct heard {
    int calls, stop_at; /* calls; 0: never */
    const char *stop_stage;
    bool stages[3], ended[3];
    double best;
    char fields[256];
} heard;

static bool hear(void *user, const mc_tune_progress *p) {
    static const char *const names[] = {"compile", "verify", "time"};
    heard *h = user;
    h->calls++;
    for (int i = 0; i < 3; i++)
        if (strcmp(p->stage, names[i]) == 0) {
            h->stages[i] = true;
            h->ended[i] = h->ended[i] || p->done == p->total;
        }
    CHECK(p->size == sizeof *p && p->done <= p->total && p->left >= 0 && p->seconds >= 0, "%s %zu of %zu",
          p->stage, p->done, p->total);
    h->best = p->best;
    snprintf(h->fields, sizeof h->fields, "%s", p->best_fields != NULL ? p->best_fields : "");
    bool stop = h->stop_at != 0
                    ? h->calls >= h->stop_at
                    : h->stop_stage != NULL && strcmp(p->stage, h->stop_stage) == 0 && p->best > 0;
    return !stop;
}

/* The kernel of the fewest instructions is chosen and written down; what is known is not measured again. */
static void test_choice(mc_diag *diag) {
    const char *path = strdup(scratch_path("records"));
    mc_context *context = open_context(path, diag);
    mc_matrix *matrix = make_matrix(context, MC_S8, 8, 3, 64, diag);
    const mc_plan_config config = spmm_of(matrix, N);
    heard h = {0};
    mc_tune_config tune = {.size = sizeof tune, .candidates = 5, .progress = hear, .progress_user = &h};
    mc_tune_result first = {.size = sizeof first}, second = {.size = sizeof second};
    record r;

    expect_ok("tune", mc_tune(context, &config, &tune, &first, diag), diag);
    CHECK(first.measured >= 5 && first.wrong == 0 && first.failed == 0 && first.known == 0 && first.complete,
          "%zu measured, %zu wrong, %zu failed", first.measured, first.wrong, first.failed);
    CHECK(h.stages[0] && h.stages[1] && h.stages[2] && h.ended[0] && h.ended[1] && h.ended[2], "stages");
    CHECK(h.best == first.microseconds && strchr(h.fields, '=') != NULL, "%g '%s'", h.best, h.fields);
    CHECK(find_record(context, &config, false, &r), "no record");
    check_least(&r);
    CHECK(r.candidate_count == first.measured && r.microseconds == first.microseconds, "%zu",
          r.candidate_count);
    CHECK(strcmp(r.generator, mc_generator_id()) == 0 &&
              strcmp(r.driver, mc_device_build(context->device)) == 0,
          "%s %s", r.generator, r.driver);
    double count = count_instructions(r.fields, &config, diag);
    CHECK(count == 1000 * first.microseconds, "%g instructions, %g us", count, first.microseconds);
    CHECK(first.standard >= first.microseconds, "%g, the default %g", first.microseconds, first.standard);
    CHECK(file_lines(path) == 1, "%ld lines", file_lines(path));
    record_free(&r);

    expect_ok("tune again", tune_made(context, &config, &tune, &second, diag), diag);
    CHECK(workshop.made == 0 && second.measured == 0 && second.known == first.measured, "%d made, %zu known",
          workshop.made, second.known);
    CHECK(second.microseconds == first.microseconds && second.complete, "%g", second.microseconds);
    CHECK(second.standard == first.standard, "%g", second.standard);
    CHECK(file_lines(path) == 1, "%ld lines", file_lines(path));

    tune.candidates = 8;
    expect_ok("tune more", tune_made(context, &config, &tune, &second, diag), diag);
    CHECK(second.measured > 0 && second.measured <= 3 && second.known == first.measured, "%zu new, %zu known",
          second.measured, second.known);
    CHECK(workshop.made >= (int)second.measured + 1 && workshop.made <= (int)second.measured + 3, "%d made",
          workshop.made);
    CHECK(find_record(context, &config, false, &r), "no record");
    CHECK(r.candidate_count == first.measured + second.measured, "%zu", r.candidate_count);
    check_least(&r);
    record_free(&r);

    tune.again = true;
    expect_ok("tune all again", tune_made(context, &config, &tune, &second, diag), diag);
    CHECK(workshop.made == (int)second.measured && second.known == 0 && second.measured >= 8,
          "%d made, %zu known", workshop.made, second.known);
    tune.again = false;
    tune.cold = true;
    tune.candidates = 2;
    expect_ok("tune cold", mc_tune(context, &config, &tune, &second, diag), diag);
    CHECK(second.known == 0 && second.measured >= 2, "cold is another record: %zu known", second.known);
    CHECK(find_record(context, &config, true, &r) && r.cold, "no record");
    record_free(&r);
    mc_matrix_destroy(matrix);
    mc_context_destroy(context);
    unlink(path);
    free((char *)path);
}

/* -- Faults */

static record_status recorded_as(const record *r, const char *fields) {
    for (size_t i = 0; i < r->candidate_count; i++)
        if (strcmp(r->candidates[i].fields, fields) == 0) return r->candidates[i].status;
    return (record_status)-1;
}

/* The kernel that would win gets the fault. */
static void check_fault(const fault *f, const char *winner, const char *spec, mc_diag *diag) {
    mc_context *context = open_context("/dev/null/records", diag);
    mc_matrix *matrix = make_matrix(context, MC_S8, 8, 3, 64, diag);
    mc_plan_config config = spmm_of(matrix, N);
    mc_tune_config tune = {.size = sizeof tune, .candidates = 4};
    mc_tune_result result = {.size = sizeof result};
    record r;
    config.specs = &spec;
    config.spec_count = 1;
    workshop.fault = f;
    workshop.victim = winner;
    expect_ok(f->name, tune_made(context, &config, &tune, &result, diag), diag);
    workshop.fault = NULL;
    bool wrong = f->state == TUNE_WRONG;
    size_t tried = result.measured + result.wrong + result.failed;
    CHECK(result.wrong == wrong && result.failed == !wrong && result.measured >= 3,
          "%s: %zu wrong, %zu failed", f->name, result.wrong, result.failed);
    CHECK(find_record(context, &config, false, &r), "%s: no record", f->name);
    CHECK(strcmp(r.fields, winner) != 0, "%s: it is chosen", f->name);
    CHECK(recorded_as(&r, winner) == (wrong ? RECORD_WRONG : RECORD_FAILED), "%s: recorded as %d", f->name,
          (int)recorded_as(&r, winner));
    CHECK(strstr(log_text, winner) != NULL && strstr(log_text, f->message) != NULL, "%s: want '%s' in\n%s",
          f->name, f->message, log_text);
    CHECK_TEXT(log_text, "the record is not kept");
    record_free(&r);

    /* And it stays so: nobody tries it again. */
    expect_ok(f->name, tune_made(context, &config, &tune, &result, diag), diag);
    CHECK(workshop.made == 0 && result.known == tried, "%s: %d made, %zu known", f->name, workshop.made,
          result.known);
    mc_matrix_destroy(matrix);
    mc_context_destroy(context);
}

static void test_faults(mc_diag *diag) {
    static const char spec[] = SPECS "/spmm_l8r8.lua";
    const char *specs[] = {spec};
    mc_context *context = open_context("/dev/null/records", diag);
    mc_matrix *matrix = make_matrix(context, MC_S8, 8, 3, 64, diag);
    mc_plan_config config = spmm_of(matrix, N);
    mc_tune_config tune = {.size = sizeof tune, .candidates = 4};
    record r;
    config.specs = specs;
    config.spec_count = 1;
    expect_ok("tune", mc_tune(context, &config, &tune, NULL, diag), diag);
    CHECK(find_record(context, &config, false, &r), "no record");
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++)
        check_fault(&faults[i], r.fields, spec, diag);

    /* All of them. */
    mc_tune_result result = {.size = sizeof result};
    mc_context *other = open_context("/dev/null/records", diag);
    workshop.all_fail = true;
    expect_failure("all fail", tune_made(other, &config, &tune, &result, diag), MC_CANNOT, diag,
                   "kernels could be measured: the workshop is closed");
    CHECK(result.failed >= 4 && result.measured == 0 && result.microseconds == 0, "%zu", result.failed);
    workshop.all_fail = false;
    record_free(&r);
    mc_matrix_destroy(matrix);
    mc_context_destroy(other);
    mc_context_destroy(context);
}

/* -- Stopping */

static void check_stop(const char *stage, int calls, bool something, mc_diag *diag) {
    mc_context *context = open_context("/dev/null/records", diag);
    mc_matrix *matrix = make_matrix(context, MC_S8, 8, 3, 64, diag);
    const mc_plan_config config = spmm_of(matrix, N);
    heard h = {.stop_at = calls, .stop_stage = stage};
    mc_tune_config tune = {.size = sizeof tune, .candidates = 5, .progress = hear, .progress_user = &h};
    mc_tune_result result = {.size = sizeof result};
    record r = {0};
    const char *name = stage != NULL ? stage : "at once";
    expect_ok(name, mc_tune(context, &config, &tune, &result, diag), diag);
    CHECK(!result.complete, "%s: not told that it was stopped", name);
    bool found = find_record(context, &config, false, &r);
    if (something) {
        CHECK(found && r.fields[0] != '\0' && r.microseconds == result.microseconds &&
                  result.microseconds > 0,
              "%s: the best so far is kept: %g", name, result.microseconds);
        CHECK(count_instructions(r.fields, &config, diag) == 1000 * r.microseconds, "%s: %g", name,
              r.microseconds);
    } else {
        CHECK(result.microseconds == 0 && result.measured == 0 && !found, "%s: %zu measured", name,
              result.measured);
    }
    size_t before = r.candidate_count;
    record_free(&r);
    tune.progress = NULL;
    expect_ok(name, mc_tune(context, &config, &tune, &result, diag), diag);
    CHECK(result.complete && result.known == before, "%s: then the rest: %zu known, %zu before", name,
          result.known, before);
    mc_matrix_destroy(matrix);
    mc_context_destroy(context);
}

static void test_stops(mc_diag *diag) {
    check_stop(NULL, 1, false, diag);
    check_stop("verify", 0, true, diag);
    check_stop("time", 0, true, diag);
    mc_context *context = open_context("/dev/null/records", diag);
    mc_matrix *matrix = make_matrix(context, MC_S8, 8, 3, 64, diag);
    const mc_plan_config config = spmm_of(matrix, N);
    const mc_tune_config tune = {.size = sizeof tune, .candidates = 5, .seconds = 1e-6};
    mc_tune_result result = {.size = sizeof result};
    expect_ok("a microsecond", mc_tune(context, &config, &tune, &result, diag), diag);
    CHECK(!result.complete && result.measured == 0, "%zu measured in a microsecond", result.measured);
    mc_matrix_destroy(matrix);
    mc_context_destroy(context);
}

/* -- Problems of all kinds: every candidate is right */

static const struct kind {
    const char *name;
    mc_type matrix;
    int vec;
    mc_plan_config config;
} kinds[] = {
    {"s32", MC_S8, 8, {.b = MC_S8, .c = MC_S32, .n = 40}},
    {"open shapes", MC_S8, 4, {.b = MC_S8, .c = MC_S32, .n = 17, .shapes = MC_SHAPES_OPEN}},
    {"four bytes aligned", MC_S8, 8, {.b = MC_S8, .c = MC_S32, .n = 32, .align = 4}},
    {"not aligned", MC_S8, 2, {.b = MC_S8, .c = MC_S32, .n = 33, .align = 1}},
    {"exact", MC_S16, 8, {.b = MC_S16, .c = MC_S64, .n = 16, .exact = true}},
    {"s4", MC_S4, 8, {.b = MC_S4, .c = MC_S32, .n = 32}},
    {"f16",
     MC_S8,
     8,
     {.b = MC_S8,
      .c = MC_F16,
      .n = 32,
      .scale = MC_PER_ROW,
      .bias = MC_PER_COLUMN,
      .activation = MC_ACTIVATION_RELU}},
    {"bf16", MC_S8, 8, {.b = MC_S8, .c = MC_BF16, .n = 32, .scale = MC_PER_TENSOR}},
    {"sddmm", MC_S8, 8, {.op = MC_OP_SDDMM, .a = MC_S8, .b = MC_S8, .c = MC_S32, .k = 64}},
    {"sddmm, a mask's values",
     MC_F32,
     4,
     {.op = MC_OP_SDDMM,
      .a = MC_S8,
      .b = MC_S8,
      .c = MC_F32,
      .k = 48,
      .scale = MC_PER_COLUMN,
      .mask_values = true}},
    {"sddmm, rows and order",
     MC_S8,
     8,
     {.op = MC_OP_SDDMM,
      .a = MC_S16,
      .b = MC_S8,
      .c = MC_S32,
      .k = 64,
      .b_layout = MC_LAYOUT_ROWS,
      .c_order = MC_ORDER_SRBCRS16}},
};

static void test_kinds(mc_diag *diag) {
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        const struct kind *k = &kinds[i];
        mc_context *context = open_context("/dev/null/records", diag);
        mc_matrix *matrix = make_matrix(context, k->matrix, k->vec, 5, 64, diag);
        mc_plan_config config = k->config;
        mc_tune_config tune = {.size = sizeof tune, .candidates = 3, .cold = i % 2 == 0};
        mc_tune_result result = {.size = sizeof result};
        config.size = sizeof config;
        config.matrix = matrix;
        expect_ok(k->name, mc_tune(context, &config, &tune, &result, diag), diag);
        CHECK(result.measured >= 1 && result.wrong == 0 && result.failed == 0 && result.complete,
              "%s: %zu measured, %zu wrong, %zu failed\n%s", k->name, result.measured, result.wrong,
              result.failed, log_text);
        mc_matrix_destroy(matrix);
        mc_context_destroy(context);
    }
}

/* -- Two at once */

typedef struct thread_job {
    mc_context *context;
    mc_plan_config config;
    mc_status status;
    mc_tune_result result;
} thread_job;

static void *tune_in_thread(void *argument) {
    thread_job *j = argument;
    const mc_tune_config tune = {.size = sizeof tune, .candidates = 4};
    j->result.size = sizeof j->result;
    j->status = mc_tune(j->context, &j->config, &tune, &j->result, NULL);
    return NULL;
}

/* Two problems, and twice the same one: who comes second knows what the first one measured. */
static void test_threads(mc_diag *diag) {
    for (int same = 0; same < 2; same++) {
        mc_context *context = open_context("/dev/null/records", diag);
        mc_matrix *a = make_matrix(context, MC_S8, 8, 3, 64, diag),
                  *b = make_matrix(context, MC_S8, 8, 3, 64, diag);
        thread_job jobs[2] = {{.context = context, .config = spmm_of(a, N)},
                              {.context = context, .config = spmm_of(b, same ? N : 2 * N)}};
        pthread_t threads[2];
        for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, tune_in_thread, &jobs[i]);
        for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
        for (int i = 0; i < 2; i++)
            CHECK(jobs[i].status == MC_OK && jobs[i].result.complete && jobs[i].result.wrong == 0, "%d: %s",
                  i, mc_status_text(jobs[i].status));
        size_t measured = jobs[0].result.measured * jobs[1].result.measured;
        CHECK((measured == 0) == same, "%zu and %zu measured", jobs[0].result.measured,
              jobs[1].result.measured);
        mc_matrix_destroy(a);
        mc_matrix_destroy(b);
        mc_context_destroy(context);
    }
}

/* -- Errors */

static void test_errors(mc_diag *diag) {
    mc_context *context = open_context("/dev/null/records", diag);
    mc_matrix *matrix = make_matrix(context, MC_S8, 8, 3, 64, diag),
              *empty = make_matrix(context, MC_S8, 8, 0, 64, diag);
    mc_plan_config config = spmm_of(matrix, N);
    mc_tune_config tune = {.size = sizeof tune + 8};
    mc_tune_result result = {.size = 1};
    expect_failure("problem", mc_tune(context, NULL, NULL, NULL, diag), MC_USAGE, diag,
                   "mc_plan_config is NULL");
    expect_failure("tune size", mc_tune(context, &config, &tune, NULL, diag), MC_USAGE, diag,
                   "mc_tune_config");
    tune.size = sizeof tune;
    expect_failure("result size", mc_tune(context, &config, &tune, &result, diag), MC_USAGE, diag,
                   "mc_tune_result");
    result.size = sizeof result;
    tune.seconds = -1;
    expect_failure("seconds", mc_tune(context, &config, &tune, &result, diag), MC_USAGE, diag,
                   "seconds is -1");
    tune.seconds = 0;
    config.matrix = NULL;
    expect_failure("matrix", mc_tune(context, &config, &tune, &result, diag), MC_USAGE, diag,
                   "matrix is NULL");
    config.matrix = empty;
    expect_failure("no rows", mc_tune(context, &config, &tune, &result, diag), MC_CANNOT, diag,
                   "C has no elements");
    config = spmm_of(matrix, 0);
    expect_failure("no columns", mc_tune(context, &config, &tune, &result, diag), MC_CANNOT, diag,
                   "C has no elements");
    config = spmm_of(matrix, N);
    config.b = MC_F16;
    expect_failure("b", mc_tune(context, &config, &tune, &result, diag), MC_CANNOT, diag, "b is f16");
    config = spmm_of(matrix, N);
    config.specs = &(const char *){"/nowhere.lua"};
    config.spec_count = 1;
    expect_failure("spec", mc_tune(context, &config, &tune, &result, diag), MC_IO, diag, "/nowhere.lua");
    CHECK(result.measured == 0, "%zu", result.measured);
    mc_matrix_destroy(matrix);
    mc_matrix_destroy(empty);
    mc_context_destroy(context);
}

typedef struct told {
    int events, chosen;
} told;

static bool check_event(void *user, const tune_event *event) {
    told *t = user;
    CHECK(event->done <= event->total, "stage %d: %zu of %zu", (int)event->stage, event->done, event->total);
    t->events++;
    t->chosen += event->state == TUNE_CHOSEN;
    return true;
}

/* More rounds than kernels: what is done is still no more than the total. */
static void test_alone(mc_diag *diag) {
    char *path = strdup(scratch_path("alone"));
    mc_context *context = open_context(path, diag);
    mc_matrix *matrix = make_matrix(context, MC_S8, 8, 3, 64, diag);
    const mc_plan_config config = spmm_of(matrix, N);
    const tune_entrant entrant = {.fields = "op=spmm lhs=s8 rhs=s8 out=s32 vec=8 tile_n=32 warps=1",
                                  .standard = true};
    plan_problem problem;
    told t = {0};
    bool complete = false;
    expect_ok("problem", plan_problem_of(&config, &matrix->host, &problem, diag), diag);
    const tune_race race = {.problem = &problem, .matrix = &matrix->host, .entrants = &entrant, .count = 1};
    expect_ok("measure", tune_measure(context, &race, check_event, &t, &complete, diag), diag);
    CHECK(complete && t.chosen == 1 && t.events > 3, "%d events, %d chosen", t.events, t.chosen);
    mc_matrix_destroy(matrix);
    mc_context_destroy(context);
    free(path);
}

int main(void) {
    mc_diag *diag = mc_diag_create();
    scratch_begin();
    test_choice(diag);
    test_alone(diag);
    test_faults(diag);
    test_stops(diag);
    test_kinds(diag);
    test_threads(diag);
    test_errors(diag);
    mc_diag_destroy(diag);
    return scratch_end();
}
