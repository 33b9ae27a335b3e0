/* What fields have against each other in the gather kernel. */
#include "ops/spmm/gather/gather.h"
#include "parts/fragment.h"

static void check_shared_memory(const gather_plan *plan, mc_complaints *complaints) {
    if (plan->base.shared_bytes <= STATIC_SHARED) return;
    bool rows = plan->base.warps * spmm_gather_rows_bytes(plan) > STATIC_SHARED;
    complain(
        complaints,
        rows                ? F_STRIDE
        : plan->base.panels ? F_WARPS
                            : F_SPLIT,
        "%s of %d warps take %u bytes of shared memory, a kernel without a ring has %d: %s or fewer warps",
        rows                      ? "rows of B"
        : plan->base.c_columns    ? "elements of a column-major C"
        : plan->base.output.exact ? "exact sums"
                                  : "partial sums",
        plan->base.warps, plan->base.shared_bytes, STATIC_SHARED,
        rows ? "a smaller stride" : "a smaller tile_n");
}

static void check_warps(const int64_t *point, const gather_plan *plan, mc_complaints *complaints) {
    const spmm_plan *base = &plan->base;
    if (point[F_WARPS] > 8 || (point[F_WARPS] & (point[F_WARPS] - 1)))
        complain(complaints, F_WARPS, "staging = \"%s\" takes 1, 2, 4 or 8", base->staging_name);
    else check_shared_memory(plan, complaints);
}

/* What panels go with. */
static void check_panels(const int64_t *point, const gather_plan *plan, mc_complaints *complaints) {
    static const struct {
        int field, wanted;
        const char *why;
    } rows[] = {{F_VEC, 1, "panels are of matrices without vectors: vec = 1"},
                {F_SPLIT, 1, "`share` says when warps share a panel: split = 1"},
                {F_STRIDE, MC_GROUP_SLOTS, "panels are cut into strides of 32: stride = 32"},
                {F_HEADS, 1, "values of panels come packed: heads = \"on\""},
                {F_SUM, 0, "sums of panels are not exact beyond 32 bits: sum = \"wrap\""},
                {F_C_MAJOR, 0, "panels have a row-major C: c_major = \"row\""},
                {F_BATCH, 0, "panels are single products: batch = \"off\""}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (point[rows[i].field] != rows[i].wanted) complain(complaints, F_PANEL, "%s", rows[i].why);
    if (point[F_ORDER] == SPMM_PAPER)
        complain(complaints, F_PANEL, "panels are multiplied in swapped order: order = \"swapped\"");
    if (plan->nonzeros && !plan->prefetch)
        complain(complaints, F_VALUES, "nonzeros are loaded ahead: prefetch = \"on\"");
    if (plan->nonzeros && spmm_value_rows(&plan->base.math) != plan->base.vec)
        complain(complaints, F_VALUES, "lhs = \"%s\" has several digits, which go with \"slots\"",
                 plan->base.math.lhs);
    if (point[F_MMA] == SPMM_INT4) complain(complaints, F_PANEL, "panels have no mma of 4 bits");
}

void spmm_gather_check(const int64_t *point, const gather_plan *plan, mc_complaints *complaints) {
    const spmm_plan *base = &plan->base;
    spmm_use use = {
        .tile_n = base->tile_n, .through_shared = plan->shared && !base->panels, .given_values = plan->given};
    spmm_check_ldb(base, complaints);
    check_warps(point, plan, complaints);
    spmm_check_gathered(&base->math, use, complaints);
    if (base->panels) check_panels(point, plan, complaints);
    if (!base->panels && point[F_SHARE] != STANDARD_SHARE)
        complain(complaints, F_SHARE, "there are no panels: leave it out");
    if (!base->panels && plan->nonzeros) complain(complaints, F_VALUES, "there are no panels: leave it out");
    if (!base->panels && plan->reorder) complain(complaints, F_REORDER, "there are no panels: leave it out");
    if (base->output.beta && base->c_columns)
        complain(complaints, F_BETA, "goes with a row-major C: c_major = \"row\"");
    if (!plan->padding && !plan->shared)
        complain(complaints, F_PADDING, "staging = \"%s\" has no rows to pad: only shared has",
                 base->staging_name);
}
