/* How long a softmax_grad should take: what its row blocks read and compute, and how many of them a
   multiprocessor holds at once. */
#include "ops/softmax_grad/costs.h"
#include "ops/softmax_grad/softmax_grad.h"
#include "parts/model.h"

enum { OTHER_REGISTERS = 36, OF_A_ROW = 3, EIGHT = 8, MOST_BLOCKS = 32, READS_OF_LONG = 3 };
static const double alive_at_once = .8; /* the part of the units' registers that ptxas needs at once */

/* Eights of elements that each thread goes through. */
static double eights_of(const grad_plan *plan, double length) {
    return rows_steps(&plan->deal, length, READS_OF_LONG) * plan->deal.unit / EIGHT;
}

static double reads_of(const grad_plan *plan, double length) {
    return rows_is_long(&plan->deal, length) ? READS_OF_LONG : 1;
}

static double latency_of(const grad_plan *plan, const grad_costs *c, double length) {
    return c->first * reads_of(plan, length) + c->exchange * plan->deal.rows +
           c->step * eights_of(plan, length);
}

/* Thread blocks that a multiprocessor holds. */
static double resident_of(const grad_plan *plan, const mc_gpu *gpu) {
    double threads = rows_threads(&plan->deal),
           units = plan->deal.hold * (plan->deal.unit + grad_unit_words(plan)),
           others = OTHER_REGISTERS + OF_A_ROW * plan->deal.rows,
           registers = EIGHT * ceil((others + alive_at_once * units) / EIGHT);
    double blocks = model_least(gpu->threads / threads, gpu->registers / (threads * registers));
    return model_most(1, floor(model_least(blocks, MOST_BLOCKS)));
}

/* Of all products of the batch, in megabytes. */
static double bytes_of(const grad_plan *plan, const mc_problem *problem, double length, double batch) {
    double values = batch * (double)problem->vectors * plan->deal.vec,
           read = (rows_type_bytes(plan->p) + rows_type_bytes(plan->d)) * reads_of(plan, length);
    return values * (read + rows_type_bytes(plan->c)) / (1 << 20);
}

double grad_estimate(const void *data, const mc_gpu *gpu, const mc_problem *problem) {
    const grad_plan *plan = data;
    grad_costs c;
    double batch = problem->batch > 1 ? (double)problem->batch : 1;
    if (!model_fits(plan->m, problem->m) || !model_fits(plan->n, problem->n)) return INFINITY;
    model_take_costs(&grad_cost_table, gpu, &c);
    if (problem->m == 0) return c.launch;
    rows_lengths rows = rows_lengths_of(&plan->deal, problem);
    double blocks = (double)problem->m / plan->deal.vec, mean = (double)problem->vectors / blocks,
           latency = latency_of(plan, &c, rows.held) + rows.longer * latency_of(plan, &c, rows.length),
           longest = latency_of(plan, &c, (double)problem->longest);
    double waves = batch * blocks / (gpu->multiprocessors * resident_of(plan, gpu) * rows_each(&plan->deal)),
           work = plan->deal.warps *
                  (c.start_warp + c.join * plan->deal.rows + eights_of(plan, rows.held) * c.work +
                   rows.longer * (c.join + eights_of(plan, rows.length) * c.work));
    double megabytes = bytes_of(plan, problem, mean, batch);
    bool cold = problem->cold || megabytes > c.held;
    if (waves > 1) latency *= waves;
    double busy = batch * blocks * work / gpu->multiprocessors / rows_each(&plan->deal);
    return c.launch +
           hypot(model_most(latency, longest), model_most(busy, megabytes * (cold ? c.memory : c.l2)));
}
