/* How long a kernel of dense fragments should take: a multiprocessor's thread blocks one behind another, each
   its stages, its sums' way to the thread blocks that finish them, and its store; and A's way out of memory.
   A stage takes as long as shared memory, the tensor cores or one warp's chain of instructions, whichever
   takes longest. Fitted on an H200 (docs/measurements.md, 2026-11-29). */
#include "ops/spmm/fragments/fragments.h"
#include "ops/spmm/model.h"
#include "parts/clusters.h"

enum {
    PRODUCTS = 4096,    /* of 8-bit integers, a clock of tensor cores */
    SHARED_BYTES = 128, /* a clock of shared memory */
};

/* us: of a launch, after another one that it waits for, or whose end covers its beginning. `crowd`: how much
   longer shared memory or the tensor cores take than they need. Clocks: of a step's bits and words beside its
   wgmma; of a thread's sum on its way to C; of 1024 bytes of sums on their way to another thread block, and
   of the wait for them. `apart`: how much longer stages of pieces take. */
static const double begin = 2.8, overlapped = 1.6, mhz = 1755, crowd = 1.15, step = 70, store = 37, sent = 77,
                    awaited = 800, apart = 1.6;

/* Which share of the pairs of columns has a slot: those where one of the two has a vector. */
static double slots_of(const spmm_situation *s, const mc_problem *problem) {
    const double empty = 1 - s->mean / model_most((double)problem->k, 1);
    return 1 - empty * empty;
}

static double packed_of(const spmm_plan *base, const spmm_situation *s, const mc_problem *problem) {
    const double words = ceil((double)problem->k / FRAGMENTS_K) * FRAGMENTS_STEPS;
    return s->row_blocks * ((double)problem->k * slots_of(s, problem) * base->vec + words * WORD);
}

/* Clocks of a stage where TOGETHER thread blocks share a multiprocessor. Shared memory takes copies, words of
   A, and B for each wgmma. */
static double stage_of(const fragments_plan *plan, double slots, double together) {
    const double rows = plan->tile_rows, columns = plan->base.tile_n,
                 bytes =
                     rows * FRAGMENTS_K * (1 + slots) + columns * FRAGMENTS_K * (1 + rows / WARPGROUP_ROWS),
                 products = rows * columns * FRAGMENTS_K / PRODUCTS,
                 alone = FRAGMENTS_STEPS * step + products * WARPGROUP_ROWS * plan->blocks / rows;
    return model_most(alone, crowd * together * model_most(bytes / SHARED_BYTES, products));
}

/* How many stages a thread block has, one after another, and how many stores. */
typedef struct dealing {
    double stages, stores, together; /* and how many thread blocks share a multiprocessor */
} dealing;

/* Each thread block has a tile, or with parts a part of it. Those of a cluster of more than two come in pairs
   where a multiprocessor has room for two, even if others have none. */
static dealing deal_once(double tiles, double stages, double parts, double there, double beside) {
    const double blocks = tiles * parts, turns = ceil(blocks / (there * beside)),
                 together = parts > 2 ? beside : ceil(model_least(blocks / there, beside));
    return (dealing){turns * ceil(stages / parts), turns / parts, model_most(together, 1)};
}

/* Stream: all run at once; what fills no turn is dealt out along k, or taken whole. Nobody has fitted that: a
   piece's stages take longer as they do of dense products (parts/stream.h), and its sums another store. */
static dealing deal_out(double tiles, double stages, double there, double beside) {
    const double all = there * beside, left = fmod(tiles, all);
    const bool line = stream_deals(left, all);
    const double turns = line ? floor(tiles / all) : ceil(tiles / all),
                 ranges = model_least(all, STREAM_RANGES * left),
                 blocks = turns > 0 ? all
                          : line    ? ranges
                                    : tiles;
    return (dealing){turns * stages + (line ? apart * ceil(left * stages / ranges) : 0),
                     turns + (line ? 2 : 0), model_most(ceil(blocks / there), 1)};
}

double spmm_fragments_estimate(const void *data, const mc_gpu *gpu, const mc_problem *problem) {
    const fragments_plan *plan = data;
    const spmm_plan *base = &plan->base;
    if (!spmm_can_run(base, problem)) return INFINITY;
    const spmm_situation s = spmm_meet(base, gpu, problem, 0);
    const double beside = fragments_are_paired(plan) ? 2 : 1, parts = plan->parts,
                 stages = ceil((double)problem->k / FRAGMENTS_K),
                 tiles = ceil((double)problem->m / plan->tile_rows) * ceil((double)problem->n / base->tile_n),
                 there = (double)cluster_room(plan->parts, (int64_t)gpu->multiprocessors);
    const dealing d = plan->stream ? deal_out(tiles, stages, there, beside)
                                   : deal_once(tiles, stages, parts, there, beside);
    const double kilobytes = (double)plan->tile_rows * base->tile_n * WORD / 1024,
                 others = parts > 1 ? sent * kilobytes * (parts - 1) / parts + awaited : 0;
    const double busy = (d.stages * stage_of(plan, slots_of(&s, problem), d.together) +
                         d.stores * (fragments_sums(plan) * store + others * parts)) /
                        mhz;
    const double launch = base->overlap == OVERLAP_OFF ? begin : overlapped;
    return launch + hypot(busy, spmm_unkept_of(&s, packed_of(base, &s, problem)));
}
