/* How long a wgmma kernel should take: the stages of a multiprocessor's tiles one behind another, and the
   operands' way from memory or L2, which hold each other up where they take the same time (hypot); and what
   lies between tiles. */
#include "ops/gemm/costs.h"
#include "ops/gemm/solvers.h"
#include "parts/wgmma/wgmma.h"
#include "parts/clusters.h"
#include "parts/emit.h"
#include "parts/model.h"
#include "parts/packed24.h"

enum { UNIT = 64 * 64, THOUSAND = 1024, A_BOUND = 32 /* columns that take no longer than reading A does */ };

/* How a problem is dealt out. */
typedef struct dealing {
    double beside; /* thread blocks of a multiprocessor that run beside each other */
    double turns;  /* tiles that a thread block takes, one after another */
    double stages; /* of a tile, or of a thread block's part of it */
    double line;   /* stream: tiles that are dealt out along k */
    double blocks; /* that run at once */
} dealing;

/* Thread blocks that a multiprocessor has room for, by registers and by shared memory. */
static double held(const wgmma_plan *plan, const mc_gpu *gpu) {
    int bytes = wgmma_shared_bytes(plan) + MODEL_BLOCK_SHARED;
    return wgmma_is_narrow(plan) && 2 * bytes <= (int)gpu->shared_bytes ? 2 : 1;
}

/* Stream: whether the tiles that fill no whole turn are dealt out along k. */
static bool has_line(const wgmma_plan *plan, double left, double blocks) {
    return plan->stream && stream_deals(left, blocks);
}

static dealing deal(const wgmma_plan *plan, const mc_gpu *gpu, const mc_problem *p) {
    shared_tile rhs = wgmma_rhs(plan);
    int parts = wgmma_is_split(plan) ? plan->split : 1;
    double tiles = gemm_products(p) * ceil((double)p->m / plan->tile_m) * ceil((double)p->n / plan->tile_n);
    double there = (double)cluster_room(parts, (int64_t)gpu->multiprocessors), most = held(plan, gpu),
           full = model_most(ceil(tiles * parts / there), 1);
    double beside = plan->stream ? most : model_least(most, full),
           at_once = model_most(floor(there * beside / parts), 1), left = fmod(tiles, at_once);
    double line = has_line(plan, left, at_once) ? left : 0;
    return (dealing){.beside = beside,
                     .turns = ceil((tiles - line) / at_once),
                     .stages = ceil(ceil((double)p->k / rhs.k) / parts),
                     .line = line,
                     .blocks = at_once};
}

/* A stage multiplied. Promoted, a consumer adds its sums to their totals before its next stage, while others
   of the same tile multiply. */
static double products_of(const wgmma_plan *plan, const gemm_costs *c) {
    double units = plan->tile_m * model_most(plan->tile_n, A_BOUND) / UNIT, all = units * c->product;
    int together = plan->turns ? 1 : plan->consumers;
    if (!wgmma_is_promoted(plan)) return all;
    return model_most(all, all / together + c->promote);
}

/* A stage of a tile: multiplied, or waited for. All stages but the one at hand are on their way. */
static double stage_of(const wgmma_plan *plan, const gemm_costs *c, double beside) {
    double products = products_of(plan, c);
    double waiting = c->latency / (plan->stages > 1 ? plan->stages - 1 : 1),
           filling = (double)wgmma_stage_bytes(plan) / THOUSAND * c->fill;
    return model_most(products * beside, model_most(waiting, filling * beside));
}

static double store_of(const wgmma_plan *plan, const gemm_costs *c) {
    const double each[] = {[STORE_TENSOR] = c->tensor, [STORE_PAIRS] = c->pairs, [STORE_SINGLE] = c->single};
    double columns = wgmma_result_columns(plan);
    double rows = wgmma_is_split(plan) ? plan->consumers * WARPGROUP_ROWS : plan->tile_m;
    return rows * columns / THOUSAND * each[plan->store];
}

/* Split: until a slice's sums are there. */
static double exchange_of(const wgmma_plan *plan, const gemm_costs *c) {
    if (!wgmma_is_split(plan)) return 0;
    return c->exchange + (double)wgmma_parts_bytes(plan) / WORD / THOUSAND * c->part;
}

/* Stream: what a thread block has of tiles that are dealt out along k. Those that share a tile share no
   operands in L2 with their neighbours. A thread block leaves a piece at most, and takes those of one
   tile. */
static double line_of(const wgmma_plan *plan, const gemm_costs *c, const dealing *d) {
    if (d->line == 0) return 0;
    double ranges = model_least(d->blocks, STREAM_RANGES * d->line),
           each = model_most(ceil(d->line * d->stages / ranges), 1), taken = ceil(d->stages / each),
           piece = (double)plan->tile_m * plan->tile_n / THOUSAND * c->piece * d->beside;
    return each * stage_of(plan, c, d->beside) * c->apart + (1 + taken) * piece;
}

/* All of a multiprocessor's tiles, with turns. A tile is stored while the next one is multiplied; passing the
   turn takes half of a begin. The last tile is stored by itself. */
static double turns_of(const wgmma_plan *plan, const gemm_costs *c, const dealing *d) {
    double products = d->stages * stage_of(plan, c, d->beside), store = c->tile + store_of(plan, c);
    double tile = model_most(products + c->tile / 2, (products + store) / 2);
    return d->turns * tile + (d->turns + d->line > 0 ? store : 0);
}

/* Of an element, kept or not, with its part of the metadata. */
static double bytes_of_a(const wgmma_plan *plan) {
    int bytes = plan->form->bytes;
    if (!plan->problem.sparse) return bytes;
    return (double)(packed24_values() + packed24_meta(bytes)) / (PACKED24_ROWS * packed24_k(bytes));
}

/* The operands' and C's way: from L2, where they are there still. */
static double way_of(const wgmma_plan *plan, const gemm_costs *c, const mc_problem *p) {
    double m = (double)p->m, n = (double)p->n, k = (double)p->k;
    double pair = (double)out_bytes(plan->problem.output.element, 2);
    double lhs = m * k * bytes_of_a(plan), rhs = n * k * plan->form->bytes;
    double products = gemm_products(p), matrices = plan->problem.sparse ? 1 : products;
    double megabytes = (matrices * lhs + products * (rhs + m * n * pair / 2)) / (THOUSAND * THOUSAND);
    return megabytes * (p->cold || megabytes > c->cached ? c->memory : c->cache);
}

double gemm_wgmma_estimate(const void *data, const mc_gpu *gpu, const mc_problem *problem) {
    const wgmma_plan *plan = data;
    const gemm_problem *p = &plan->problem;
    gemm_costs c;
    if (!model_fits(p->m, problem->m) || !model_fits(p->n, problem->n) || !model_fits(p->k, problem->k))
        return INFINITY;
    model_take_costs(&gemm_cost_table, gpu, &c);
    const dealing d = deal(plan, gpu, problem);
    double way = way_of(plan, &c, problem);
    double launch = plan->overlap == OVERLAP_OFF ? c.launch : c.overlapped;
    double line = line_of(plan, &c, &d);
    if (plan->turns) return launch + hypot(turns_of(plan, &c, &d) + line, way);
    double between = c.tile + exchange_of(plan, &c) + store_of(plan, &c),
           products = stage_of(plan, &c, d.beside);
    return launch + hypot(d.turns * d.stages * products + line, way) + (d.turns + (d.line > 0)) * between;
}
