/* How long a wgmma kernel should take: the stages of a multiprocessor's tiles one behind another, and what
   lies between tiles; or the operands' way from memory. */
#include "ops/gemm/costs.h"
#include "ops/gemm/solvers.h"
#include "ops/gemm/wgmma/wgmma.h"
#include "parts/model.h"

enum { UNIT = 64 * 64, THOUSAND = 1024 };

/* A stage of a tile: multiplied, or waited for. All stages but the one at hand are on their way. */
static double stage_of(const wgmma_plan *plan, const gemm_costs *c) {
    double products = (double)plan->tile_m * plan->tile_n / UNIT * c->product;
    double waiting = c->latency / (plan->stages > 1 ? plan->stages - 1 : 1),
           filling = (double)wgmma_stage_bytes(plan) / THOUSAND * c->fill;
    return model_most(products, model_most(waiting, filling));
}

static double store_of(const wgmma_plan *plan, const gemm_costs *c) {
    const double each[] = {[WGMMA_TENSOR] = c->tensor, [WGMMA_PAIRS] = c->pairs, [WGMMA_SINGLE] = c->single};
    return (double)plan->tile_m * plan->tile_n / THOUSAND * each[plan->store];
}

/* With turns a tile is stored while the next one is multiplied; passing the turn takes half of a begin. */
static double tile_of(const wgmma_plan *plan, const gemm_costs *c, double stages) {
    double products = stages * stage_of(plan, c), store = c->tile + store_of(plan, c);
    return plan->turns ? model_most(products + c->tile / 2, (products + store) / 2) : products + store;
}

static double megabytes(const wgmma_plan *plan, const mc_problem *p) {
    double m = (double)p->m, n = (double)p->n, k = (double)p->k;
    double pair = (double)out_bytes(plan->problem.output.element, 2);
    return ((m + n) * k * plan->form->bytes + m * n * pair / 2) / (THOUSAND * THOUSAND);
}

double gemm_wgmma_estimate(const void *data, const mc_gpu *gpu, const mc_problem *problem) {
    const wgmma_plan *plan = data;
    const gemm_problem *p = &plan->problem;
    gemm_costs c;
    if (!model_fits(p->m, problem->m) || !model_fits(p->n, problem->n) || !model_fits(p->k, problem->k))
        return INFINITY;
    model_take_costs(&gemm_cost_table, gpu, &c);
    shared_tile rhs = wgmma_rhs(plan);
    double tiles = ceil((double)problem->m / plan->tile_m) * ceil((double)problem->n / plan->tile_n);
    double turns = ceil(tiles / gpu->multiprocessors), stages = ceil((double)problem->k / rhs.k);
    double busy = turns * tile_of(plan, &c, stages);
    /* of turns the last tile is stored by itself */
    if (plan->turns && turns > 0) busy += c.tile + store_of(plan, &c);
    return c.launch + model_most(busy, problem->cold ? megabytes(plan, problem) * c.memory : 0);
}
