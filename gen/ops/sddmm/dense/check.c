/* The solver `dense` of the SDDMM: what its fields have against each other. */
#include "ops/sddmm/dense/dense.h"
#include "ops/sddmm/fields.h"

static void check_ld(int field, int64_t ld, int unit, mc_complaints *complaints) {
    if (ld != MC_OPEN && ld % unit)
        complain(complaints, field, "method = \"dense\" wants a multiple of %d, 16 bytes, not %lld", unit,
                 (long long)ld);
}

static void check_operands(const sddmm_problem *p, mc_complaints *complaints) {
    const sddmm_arithmetic *a = &p->arithmetic;
    int stage_k = sddmm_chunk_k(a);
    if (p->k == MC_OPEN || p->k % stage_k)
        complain(complaints, F_K, "method = \"dense\" wants a multiple of %d: 64 bytes of \"%s\"", stage_k,
                 a->rhs.name);
    check_ld(F_LDA, p->lda, dense_a_multiple(p), complaints);
    check_ld(F_LDB, p->ldb, a->unit_k, complaints);
    if (p->align < DENSE_COPY) complain(complaints, F_ALIGN, "method = \"dense\" wants %d", DENSE_COPY);
}

/* Registers that a thread holds for long, of 255: accumulators, A of a stage, the vectors that it samples,
   and scales of rows or columns, whether or not there are any. ptxas 13 spills from about 240 on. */
static int registers_held(const dense_plan *plan) {
    const sddmm_arithmetic *a = &plan->problem.arithmetic;
    int words = a->steps * a->a_words, operands = a->a_is_plain ? 0 : a->steps * a->a_operands;
    int rows = plan->warp_rows, columns = plan->warp_columns;
    int held = rows * columns * a->accs;
    held += rows * (words + operands);
    held += 4 * plan->tile_rows / dense_group_rows(plan) / plan->problem.warps;
    return held + 2 * (rows > columns ? rows : columns);
}

static void check_warps(const dense_plan *plan, mc_complaints *complaints) {
    enum { MOST = 220 };
    int warps = plan->problem.warps, copies = dense_a_bytes(plan) / DENSE_COPY / (MC_WARP * warps);
    if (plan->row_warps * plan->column_warps != warps)
        complain(complaints, F_WARPS, "method = \"dense\" takes 1, 2, 4 or 8");
    else if (registers_held(plan) > MOST || copies > DENSE_MAX_COPIES || plan->warp_rows > DENSE_MAX_ROWS ||
             plan->warp_columns > DENSE_MAX_COLUMNS)
        complain(
            complaints, F_WARPS,
            "a tile of %d rows and %d columns leaves %d warps no registers: a smaller one, or more warps",
            plan->tile_rows, plan->tile_n, warps);
}

static void check_shared(const int64_t *point, const dense_plan *plan, mc_complaints *complaints) {
    const mc_arch *arch = &mc_archs[point[FIELD_ARCH]];
    if (plan->shared_bytes > arch->shared << 10)
        complain(complaints, F_TILE_N,
                 "tiles of %d rows and %d columns of k = %lld take %lld bytes of shared memory, a thread "
                 "block of %s has %u: smaller ones",
                 plan->tile_rows, plan->tile_n, (long long)plan->problem.k, (long long)plan->shared_bytes,
                 arch->target, arch->shared << 10);
}

void dense_check(const int64_t *point, const dense_plan *plan, mc_complaints *complaints) {
    const sddmm_problem *p = &plan->problem;
    if (p->layout != SDDMM_COLUMNS) complain(complaints, F_LAYOUT, "method = \"dense\" takes \"columns\"");
    check_operands(p, complaints);
    if (out_element_bytes(p->output.element) == 1)
        complain(complaints, F_OUT,
                 "method = \"dense\" gives no elements of 8 bits: \"gather\" or \"window\"");
    if (p->mask != SDDMM_PATTERN)
        complain(complaints, F_MASK, "method = \"dense\" multiplies by no mask values: \"pattern\"");
    check_warps(plan, complaints);
    check_shared(point, plan, complaints);
}
