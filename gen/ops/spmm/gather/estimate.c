/* The estimate of a gather kernel. The costs are those of staging "direct": shared has not been fitted. */
#include "ops/spmm/gather/gather.h"
#include "ops/spmm/model.h"
#include <math.h>

/* The edge path takes three times as long as the wide one (docs/measurements.md). */
static const double edge_factor = 3;

/* Registers that ptxas 13 gives a thread where A and B have 8 bits: [bytes of a row / 64][steps of a stride -
   1][prefetch]. */
static const int registers[3][2][2] = {
    {{80, 88}, {88, 104}}, {{80, 96}, {104, 120}}, {{112, 120}, {144, 168}}};

static const gather_plan *gather_of(const spmm_situation *s) { return (const gather_plan *)s->plan; }

/* Strides of each of the `split` warps on a row block of VECTORS: at least its head. */
static double strides_of(const gather_plan *plan, double vectors) {
    return spmm_most(1, ceil(ceil(vectors / plan->base.stride) / plan->base.split));
}

/* The part of its rows of B that a multiprocessor finds in L1. These are rows that it asked for before, as
   far as they fit. */
static double hits_of(const spmm_situation *s, double rows) {
    double k = (double)s->problem->k, distinct = k * (1 - exp(-rows / k));
    double fit = spmm_least(1, s->gpu->l1_bytes / (k * spmm_tile_bytes(s->plan)));
    return rows > 0 ? fit * (1 - distinct / rows) : 0;
}

/* Adds the edge path. All thread blocks take it where B's rows are not aligned for the wide path; those of
   the last tile take it where n ends inside of a tile. */
static void add_edge(const spmm_situation *s, spmm_work *w) {
    bool aligned = s->problem->ldb % gather_access_columns(gather_of(s)) == 0,
         whole = s->problem->n % s->plan->tile_n == 0;
    if (aligned && whole) return;
    w->busy *= aligned ? (s->tiles - 1 + edge_factor) / s->tiles : edge_factor;
    w->latency *= edge_factor;
    w->longest *= edge_factor;
}

/* How long a thread block keeps its multiprocessor busy, where the grid has BLOCKS. */
static double busy_of(const spmm_situation *s, double blocks) {
    const gather_plan *plan = gather_of(s);
    const spmm_plan *base = s->plan;
    const mc_gpu *gpu = s->gpu;
    double row_bytes = spmm_tile_bytes(base), vectors = s->mean * base->row_blocks;
    /* the last one half full; at least the heads */
    double each = spmm_most(base->split, s->mean / base->stride + 0.5), strides = base->row_blocks * each;
    double misses = 1 - hits_of(s, vectors * blocks / gpu->multiprocessors);
    double l2 = (vectors * row_bytes * misses + strides * base->stride_a_bytes) / gpu->l2_rate;
    double l1 = vectors * row_bytes / gpu->l1_rate;
    double mma = strides * base->stride_mma * spmm_mma_turns(&base->math, gpu) / gpu->mma_rate;
    double instructions = strides * plan->stride_steps * base->tile_n / 32 * gpu->costs.direct_columns;
    return spmm_overlapped(l2 + l1, spmm_most(mma, instructions));
}

static spmm_work work_of(const spmm_situation *s) {
    const gather_plan *plan = gather_of(s);
    const spmm_plan *base = s->plan;
    const mc_costs *cost = &s->gpu->costs;
    spmm_work w = {.blocks = ceil(s->row_blocks / base->row_blocks) * s->tiles};
    w.resident = spmm_resident_of(s);
    w.busy = busy_of(s, w.blocks);
    double width = cost->direct_width * base->tile_n / 32;
    double step = plan->prefetch ? cost->direct_step : cost->direct_chain;
    double first = cost->direct_chain - step; /* the first stride waits for its indices in any case */
    double around = first + width + (base->split > 1 ? cost->direct_sum : 0);
    step += width * plan->stride_steps;
    w.latency = around + step * strides_of(plan, spmm_longest_of(s, base->row_blocks));
    w.longest = around + step * strides_of(plan, (double)s->problem->longest);
    add_edge(s, &w);
    return w;
}

double spmm_gather_estimate(const void *data, const mc_gpu *gpu, const mc_problem *problem) {
    const gather_plan *plan = data;
    int wanted = registers[spmm_tile_bytes(&plan->base) / 64][plan->stride_steps - 1][plan->prefetch];
    if (!spmm_can_run(&plan->base, problem)) return INFINITY;
    spmm_situation s = spmm_meet(&plan->base, gpu, problem, wanted);
    spmm_work work = work_of(&s);
    return spmm_time_of(&s, &work);
}
