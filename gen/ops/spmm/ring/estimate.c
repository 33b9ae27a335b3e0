/* The estimate of a ring kernel. The costs are those of staging "tma", and ring_async makes async of them. Of
   rows of 16 bytes in a ring that keeps all of B, async was measured, and they need no factor. */
#include "ops/spmm/model.h"
#include "ops/spmm/ring/plan.h"
#include "parts/clusters.h"
#include "parts/fragment.h"
#include "parts/windowed.h"

/* Registers that ptxas 13 gives a thread where A and B have 8 bits: [bytes of a row / 64][resident]. */
static const int registers[3][2] = {{56, 64}, {72, 80}, {112, 128}};

/* Microseconds in which 1024 sums come in from other thread blocks of a cluster: gemm's `part`. */
static const double sums_come_in = 0.228;

/* Requests by which a lane asks L2 for a row block: its values, its places and its control (queue.c). */
static const double prefetches = 3;

/* Rows of 16 bytes were measured with up to 16 columns, where the ring keeps all of B. Beyond 16 columns all
   of A comes out of L2 again for each 16. Plans then take other kernels unless these take twice as long. And
   a warp asks at each stride for windows that pass, where they may. */
static const double narrow_again = 2, narrow_passes = 1.1;

/* Factor of such kernels. */
static double narrow_of(const spmm_situation *s, const ring_plan *plan) {
    if (!ring_is_narrow(plan)) return 1;
    return (s->tiles > 1 ? narrow_again : 1) * (plan->keeps_all ? 1 : narrow_passes);
}

static const ring_plan *ring_of(const spmm_situation *s) { return (const ring_plan *)s->plan; }

/* Windows that a thread block passes, and of VECTORS of a row block those in them. */
static double windows_of(const spmm_situation *s) {
    double windows = ceil((double)s->problem->k / ring_of(s)->window);
    return model_most(1, ceil(windows / ring_of(s)->parts));
}
static double vectors_in(const spmm_situation *s, double vectors) { return vectors / ring_of(s)->parts; }

/* Parts that threads copy whole, without turns. */
static bool is_whole(const ring_plan *plan) { return plan->keeps_all && ring_shares_columns(plan); }

/* What is left of ring_meet where threads copy B. That cost was fitted to kernels with tensor copies of rows
   of 64 bytes, and has in it that these take longer than copy_of says. */
static const double thread_copies_meet = 0.4;

/* Time of the cluster's sums. Where columns are shared out all warps send some of them, and add, at once. */
static double exchange_of(const spmm_situation *s) {
    const ring_plan *plan = ring_of(s);
    if (plan->parts == 1) return 0;
    if (ring_shares_columns(plan)) return s->cost.ring_meet * (is_whole(plan) ? thread_copies_meet : 1);
    return s->cost.ring_meet + sums_come_in * plan->base.warps * MC_WARP * ring_acc_count(plan) / 1024;
}

/* Time of a window's copy. What of it lies beyond k is filled with zeros, which takes as long. */
static double copy_of(const spmm_situation *s) {
    double kilobytes = ring_of(s)->window * (double)spmm_tile_bytes(s->plan) / 1024;
    bool slow = ring_of(s)->tensor && spmm_rows_cut_sectors(s);
    return kilobytes * s->cost.ring_copy * (slow ? s->cost.ring_narrow : 1);
}

static double span_of(const spmm_situation *s) {
    double windows = windows_of(s);
    bool sparse = vectors_in(s, s->mean) < WINDOWED_HALF * windows;
    return (double)windowed_reach((int64_t)windows, ring_of(s)->stages, sparse);
}

/* Strides that a row block of VECTORS has more than it has vectors for. A stride has 32 of them if there are
   as many in the windows that it spans, else as many as there are. */
static double sparse_of(const spmm_situation *s, double vectors) {
    double windows = windows_of(s), span = span_of(s), there = vectors * span / windows;
    return windows > span ? windows / span * model_most(0, 1 - there / WINDOWED_SLOTS) : 0;
}

/* All strides of a row block of VECTORS. UNUSED is the part of the last stride that is padding. */
static double strides_of(const spmm_situation *s, double vectors, double unused) {
    return model_most(1, vectors / WINDOWED_SLOTS + unused + sparse_of(s, vectors));
}

/* Strides of the row block's longest part. They are dealt out to the warps in turn. Where strides are more
   because windows are sparse, all of its warps wait for the same windows, and a warp saves none by it. */
static double part_strides(const spmm_situation *s, double vectors) {
    double split = s->plan->split, here = vectors_in(s, vectors), sparse = sparse_of(s, here);
    return model_most(1, (here / WINDOWED_SLOTS + split / 2) / split + sparse);
}

/* Row blocks that a warp takes in turn. It is one, or what is left for each thread block where these stay
   (contract->turn_k). */
static double turns_of(const spmm_situation *s, double blocks) {
    const ring_plan *plan = ring_of(s);
    if (!plan->resident || s->problem->k > ring_most_k(plan)) return 1;
    double room = (double)cluster_room(plan->parts, s->gpu->multiprocessors) / plan->parts;
    double held = floor(room * spmm_counted_on(s) / model_most(1, s->tiles));
    return model_most(1, ceil(blocks / model_most(1, held)));
}

/* Latency of a stride that comes out of L2. It is shorter where a queue has asked for several of them, and
   longer where registers are short, by spills and by loads that are not ahead. */
static double step_of(const spmm_situation *s) {
    double given = spmm_registers_of(s), lacking = s->registers_wanted - given;
    double step = ring_is_queued(ring_of(s)) ? s->cost.ring_taken : s->cost.ring_step;
    return step * (1 + s->cost.ring_cramped * lacking / given);
}

/* Thread blocks that share a multiprocessor. Two of clusters whose windows pass, or that stay, take as long
   as one after the other. */
static double resident_of(const spmm_situation *s) {
    return ring_of(s)->parts > 1 && !is_whole(ring_of(s)) ? 1 : spmm_resident_of(s);
}

/* BLOCKS, counted as if clusters found room everywhere. Where a warp has one row block, clusters begin and
   end together, so that a part of a wave takes as long as a whole one. */
static double clustered(const spmm_situation *s, double blocks) {
    const ring_plan *plan = ring_of(s);
    const int64_t all = s->gpu->multiprocessors;
    if (plan->parts == 1) return blocks;
    blocks *= plan->parts * (double)all / (double)cluster_room(plan->parts, all);
    double wave = resident_of(s) * (double)all;
    return ring_shares_columns(plan) && blocks > wave ? ceil(blocks / wave) * wave : blocks;
}

/* The part of A that comes out of memory, not out of L2, where the grid has BLOCKS. Of cold operands column
   tiles that run at once all wait for it. */
static double far_part(const spmm_situation *s, double blocks) {
    double missed = spmm_missed_of(s), at_once = resident_of(s) * s->gpu->multiprocessors;
    return s->problem->cold ? missed + (1 - missed) * model_least(1, at_once / model_most(blocks, 1))
                            : missed;
}

/* Latency of a warp's row block of so many STRIDES, where FAR of A comes out of memory. A warp waits once for
   `depth` strides that it has asked for, and what else it does passes meanwhile. Where all row blocks run at
   once memory has enough to do, and it gains nothing to ask L2. */
static double turn_of(const spmm_situation *s, double strides, double far) {
    const ring_plan *plan = ring_of(s);
    double sum = plan->base.split > 1 ? s->cost.ring_sum : 0, near = sum + strides * step_of(s);
    double waits = strides / plan->depth * (plan->prefetch && !is_whole(plan) ? s->cost.ring_asked : 1);
    return spmm_overlapped(near, s->cost.ring_far * far * waits);
}

/* Thread blocks of a multiprocessor that copy B at once. */
static double neighbours_of(const spmm_situation *s, const spmm_work *w) {
    return model_least(w->resident, ceil(w->blocks / s->gpu->multiprocessors));
}

/* Adds how long a thread block lasts. Row blocks come longest first, so that the first one of a thread block
   is its longest. Two turns are mirrored, and so come to about the same for every warp (rows.c). */
static void add_latency(const spmm_situation *s, double turns, spmm_work *w) {
    const ring_plan *plan = ring_of(s);
    const spmm_costs *cost = &s->cost;
    double windows = windows_of(s), filled = model_least(windows, plan->stages);
    double around =
        copy_of(s) + filled * cost->ring_window + (windows - filled) * cost->ring_refill + exchange_of(s);
    if (plan->resident) around += cost->ring_stay;
    if (plan->keeps_all) around = windows * copy_of(s) * neighbours_of(s, w) + exchange_of(s);
    around += cost->ring_block + (turns - 1) * cost->ring_turn;
    double average = turns > 1 ? s->mean : spmm_longest_of(s, plan->base.row_blocks);
    double longest = turns > 1 ? s->mean : (double)s->problem->longest;
    double far = far_part(s, w->blocks);
    w->latency = around + turns * turn_of(s, part_strides(s, average), far);
    w->longest = around + turns * turn_of(s, part_strides(s, longest), far);
}

/* Instructions that ask for STRIDES ahead. A queue begins anew at each turn, with copies beyond a short row
   block's end. */
static double asking_of(const spmm_situation *s, double turns, double strides) {
    const ring_plan *plan = ring_of(s);
    double begun = turns * plan->base.warps, asks = plan->prefetch ? prefetches * begun : 0;
    if (ring_is_queued(plan)) asks += begun * plan->depth + strides;
    return asks * s->cost.ring_ask;
}

/* The time of a sparse mma of 8 bits, of that of another one: 1240 TOPS and 1870, half of which are zeros. */
static const double sparse_mma = 4. / 3;

static spmm_work work_of(const spmm_situation *s) {
    const ring_plan *plan = ring_of(s);
    double blocks = ceil(s->row_blocks / plan->base.row_blocks), turns = turns_of(s, blocks);
    spmm_work w = {.blocks = clustered(s, ceil(blocks / turns) * s->tiles), .resident = resident_of(s)};
    w.rows = plan->base.vec * plan->together;
    w.streamed = spmm_memory_of(s) * s->cost.ring_memory;

    double windows = windows_of(s);
    double strides = turns * plan->base.row_blocks *
                     strides_of(s, vectors_in(s, s->mean), 0.25); /* an empty half is not read */
    double packed = strides * plan->base.stride_a_bytes / 1024 * s->cost.l2;
    double shared = strides * WINDOWED_SLOTS * spmm_tile_bytes(s->plan) / s->gpu->shared_rate;
    double mma = strides * plan->base.stride_mma * (ring_is_sparse(plan) ? sparse_mma : 1) / s->gpu->mma_rate;
    double leaving = plan->base.warps * windows * s->cost.ring_leave;
    double instructions = mma + leaving + asking_of(s, turns, strides);
    w.busy = spmm_overlapped(windows * copy_of(s) + packed, shared + instructions);
    add_latency(s, turns, &w);
    return w;
}

/* Tiles in groups read more columns of B at once, and find their place by divisions: 0 to 4 % of the time. */
enum { GROUP_PERCENT = 2 };

double ring_estimate(const void *data, const mc_gpu *gpu, const mc_problem *problem) {
    const ring_plan *plan = data;
    int wanted = registers[spmm_tile_class(&plan->base)][plan->resident];
    if (!spmm_can_run(&plan->base, problem) || problem->ldb % ring_ldb_unit(plan) != 0) return INFINITY;
    if (plan->keeps_all && problem->k > ring_most_k(plan)) return INFINITY;
    spmm_situation s = spmm_meet(&plan->base, gpu, problem, wanted);
    spmm_work work = work_of(&s);
    bool as_tma = plan->tensor || plan->keeps_all;
    double us = spmm_time_of(&s, &work) * narrow_of(&s, plan) * (as_tma ? 1 : s.cost.ring_async);
    return plan->base.group > 0 ? us + us * GROUP_PERCENT / 100 : us;
}
