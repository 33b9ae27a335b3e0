/* How long an mma kernel should take. A multiprocessor holds a few thread blocks, which take their stages
   side by side: the tensor cores multiply for all of them, or shared memory is read, or the copies of all
   arrive, or each waits for its own. What lies between tiles one thread block does while others multiply. */
#include "ops/gemm/costs.h"
#include "ops/gemm/mma/mma.h"
#include "ops/gemm/solvers.h"
#include "parts/model.h"

enum { THOUSAND = 1024, REGISTERS = 65536, OTHERS = 44, MOST_REGISTERS = 255 };
enum { EMULATED = 3 }; /* times as long takes an mma that ptxas makes of others: two, and conversions */

/* Registers of a thread: sums, two steps' operands, and others. */
static double registers_of(const mma_plan *plan) {
    double sums = plan->warp_m * plan->warp_n / 32.0, columns = plan->warp_n * mma_b_regs(plan) / 2.0;
    double operands = (plan->warp_m + columns) / 2.0;
    return model_least(sums + operands + OTHERS, MOST_REGISTERS);
}

/* Thread blocks that a multiprocessor holds. */
static double held_by(const mma_plan *plan, const mc_gpu *gpu) {
    double threads = mma_threads(plan);
    double by_shared = floor(gpu->shared_bytes / (double)(mma_shared_bytes(plan) + MODEL_BLOCK_SHARED));
    double by_registers = floor(REGISTERS / (threads * registers_of(plan)));
    double held = model_least(model_least(by_shared, by_registers), floor(gpu->threads / threads));
    return model_most(held, 1);
}

/* Bytes that go through shared memory for a stage: copied once, and read by each warp. */
static double shared_traffic(const mma_plan *plan) {
    double columns = plan->warp_n * (mma_b_regs(plan) / (double)MMA_B_REGS);
    double read = (plan->warp_m + columns) * plan->span * mma_warps(plan);
    return read + mma_stage_bytes(plan);
}

/* A stage of HELD tiles. Copies of fewer bytes take as long as those of 16, and elements' loads too. */
static double stage_of(const mma_plan *plan, const mc_gpu *gpu, const gemm_costs *c, double held) {
    double count = (double)plan->tile_m * plan->tile_n / (MMA_ROWS * MMA_COLUMNS) * mma_steps(plan);
    if (plan->form.emulated) count *= EMULATED;
    double products = model_most(count / gpu->mma_rate, shared_traffic(plan) / gpu->shared_rate);
    double pieces = COPY_WIDEST / (double)(mma_by_element(plan) ? plan->form.bytes : plan->copy);
    double waiting = c->latency / (plan->stages > 2 ? plan->stages - 1 : 1);
    double filling = (double)mma_stage_bytes(plan) / THOUSAND * c->fill * pieces;
    return model_most(held * products, model_most(waiting, held * filling));
}

static double megabytes(const mma_plan *plan, const mc_problem *p) {
    double m = (double)p->m, n = (double)p->n, k = (double)p->k;
    double pair = (double)out_bytes(plan->problem.output.element, 2);
    double element = plan->form.bytes / (double)mma_held(plan);
    return gemm_products(p) * ((m + n) * k * element + m * n * pair / 2) / (THOUSAND * THOUSAND);
}

/* A round of tiles, HELD a multiprocessor, of STAGES stages: two of three tiles are stored while others are
   multiplied, where there are others. */
static double round_of(const mma_plan *plan, const mc_gpu *gpu, const gemm_costs *c, double held,
                       double stages) {
    double store = (double)plan->tile_m * plan->tile_n / THOUSAND * (plan->store > 1 ? c->pairs : c->single);
    return stages * stage_of(plan, gpu, c, held) + c->tile + store * (held + 2) / 3;
}

double gemm_mma_estimate(const void *data, const mc_gpu *gpu, const mc_problem *problem) {
    const mma_plan *plan = data;
    const gemm_problem *p = &plan->problem;
    gemm_costs c;
    if (!model_fits(p->m, problem->m) || !model_fits(p->n, problem->n) || !model_fits(p->k, problem->k))
        return INFINITY;
    model_take_costs(&gemm_cost_table, gpu, &c);
    double tiles = gemm_products(problem) * ceil((double)problem->m / plan->tile_m) *
                   ceil((double)problem->n / plan->tile_n);
    double held = held_by(plan, gpu), whole = floor(tiles / (held * gpu->multiprocessors));
    double rest = ceil((tiles - whole * held * gpu->multiprocessors) / gpu->multiprocessors);
    double stages = ceil((double)problem->k / mma_stage_k(plan)),
           busy = whole * round_of(plan, gpu, &c, held, stages);
    if (rest > 0) busy += round_of(plan, gpu, &c, rest, stages);
    return c.launch + model_most(busy, problem->cold ? megabytes(plan, problem) * c.memory : 0);
}
