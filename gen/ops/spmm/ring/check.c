/* What fields have against each other in the ring kernel. */
#include "ops/spmm/ring/plan.h"
#include "parts/fragment.h"

/* Complains of more warps of 256 columns than ptxas 13 fits into a multiprocessor's registers. */
static void check_wide(const ring_plan *plan, mc_complaints *complaints) {
    bool more = plan->base.math.mma > 1 || out_by_columns(&plan->base.output);
    int most = more ? 7 : plan->resident ? 11 : 15;
    if (plan->base.tile_n > 128 && plan->base.warps > most)
        complain(complaints, F_WARPS, "256 columns leave %d warps no registers: at most %d", plan->base.warps,
                 most);
}

void ring_check(const int64_t *point, const ring_plan *plan, mc_complaints *complaints) {
    const mc_arch *arch = &mc_archs[point[FIELD_ARCH]];
    const char *name = plan->base.staging_name;
    int unit = ring_copy_unit(plan), columns = ring_ldb_unit(plan);
    if (plan->base.output.exact)
        complain(complaints, F_STAGING, "sum = \"exact\" wants \"direct\" or \"shared\", not \"%s\"", name);
    if (plan->tensor && !arch->tma) {
        complain(complaints, F_STAGING, "%s has no tensor memory accelerator", arch->target);
        return;
    }
    if (plan->base.batch && plan->tensor)
        complain(complaints, F_BATCH,
                 "staging = \"tma\" copies from one B: \"direct\", \"shared\" or \"async\"");
    bool halves = spmm_b_is_paired(&plan->base);
    if (halves && !plan->tensor) complain(complaints, F_RHS, "staging = \"%s\" takes 8, 12 or 16 bits", name);
    check_wide(plan, complaints);
    if (plan->base.math.mma > 1 && plan->base.tile_n == 128 && plan->base.warps > 8)
        complain(complaints, F_TILE_N,
                 "two digits of lhs leave %d warps no registers for 128 columns: 64 or 32", plan->base.warps);
    if (plan->base.math.mma > 1 && plan->base.math.b.count > 1 && plan->base.tile_n > 32 &&
        plan->base.threads > 16 * MC_WARP)
        complain(complaints, F_TILE_N,
                 "two digits on both sides leave %d warps no registers for 64 columns: 32",
                 plan->base.threads / MC_WARP);
    if (plan->base.warps % plan->base.split)
        complain(complaints, F_SPLIT, "%d warps cannot be shared out by %d", plan->base.warps,
                 plan->base.split);
    int part = halves ? 64 : 32 / spmm_b_unit(&plan->base); /* an ldmatrix takes 32 bytes of a row */
    if (plan->base.split > plan->base.tile_n / part)
        complain(complaints, F_SPLIT, "staging = \"%s\" wants %d columns for each warp, tile_n has %d", name,
                 part, plan->base.tile_n);
    if (plan->base.align < unit)
        complain(complaints, F_ALIGN, "staging = \"%s\" wants %s", name, unit == 16 ? "16" : "4 or 16");
    if (plan->base.ldb != MC_OPEN && plan->base.ldb % columns)
        complain(complaints, F_LDB, "staging = \"%s\" wants a multiple of %d, not %lld", name, columns,
                 (long long)plan->base.ldb);
    if (plan->base.shared_bytes > arch->shared << 10)
        complain(complaints, F_STAGES, "the ring%s %u bytes of shared memory, a thread block of %s has %u",
                 plan->base.split > 1 ? " and the sums take" : " takes", plan->base.shared_bytes,
                 arch->target, arch->shared << 10);
}
