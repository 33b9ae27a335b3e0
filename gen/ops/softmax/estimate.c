/* How long a softmax should take: what its row blocks read and compute, and how many of them a multiprocessor
   holds at once. */
#include "ops/softmax/costs.h"
#include "ops/softmax/softmax.h"
#include "parts/model.h"

enum {
    OTHER_REGISTERS = 36,
    OF_A_ROW = 3,
    OF_POLYNOMIAL = 12,
    EIGHT = 8,
    MOST_BLOCKS = 32,
    READS_OF_LONG = 3
};
static const double alive_at_once = .42; /* the part of the units' registers that ptxas needs at once */

/* Eights of elements that each thread goes through. */
static double eights_of(const softmax_plan *plan, const softmax_costs *c, double length) {
    return rows_steps(&plan->deal, length, READS_OF_LONG) * plan->deal.unit / EIGHT *
           (plan->approx ? c->approx : 1);
}

static double latency_of(const softmax_plan *plan, const softmax_costs *c, double length) {
    double first = c->first * (rows_is_long(&plan->deal, length) ? READS_OF_LONG : 1);
    return first + c->exchange * plan->deal.rows + c->step * eights_of(plan, c, length);
}

/* Thread blocks that a multiprocessor holds. */
static double resident_of(const softmax_plan *plan, const mc_gpu *gpu) {
    double threads = rows_threads(&plan->deal),
           units = plan->deal.hold * (plan->deal.unit + softmax_unit_words(plan));
    double others = OTHER_REGISTERS + OF_A_ROW * plan->deal.rows - (plan->approx ? OF_POLYNOMIAL : 0),
           registers = EIGHT * ceil((others + alive_at_once * units) / EIGHT);
    double blocks = model_least(gpu->threads / threads, gpu->registers / (threads * registers));
    return model_most(1, floor(model_least(blocks, MOST_BLOCKS)));
}

/* Of all products of the batch, in megabytes. */
static double bytes_of(const softmax_plan *plan, const mc_problem *problem, double length, double batch) {
    double values = (double)problem->vectors * plan->deal.vec,
           reads = rows_is_long(&plan->deal, length) ? READS_OF_LONG : 1,
           mask = plan->masked ? values * WORD * reads : 0;
    return (batch * values * (plan->in_bytes * reads + plan->out.bits / 8.0) + mask) / (1 << 20);
}

double softmax_estimate(const void *data, const mc_gpu *gpu, const mc_problem *problem) {
    const softmax_plan *plan = data;
    softmax_costs c;
    double batch = problem->batch > 1 ? (double)problem->batch : 1;
    if (!model_fits(plan->m, problem->m) || !model_fits(plan->n, problem->n)) return INFINITY;
    model_take_costs(&softmax_cost_table, gpu, &c);
    if (problem->m == 0) return c.launch;
    rows_lengths rows = rows_lengths_of(&plan->deal, problem);
    double blocks = (double)problem->m / plan->deal.vec, mean = (double)problem->vectors / blocks,
           latency = latency_of(plan, &c, rows.held) + rows.longer * latency_of(plan, &c, rows.length),
           longest = latency_of(plan, &c, (double)problem->longest);
    double waves = batch * blocks / (gpu->multiprocessors * resident_of(plan, gpu) * rows_each(&plan->deal));
    double work = plan->deal.warps *
                  (c.start_warp + c.join * plan->deal.rows + eights_of(plan, &c, rows.held) * c.work +
                   rows.longer * (c.join + eights_of(plan, &c, rows.length) * c.work));
    double megabytes = bytes_of(plan, problem, mean, batch);
    bool cold = problem->cold || megabytes > c.held;
    if (waves > 1) latency *= waves + c.tail;
    double busy = batch * blocks * work / gpu->multiprocessors / rows_each(&plan->deal);
    return c.launch +
           hypot(model_most(latency, longest), model_most(busy, megabytes * (cold ? c.memory : c.l2)));
}
