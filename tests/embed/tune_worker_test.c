/* A worker that crashes, hangs, lies or never comes takes no other kernel's result with it. Argument: the
   fake worker. */
#include <stdlib.h>
#include <time.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#include "check.h"
#include "mcrt_internal.h"
#include "tune/worker.h"

enum { COUNT = 5, BAD = 2, WRONG = 3 };

static const tune_entrant entrants[COUNT] = {
    {"k3", true}, {"k1", false}, {"bad", false}, {"wrong", false}, {"k2", false}};

static const plan_problem problem = {
    .op = MC_OP_SPMM, .out = MC_S32, .vec = 8, .align = 16, .m = 8, .n = 8, .k = 8, .ldb = 8, .ldc = 8};

/* What the listener heard. */
typedef struct heard {
    tune_state states[COUNT];
    double times[COUNT];
    char why[256]; /* of the bad one */
    size_t chosen, choices;
    bool stop, stop_at_bad; /* when asked first; when the bad one runs */
} heard;

static bool hear(void *user, const tune_event *event) {
    heard *h = user;
    if (event->index < COUNT) {
        h->states[event->index] = event->state;
        h->times[event->index] = event->microseconds;
        if (event->index == BAD) snprintf(h->why, sizeof h->why, "%s", event->message);
        if (event->state == TUNE_CHOSEN) h->chosen = event->index, h->choices++;
    }
    return !h->stop && !(h->stop_at_bad && h->states[BAD] == TUNE_RUNS);
}

typedef struct notes {
    char text[4096];
} notes;

static void note(void *user, mc_log_level level, const char *message) {
    notes *all = user;
    size_t used = strlen(all->text);
    if (level == MC_LOG_NOTE) snprintf(all->text + used, sizeof all->text - used, "%s\n", message);
}

typedef struct bench {
    mc_context *context;
    notes notes;
    mc_vsparse matrix;
    char program[4096], once[64];
    heard heard;
    bool complete;
    mc_diag *diag;
} bench;

static const tune_patience patient = {.start = 30, .run = 30, .silence = 30, .stop = 30};

static void open_bench(bench *b, const char *program) {
    static const mc_pattern pattern = {.rows = 1, .cols = 8, .sparsity = 0, .seed = 1};
    mc_csr csr;
    *b = (bench){.diag = mc_diag_create()};
    const mc_context_config config = {.size = sizeof config,
                                      .device = "sim",
                                      .cache = MC_CACHE_OFF,
                                      .records = "",
                                      .log = note,
                                      .log_user = &b->notes};
    snprintf(b->program, sizeof b->program, "%s", program);
    snprintf(b->once, sizeof b->once, "fake-once-%d", (int)getpid());
    CHECK(mc_context_create(&config, &b->context, b->diag) == MC_OK, "%s", mc_diag_text(b->diag));
    CHECK(mc_csr_generate(&pattern, &csr, NULL) == MC_OK);
    CHECK(mc_vsparse_dilate(&csr, 8, MC_S8, &b->matrix, NULL) == MC_OK);
    mc_csr_free(&csr);
}

static void close_bench(bench *b) {
    mc_context_destroy(b->context);
    mc_vsparse_free(&b->matrix);
    mc_diag_destroy(b->diag);
}

static mc_status measure(bench *b, const char *fault, const tune_patience *patience, size_t count) {
    const tune_race race = {.problem = &problem, .matrix = &b->matrix, .entrants = entrants, .count = count};
    b->heard.chosen = COUNT;
    b->notes.text[0] = '\0';
    mc_diag_clear(b->diag);
    setenv("FAKE_WORKER", fault, 1);
    mc_status status =
        tune_worker_measure(b->program, patience, b->context, &race, hear, &b->heard, &b->complete, b->diag);
    CHECK(waitpid(-1, NULL, WNOHANG) < 0, "%s: a worker was left behind", fault);
    return status;
}

static mc_status measure_all(bench *b, const char *fault, const tune_patience *patience) {
    b->heard = (heard){0};
    return measure(b, fault, patience, COUNT);
}

/* Without the entrants that are bad and wrong. */
static mc_status measure_good(bench *b, const char *fault, const tune_patience *patience) {
    b->heard = (heard){0};
    return measure(b, fault, patience, BAD);
}

/* -- An entrant that does harm: it alone has failed */

static void check_others(const bench *b, const char *fault) {
    const heard *h = &b->heard;
    CHECK(h->states[0] == TUNE_TIMED && h->times[0] == 13, "%s", fault);
    CHECK(h->states[4] == TUNE_TIMED && h->times[4] == 12, "%s", fault);
    CHECK(h->states[WRONG] == TUNE_WRONG, "%s", fault);
    CHECK(h->states[1] == TUNE_CHOSEN && h->times[1] == 11, "%s", fault);
    CHECK(h->choices == 1 && h->chosen == 1, "%s: %zu choices", fault, h->choices);
}

static void check_faults(bench *b) {
    static const struct {
        const char *fault, *why;
        double run; /* patience; 0: much */
    } rows[] = {
        {"crash", "it was ended by signal 11 (Segmentation fault)", 0},
        {"exit", "it ended with status 7", 0},
        {"hang", "it said nothing for too long", 2},
        {"garbage", "it said what makes no sense", 0},
        {"zero", "it said what makes no sense", 0},
        {"half", "it ended with status 0", 0},
        {"flood", "it said what makes no sense", 0},
        {"close", "it was ended by signal 9 (Killed)", 0},
        {"index", "it said what makes no sense", 0},
        {"count", "it said what makes no sense", 0},
        {"hello", "it said what makes no sense", 0},
        {"unverified", "it said what makes no sense", 0},
        {"device", "an illegal access", 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        tune_patience patience = patient;
        if (rows[i].run > 0) patience.run = rows[i].run;
        mc_status status = measure_all(b, rows[i].fault, &patience);
        CHECK(status == MC_OK && b->complete, "%s: %s", rows[i].fault, mc_diag_text(b->diag));
        CHECK(b->heard.states[BAD] == TUNE_FAILED, "%s: state %d", rows[i].fault, (int)b->heard.states[BAD]);
        CHECK(strstr(b->heard.why, rows[i].why) != NULL, "%s: '%s'", rows[i].fault, b->heard.why);
        check_others(b, rows[i].fault);
    }
    CHECK_TEXT(b->notes.text, "a note");
}

/* -- Nobody is to blame */

static void check_lost(bench *b) {
    /* Once: as if nothing had been. */
    FILE *file = fopen(b->once, "w");
    CHECK(file != NULL && fclose(file) == 0);
    setenv("FAKE_ONCE", b->once, 1);
    CHECK(measure_good(b, "lost", &patient) == MC_OK && b->complete);
    unsetenv("FAKE_ONCE");
    CHECK(access(b->once, F_OK) != 0);
    CHECK(b->heard.chosen == 1 && b->heard.choices == 1);
    CHECK_TEXT(b->notes.text, "tuning: a worker is lost: it was ended by signal 11");
    /* Each time: after two of them no more. */
    CHECK(measure_good(b, "lost", &patient) == MC_DEVICE && !b->complete);
    CHECK_TEXT(mc_diag_text(b->diag), "signal 11");
    CHECK(b->heard.choices == 0);
    /* While it times: those that were timed until then are, and the fastest of them is taken. */
    CHECK(measure_good(b, "crash in time", &patient) == MC_OK && !b->complete);
    CHECK(b->heard.chosen == 1 && b->heard.times[1] == 11 && b->heard.times[0] == 13);
    /* When all was said. */
    CHECK(measure_good(b, "crash at last", &patient) == MC_OK);
    CHECK(b->heard.chosen == 1 && b->heard.choices == 1 && strcmp(b->notes.text, "a note\n") == 0);
    CHECK(measure_good(b, "error", &patient) == MC_NOMEM && !b->complete);
    CHECK_TEXT(mc_diag_text(b->diag), "no memory to tune with");
}

/* -- It never was ready: this process measures, and says so */

/* Entrants of this test are no kernels, so that all of them fail there. */
static void check_missing(bench *b) {
    static const char *const faults[] = {"mute", "version", "device first"};
    char program[sizeof b->program];
    tune_patience patience = patient;
    patience.start = .3;
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        CHECK(measure_good(b, faults[i], &patience) == MC_OK, "%s", mc_diag_text(b->diag));
        CHECK_TEXT(b->notes.text, "tuning in this process: ");
        CHECK(b->heard.states[0] == TUNE_FAILED && b->heard.states[1] == TUNE_FAILED, "%s", faults[i]);
    }
    memcpy(program, b->program, sizeof program);
    snprintf(b->program, sizeof b->program, "/nonexistent/mcrun");
    CHECK(measure_good(b, "", &patient) == MC_OK);
    CHECK_TEXT(b->notes.text, "tuning in this process: /nonexistent/mcrun: No such file");
    snprintf(b->program, sizeof b->program, "/bin/true");
    CHECK(measure_good(b, "", &patient) == MC_OK);
    CHECK_TEXT(b->notes.text, "tuning in this process: /bin/true: no worker: it ended with status 0");
    CHECK(b->heard.states[0] == TUNE_FAILED && b->heard.states[1] == TUNE_FAILED);
    memcpy(b->program, program, sizeof program);
}

/* -- Stopped: what is known stays, and soon */

static void check_stop(bench *b, const char *fault, bool at_bad) {
    tune_patience patience = patient;
    patience.stop = .3;
    time_t begin = time(NULL);
    b->heard = (heard){.stop = !at_bad, .stop_at_bad = at_bad};
    CHECK(measure(b, fault, &patience, COUNT) == MC_OK && !b->complete, "%s", fault);
    CHECK(time(NULL) - begin < 15, "%s: it took %d s to stop", fault, (int)(time(NULL) - begin));
    CHECK(b->notes.text[0] == '\0' || strcmp(b->notes.text, "a note\n") == 0, "%s", b->notes.text);
}

static void check_stops(bench *b) {
    check_stop(b, "mute", false);
    check_stop(b, "deaf", false);
    CHECK(b->heard.choices == 0);
    check_stop(b, "hang", true);
    CHECK(b->heard.choices == 1 && b->heard.chosen < BAD && b->heard.times[b->heard.chosen] == 100);
}

/* An application may ignore SIGCHLD, or have its standard streams closed. */
static void check_surroundings(bench *b) {
    signal(SIGCHLD, SIG_IGN);
    CHECK(measure_all(b, "crash", &patient) == MC_OK && b->complete);
    check_others(b, "SIGCHLD ignored");
    signal(SIGCHLD, SIG_DFL);
    int in = dup(STDIN_FILENO), out = dup(STDOUT_FILENO);
    close(STDIN_FILENO);
    close(STDOUT_FILENO);
    mc_status status = measure_all(b, "crash", &patient);
    if (in >= 0) dup2(in, STDIN_FILENO);
    dup2(out, STDOUT_FILENO);
    CHECK(status == MC_OK && b->complete);
    check_others(b, "streams closed");
}

int main(int argc, char **argv) {
    bench b;
    if (argc != 2) return 2;
    open_bench(&b, argv[1]);
    check_faults(&b);
    check_lost(&b);
    check_missing(&b);
    check_stops(&b);
    check_surroundings(&b);
    close_bench(&b);
    return check_end();
}
