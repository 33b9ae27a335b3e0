/* Measuring in a worker, and in another one for the rest where a kernel ends it. */
#include "tune/worker.h"
#include <math.h>
#include <stdlib.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/memory.h"
#include "tune/process.h"

enum { TICK = 100 }; /* milliseconds between two questions to the listener */

/* -- What is known */

typedef struct relay {
    const char *program;
    const tune_patience *patience;
    mc_context *context;
    const tune_race *race;
    tune_listener *listener;
    void *user;
    int job; /* the file */
    int64_t tail;
    double begin;
    tune_state *states; /* of all entrants */
    double *times;
    size_t *left; /* those of the present worker, by their places in the race */
    size_t left_count;
    size_t running;  /* the entrant that runs for the first time; race->count: none */
    tune_event last; /* repeated while nothing is said */
    bool stopping, chosen, complete;
} relay;

static void tell(relay *r, const tune_event *event) {
    if (!r->listener(r->user, event)) r->stopping = true;
}

/* How far the stage is, for a listener that may want to stop. */
static void tell_nothing_new(relay *r) {
    tune_event event = r->last;
    event.index = r->race->count;
    event.state = TUNE_WAITS;
    event.microseconds = 0;
    event.message = "";
    tell(r, &event);
}

/* No time without a result that was right, whoever says so. */
static bool may_follow(tune_state before, tune_state state) {
    bool right = before == TUNE_RIGHT || before == TUNE_TIMED || before == TUNE_DROPPED;
    bool wants_right = state == TUNE_TIMED || state == TUNE_DROPPED || state == TUNE_CHOSEN;
    return right || !wants_right;
}

/* An event of the present worker. False: it makes no sense. */
static bool take_event(relay *r, const wire_line *line) {
    tune_event event = line->event;
    bool general = event.index == r->left_count;
    event.index = general ? r->race->count : r->left[event.index];
    event.message = line->text;
    if (!general) {
        if (!may_follow(r->states[event.index], event.state) || r->chosen) return false;
        r->chosen = event.state == TUNE_CHOSEN;
        r->states[event.index] = event.state;
        r->times[event.index] = event.microseconds;
        if (event.state == TUNE_RUNS) r->running = event.index;
        else if (r->running == event.index) r->running = r->race->count;
    }
    r->last = event;
    tell(r, &event);
    return true;
}

static void fail_entrant(relay *r, size_t index, const char *message) {
    tune_event event = r->last;
    event.index = index;
    event.state = TUNE_FAILED;
    event.microseconds = 0;
    event.message = message;
    r->states[index] = TUNE_FAILED;
    r->running = r->race->count;
    tell(r, &event);
}

static bool is_out(tune_state state) {
    return state == TUNE_WRONG || state == TUNE_FAILED || state == TUNE_DROPPED;
}

static size_t count_failed(const relay *r) {
    size_t count = 0;
    for (size_t i = 0; i < r->race->count; i++) count += r->states[i] == TUNE_FAILED;
    return count;
}

/* -- One worker */

typedef enum worker_end {
    WORKER_DONE,   /* it said what came of it, or was stopped */
    WORKER_FAULT,  /* an entrant ended it, which is FAILED now */
    WORKER_LOST,   /* it ended, and no entrant is to blame */
    WORKER_MISSING /* it never was ready */
} worker_end;

/* What a worker is waited for, and since when. */
typedef struct watch {
    double since;
    bool ready;
} watch;

static double patience_of(const relay *r, const watch *w) {
    const tune_patience *p = r->patience;
    return r->stopping ? p->stop : !w->ready ? p->start : r->running < r->race->count ? p->run : p->silence;
}

/* The worker came to no good end; WHY. After its choice all is known. */
static worker_end give_up(relay *r, const watch *w, const char *why, mc_diag *diag) {
    if (r->stopping || r->chosen) return WORKER_DONE;
    if (!w->ready) {
        mc_fail(diag, MC_IO, "%s: no worker: %s", r->program, why);
        return WORKER_MISSING;
    }
    if (r->running < r->race->count) {
        fail_entrant(r, r->running, why);
        return WORKER_FAULT;
    }
    context_log(r->context, MC_LOG_NOTE, "tuning: a worker is lost: %s", why);
    mc_fail(diag, MC_DEVICE, "tuning: %s", why);
    return WORKER_LOST;
}

/* The worker's last word. One that lost the device, as tune_measure says, has named the entrant. */
static worker_end take_end(relay *r, const watch *w, const wire_line *line, size_t failed_before,
                           mc_status *status, mc_diag *diag) {
    if (!w->ready) return give_up(r, w, line->text, diag);
    if (line->status == MC_DEVICE && count_failed(r) > failed_before) return WORKER_FAULT;
    if (line->status == MC_DEVICE) return give_up(r, w, line->text, diag);
    *status = line->status == MC_OK ? MC_OK : mc_fail(diag, line->status, "%s", line->text);
    r->complete = line->complete;
    return WORKER_DONE;
}

/* Anything but the end. False: it makes no sense. */
static bool take_line(relay *r, watch *w, const wire_line *line) {
    bool hello = line->kind == WIRE_HELLO;
    if (hello == w->ready && line->kind != WIRE_NOTE && line->kind != WIRE_DETAIL) return false;
    w->since = clock_seconds();
    w->ready |= hello;
    if (line->kind == WIRE_EVENT) return take_event(r, line);
    if (!hello)
        context_log(r->context, line->kind == WIRE_NOTE ? MC_LOG_NOTE : MC_LOG_DETAIL, "%s", line->text);
    return true;
}

static worker_end listen(relay *r, tune_process *process, mc_status *status, mc_diag *diag) {
    char text[WIRE_LINE];
    wire_line line;
    watch w = {.since = clock_seconds()};
    const size_t failed = count_failed(r);
    for (bool told = false;;) {
        if (r->stopping && !told) {
            tune_process_stop(process);
            told = true;
            w.since = clock_seconds();
        }
        switch (tune_process_read(process, TICK, text)) {
        case READING_LINE:
            if (!wire_parse(text, r->left_count, &line))
                return give_up(r, &w, "it said what makes no sense", diag);
            if (line.kind == WIRE_END) return take_end(r, &w, &line, failed, status, diag);
            if (!take_line(r, &w, &line)) return give_up(r, &w, "it said what makes no sense", diag);
            break;
        case READING_NOTHING:
            tell_nothing_new(r);
            if (clock_seconds() - w.since < patience_of(r, &w)) break;
            return give_up(r, &w, "it said nothing for too long", diag);
        case READING_GARBAGE: return give_up(r, &w, "it said what makes no sense", diag);
        case READING_END: return give_up(r, &w, tune_process_end(process, false).text, diag);
        }
    }
}

static void choose_left(relay *r) {
    r->left_count = 0;
    r->running = r->race->count;
    r->chosen = false;
    for (size_t i = 0; i < r->race->count; i++)
        if (!is_out(r->states[i])) r->left[r->left_count++] = i;
}

static double seconds_left(const relay *r) {
    return r->race->seconds > 0 ? r->race->seconds - (clock_seconds() - r->begin) : 0;
}

static worker_end run_worker(relay *r, mc_status *status, mc_diag *diag) {
    tune_process process;
    mc_status written = wire_write_entrants(r->job, r->tail, r->race, r->left, r->left_count,
                                            r->race->seconds > 0 ? fmax(seconds_left(r), 1e-3) : 0, diag);
    if (written == MC_OK) written = tune_process_start(r->program, r->job, &process, diag);
    if (written != MC_OK) return WORKER_MISSING;
    worker_end end = listen(r, &process, status, diag);
    tune_process_end(&process, end != WORKER_DONE || r->stopping);
    return end;
}

/* -- All of them */

/* The fastest of those in STATE; race->count: none. */
static size_t fastest(const relay *r, tune_state state) {
    size_t best = r->race->count;
    for (size_t i = 0; i < r->race->count; i++)
        if (r->states[i] == state && (best == r->race->count || r->times[i] < r->times[best])) best = i;
    return best;
}

/* Where no worker came to that. False: no entrant is right. */
static bool choose_fastest(relay *r) {
    size_t best = fastest(r, TUNE_TIMED);
    if (r->chosen) return true;
    if (best == r->race->count) best = fastest(r, TUNE_RIGHT);
    if (best == r->race->count) best = fastest(r, TUNE_DROPPED);
    if (best == r->race->count) return false;
    tune_event event = r->last;
    event.index = best;
    event.state = TUNE_CHOSEN;
    event.microseconds = r->times[best];
    event.message = "";
    tell(r, &event);
    return true;
}

static bool is_over(const relay *r) { return r->stopping || (r->race->seconds > 0 && seconds_left(r) <= 0); }

/* *STARTED: some worker was ready. */
static mc_status run_workers(relay *r, bool *started, mc_diag *diag) {
    *started = false;
    for (int lost = 0;;) {
        mc_status status = MC_OK;
        choose_left(r);
        r->complete = r->left_count == 0;
        if (r->complete || (*started && is_over(r))) return MC_OK;
        worker_end end = run_worker(r, &status, diag);
        if (end == WORKER_MISSING) return MC_IO;
        *started = true;
        if (end == WORKER_DONE) return status;
        if (end == WORKER_LOST && ++lost == 2) return MC_DEVICE;
    }
}

static mc_status measure_here(mc_context *context, const tune_race *race, tune_listener *listener, void *user,
                              const char *why, bool *complete, mc_diag *diag) {
    tune_race own = *race;
    context_visit visit;
    own.make = NULL;
    context_log(context, MC_LOG_NOTE, "tuning in this process: %s", why);
    mc_status status = context_enter(context, &visit, diag);
    if (status != MC_OK) return status;
    status = tune_measure(context, &own, listener, user, complete, diag);
    context_leave(context, &visit);
    return status;
}

static mc_status relay_open(relay *r, mc_diag *diag) {
    int64_t count = (int64_t)r->race->count;
    r->states = mcrt_array(count, sizeof *r->states);
    r->times = mcrt_array(count, sizeof *r->times);
    r->left = mcrt_array(count, sizeof *r->left);
    if (r->states == NULL || r->times == NULL || r->left == NULL)
        return mcrt_no_memory(diag, count, "entrants");
    r->job = tune_process_file();
    if (r->job < 0) return mc_fail(diag, MC_IO, "no file in memory for a worker");
    return wire_write_race(r->job, r->context, r->race, &r->tail, diag);
}

static void relay_close(relay *r) {
    if (r->job >= 0) close(r->job);
    free(r->states);
    free(r->times);
    free(r->left);
}

mc_status tune_worker_measure(const char *program, const tune_patience *patience, mc_context *context,
                              const tune_race *race, tune_listener *listener, void *user, bool *complete,
                              mc_diag *diag) {
    relay r = {.program = program,
               .patience = patience,
               .context = context,
               .race = race,
               .listener = listener,
               .user = user,
               .job = -1,
               .begin = clock_seconds(),
               .last = {.message = ""}};
    mc_diag *own = mc_diag_create();
    bool started = false;
    *complete = false;
    mc_status status = relay_open(&r, own);
    if (status == MC_OK) status = run_workers(&r, &started, own);
    const char *why = own != NULL ? mc_diag_text(own) : "";
    if (status != MC_OK && !started) {
        status = measure_here(context, race, listener, user, why, complete, diag);
    } else {
        *complete = status == MC_OK && r.complete && !r.stopping;
        if (choose_fastest(&r)) status = MC_OK;
        if (status != MC_OK) mc_fail(diag, status, "%s", why);
    }
    mc_diag_destroy(own);
    relay_close(&r);
    return status;
}

mc_status tune_measure_by(const char *program, mc_context *context, const tune_race *race,
                          tune_listener *listener, void *user, bool *complete, mc_diag *diag) {
    static const tune_patience gpu = {.start = 60, .run = 60, .silence = 300, .stop = 5};
    static const tune_patience simulator = {.start = 60, .run = 3600, .silence = 3600, .stop = 5};
    bool simulated = mc_device_get_info(context->device)->kind == MC_DEVICE_SIM;
    return tune_worker_measure(program, simulated ? &simulator : &gpu, context, race, listener, user,
                               complete, diag);
}
