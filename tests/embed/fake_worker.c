/* A worker that misbehaves: measures nothing, says what a good one would, and when it comes to an entrant
   "bad" does what FAKE_WORKER says. Entrant "kN" takes 10 + N microseconds. FAKE_ONCE: a file whose removal
   is the first worker's; only that one misbehaves. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "mcrt_internal.h"
#include "tune/wire.h"

static const char *fault;

static bool is(const char *name) { return strcmp(fault, name) == 0; }

static void say_raw(const char *text) {
    if (write(WIRE_OUT, text, strlen(text)) < 0) _exit(3);
}

static void say(const wire_line *line) {
    char text[WIRE_LINE];
    size_t size = wire_print(line, text);
    if (write(WIRE_OUT, text, size) < 0) _exit(3);
}

static void say_event(const wire_job *job, tune_stage stage, size_t index, tune_state state, double time,
                      const char *why) {
    wire_line line = {.kind = WIRE_EVENT, .event = {stage, 1, job->race.count, index, state, time, NULL}};
    snprintf(line.text, sizeof line.text, "%s", why);
    say(&line);
}

static void say_end(mc_status status, bool complete, const char *why) {
    wire_line line = {.kind = WIRE_END, .status = status, .complete = complete};
    snprintf(line.text, sizeof line.text, "%s", why);
    say(&line);
}

_Noreturn static void sleep_forever(void) {
    for (;;) pause();
}

/* -- What can go wrong */

static void crash(void) {
    signal(SIGSEGV, SIG_DFL);
    raise(SIGSEGV);
}

static void misbehave(const wire_job *job, size_t bad) {
    if (is("crash")) crash();
    if (is("exit")) exit(7);
    if (is("hang")) sleep_forever();
    if (is("garbage")) say_raw("Illegal instruction\n");
    if (is("zero") && write(WIRE_OUT, "event\0\n", 7) < 0) _exit(3);
    if (is("half")) {
        say_raw("event 1 1");
        exit(0);
    }
    if (is("flood"))
        for (;;) say_raw("event 1 1 1 1 1 1 and so on");
    if (is("close")) {
        close(WIRE_OUT);
        sleep_forever();
    }
    if (is("index")) say_event(job, TUNE_VERIFY, job->race.count + 1, TUNE_RIGHT, 1, "");
    if (is("count")) say_raw("event 1 9 2 0 2 1 \n");
    if (is("hello")) say(&(wire_line){.kind = WIRE_HELLO});
    if (is("unverified")) say_event(job, TUNE_TIME, bad, TUNE_TIMED, .5, "");
    if (is("device")) {
        say_event(job, TUNE_VERIFY, bad, TUNE_FAILED, 0, "an illegal access");
        say_end(MC_DEVICE, false, "the device is of no use any more");
        exit(1);
    }
    sleep_forever();
}

/* Before anything runs. */
static void misbehave_early(void) {
    if (is("lost")) crash();
    if (is("error")) {
        say_end(MC_NOMEM, false, "no memory to tune with");
        exit(1);
    }
    if (is("deaf")) { /* to all that asks it to stop */
        sleep_forever();
    }
}

static void misbehave_first(void) {
    if (is("mute")) sleep_forever();
    if (is("version")) say_raw("mcgen-tune 999 0123456789abcdef\n");
    if (is("device first")) {
        say_end(MC_DEVICE, false, "the GPU is another process's");
        exit(1);
    }
}

/* -- What goes well */

static double time_of(const char *fields) { return 10 + atof(fields + 1); }

static void verify(const wire_job *job) {
    for (size_t i = 0; i < job->race.count; i++) {
        const char *fields = job->race.entrants[i].fields;
        say_event(job, TUNE_VERIFY, i, TUNE_RUNS, 0, "");
        if (strcmp(fields, "bad") == 0) misbehave(job, i);
        if (strcmp(fields, "wrong") == 0) say_event(job, TUNE_VERIFY, i, TUNE_WRONG, 0, "C[0][0]");
        else say_event(job, TUNE_VERIFY, i, TUNE_RIGHT, 100, "");
    }
}

static void time_all(const wire_job *job) {
    size_t best = job->race.count;
    for (size_t i = 0; i < job->race.count; i++) {
        const char *fields = job->race.entrants[i].fields;
        if (strcmp(fields, "wrong") == 0) continue;
        say_event(job, TUNE_TIME, i, TUNE_TIMED, time_of(fields), "");
        if (best == job->race.count || time_of(fields) < time_of(job->race.entrants[best].fields)) best = i;
        if (is("crash in time") && i == 1) crash();
    }
    if (best < job->race.count)
        say_event(job, TUNE_TIME, best, TUNE_CHOSEN, time_of(job->race.entrants[best].fields), "");
}

int main(void) {
    const char *named = getenv("FAKE_WORKER"), *once = getenv("FAKE_ONCE");
    wire_job job;
    if (getenv(WIRE_WORKER_SIGN) == NULL) return 5; /* it could start workers without end */
    fault = named != NULL && (once == NULL || unlink(once) == 0) ? named : "";
    misbehave_first();
    if (wire_read_job(WIRE_JOB, &job, NULL) != MC_OK) return 4;
    say(&(wire_line){.kind = WIRE_HELLO});
    say(&(wire_line){.kind = WIRE_NOTE, .text = "a note"});
    misbehave_early();
    verify(&job);
    time_all(&job);
    if (is("crash at last")) crash();
    say_end(MC_OK, true, "");
    wire_free_job(&job);
    return 0;
}
