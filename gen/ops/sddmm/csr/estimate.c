/* The estimate of a csr kernel: a launch, the turns of a warp one behind another, and what all warps of a
   multiprocessor do. */
#include "ops/sddmm/csr/csr.h"
#include "ops/sddmm/model.h"
#include "ops/sddmm/solvers.h"

/* Microseconds of an H200, fitted to 1,836 times of f16: 23 matrices, k of 32, 128 and 512, lanes of 4 to 16,
   shares of 16 and 32. A step is one nonzero of each group of a warp, a run 16 bytes of a lane. */
static const struct {
    double launch, turn;    /* of `ahead` nonzeros: what a warp waits for, for each `tile_k` of k */
    double step, run, deep; /* a run takes longer by `deep` for each nonzero that is ahead */
    double spread; /* a step, for each MB of B that a warp's nonzeros name: as much leaves L1 sooner */
    double row, row_panel; /* a KB of A, and each of its tile_k */
} cost = {.launch = 2.59,
          .turn = 0.0974,
          .step = 0.00192,
          .run = 0.00337,
          .deep = 0.00077,
          .spread = 0.00333,
          .row = 0.0379,
          .row_panel = 0.00208};

enum { RESIDENT = 20 /* warps of a multiprocessor whose latencies hide each other */ };

static double time_of(const csr_plan *plan, const sddmm_situation *s) {
    const double k = (double)s->problem->k, multiprocessors = s->gpu->multiprocessors;
    const double nonzeros = s->row_blocks * s->mean, warps = ceil(nonzeros / (plan->groups * plan->share));
    const double panels = model_most(1, ceil(k / csr_panel_k(plan, &plan->wide))),
                 runs = model_most(1, ceil(k / csr_run_k(plan)));
    const double named = (double)plan->share * plan->lanes * s->b_bytes / (1 << 20);
    const double step = cost.step + runs * (cost.run + cost.deep * plan->ahead) + cost.spread * named;
    const double rows = model_least(nonzeros, s->row_blocks + nonzeros / plan->share);
    const double work =
        nonzeros / plan->groups * step + rows * (cost.row * s->a_bytes / 1024 + cost.row_panel * panels);
    const double waves = model_most(1, warps / multiprocessors / RESIDENT);
    return cost.launch + cost.turn * panels * plan->share / plan->ahead * waves + work / multiprocessors;
}

double sddmm_csr_estimate(const void *data, const mc_gpu *gpu, const mc_problem *problem) {
    const csr_plan *plan = data;
    if (!sddmm_can_run(&plan->problem, problem)) return INFINITY;
    sddmm_situation s = sddmm_meet(&plan->problem, gpu, problem);
    return time_of(plan, &s);
}
