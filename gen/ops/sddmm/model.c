#include "ops/sddmm/model.h"
#include "parts/fragment.h"

enum { MAX_WARPS = 64 };

sddmm_situation sddmm_meet(const sddmm_problem *plan, const mc_gpu *gpu, const mc_problem *problem) {
    sddmm_situation s = {.gpu = gpu, .problem = problem};
    model_take_costs(&sddmm_cost_table, gpu, &s.cost);
    s.row_blocks = ceil((double)problem->m / plan->vec);
    s.mean = s.row_blocks > 0 ? (double)problem->vectors / s.row_blocks : 0;
    if (problem->batch > 1) s.row_blocks *= (double)problem->batch;
    s.a_bytes = (double)values_bytes(plan->arithmetic.lhs, problem->k);
    s.b_bytes = (double)values_bytes(plan->arithmetic.rhs, problem->k);
    return s;
}

bool sddmm_can_run(const sddmm_problem *plan, const mc_problem *problem) {
    return model_fits(plan->m, problem->m) && model_fits(plan->n, problem->n) &&
           model_fits(plan->k, problem->k) && model_fits(plan->ldb, problem->ldb);
}

double sddmm_resident_warps(const mc_gpu *gpu, double warps, double registers, double shared) {
    double blocks =
        model_least(floor(MAX_WARPS / warps), floor(gpu->registers / (MC_WARP * registers * warps)));
    blocks = model_least(blocks, floor(gpu->shared_bytes / (shared + MODEL_BLOCK_SHARED)));
    return warps * model_most(1, blocks);
}
