/* How long a step should take: what bytes take, or the turns of a thread and the instructions of all, if that
   is longer. Thread blocks that a multiprocessor does not hold at once take their turns behind the others. */
#include "ops/optimise/costs.h"
#include "ops/optimise/optimise.h"
#include "parts/model.h"

enum { SECTOR = 32, EIGHT = 8 };

/* Bytes of an element, those in sectors that two accesses share counted with the factor SPLIT; and accesses
   of a unit. */
typedef struct traffic {
    double bytes, pieces;
} traffic;

static traffic traffic_of(const optimise_plan *plan, double split) {
    optimise_operand operands[OPTIMISE_MAX_STREAMS];
    int count = optimise_operands(plan, operands);
    traffic t = {0, 0};
    for (int i = 0; i < count; i++) {
        int element = optimise_bytes(operands[i].type), bytes = element * plan->unit,
            times = operands[i].read + operands[i].written;
        t.bytes += element * times * (bytes >= SECTOR ? split : 1);
        t.pieces += times * (bytes > OPTIMISE_PIECE ? (double)bytes / OPTIMISE_PIECE : 1);
    }
    return t;
}

/* How often a multiprocessor is filled with its thread blocks. */
static double waves_of(const optimise_plan *plan, const mc_gpu *gpu) {
    double threads = optimise_threads(plan),
           registers = EIGHT * ceil((double)optimise_registers(plan) / EIGHT);
    double held = floor(model_least(gpu->threads / threads, gpu->registers / (threads * registers)));
    return ceil(plan->blocks / model_most(1, held));
}

double optimise_estimate(const void *data, const mc_gpu *gpu, const mc_problem *problem) {
    const optimise_plan *plan = data;
    optimise_costs c;
    if (!model_fits(plan->m, problem->m) || !model_fits(plan->n, problem->n)) return INFINITY;
    model_take_costs(&optimise_cost_table, gpu, &c);
    double elements = (double)problem->m * (double)problem->n, lanes = MC_WARP * gpu->multiprocessors,
           warps = (double)plan->warps * plan->blocks, turn = plan->hold * plan->unit;
    const traffic t = traffic_of(plan, c.split);
    double turns = ceil(elements / (lanes * warps * turn)), units = elements / (lanes * plan->unit);
    double work = plan->unit * (optimise_is_adam(plan) ? c.adam : c.sgd) + t.pieces * c.piece;
    double latency = waves_of(plan, gpu) * turns * (c.turn + plan->hold * c.unit),
           busy = units * work + warps * c.start_warp;
    double megabytes = elements * t.bytes / 1e6, missed = problem->cold ? megabytes : megabytes - c.held;
    double moved = megabytes * c.l2 + model_most(0, missed) * (c.memory - c.l2);
    return c.launch + hypot(model_most(latency, busy), moved);
}
