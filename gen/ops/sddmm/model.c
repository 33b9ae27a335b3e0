#include "ops/sddmm/model.h"
#include "parts/fragment.h"

enum { MAX_WARPS = 64, BLOCK_SHARED = 1 << 10 /* bytes that a thread block takes beside its own */ };

sddmm_situation sddmm_meet(const sddmm_problem *plan, const mc_gpu *gpu, const mc_problem *problem) {
    sddmm_situation s = {.gpu = gpu, .problem = problem, .cost = sddmm_costs_on(gpu)};
    s.row_blocks = ceil((double)problem->m / plan->vec);
    s.mean = s.row_blocks > 0 ? (double)problem->vectors / s.row_blocks : 0;
    if (problem->batch > 1) s.row_blocks *= (double)problem->batch;
    s.a_bytes = (double)values_bytes(plan->arithmetic.lhs, problem->k);
    s.b_bytes = (double)values_bytes(plan->arithmetic.rhs, problem->k);
    return s;
}

bool sddmm_can_run(const sddmm_problem *plan, const mc_problem *problem) {
    const int64_t pairs[][2] = {
        {plan->m, problem->m}, {plan->n, problem->n}, {plan->k, problem->k}, {plan->ldb, problem->ldb}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (pairs[i][0] != MC_OPEN && pairs[i][0] != pairs[i][1]) return false;
    return true;
}

double sddmm_resident_warps(const mc_gpu *gpu, double warps, double registers, double shared) {
    double blocks =
        sddmm_least(floor(MAX_WARPS / warps), floor(gpu->registers / (MC_WARP * registers * warps)));
    blocks = sddmm_least(blocks, floor(gpu->shared_bytes / (shared + BLOCK_SHARED)));
    return warps * sddmm_most(1, blocks);
}
