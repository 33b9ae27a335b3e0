/* The estimate of a ring kernel. The costs are those of staging "tma"; ring_async makes async of them. */
#include "ops/spmm/model.h"
#include "ops/spmm/ring/plan.h"
#include "parts/clusters.h"
#include "parts/fragment.h"
#include "parts/windowed.h"

/* Registers that ptxas 13 gives a thread where A and B have 8 bits: [bytes of a row / 64][resident]. */
static const int registers[3][2] = {{56, 64}, {72, 80}, {112, 128}};

/* Microseconds that a launch of clusters takes more, meetings of their thread blocks included, and those in
   which 1024 sums come in. The second one is gemm's `part`. The first one is not fitted: on an H200 such
   kernels took 0.1 to 11 us more than the estimate says with 2, and were slower than the gather kernel on all
   layers (docs/measurements.md), which is what plans must know. */
static const double cluster_meets = 10, sums_come_in = 0.228;

/* Rows of 16 bytes are not measured. Beyond 16 columns all of A comes out of L2 again for each 16. Plans then
   take other kernels unless these take twice as long. And a warp asks at each stride for windows that pass,
   where they may. */
static const double narrow_again = 2, narrow_passes = 1.1;

/* Factor of such kernels. */
static double narrow_of(const spmm_situation *s, const ring_plan *plan) {
    if (!ring_is_narrow(plan)) return 1;
    return (s->tiles > 1 ? narrow_again : 1) * (ring_keeps_all(plan) ? 1 : narrow_passes);
}

static const ring_plan *ring_of(const spmm_situation *s) { return (const ring_plan *)s->plan; }

/* Windows that a thread block passes, and of VECTORS of a row block those in them. */
static double windows_of(const spmm_situation *s) {
    double windows = ceil((double)s->problem->k / ring_of(s)->window);
    return model_most(1, ceil(windows / ring_of(s)->parts));
}
static double vectors_in(const spmm_situation *s, double vectors) { return vectors / ring_of(s)->parts; }

/* Time of the cluster's sums. */
static double exchange_of(const spmm_situation *s) {
    const ring_plan *plan = ring_of(s);
    if (plan->parts == 1) return 0;
    return cluster_meets + sums_come_in * plan->base.warps * MC_WARP * ring_acc_count(plan) / 1024;
}

/* Time of a window's copy. What of it lies beyond k is filled with zeros, which takes as long. */
static double copy_of(const spmm_situation *s) {
    double kilobytes = ring_of(s)->window * (double)spmm_tile_bytes(s->plan) / 1024;
    bool slow = ring_of(s)->tensor && spmm_rows_cut_sectors(s);
    return kilobytes * s->cost.ring_copy * (slow ? s->cost.ring_narrow : 1);
}

/* Strides of a row block of VECTORS. A stride has 32 of them if there are as many in the windows that the
   ring holds, else as many as there are. UNUSED is the part of the last stride that is padding. */
static double strides_of(const spmm_situation *s, double vectors, double unused) {
    const ring_plan *plan = ring_of(s);
    double windows = windows_of(s);
    double span = windows <= plan->stages ? windows : plan->stages > 2 ? plan->stages - 1 : 1;
    double there = vectors * span / windows, full = vectors / WINDOWED_SLOTS + unused;
    double sparse = windows > span ? windows / span * model_most(0, 1 - there / (1.5 * WINDOWED_SLOTS)) : 0;
    return model_most(1, full + sparse);
}

/* Strides of the row block's longest part. They are dealt out to the parts in turn. */
static double part_strides(const spmm_situation *s, double vectors) {
    double split = s->plan->split;
    return model_most(1, (strides_of(s, vectors_in(s, vectors), 0.5) + (split - 1) / 2) / split);
}

/* Row blocks that a warp takes in turn. It is one, or what is left for each thread block where these stay
   (contract->turn_k). */
static double turns_of(const spmm_situation *s, double blocks) {
    const ring_plan *plan = ring_of(s);
    if (!plan->resident || s->problem->k > (int64_t)plan->window * plan->stages) return 1;
    double held = floor(s->gpu->multiprocessors * spmm_counted_on(s) / model_most(1, s->tiles));
    return model_most(1, ceil(blocks / model_most(1, held)));
}

/* Latency of a stride. It is longer where registers are short, by spills and by loads that are not ahead. */
static double step_of(const spmm_situation *s) {
    double given = spmm_registers_of(s), lacking = s->registers_wanted - given;
    return s->cost.ring_step * (1 + s->cost.ring_cramped * lacking / given);
}

/* Adds how long a thread block lasts. Row blocks come longest first, so that the first one of a thread block
   is its longest. Two turns are mirrored, and so come to about the same for every warp (rows.c). */
static void add_latency(const spmm_situation *s, double turns, spmm_work *w) {
    const ring_plan *plan = ring_of(s);
    const spmm_costs *cost = &s->cost;
    double windows = windows_of(s), filled = model_least(windows, plan->stages), step = step_of(s);
    double around =
        cost->ring_block + copy_of(s) + filled * cost->ring_window + (windows - filled) * cost->ring_refill;
    if (plan->resident)
        around += (ring_keeps_all(plan) ? 0 : cost->ring_stay) + (turns - 1) * cost->ring_turn;
    double turn = plan->base.split > 1 ? cost->ring_sum : 0;
    around += exchange_of(s);
    double average = turns > 1 ? s->mean : spmm_longest_of(s, plan->base.row_blocks);
    double longest = turns > 1 ? s->mean : (double)s->problem->longest;
    w->latency = around + turns * (turn + step * part_strides(s, average));
    w->longest = around + turns * (turn + step * part_strides(s, longest));
}

static spmm_work work_of(const spmm_situation *s) {
    const ring_plan *plan = ring_of(s);
    double blocks = ceil(s->row_blocks / plan->base.row_blocks), turns = turns_of(s, blocks);
    spmm_work w = {.blocks = ceil(blocks / turns) * s->tiles, .resident = spmm_resident_of(s)};
    const int64_t all = s->gpu->multiprocessors;
    if (plan->parts > 1) w.blocks *= plan->parts * (double)all / (double)cluster_room(plan->parts, all);
    w.rows = plan->base.vec * plan->together;
    w.memory = spmm_memory_of(s) * s->cost.ring_memory;

    double windows = windows_of(s);
    double strides = turns * plan->base.row_blocks *
                     strides_of(s, vectors_in(s, s->mean), 0.25); /* an empty half is not read */
    double packed = strides * plan->base.stride_a_bytes / 1024 * s->cost.l2;
    double shared = strides * WINDOWED_SLOTS * spmm_tile_bytes(s->plan) / s->gpu->shared_rate;
    double mma = strides * plan->base.stride_mma / s->gpu->mma_rate;
    double leaving = plan->base.warps * windows * s->cost.ring_leave;
    w.busy = spmm_overlapped(windows * copy_of(s) + packed, shared + mma + leaving);
    add_latency(s, turns, &w);
    return w;
}

double ring_estimate(const void *data, const mc_gpu *gpu, const mc_problem *problem) {
    const ring_plan *plan = data;
    int wanted = registers[spmm_tile_class(&plan->base)][plan->resident];
    if (!spmm_can_run(&plan->base, problem) || problem->ldb % ring_ldb_unit(plan) != 0) return INFINITY;
    if (ring_keeps_all(plan) && problem->k > ring_capacity(plan)) return INFINITY;
    spmm_situation s = spmm_meet(&plan->base, gpu, problem, wanted);
    spmm_work work = work_of(&s);
    return spmm_time_of(&s, &work) * narrow_of(&s, plan) * (plan->tensor ? 1 : s.cost.ring_async);
}
