/* Method "dense" of the family `sddmm`: its plan, what it takes, and its contract. dense_emit.c emits the
   kernel. */
#include "ops/sddmm/dense.h"
#include "schema/family.h"
#include "ops/sddmm/fields.h"

/* -- Plan --------------------------------------------------------------------------------------------- */

/* How warps are laid over rows of A and columns of B. Narrow: where a warp would have fewer than 16
   columns. */
typedef struct warp_split {
    int warps, rows, columns, narrow_rows, narrow_columns;
} warp_split;

static const warp_split splits[] = {{1, 1, 1, 1, 1}, {2, 1, 2, 1, 2}, {4, 2, 2, 2, 2}, {8, 2, 4, 4, 2}};

static void split_warps(sddmm_plan *plan) {
    sddmm_dense *dense = &plan->dense;
    dense->row_warps = dense->column_warps = 1;
    for (size_t i = 0; i < sizeof splits / sizeof *splits; i++) {
        const warp_split *s = &splits[i];
        if (s->warps != plan->warps) continue;
        bool narrow = plan->tile_n < s->columns * MC_SAMPLED_SLOTS;
        dense->row_warps = narrow ? s->narrow_rows : s->rows;
        dense->column_warps = narrow ? s->narrow_columns : s->columns;
    }
    dense->warp_rows = plan->tile_rows / SDDMM_MMA_ROWS / dense->row_warps;
    dense->warp_columns = plan->tile_n / MC_SAMPLED_SLOTS / dense->column_warps;
}

void sddmm_dense_plan(sddmm_plan *plan) {
    int stage_k = sddmm_chunk_k(plan);
    int64_t stages = plan->k == MC_OPEN ? 1 : (plan->k + stage_k - 1) / stage_k;
    int64_t copied = stages * dense_stage_bytes(plan),
            result = (int64_t)plan->tile_n * dense_column_bytes(plan);
    split_warps(plan);
    plan->dense.stages = (int)stages;
    plan->dense.shared_bytes = copied > result ? copied : result;
}

/* -- Check -------------------------------------------------------------------------------------------- */

static void check_ld(const sddmm_plan *plan, bool is_b, int64_t ld, mc_complaints *complaints) {
    int unit = sddmm_row_unit(plan, is_b);
    if (ld != MC_OPEN && ld % unit)
        complain(complaints, is_b ? F_LDB : F_LDA,
                 "method = \"dense\" wants a multiple of %d, 16 bytes, not %lld", unit, (long long)ld);
}

static void check_operands(const sddmm_plan *plan, mc_complaints *complaints) {
    int stage_k = sddmm_chunk_k(plan);
    if (plan->k == MC_OPEN || plan->k % stage_k)
        complain(complaints, F_K, "method = \"dense\" wants a multiple of %d: 64 bytes of \"%s\"", stage_k,
                 plan->rhs.name);
    check_ld(plan, false, plan->lda, complaints);
    check_ld(plan, true, plan->ldb, complaints);
    if (plan->align < DENSE_COPY) complain(complaints, F_ALIGN, "method = \"dense\" wants %d", DENSE_COPY);
}

/* Registers that a thread holds for long, of 255: accumulators, A of a stage, the vectors of its turns, and
   scales of rows or columns, whether or not there are any. ptxas 13 spills from about 240 on. */
static int registers_held(const sddmm_plan *plan) {
    const sddmm_dense *dense = &plan->dense;
    int words = plan->steps * sddmm_a_words(plan), operands = plan->steps * sddmm_a_operands(plan);
    int held = dense->warp_rows * dense->warp_columns * plan->sums * SDDMM_ACC;
    held += dense->warp_rows * (sddmm_a_is_plain(plan) ? words : words + operands);
    held += 4 * plan->tile_rows / SDDMM_MMA_ROWS / plan->warps;
    int rows = dense->warp_rows, columns = dense->warp_columns;
    return held + 2 * (rows > columns ? rows : columns);
}

static void check_tile(const int64_t *point, const sddmm_plan *plan, mc_complaints *complaints) {
    enum { MOST = 220 };
    int copies = dense_a_bytes(plan) / DENSE_COPY / (MC_WARP * plan->warps);
    const mc_arch *arch = &mc_archs[point[FIELD_ARCH]];
    const sddmm_dense *dense = &plan->dense;
    if (dense->row_warps * dense->column_warps != plan->warps)
        complain(complaints, F_WARPS, "method = \"dense\" takes 1, 2, 4 or 8");
    else if (registers_held(plan) > MOST || copies > DENSE_MAX_COPIES || dense->warp_rows > DENSE_MAX_ROWS ||
             dense->warp_columns > DENSE_MAX_COLUMNS)
        complain(
            complaints, F_WARPS,
            "a tile of %d rows and %d columns leaves %d warps no registers: a smaller one, or more warps",
            plan->tile_rows, plan->tile_n, plan->warps);
    if (dense->shared_bytes > arch->shared << 10)
        complain(complaints, F_TILE_N,
                 "tiles of %d rows and %d columns of k = %lld take %lld bytes of shared memory, a thread "
                 "block of %s has %u: "
                 "smaller ones",
                 plan->tile_rows, plan->tile_n, (long long)plan->k, (long long)dense->shared_bytes,
                 arch->target, arch->shared << 10);
}

void sddmm_dense_check(const int64_t *point, const sddmm_plan *plan, mc_complaints *complaints) {
    static const int unused[] = {F_GROUPS, F_TILE_K, F_READS, F_LHS_IN, F_WINDOW, F_PREFETCH, F_PREFETCH_LHS};
    sddmm_check_unused(point, "dense", unused, sizeof unused / sizeof *unused, complaints);
    if (plan->layout != SDDMM_COLUMNS) complain(complaints, F_LAYOUT, "method = \"dense\" takes \"columns\"");
    check_operands(plan, complaints);
    if (out_element_bytes(plan->output.element) == 1)
        complain(complaints, F_OUT,
                 "method = \"dense\" gives no elements of 8 bits: \"gather\" or \"window\"");
    if (plan->mask != SDDMM_PATTERN)
        complain(complaints, F_MASK, "method = \"dense\" multiplies by no mask values: \"pattern\"");
    check_tile(point, plan, complaints);
}

/* -- Contract and facts ------------------------------------------------------------------------------- */

void sddmm_dense_add_packed(const sddmm_plan *plan, mc_contract *c) {
    c->format = "sampled-dense";
    add_array(c, 16,
              (mc_array){"tile_ptr", "s32", "(m / vec) * (tiles + 1)",
                         "[m / vec][tiles + 1]: place in C of the row block's first vector in each tile; "
                         "the last: of the end"});
    add_array(c, 16,
              (mc_array){"col_idx", "s32", plan->order == SDDMM_BCRS ? "vectors" : "slots",
                         plan->order == SDDMM_BCRS ? "column of each vector, as in BCRS"
                                                   : "column of each slot of C; -1: none"});
}

void sddmm_dense_set_launch(const sddmm_plan *plan, mc_contract *c) {
    c->shared_dynamic = (unsigned)plan->dense.shared_bytes;
    c->grid[0] = (mc_grid_axis){"n", plan->tile_n};
    c->grid[1] = (mc_grid_axis){"m", plan->tile_rows};
}

void sddmm_dense_facts(const sddmm_plan *plan, mc_facts *facts) {
    const sddmm_dense *dense = &plan->dense;
    int unit_mma = plan->steps * plan->parities * plan->b.count * plan->a.count;
    add_fact(facts, "threads", MC_WARP * plan->warps, "a thread block");
    add_fact(facts, "tile_rows", plan->tile_rows, "of A, a thread block");
    add_fact(facts, "tile_columns", plan->tile_n, "of B, a thread block");
    add_fact(facts, "stages", dense->stages, "of k, all in shared memory");
    add_fact(facts, "stage_k", sddmm_chunk_k(plan), "a stage");
    add_fact(facts, "stage_mma", (int64_t)dense->warp_rows * dense->warp_columns * unit_mma,
             "m16n8k32 instructions, a warp and stage");
}
