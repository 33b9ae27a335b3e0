#include "tune/rounds.h"
#include <stdlib.h>

static const double far_behind = 2, behind = 1.03, tie = 1.01;

const tune_rules tune_rules_field = {5, 11, 31, 20e3, 1.5e6};
const tune_rules tune_rules_final = {5, 15, 41, 0, 1e6};
const tune_rules tune_rules_exact = {1, 1, 1, 0, 0};

/* -- Times of a runner */

static void add_time(tune_runner *r, double time) {
    int i = r->rounds++;
    for (; i > 0 && r->times[i - 1] > time; i--) r->times[i] = r->times[i - 1];
    r->times[i] = time;
}

/* PART of the times are less: between two of them where it falls there. */
static double quantile(const tune_runner *r, double part) {
    double place = part * (r->rounds - 1);
    int below = (int)place, above = below + (below + 1 < r->rounds);
    return r->times[below] + (place - below) * (r->times[above] - r->times[below]);
}

static void sum_up(tune_runner *r) {
    if (r->rounds == 0) return;
    r->low = quantile(r, .25);
    r->median = quantile(r, .5);
    r->high = quantile(r, .75);
}

/* -- The field */

/* The least median of those still in. NULL: there is none. */
static const tune_runner *leader_of(const tune_runner *runners, size_t count) {
    const tune_runner *best = NULL;
    for (size_t i = 0; i < count; i++)
        if (!runners[i].out && (best == NULL || runners[i].median < best->median)) best = &runners[i];
    return best;
}

static void drop_slow(const tune_rules *rules, int round, tune_runner *runners, size_t count) {
    const tune_runner *leader = leader_of(runners, count);
    if (leader == NULL) return;
    const tune_runner best = *leader;
    for (size_t i = 0; i < count; i++) {
        tune_runner *r = &runners[i];
        if (r->stays) continue;
        if (round >= rules->first && r->median > far_behind * best.median) r->out = true;
        if (round >= rules->least && r->median > behind * best.median && r->low > best.high) r->out = true;
    }
}

static double round_us(const tune_runner *runners, size_t count) {
    double us = 0;
    for (size_t i = 0; i < count; i++)
        if (!runners[i].out) us += runners[i].lap_us;
    return us;
}

/* Forwards and backwards in turn, so that nobody always follows the same one. */
static mc_status run_round(const tune_track *track, bool counts, int round, tune_runner *runners,
                           size_t count, mc_diag *diag) {
    mc_status status = MC_OK;
    for (size_t i = 0; i < count && status == MC_OK; i++) {
        size_t which = round % 2 == 0 ? i : count - 1 - i;
        tune_runner *r = &runners[which];
        double time = 0;
        if (r->out) continue;
        status = track->lap(track->user, which, &time, &r->failed, diag);
        r->out = r->failed;
        if (status == MC_OK && !r->failed && counts) add_time(r, time);
    }
    for (size_t i = 0; i < count; i++) sum_up(&runners[i]);
    return status;
}

static bool go_on(const tune_track *track, int round, int rounds) {
    return track->tick == NULL || track->tick(track->user, round, rounds);
}

static mc_status warm_up(const tune_track *track, const tune_rules *rules, tune_runner *runners, size_t count,
                         bool *stopped, mc_diag *diag) {
    mc_status status = MC_OK;
    double us = round_us(runners, count);
    for (double spent = 0; us > 0 && spent < rules->warm_us && status == MC_OK && !*stopped; spent += us) {
        status = run_round(track, false, 0, runners, count, diag);
        *stopped = status == MC_OK && !go_on(track, 0, rules->most);
    }
    return status;
}

static mc_status run_all(const tune_track *track, const tune_rules *rules, tune_runner *runners, size_t count,
                         mc_diag *diag) {
    bool stopped = false;
    double spent = 0;
    mc_status status = warm_up(track, rules, runners, count, &stopped, diag);
    for (int round = 1; round <= rules->most && status == MC_OK && !stopped; round++) {
        double us = round_us(runners, count);
        if (round > rules->least && spent + us > rules->budget_us) break;
        if (round > rules->first && spent + us > 2 * rules->budget_us) break;
        spent += us;
        status = run_round(track, true, round, runners, count, diag);
        drop_slow(rules, round, runners, count);
        stopped = status == MC_OK && !go_on(track, round, rules->most);
    }
    return status;
}

mc_status tune_rounds(const tune_track *track, const tune_rules *rules, tune_runner *runners, size_t count,
                      mc_diag *diag) {
    for (size_t i = 0; i < count; i++) {
        tune_runner *r = &runners[i];
        r->median = r->low = r->high = r->guess;
        r->times = calloc((size_t)rules->most, sizeof *r->times);
        if (r->times == NULL) return mc_fail(diag, MC_NOMEM, "no memory for the times of %zu kernels", count);
    }
    return run_all(track, rules, runners, count, diag);
}

void tune_runners_free(tune_runner *runners, size_t count) {
    for (size_t i = 0; runners != NULL && i < count; i++) free(runners[i].times);
    free(runners);
}

/* -- The choice */

size_t tune_choose(const tune_runner *runners, size_t count) {
    const tune_runner *best = leader_of(runners, count), *standard = NULL;
    if (best == NULL) return count;
    for (size_t i = 0; i < count; i++) {
        const tune_runner *r = &runners[i];
        if (r->stays && !r->out && (standard == NULL || r->median < standard->median)) standard = r;
    }
    if (standard != NULL && standard->median <= tie * best->median) best = standard;
    return (size_t)(best - runners);
}
