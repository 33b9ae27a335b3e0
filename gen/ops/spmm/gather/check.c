/* What fields have against each other in the gather kernel. */
#include "ops/spmm/gather/gather.h"
#include "parts/fragment.h"

static void check_shared_memory(const gather_plan *plan, mc_complaints *complaints) {
    if (plan->base.shared_bytes <= STATIC_SHARED) return;
    bool rows = plan->base.warps * gather_rows_bytes(plan) > STATIC_SHARED;
    complain(
        complaints, rows ? F_STRIDE : F_SPLIT,
        "%s of %d warps take %u bytes of shared memory, a kernel without a ring has %d: %s or fewer warps",
        rows                      ? "rows of B"
        : plan->base.output.exact ? "exact sums"
                                  : "partial sums",
        plan->base.warps, plan->base.shared_bytes, STATIC_SHARED,
        rows ? "a smaller stride" : "a smaller tile_n");
}

/* At 128 columns totals take 64 registers, and the accumulators of a weight 32. With two weights these and
   the rows of 64 vectors fill 250 registers. A kernel that copies rows wants more, and so does m8n8k16, where
   it is made of other instructions. */
static void check_totals(const gather_plan *plan, mc_complaints *complaints) {
    if (!plan->base.math.flush_strides || plan->base.tile_n < 128 || plan->base.math.sums < 2) return;
    bool paper = plan->base.math.order == SPMM_PAPER;
    if (plan->base.math.sums > 2)
        complain(complaints, F_TILE_N, "exact sums of %d digits leave no registers for 128 columns: 64",
                 plan->base.math.sums);
    else if (plan->base.stride > MC_GROUP_SLOTS && (paper || plan->shared))
        complain(complaints, F_STRIDE,
                 "exact sums of two digits leave %s no registers for %d at tile_n = %d: 32",
                 paper ? "order = \"paper\"" : "staging = \"shared\"", plan->base.stride, plan->base.tile_n);
}

static void check_registers_and_warps(const int64_t *point, const gather_plan *plan,
                                      mc_complaints *complaints) {
    const char *name = plan->base.staging_name;
    if (plan->base.tile_n > 128 &&
        (plan->base.output.exact || plan->base.math.order == SPMM_PAPER || plan->base.math.int4))
        complain(complaints, F_TILE_N,
                 "256 columns are for sums in s32, in swapped order, with mma = \"int8\"");
    if (plan->base.math.mma > 1 && plan->base.tile_n > 128 && plan->base.stride > MC_GROUP_SLOTS)
        complain(complaints, F_STRIDE, "two digits of lhs and 256 columns leave no registers for 64: 32");
    if (plan->base.ldb > SPMM_MAX_ROW_BYTES / spmm_b_unit(&plan->base))
        complain(complaints, F_LDB, "%lld: a row of B has 2^31 bytes or more", (long long)plan->base.ldb);
    if (spmm_b_is_paired(&plan->base) && plan->base.ldb != MC_OPEN && plan->base.ldb % 2)
        complain(complaints, F_LDB, "rhs = \"%s\" wants an even number, not %lld", plan->base.rhs,
                 (long long)plan->base.ldb);
    if (point[F_WARPS] > 8 || (point[F_WARPS] & (point[F_WARPS] - 1)))
        complain(complaints, F_WARPS, "staging = \"%s\" takes 1, 2, 4 or 8", name);
    else check_shared_memory(plan, complaints);
    check_totals(plan, complaints);
}

static void check_heads(const gather_plan *plan, mc_complaints *complaints) {
    const spmm_plan *base = &plan->base;
    if (plan->heads) return;
    if (base->math.int4) complain(complaints, F_HEADS, "off takes no mma of 4-bit integers: mma = \"int8\"");
    else if (base->math.lhs.bits != 8)
        complain(complaints, F_HEADS,
                 "off wants lhs = \"s8\" or \"u8\", whose values are bytes as an SDDMM writes them");
    else if (base->stride != MC_GROUP_SLOTS)
        complain(complaints, F_HEADS, "off wants stride = %d", MC_GROUP_SLOTS);
    else if (base->output.exact) complain(complaints, F_HEADS, "off has no exact sums: sum = \"wrap\"");
}

void gather_check(const int64_t *point, const gather_plan *plan, mc_complaints *complaints) {
    check_registers_and_warps(point, plan, complaints);
    if (!plan->padding && !plan->shared)
        complain(complaints, F_PADDING, "staging = \"%s\" has no rows to pad: only shared has",
                 plan->base.staging_name);
    check_heads(plan, complaints);
}
