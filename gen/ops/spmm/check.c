/* The family `spmm`: what fields have against each other. */
#include "parts/fragment.h"
#include "schema/family.h"
#include "ops/spmm/fields.h"

static void check_shapes(const spmm_plan *plan, mc_complaints *complaints) {
    if (plan->m != MC_OPEN && plan->m % plan->vec)
        complain(complaints, F_M, "%lld is not a multiple of vec = %d", (long long)plan->m, plan->vec);
    if (plan->n != MC_OPEN && plan->ldb != MC_OPEN && plan->ldb < plan->n)
        complain(complaints, F_LDB, "%lld is less than n = %lld", (long long)plan->ldb, (long long)plan->n);
    if (plan->n != MC_OPEN && plan->ldc != MC_OPEN && plan->ldc < plan->n)
        complain(complaints, F_LDC, "%lld is less than n = %lld", (long long)plan->ldc, (long long)plan->n);
    if (plan->n != MC_OPEN && (plan->n + plan->tile_n - 1) / plan->tile_n > 65535)
        complain(complaints, F_N, "more than 65535 tiles of %d columns: the grid's limit", plan->tile_n);
}

/* Complains of a tile that is not 4 to 16 bytes of a row for each of 8 lanes. A row of the ring has as many
   bytes. */
static void check_tile(const spmm_plan *plan, mc_complaints *complaints) {
    int64_t bytes = side_row_bytes(plan->rhs, plan->tile_n);
    int bits = plan->rhs.bits;
    if (bytes < 32 || bytes > 128)
        complain(complaints, F_TILE_N, "rhs = \"%s\" wants %s: 32 to 128 bytes of a row of B", plan->rhs.name,
                 bits == 4   ? "64, 128 or 256"
                 : bits == 8 ? "32, 64 or 128"
                             : "32 or 64");
}

static void check_shared_memory(const spmm_plan *plan, mc_complaints *complaints) {
    if (plan->shared_bytes <= STATIC_SHARED) return;
    bool rows = plan->warps * spmm_rows_bytes(plan) > STATIC_SHARED;
    complain(
        complaints, rows ? F_STRIDE : F_SPLIT,
        "%s of %d warps take %u bytes of shared memory, a kernel without a ring has %d: %s or fewer warps",
        rows                 ? "rows of B"
        : plan->output.exact ? "exact sums"
                             : "partial sums",
        plan->warps, plan->shared_bytes, STATIC_SHARED, rows ? "a smaller stride" : "a smaller tile_n");
}

/* At 128 columns totals take 64 registers, and the accumulators of a weight 32. With two weights these and
   the rows of 64 vectors fill 250 registers. A kernel that copies rows wants more, and so does m8n8k16, where
   it is made of other instructions. */
static void check_totals(const spmm_plan *plan, mc_complaints *complaints) {
    if (!plan->flush_strides || plan->tile_n < 128 || plan->sums < 2) return;
    bool paper = plan->order == SPMM_PAPER;
    if (plan->sums > 2)
        complain(complaints, F_TILE_N, "exact sums of %d digits leave no registers for 128 columns: 64",
                 plan->sums);
    else if (plan->stride > MC_GROUP_SLOTS && (paper || plan->staging == SPMM_SHARED))
        complain(complaints, F_STRIDE,
                 "exact sums of two digits leave %s no registers for %d at tile_n = %d: 32",
                 paper ? "order = \"paper\"" : "staging = \"shared\"", plan->stride, plan->tile_n);
}

static void check_direct(const int64_t *point, const spmm_plan *plan, mc_complaints *complaints) {
    const char *name = spmm_stagings[plan->staging];
    if (plan->tile_n > 128 && (plan->output.exact || plan->order == SPMM_PAPER || plan->int4))
        complain(complaints, F_TILE_N,
                 "256 columns are for sums in s32, in swapped order, with mma = \"int8\"");
    if (plan->mma > 1 && plan->tile_n > 128 && plan->stride > MC_GROUP_SLOTS)
        complain(complaints, F_STRIDE, "two digits of lhs and 256 columns leave no registers for 64: 32");
    if (plan->ldb > SPMM_MAX_ROW_BYTES / side_bytes(plan->rhs))
        complain(complaints, F_LDB, "%lld: a row of B has 2^31 bytes or more", (long long)plan->ldb);
    if (plan->rhs.bits == 4 && plan->ldb != MC_OPEN && plan->ldb % 2)
        complain(complaints, F_LDB, "rhs = \"%s\" wants an even number, not %lld", plan->rhs.name,
                 (long long)plan->ldb);
    if (point[F_WARPS] > 8 || (point[F_WARPS] & (point[F_WARPS] - 1)))
        complain(complaints, F_WARPS, "staging = \"%s\" takes 1, 2, 4 or 8", name);
    else check_shared_memory(plan, complaints);
    check_totals(plan, complaints);
    if (point[F_WINDOW] != STANDARD_WINDOW)
        complain(complaints, F_WINDOW, "staging = \"%s\" has no windows of B: leave it out", name);
    if (point[F_STAGES] != STANDARD_STAGES)
        complain(complaints, F_STAGES, "staging = \"%s\" has no ring: leave it out", name);
    if (point[F_RESIDENT]) complain(complaints, F_RESIDENT, "staging = \"%s\" keeps nothing of B", name);
}

static void check_gather_only(const spmm_plan *plan, mc_complaints *complaints) {
    if (!plan->padding && plan->staging != SPMM_SHARED)
        complain(complaints, F_PADDING, "staging = \"%s\" has no rows to pad: only shared has",
                 spmm_stagings[plan->staging]);
    if (!plan->heads && spmm_is_ring(plan))
        complain(complaints, F_HEADS, "staging = \"%s\" reads strides in its own order: leave it out",
                 spmm_stagings[plan->staging]);
    else if (!plan->heads && plan->int4)
        complain(complaints, F_HEADS, "off takes no mma of 4-bit integers: mma = \"int8\"");
    else if (!plan->heads && plan->lhs.bits != 8)
        complain(complaints, F_HEADS,
                 "off wants lhs = \"s8\" or \"u8\", whose values are bytes as an SDDMM writes them");
    else if (!plan->heads && plan->stride != MC_GROUP_SLOTS)
        complain(complaints, F_HEADS, "off wants stride = %d", MC_GROUP_SLOTS);
    else if (!plan->heads && plan->output.exact)
        complain(complaints, F_HEADS, "off has no exact sums: sum = \"wrap\"");
    if (plan->batch && plan->staging == SPMM_TMA)
        complain(complaints, F_BATCH,
                 "staging = \"tma\" copies from one B: \"direct\", \"shared\" or \"async\"");
    if (plan->order == SPMM_PAPER && spmm_is_ring(plan))
        complain(complaints, F_ORDER, "staging = \"%s\" multiplies in swapped order only",
                 spmm_stagings[plan->staging]);
}

static void check_mma(const int64_t *point, const spmm_plan *plan, mc_complaints *complaints) {
    if (point[F_MMA] == SPMM_INT4 && plan->rhs.bits != 4)
        complain(complaints, F_MMA, "\"int4\" takes rhs = \"s4\" or \"u4\", not \"%s\"", plan->rhs.name);
    else if (point[F_MMA] == SPMM_INT4 && spmm_is_ring(plan))
        complain(complaints, F_MMA, "\"int4\" takes staging = \"direct\" or \"shared\", not \"%s\"",
                 spmm_stagings[plan->staging]);
    else if (!plan->int4 && !plan->shuffle)
        complain(complaints, F_SHUFFLE,
                 "there are nibbles to be shuffled with an int4 mma only: leave it out");
}

/* Complains of a precision_split that the mma of this point does not have. */
static void check_split(const int64_t *point, const spmm_plan *plan, mc_complaints *complaints) {
    int64_t split = point[F_PRECISION_SPLIT];
    digit_side lhs = plan->lhs;
    char bytes[DIGIT_SPLIT_TEXT], nibbles[DIGIT_SPLIT_TEXT];
    digit_split_text(lhs, DIGIT_BITS, bytes);
    digit_split_text(lhs, NIBBLE_BITS, nibbles);
    if (digit_split_fits(split, lhs, plan->a.bits)) return;
    if (lhs.bits == NIBBLE_BITS)
        complain(complaints, F_PRECISION_SPLIT, "lhs = \"%s\" takes \"4\": it is one digit", lhs.name);
    else if (plan->rhs.bits != 4)
        complain(complaints, F_PRECISION_SPLIT,
                 "lhs = \"%s\" with rhs = \"%s\" takes \"%s\": both sides have digits of one width, and only "
                 "a 4-bit rhs has any of 4 bits",
                 lhs.name, plan->rhs.name, bytes);
    else if (!digit_split_fits(split, lhs, DIGIT_BITS) && !digit_split_fits(split, lhs, NIBBLE_BITS))
        complain(complaints, F_PRECISION_SPLIT,
                 "lhs = \"%s\" with rhs = \"%s\" takes \"%s\", for 8-bit mma, or \"%s\", for 4-bit ones",
                 lhs.name, plan->rhs.name, bytes, nibbles);
    else if (spmm_is_ring(plan))
        complain(complaints, F_PRECISION_SPLIT, "staging = \"%s\" multiplies digits of 8 bits: \"%s\"",
                 spmm_stagings[plan->staging], bytes);
    else
        complain(complaints, F_PRECISION_SPLIT, "mma = \"%s\" multiplies digits of %d bits: \"%s\"",
                 plan->int4 ? "int4" : "int8", plan->a.bits, plan->int4 ? nibbles : bytes);
}

/* Complains of more warps of 256 columns than ptxas 13 fits into a multiprocessor's registers. */
static void check_wide_ring(const spmm_plan *plan, mc_complaints *complaints) {
    bool more = plan->mma > 1 || out_by_columns(&plan->output);
    int most = more ? 7 : plan->resident ? 11 : 15;
    if (plan->tile_n > 128 && plan->warps > most)
        complain(complaints, F_WARPS, "256 columns leave %d warps no registers: at most %d", plan->warps,
                 most);
}

static void check_ring(const int64_t *point, const spmm_plan *plan, mc_complaints *complaints) {
    const mc_arch *arch = &mc_archs[point[FIELD_ARCH]];
    const char *name = spmm_stagings[plan->staging];
    int unit = spmm_copy_unit(plan), columns = spmm_ldb_unit(plan);
    if (plan->output.exact)
        complain(complaints, F_STAGING, "sum = \"exact\" wants \"direct\" or \"shared\", not \"%s\"", name);
    if (plan->staging == SPMM_TMA && !arch->tma) {
        complain(complaints, F_STAGING, "%s has no tensor memory accelerator", arch->target);
        return;
    }
    bool halves = plan->rhs.bits == 4;
    if (halves && plan->staging != SPMM_TMA)
        complain(complaints, F_RHS, "staging = \"%s\" takes 8, 12 or 16 bits", name);
    check_wide_ring(plan, complaints);
    if (plan->mma > 1 && plan->tile_n == 128 && plan->warps > 8)
        complain(complaints, F_TILE_N,
                 "two digits of lhs leave %d warps no registers for 128 columns: 64 or 32", plan->warps);
    if (plan->mma > 1 && plan->b.count > 1 && plan->tile_n > 32 && plan->threads > 16 * MC_WARP)
        complain(complaints, F_TILE_N,
                 "two digits on both sides leave %d warps no registers for 64 columns: 32",
                 plan->threads / MC_WARP);
    if (plan->stride != MC_GROUP_SLOTS)
        complain(complaints, F_STRIDE, "staging = \"%s\" takes 32 at a time", name);
    if (plan->warps % plan->split)
        complain(complaints, F_SPLIT, "%d warps cannot be shared out by %d", plan->warps, plan->split);
    int part = halves ? 64 : 32 / side_bytes(plan->rhs); /* an ldmatrix takes 32 bytes of a row */
    if (plan->split > plan->tile_n / part)
        complain(complaints, F_SPLIT, "staging = \"%s\" wants %d columns for each warp, tile_n has %d", name,
                 part, plan->tile_n);
    if (!plan->prefetch) complain(complaints, F_PREFETCH, "staging = \"%s\" always prefetches", name);
    if (plan->align < unit)
        complain(complaints, F_ALIGN, "staging = \"%s\" wants %s", name, unit == 16 ? "16" : "4 or 16");
    if (plan->ldb != MC_OPEN && plan->ldb % columns)
        complain(complaints, F_LDB, "staging = \"%s\" wants a multiple of %d, not %lld", name, columns,
                 (long long)plan->ldb);
    if (plan->shared_bytes > arch->shared << 10)
        complain(complaints, F_STAGES, "the ring%s %u bytes of shared memory, a thread block of %s has %u",
                 plan->split > 1 ? " and the sums take" : " takes", plan->shared_bytes, arch->target,
                 arch->shared << 10);
}

void spmm_check_fields(const int64_t *point, const spmm_plan *plan, mc_complaints *complaints) {
    check_shapes(plan, complaints);
    check_tile(plan, complaints);
    out_check(&plan->output, &(out_fields){F_OUT, F_SCALE, F_BIAS, F_SUM, F_ACT}, complaints);
    check_overlap(point, F_OVERLAP, complaints);
    check_mma(point, plan, complaints);
    check_split(point, plan, complaints);
}

void spmm_check_kernel(const int64_t *point, const spmm_plan *plan, mc_complaints *complaints) {
    if (spmm_is_ring(plan)) check_ring(point, plan, complaints);
    else check_direct(point, plan, complaints);
    check_gather_only(plan, complaints);
}
