/* What the caller of mc_tune hears of a measurement. */
#include "base/clock.h"
#include "tune/contest.h"

static const double tell_seconds = .1; /* at least, between two calls */

/* Guesses of what a candidate still takes after the stage that it is in, in seconds. */
static const double later_seconds[] = {[TUNE_COMPILE] = .1, [TUNE_VERIFY] = .05, [TUNE_TIME] = 0};

static const char *const stage_names[] = {
    [TUNE_COMPILE] = "compile", [TUNE_VERIFY] = "verify", [TUNE_TIME] = "time"};

static void take_state(contest *c, const tune_event *event) {
    if (event->index >= c->count) return;
    contestant *item = &c->items[event->index];
    item->state = event->state;
    item->microseconds = event->microseconds;
    bool bad = event->state == TUNE_WRONG || event->state == TUNE_FAILED;
    if (!bad) return;
    context_log(c->job->context, MC_LOG_DETAIL, "tuning: %s: %s", item->fields, event->message);
    if (mc_diag_count(c->reason) == 0) (void)mc_fail(c->reason, MC_CANNOT, "%s", event->message);
}

/* By the rate of this stage, and a guess for those to come. */
static double seconds_left(const contest *c, const tune_event *event, double now) {
    double each = event->done > 0 ? (now - c->stage_begin) / (double)event->done : 0;
    return each * (double)(event->total - event->done) + later_seconds[event->stage] * (double)c->count;
}

static bool tell(contest *c, const tune_event *event, double now) {
    const mc_tune_config *config = c->job->config;
    size_t best = contest_best(c);
    const mc_tune_progress progress = {.size = sizeof progress,
                                       .stage = stage_names[event->stage],
                                       .done = event->done,
                                       .total = event->total,
                                       .best = best < c->count ? c->items[best].microseconds : 0,
                                       .best_fields = best < c->count ? c->items[best].tuned : NULL,
                                       .seconds = now - c->begin,
                                       .left = seconds_left(c, event, now)};
    c->told = now;
    return config->progress(config->progress_user, &progress);
}

bool contest_listen(void *user, const tune_event *event) {
    contest *c = user;
    const mc_tune_config *config = c->job->config;
    double now = clock_seconds();
    bool ends = event->total > 0 && event->done == event->total, begins = event->stage != c->stage;
    c->stage = event->stage;
    if (begins || event->done == 0) c->stage_begin = now; /* what a stage prepares says nothing of its rate */
    take_state(c, event);
    if (config->progress == NULL) return true;
    if (!c->stopped && (begins || ends || now - c->told >= tell_seconds)) c->stopped = !tell(c, event, now);
    return !c->stopped;
}
