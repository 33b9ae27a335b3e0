#include "fit.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 40, STEPS = 6000 };
static const double prior = 0.02;      /* holds costs that no time depends on where they are */
static const double difference = 1e-4; /* of a logarithm, for derivatives */
static const double loss_weight = 1;

static double estimate(const fit_data *data, const fit_problem *p, const fit_kernel *k) {
    mc_gpu gpu = *p->gpu;
    gpu.costs = data->costs;
    return mc_kernel_estimate(k->kernel, &gpu, &p->shape);
}

const fit_kernel *fit_pick(const fit_data *data, const fit_problem *p, double *least) {
    const fit_kernel *pick = &p->kernels[0];
    *least = INFINITY;
    for (size_t i = 0; i < p->count; i++) {
        double us = estimate(data, p, &p->kernels[i]);
        if (us < *least) *least = us, pick = &p->kernels[i];
    }
    return pick;
}

/* -- Scores ---------------------------------------------------------------------------------------------- */

static double weight_of(const fit_problem *p, const fit_kernel *k) { return pow(p->best / k->us, 4); }

static double weights_of(const fit_problem *p) {
    double sum = 0;
    for (size_t i = 0; i < p->count; i++) sum += weight_of(p, &p->kernels[i]);
    return sum;
}

static bool is_in(const fit_part *part, const fit_problem *p) {
    return (p->held_out ? part->held_out : part->fitted) && (part->size == 0 || part->size == p->size) &&
           (p->shape.cold ? part->cold : part->warm);
}

/* The mean square of P's errors; LOG_PICKED receives that of the pick's time over the best one. */
static double square_of(const fit_data *data, const fit_problem *p, double *log_picked) {
    double sum = 0, least = INFINITY, whole = weights_of(p);
    *log_picked = 0;
    for (size_t i = 0; i < p->count; i++) {
        const fit_kernel *k = &p->kernels[i];
        double us = estimate(data, p, k), off = log(us / k->us);
        sum += weight_of(p, k) / whole * off * off;
        if (us < least) least = us, *log_picked = log(k->us / p->best);
    }
    return sum;
}

fit_score fit_score_of(const fit_data *data, const fit_part *part) {
    fit_score score = {.worst = 1};
    double squares = 0, logs = 0;
    for (size_t i = 0; i < data->count; i++) {
        double log_picked;
        if (!is_in(part, &data->problems[i])) continue;
        squares += square_of(data, &data->problems[i], &log_picked);
        logs += log_picked;
        score.worst = fmax(score.worst, exp(log_picked));
        score.problems++;
    }
    if (score.problems == 0) return score;
    score.error = sqrt(squares / (double)score.problems);
    score.loss = exp(logs / (double)score.problems);
    return score;
}

/* -- Little error: linear least squares of the logarithms, again and again ------------------------------ */

typedef struct normal {
    double matrix[FIT_MAX_COSTS][FIT_MAX_COSTS], right[FIT_MAX_COSTS];
} normal;

/* Adds kernel K's row: its derivatives by each cost. */
static void add_row(fit_data *data, const fit_problem *p, const fit_kernel *k, double weight, normal *n) {
    double row[FIT_MAX_COSTS], us = estimate(data, p, k), off = log(k->us / us);
    for (size_t c = 0; c < data->cost_count; c++) {
        double before = data->costs[c];
        row[c] = 0;
        if (data->fixed[c]) continue;
        data->costs[c] = before * exp(difference);
        row[c] = log(estimate(data, p, k) / us) / difference;
        data->costs[c] = before;
    }
    for (size_t c = 0; c < data->cost_count; c++) {
        if (row[c] == 0) continue;
        n->right[c] += weight * row[c] * off;
        for (size_t d = 0; d < data->cost_count; d++) n->matrix[c][d] += weight * row[c] * row[d];
    }
}

static void make_normal(fit_data *data, normal *n) {
    memset(n, 0, sizeof *n);
    for (size_t i = 0; i < data->count; i++) {
        const fit_problem *p = &data->problems[i];
        double whole = weights_of(p);
        if (p->held_out) continue;
        for (size_t j = 0; j < p->count; j++) {
            double weight = weight_of(p, &p->kernels[j]) / whole;
            if (weight > 1e-5) add_row(data, p, &p->kernels[j], weight, n);
        }
    }
}

/* Solves for STEP by Gauss's elimination; the matrix is positive definite. */
static void solve(normal n, size_t count, double *step) {
    for (size_t i = 0; i < count; i++)
        for (size_t j = i + 1; j < count; j++) {
            double factor = n.matrix[j][i] / n.matrix[i][i];
            for (size_t k = i; k < count; k++) n.matrix[j][k] -= factor * n.matrix[i][k];
            n.right[j] -= factor * n.right[i];
        }
    for (size_t i = count; i-- > 0;) {
        step[i] = n.right[i];
        for (size_t k = i + 1; k < count; k++) step[i] -= n.matrix[i][k] * step[k];
        step[i] /= n.matrix[i][i];
    }
}

static const fit_part seen = {.fitted = true, .warm = true, .cold = true};

static double away_of(const fit_data *data, const double *from) {
    double sum = 0;
    for (size_t c = 0; c < data->cost_count; c++) sum += pow(prior * log(data->costs[c] / from[c]), 2);
    return sum;
}

static double squares_of(const fit_data *data, const double *from) {
    fit_score s = fit_score_of(data, &seen);
    return s.error * s.error * (double)s.problems + away_of(data, from);
}

/* One step, the more careful the greater DAMPING is. Whether it helped. */
static bool try_step(fit_data *data, const normal *at, const double *from, double damping, double *least) {
    double step[FIT_MAX_COSTS], before[FIT_MAX_COSTS];
    normal *n = malloc(sizeof *n);
    if (n == NULL) return false;
    *n = *at;
    for (size_t c = 0; c < data->cost_count; c++) {
        n->matrix[c][c] += prior * prior + damping * (n->matrix[c][c] + 1e-6);
        n->right[c] -= prior * prior * log(data->costs[c] / from[c]);
    }
    solve(*n, data->cost_count, step);
    free(n);
    memcpy(before, data->costs, sizeof before);
    for (size_t c = 0; c < data->cost_count; c++) data->costs[c] *= exp(fmax(-1, fmin(1, step[c])));
    double now = squares_of(data, from);
    if (now < *least) {
        *least = now;
        return true;
    }
    memcpy(data->costs, before, sizeof before);
    return false;
}

/* MOVES: which costs a time depends on. */
static mc_status descend(fit_data *data, bool moves[FIT_MAX_COSTS], mc_diag *diag) {
    double from[FIT_MAX_COSTS], damping = 1e-2;
    normal *n = malloc(sizeof *n);
    if (n == NULL) return mc_fail(diag, MC_NOMEM, "out of memory");
    memcpy(from, data->costs, sizeof from);
    double least = squares_of(data, from);
    for (int round = 0; round < ROUNDS && damping < 1e6; round++) {
        double before = least;
        make_normal(data, n);
        for (size_t c = 0; c < data->cost_count; c++) moves[c] = n->matrix[c][c] > 0;
        while (damping < 1e6 && !try_step(data, n, from, damping, &least)) damping *= 4;
        damping = fmax(1e-6, damping / 4);
        if (least > before * (1 - 1e-5)) break;
    }
    free(n);
    return MC_OK;
}

/* -- Little loss: random steps -------------------------------------------------------------------------- */

static double penalty(const fit_data *data) {
    fit_score score = fit_score_of(data, &seen);
    return score.error + loss_weight * (log(score.loss) + 0.2 * fmax(0, log(score.worst) - log(1.15)));
}

/* A number from -1 to 1 (xorshift). */
static double next_random(uint64_t *state) {
    *state ^= *state << 13, *state ^= *state >> 7, *state ^= *state << 17;
    return (double)(*state >> 10) * 0x1p-53 - 1;
}

/* Keeps random steps that help: of some of the costs at once, smaller and smaller ones. */
static void climb(fit_data *data, const bool moves[FIT_MAX_COSTS]) {
    uint64_t random = 88172645463325252U;
    double least = penalty(data);
    for (int step = 0; step < STEPS; step++) {
        double reach = .5 * (1 - (double)step / STEPS), before[FIT_MAX_COSTS];
        memcpy(before, data->costs, sizeof before);
        for (size_t cost = 0; cost < data->cost_count; cost++)
            if (moves[cost] && next_random(&random) > 0.6)
                data->costs[cost] *= exp2(reach * next_random(&random));
        double now = penalty(data);
        if (now < least) least = now;
        else memcpy(data->costs, before, sizeof before);
    }
}

mc_status fit_search(fit_data *data, mc_diag *diag) {
    bool moves[FIT_MAX_COSTS];
    mc_status status = descend(data, moves, diag);
    if (status == MC_OK) climb(data, moves);
    return status;
}
