/* What a tuner and its worker say to each other: jobs and lines come back as they were, and what is no job or
   line is refused. */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "../runtime/scratch.h"
#include "mcrt_internal.h"
#include "device/kind.h"
#include "tune/process.h"
#include "tune/wire.h"
#include "tune/worker_main.h"

enum { ENTRANTS = 3 };

/* -- Jobs */

static const tune_entrant entrants[ENTRANTS] = {
    {"op=spmm stride=32", true}, {"op=spmm stride=64", false}, {"", false}};

static plan_problem some_problem(void) {
    return (plan_problem){.op = MC_OP_SDDMM,
                          .lhs = MC_U4,
                          .rhs = MC_S16,
                          .out = MC_BF16,
                          .vec = 2,
                          .scale = MC_PER_ROW,
                          .bias = MC_PER_COLUMN,
                          .activation = MC_ACTIVATION_RELU,
                          .exact = true,
                          .mask_values = true,
                          .layout = MC_LAYOUT_ROWS,
                          .order = MC_ORDER_SRBCRS32,
                          .align = 4,
                          .shapes = MC_SHAPES_OPEN,
                          .m = 10,
                          .n = 7,
                          .k = INT64_C(1) << 40,
                          .lda = 12,
                          .ldb = 13,
                          .ldc = 14};
}

static mc_vsparse some_matrix(void) {
    const mc_pattern pattern = {.rows = 5, .cols = 7, .sparsity = 0.4, .seed = 3};
    mc_csr csr;
    mc_vsparse matrix = {0};
    if (mc_csr_generate(&pattern, &csr, NULL) != MC_OK) return matrix;
    mc_vsparse_dilate(&csr, 2, MC_S4, &matrix, NULL);
    mc_vsparse_fill(&matrix, MC_VALUES_FULL, 1, NULL);
    mc_csr_free(&csr);
    return matrix;
}

static mc_device simulator = {.info = {.kind = MC_DEVICE_SIM}};
static mc_context some_context = {.config = {.device = "sim:seed=3",
                                             .cache = MC_CACHE_READ_ONLY,
                                             .cache_directory = "relative",
                                             .cache_bytes = UINT64_C(1) << 63,
                                             .cache_files = 5},
                                  .device = &simulator};

static void open_cache(void) {
    const mccache_config config = {
        .size = sizeof config, .mode = MCCACHE_READ_ONLY, .directory = some_context.config.cache_directory};
    some_context.cache = mccache_open(&config);
    CHECK(some_context.cache != NULL);
}

/* The job's file, with the COUNT entrants that LEFT names. */
static int write_job(const tune_race *race, const size_t *left, size_t count) {
    int file = tune_process_file();
    int64_t tail = 0;
    size_t all[ENTRANTS] = {0, 1, 2};
    CHECK(file >= 0 && wire_write_race(file, &some_context, race, &tail, NULL) == MC_OK);
    /* A second list, of a second worker, replaces the first one, which may have been longer. */
    CHECK(wire_write_entrants(file, tail, race, all, ENTRANTS, 1, NULL) == MC_OK);
    CHECK(wire_write_entrants(file, tail, race, left, count, 2.5, NULL) == MC_OK);
    return file;
}

static void check_round_trip(int file, const plan_problem *problem, const mc_vsparse *matrix) {
    wire_job job;
    mc_diag *diag = mc_diag_create();
    CHECK(wire_read_job(file, &job, diag) == MC_OK, "%s", mc_diag_text(diag));
    plan_problem want = *problem;
    want.features = matrix_features_of(matrix);
    CHECK(memcmp(&job.problem, &want, offsetof(plan_problem, features)) == 0);
    CHECK(memcmp(&job.problem.features, &want.features, sizeof want.features) == 0);
    CHECK(same_vsparse(&job.matrix, matrix));
    CHECK(strcmp(job.context.device, "sim:seed=3") == 0 && job.context.cache == MC_CACHE_READ_ONLY);
    CHECK(strcmp(job.context.cache_directory, mccache_directory(some_context.cache)) == 0 &&
              job.context.cache_directory[0] == '/',
          "%s: another one after a chdir", job.context.cache_directory);
    CHECK(job.context.cache_bytes == UINT64_C(1) << 63);
    CHECK(job.context.cache_files == 5 && strcmp(job.context.records, "") == 0);
    CHECK(job.race.count == 2 && job.race.cold && job.race.seconds > 2.4 && job.race.seconds < 2.6);
    CHECK(strcmp(job.race.entrants[0].fields, "") == 0 && !job.race.entrants[0].standard);
    CHECK(strcmp(job.race.entrants[1].fields, entrants[0].fields) == 0 && job.race.entrants[1].standard);
    CHECK(job.race.problem == &job.problem && job.race.matrix == &job.matrix && job.race.make == NULL);
    wire_free_job(&job);
    mc_diag_destroy(diag);
}

/* Cut at every length, and with a byte of each item's length or of the head changed: refused, or a job that
   can be freed. */
static void check_damage(int file) {
    enum { HEAD = 8 + 19 }; /* the length and the text that every job begins with */
    off_t size = lseek(file, 0, SEEK_END);
    char *bytes = malloc((size_t)size);
    CHECK(bytes != NULL && pread(file, bytes, (size_t)size, 0) == size);
    wire_job job;
    for (off_t length = 0; bytes != NULL && length < size; length++) {
        CHECK(ftruncate(file, length) == 0);
        CHECK(wire_read_job(file, &job, NULL) != MC_OK, "cut at %d", (int)length);
        CHECK(pwrite(file, bytes, (size_t)size, 0) == size);
    }
    for (off_t i = 0; bytes != NULL && i < size; i++) {
        char other = (char)(bytes[i] ^ 0x81);
        CHECK(pwrite(file, &other, 1, i) == 1);
        mc_status status = wire_read_job(file, &job, NULL);
        CHECK(status != MC_OK || i >= HEAD, "byte %d of the head changed", (int)i);
        if (status == MC_OK) wire_free_job(&job);
        CHECK(pwrite(file, bytes + i, 1, i) == 1);
    }
    free(bytes);
}

/* The worker has the GPU of a context that is in an application's CUcontext, and named none. */
static void check_gpu(const tune_race *race) {
    mc_device gpu = {.info = {.kind = MC_DEVICE_CUDA, .ordinal = 1}};
    const char *device = some_context.config.device;
    const size_t left[] = {0};
    wire_job job;
    some_context.device = &gpu;
    some_context.config.device = NULL;
    int file = write_job(race, left, 1);
    CHECK(wire_read_job(file, &job, NULL) == MC_OK);
    CHECK(job.context.device != NULL && strcmp(job.context.device, "cuda:1") == 0, "%s",
          job.context.device != NULL ? job.context.device : "any");
    wire_free_job(&job);
    close(file);
    some_context.device = &simulator;
    some_context.config.device = device;
}

static void check_jobs(void) {
    const size_t left[] = {2, 0};
    plan_problem problem = some_problem();
    mc_vsparse matrix = some_matrix();
    const tune_race race = {
        .problem = &problem, .matrix = &matrix, .entrants = entrants, .count = ENTRANTS, .cold = true};
    int file = write_job(&race, left, 2);
    check_round_trip(file, &problem, &matrix);
    check_damage(file);
    close(file);
    check_gpu(&race);
    mc_vsparse_free(&matrix);
    wire_job job;
    CHECK(wire_read_job(-1, &job, NULL) == MC_FORMAT, "there is no file");
}

/* -- Lines */

static bool round_trip(const wire_line *line, wire_line *back) {
    char text[WIRE_LINE];
    size_t size = wire_print(line, text);
    CHECK(size <= WIRE_LINE && text[size - 1] == '\n' && memchr(text, '\n', size) == text + size - 1);
    text[size - 1] = '\0';
    return wire_parse(text, ENTRANTS, back);
}

static void check_events(void) {
    wire_line line = {.kind = WIRE_EVENT, .text = "C[0][0] is 1,\nmust be \\2"}, back;
    line.event = (tune_event){TUNE_VERIFY, 3, 40, 2, TUNE_WRONG, 12.345678, NULL};
    CHECK(round_trip(&line, &back) && back.kind == WIRE_EVENT);
    CHECK(back.event.stage == TUNE_VERIFY && back.event.done == 3 && back.event.total == 40);
    CHECK(back.event.index == 2 && back.event.state == TUNE_WRONG);
    CHECK(back.event.microseconds > 12.34567 && back.event.microseconds < 12.34568);
    CHECK(strcmp(back.text, line.text) == 0, "%s", back.text);
    line.event.microseconds = -1;
    CHECK(round_trip(&line, &back) && back.event.microseconds == 0);
    line.event.microseconds = 1e300;
    CHECK(round_trip(&line, &back) && back.event.microseconds == 0);
}

static void check_others(void) {
    wire_line line = {.kind = WIRE_END, .status = MC_DEVICE, .complete = true, .text = "lost"}, back;
    CHECK(round_trip(&line, &back) && back.kind == WIRE_END && back.status == MC_DEVICE && back.complete);
    CHECK(strcmp(back.text, "lost") == 0);
    line = (wire_line){.kind = WIRE_HELLO};
    CHECK(round_trip(&line, &back) && back.kind == WIRE_HELLO);
    for (wire_kind kind = WIRE_NOTE; kind <= WIRE_DETAIL; kind++) {
        line = (wire_line){.kind = kind, .text = "x"};
        CHECK(round_trip(&line, &back) && back.kind == kind && strcmp(back.text, "x") == 0);
    }
    /* The longest texts are cut, those of nothing but escapes, too. */
    for (int i = 0; i < 2; i++) {
        line = (wire_line){.kind = WIRE_NOTE};
        memset(line.text, i == 0 ? 'a' : '\n', WIRE_LINE - 1);
        CHECK(round_trip(&line, &back) && strlen(back.text) > WIRE_LINE / 2 - 20);
    }
}

static void check_garbage(void) {
    static const char *const lines[] = {
        "",
        "event",
        "event ",
        "event 0 1 2",
        "event 3 1 2 0 0 0 ",                   /* no such stage */
        "event 0 3 2 0 0 0 ",                   /* done > total */
        "event 0 1 2 4 0 0 ",                   /* no such entrant */
        "event 0 1 2 0 8 0 ",                   /* no such state */
        "event 0 1 2 0 0 -1 ",                  /* a time that is none */
        "event 0 1 2 0 0 1000000000000000001 ", /* too long */
        "event 0 1 2 0 0 99999999999999999999999999 ",
        "event 0 1 2 0 0 1.5 ",
        "event 0 1 2 0 0 1",
        "event  0 1 2 0 0 1 ",
        "event 0 1 2 0 0 1 \\x", /* no such escape */
        "event 0 1 2 0 0 1 \\",
        "end 8 0 ",
        "end 0 2 ",
        "end 0 0",
        "mcgen-tune 1",
        "mcgen-tune 1 ",
        "mcgen-tune 2 0123456789abcdef",
        "hello 1 ",
        "Segmentation fault",
    };
    wire_line line;
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        CHECK(!wire_parse(lines[i], ENTRANTS, &line), "'%s' was taken", lines[i]);
    CHECK(wire_parse("event 2 1 2 3 7 1000000000000000000 ", ENTRANTS, &line));
    CHECK(wire_parse("end 7 1 ", ENTRANTS, &line));
}

/* -- The worker's streams */

/* Without a job, nor standard error; and it prints. */
static _Noreturn void be_worker(int out) {
    static const char noise[] = "what a driver prints\n";
    dup2(out, WIRE_OUT);
    close(STDERR_FILENO);
    close(WIRE_JOB);
    (void)tune_worker_main();
    bool printed =
        write(WIRE_OUT, noise, sizeof noise - 1) > 0 && write(STDERR_FILENO, noise, sizeof noise - 1) > 0;
    _exit(printed ? 0 : 1);
}

static void check_streams(void) {
    int ends[2], status = 0;
    char text[WIRE_LINE] = "";
    size_t size = 0;
    if (pipe(ends) != 0) exit(1);
    fflush(stdout);
    pid_t worker = fork();
    if (worker == 0) be_worker(ends[1]);
    close(ends[1]);
    for (ssize_t got = 1; got > 0; size += (size_t)got) {
        got = read(ends[0], text + size, sizeof text - 1 - size);
        if (got < 0) got = 0;
    }
    close(ends[0]);
    CHECK(waitpid(worker, &status, 0) == worker && status == 0, "status %d", status);
    CHECK(strncmp(text, "end ", 4) == 0 && strcspn(text, "\n") == size - 1, "among the lines: %s", text);
}

int main(void) {
    open_cache();
    check_jobs();
    mccache_close(some_context.cache);
    check_events();
    check_others();
    check_garbage();
    check_streams();
    return check_end();
}
