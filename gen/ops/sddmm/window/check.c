/* The solver `window` of the SDDMM: what its fields have against each other. */
#include "ops/sddmm/window/window.h"
#include "ops/sddmm/fields.h"

static void check_k(const window_plan *plan, mc_complaints *complaints) {
    const sddmm_arithmetic *a = &plan->problem.arithmetic;
    int64_t k = plan->problem.k;
    if (k == MC_OPEN) complain(complaints, F_K, "method = \"window\" wants it fixed");
    else if (k == 0 || k % sddmm_chunk_k(a))
        complain(complaints, F_K, "method = \"window\" wants a multiple of %d: 64 bytes of \"%s\"",
                 sddmm_chunk_k(a), a->rhs.name);
    else if (k > plan->items.tile_k)
        complain(complaints, F_TILE_K, "method = \"window\" takes all of k at once: not less than %lld",
                 (long long)k);
}

static void check_ld(int field, int64_t ld, int unit, mc_complaints *complaints) {
    if (ld != MC_OPEN && ld % unit)
        complain(complaints, field, "method = \"window\" wants a multiple of %d", unit);
}

static void check_shared(const int64_t *point, const window_plan *plan, mc_complaints *complaints) {
    const mc_arch *arch = &mc_archs[point[FIELD_ARCH]];
    int64_t window = plan->items.window;
    if (window == MC_OPEN || window < 1 || window > SAMPLED_MAX_WINDOW)
        complain(complaints, F_WINDOW, "method = \"window\" wants a number of columns, 1 to %d",
                 SAMPLED_MAX_WINDOW);
    else if (plan->shared_bytes > arch->shared << 10)
        complain(complaints, F_WINDOW, "%lld columns take %u bytes of shared memory, %s has %u",
                 (long long)window, plan->shared_bytes, arch->target, arch->shared << 10);
}

void window_check(const int64_t *point, const window_plan *plan, mc_complaints *complaints) {
    const sddmm_problem *p = &plan->problem;
    sddmm_check_panel(p, &plan->items, complaints);
    check_k(plan, complaints);
    check_ld(F_LDA, p->lda, sddmm_a_multiple(&p->arithmetic), complaints);
    check_ld(F_LDB, p->ldb, p->arithmetic.unit_k, complaints);
    check_shared(point, plan, complaints);
    if (p->layout != SDDMM_COLUMNS) complain(complaints, F_LAYOUT, "method = \"window\" wants \"columns\"");
    if (p->align < SDDMM_UNIT) complain(complaints, F_ALIGN, "method = \"window\" wants %d", SDDMM_UNIT);
    if (plan->items.groups > WINDOW_MAX_GROUPS)
        complain(complaints, F_GROUPS, "method = \"window\" takes up to %d", WINDOW_MAX_GROUPS);
}
