/* The estimate of a kernel in panels: a launch, the strides of a warp one behind another, and what all warps
   of a multiprocessor do. */
#include "ops/sddmm/model.h"
#include "ops/sddmm/panels/panels.h"
#include "ops/sddmm/solvers.h"

/* Microseconds of an H200, fitted to 840 times of f16: the 20 generated matrices, k of 32, 128 and 512. */
static const struct {
    double launch, stride; /* of a warp: what it waits for, for each stride of its item */
    double tile;           /* more of it for each tile of k, where warps come in turns */
    double column, slot;   /* a KB of columns of B; a slot's masks and stores, for each octet of rows */
    double begin, item;    /* of a stride, and of a warp */
    double row, product;   /* a KB of rows of A; of columns, multiplied by an octet of rows */
} cost = {.launch = 1.713,
          .stride = 0.298,
          .tile = 0.01216,
          .column = 0.01102,
          .slot = 0.000563,
          .begin = 0.00233,
          .item = 0.00891,
          .row = 0.00981,
          .product = 0.00147};

enum { RESIDENT = 16 /* warps of a multiprocessor whose latencies hide each other */ };

/* What the kernel has to do, by how rows share columns. Where that was not counted no rows share any. */
typedef struct panels_work {
    double strides, items, tiles;
} panels_work;

static panels_work work_of(const panels_plan *plan, const sddmm_situation *s) {
    const int64_t counted = s->problem->panels.columns[plan->octets - 1];
    const double batch = s->problem->batch > 1 ? (double)s->problem->batch : 1,
                 columns = counted > 0 ? (double)counted * batch : s->row_blocks * s->mean,
                 panels = model_least(ceil(s->row_blocks / panels_rows(plan)), columns);
    panels_work w = {.strides = columns / panels_slots(plan) + panels / 2};
    w.items = model_most(panels, w.strides / plan->share);
    w.tiles = plan->wide
                  ? ceil((double)s->problem->k / (plan->chunks * sddmm_chunk_k(&plan->problem.arithmetic)))
                  : ceil((double)s->problem->k / 16);
    return w;
}

static double time_of(const panels_plan *plan, const sddmm_situation *s) {
    const panels_work w = work_of(plan, s);
    const double slots = w.strides * panels_slots(plan), kb = s->b_bytes / 1024;
    const double rows = (w.tiles > 1 ? w.strides : w.items) * panels_rows(plan);
    const double work = slots * (kb * cost.column + plan->octets * (cost.slot + kb * cost.product)) +
                        w.strides * cost.begin + w.items * cost.item + rows * s->a_bytes / 1024 * cost.row;
    const double strides = model_most(1, w.strides / model_most(1, w.items)),
                 waves = model_most(1, w.items / s->gpu->multiprocessors / RESIDENT);
    return cost.launch + strides * (cost.stride + w.tiles * cost.tile * waves) +
           work / s->gpu->multiprocessors;
}

double sddmm_panels_estimate(const void *data, const mc_gpu *gpu, const mc_problem *problem) {
    const panels_plan *plan = data;
    if (!sddmm_can_run(&plan->problem, problem)) return INFINITY;
    sddmm_situation s = sddmm_meet(&plan->problem, gpu, problem);
    return time_of(plan, &s);
}
