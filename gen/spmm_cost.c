/* How long an SpMM kernel should take on a problem: a roofline with latencies, without generating or measuring anything.
 *
 *   plan, problem -> what a thread block does -> how thread blocks share the multiprocessors -> microseconds
 *
 * docs/choice.md says what it is good for; every number is gpu.c's. */
#include "fragment.h"
#include "spmm.h"
#include "windowed.h"
#include <math.h>

enum {
    MAX_BLOCKS = 32,        /* thread blocks a multiprocessor (programming guide, as next) */
    BLOCK_SHARED = 1 << 10, /* bytes of shared memory that a thread block takes beside its own */
    REGISTER_UNIT = 8,
    QUARTERS = 4 * MC_WARP, /* threads: each quarter of a multiprocessor has its own registers */
    MAX_TILES = 65535,      /* thread blocks of the grid's second axis */
};

typedef struct situation {
    const spmm_plan *plan;
    const mc_gpu *gpu;
    const mc_problem *problem;
    double row_blocks, mean; /* mean: vectors of a row block */
    double tiles;            /* of columns */
} situation;

/* A thread block's share of a kernel. */
typedef struct block_work {
    double blocks;   /* of the grid */
    double resident; /* that a multiprocessor holds at once */
    double busy;     /* us that it keeps its multiprocessor busy */
    double latency;  /* us that it lasts at least, by what waits for what: the average, */
    double longest;  /* and where the longest row block is */
} block_work;

/* The direct kernel's edge path takes three times as long as the wide one (docs/measurements.md). */
static const double edge_factor = 3;

static double least(double a, double b) { return a < b ? a : b; }
static double most(double a, double b) { return a > b ? a : b; }

/* A little above the larger: neither hides the other completely. */
static double overlapped(double a, double b) { return cbrt(a * a * a + b * b * b); }

/* About what ptxas gives a thread: accumulators, rows of B in flight, indices of the next stride. */
static double registers_of(const spmm_plan *plan) {
    int acc = plan->tile_n / 4, used = 40 + 2 * acc + (plan->resident ? 8 : 0);
    if (plan->staging == SPMM_DIRECT)
        used = 40 + acc + plan->stride_steps * (acc + (plan->prefetch ? 10 : 0));
    return (used + REGISTER_UNIT - 1) / REGISTER_UNIT * REGISTER_UNIT;
}

static double resident_of(const spmm_plan *plan, const mc_gpu *gpu) {
    double by_threads = gpu->threads / (unsigned)plan->threads;
    int quarters = (plan->threads + QUARTERS - 1) / QUARTERS * QUARTERS;
    double given = registers_of(plan) * (plan->threads > QUARTERS ? quarters : plan->threads);
    double by_registers = floor(gpu->registers / given);
    double by_shared = gpu->shared_bytes / (plan->shared_bytes + BLOCK_SHARED);
    return most(1, least(least(by_threads, MAX_BLOCKS), least(by_registers, by_shared)));
}

/* The longest of COUNT (a power of two) row blocks, whose lengths are about normal: half a standard deviation for each
   doubling is close up to 16. */
static double longest_of(const situation *s, int count) {
    return least((double)s->problem->longest, s->mean + s->problem->spread * log2(count) / 2);
}

/* -- Staging "direct" --------------------------------------------------------------------------------- */

/* Strides of a warp, one of `split` on a row block of VECTORS: at least its head. */
static double strides_of(const spmm_plan *plan, double vectors) {
    return most(1, ceil(ceil(vectors / plan->stride) / plan->split));
}

/* The part of B's rows that a multiprocessor finds in L1: rows that it asked for before, as far as they fit. */
static double hits_of(const situation *s, double rows) {
    double k = (double)s->problem->k, distinct = k * (1 - exp(-rows / k));
    double fit = least(1, s->gpu->l1_bytes / (k * s->plan->tile_n));
    return rows > 0 ? fit * (1 - distinct / rows) : 0;
}

/* Where B's rows are not aligned for the wide path, all thread blocks take the edge path; where n ends inside of a tile, those of
   the last tile. */
static void add_edge(const situation *s, block_work *w) {
    bool aligned = s->problem->ldb % (s->plan->tile_n / 8) == 0, whole = s->problem->n % s->plan->tile_n == 0;
    if (aligned && whole) return;
    w->busy *= aligned ? (s->tiles - 1 + edge_factor) / s->tiles : edge_factor;
    w->latency *= edge_factor;
    w->longest *= edge_factor;
}

static block_work direct_work(const situation *s) {
    const spmm_plan *plan = s->plan;
    const mc_costs *cost = &s->gpu->costs;
    block_work w = {.blocks = ceil(s->row_blocks / plan->row_blocks) * s->tiles};
    w.resident = resident_of(plan, s->gpu);

    double vectors = s->mean * plan->row_blocks;
    double each = most(plan->split, s->mean / plan->stride + 0.5); /* the last one half full; heads */
    double strides = plan->row_blocks * each;
    double misses = 1 - hits_of(s, vectors * w.blocks / s->gpu->multiprocessors);
    double l2 = (vectors * plan->tile_n * misses + strides * plan->stride_a_bytes) / s->gpu->l2_rate;
    double l1 = vectors * plan->tile_n / s->gpu->l1_rate;
    double mma = strides * plan->stride_mma / s->gpu->mma_rate;
    double instructions = strides * plan->stride_steps * plan->tile_n / 32 * cost->direct_columns;
    w.busy = overlapped(l2 + l1, most(mma, instructions));

    double width = cost->direct_width * plan->tile_n / 32;
    double step = (plan->prefetch ? cost->direct_step : cost->direct_chain) + width * plan->stride_steps;
    double around = width + (plan->split > 1 ? cost->direct_sum : 0);
    w.latency = around + step * strides_of(plan, longest_of(s, plan->row_blocks));
    w.longest = around + step * strides_of(plan, (double)s->problem->longest);
    add_edge(s, &w);
    return w;
}

/* -- Stagings "tma" and "async" ----------------------------------------------------------------------- */

/* The costs are those of tma: async has not been measured. */

/* Strides of a row block: 32 vectors each if there are as many in the windows that the ring holds, else as many as there
   are. */
static double ring_strides(const situation *s, double windows) {
    const spmm_plan *plan = s->plan;
    double span = windows <= plan->stages ? windows : plan->stages > 2 ? plan->stages - 1 : 1;
    double there = s->mean * span / windows, full = s->mean / WINDOWED_SLOTS + 0.5;
    double sparse = windows > span ? windows / span * most(0, 1 - there / (1.5 * WINDOWED_SLOTS)) : 0;
    return most(1, full + sparse);
}

/* Row blocks that a warp takes in turn: one, or where the thread blocks stay, what is left for each (contract->turn_k). */
static double turns_of(const situation *s, double blocks, double resident) {
    const spmm_plan *plan = s->plan;
    if (!plan->resident || s->problem->k > (int64_t)plan->window * plan->stages) return 1;
    double held = most(1, floor(s->gpu->multiprocessors * resident / most(1, s->tiles)));
    return most(1, ceil(blocks / held));
}

/* How much longer the longest warp takes than the average, with TURNS row blocks of which few are the longest. */
static double ring_longer(const situation *s, double turns) {
    double longest = least((double)s->problem->longest, s->mean + 1.5 * s->problem->spread / sqrt(turns));
    return s->mean > 0 ? most(1, longest / s->mean) : 1;
}

static block_work ring_work(const situation *s) {
    const spmm_plan *plan = s->plan;
    const mc_costs *cost = &s->gpu->costs;
    double blocks = ceil(s->row_blocks / plan->row_blocks), resident = resident_of(plan, s->gpu);
    double turns = turns_of(s, blocks, resident);
    block_work w = {.blocks = ceil(blocks / turns) * s->tiles, .resident = resident};

    double windows = most(1, ceil((double)s->problem->k / plan->window));
    double warp_strides = turns * ring_strides(s, windows), strides = plan->row_blocks * warp_strides;
    double copied = (double)s->problem->k * plan->tile_n / 1024 * cost->ring_copy;
    double packed = strides * plan->stride_a_bytes / s->gpu->l2_rate;
    double shared = strides * WINDOWED_SLOTS * plan->tile_n / s->gpu->shared_rate;
    double mma = strides * plan->stride_mma / s->gpu->mma_rate;
    double instructions = plan->row_blocks * windows * cost->ring_leave;
    w.busy = overlapped(copied + packed, shared + mma + instructions);
    w.latency = cost->ring_block + windows * cost->ring_window + (turns - 1) * cost->ring_turn +
                warp_strides * ring_longer(s, turns) * cost->ring_step;
    w.longest = w.latency;
    return w;
}

/* -- The whole ---------------------------------------------------------------------------------------- */

static double time_of(const block_work *w, const situation *s) {
    const mc_costs *cost = &s->gpu->costs;
    double each = w->blocks / s->gpu->multiprocessors, latency = w->longest;
    double start = cost->start + cost->start_warp * s->plan->threads / MC_WARP,
           busy = ceil(each) * (w->busy + start);
    if (ceil(each) > w->resident) {
        double waves = each / w->resident + cost->tail;
        latency = most(w->longest, waves * w->latency);
        busy = waves * w->resident * (w->busy + start);
    }
    double c_bytes =
        (double)s->problem->m * (double)s->problem->n * spmm_element_bytes(s->plan->output.element);
    double stored = c_bytes / (s->gpu->store_rate * s->gpu->multiprocessors);
    return cost->launch + overlapped(latency, busy + stored);
}

/* What the spec fixes must be the problem's; copies into the ring want aligned rows. */
static bool can_run(const spmm_plan *plan, const mc_problem *p) {
    const int64_t pairs[][2] = {{plan->m, p->m}, {plan->n, p->n}, {plan->k, p->k}, {plan->ldb, p->ldb}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (pairs[i][0] != MC_OPEN && pairs[i][0] != pairs[i][1]) return false;
    if (p->n > (int64_t)MAX_TILES * plan->tile_n) return false;
    return plan->staging == SPMM_DIRECT || p->ldb % spmm_copy_unit(plan) == 0;
}

double spmm_estimate(const void *data, const mc_gpu *gpu, const mc_problem *problem) {
    situation s = {.plan = data, .gpu = gpu, .problem = problem};
    if (!can_run(s.plan, problem)) return INFINITY;
    s.row_blocks = ceil((double)problem->m / SPMM_VEC);
    s.mean = s.row_blocks > 0 ? (double)problem->vectors / s.row_blocks : 0;
    s.tiles = ceil((double)problem->n / s.plan->tile_n);
    block_work work = s.plan->staging == SPMM_DIRECT ? direct_work(&s) : ring_work(&s);
    return time_of(&work, &s);
}
