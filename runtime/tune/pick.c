/* Which kernels take part in a tuning. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "tune/contest.h"

enum {
    USUAL_CANDIDATES = 40,
    NEAREST = 3, /* records of other problems that hints are taken from */
    HINTS = 3,   /* of each, its fastest */
    RETIMED = 2  /* known ones, the fastest, that are measured again beside new ones */
};

/* -- Those that are worth a look: flags over the list */

static void pick_standard(const candidate_list *list, bool *picked) {
    for (size_t i = 0; i < list->count; i++)
        if (list->items[i].standard) picked[i] = true;
}

/* Those of the least estimates, which come first. */
static void pick_estimated(const candidate_list *list, size_t most, bool *picked) {
    for (size_t i = 0; i < list->count && i < most && isfinite(list->items[i].estimate); i++)
        picked[i] = true;
}

static size_t greatest_divisor(size_t a, size_t b) { return b == 0 ? a : greatest_divisor(b, a % b); }

/* Without a model, MOST of them all over the list: by steps of the golden ratio of its length, which come
   near no multiple of a field's number of values. */
static void pick_spread(const candidate_list *list, size_t most, bool *picked) {
    size_t count = list->count, step = (size_t)(.6180339887 * (double)count);
    while (greatest_divisor(count, step) > 1) step++;
    for (size_t i = 0, at = 0; i < count && i < most; i++, at = (at + step) % count) picked[at] = true;
}

static void pick_fields(const candidate_list *list, const char *fields, bool *picked) {
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->items[i].fields, fields) == 0) picked[i] = true;
}

/* What is fastest for problems like this one. */
static void pick_hints(const contest *c, bool *picked) {
    record near[NEAREST];
    double distances[NEAREST];
    mc_context *context = c->job->context;
    const char *gpu = mc_device_get_info(context->device)->name;
    size_t count = record_nearest(context->records, gpu, &c->job->problem, NEAREST, near, distances);
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < HINTS && j < near[i].candidate_count; j++) {
            char *fields = record_fields_for(&near[i], j, &c->job->problem);
            if (fields != NULL) pick_fields(&c->list, fields, picked);
            free(fields);
        }
        record_free(&near[i]);
    }
}

static void pick_all(const contest *c, bool *picked) {
    size_t given = c->job->config->candidates, most = given > 0 ? given : USUAL_CANDIDATES;
    pick_standard(&c->list, picked);
    if (isfinite(c->list.items[0].estimate)) pick_estimated(&c->list, most, picked);
    else pick_spread(&c->list, most, picked);
    pick_hints(c, picked);
}

/* -- Those that are known */

const record_candidate *contest_find_known(const contest *c, uint64_t hash) {
    for (size_t i = 0; i < c->old.candidate_count; i++)
        if (c->old.candidates[i].hash == hash) return &c->old.candidates[i];
    return NULL;
}

static const candidate *default_of(const candidate_list *list) {
    for (size_t n = 0; n < list->name_count; n++)
        for (size_t i = 0; i < list->count; i++)
            if (list->items[i].standard && strcmp(list->items[i].spec, list->names[n]) == 0)
                return &list->items[i];
    return NULL;
}

static void add(contest *c, const contestant *added) {
    for (size_t i = 0; i < c->count; i++)
        if (c->items[i].hash == added->hash) return;
    c->items[c->count++] = *added;
}

static contestant contestant_of(const candidate *from, bool known) {
    return (contestant){.spec = from->spec,
                        .fields = from->fields,
                        .tuned = from->tuned,
                        .hash = from->hash,
                        .standard = from->standard,
                        .known = known};
}

static const candidate *find_listed(const candidate_list *list, uint64_t hash) {
    for (size_t i = 0; i < list->count; i++)
        if (list->items[i].hash == hash) return &list->items[i];
    return NULL;
}

/* Whether what is picked is measured, though it may be known. */
static bool is_wanted(const contest *c, const candidate *of) {
    return c->job->config->again || contest_find_known(c, of->hash) == NULL;
}

/* A known one of the list: where all is measured anew, one that is PICKED counts as new. */
static contestant known_of(const contest *c, const candidate *of, const bool *picked) {
    return contestant_of(of, !(picked[of - c->list.items] && is_wanted(c, of)));
}

/* Times of another day are not compared with new ones, if that can be helped: the best of then run again, and
   so does the default. */
static void add_known(contest *c, const bool *picked) {
    const candidate *standard = c->standard;
    size_t added = 0;
    for (size_t i = 0; i < c->old.candidate_count && added < RETIMED; i++) {
        const record_candidate *r = &c->old.candidates[i];
        const candidate *listed = find_listed(&c->list, r->hash);
        if (r->status != RECORD_TIMED || r->fields[0] == '\0') continue;
        const contestant foreign = {
            .spec = r->spec, .fields = r->fields, .tuned = r->fields, .hash = r->hash, .known = true};
        const contestant own = listed != NULL ? known_of(c, listed, picked) : foreign;
        add(c, &own);
        added++;
    }
    if (standard == NULL) return;
    const record_candidate *r = contest_find_known(c, standard->hash);
    if (r == NULL || r->status == RECORD_WRONG || r->status == RECORD_FAILED) return;
    const contestant own = known_of(c, standard, picked);
    add(c, &own);
}

/* The best that is known comes first: where the time ends early, new ones have been compared with it. */
static void enter(contest *c, const bool *picked) {
    size_t wanted = 0;
    for (size_t i = 0; i < c->list.count; i++) {
        if (!picked[i]) continue;
        if (is_wanted(c, &c->list.items[i])) wanted++;
        else c->known++;
    }
    if (wanted > 0) add_known(c, picked);
    for (size_t i = 0; i < c->list.count; i++) {
        const contestant own = contestant_of(&c->list.items[i], false);
        if (picked[i] && is_wanted(c, &c->list.items[i])) add(c, &own);
    }
}

/* Another generator's kernels had other instructions, another driver made other machine code of them. */
static void find_old(contest *c) {
    mc_context *context = c->job->context;
    const char *gpu = mc_device_get_info(context->device)->name;
    if (!record_find(context->records, gpu, &c->job->problem, c->cold, &c->old)) return;
    if (strcmp(c->old.generator, mc_generator_id()) == 0 &&
        strcmp(c->old.driver, mc_device_build(context->device)) == 0)
        return;
    record_free(&c->old);
    c->old = (record){0};
}

static mc_status pick(contest *c, mc_diag *diag) {
    bool *picked = calloc(c->list.count + 1, sizeof *picked);
    c->items = calloc(c->list.count + RETIMED + 1, sizeof *c->items);
    mc_status status = picked != NULL && c->items != NULL ? MC_OK : mc_fail(diag, MC_NOMEM, "out of memory");
    if (status == MC_OK) {
        c->standard = default_of(&c->list);
        pick_all(c, picked);
        enter(c, picked);
    }
    free(picked);
    return status;
}

mc_status contest_open(contest *c, const tune_job *job, mc_diag *diag) {
    *c = (contest){.job = job, .cold = job->config->cold};
    candidate_target target = candidate_target_of(job->context->device);
    target.cold = c->cold;
    c->reason = mc_diag_create();
    if (c->reason == NULL) return mc_fail(diag, MC_NOMEM, "out of memory");
    mc_status status = candidates_find(&job->problem, &target, job->specs, job->spec_count, &c->list, diag);
    if (status != MC_OK) return status;
    find_old(c);
    return pick(c, diag);
}

void contest_close(contest *c) {
    candidates_free(&c->list);
    record_free(&c->old);
    mc_diag_destroy(c->reason);
    free(c->items);
}

bool contest_is_empty(const contest *c) { return c->count == 0; }
