/* Kills a process at each system call while it adds to a file of records, or lets the call fail, or fills the
 * disk: records that were there before stay, so do those that it was told are kept, and the next process adds
 * what is missing. Half a line is left by a kill only, or where another process has written behind it. */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "bed.h"
#include "records.h"
#include "trace.h"

/* In the file at first; with those that are added; the one that another process adds meanwhile. */
enum { BEFORE = 3, RECORDS = 5, OTHER = RECORDS, ALL };

static test_record all[ALL];
static bool *told; /* of each: it is kept; shared with the children */
static char path[BED_PATH + 16], from[BED_PATH + 16];
static const char gpu[] = "Some GPU";
static mc_diag *diag;

static void count_note(void *user, const char *message) {
    (void)message;
    ++*(int *)user;
}

static record_store *open_store(const char *file, int *notes) {
    record_store *store = NULL;
    const record_store_config config = {.path = file, .log = count_note, .log_user = notes};
    if (record_store_open(&config, &store, diag) != MC_OK) exit(1);
    return store;
}

static void write_records(const char *file, int count) {
    int notes = 0;
    record_store *store = open_store(file, &notes);
    for (int i = 0; i < count; i++)
        CHECK(record_add(store, &all[i].r, diag) == MC_OK, "%s", mc_diag_text(diag));
    record_store_close(store);
}

/* -- What is disturbed: in a child ----------------------------------------------------------------------- */

static void add(void *user) {
    int notes = 0;
    record_store *store = open_store(path, &notes);
    (void)user;
    for (int i = BEFORE; i < RECORDS; i++) told[i] = record_add(store, &all[i].r, diag) == MC_OK;
    record_store_close(store);
}

static void import(void *user) {
    int notes = 0;
    record_store *store = open_store(path, &notes);
    (void)user;
    mc_status status = record_import(store, from, NULL, diag);
    for (int i = BEFORE; i < RECORDS; i++) told[i] = status == MC_OK;
    record_store_close(store);
}

static const struct change {
    const char *name;
    void (*make)(void *user);
} changes[] = {{"add", add}, {"import", import}};

/* -- Meanwhile ------------------------------------------------------------------------------------------- */

static void kill_child(pid_t child) { kill(child, SIGKILL); }

/* As one that has waited for the lock for long enough. */
static void add_other(pid_t child) {
    char *line = record_print(&all[OTHER].r);
    FILE *file = fopen(path, "a");
    CHECK(file != NULL && fprintf(file, "\n%s\n", line) > 0 && fclose(file) == 0, "%s", path);
    free(line);
    told[OTHER] = true;
    (void)child;
}

/* -- Afterwards ------------------------------------------------------------------------------------------ */

static bool is_there(record_store *store, int i) {
    record r;
    if (!record_find(store, gpu, &all[i].r.problem, false, &r)) return false;
    bool same = strcmp(r.fields, all[i].r.fields) == 0;
    record_free(&r);
    return same;
}

/* -> lines that are no records. */
static int look(const struct change *change, const char *what) {
    int notes = 0, later = 0;
    record_store *store = open_store(path, &notes);
    for (int i = 0; i < ALL; i++)
        CHECK(is_there(store, i) || !told[i], "%s, %s: record %d is lost", change->name, what, i);
    record_store_close(store);
    change->make(NULL);
    store = open_store(path, &later);
    for (int i = 0; i < RECORDS; i++)
        CHECK(is_there(store, i), "%s, %s, and once more: no record %d", change->name, what, i);
    CHECK(later == notes, "%s, %s, and once more: %d lines are no records", change->name, what, later);
    record_store_close(store);
    return notes;
}

/* False: it never came to that. */
static bool disturb(const struct change *change, const trace_plan *plan, const char *what) {
    static trace_outcome outcome;
    (void)unlink(path);
    write_records(path, BEFORE);
    for (int i = 0; i < ALL; i++) told[i] = i < BEFORE;
    if (!trace_run(change->make, NULL, plan, &outcome)) exit(1);
    if (!outcome.hit || outcome.since < plan->after) return false;
    bool killed = plan->act == TRACE_KILL || plan->then == kill_child;
    CHECK(outcome.signal == (killed ? SIGKILL : 0), "%s, %s: signal %d", change->name, what, outcome.signal);
    int torn = look(change, what), most = plan->act == TRACE_HALF && plan->then != NULL;
    CHECK(torn <= most, "%s, %s: %d lines are no records", change->name, what, torn);
    return true;
}

static void kill_all(const struct change *change) {
    char what[64];
    long n = 1;
    for (bool hit = true; hit && n < 1000; n++) {
        snprintf(what, sizeof what, "killed at system call %ld", n);
        hit = disturb(change, &(trace_plan){.act = TRACE_KILL, .call = TRACE_ANY, .nth = n}, what);
    }
    CHECK(n > 10 && n < 1000, "%s: %ld system calls", change->name, n);
    printf("%s: killed at each of %ld system calls\n", change->name, n - 2);
}

/* The disk takes half of the first write, and the process is killed at each system call from there on. */
static void tear_all(const struct change *change) {
    trace_plan plan = {.act = TRACE_HALF, .call = SYS_write, .nth = 1, .then = kill_child, .after = 1};
    char what[80];
    do snprintf(what, sizeof what, "half a write, and killed %ld system calls later", plan.after);
    while (disturb(change, &plan, what) && ++plan.after < 1000);
    CHECK(plan.after > 5 && plan.after < 1000, "%s: %ld system calls after half a write", change->name,
          plan.after);
}

/* What another process adds behind half a line stays. */
static void tear_among_others(const struct change *change) {
    const trace_plan plan = {.act = TRACE_HALF, .call = SYS_write, .nth = 1, .then = add_other, .after = 1};
    CHECK(disturb(change, &plan, "half a write, and another process's"), "it never came to that");
}

/* -- Errors --------------------------------------------------------------------------------------------- */

enum { MAX_ERRORS = 6, HALF = -1 };

static const struct call_row {
    const char *name;
    long call;
    int errors[MAX_ERRORS];
} calls[] = {
    {"openat", SYS_openat, {EACCES, EMFILE, ENOSPC, EROFS}},
    {"write", SYS_write, {EINTR, EIO, ENOSPC, HALF}},
    {"read", SYS_read, {EINTR, EIO, HALF}},
    {"pread64", SYS_pread64, {EINTR, EIO, HALF}},
    {"flock", SYS_flock, {EINTR, ENOLCK, EIO}},
    {"newfstatat", SYS_newfstatat, {EACCES, EIO}},
    {"fsync", SYS_fsync, {EIO, ENOSPC}},
    {"close", SYS_close, {EIO}},
#ifdef SYS_rename
    {"rename", SYS_rename, {EACCES, EIO, ENOSPC}},
#endif
};

/* Every call of the kind in turn. Returns how many there were. */
static int fail_each(const struct change *change, const struct call_row *row, int error) {
    trace_plan plan = {.act = error == HALF ? TRACE_HALF : TRACE_FAIL, .call = row->call, .error = error};
    char what[96];
    for (plan.nth = 1; plan.nth < 100; plan.nth++) {
        snprintf(what, sizeof what, "%s %ld: %s", row->name, plan.nth,
                 error == HALF ? "half" : strerror(error));
        if (!disturb(change, &plan, what)) break;
    }
    return (int)plan.nth - 1;
}

static void fail_all(const struct change *change) {
    int failures = 0;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        for (const int *error = calls[i].errors; *error; error++)
            failures += fail_each(change, &calls[i], *error);
    CHECK(failures > 20, "%d failures", failures);
    printf("%s: %d system calls failed\n", change->name, failures);
}

/* -- A disk that is really full -------------------------------------------------------------------------- */

enum { TOO_MANY = 200, NOT_HERE = 78 /* exit status: the system does not permit it */ };

static bool count_record(void *user, const record *r, bool own) {
    (void)r, (void)own;
    ++*(int *)user;
    return true;
}

/* -> records that were added until one could not be. */
static int fill_disk(void) {
    static test_record t;
    int notes = 0, kept = -1;
    mc_status status = MC_OK;
    record_store *store = open_store(path, &notes);
    while (status == MC_OK && ++kept < TOO_MANY) {
        plan_problem problem = test_problem(MC_OP_SPMM);
        test_fill(&t, &problem, gpu, 4);
        status = record_add(store, &t.r, diag);
    }
    record_store_close(store);
    return kept;
}

static void on_small_disk(void *user) {
    int notes = 0, there = 0;
    if (unshare(CLONE_NEWNS) != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("none", user, "tmpfs", 0, "size=32k,mode=700") != 0)
        _exit(NOT_HERE);
    int kept = fill_disk();
    record_store *store = open_store(path, &notes);
    record_walk(store, count_record, &there);
    record_store_close(store);
    if (kept == 0 || kept == TOO_MANY) _exit(1);
    if (there != kept) _exit(2);
    if (notes != 0) _exit(3);
}

static void test_full_disk(cache_bed *bed) {
    int status = child_run(on_small_disk, bed->top);
    if (status == NOT_HERE) printf("SKIPPED: a full disk: not permitted here\n");
    else CHECK(status == 0, "a full disk: ended with %d", status);
}

static void nothing(void *user) { (void)user; }

int main(void) {
    cache_bed bed;
    trace_outcome outcome;
    if (!trace_can_fail() || !trace_run(nothing, NULL, &(trace_plan){.call = TRACE_ANY}, &outcome)) {
        printf("SKIPPED: this system does not permit ptrace\n");
        return SKIPPED;
    }
    diag = mc_diag_create();
    bed_make(&bed);
    snprintf(path, sizeof path, "%s/records", bed.top);
    snprintf(from, sizeof from, "%s/others", bed.top);
    told = shared_memory(ALL * sizeof *told);
    for (int i = 0; i < ALL; i++) {
        plan_problem problem = test_problem(MC_OP_SPMM);
        test_fill(&all[i], &problem, gpu, 4);
    }
    write_records(from, RECORDS);
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        kill_all(&changes[i]);
        fail_all(&changes[i]);
        tear_all(&changes[i]);
    }
    tear_among_others(&changes[0]);
    test_full_disk(&bed);
    bed_remove(&bed);
    mc_diag_destroy(diag);
    return check_end();
}
