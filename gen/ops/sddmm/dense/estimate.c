/* The estimate of a dense kernel. */
#include "ops/sddmm/dense/dense.h"
#include "ops/sddmm/model.h"
#include "ops/sddmm/solvers.h"
#include "parts/fragment.h"

enum { REGISTERS = 40 /* of a thread, beside its sums */, LOOKED_AT = 4096, USUAL_WARPS = 8 };

static double time_of(const dense_plan *plan, const sddmm_situation *s) {
    const sddmm_costs *c = &s->cost;
    double m = (double)s->problem->m, n = (double)s->problem->n, k = (double)s->problem->k;
    double elements = (double)plan->tile_rows * plan->tile_n, warps = plan->problem.warps;
    double batch = s->problem->batch > 1 ? (double)s->problem->batch : 1;
    double tiles = batch * ceil(m / plan->tile_rows) * ceil(n / plan->tile_n);
    double density = s->mean / model_most(n, 1);
    double load = (plan->tile_rows * s->a_bytes + plan->tile_n * s->b_bytes) / 1024 * c->dense_load;
    double mma = elements * k / (1 << 20) * c->dense_mma;
    double look = elements / LOOKED_AT * (c->dense_sample + density * c->dense_taken);
    double latency = c->dense_first + load + (mma + look) * USUAL_WARPS / warps;
    double work = .3 * load + .5 * mma + c->dense_shared * look;
    double registers = REGISTERS + elements / (MC_WARP * warps);
    double resident = sddmm_resident_warps(s->gpu, warps, registers, (double)plan->shared_bytes) / warps;
    double each = tiles / s->gpu->multiprocessors;
    return c->launch + hypot(model_most(1, each / resident + c->tail) * latency, each * work);
}

double sddmm_dense_estimate(const void *data, const mc_gpu *gpu, const mc_problem *problem) {
    const dense_plan *plan = data;
    if (!sddmm_can_run(&plan->problem, problem)) return INFINITY;
    sddmm_situation s = sddmm_meet(&plan->problem, gpu, problem);
    return time_of(plan, &s);
}
