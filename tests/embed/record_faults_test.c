/* Kills a process at each system call while it adds to a file of records, or lets the call fail: records that
 * were there before stay, and the next process adds what is missing. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "bed.h"
#include "records.h"
#include "trace.h"

enum { BEFORE = 3, RECORDS = 5 }; /* in the file at first; and with those that are added */

static test_record all[RECORDS];
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
    for (int i = BEFORE; i < RECORDS; i++) (void)record_add(store, &all[i].r, diag);
    record_store_close(store);
}

static void import(void *user) {
    int notes = 0;
    record_store *store = open_store(path, &notes);
    (void)user;
    (void)record_import(store, from, NULL, diag);
    record_store_close(store);
}

static const struct change {
    const char *name;
    void (*make)(void *user);
} changes[] = {{"add", add}, {"import", import}};

/* -- Afterwards ------------------------------------------------------------------------------------------ */

static int find(record_store *store, int from_record, int to_record) {
    int found = 0;
    for (int i = from_record; i < to_record; i++) {
        record r;
        bool there = record_find(store, gpu, &all[i].r.problem, false, &r);
        found += there && strcmp(r.fields, all[i].r.fields) == 0;
        if (there) record_free(&r);
    }
    return found;
}

static void look(const struct change *change, const char *what) {
    int notes = 0;
    record_store *store = open_store(path, &notes);
    int found = find(store, 0, BEFORE);
    CHECK(found == BEFORE, "%s, %s: %d of %d records are left", change->name, what, found, BEFORE);
    CHECK(notes <= 1, "%s, %s: %d lines are no records", change->name, what, notes);
    record_store_close(store);
    change->make(NULL);
    store = open_store(path, &notes);
    found = find(store, 0, RECORDS);
    CHECK(found == RECORDS, "%s, %s, and once more: %d of %d records", change->name, what, found, RECORDS);
    record_store_close(store);
}

/* False: it never came to that. */
static bool disturb(const struct change *change, const trace_plan *plan, const char *what) {
    static trace_outcome outcome;
    (void)unlink(path);
    write_records(path, BEFORE);
    if (!trace_run(change->make, NULL, plan, &outcome)) exit(1);
    if (!outcome.hit) return false;
    CHECK(outcome.signal == (plan->act == TRACE_KILL ? SIGKILL : 0), "%s, %s: signal %d", change->name, what,
          outcome.signal);
    look(change, what);
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
    for (int i = 0; i < RECORDS; i++) {
        plan_problem problem = test_problem(MC_OP_SPMM);
        test_fill(&all[i], &problem, gpu, 4);
    }
    write_records(from, RECORDS);
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        kill_all(&changes[i]);
        fail_all(&changes[i]);
    }
    bed_remove(&bed);
    mc_diag_destroy(diag);
    return check_end();
}
