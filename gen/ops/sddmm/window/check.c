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

static void check_interleave(const window_plan *plan, mc_complaints *complaints) {
    const sddmm_arithmetic *a = &plan->problem.arithmetic;
    bool as_they_lie = a->kind->real && a->a_is_plain;
    if (plan->items.at_once > 1 && !as_they_lie)
        complain(complaints, F_INTERLEAVE,
                 "%d groups at once want floats of 16 bits, or of 8 with an mma of their own, not \"%s\"",
                 plan->items.at_once, a->lhs.name);
    else if (plan->items.at_once > plan->items.groups)
        complain(complaints, F_INTERLEAVE, "%d groups at once want groups to be as many or more",
                 plan->items.at_once);
    else if (plan->items.at_once > 1 && plan->prefetch)
        complain(complaints, F_INTERLEAVE, "%d groups at once want prefetch = \"off\"", plan->items.at_once);
}

static void check_tensor(const int64_t *point, const window_plan *plan, mc_complaints *complaints) {
    const mc_arch *arch = &mc_archs[point[FIELD_ARCH]];
    if (!arch->tma) complain(complaints, F_STAGING, "%s has no tensor memory accelerator", arch->target);
    if (plan->problem.batch) complain(complaints, F_STAGING, "\"tma\" takes no batches: \"async\" does");
    if (window_box(plan) == 0)
        complain(complaints, F_WINDOW, "staging = \"tma\" wants a multiple of %d columns, not %lld",
                 WINDOW_SWIZZLED / WINDOW_BANKS, (long long)plan->items.window);
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

/* Fitted to the registers alive in 3000 kernels, within 9, and more by as much as it took for ptxas 13 to
   spill in none of them. A's operands count, and the next item's words where groups are multiplied meanwhile;
   two chunks of B; scales and mask values. */
int window_registers(const window_plan *plan) {
    enum { ALWAYS = 28, GROUP = 3, SECOND_CHUNK = 12, OCTET = 3, FACTORS = 4, BESIDE = 24 };
    const sddmm_problem *p = &plan->problem;
    const sddmm_arithmetic *a = &p->arithmetic;
    int groups = plan->items.groups, octets = sddmm_octets(p), rows = sddmm_lane_rows(p);
    int panels = plan->prefetch && groups > 1 ? 2 : 1;
    int held = ALWAYS + GROUP * groups + OCTET * octets + (plan->items.chunks > 1 ? SECOND_CHUNK : 0);
    held += (plan->items.at_once - 1) * (BESIDE + octets * a->accs);
    int next = a->kind->real ? a->a_words : a->a_operands; /* of the next panel; integers were fitted so */
    held += octets * plan->items.chunks * a->steps * (a->a_operands + (panels - 1) * next);
    if (p->mask == SDDMM_VALUES) held += FACTORS + 2 * rows * plan->items.at_once;
    if (p->output.scale == OUT_PER_ROW) held += 2 * rows;
    if (p->output.scale == OUT_PER_COLUMN) held += FACTORS * plan->items.at_once;
    return held;
}

/* A multiprocessor has 65,536 registers, given out to four warps at a time, in eights a thread. */
static void check_registers(const window_plan *plan, mc_complaints *complaints) {
    enum { REGISTERS = 65536, WARPS = 4, UNIT = 8 };
    int threads = (plan->problem.warps + WARPS - 1) / WARPS * WARPS * MC_WARP;
    int most = REGISTERS / threads / UNIT * UNIT;
    if (plan->problem.arithmetic.kind->real && window_registers(plan) > most)
        complain(complaints, F_WARPS,
                 "%d leave %d registers a thread, k = %lld wants more: fewer warps, a smaller k, or prefetch "
                 "= \"off\"",
                 plan->problem.warps, most, (long long)plan->problem.k);
}

void window_check(const int64_t *point, const window_plan *plan, mc_complaints *complaints) {
    const sddmm_problem *p = &plan->problem;
    sddmm_check_panel(p, &plan->items, complaints);
    check_k(plan, complaints);
    check_interleave(plan, complaints);
    if (plan->tensor && plan->items.window > 0 && plan->items.window <= SAMPLED_MAX_WINDOW)
        check_tensor(point, plan, complaints);
    check_ld(F_LDA, p->lda, sddmm_a_multiple(&p->arithmetic), complaints);
    check_ld(F_LDB, p->ldb, p->arithmetic.unit_k, complaints);
    check_shared(point, plan, complaints);
    if (plan->items.chunks <= SDDMM_MAX_CHUNKS) check_registers(plan, complaints);
    if (p->layout != SDDMM_COLUMNS) complain(complaints, F_LAYOUT, "method = \"window\" wants \"columns\"");
    if (!p->arithmetic.kind->real && plan->items.groups > WINDOW_INTEGER_GROUPS)
        complain(complaints, F_GROUPS, "method = \"window\" takes up to %d of integers",
                 WINDOW_INTEGER_GROUPS);
    if (p->align < SDDMM_UNIT) complain(complaints, F_ALIGN, "method = \"window\" wants %d", SDDMM_UNIT);
}
