/* Which kernel a problem gets: the recorded one, that of a problem like it, the one that should be fastest, a
   default. */
#include "choose/choose.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "choose/candidates.h"
#include "choose/choice_cache.h"
#include "choose/fits.h"
#include "choose/weigh.h"
#include "records/record.h"
#include "records/text.h"

/* Up to here the nearest record's kernel takes 1.008 times the time of the best; further away estimates that
   records weigh do better (each of the tune set's 270 problems left out in turn, docs/choice.md). */
static const double near_enough = 0.5;
enum { MOST_NEAR = 8 };

const char *const choice_origin_texts[CHOICE_ORIGINS] = {[MC_ORIGIN_MEASURED] = "measured",
                                                         [MC_ORIGIN_NEAR] = "near",
                                                         [MC_ORIGIN_ESTIMATED] = "estimated",
                                                         [MC_ORIGIN_DEFAULT] = "default"};

void choice_free(choice *chosen) {
    free(chosen->fields);
    free(chosen->spec);
    free(chosen->reason);
    *chosen = (choice){0};
}

typedef struct chooser {
    mc_context *context;
    const plan_problem *problem;
    const char *gpu;
    candidate_target target;
    spec_sources sources;
    candidate_list list; /* empty until it is wanted */
    choice *chosen;
    mc_diag *diag;
} chooser;

/* CHOSEN's texts are not its own yet. */
static mc_status set_choice(chooser *c, const choice *chosen) {
    *c->chosen = *chosen;
    c->chosen->fields = strdup(chosen->fields);
    c->chosen->spec = strdup(chosen->spec);
    c->chosen->reason = strdup(chosen->reason);
    if (c->chosen->fields != NULL && c->chosen->spec != NULL && c->chosen->reason != NULL) return MC_OK;
    choice_free(c->chosen);
    return mc_fail(c->diag, MC_NOMEM, "no memory for a choice");
}

/* -- What records say ---------------------------------------------------------------------------------- */

/* Of a caller's own specs only their kernels count. */
static bool is_listed(const chooser *c, uint64_t hash) {
    if (c->sources.builtin) return true;
    for (size_t i = 0; i < c->list.count; i++)
        if (c->list.items[i].hash == hash) return true;
    return false;
}

/* A record is a text that anybody may have written. */
static bool can_run(const chooser *c, const mc_kernel *kernel) {
    bool ours = mc_arch_suits(mc_kernel_field_text(kernel, "arch"), c->target.capability);
    return ours && is_listed(c, mc_kernel_hash(kernel)) && kernel_fits(kernel, c->problem, NULL) == MC_OK;
}

/* The kernel of R's candidate I, made for the problem; NULL: there is none. */
static mc_kernel *kernel_of(const chooser *c, const record *r, size_t i) {
    mc_kernel *kernel = NULL;
    if (r->candidates[i].status == RECORD_TIMED) kernel = record_kernel_for(r, i, c->problem);
    if (kernel == NULL || can_run(c, kernel)) return kernel;
    mc_kernel_destroy(kernel);
    return NULL;
}

enum { MOST_REASON = 512 };

/* Why R's candidate I is taken, as HOW says. */
static void explain(const record *r, size_t i, const choice *how, char reason[MOST_REASON]) {
    char title[PROBLEM_TITLE], which[48] = "the fastest", generator[64] = "";
    if (i > 0) snprintf(which, sizeof which, "of those that can run here the fastest");
    if (strcmp(r->generator, mc_generator_id()) != 0)
        snprintf(generator, sizeof generator, ", measured with generator %.16s", r->generator);
    if (how->origin == MC_ORIGIN_MEASURED)
        snprintf(reason, MOST_REASON, "%s in the record of this problem%s%s", which,
                 r->cold ? ", with cold operands" : "", generator);
    else {
        problem_title(&r->problem, title);
        snprintf(reason, MOST_REASON, "%s in the record of a problem %.2f away, %s%s%s", which, how->distance,
                 title, r->cold ? ", with cold operands" : "", generator);
    }
}

/* The first of R's kernels that can run: the chosen one, else the next fastest. HOW has the choice's origin
   and distance. */
static mc_status choose_of(chooser *c, const record *r, const choice *how, bool *done) {
    for (size_t i = 0; i < r->candidate_count; i++) {
        mc_kernel *kernel = kernel_of(c, r, i);
        if (kernel == NULL) continue;
        const record_candidate *from = &r->candidates[i];
        char reason[MOST_REASON];
        choice chosen = *how;
        explain(r, i, how, reason);
        chosen.fields = (char *)mc_kernel_fields(kernel);
        chosen.spec = (char *)from->spec;
        chosen.reason = reason;
        chosen.microseconds = how->origin == MC_ORIGIN_MEASURED ? from->microseconds : 0;
        chosen.cold = r->cold;
        mc_status status = set_choice(c, &chosen);
        mc_kernel_destroy(kernel);
        *done = status == MC_OK;
        return status;
    }
    return MC_OK;
}

/* Of this very problem. One with operands outside of the cache is better than none. */
static mc_status choose_recorded(chooser *c, bool *done) {
    mc_status status = MC_OK;
    for (int cold = 0; cold < 2 && status == MC_OK && !*done; cold++) {
        record r;
        if (!record_find(c->context->records, c->gpu, c->problem, cold, &r)) continue;
        status = choose_of(c, &r, &(choice){.origin = MC_ORIGIN_MEASURED}, done);
        record_free(&r);
    }
    return status;
}

static mc_status choose_near(chooser *c, double bound, bool *done) {
    record near[MOST_NEAR];
    double distances[MOST_NEAR];
    size_t count = record_nearest(c->context->records, c->gpu, c->problem, MOST_NEAR, near, distances);
    mc_status status = MC_OK;
    for (size_t i = 0; i < count; i++) {
        if (status == MC_OK && !*done && distances[i] <= bound) {
            const choice how = {.origin = MC_ORIGIN_NEAR, .distance = distances[i]};
            status = choose_of(c, &near[i], &how, done);
        }
        record_free(&near[i]);
    }
    return status;
}

/* -- What there is without them ------------------------------------------------------------------------- */

static mc_status list_candidates(chooser *c) {
    if (c->list.count != 0) return MC_OK;
    return candidates_of(c->problem, &c->target, &c->sources, &c->list, c->diag);
}

/* Whether estimates are another GPU's. */
static bool is_borrowed(const chooser *c) { return strcmp(c->target.gpu.name, c->gpu) != 0; }

/* Why candidate AT is taken. COUNT records weighed. */
static void explain_estimate(const chooser *c, size_t count, const weighed *said, char reason[MOST_REASON]) {
    char named[48] = "", records[96] = "", borrowed[128] = "";
    if (isfinite(said->nearest))
        snprintf(named, sizeof named, ", one of this kernel %.2f away", said->nearest);
    if (count > 0)
        snprintf(records, sizeof records, ", weighed by %zu record%s of other problems%s", count,
                 count == 1 ? "" : "s", named);
    if (is_borrowed(c)) snprintf(borrowed, sizeof borrowed, ", as on an %s", c->target.gpu.name);
    snprintf(reason, MOST_REASON, "the least estimate of %zu kernel%s for the problem%s%s", c->list.count,
             c->list.count == 1 ? "" : "s", records, borrowed);
}

static mc_status take_estimated(chooser *c, size_t at, size_t count, const weighed *said) {
    const candidate *item = &c->list.items[at];
    char reason[MOST_REASON];
    explain_estimate(c, count, said, reason);
    const choice chosen = {.fields = item->fields,
                           .spec = (char *)item->spec,
                           .reason = reason,
                           .origin = MC_ORIGIN_ESTIMATED,
                           .microseconds = item->estimate};
    if (is_borrowed(c) && mc_device_get_info(c->context->device)->kind == MC_DEVICE_CUDA)
        context_log(c->context, MC_LOG_NOTE,
                    "%s was not measured: estimates go by rates and costs of an %s; tuning does without",
                    c->gpu, c->target.gpu.name);
    return set_choice(c, &chosen);
}

/* The least of the estimates, which records nearby weigh. */
static mc_status choose_estimated(chooser *c, bool records) {
    record near[MOST_NEAR];
    double distances[MOST_NEAR];
    size_t count = 0, best = 0;
    weighed *said = calloc(c->list.count, sizeof *said);
    if (said == NULL) return mc_fail(c->diag, MC_NOMEM, "no memory for a choice");
    for (size_t i = 0; i < c->list.count; i++) said[i].nearest = INFINITY;
    if (records) count = record_nearest(c->context->records, c->gpu, c->problem, MOST_NEAR, near, distances);
    for (size_t i = 0; i < count; i++) {
        weigh_by(&near[i], distances[i], c->problem, &c->target.gpu, &c->list, said);
        record_free(&near[i]);
    }
    for (size_t i = 1; i < c->list.count; i++)
        if (weighed_estimate(&c->list.items[i], &said[i]) <
            weighed_estimate(&c->list.items[best], &said[best]))
            best = i;
    mc_status status = take_estimated(c, best, count, &said[best]);
    free(said);
    return status;
}

/* Without estimates the defaults come first. */
static mc_status choose_first(chooser *c) {
    const candidate *first = &c->list.items[0];
    static char usual[] = "no record of the like and no estimates: the default of its spec";
    const choice chosen = {
        .fields = first->fields, .spec = (char *)first->spec, .reason = usual, .origin = MC_ORIGIN_DEFAULT};
    return set_choice(c, &chosen);
}

/* Where there is no model, any record is better than none. */
static mc_status work_out(chooser *c, bool records) {
    bool done = false;
    mc_status status = c->sources.builtin ? MC_OK : list_candidates(c);
    if (status == MC_OK && records && !c->sources.builtin) status = choose_recorded(c, &done);
    if (status == MC_OK && records && !done) status = choose_near(c, near_enough, &done);
    if (status == MC_OK && !done) status = list_candidates(c);
    if (status != MC_OK || done) return status;
    if (isfinite(c->list.items[0].estimate)) return choose_estimated(c, records);
    if (records) status = choose_near(c, INFINITY, &done);
    return status == MC_OK && !done ? choose_first(c) : status;
}

/* What the cache holds is checked as records are. *NONE: it holds that there is no kernel. */
static bool choose_cached(chooser *c, const mccache_key *key, bool *none) {
    mc_kernel *kernel = NULL;
    *none = false;
    if (!choice_cache_get(c->context, key, c->chosen)) return false;
    *none = c->chosen->fields[0] == '\0';
    bool good = !*none && mc_kernel_outline_fields(c->chosen->fields, &kernel, NULL) == MC_OK &&
                kernel_fits(kernel, c->problem, NULL) == MC_OK;
    mc_kernel_destroy(kernel);
    if (!good) choice_free(c->chosen);
    return good;
}

/* That there is no kernel is kept, too, where the caller does not ask for reasons. One who asks gets them
   worked out again. */
static mc_status choose_unrecorded(chooser *c, mc_tuning tuning) {
    bool records = tuning != MC_TUNING_OFF, none;
    uint64_t digest = records ? record_digest(c->context->records, c->gpu) : 0;
    mccache_key key;
    if (!choice_key(c->context, c->problem, &c->sources, tuning, digest, &key))
        return mc_fail(c->diag, MC_NOMEM, "no memory for a choice");
    if (choose_cached(c, &key, &none)) return MC_OK;
    if (none && c->diag == NULL) return MC_CANNOT;
    mc_status status = work_out(c, records);
    if (status == MC_OK) choice_cache_put(c->context, &key, c->problem, c->chosen);
    if (status == MC_CANNOT && c->diag == NULL) choice_cache_put_none(c->context, &key, c->problem);
    return status;
}

mc_status choose_kernel(mc_context *context, const plan_problem *problem, const mc_plan_config *config,
                        mc_tuning tuning, choice *chosen, mc_diag *diag) {
    chooser c = {.context = context,
                 .problem = problem,
                 .gpu = mc_device_get_info(context->device)->name,
                 .target = candidate_target_of(context->device),
                 .sources = {.builtin = config->spec_count == 0},
                 .chosen = chosen,
                 .diag = diag};
    bool done = false;
    mc_status status = MC_OK;
    *chosen = (choice){0};
    if (tuning != MC_TUNING_OFF && c.sources.builtin) status = choose_recorded(&c, &done);
    if (status == MC_OK && !done) {
        status = spec_sources_load(config->specs, config->spec_count, &c.sources, diag);
        if (status == MC_OK) status = choose_unrecorded(&c, tuning);
    }
    candidates_free(&c.list);
    spec_sources_free(&c.sources);
    return status;
}
