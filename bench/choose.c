/* Which variants take part in a problem: by their estimates. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "operation.h"

/* Estimates of all variants; a family without a model has none. */
static void estimate(const work_plan *plan, const mc_problem *problem, double *estimates) {
    for (size_t i = 0; i < plan->variants->count; i++) {
        const variant *v = &plan->variants->items[i];
        estimates[i] = v->error == NULL ? mc_spec_estimate(v->spec, v->index, &plan->gpu, problem) : INFINITY;
    }
}

/* How many of variant I's contender the estimate puts before it. */
static int64_t rank_of(const variant_list *list, const double *estimates, size_t i) {
    int64_t rank = 0;
    for (size_t j = 0; j < list->count; j++) {
        if (list->items[j].error != NULL || strcmp(list->items[j].label, list->items[i].label) != 0) continue;
        rank += estimates[j] < estimates[i] || (j < i && estimates[j] == estimates[i]);
    }
    return rank;
}

/* The best of those that have an estimate; how many. */
static size_t take_best(work_problem *p, const work_plan *plan) {
    const variant_list *list = plan->variants;
    size_t count = 0;
    for (size_t i = 0; i < list->count; i++) {
        if (list->items[i].error != NULL || !isfinite(p->estimates[i])) continue;
        p->takes[i] = rank_of(list, p->estimates, i) < plan->best;
        count += p->takes[i];
    }
    return count;
}

static void take_all(work_problem *p, const variant_list *list) {
    for (size_t i = 0; i < list->count; i++) p->takes[i] = list->items[i].error == NULL;
}

static mc_status choose(work_problem *p, const mc_problem *problem, const work_plan *plan, mc_diag *diag) {
    p->estimates = calloc(plan->variants->count + 1, sizeof *p->estimates);
    p->takes = calloc(plan->variants->count + 1, sizeof *p->takes);
    if (p->estimates == NULL || p->takes == NULL) return mc_fail(diag, MC_NOMEM, "out of memory");
    estimate(plan, problem, p->estimates);
    if (plan->best == 0 || take_best(p, plan) == 0) take_all(p, plan->variants);
    return MC_OK;
}

mc_status work_choose(work *w, const work_plan *plan, mc_diag *diag) {
    mc_problem problem = mc_problem_of(&w->a, 0, 0);
    mc_status status = MC_OK;
    problem.cold = plan->cold;
    for (size_t i = 0; i < plan->size_count && status == MC_OK; i++) {
        work_problem *p = &w->problems[i];
        problem.n = p->shape.n;
        problem.k = plan->operation->turned ? p->shape.m : p->shape.k;
        problem.ldb = p->b.ld;
        status = choose(p, &problem, plan, diag);
    }
    return status;
}

bool work_packs(const work *w, const work_plan *plan, size_t group) {
    for (size_t i = 0; i < plan->size_count; i++)
        for (size_t v = 0; v < plan->variants->count; v++)
            if (w->problems[i].takes[v] && plan->variants->items[v].packing == group) return true;
    return false;
}

bool work_leave_out(work *w, const work_plan *plan, size_t group) {
    size_t left = 0;
    for (size_t i = 0; i < plan->size_count; i++)
        for (size_t v = 0; v < plan->variants->count; v++) {
            if (plan->variants->items[v].packing == group) w->problems[i].takes[v] = false;
            left += w->problems[i].takes[v];
        }
    return left > 0;
}
