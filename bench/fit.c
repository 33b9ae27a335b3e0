#include "fit.h"
#include <math.h>

enum { COST_COUNT = sizeof(mc_costs) / sizeof(double), STEPS = 3000 };

bool fit_holds_out(const char *matrix) {
    uint64_t hash = 14695981039346656037U; /* FNV-1a */
    for (; *matrix != '\0'; matrix++) hash = (hash ^ (unsigned char)*matrix) * 1099511628211U;
    return (hash ^ hash >> 33) & 1;
}

static double estimate(const fit_data *data, const mc_gpu *gpu, const fit_problem *p, size_t i) {
    const variant *v = &data->variants->items[i];
    return mc_spec_estimate(v->spec, v->index, gpu, &p->shape);
}

size_t fit_pick(const fit_data *data, const mc_gpu *gpu, const fit_problem *p) {
    size_t pick = 0;
    double least = INFINITY;
    for (size_t i = 0; i < data->variants->count; i++) {
        double us = p->us[i] > 0 ? estimate(data, gpu, p, i) : INFINITY;
        if (us < least) least = us, pick = i;
    }
    return pick;
}

/* Sums of a score. */
typedef struct tally {
    double error, weight, loss;
} tally;

static void add_problem(const fit_data *data, const mc_gpu *gpu, const fit_problem *p, tally *sum,
                        fit_score *score) {
    double least = INFINITY, picked = p->best;
    for (size_t i = 0; i < data->variants->count; i++) {
        if (p->us[i] <= 0) continue;
        double us = estimate(data, gpu, p, i), off = log(us / p->us[i]), near = p->best / p->us[i];
        double weight = near * near * near * near;
        sum->error += weight * off * off;
        sum->weight += weight;
        if (us < least) least = us, picked = p->us[i];
    }
    sum->loss += log(picked / p->best);
    score->worst = fmin(score->worst, p->best / picked);
    score->problems++;
}

fit_score fit_score_of(const fit_data *data, const mc_gpu *gpu, const fit_part *part) {
    fit_score score = {.worst = 1};
    tally sum = {0};
    for (size_t i = 0; i < data->count; i++) {
        const fit_problem *p = &data->problems[i];
        bool wanted =
            (p->held_out ? part->held_out : part->fitted) && (part->class == 0 || part->class == p->class);
        if (wanted) add_problem(data, gpu, p, &sum, &score);
    }
    if (score.problems == 0) return score;
    score.error = sqrt(sum.error / sum.weight);
    score.loss = exp(sum.loss / (double)score.problems);
    return score;
}

/* What the search makes small. The loss alone would be all steps; the error leads it. */
static double penalty(const fit_data *data, const mc_gpu *gpu, double loss_weight) {
    fit_score score = fit_score_of(data, gpu, &(fit_part){.fitted = true});
    return score.error + loss_weight * (2 * log(score.loss) + fmax(0, 0.7 - score.worst));
}

/* A number from -1 to 1 (xorshift). */
static double next_random(uint64_t *state) {
    *state ^= *state << 13, *state ^= *state >> 7, *state ^= *state << 17;
    return (double)(*state >> 10) * 0x1p-53 - 1;
}

/* Keeps random steps that help: of some of the costs at once, up to a factor of 2^REACH. */
static void climb(const fit_data *data, mc_gpu *gpu, double loss_weight, uint64_t *random) {
    double least = penalty(data, gpu, loss_weight);
    for (int step = 0; step < STEPS; step++) {
        double reach = 1 - (double)step / STEPS;
        mc_gpu trial = *gpu;
        for (size_t cost = 0; cost < COST_COUNT; cost++)
            if (next_random(random) > 0.5)
                ((double *)&trial.costs)[cost] *= exp2(reach * next_random(random));
        double now = penalty(data, &trial, loss_weight);
        if (now < least) least = now, *gpu = trial;
    }
}

void fit_search(const fit_data *data, mc_gpu *gpu) {
    uint64_t random = 1;
    climb(data, gpu, 0, &random);
    climb(data, gpu, 1, &random);
}
