/* What the simulator says of the ring kernel: each synchronisation is needed. Without it, on some problem, in some order of the
 * warps, the launch stops for a race, a fault of the copies, or a wait without end.
 *
 *   ring_judge_test SPEC [FIELD VALUE]... */
#include "check.h"
#include "problem.h"
#include <stdlib.h>
#include <string.h>

/* -- Problems for the default variant: 6 windows of 256 rows, 16 warps ------------------------------- */

static const problem_case cases[] = {
    /* round the ring and more; empty row blocks leave windows that nothing of theirs waited for */
    {PATTERN_EMPTY_BLOCKS, 20, 3400, 128, 0, 0, .values = MC_VALUES_FULL},
    {PATTERN_REALISTIC, 20, 3400, 128, 0, 0, .values = MC_VALUES_FULL},
    /* all of B in the ring: three turns on the simulator's two multiprocessors */
    {PATTERN_REALISTIC, 90, 1100, 128, 0, 0, .values = MC_VALUES_FULL},
    {PATTERN_EMPTY_BLOCKS, 90, 1100, 128, 0, 0, .values = MC_VALUES_FULL},
    /* a warp's first row block reads the first window, its second the last */
    {PATTERN_EITHER_END, 64, 1100, 128, 0, 0, .values = MC_VALUES_FULL},
    /* no stride comes behind what is read from the first window */
    {PATTERN_FIRST_COLUMNS, 20, 3400, 128, 0, 0, .values = MC_VALUES_FULL},
    /* nobody waits for anything */
    {PATTERN_ALL_EMPTY, 3, 1100, 128, 0, 0, .values = MC_VALUES_FULL},
};
enum { CASES = sizeof cases / sizeof *cases };

static const char *const devices[] = {"sim:limit=3000000", "sim:reversed:landing=first:limit=3000000",
                                      "sim:landing=first:limit=3000000", "sim:reversed:limit=3000000",
                                      "sim:seed=1:limit=3000000"};
enum { DEVICES = sizeof devices / sizeof *devices, MAX_SETTINGS = 4 };

typedef struct bench {
    problem problems[CASES];
    mc_device *devices[DEVICES];
    mc_kernel *kernel;
    mc_diag *diag;
} bench;

static bool bench_open(bench *t, const char *spec_path, const mc_setting *settings, size_t count) {
    mc_spec *spec = NULL;
    t->diag = mc_diag_create();
    mc_status status = mc_spec_read(spec_path, settings, count, &spec, t->diag);
    if (status == MC_OK) status = mc_kernel_generate(spec, mc_spec_default(spec), &t->kernel, t->diag);
    for (int i = 0; status == MC_OK && i < DEVICES; i++)
        status = mc_device_open(devices[i], &t->devices[i], t->diag);
    problem_kind kind;
    if (status == MC_OK) status = problem_kind_of(t->kernel, &kind, t->diag);
    for (int i = 0; status == MC_OK && i < CASES; i++)
        status = problem_make(&cases[i], &kind, &t->problems[i], t->diag);
    mc_spec_destroy(spec);
    CHECK(status == MC_OK, "%s", mc_diag_text(t->diag));
    return status == MC_OK;
}

static void bench_close(bench *t) {
    for (int i = 0; i < CASES; i++) problem_free(&t->problems[i]);
    for (int i = 0; i < DEVICES; i++) mc_device_close(t->devices[i]);
    mc_kernel_destroy(t->kernel);
    mc_diag_destroy(t->diag);
}

/* -- Sites -------------------------------------------------------------------------------------------- */

/* griddepcontrol is not among them: the simulator runs one kernel at a time. */
static const struct {
    const char *name;
    int sites, async_sites; /* of staging tma, of staging async */
    int sum_sites;          /* more where warps share a row block */
    int queue_sites;        /* more where warps have queues of 4 strides, and turns; two of tma go */
    int lines;              /* of the loop around a wait, which goes with it */
} kinds[] = {
    {"bar.sync", 2, 3, 2, 0, 1},
    {"bar.warp.sync", 2, 0, 0, 1, 1},
    {"mbarrier.try_wait", 6, 0, 0, 0, 3},
    {"mbarrier.init", 12, 0, 0, 0, 1},
    {"mbarrier.arrive.shared", 2, 0, 0, 0, 1},
    {"mbarrier.arrive.expect_tx", 2, 0, 0, 0, 1},
    {"fence.mbarrier_init", 1, 0, 0, 0, 1},
    {"cp.async.wait_group", 0, 3, 0, 3, 1},
    {"cp.async.commit_group", 0, 4, 0, 10, 1},
};

/* A copy of PTX with blanks for the LINES lines from that of AT on. */
static char *blank(const char *ptx, const char *at, int lines) {
    char *out = strdup(ptx), *from = out ? out + (at - ptx) : NULL;
    if (!out) return NULL;
    while (from > out && from[-1] != '\n') from--;
    for (; *from && lines; from++) {
        if (*from == '\n') lines--;
        else *from = ' ';
    }
    return out;
}

static int line_of(const char *text, const char *at) {
    int line = 1;
    for (; text < at; text++) line += *text == '\n';
    return line;
}

/* What the simulator stops for: a race, a copy or mbarrier against the rules, a wait that nothing ends. A wrong result is no stop. */
static bool is_stop(mc_status status, const char *text) {
    static const char *const reasons[] = {
        "two accesses that nothing orders", "an asynchronous copy, mbarrier or proxy used against the rules",
        "a divergent or incomplete barrier", "memory that was never written"};
    for (size_t i = 0; status == MC_DEVICE && i < sizeof reasons / sizeof *reasons; i++)
        if (strstr(text, reasons[i])) return true;
    return false;
}

/* Whether PTX runs to its end, with the right result, on every problem in every order; else DIAG says what the first stop
   was. */
static bool is_right(bench *t, const char *ptx, mc_status *status) {
    for (int i = 0; i < CASES * DEVICES; i++) {
        *status = problem_run(&t->problems[i % CASES], t->devices[i / CASES], t->kernel, ptx, t->diag);
        if (*status != MC_OK) return false;
        mc_diag_clear(t->diag);
    }
    return true;
}

static void without(bench *t, const char *at, int lines, const char *name) {
    const char *ptx = mc_kernel_ptx(t->kernel);
    char *changed = blank(ptx, at, lines);
    mc_status status = MC_OK;
    CHECK(changed != NULL);
    bool right = changed && is_right(t, changed, &status);
    CHECK(!right && is_stop(status, mc_diag_text(t->diag)), "without %s of line %d: status %d: %s", name,
          line_of(ptx, at), (int)status, mc_diag_text(t->diag));
    mc_diag_clear(t->diag);
    free(changed);
}

static void sites(bench *t) {
    const char *ptx = mc_kernel_ptx(t->kernel);
    bool async = strcmp(mc_kernel_field_text(t->kernel, "staging"), "async") == 0,
         shared = mc_kernel_field(t->kernel, "split") > 1, queued = mc_kernel_field(t->kernel, "depth") > 2;
    int all = 0;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        int count = 0;
        for (const char *at = ptx; (at = strstr(at, kinds[i].name)) != NULL; at++, count++)
            without(t, at, kinds[i].lines, kinds[i].name);
        int want = (async ? kinds[i].async_sites : kinds[i].sites) + (shared ? kinds[i].sum_sites : 0) +
                   (queued ? kinds[i].queue_sites : 0);
        CHECK(count == want, "%d of %s, not %d", count, kinds[i].name, want);
        all += count;
    }
    printf("%d synchronisations, each missed\n", all);
}

int main(int argc, char **argv) {
    bench t = {0};
    mc_status status;
    mc_setting settings[MAX_SETTINGS];
    size_t count = 0;
    if (argc % 2 || argc > 2 + 2 * MAX_SETTINGS) return 2;
    for (; argc > 2 + 2 * (int)count; count++)
        settings[count] = (mc_setting){argv[2 + 2 * count], argv[3 + 2 * count]};
    if (bench_open(&t, argv[1], settings, count)) {
        CHECK(is_right(&t, NULL, &status), "the kernel itself: %s", mc_diag_text(t.diag));
        if (check_failed == 0) sites(&t);
    }
    bench_close(&t);
    return check_end();
}
