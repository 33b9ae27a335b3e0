/* The estimate of a gather kernel, staging "direct" and "shared". */
#include "ops/spmm/gather/gather.h"
#include "ops/spmm/model.h"

/* Registers that ptxas 13 gives a thread where A and B have 8 bits: [class of the tile][steps of a stride -
   1][prefetch]. */
static const int registers[3][2][2] = {
    {{80, 88}, {88, 104}}, {{80, 96}, {104, 120}}, {{112, 120}, {144, 168}}};

enum { SECTOR = 32 /* bytes that come out of L2 at once */, LEAST_ROW = 64 /* that L1 is busy for a row */ };

static const gather_plan *gather_of(const spmm_situation *s) { return (const gather_plan *)s->plan; }

/* How a thread block passes through its rows of B: as often as its path takes groups of columns. */
typedef struct passes {
    double count, columns; /* of a pass */
    double wanted;         /* columns of these that there are */
    bool edge, single;     /* single: each load takes one element */
    bool copied;           /* through shared memory */
} passes;

static passes wide_passes(const spmm_situation *s) {
    double columns = gather_of(s)->wide.columns;
    return (passes){.count = 1,
                    .columns = columns,
                    .wanted = model_least(columns, (double)s->problem->n),
                    .copied = gather_of(s)->shared};
}

/* Of COLUMNS that are left. */
static passes edge_passes(const spmm_situation *s, double columns) {
    const gather_path *edge = &gather_of(s)->edge;
    double each = GATHER_EDGE_COLUMNS;
    return (passes){.count = model_most(1, ceil(columns / each)),
                    .columns = each,
                    .wanted = model_least(columns, each),
                    .edge = true,
                    .single = edge->unit <= spmm_b_unit(s->plan)};
}

/* Strides of each of the `split` warps on a row block of VECTORS: at least its head. */
static double strides_of(const gather_plan *plan, double vectors) {
    return model_most(1, ceil(ceil(vectors / plan->base.stride) / plan->base.split));
}

/* Bytes of COLUMNS of a row of B, but at least LEAST. */
static double row_bytes(const spmm_situation *s, double columns, double least) {
    return model_most(columns * s->plan->math.b_bits / 8, least);
}

/* The part of its rows of B that a multiprocessor finds in L1. These are rows that it asked for before, as
   far as they fit. Copies to shared memory pass L1 by. */
static double hits_of(const spmm_situation *s, const passes *p, double rows) {
    double k = (double)s->problem->k, distinct = k * (1 - exp(-rows / k));
    double fit = model_least(1, s->gpu->l1_bytes / (k * row_bytes(s, p->wanted, SECTOR)));
    return rows > 0 && !p->copied ? fit * (1 - distinct / rows) : 0;
}

/* Factor of the edge path's loads of one element each. Where a row has one column alone, all of a lane's are
   of the same element. */
static double single_of(const spmm_situation *s, const passes *p) {
    return s->cost.direct_single * (p->wanted > 1 ? s->cost.direct_several : 1);
}

/* How much longer the instructions of a stride take than those of the wide path of staging direct. */
static double instructions_factor(const spmm_situation *s, const passes *p) {
    double groups = s->plan->tile_n > p->columns ? s->cost.direct_groups : 1;
    if (p->edge) return groups * (p->single ? single_of(s, p) : s->cost.direct_edge);
    return p->copied ? s->cost.shared_columns : 1;
}

/* How long a thread block keeps its multiprocessor busy, where the grid has BLOCKS. */
static double busy_of(const spmm_situation *s, const passes *p, double blocks) {
    const gather_plan *plan = gather_of(s);
    const spmm_plan *base = s->plan;
    const mc_gpu *gpu = s->gpu;
    double vectors = s->mean * base->row_blocks;
    /* the last one half full; at least the heads */
    double each = model_most(base->split, s->mean / base->stride + 0.5), strides = base->row_blocks * each;
    double misses = 1 - hits_of(s, p, vectors * blocks / gpu->multiprocessors);
    double l2 = (vectors * row_bytes(s, p->wanted, SECTOR) * misses + strides * base->stride_a_bytes) / 1024;
    double l1 = vectors * row_bytes(s, p->columns, LEAST_ROW) / gpu->l1_rate;
    if (p->copied && spmm_rows_cut_sectors(s)) l1 *= s->cost.shared_narrow;
    double part = p->columns / base->tile_n; /* of a tile's mma */
    double mma = strides * base->stride_mma * part * spmm_mma_turns(&base->math, gpu) / gpu->mma_rate;
    double instructions = strides * plan->stride_steps * p->columns / 32 * s->cost.direct_columns;
    return p->count * spmm_overlapped(l2 * s->cost.l2 + l1, mma + instructions * instructions_factor(s, p));
}

/* Of strides that follow each other in a warp; the first one waits for its indices in any case. */
static double latency_of(const spmm_situation *s, const passes *p, double strides) {
    const gather_plan *plan = gather_of(s);
    const spmm_costs *cost = &s->cost;
    double width = cost->direct_width * p->columns / 32 * (p->single ? single_of(s, p) : 1);
    double slower = p->copied ? cost->shared_step : s->plan->tile_n > p->columns ? cost->direct_groups : 1;
    double next = plan->prefetch ? cost->direct_step : cost->direct_chain;
    double pass = slower * (cost->direct_chain + (strides - 1) * next) + strides * width * plan->stride_steps;
    return p->count * pass + width + (s->plan->split > 1 ? cost->direct_sum : 0);
}

static spmm_work work_by(const spmm_situation *s, const passes *p) {
    const gather_plan *plan = gather_of(s);
    const spmm_plan *base = s->plan;
    spmm_work w = {.blocks = ceil(s->row_blocks / base->row_blocks) * s->tiles,
                   .rows = base->vec * base->row_blocks};
    w.busy = busy_of(s, p, w.blocks);
    w.latency = latency_of(s, p, strides_of(plan, spmm_longest_of(s, base->row_blocks)));
    w.longest = latency_of(s, p, strides_of(plan, (double)s->problem->longest));
    return w;
}

/* All thread blocks take the edge path where there is no wide one for B's rows. Where n ends inside of a tile
   whose columns the wide path does not clamp, those of the last tile take it. */
static spmm_work work_of(const spmm_situation *s) {
    const gather_plan *plan = gather_of(s);
    double n = (double)s->problem->n, tile = s->plan->tile_n, rest = n - tile * (s->tiles - 1);
    bool aligned = plan->wide.emitted && s->problem->ldb % gather_access_columns(plan) == 0;
    bool cut = rest < tile && !plan->wide.clamp;
    const passes wide = wide_passes(s), last = edge_passes(s, rest),
                 edge = edge_passes(s, model_least(n, tile));
    if (!aligned) return work_by(s, &edge);
    spmm_work w = work_by(s, &wide), end = work_by(s, &last);
    if (!cut) return w;
    w.busy = (w.busy * (s->tiles - 1) + end.busy) / s->tiles;
    w.latency = s->tiles > 1 ? model_most(w.latency, end.latency) : end.latency;
    w.longest = s->tiles > 1 ? model_most(w.longest, end.longest) : end.longest;
    return w;
}

double spmm_gather_estimate(const void *data, const mc_gpu *gpu, const mc_problem *problem) {
    const gather_plan *plan = data;
    int wanted = registers[spmm_tile_class(&plan->base)][plan->stride_steps - 1][plan->prefetch];
    if (!spmm_can_run(&plan->base, problem)) return INFINITY;
    if (plan->base.panels) return spmm_gather_estimate_panels(plan, gpu, problem);
    spmm_situation s = spmm_meet(&plan->base, gpu, problem, wanted);
    spmm_work work = work_of(&s);
    work.resident = spmm_resident_of(&s);
    work.memory = spmm_memory_of(&s);
    return spmm_time_of(&s, &work);
}
