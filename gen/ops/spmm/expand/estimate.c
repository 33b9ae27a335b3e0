/* How long an `expand` kernel should take: a multiprocessor's tiles one behind another, each its stages, of
   which shared memory or the tensor cores take most of the time, and its store; and A's way out of memory.
   Fitted on an H200 (docs/measurements.md). */
#include "ops/spmm/expand/expand.h"
#include "ops/spmm/model.h"
#include "parts/bitmap.h"
#include "parts/clusters.h"

enum {
    LINE = 128,       /* bytes that shared memory moves in a clock */
    OCTET_STORES = 8, /* clocks in which a warp stores an octet's 128 k */
    OCTET_LOADS = 4,  /* that loads of an octet take beside one for each 8 vectors */
    PRODUCTS = 4096,  /* of 8-bit integers, a clock of tensor cores */
    PAIR = 8,         /* bytes of a word of bits and its first vector */
};

/* Microseconds: until the first stage is there, without overlap and with it; for each sum of a thread until
   it is stored, and until another thread block of the cluster has it. And how much longer a stage takes than
   its busiest unit. */
static const double begin = 3.4, overlapped = 2.2, store = 0.02, exchange = 0.028, mhz = 1755;
static const double waiting[] = {[1] = 1.4, 1.1}; /* with one consumer, with two */

/* Clocks of a stage whose octets have so many VECTORS. */
static double stage_of(const wgmma_plan *product, double vectors) {
    const double octets = product->tile_n / TILE_LINES, blocks = product->tile_m / WARPGROUP_ROWS;
    const double lhs = product->tile_m, rhs = product->tile_n; /* lines of 128 bytes */
    const double expanded = octets * (OCTET_STORES + OCTET_LOADS + vectors / TILE_LINES),
                 read = lhs + blocks * rhs, products = lhs * rhs * LINE / PRODUCTS;
    return waiting[product->consumers] * model_most(lhs + expanded + read, products);
}

/* Bytes of A's arrays. */
static double packed_of(const spmm_plan *base, const spmm_situation *s, const mc_problem *problem) {
    const double words = ceil((double)problem->k / BITMAP_TILE) * BITMAP_TILE / BITMAP_WORD;
    return s->row_blocks * (s->mean * base->vec + words * PAIR);
}

double spmm_expand_estimate(const void *data, const mc_gpu *gpu, const mc_problem *problem) {
    const expand_plan *plan = data;
    const spmm_plan *base = &plan->base;
    const wgmma_plan *product = &plan->product;
    if (!spmm_can_run(base, problem)) return INFINITY;
    const spmm_situation s = spmm_meet(base, gpu, problem, 0);
    const double parts = product->split, sums = wgmma_sum_registers(product),
                 stages = ceil(ceil((double)problem->k / LINE) / parts),
                 tiles =
                     ceil((double)problem->m / product->tile_n) * ceil((double)problem->n / product->tile_m),
                 there = floor((double)cluster_room(product->split, (int64_t)gpu->multiprocessors) / parts),
                 turns = ceil(tiles / model_most(there, 1));
    const double vectors = s.mean * LINE / model_most((double)problem->k, 1);
    const double behind = sums * (store + (parts > 1 ? exchange : 0));
    const double busy = turns * (stages * stage_of(product, vectors) / mhz + behind);
    const double launch = base->overlap == OVERLAP_OFF ? begin : overlapped;
    return launch + hypot(busy, spmm_unkept_of(&s, packed_of(base, &s, problem)));
}
