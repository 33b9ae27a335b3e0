/* The estimate of a csr kernel. It stands on the costs of the gather kernel: it has not been fitted. */
#include "ops/sddmm/csr/csr.h"
#include "ops/sddmm/model.h"
#include "ops/sddmm/solvers.h"

/* A kernel with tensor cores, where there is one for these types, is taken before: its estimate is fitted. */
enum { REGISTERS = 48, SECTOR = 32, UNFITTED = 2 };

static double registers_of(const csr_plan *plan) {
    const int regs = plan->wide.runs * SDDMM_UNIT / WORD;
    return REGISTERS + (plan->ahead + 1) * regs + (CSR_MOST_UNIT / 2) * plan->ahead;
}

/* A warp waits for its items and then, for each `ahead` nonzeros of its groups, for columns of B. */
static double latency_of(const csr_plan *plan, const sddmm_situation *s) {
    const double panels = model_most(1, ceil((double)s->problem->k / csr_panel_k(plan, &plan->wide)));
    const double turns = (double)plan->share / plan->ahead;
    return s->cost.gather_first + turns * (panels * s->cost.gather_step + s->cost.gather_store) +
           s->cost.start_warp * plan->problem.warps;
}

static double time_of(const csr_plan *plan, const sddmm_situation *s) {
    const double nonzeros = s->row_blocks * s->mean, warps = ceil(nonzeros / (plan->groups * plan->share));
    const double b = nonzeros * model_most(ceil(s->b_bytes / SECTOR), 1) * SECTOR / 1024,
                 rows = model_least(nonzeros, s->row_blocks + nonzeros / plan->share),
                 a = rows * model_most(s->a_bytes, SECTOR) / 1024;
    const double work = b * s->cost.gather_b + a * s->cost.gather_a + warps * s->cost.start_warp;
    const double waves = warps / s->gpu->multiprocessors /
                         sddmm_resident_warps(s->gpu, plan->problem.warps, registers_of(plan), 0);
    double latency = latency_of(plan, s);
    if (waves > 1) latency *= waves + s->cost.tail;
    return s->cost.launch + hypot(latency, work / s->gpu->multiprocessors);
}

double sddmm_csr_estimate(const void *data, const mc_gpu *gpu, const mc_problem *problem) {
    const csr_plan *plan = data;
    if (!sddmm_can_run(&plan->problem, problem)) return INFINITY;
    sddmm_situation s = sddmm_meet(&plan->problem, gpu, problem);
    return UNFITTED * time_of(plan, &s);
}
