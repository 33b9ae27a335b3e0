/* How long a transposed product should take: the steps of a warp one behind another, or what all warps of a
   multiprocessor want of its schedulers and of its shared memory. */
#include "ops/spmmt/costs.h"
#include "ops/spmmt/spmmt.h"
#include "parts/model.h"

enum { SCHEDULERS = 4 };

/* Of one part: what is taken together, one row block or two, and the mean number of vectors and of columns
   that these have in it. */
typedef struct part_load {
    double row_blocks, vectors, columns;
} part_load;

static part_load load_of(const spmmt_plan *plan, const mc_problem *problem) {
    double row_blocks = (double)problem->m / plan->vec, k = model_most((double)problem->k, plan->warp_k),
           vectors = (double)problem->vectors / row_blocks * plan->warp_k / k, part = vectors / plan->warp_k,
           columns = plan->blocks > 1 ? vectors * (2 - part) : vectors;
    return (part_load){row_blocks / plan->blocks, vectors * plan->blocks, columns};
}

/* Steps: whole ones, of which the last is half empty, and at least one. */
static double steps_of(const spmmt_plan *plan, const part_load *load) {
    double steps = load->columns / plan->slots;
    return model_most(1, steps + 0.5 * (1 - exp(-steps)));
}

static double latency_of(const spmmt_plan *plan, const spmmt_costs *c, const part_load *load) {
    double each = c->step + c->slot * (plan->mmas * spmmt_halves(plan) - 1);
    return load->row_blocks * steps_of(plan, load) * each;
}

static double issue_of(const spmmt_plan *plan, const spmmt_costs *c, const part_load *load) {
    double each = c->issue + c->work * plan->mmas * spmmt_halves(plan) * (1 + plan->blocks) / 2;
    return load->row_blocks * steps_of(plan, load) * each * spmmt_warps(plan) / SCHEDULERS;
}

/* A row of accumulators is read and written; a vector and its slot are read; so are a row block's rows of
   B, in each step. */
static double shared_of(const spmmt_plan *plan, const spmmt_costs *c, const part_load *load) {
    double rows = load->columns * plan->warp_n * 2 * WORD * (1 + c->conflict),
           vectors = load->vectors * (plan->vec + 1) * SPMMT_ELEMENT,
           b = steps_of(plan, load) * plan->fragments * SPMMT_COLUMNS * SPMMT_COPY;
    return load->row_blocks * (rows + vectors + b) * spmmt_warps(plan) / 1024 * c->shared;
}

/* Bytes of A and B that all thread blocks read, in megabytes. */
static double bytes_of(const spmmt_plan *plan, const mc_problem *problem, double tiles_k, double tiles_n) {
    double a = (double)problem->vectors * (plan->vec + 1) * SPMMT_ELEMENT * tiles_n,
           b = (double)problem->m * plan->tile_n * SPMMT_ELEMENT * tiles_k * tiles_n;
    return (a + b) / (1 << 20);
}

/* Thread blocks that a multiprocessor holds. */
static double held_of(const spmmt_plan *plan, const mc_gpu *gpu) {
    double shared = (double)gpu->shared_bytes / (spmmt_shared_bytes(plan) + MODEL_BLOCK_SHARED),
           registers = (double)gpu->registers / (spmmt_registers(plan) * spmmt_threads(plan));
    return model_most(1, floor(model_least(shared, registers)));
}

double spmmt_estimate(const void *data, const mc_gpu *gpu, const mc_problem *problem) {
    const spmmt_plan *plan = data;
    spmmt_costs c;
    if (!model_fits(plan->m, problem->m) || !model_fits(plan->n, problem->n) ||
        !model_fits(plan->k, problem->k))
        return INFINITY;
    model_take_costs(&spmmt_cost_table, gpu, &c);
    if (problem->m == 0 || problem->n == 0 || problem->k == 0) return c.launch;
    const part_load load = load_of(plan, problem);
    double tiles_k = ceil((double)problem->k / plan->tile_k),
           tiles_n = ceil((double)problem->n / plan->tile_n);
    double held = held_of(plan, gpu);
    double waves = ceil(tiles_k * tiles_n / (gpu->multiprocessors * held)),
           busy = ceil(tiles_k * tiles_n / gpu->multiprocessors);
    double shares = model_most(issue_of(plan, &c, &load), shared_of(plan, &c, &load)) * busy;
    double reads = bytes_of(plan, problem, tiles_k, tiles_n) * (problem->cold ? c.memory : c.l2);
    double tile = spmmt_stages_at(plan) / 1024.0 * c.tile * busy;
    return c.launch + tile + hypot(latency_of(plan, &c, &load) * waves, model_most(shares, reads));
}
