/* The estimate of a window kernel. Its thread blocks stay; their warps take the window's items in turn. */
#include "ops/sddmm/model.h"
#include "ops/sddmm/solvers.h"
#include "ops/sddmm/window/window.h"

enum { INTEGER_REGISTERS = 48 /* of a thread */ };

/* A row block's part in a window of V vectors on average: how many runs of SLOTS, the last one partly
   empty. */
static double runs_of(double v, double slots) {
    return model_most(v / slots + .5 * (1 - exp(-v / 4)), 1 - exp(-v));
}

/* What stores of a group's rows cost in the orders srbcrs (gather/estimate.c): slots of an item lie in any
   order, so that a store meets both strides of an item in each of four rows. */
static double stores_of(const window_plan *plan, const sddmm_situation *s) {
    enum { PASSES = 8, PASS_BYTES = 64 };
    int slots = SDDMM_GROUP_SLOTS / 8, rows = sddmm_lane_rows(&plan->problem);
    if (!sddmm_stride(&plan->problem)) return 0;
    return (double)(PASSES * slots * rows) * PASS_BYTES / 1024 * s->cost.gather_b;
}

static double time_of(const window_plan *plan, const sddmm_situation *s) {
    const sddmm_costs *c = &s->cost;
    double n = (double)s->problem->n, columns = (double)plan->items.window, windows = ceil(n / columns);
    double slots = SDDMM_GROUP_SLOTS, v = s->mean * columns / n, parts = s->row_blocks * windows;
    double groups = parts * runs_of(v, slots), items = parts * runs_of(v, slots * plan->items.groups);
    double warps = plan->problem.warps, multiprocessors = s->gpu->multiprocessors;
    double registers = plan->problem.arithmetic.kind->real ? window_registers(plan) : INTEGER_REGISTERS;
    double resident = sddmm_resident_warps(s->gpu, warps, registers, plan->shared_bytes) / warps;
    /* thread blocks of each window */
    double beside =
        model_least(model_most(1, floor(multiprocessors * resident / windows)), ceil(s->row_blocks / warps));
    double blocks = windows * beside, rounds = ceil(windows / (multiprocessors * resident));
    double copy = columns * s->b_bytes / 1024 * c->window_copy * (plan->tensor ? c->window_tensor : 1);
    double each = model_most(1, items / (blocks * warps) * rounds);
    double item = c->window_item * (plan->prefetch ? c->window_ahead : 1) +
                  groups / model_most(items, 1) * c->window_group * (s->b_bytes / 256 + .2) *
                      (plan->items.at_once > 1 ? c->window_turns : 1);
    double latency =
        c->window_first + copy * model_least(resident, blocks / multiprocessors + .5) + each * item;
    double work = blocks * copy +
                  groups * (slots * s->b_bytes / 1024 * c->window_b + c->window_groups + stores_of(plan, s)) +
                  items * (plan->problem.vec * s->a_bytes / 1024 * c->window_a + c->window_items);
    return c->launch + hypot(latency, work / model_least(multiprocessors, blocks));
}

double sddmm_window_estimate(const void *data, const mc_gpu *gpu, const mc_problem *problem) {
    const window_plan *plan = data;
    if (!sddmm_can_run(&plan->problem, problem) || problem->n < 1) return INFINITY;
    sddmm_situation s = sddmm_meet(&plan->problem, gpu, problem);
    return time_of(plan, &s);
}
