/* What fields have against each other in the ring kernel. */
#include "ops/spmm/ring/plan.h"
#include "parts/fragment.h"

enum {
    WORDS_COLUMNS = 32, /* of rows of words, at least */
    TENSOR_ROWS = 256,  /* of a box (CUDA driver API, cuTensorMapEncodeTiled) */
    ALWAYS_BYTES = 64,  /* of a row of a B that is always there: ptxas 13 spills with more */
    FINISHED_SUMS = 64, /* of a lane, with vec = 16, beside warps that finish row blocks: the same */
};

static void check_split(const ring_plan *plan, mc_complaints *complaints) {
    const spmm_plan *base = &plan->base;
    if (base->warps % base->split)
        complain(complaints, F_SPLIT, "%d warps cannot be shared out by %d", base->warps, base->split);
    if (!ring_is_narrow(plan) && !plan->keeps_all && ring_sums_to_first(plan))
        complain(complaints, F_SPLIT, "staging = \"%s\" wants %d columns for each warp, tile_n has %d",
                 base->staging_name, ring_part_columns(plan), base->tile_n);
}

static void check_b(const ring_plan *plan, mc_complaints *complaints) {
    const spmm_plan *base = &plan->base;
    if (ring_reads_words(plan) && base->tile_n < WORDS_COLUMNS)
        complain(complaints, F_TILE_N, "staging = \"%s\" reads rows of %d elements of 32 bits, not of %d",
                 base->staging_name, WORDS_COLUMNS, base->tile_n);
    int unit = ring_copy_unit(plan), columns = ring_ldb_unit(plan);
    if (spmm_b_is_paired(base) && !plan->tensor)
        complain(complaints, F_RHS, "staging = \"%s\" takes 8, 12 or 16 bits", base->staging_name);
    if (base->align < unit)
        complain(complaints, F_ALIGN, "staging = \"%s\" wants %s", base->staging_name,
                 unit == 16 ? "16" : "4 or 16");
    if (base->ldb != MC_OPEN && base->ldb % columns)
        complain(complaints, F_LDB, "staging = \"%s\" wants a multiple of %d, not %lld", base->staging_name,
                 columns, (long long)base->ldb);
    if (plan->tensor && plan->window > TENSOR_ROWS)
        complain(complaints, F_WINDOW, "a tensor copy has at most %d rows: staging = \"async\" takes %d",
                 TENSOR_ROWS, plan->window);
    if (base->batch && plan->tensor)
        complain(complaints, F_BATCH,
                 "staging = \"tma\" copies from one B: \"direct\", \"shared\" or \"async\"");
}

/* Sums of a thread. */
static int sums_of(const ring_plan *plan) { return ring_acc_count(plan) * plan->base.math.sums; }

/* With more sums than FEW_SUMS ptxas 13 spills where there are more warps than MOST_WARPS. What vectors of 16
   rows leave registers for in any case is in integer/check.c. */
static void check_sparse(const ring_plan *plan, mc_complaints *complaints) {
    enum { FEW_SUMS = 32, MOST_WARPS = 15 };
    const spmm_plan *base = &plan->base;
    const spmm_arithmetic *math = &base->math;
    if (!ring_is_sparse(plan)) return;
    if (math->kind->real) complain(complaints, F_SPARSE_MMA, "wants integers");
    else if (math->b_bits < 8) complain(complaints, F_SPARSE_MMA, "wants an rhs of 8 to 16 bits");
    else if (!spmm_is_tall(math)) complain(complaints, F_SPARSE_MMA, "wants vec = 16, not %d", base->vec);
    else if (!plan->tensor)
        complain(complaints, F_SPARSE_MMA, "wants staging = \"tma\", not \"%s\"", base->staging_name);
    else if (plan->resident) complain(complaints, F_SPARSE_MMA, "wants resident = \"off\"");
    else if (ring_asks_ahead(plan))
        complain(complaints, F_SPARSE_MMA, "loads strides ahead itself: depth = 2, not %d", plan->depth);
    else if (sums_of(plan) > FEW_SUMS && base->warps > MOST_WARPS)
        complain(complaints, F_SPARSE_MMA, "leaves %d warps no registers for %d sums of a thread: at most %d",
                 base->warps, sums_of(plan), MOST_WARPS);
}

static void check_group(const ring_plan *plan, mc_complaints *complaints) {
    if (plan->base.group == 0) return;
    if (!plan->tensor)
        complain(complaints, F_GROUP, "wants staging = \"tma\", not \"%s\"", plan->base.staging_name);
    else if (plan->resident || plan->parts > 1)
        complain(complaints, F_GROUP, "wants resident = \"off\" and parts = 1");
}

/* What a ring has that holds all of B in any case. */
static void check_keeping(const ring_plan *plan, const char *word, mc_complaints *complaints) {
    const spmm_plan *base = &plan->base;
    if (plan->tensor) complain(complaints, F_RESIDENT, "\"%s\" wants staging = \"async\"", word);
    if (base->math.kind->real) complain(complaints, F_RESIDENT, "\"%s\" wants integers", word);
    if (ring_row_bytes(plan) > ALWAYS_BYTES)
        complain(complaints, F_RESIDENT, "\"%s\" wants rows of at most %d bytes: tile_n = %d", word,
                 ALWAYS_BYTES, ALWAYS_BYTES * base->tile_n / ring_row_bytes(plan));
    if (base->k != MC_OPEN && base->k > ring_most_k(plan))
        complain(complaints, F_RESIDENT, "\"%s\" takes a k of at most %swindow * stages = %d, not %lld", word,
                 plan->parts > 1 ? "parts * " : "", ring_most_k(plan), (long long)base->k);
}

/* Which rings that stay hold all of B in any case. */
static void check_resident(const ring_plan *plan, mc_complaints *complaints) {
    if (plan->keeps_all) check_keeping(plan, plan->resident && plan->parts > 1 ? "on" : "always", complaints);
    else if (plan->resident && ring_is_narrow(plan))
        complain(complaints, F_RESIDENT, "rows of 16 bytes stay in any case or never: \"always\" or off");
}

/* Registers of rows of 128 bytes are there for so many warps: with more ptxas 13 spills. */
static void check_wide_rows(const ring_plan *plan, mc_complaints *complaints) {
    enum { WIDE_ROW = 128, MOST_WARPS = 18 };
    if (ring_row_bytes(plan) < WIDE_ROW || plan->base.warps <= MOST_WARPS) return;
    complain(complaints, F_WARPS, "rows of %d bytes leave %d warps no registers: at most %d", WIDE_ROW,
             plan->base.warps, MOST_WARPS);
}

static void check_shared_memory(const ring_plan *plan, const mc_arch *arch, mc_complaints *complaints) {
    const spmm_plan *base = &plan->base;
    if (base->shared_bytes <= arch->shared << 10) return;
    const char *beside = ring_is_queued(plan)                 ? " and the queues take"
                         : base->split > 1 || plan->parts > 1 ? " and the sums take"
                                                              : " takes";
    complain(complaints, F_STAGES, "the ring%s %u bytes of shared memory, a thread block of %s has %u",
             beside, base->shared_bytes, arch->target, arch->shared << 10);
}

static void check_together(const ring_plan *plan, mc_complaints *complaints) {
    const spmm_plan *base = &plan->base;
    if (plan->together == 1) return;
    if (!base->c_columns) complain(complaints, F_TOGETHER, "wants c_major = \"column\"");
    else if (base->split > 1)
        complain(complaints, F_TOGETHER,
                 "wants split = 1: warps that share a row block have a part of its columns");
    else if (base->warps % plan->together)
        complain(complaints, F_TOGETHER, "warps = %d are no whole groups of %d", base->warps, plan->together);
}

/* What parts have no way for yet: windows that threads copy and pass, warps that share row blocks inside a
   thread block, tiles of columns, the products of a batch, which have the same axis of the grid, and floats,
   whose sums depend on the order of parts. */
static void check_parts(const ring_plan *plan, const mc_arch *arch, mc_complaints *complaints) {
    enum { MOST_THREADS = 1024 };
    const spmm_plan *base = &plan->base;
    if (plan->parts == 1) return;
    if (!arch->clusters) complain(complaints, F_PARTS, "%s has no thread block clusters", arch->target);
    else if (ring_passes(plan))
        complain(complaints, F_PARTS,
                 "wants staging = \"tma\", not \"%s\", or resident = \"on\" or \"always\"",
                 base->staging_name);
    else if (base->math.kind->real) complain(complaints, F_PARTS, "wants integers");
    else if (base->c_columns) complain(complaints, F_PARTS, "wants c_major = \"row\"");
    else if (base->split > 1) complain(complaints, F_PARTS, "wants split = 1, not %d", base->split);
    else if (base->batch) complain(complaints, F_PARTS, "wants a product by itself: batch = \"off\"");
    else if (ring_finishers(plan) > 0 && spmm_is_tall(&base->math) &&
             ring_acc_count(plan) * base->math.sums > FINISHED_SUMS)
        complain(complaints, F_RESIDENT,
                 "warps that finish row blocks leave no registers for vec = %d and %d columns: fewer, or off",
                 base->vec, base->tile_n);
    else if (ring_shares_columns(plan) && base->tile_n < plan->parts * ring_run_span(plan))
        complain(complaints, F_PARTS, "each of %d thread blocks stores at least %d columns, tile_n has %d",
                 plan->parts, ring_run_span(plan), base->tile_n);
    else if (plan->resident && base->warps % plan->parts != 0)
        complain(complaints, F_PARTS,
                 "%d thread blocks finish as many row blocks each: warps = %d is no multiple of %d",
                 plan->parts, base->warps, plan->parts);
    else if (base->threads > MOST_THREADS)
        complain(complaints, F_PARTS, "%d warps and %d that finish row blocks are more than %d threads",
                 base->warps, ring_finishers(plan), MOST_THREADS);
}

/* Warps of a thread block for which ptxas 13 finds registers with queues: the one that copies counts, those
   that finish row blocks do not, whose spills lie outside the loop over strides. */
static int most_queued_warps(const ring_plan *plan) {
    enum { WIDE_ROW = 128 };
    static const int most[] = {17, 12, 0};
    return most[(ring_row_bytes(plan) == WIDE_ROW) + spmm_is_tall(&plan->base.math)];
}

static void check_queues(const ring_plan *plan, mc_complaints *complaints) {
    const spmm_plan *base = &plan->base;
    int warps = base->threads / MC_WARP - ring_finishers(plan), most = most_queued_warps(plan);
    if (!ring_is_queued(plan) || warps <= most) return;
    if (most == 0)
        complain(complaints, F_DEPTH,
                 "vec = %d and %d columns leave queues no registers: fewer columns, or 2", base->vec,
                 base->tile_n);
    else
        complain(complaints, F_DEPTH,
                 "queues leave %d warps no registers for %d columns: at most %d warps, or 2", base->warps,
                 base->tile_n, most - (warps - base->warps));
}

/* Registers of three strides are there beside those of rows of 64 bytes and 8 rows of A. Beside more sums
   than those of one digit they are there for 24 warps that copy themselves, for 16 beside one that copies,
   and for 8 beside those that finish row blocks: else ptxas 13 spills. */
static void check_held(const ring_plan *plan, mc_complaints *complaints) {
    enum { MOST_ROW = 64, SUMS = 16, BESIDE_FINISHERS = 8, BESIDE_COPIER = 16, ALONE = 24 };
    const bool finishers = ring_finishers(plan) > 0;
    const int most = finishers ? BESIDE_FINISHERS : plan->tensor ? BESIDE_COPIER : ALONE;
    if (!ring_rotates(plan) || ring_is_sparse(plan) || (plan->parts > 1 && ring_passes(plan))) return;
    if (ring_passes(plan))
        complain(complaints, F_DEPTH, "3 wants staging = \"tma\" or resident = \"always\", not \"%s\"",
                 plan->base.staging_name);
    else if (ring_reads_words(plan)) complain(complaints, F_DEPTH, "3 wants an rhs of 4 to 16 bits");
    else if (spmm_is_tall(&plan->base.math) || ring_row_bytes(plan) > MOST_ROW)
        complain(complaints, F_DEPTH, "vec = %d and rows of %d bytes leave 3 strides no registers: 2",
                 plan->base.vec, ring_row_bytes(plan));
    else if (plan->base.warps > most && sums_of(plan) > SUMS)
        complain(complaints, F_DEPTH, "%d warps%s leave 3 strides no registers beside %d sums of a thread: 2",
                 plan->base.warps, finishers ? " and those that finish row blocks" : "", sums_of(plan));
}

void ring_check(const int64_t *point, const ring_plan *plan, mc_complaints *complaints) {
    const mc_arch *arch = &mc_archs[point[FIELD_ARCH]];
    const spmm_plan *base = &plan->base;
    if (base->output.exact)
        complain(complaints, F_STAGING, "sum = \"exact\" wants \"direct\" or \"shared\", not \"%s\"",
                 base->staging_name);
    if (plan->tensor && !arch->tma) {
        complain(complaints, F_STAGING, "%s has no tensor memory accelerator", arch->target);
        return;
    }
    spmm_use use = {.tile_n = base->tile_n,
                    .warps = base->warps,
                    .threads = base->threads,
                    .more_registers = out_by_columns(&base->output) || base->output.residual != OUT_NO_ADDEND,
                    .resident = plan->resident,
                    .tile_residuals = plan->together > 1 && base->output.residual != OUT_NO_ADDEND};
    spmm_check_pairs(&base->math, use, complaints);
    check_split(plan, complaints);
    check_together(plan, complaints);
    check_parts(plan, arch, complaints);
    check_b(plan, complaints);
    check_sparse(plan, complaints);
    check_group(plan, complaints);
    check_resident(plan, complaints);
    check_queues(plan, complaints);
    check_held(plan, complaints);
    check_wide_rows(plan, complaints);
    if (plan->prefetch && !arch->tma)
        complain(complaints, F_PREFETCH_L2, "%s has no bulk copies, by which L2 is asked", arch->target);
    check_shared_memory(plan, arch, complaints);
}
