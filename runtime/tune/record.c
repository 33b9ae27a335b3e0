/* What came of a tuning: its record, merged with the one that was there, and the caller's result. */
#include <stdlib.h>
#include "tune/contest.h"

/* -- The best */

static bool has_time(tune_state state) {
    return state == TUNE_RIGHT || state == TUNE_TIMED || state == TUNE_CHOSEN;
}

size_t contest_best(const contest *c) {
    size_t best = c->count;
    for (size_t i = 0; i < c->count; i++) {
        const contestant *item = &c->items[i];
        if (item->state == TUNE_CHOSEN) return i;
        if (has_time(item->state) && (best == c->count || item->microseconds < c->items[best].microseconds))
            best = i;
    }
    return best;
}

/* -- The record */

/* False: its state is none that a record has, as the measurement ended before. */
static bool state_to_status(const contest *c, size_t index, record_status *status) {
    switch (c->items[index].state) {
    case TUNE_CHOSEN:
    case TUNE_TIMED: *status = RECORD_TIMED; return true;
    case TUNE_DROPPED: *status = RECORD_DROPPED; return true;
    case TUNE_WRONG: *status = RECORD_WRONG; return true;
    case TUNE_FAILED: *status = RECORD_FAILED; return true;
    case TUNE_WAITS:
    case TUNE_RUNS: return false;
    case TUNE_RIGHT: *status = RECORD_TIMED; return index == contest_best(c);
    }
    return false;
}

static const contestant *find_contestant(const contest *c, uint64_t hash) {
    for (size_t i = 0; i < c->count; i++)
        if (c->items[i].hash == hash) return &c->items[i];
    return NULL;
}

/* How much longer than then the fastest known kernel takes now: old times are multiplied by it, so that all
   of a record's can be compared. */
static double clock_ratio(const contest *c) {
    for (size_t i = 0; i < c->old.candidate_count; i++) {
        const record_candidate *r = &c->old.candidates[i];
        const contestant *now = find_contestant(c, r->hash);
        bool both = now != NULL && r->status == RECORD_TIMED && r->microseconds > 0 &&
                    (now->state == TUNE_TIMED || now->state == TUNE_CHOSEN);
        if (both) return now->microseconds / r->microseconds;
    }
    return 1;
}

static void add_new(const contest *c, record *r) {
    for (size_t i = 0; i < c->count; i++) {
        const contestant *item = &c->items[i];
        record_status status;
        if (!state_to_status(c, i, &status)) continue;
        r->candidates[r->candidate_count++] =
            (record_candidate){item->hash, status, item->microseconds, item->spec, item->fields};
    }
}

static bool is_in(const record *r, uint64_t hash) {
    for (size_t i = 0; i < r->candidate_count; i++)
        if (r->candidates[i].hash == hash) return true;
    return false;
}

static void add_old(const contest *c, record *r) {
    double ratio = clock_ratio(c);
    for (size_t i = 0; i < c->old.candidate_count; i++) {
        record_candidate known = c->old.candidates[i];
        if (is_in(r, known.hash)) continue;
        known.microseconds *= ratio;
        r->candidates[r->candidate_count++] = known;
    }
}

/* What the best of OLD would take now. */
static double old_best_time(const contest *c) { return c->old.microseconds * clock_ratio(c); }

/* Whether it stays the best: it should be faster than BEST, and the time ended before it ran again. */
static bool old_is_best(const contest *c, size_t best) {
    if (c->old.fields == NULL || c->old.fields[0] == '\0' || c->old.candidate_count == 0) return false;
    const contestant *now = find_contestant(c, c->old.candidates[0].hash);
    if (now == NULL || (now->state != TUNE_WAITS && now->state != TUNE_RUNS)) return false;
    return best == c->count || old_best_time(c) < c->items[best].microseconds;
}

/* Without a kernel that is right it names none, and says what is wrong or failed. */
static record describe(const contest *c) {
    const mc_device_info *info = mc_device_get_info(c->job->context->device);
    record r = {.problem = c->job->problem,
                .gpu = info->name,
                .driver = mc_device_build(c->job->context->device),
                .generator = mc_generator_id(),
                .capability = info->capability,
                .cold = c->cold,
                .fields = "",
                .spec = ""};
    size_t best = contest_best(c);
    if (old_is_best(c, best)) {
        r.fields = c->old.fields;
        r.spec = c->old.spec;
        r.microseconds = old_best_time(c);
    } else if (best < c->count) {
        r.fields = c->items[best].fields;
        r.spec = c->items[best].spec;
        r.microseconds = c->items[best].microseconds;
    }
    return r;
}

/* A file that cannot be written is no failure: the record is in memory. */
static mc_status add(contest *c, record *r, mc_diag *diag) {
    add_old(c, r);
    mc_diag *why = mc_diag_create();
    mc_status status = record_add(c->job->context->records, r, why);
    if (status == MC_IO && why != NULL)
        context_log(c->job->context, MC_LOG_NOTE, "tuning: the record is not kept: %s", mc_diag_text(why));
    else if (status != MC_OK && status != MC_IO)
        status = mc_fail(diag, status, "tuning: the record is not kept: %s",
                         why != NULL ? mc_diag_text(why) : "out of memory");
    mc_diag_destroy(why);
    return status == MC_IO ? MC_OK : status;
}

mc_status contest_record(contest *c, mc_diag *diag) {
    record r = describe(c);
    r.candidates = calloc(c->count + c->old.candidate_count + 1, sizeof *r.candidates);
    if (r.candidates == NULL) return mc_fail(diag, MC_NOMEM, "out of memory");
    add_new(c, &r);
    mc_status status = r.candidate_count > 0 ? add(c, &r, diag) : MC_OK;
    free(r.candidates);
    return status;
}

/* -- The result */

/* Of the default kernel: that of the record where it was not measured now. */
static double standard_time(const contest *c) {
    if (c->standard == NULL) return 0;
    const contestant *now = find_contestant(c, c->standard->hash);
    if (now != NULL) return has_time(now->state) || now->state == TUNE_DROPPED ? now->microseconds : 0;
    const record_candidate *known = contest_find_known(c, c->standard->hash);
    return known != NULL ? known->microseconds : 0;
}

void contest_result(const contest *c, bool complete, mc_tune_result *result) {
    size_t best = contest_best(c);
    *result = (mc_tune_result){.size = sizeof *result, .known = c->known, .complete = complete};
    for (size_t i = 0; i < c->count; i++) {
        const contestant *item = &c->items[i];
        result->wrong += item->state == TUNE_WRONG;
        result->failed += item->state == TUNE_FAILED;
        result->measured += !item->known && (has_time(item->state) || item->state == TUNE_DROPPED);
    }
    result->recorded = result->measured + result->wrong + result->failed + result->known > 0 &&
                       record_store_is_kept(c->job->context->records);
    if (old_is_best(c, best)) result->microseconds = old_best_time(c);
    else result->microseconds = best < c->count ? c->items[best].microseconds : c->old.microseconds;
    result->standard = standard_time(c);
}
