/* Kills a process at the entry of its first, second, ... system call while it uses a cache, until it
 * survives. After each kill another process must find the cache as good as new. Where the call before
 * returned an error the disk is as it was before that one: such kills are left out. */
#include <signal.h>
#include <stdlib.h>
#include "check.h"
#include "trace.h"
#include "works.h"

static cache_job *shared_job;
static job_check *shared_check;

/* -> files that are no entries. */
static int look(const char *when) {
    cache_job *job = shared_job;
    *shared_check = (job_check){.job = job};
    int status = child_run(job_look, shared_check);
    const job_check *check = shared_check;
    const char *name = job->work->name;
    CHECK(status == 0, "%s, %s: the next process ended with %d", name, when, status);
    CHECK(check->opened && check->usable, "%s, %s: the directory cannot be used", name, when);
    CHECK(check->wrong == 0, "%s, %s: %d wrong entries", name, when, check->wrong);
    CHECK(check->stored, "%s, %s: an entry that was put is not there", name, when);
    CHECK(check->locked, "%s, %s: no lock to have", name, when);
    CHECK(check->swept, "%s, %s: the directory cannot be read", name, when);
    CHECK(job->lines.count == 0, "%s, %s: %s", name, when, job->lines.text[0]);
    return check->strays;
}

/* Kills at system call N; false: there are fewer. */
static bool kill_at(const cache_work *work, long n, int undisturbed) {
    trace_plan plan = {.act = TRACE_KILL, .call = TRACE_ANY, .nth = n};
    trace_outcome outcome;
    char when[64];
    job_prepare(shared_job, work);
    if (!trace_run(job_run, shared_job, &plan, &outcome)) exit(1);
    snprintf(when, sizeof when, "killed at system call %ld (number %ld)", n, outcome.hit_call);
    int want = outcome.hit ? SIGKILL : 0;
    CHECK(outcome.signal == want && outcome.status == 0, "%s, %s: signal %d, status %d", work->name, when,
          outcome.signal, outcome.status);
    int strays = look(when);
    CHECK(strays <= undisturbed, "%s, %s: %d files stay that are no entries, not %d", work->name, when,
          strays, undisturbed);
    bed_remove(&shared_job->bed);
    return outcome.hit;
}

static bool changed_nothing(const trace_outcome *seen, long n) { return n > 1 && seen->refused[n - 2]; }

/* One process after another dies in one directory: what they leave must not add up. */
static void kill_in_turn(const cache_work *work, const trace_outcome *seen, int undisturbed) {
    trace_outcome outcome;
    job_prepare(shared_job, work);
    for (long n = 1; n <= seen->calls; n++) {
        trace_plan plan = {.act = TRACE_KILL, .call = TRACE_ANY, .nth = n};
        if (!changed_nothing(seen, n)) trace_run(job_run, shared_job, &plan, &outcome);
    }
    int strays = look("killed in turn");
    CHECK(strays <= undisturbed, "%s: %d files stay that are no entries, not %d", work->name, strays,
          undisturbed);
    bed_remove(&shared_job->bed);
}

static int undisturbed_strays(const cache_work *work) {
    job_prepare(shared_job, work);
    child_run(job_run, shared_job);
    CHECK(shared_job->ended && shared_job->wrong == 0, "%s: undisturbed", work->name);
    CHECK(shared_job->files_left_open == 0, "%s: %d files left open", work->name,
          shared_job->files_left_open);
    int strays = look("undisturbed");
    bed_remove(&shared_job->bed);
    return strays;
}

static void kill_all(const cache_work *work) {
    double begin = seconds_now();
    int undisturbed = undisturbed_strays(work);
    static trace_outcome seen;
    job_prepare(shared_job, work);
    trace_run(job_run, shared_job, &(trace_plan){.act = TRACE_COUNT, .call = TRACE_ANY}, &seen);
    bed_remove(&shared_job->bed);
    long n = 1, kills = 0;
    for (bool hit = true; hit && n < TRACE_CALLS; n++) {
        if (changed_nothing(&seen, n)) continue;
        hit = kill_at(work, n, undisturbed);
        kills += hit;
    }
    CHECK(kills > 3 && n + 16 > seen.calls && n < TRACE_CALLS, "%s: %ld system calls", work->name, n);
    kill_in_turn(work, &seen, undisturbed);
    printf("%s: killed at %ld of %ld system calls, %.1f s\n", work->name, kills, n - 2,
           seconds_now() - begin);
}

static void nothing(void *user) { (void)user; }

int main(void) {
    trace_outcome outcome;
    if (!trace_run(nothing, NULL, &(trace_plan){.call = TRACE_ANY}, &outcome)) {
        printf("SKIPPED: this system does not permit ptrace, nothing was killed\n");
        return SKIPPED;
    }
    shared_job = shared_memory(sizeof *shared_job);
    shared_check = shared_memory(sizeof *shared_check);
    for (int i = 0; i < work_count; i++) kill_all(&works[i]);
    return check_end();
}
