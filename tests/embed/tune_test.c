/* Tuning on the simulator, where a kernel's time is the number of its instructions: what is chosen, what is
   recorded. */
#include "products.h"
#include "ptxsim.h"
#include "context/matrix.h"
#include "tune/contest.h"
#include "tune_workshop.h"

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

/* The simulator's clock runs the same: known kernels have the times that they had. */
static void check_times_kept(const record *before, const record *after) {
    for (size_t i = 0; i < before->candidate_count; i++)
        for (size_t j = 0; j < after->candidate_count; j++)
            if (before->candidates[i].hash == after->candidates[j].hash)
                CHECK(before->candidates[i].microseconds == after->candidates[j].microseconds, "%g, %g",
                      before->candidates[i].microseconds, after->candidates[j].microseconds);
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

/* One problem, tuned again and again. */
typedef struct story {
    bench bench;
    const char *path; /* of its records */
    heard heard;
    mc_tune_config tune;
    mc_tune_result first; /* what came of the first time, and its record */
    record r;
} story;

/* The kernel of the fewest instructions is chosen and written down. */
static void check_first(story *s, mc_diag *diag) {
    mc_tune_result *first = &s->first;
    const heard *h = &s->heard;
    record *r = &s->r;
    expect_ok("tune", mc_tune(s->bench.context, &s->bench.config, &s->tune, first, diag), diag);
    CHECK(first->measured >= 5 && first->wrong == 0 && first->failed == 0 && first->known == 0 &&
              first->complete,
          "%zu measured, %zu wrong, %zu failed", first->measured, first->wrong, first->failed);
    CHECK(h->stages[0] && h->stages[1] && h->stages[2] && h->ended[0] && h->ended[1] && h->ended[2],
          "stages");
    CHECK(h->best == first->microseconds && strchr(h->fields, '=') != NULL, "%g '%s'", h->best, h->fields);
    CHECK(find_record(s->bench.context, &s->bench.config, false, r), "no record");
    check_least(r);
    CHECK(r->candidate_count == first->measured && r->microseconds == first->microseconds, "%zu",
          r->candidate_count);
    CHECK(strcmp(r->generator, mc_generator_id()) == 0 &&
              strcmp(r->driver, mc_device_build(s->bench.context->device)) == 0,
          "%s %s", r->generator, r->driver);
    double count = count_instructions(r->fields, &s->bench.config, diag);
    CHECK(count == 1000 * first->microseconds, "%g instructions, %g us", count, first->microseconds);
    CHECK(first->standard >= first->microseconds, "%g, the default %g", first->microseconds, first->standard);
    CHECK(file_lines(s->path) == 1, "%ld lines", file_lines(s->path));
}

/* What is known is not measured again. */
static void check_known(const story *s, mc_diag *diag) {
    mc_tune_result result = {.size = sizeof result};
    expect_ok("tune again", tune_made(s->bench.context, &s->bench.config, &s->tune, &result, diag), diag);
    CHECK(workshop.made == 0 && result.measured == 0 && result.known == s->first.measured,
          "%d made, %zu known", workshop.made, result.known);
    CHECK(result.microseconds == s->first.microseconds && result.complete, "%g", result.microseconds);
    CHECK(result.standard == s->first.standard, "%g", result.standard);
    CHECK(file_lines(s->path) == 1, "%ld lines", file_lines(s->path));
}

/* New candidates are measured, beside them only the best of those that are known. */
static void check_more(story *s, mc_diag *diag) {
    mc_tune_result result = {.size = sizeof result};
    record now;
    s->tune.candidates = 8;
    expect_ok("tune more", tune_made(s->bench.context, &s->bench.config, &s->tune, &result, diag), diag);
    CHECK(result.measured > 0 && result.measured <= 3 && result.known == s->first.measured,
          "%zu new, %zu known", result.measured, result.known);
    CHECK(workshop.made >= (int)result.measured + 1 && workshop.made <= (int)result.measured + 3, "%d made",
          workshop.made);
    CHECK(find_record(s->bench.context, &s->bench.config, false, &now), "no record");
    CHECK(now.candidate_count == s->first.measured + result.measured, "%zu", now.candidate_count);
    check_least(&now);
    check_times_kept(&s->r, &now);
    record_free(&now);
}

static void check_again_and_cold(story *s, mc_diag *diag) {
    mc_tune_result result = {.size = sizeof result};
    record cold;
    s->tune.again = true;
    expect_ok("tune all again", tune_made(s->bench.context, &s->bench.config, &s->tune, &result, diag), diag);
    CHECK(workshop.made == (int)result.measured && result.known == 0 && result.measured >= 8,
          "%d made, %zu known", workshop.made, result.known);
    s->tune.again = false;
    s->tune.cold = true;
    s->tune.candidates = 2;
    expect_ok("tune cold", mc_tune(s->bench.context, &s->bench.config, &s->tune, &result, diag), diag);
    CHECK(result.known == 0 && result.measured >= 2, "cold is another record: %zu known", result.known);
    CHECK(find_record(s->bench.context, &s->bench.config, true, &cold) && cold.cold, "no record");
    record_free(&cold);
}

static void test_choice(mc_diag *diag) {
    char *path = strdup(scratch_path("records"));
    story s = {.bench = open_bench(path, NULL, diag), .path = path, .first = {.size = sizeof s.first}};
    s.tune =
        (mc_tune_config){.size = sizeof s.tune, .candidates = 5, .progress = hear, .progress_user = &s.heard};
    check_first(&s, diag);
    check_known(&s, diag);
    check_more(&s, diag);
    check_again_and_cold(&s, diag);
    record_free(&s.r);
    close_bench(&s.bench);
    unlink(path);
    free(path);
}

/* -- A tie */

/* LINES instructions that do nothing; the caller frees. */
static char *idle_lines(size_t lines) {
    static const char nothing[] = "mov.b32 %idle, 7;\n";
    char *text = malloc(lines * sizeof nothing + 64), *at = text;
    at += sprintf(at, ".reg .b32 %%idle;\n");
    for (size_t i = 0; i < lines; i++) at += sprintf(at, "%s", nothing);
    return text;
}

/* The winner is made slower, by instructions that do nothing, until the default takes hardly longer: then the
   default is chosen. */
static void test_tie(mc_diag *diag) {
    static const char two[] = "op = 'spmm' tile_n = {64, 32} warps = 1 split = 1 prefetch = 'on'";
    const char *spec = scratch_write("two.lua", two, sizeof two - 1);
    const bench b = open_bench(NULL, &spec, diag);
    mc_tune_config tune = {.size = sizeof tune, .candidates = 4};
    mc_tune_result result = {.size = sizeof result};
    record r;
    expect_ok("tune", mc_tune(b.context, &b.config, &tune, &result, diag), diag);
    if (!find_record(b.context, &b.config, false, &r)) {
        CHECK(false, "no record");
        return;
    }
    /* One warp for each of three row blocks executes a line of them. */
    double behind = 1000 * (result.standard - result.microseconds);
    size_t lines = (size_t)((behind - 1) / 3);
    char *text = idle_lines(lines);
    const fault idle = {"idle", "cvta.to.global.u64              %c,", NULL, text, TUNE_CHOSEN, ""};
    workshop.fault = &idle;
    workshop.victim = r.fields;
    tune.again = true;
    double standard = result.standard;
    CHECK(strstr(r.fields, " tile_n=32 ") != NULL && lines > 10, "%zu lines, %s", lines, r.fields);
    expect_ok("tie", tune_made(b.context, &b.config, &tune, &result, diag), diag);
    workshop.fault = NULL;
    CHECK(result.microseconds == standard && result.standard == standard, "chosen %g, the default %g",
          result.microseconds, standard);
    record now;
    if (find_record(b.context, &b.config, false, &now)) {
        double winner = now.candidates[1].microseconds;
        CHECK(strcmp(now.candidates[1].fields, r.fields) == 0 && winner < standard && winner > .99 * standard,
              "the fastest is a little faster: %g, %g", winner, standard);
        record_free(&now);
    }
    record_free(&r);
    free(text);
    unlink(scratch_path("two.lua"));
    close_bench(&b);
}

/* -- Stopping */

static void check_stop(const char *stage, int calls, bool something, mc_diag *diag) {
    const bench b = open_bench(NULL, NULL, diag);
    heard h = {.stop_at = calls, .stop_stage = stage};
    mc_tune_config tune = {.size = sizeof tune, .candidates = 5, .progress = hear, .progress_user = &h};
    mc_tune_result result = {.size = sizeof result};
    record r = {0};
    const char *name = stage != NULL ? stage : "at once";
    expect_ok(name, mc_tune(b.context, &b.config, &tune, &result, diag), diag);
    CHECK(!result.complete, "%s: not told that it was stopped", name);
    bool found = find_record(b.context, &b.config, false, &r);
    if (something) {
        CHECK(found && r.fields[0] != '\0' && r.microseconds == result.microseconds &&
                  result.microseconds > 0,
              "%s: the best so far is kept: %g", name, result.microseconds);
        CHECK(count_instructions(r.fields, &b.config, diag) == 1000 * r.microseconds, "%s: %g", name,
              r.microseconds);
    } else {
        CHECK(result.microseconds == 0 && result.measured == 0 && !found, "%s: %zu measured", name,
              result.measured);
    }
    size_t before = r.candidate_count;
    record_free(&r);
    tune.progress = NULL;
    expect_ok(name, mc_tune(b.context, &b.config, &tune, &result, diag), diag);
    CHECK(result.complete && result.known == before, "%s: then the rest: %zu known, %zu before", name,
          result.known, before);
    close_bench(&b);
}

/* A second tuning whose time ends early: the best of the first one comes first, and stays the best where it did not
   run again. */
static void check_ended_early(mc_diag *diag) {
    const bench b = open_bench(NULL, NULL, diag);
    mc_tune_config tune = {.size = sizeof tune, .candidates = 5};
    mc_tune_result first = {.size = sizeof first}, second;
    tune_job job = {.context = b.context,
                    .config = &tune,
                    .matrix = matrix_host(b.config.matrix),
                    .specs = b.config.specs,
                    .spec_count = b.config.spec_count};
    contest c;
    record r = {0};
    expect_ok("first", mc_tune(b.context, &b.config, &tune, &first, diag), diag);
    tune.candidates = 12;
    expect_ok("problem", plan_problem_of(&b.config, job.matrix, &job.problem, diag), diag);
    expect_ok("contest", contest_open(&c, &job, diag), diag);
    CHECK(c.count > 1 && c.items[0].known && !c.items[c.count - 1].known, "new kernels before known ones");
    for (size_t i = 0; i < c.count; i++) {
        c.items[i].state = c.items[i].known ? TUNE_WAITS : TUNE_RIGHT;
        c.items[i].microseconds = first.microseconds + 1;
    }
    expect_ok("record", contest_record(&c, diag), diag);
    contest_result(&c, false, &second);
    CHECK(second.microseconds == first.microseconds, "the result has %g", second.microseconds);
    contest_close(&c);
    CHECK(find_record(b.context, &b.config, false, &r) && r.microseconds == first.microseconds,
          "%g, before %g", r.microseconds, first.microseconds);
    CHECK(count_instructions(r.fields, &b.config, diag) == 1000 * first.microseconds, "%s", r.fields);
    record_free(&r);
    close_bench(&b);
}

static void test_stops(mc_diag *diag) {
    check_ended_early(diag);
    check_stop(NULL, 1, false, diag);
    check_stop("verify", 0, true, diag);
    check_stop("time", 0, true, diag);
    const bench b = open_bench(NULL, NULL, diag);
    const mc_tune_config tune = {.size = sizeof tune, .candidates = 5, .seconds = 1e-6};
    mc_tune_result result = {.size = sizeof result};
    expect_ok("a microsecond", mc_tune(b.context, &b.config, &tune, &result, diag), diag);
    CHECK(!result.complete && result.measured == 0, "%zu measured in a microsecond", result.measured);
    CHECK(!result.recorded, "recorded, though nothing was measured");
    close_bench(&b);
}

/* -- Hints */

/* What was fastest for a problem is measured for the next one like it,
   though the model likes another one better. */
static void test_hints(mc_diag *diag) {
    const bench b = open_bench(NULL, NULL, diag);
    const mc_plan_config next = spmm_of(b.matrix, 2 * N);
    mc_tune_config tune = {.size = sizeof tune, .candidates = 30};
    record r = {0}, found = {0};
    plan_problem problem;
    expect_ok("tune", mc_tune(b.context, &b.config, &tune, NULL, diag), diag);
    tune.candidates = 1;
    expect_ok("tune the next", mc_tune(b.context, &next, &tune, NULL, diag), diag);
    expect_ok("problem", plan_problem_of(&next, &b.matrix->host, &problem, diag), diag);
    CHECK(find_record(b.context, &b.config, false, &r) && find_record(b.context, &next, false, &found),
          "no record");
    for (size_t i = 0; i < 3 && i < r.candidate_count; i++) {
        char *fields = record_fields_for(&r, i, &problem);
        CHECK(fields != NULL && recorded_as(&found, fields) == RECORD_TIMED, "hint %zu: %s", i,
              fields != NULL ? fields : "");
        free(fields);
    }
    record_free(&r);
    record_free(&found);
    close_bench(&b);
}

/* -- The events of a measurement */

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
    const bench b = open_bench(NULL, NULL, diag);
    const tune_entrant entrant = {.fields = "op=spmm lhs=s8 rhs=s8 out=s32 vec=8 tile_n=32 warps=1",
                                  .standard = true};
    plan_problem problem;
    told t = {0};
    bool complete = false;
    expect_ok("problem", plan_problem_of(&b.config, &b.matrix->host, &problem, diag), diag);
    const tune_race race = {.problem = &problem, .matrix = &b.matrix->host, .entrants = &entrant, .count = 1};
    expect_ok("measure", tune_measure(b.context, &race, check_event, &t, &complete, diag), diag);
    CHECK(complete && t.chosen == 1 && t.events > 3, "%d events, %d chosen", t.events, t.chosen);
    close_bench(&b);
}

int main(void) {
    mc_diag *diag = mc_diag_create();
    scratch_begin();
    test_choice(diag);
    test_alone(diag);
    test_hints(diag);
    test_tie(diag);
    test_stops(diag);
    mc_diag_destroy(diag);
    return scratch_end();
}
