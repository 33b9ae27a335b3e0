/* The estimate of a gather kernel. */
#include "ops/sddmm/gather/gather.h"
#include "ops/sddmm/model.h"
#include "ops/sddmm/solvers.h"

enum {
    CHUNK_BYTES = 64, /* that lanes read of a column side by side */
    LEAST_BYTES = 32, /* of a row or column, a sector */
    REGISTERS = 40,   /* of a thread, beside those below */
    MAX_REGISTERS = 255
};

/* What a group of single nonzeros (vec = 1) takes longer than one of vectors, and for each 64 bytes of a
   column less: microseconds of an H200, fitted to 14 matrices at k = 32, 128 and 512, f16. */
static const struct { double group, column; } single = {.group = 0.0179, .column = 0.00373};

static double registers_of(const gather_plan *plan) {
    double wanted = REGISTERS + plan->buffers * gather_group_regs(plan) +
                    sddmm_octets(&plan->problem) * (2 * plan->items.chunks + SDDMM_ACC * plan->items.groups);
    return model_least(wanted, MAX_REGISTERS);
}

/* What stores of a group's rows cost in the orders srbcrs: they were not measured, but counted. A store of a
   warp has four rows, of a slot or a run for each lane, and takes the load unit a pass for each row; a pass
   costs as much as one that brings 64 bytes of B. In the order bcrs vectors lie one behind the other, and the
   other costs have their stores. */
static double stores_of(const gather_plan *plan, const sddmm_situation *s) {
    enum { PASSES = 4 };
    int slots = SDDMM_GROUP_SLOTS / 8, rows = sddmm_lane_rows(&plan->problem);
    if (!sddmm_stride(&plan->problem)) return 0;
    return (double)(PASSES * slots * rows) / plan->items.run * CHUNK_BYTES / 1024 * s->cost.gather_b;
}

/* How long a warp takes for its item, which has FULL groups. */
static double latency_of(const gather_plan *plan, const sddmm_situation *s, double full, double panels) {
    const sddmm_costs *c = &s->cost;
    double next = plan->prefetch ? c->gather_next : c->gather_step;
    return c->gather_first + c->gather_store * full + (full * panels - 1) * next +
           c->start_warp * plan->problem.warps;
}

static double time_of(const gather_plan *plan, const sddmm_situation *s) {
    const sddmm_costs *c = &s->cost;
    double slots = SDDMM_GROUP_SLOTS, wide = slots * plan->items.groups;
    double groups = s->row_blocks * model_most(1, s->mean / slots + .5),
           items = s->row_blocks * model_most(1, s->mean / wide + .5);
    double full = model_most(1, model_least(ceil((double)s->problem->longest / slots), plan->items.groups));
    double panels = plan->loops ? ceil((double)s->problem->k / plan->items.tile_k) : 1;
    double span = CHUNK_BYTES * plan->abreast, column = ceil(s->b_bytes / span) * span;
    double b = groups * slots * column / 1024,
           a = items * plan->problem.vec * model_most(s->a_bytes, LEAST_BYTES) / 1024;
    double work = b * c->gather_b + a * c->gather_a +
                  groups * (c->gather_group * (panels / 4 + s->b_bytes / 256) + stores_of(plan, s)) +
                  items * c->start_warp;
    if (plan->problem.vec == 1) work += groups * (single.group - single.column * s->b_bytes / CHUNK_BYTES);
    double latency = latency_of(plan, s, full, panels);
    double waves = items / s->gpu->multiprocessors /
                   sddmm_resident_warps(s->gpu, plan->problem.warps, registers_of(plan), plan->shared_bytes);
    if (waves > 1) latency *= waves + c->tail;
    return c->launch + hypot(latency, work / s->gpu->multiprocessors);
}

double sddmm_gather_estimate(const void *data, const mc_gpu *gpu, const mc_problem *problem) {
    const gather_plan *plan = data;
    if (!sddmm_can_run(&plan->problem, problem)) return INFINITY;
    sddmm_situation s = sddmm_meet(&plan->problem, gpu, problem);
    return time_of(plan, &s);
}
