/* How the plan of the solver `hrpb` follows from a point, and what fields have against each other. */
#include <stdio.h>
#include <string.h>
#include "ops/spmm/hrpb/hrpb.h"
#include "parts/fragment.h"

static void check_fields(const int64_t *point, mc_complaints *complaints) {
    static const struct {
        int field, wanted;
        const char *why;
    } rows[] = {{F_VEC, 1, "HRPB is of matrices without vectors: vec = 1"},
                {F_SPLIT, 1, "warps have columns of C of their own: split = 1"},
                {F_C_MAJOR, 0, "C is row-major: c_major = \"row\""},
                {F_BATCH, 0, "it computes single products: batch = false"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (point[rows[i].field] != rows[i].wanted) complain(complaints, rows[i].field, "%s", rows[i].why);
}

static void check_types(const spmm_plan *base, mc_complaints *complaints) {
    if (strcmp(base->math.lhs, "tf32") != 0)
        complain(complaints, F_LHS, "staging = \"hrpb\" multiplies \"tf32\", not \"%s\"", base->math.lhs);
    if (strcmp(base->math.rhs, "tf32") != 0)
        complain(complaints, F_RHS, "staging = \"hrpb\" multiplies \"tf32\", not \"%s\"", base->math.rhs);
    if (out_least_store(base->output.element) > 1)
        complain(complaints, F_OUT, "staging = \"hrpb\" stores elements of 8 bits and more");
}

static void check_warps(const hrpb_plan *plan, mc_complaints *complaints) {
    const spmm_plan *base = &plan->base;
    const int warps = base->warps;
    if (warps > HRPB_MOST_WARPS || (warps & (warps - 1)) != 0)
        complain(complaints, F_WARPS, "staging = \"hrpb\" takes 1, 2, 4, 8 or 16");
    else if (plan->warp_n < HRPB_N || plan->warp_n > HRPB_MOST_TN)
        complain(complaints, F_WARPS, "%d columns of a warp: tile_n / warps must be %d to %d", plan->warp_n,
                 HRPB_N, HRPB_MOST_TN);
    if (base->shared_bytes > STATIC_SHARED)
        complain(complaints, F_BLOCK_COLS,
                 "%d rows of B and a block of A take %u bytes of shared memory, of %d: a smaller tile_n",
                 plan->block_cols, base->shared_bytes, STATIC_SHARED);
}

static void check_ldb(const spmm_plan *base, mc_complaints *complaints) {
    if (base->ldb > SPMM_MAX_ROW_BYTES / spmm_b_unit(base))
        complain(complaints, F_LDB, "%lld: a row of B has 2^31 bytes or more", (long long)base->ldb);
}

static void plan_shared(hrpb_plan *plan) {
    spmm_plan *base = &plan->base;
    plan->block = hrpb_block_of(base->vec, plan->block_cols);
    plan->block_bytes =
        (int)hrpb_block_bytes(&plan->block, (int64_t)base->vec * plan->block_cols, base->math.value_bytes);
    plan->row_bytes = (int)spmm_b_bytes(base, base->tile_n) + HRPB_PAD;
    base->shared_bytes = (unsigned)(plan->block_bytes + plan->block_cols * plan->row_bytes);
}

void spmm_hrpb_make_plan(const int64_t *point, void *out, mc_complaints *complaints) {
    hrpb_plan *plan = out;
    spmm_plan *base = &plan->base;
    spmm_plan_problem(point, true, base, complaints);
    plan->block_cols = (int)point[F_BLOCK_COLS];
    base->vec = (int)point[F_PANEL_ROWS];
    base->panels = base->guard_rows = true; /* the last panel may be less */
    base->row_blocks = 1;
    base->threads = MC_WARP * base->warps;
    plan->warp_n = base->tile_n / base->warps;
    plan_shared(plan);
    base->stride_mma = plan->block.bricks * hrpb_mma(plan);
    snprintf(plan->columns, sizeof plan->columns, "blocks * %d", plan->block_cols);
    snprintf(plan->doc, sizeof plan->doc,
             "blocks of %d rows and %d active columns: patterns, col_ptr, rows, values", base->vec,
             plan->block_cols);
    check_fields(point, complaints);
    check_types(base, complaints);
    check_warps(plan, complaints);
    check_ldb(base, complaints);
}
