/* How the ring kernel's plan follows from a point. */
#include "ops/spmm/ring/plan.h"
#include "parts/fragment.h"

/* The widest copy that divides ldb. 0: it is found out at launch, since ldb is open, or B's address promises
   less. */
static int widest_copy(const ring_plan *plan) {
    int bytes = 16;
    if (plan->base.ldb == MC_OPEN) return 0;
    int64_t row = spmm_b_bytes(&plan->base, plan->base.ldb);
    if (row % 4 && ring_copy_unit(plan) < 4) return RING_BY_ELEMENTS;
    while (bytes > 4 && row % bytes) bytes /= 2;
    return bytes <= plan->base.align ? bytes : 0;
}

/* The queues, which lie behind all else. */
static void place_queues(ring_plan *plan) {
    spmm_plan *base = &plan->base;
    if (!ring_is_queued(plan)) return;
    plan->queues = ((int)base->shared_bytes + RING_PIECE - 1) / RING_PIECE * RING_PIECE;
    base->shared_bytes = (unsigned)plan->queues + ring_queue_bytes(plan);
}

/* Rows of 16 bytes are for integers whose B has 8 bits, and for cp.async. */
static void plan_rows(ring_plan *plan, mc_complaints *complaints) {
    spmm_arithmetic *math = &plan->base.math;
    if (ring_is_narrow(plan) && !plan->tensor && !math->kind->real && math->b_bits == 8)
        math->joins_halves = math->narrow_rows = true;
    else spmm_check_tile(&plan->base, complaints);
}

/* mma of a stride. Where one of integers takes both halves there are half as many. */
static int stride_mma(const ring_plan *plan) {
    const spmm_arithmetic *math = &plan->base.math;
    const bool whole = math->sparse || (math->joins_halves && !math->kind->real);
    return spmm_pair_mma_count(math, plan->base.tile_n) / (whole ? 2 : 1);
}

/* Parts that threads copy are copied whole, and take turns with "on" alone. */
static void plan_resident(ring_plan *plan, int resident) {
    const bool on = resident == RING_ON, copied = plan->parts > 1 && !plan->tensor;
    plan->keeps_all = resident == RING_ALWAYS || (on && copied);
    plan->resident = on || (resident == RING_ALWAYS && plan->parts == 1);
}

/* The words of `group`, as numbers. */
static const int groups[] = {0, 8, 16, 32};

void ring_make_plan(const int64_t *point, void *out, mc_complaints *complaints) {
    ring_plan *plan = out;
    spmm_plan *base = &plan->base;
    spmm_plan_problem(point, false, base, complaints);
    plan->window = (int)point[F_WINDOW];
    plan->stages = (int)point[F_STAGES];
    plan->together = (int)point[F_TOGETHER];
    plan->parts = (int)point[F_PARTS];
    plan->depth = (int)point[F_DEPTH];
    plan->prefetch = point[F_PREFETCH_L2] != 0;
    base->math.sparse = point[F_SPARSE_MMA] != 0;
    base->group = groups[point[F_GROUP]];
    plan->tensor = base->staging == SPMM_TMA;
    plan_resident(plan, (int)point[F_RESIDENT]);
    plan_rows(plan, complaints);
    plan->copy = plan->tensor ? 0 : widest_copy(plan);
    /* one warp more, which copies, and those that finish row blocks */
    base->threads = MC_WARP * (base->warps + plan->tensor + ring_finishers(plan));
    base->stride_mma = stride_mma(plan);
    spmm_plan_values(base, WINDOWED_ROW_VALUES * base->math.value_bytes * spmm_value_rows(&base->math));
    base->stride_a_bytes = base->stride_values + 4 * WINDOWED_STRIDE_WORDS + 4;
    /* row_ptr's parts are as far apart as A has row blocks: m is wanted anyway */
    base->guard_rows |=
        plan->resident || plan->base.group > 0 || base->split > 1 || plan->together > 1 || plan->parts > 1;
    base->shared_bytes = (unsigned)ring_sum_offset(plan) + ring_sum_bytes(plan) + ring_tile_bytes(plan) +
                         ring_parts_bytes(plan);
    place_queues(plan);
    ring_check(point, plan, complaints);
}
