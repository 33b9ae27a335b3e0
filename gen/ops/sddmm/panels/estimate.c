/* The estimate of a kernel in panels. It stands on the costs of the gather kernel: it has not been fitted. */
#include "ops/sddmm/model.h"
#include "ops/sddmm/panels/panels.h"
#include "ops/sddmm/solvers.h"

/* A kernel whose estimate is fitted is taken before. */
enum { REGISTERS = 40, SPAN = 64 /* bytes that lanes read of a column side by side */, UNFITTED = 2 };

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

static double registers_of(const panels_plan *plan) {
    const sddmm_arithmetic *a = &plan->problem.arithmetic;
    return REGISTERS +
           plan->chunks * (plan->octets * a->steps * a->a_operands + panels_lane_slots(plan) * 4) +
           plan->groups * plan->octets * SDDMM_ACC + 2 * panels_lane_rows(plan);
}

/* A warp waits for its item, and for each stride for columns of B, tile by tile. */
static double latency_of(const panels_plan *plan, const sddmm_situation *s, const panels_work *w) {
    const double strides = model_most(1, w->strides / model_most(1, w->items));
    return s->cost.gather_first + strides * (w->tiles * s->cost.gather_step + s->cost.gather_store) +
           s->cost.start_warp * plan->problem.warps;
}

static double time_of(const panels_plan *plan, const sddmm_situation *s) {
    const panels_work w = work_of(plan, s);
    const double tile_k = plan->chunks * sddmm_chunk_k(&plan->problem.arithmetic),
                 bytes = model_most(tile_k, (double)s->problem->k) / model_most(1, (double)s->problem->k) *
                         ceil(s->b_bytes / SPAN) * SPAN,
                 b = w.strides * panels_slots(plan) * ceil(s->b_bytes / SPAN) * SPAN / 1024,
                 rows = (w.tiles > 1 ? w.strides : w.items) * panels_rows(plan),
                 a = rows * model_most(s->a_bytes, SPAN) / 1024;
    const double groups = w.strides * plan->groups * plan->octets;
    const double work = b * s->cost.gather_b + a * s->cost.gather_a +
                        groups * s->cost.gather_group * (w.tiles / 4 + 1 + bytes / 256) +
                        w.items * s->cost.start_warp;
    const double waves = w.items / s->gpu->multiprocessors /
                         sddmm_resident_warps(s->gpu, plan->problem.warps, registers_of(plan), 0);
    double latency = latency_of(plan, s, &w);
    if (waves > 1) latency *= waves + s->cost.tail;
    return s->cost.launch + hypot(latency, work / s->gpu->multiprocessors);
}

double sddmm_panels_estimate(const void *data, const mc_gpu *gpu, const mc_problem *problem) {
    const panels_plan *plan = data;
    if (!sddmm_can_run(&plan->problem, problem)) return INFINITY;
    sddmm_situation s = sddmm_meet(&plan->problem, gpu, problem);
    return UNFITTED * time_of(plan, &s);
}
