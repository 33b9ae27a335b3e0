/* Lets each system call of a process that uses a cache fail, with each error that it may have, once and from
 * then on, or read and write half: the process must get a miss or the right entry, soon, and say so in a line
 * at most for each kind; the next one finds a cache as good as new. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include "check.h"
#include "trace.h"
#include "works.h"

enum { MAX_ERRORS = 12, HALF = -1 /* in place of an error */, MAX_LINES = 3 };

typedef struct call_row {
    const char *name;
    long call;
    int errors[MAX_ERRORS]; /* ends with 0 */
    bool told; /* one of them, except those that are tried again, costs an entry, and the log says so */
} call_row;

#define ROW(name, ...)                                                                                       \
    { #name, SYS_##name, {__VA_ARGS__ }, false }
#define TOLD(name, ...)                                                                                      \
    { #name, SYS_##name, {__VA_ARGS__ }, true }
static const call_row calls[] = {
    ROW(openat, EACCES, EINTR, EIO, ELOOP, EMFILE, ENFILE, ENOENT, ENOMEM, ENOSPC, EROFS, EEXIST),
    ROW(mkdirat, EACCES, EDQUOT, EIO, ENOENT, ENOSPC, EROFS),
    ROW(newfstatat, EACCES, EIO, ENOENT, ENOMEM),
    ROW(read, EIO, EINTR, EISDIR, HALF),
    ROW(pread64, EIO, EINTR, HALF),
    TOLD(write, EDQUOT, EFBIG, EINTR, EIO, ENOSPC, HALF),
    TOLD(pwrite64, EDQUOT, EFBIG, EINTR, EIO, ENOSPC, HALF),
    ROW(ftruncate, EFBIG, EINTR, EIO, EPERM),
    ROW(fallocate, EINTR, EIO, ENOSPC, EOPNOTSUPP),
    TOLD(fsync, EDQUOT, EINTR, EIO, ENOSPC, EROFS),
    TOLD(fdatasync, EDQUOT, EINTR, EIO, ENOSPC, EROFS),
    ROW(fchmod, EIO, EPERM, EROFS),
    ROW(fchmodat, EIO, EPERM, EROFS),
    TOLD(renameat, EACCES, EBUSY, EIO, ENOENT, ENOSPC, EROFS, EXDEV),
    TOLD(renameat2, EACCES, EINVAL, EIO, ENOENT, ENOSPC, EROFS, EXDEV),
    ROW(linkat, EACCES, EEXIST, EIO, EMLINK, ENOSPC, EPERM),
    ROW(unlinkat, EACCES, EBUSY, EIO, ENOENT, EROFS),
    ROW(utimensat, EACCES, EIO, EPERM, EROFS),
    ROW(flock, EINTR, EIO, ENOLCK, EWOULDBLOCK),
    ROW(fcntl, EIO, ENOLCK),
    ROW(getdents64, EIO, ENOENT),
    ROW(close, EINTR, EIO),
    ROW(getcwd, ENOENT, EACCES),
    ROW(getrandom, EAGAIN, EINTR, ENOSYS),
    ROW(statfs, EIO, ENOSYS),
#ifdef __x86_64__ /* where the calls without "at" are there, too */
    ROW(open, EACCES, EINTR, EIO, ELOOP, EMFILE, ENOENT, ENOSPC, EROFS),
    ROW(mkdir, EACCES, EDQUOT, EIO, ENOENT, ENOSPC, EROFS),
    ROW(stat, EACCES, EIO, ENOENT),
    ROW(lstat, EACCES, EIO, ENOENT),
    ROW(fstat, EIO, ENOMEM),
    ROW(rename, EACCES, EIO, ENOENT, ENOSPC, EROFS, EXDEV),
    ROW(unlink, EACCES, EBUSY, EIO, EROFS),
    ROW(chmod, EIO, EPERM, EROFS),
    ROW(readlink, EACCES, EINVAL, EIO),
#endif
};
enum { CALLS = sizeof calls / sizeof *calls };

static cache_job *shared_job;
static job_check *shared_check;
static long runs;

typedef struct expectation {
    int right, missed; /* of the undisturbed job */
    int strays;
} expectation;

static void check_job(const char *what, const call_row *row, int error, bool stays, const expectation *want) {
    const cache_job *job = shared_job;
    CHECK(job->wrong == 0, "%s: %d wrong entries", what, job->wrong);
    CHECK(job->seconds < 5, "%s: took %.1f s", what, job->seconds);
    CHECK(job->lines.same == 0 && job->lines.count <= MAX_LINES, "%s: %d lines, as: %s", what,
          job->lines.count, job->lines.text[0]);
    CHECK(job->files_left_open == 0 || row->call == SYS_close, "%s: files left open", what);
    bool again = error == EINTR || error == HALF;
    CHECK(!row->told || again || job->lines.count > 0, "%s: the log says nothing", what);
    if (again && !stays)
        CHECK(job->right == want->right && job->missed == want->missed && job->lines.count == 0,
              "%s: %d right, %d missed, without it %d and %d; %s", what, job->right, job->missed, want->right,
              want->missed, job->lines.text[0]);
}

static int look(const char *what) {
    shared_job->lines = (log_lines){0};
    *shared_check = (job_check){.job = shared_job};
    int status = child_run(job_look, shared_check);
    const job_check *check = shared_check;
    CHECK(status == 0 && check->opened && check->usable, "%s: then: status %d", what, status);
    CHECK(check->wrong == 0 && check->stored && check->locked && check->swept,
          "%s: then: %d wrong, stored %d, locked %d, swept %d", what, check->wrong, check->stored,
          check->locked, check->swept);
    CHECK(shared_job->lines.count == 0, "%s: then: %s", what, shared_job->lines.text[0]);
    return check->strays;
}

/* False: there is no NTH call of this kind. */
static bool fail(const cache_work *work, const call_row *row, int error, long nth, bool stays,
                 const expectation *want) {
    trace_act act = error == HALF ? TRACE_HALF : TRACE_FAIL;
    trace_plan plan = {.act = act, .call = row->call, .nth = nth, .stays = stays, .error = error};
    trace_outcome outcome;
    char what[160];
    job_prepare(shared_job, work);
    if (!trace_run(job_run, shared_job, &plan, &outcome)) exit(1);
    if (outcome.hit) {
        snprintf(what, sizeof what, "%s: %s %ld%s: %s", work->name, row->name, nth,
                 stays ? " and all after it" : "", error == HALF ? "half" : strerror(error));
        CHECK(outcome.signal == 0 && outcome.status == 0 && shared_job->ended, "%s: signal %d, status %d",
              what, outcome.signal, outcome.status);
        check_job(what, row, error, stays, want);
        int strays = look(what);
        CHECK(strays <= want->strays, "%s: %d files stay that are no entries", what, strays);
        runs++;
    }
    bed_remove(&shared_job->bed);
    return outcome.hit;
}

/* Each error at the first few of a kind of call, which come to all places where it is made; later ones get a
   few errors each, in turn. */
static bool is_turn(long call, int error) {
    enum { FIRST = 3, SHARE = 6 };
    return call < FIRST || (call + error) % SHARE == 0;
}

static void fail_calls(const cache_work *work, const call_row *row, const expectation *want) {
    static trace_outcome seen;
    long call = 0;
    job_prepare(shared_job, work);
    trace_run(job_run, shared_job, &(trace_plan){.act = TRACE_COUNT, .call = row->call}, &seen);
    bed_remove(&shared_job->bed);
    for (long n = 1; n <= seen.calls && n <= TRACE_CALLS; n++) {
        if (n > 1 && seen.refused[n - 1] && seen.refused[n - 2])
            continue; /* one of many that look for a file */
        for (int i = 0; row->errors[i]; i++)
            if (is_turn(call, i)) fail(work, row, row->errors[i], n, false, want);
        call++;
    }
    for (int i = 0; call > 0 && row->errors[i]; i++)
        if (row->errors[i] != EINTR) fail(work, row, row->errors[i], 1, true, want);
}

static void fail_all(const cache_work *work) {
    double begin = seconds_now();
    long before = runs;
    job_prepare(shared_job, work);
    child_run(job_run, shared_job);
    CHECK(shared_job->ended && shared_job->wrong == 0 && shared_job->lines.count == 0, "%s: undisturbed",
          work->name);
    expectation want = {.right = shared_job->right, .missed = shared_job->missed};
    want.strays = look(work->name);
    bed_remove(&shared_job->bed);
    for (int i = 0; i < CALLS; i++) fail_calls(work, &calls[i], &want);
    printf("%s: %ld failures, %.1f s\n", work->name, runs - before, seconds_now() - begin);
}

static void nothing(void *user) { (void)user; }

int main(void) {
    trace_outcome outcome;
    const trace_plan count = {.act = TRACE_COUNT, .call = TRACE_ANY};
    if (!trace_can_fail() || !trace_run(nothing, NULL, &count, &outcome)) {
        printf("SKIPPED: no system call can be made to fail here\n");
        return SKIPPED;
    }
    shared_job = shared_memory(sizeof *shared_job);
    shared_check = shared_memory(sizeof *shared_check);
    for (int i = 0; i < work_count; i++) fail_all(&works[i]);
    CHECK(runs > 100, "%ld failures", runs);
    return check_end();
}
