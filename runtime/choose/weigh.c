#include "choose/weigh.h"
#include <math.h>

/* Leaving out each of the tune set's 270 problems in turn, on an H100 (docs/choice.md). */
static const double reach = 1;     /* distance at which a record's weight has fallen to 1/e */
static const double left_out = .2; /* logarithm: so much slower is a kernel that a record does not name */
enum { MOST_NAMED = 16 };

/* A candidate of a record: its time over its estimate, both of the record's problem. */
typedef struct named {
    size_t index; /* in the list; its count: it is not there */
    double off;   /* logarithm */
} named;

static size_t place_of(const candidate_list *list, const mc_kernel *kernel) {
    uint64_t hash = mc_kernel_hash(kernel);
    for (size_t i = 0; i < list->count; i++)
        if (list->items[i].hash == hash) return i;
    return list->count;
}

/* The estimate of R's candidate I for R's own problem; INFINITY: there is none. */
static double estimate_there(const record *r, size_t i, const mc_gpu *gpu) {
    mc_problem there = plan_problem_estimate(&r->problem);
    mc_kernel *kernel = record_kernel_for(r, i, &r->problem);
    there.cold = r->cold;
    double us = kernel != NULL ? mc_kernel_estimate_alone(kernel, gpu, &there) : INFINITY;
    mc_kernel_destroy(kernel);
    return us;
}

/* False: it is no kernel, or has no estimate. */
static bool name_of(const record *r, size_t i, const plan_problem *problem, const mc_gpu *gpu,
                    const candidate_list *list, named *name) {
    const record_candidate *c = &r->candidates[i];
    if (c->status != RECORD_TIMED || c->fields[0] == '\0' || !(c->microseconds > 0)) return false;
    mc_kernel *is = record_kernel_for(r, i, problem);
    double estimate = estimate_there(r, i, gpu);
    *name = (named){is != NULL ? place_of(list, is) : list->count, log(c->microseconds / estimate)};
    mc_kernel_destroy(is);
    return isfinite(estimate) && estimate > 0;
}

void weigh_by(const record *r, double distance, const plan_problem *problem, const mc_gpu *gpu,
              const candidate_list *list, weighed *items) {
    named names[MOST_NAMED];
    size_t count = 0;
    double weight = exp(-distance * distance / (reach * reach)), mean = 0;
    for (size_t i = 0; i < r->candidate_count && count < MOST_NAMED; i++)
        if (name_of(r, i, problem, gpu, list, &names[count])) mean += names[count++].off;
    if (count == 0) return;
    mean /= (double)count;
    for (size_t i = 0; i < list->count; i++) {
        items[i].weight += weight;
        items[i].off += weight * left_out;
    }
    for (size_t i = 0; i < count; i++) {
        if (names[i].index == list->count) continue;
        weighed *of = &items[names[i].index];
        of->off += weight * (names[i].off - mean - left_out);
        of->nearest = fmin(of->nearest, distance);
    }
}

double weighed_estimate(const candidate *item, const weighed *said) {
    return item->estimate * exp(said->off / fmax(1, said->weight));
}
