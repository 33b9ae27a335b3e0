/* How long an SpMM kernel should take on a problem. The model is a roofline with latencies; nothing is
 * generated or measured for it.
 *
 *   plan, problem -> what a thread block does -> how thread blocks share the multiprocessors -> microseconds
 *
 * docs/choice.md says what it is good for. All of its numbers are in gen/arch/gpu.c. */
#include "parts/fragment.h"
#include "ops/spmm/spmm.h"
#include "parts/windowed.h"
#include <math.h>

enum {
    MAX_BLOCKS = 32,        /* thread blocks a multiprocessor (programming guide, as next) */
    BLOCK_SHARED = 1 << 10, /* bytes of shared memory that a thread block takes beside its own */
    REGISTER_UNIT = 8,
    FOUR_WARPS = 4 * MC_WARP,
    MAX_TILES = 65535, /* thread blocks of the grid's second axis */
};

typedef struct situation {
    const spmm_plan *plan;
    const mc_gpu *gpu;
    const mc_problem *problem;
    double row_blocks, mean; /* mean: vectors of a row block */
    double tiles;            /* tiles of columns */
} situation;

/* A thread block's share of a kernel. */
typedef struct block_work {
    double blocks;   /* of the grid */
    double resident; /* thread blocks that a multiprocessor holds at once */
    double busy;     /* us that it keeps its multiprocessor busy */
    double latency;  /* us that it lasts at least, by what waits for what: on average */
    double longest;  /* the same of the thread block with the longest row block */
} block_work;

/* The direct kernel's edge path takes three times as long as the wide one (docs/measurements.md). */
static const double edge_factor = 3;

/* A kernel whose ring all threads fill by cp.async takes so much longer than one whose ring tensor copies
   fill: the best of 24 variants each, on an H200 (docs/measurements.md). */
static const double async_factor = 1.16;

static double least(double a, double b) { return a < b ? a : b; }
static double most(double a, double b) { return a > b ? a : b; }

/* What A and B take together: a little more than the larger one, since neither hides the other completely. */
static double overlapped(double a, double b) { return cbrt(a * a * a + b * b * b); }

/* -- Thread blocks that a multiprocessor holds -------------------------------------------------------- */

/* Bytes of a row of B that a thread block's tile takes. */
static int row_bytes(const spmm_plan *plan) { return (int)side_row_bytes(plan->rhs, plan->tile_n); }

/* Registers that ptxas 13 gives a thread where A and B have 8 bits. direct: [bytes of a row / 64][steps of a
   stride - 1][prefetch]; ring: [bytes of a row / 64][resident]. */
static const int direct_registers[3][2][2] = {
    {{80, 88}, {88, 104}}, {{80, 96}, {104, 120}}, {{112, 120}, {144, 168}}};
static const int ring_registers[3][2] = {{56, 64}, {72, 80}, {112, 128}};

/* The accumulators that a thread has more with other types: for each weight, and each column. */
static int more_accumulators(const spmm_plan *plan) {
    return (plan->tile_n * plan->sums - row_bytes(plan)) / 4;
}

static int registers_wanted(const spmm_plan *plan) {
    int tile = row_bytes(plan) / 64, more = more_accumulators(plan);
    if (spmm_is_ring(plan)) return ring_registers[tile][plan->resident] + more;
    return direct_registers[tile][plan->stride_steps - 1][plan->prefetch] + more;
}

/* Threads, rounded up to four warps: each quarter of a multiprocessor has a quarter of its registers. */
static int whole_fours(const spmm_plan *plan) {
    return (plan->threads + FOUR_WARPS - 1) / FOUR_WARPS * FOUR_WARPS;
}

/* Registers that a thread has: no more than leave room for one thread block, since the generator limits them
   (kernel.c). */
static int registers_of(const spmm_plan *plan, const mc_gpu *gpu) {
    int room = (int)gpu->registers / whole_fours(plan) / REGISTER_UNIT * REGISTER_UNIT;
    int wanted = registers_wanted(plan);
    return wanted < room ? wanted : room;
}

static double held_beside_registers(const spmm_plan *plan, const mc_gpu *gpu) {
    double by_threads = floor(gpu->threads / (double)plan->threads);
    double by_shared = floor(gpu->shared_bytes / (plan->shared_bytes + BLOCK_SHARED));
    return least(least(by_threads, MAX_BLOCKS), by_shared);
}

/* Thread blocks that a multiprocessor holds at once. A quarter of it takes whole warps of any thread
   block. */
static double resident_of(const spmm_plan *plan, const mc_gpu *gpu) {
    double warps = 4 * floor(gpu->registers / (4.0 * MC_WARP * registers_of(plan, gpu)));
    return most(1, least(held_beside_registers(plan, gpu), floor(warps * MC_WARP / plan->threads)));
}

/* Thread blocks a multiprocessor that a launch counts on whose thread blocks stay (contract->blocks_per_sm):
   these have whole fours of warps each. */
static double counted_on(const spmm_plan *plan, const mc_gpu *gpu) {
    double by_registers = floor(gpu->registers / (double)(whole_fours(plan) * registers_of(plan, gpu)));
    return most(1, least(held_beside_registers(plan, gpu), by_registers));
}

/* The expected longest of COUNT row blocks, a power of two. Their lengths are about normal: half a standard
   deviation for each doubling is close up to 16. */
static double longest_of(const situation *s, int count) {
    return least((double)s->problem->longest, s->mean + s->problem->spread * log2(count) / 2);
}

/* -- Stagings "direct" and "shared" ------------------------------------------------------------------- */

/* The costs are those of direct: shared has not been fitted. */

/* Strides of each of the `split` warps on a row block of VECTORS: at least its head. */
static double strides_of(const spmm_plan *plan, double vectors) {
    return most(1, ceil(ceil(vectors / plan->stride) / plan->split));
}

/* The part of its rows of B that a multiprocessor finds in L1. These are rows that it asked for before, as
   far as they fit. */
static double hits_of(const situation *s, double rows) {
    double k = (double)s->problem->k, distinct = k * (1 - exp(-rows / k));
    double fit = least(1, s->gpu->l1_bytes / (k * row_bytes(s->plan)));
    return rows > 0 ? fit * (1 - distinct / rows) : 0;
}

/* Adds the edge path. All thread blocks take it where B's rows are not aligned for the wide path; those of
   the last tile take it where n ends inside of a tile. */
static void add_edge(const situation *s, block_work *w) {
    bool aligned = s->problem->ldb % spmm_access_columns(s->plan) == 0,
         whole = s->problem->n % s->plan->tile_n == 0;
    if (aligned && whole) return;
    w->busy *= aligned ? (s->tiles - 1 + edge_factor) / s->tiles : edge_factor;
    w->latency *= edge_factor;
    w->longest *= edge_factor;
}

/* How many 8-bit m16n8k32 an mma takes the time of. A 4-bit mma takes that of half a one for 32 slots. Where
   ptxas makes several instructions of it an H200 does 45 TOPS, of 8-bit ones 1240. */
static double mma_turns(const spmm_plan *plan, const mc_gpu *gpu) {
    if (!plan->int4) return 1;
    double turns = plan->depth / 64.0;
    const mc_arch *arch = arch_of_capability(gpu->capability);
    return arch && arch->int4 ? turns : turns * 2 * 1240 / 45;
}

static block_work direct_work(const situation *s) {
    const spmm_plan *plan = s->plan;
    const mc_costs *cost = &s->gpu->costs;
    block_work w = {.blocks = ceil(s->row_blocks / plan->row_blocks) * s->tiles};
    w.resident = resident_of(plan, s->gpu);

    double vectors = s->mean * plan->row_blocks;
    /* the last one half full; at least the heads */
    double each = most(plan->split, s->mean / plan->stride + 0.5);
    double strides = plan->row_blocks * each;
    double misses = 1 - hits_of(s, vectors * w.blocks / s->gpu->multiprocessors);
    double l2 = (vectors * row_bytes(plan) * misses + strides * plan->stride_a_bytes) / s->gpu->l2_rate;
    double l1 = vectors * row_bytes(plan) / s->gpu->l1_rate;
    double mma = strides * plan->stride_mma * mma_turns(plan, s->gpu) / s->gpu->mma_rate;
    double instructions = strides * plan->stride_steps * plan->tile_n / 32 * cost->direct_columns;
    w.busy = overlapped(l2 + l1, most(mma, instructions));

    double width = cost->direct_width * plan->tile_n / 32;
    double step = plan->prefetch ? cost->direct_step : cost->direct_chain;
    double first = cost->direct_chain - step; /* the first stride waits for its indices in any case */
    double around = first + width + (plan->split > 1 ? cost->direct_sum : 0);
    step += width * plan->stride_steps;
    w.latency = around + step * strides_of(plan, longest_of(s, plan->row_blocks));
    w.longest = around + step * strides_of(plan, (double)s->problem->longest);
    add_edge(s, &w);
    return w;
}

/* -- Stagings "tma" and "async" ----------------------------------------------------------------------- */

/* The costs are those of tma; async_factor makes async of them. */

static double windows_of(const situation *s) {
    return most(1, ceil((double)s->problem->k / s->plan->window));
}

/* Time of a window's copy. What of it lies beyond k is filled with zeros, which takes as long. */
static double copy_of(const situation *s) {
    return s->plan->window * (double)row_bytes(s->plan) / 1024 * s->gpu->costs.ring_copy;
}

/* Strides of a row block of VECTORS. A stride has 32 of them if there are as many in the windows that the
   ring holds, else as many as there are. UNUSED is the part of the last stride that is padding. */
static double ring_strides(const situation *s, double vectors, double unused) {
    const spmm_plan *plan = s->plan;
    double windows = windows_of(s);
    double span = windows <= plan->stages ? windows : plan->stages > 2 ? plan->stages - 1 : 1;
    double there = vectors * span / windows, full = vectors / WINDOWED_SLOTS + unused;
    double sparse = windows > span ? windows / span * most(0, 1 - there / (1.5 * WINDOWED_SLOTS)) : 0;
    return most(1, full + sparse);
}

/* Strides of the row block's longest part. They are dealt out to the parts in turn. */
static double part_strides(const situation *s, double vectors) {
    double split = s->plan->split;
    return most(1, (ring_strides(s, vectors, 0.5) + (split - 1) / 2) / split);
}

/* Row blocks that a warp takes in turn. It is one, or what is left for each thread block where these stay
   (contract->turn_k). */
static double turns_of(const situation *s, double blocks) {
    const spmm_plan *plan = s->plan;
    if (!plan->resident || s->problem->k > (int64_t)plan->window * plan->stages) return 1;
    double held = floor(s->gpu->multiprocessors * counted_on(plan, s->gpu) / most(1, s->tiles));
    return most(1, ceil(blocks / most(1, held)));
}

/* Latency of a stride. It is longer where registers are short, by spills and by loads that are not ahead. */
static double ring_step(const situation *s) {
    double given = registers_of(s->plan, s->gpu), lacking = registers_wanted(s->plan) - given;
    return s->gpu->costs.ring_step * (1 + s->gpu->costs.ring_cramped * lacking / given);
}

/* Adds how long a thread block lasts. Row blocks come longest first, so that the first one of a thread block
   is its longest. Two turns are mirrored, and so come to about the same for every warp (ring_rows.c). */
static void add_ring_latency(const situation *s, double turns, block_work *w) {
    const spmm_plan *plan = s->plan;
    const mc_costs *cost = &s->gpu->costs;
    double windows = windows_of(s), filled = least(windows, plan->stages), step = ring_step(s);
    double around =
        cost->ring_block + copy_of(s) + filled * cost->ring_window + (windows - filled) * cost->ring_refill;
    if (plan->resident) around += cost->ring_stay + (turns - 1) * cost->ring_turn;
    double turn = plan->split > 1 ? cost->ring_sum : 0;
    double average = turns > 1 ? s->mean : longest_of(s, plan->row_blocks);
    double longest = turns > 1 ? s->mean : (double)s->problem->longest;
    w->latency = around + turns * (turn + step * part_strides(s, average));
    w->longest = around + turns * (turn + step * part_strides(s, longest));
}

static block_work ring_work(const situation *s) {
    const spmm_plan *plan = s->plan;
    double blocks = ceil(s->row_blocks / plan->row_blocks), turns = turns_of(s, blocks);
    block_work w = {.blocks = ceil(blocks / turns) * s->tiles, .resident = resident_of(plan, s->gpu)};

    double windows = windows_of(s);
    double strides =
        turns * plan->row_blocks * ring_strides(s, s->mean, 0.25); /* an empty half is not read */
    double packed = strides * plan->stride_a_bytes / s->gpu->l2_rate;
    double shared = strides * WINDOWED_SLOTS * row_bytes(plan) / s->gpu->shared_rate;
    double mma = strides * plan->stride_mma / s->gpu->mma_rate;
    double leaving = plan->warps * windows * s->gpu->costs.ring_leave;
    w.busy = overlapped(windows * copy_of(s) + packed, shared + mma + leaving);
    add_ring_latency(s, turns, &w);
    return w;
}

/* -- The whole ---------------------------------------------------------------------------------------- */

/* How many thread blocks the multiprocessor has that has most of them; EACH is their number where all have
   the same. With overlap they begin while some multiprocessors have room and others have none yet, so that
   the numbers are not even: up to twice a share meets. */
static double busiest(const situation *s, double each, double resident) {
    if (!s->plan->overlap) return each;
    return each + s->gpu->costs.uneven * most(0, least(resident, 2 * each) - each);
}

static double time_of(const block_work *w, const situation *s) {
    const mc_costs *cost = &s->gpu->costs;
    double start = cost->start_warp * s->plan->threads / MC_WARP;
    double each = w->blocks / s->gpu->multiprocessors, latency = w->longest + start;
    double busy = busiest(s, ceil(each), w->resident) * (w->busy + start);
    if (ceil(each) > w->resident) {
        double waves = each / w->resident + cost->tail;
        latency = most(latency, waves * (w->latency + start));
        busy = waves * w->resident * (w->busy + start);
    }
    double c_bytes =
        s->row_blocks * s->plan->vec * (double)s->problem->n * out_element_bytes(s->plan->output.element);
    double stored = c_bytes / (s->gpu->store_rate * s->gpu->multiprocessors);
    if (!s->plan->overlap) return cost->launch + cost->alone + overlapped(latency, busy + stored);
    return cost->launch + overlapped(overlapped(latency, busy + stored), each * cost->begin);
}

/* Whether the kernel can run the problem: what its spec fixes must be the problem's, and copies into the ring
   want aligned rows. */
static bool can_run(const spmm_plan *plan, const mc_problem *p) {
    const int64_t pairs[][2] = {{plan->m, p->m}, {plan->n, p->n}, {plan->k, p->k}, {plan->ldb, p->ldb}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (pairs[i][0] != MC_OPEN && pairs[i][0] != pairs[i][1]) return false;
    if (p->n > (int64_t)MAX_TILES * plan->tile_n) return false;
    return !spmm_is_ring(plan) || p->ldb % spmm_ldb_unit(plan) == 0;
}

double spmm_estimate(const void *data, const mc_gpu *gpu, const mc_problem *problem) {
    situation s = {.plan = data, .gpu = gpu, .problem = problem};
    if (!can_run(s.plan, problem)) return INFINITY;
    s.row_blocks = ceil((double)problem->m / s.plan->vec);
    s.mean = s.row_blocks > 0 ? (double)problem->vectors / s.row_blocks : 0;
    if (problem->batch > 1) s.row_blocks *= (double)problem->batch;
    s.tiles = ceil((double)problem->n / s.plan->tile_n);
    block_work work = spmm_is_ring(s.plan) ? ring_work(&s) : direct_work(&s);
    return time_of(&work, &s) * (s.plan->staging == SPMM_ASYNC ? async_factor : 1);
}
