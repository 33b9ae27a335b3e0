/* How long a launch should take: what its bytes take, or its thread blocks. */
#include "ops/slide24/costs.h"
#include "ops/slide24/slide24.h"
#include "parts/model.h"

/* Whether a problem's rows have stores of 16 bytes, as far as it is known. */
static bool takes_wide(const slide24_plan *plan, const mc_problem *problem) {
    const int64_t cols = (problem->n + plan->span - 1) / plan->span * plan->groups * SLIDE24_GROUP;
    const int64_t ldc = plan->ldc != MC_OPEN ? plan->ldc : cols;
    return plan->wide && ldc * plan->bytes % SLIDE24_VECTOR == 0;
}

double slide24_estimate(const void *data, const mc_gpu *gpu, const mc_problem *problem) {
    const slide24_plan *plan = data;
    slide24_costs c;
    if (!model_fits(plan->m, problem->m) || !model_fits(plan->n, problem->n)) return INFINITY;
    model_take_costs(&slide24_cost_table, gpu, &c);
    const double batch = problem->batch > 1 ? (double)problem->batch : 1;
    const double read = batch * (double)problem->m * (double)problem->n * plan->bytes / 1e6;
    const double written = read * SLIDE24_GROUP * plan->groups / plan->span, megabytes = read + written;
    const double missed = problem->cold ? megabytes : model_most(0, megabytes - c.held);
    const double moved = megabytes * c.l2 + missed * (c.memory - c.l2);
    const double across = ceil((double)problem->n / ((double)plan->spans * plan->span));
    const double blocks = batch * ceil((double)problem->m / plan->hold) * across;
    const double busy = ceil(blocks / gpu->multiprocessors) * c.block;
    return c.launch + model_most(busy, moved) * (takes_wide(plan, problem) ? 1 : c.edge);
}
