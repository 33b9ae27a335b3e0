/* The family `sddmm`: what fields have against each other. */
#include "sddmm_fields.h"

enum { STATIC_SHARED = 48 << 10 };

static void check_ld(int field, int64_t ld, digit_side side, int64_t least, mc_complaints *complaints) {
    if (ld == MC_OPEN) return;
    if (least != MC_OPEN && ld < least)
        complain(complaints, field, "%lld is less than a row, %lld", (long long)ld, (long long)least);
    if (side.bits == 4 && ld % 2)
        complain(complaints, field, "\"%s\" wants an even number, not %lld", side.name, (long long)ld);
    if (ld > INT32_MAX / side_bytes(side))
        complain(complaints, field, "%lld: a row has 2^31 bytes or more", (long long)ld);
}

static void check_shapes(const sddmm_plan *plan, mc_complaints *complaints) {
    if (plan->m != MC_OPEN && plan->m % plan->vec)
        complain(complaints, F_M, "%lld is not a multiple of vec = %d", (long long)plan->m, plan->vec);
    check_ld(F_LDA, plan->lda, plan->lhs, plan->k, complaints);
    check_ld(F_LDB, plan->ldb, plan->rhs, plan->layout == SDDMM_ROWS ? plan->n : plan->k, complaints);
}

static void check_output(const sddmm_plan *plan, mc_complaints *complaints) {
    const out_kind *output = &plan->output;
    static const out_fields fields = {.out = F_OUT, .scale = F_SCALE};
    out_check(output, &fields, complaints);
    if (plan->mask == SDDMM_VALUES && !out_is_scaled(output->element))
        complain(complaints, F_MASK,
                 "out = \"%s\" is the sums as they are: mask values go with f16, bf16 and f32",
                 out_element_name(output->element));
}

/* A panel is whole chunks, and fits into registers. */
static void check_panel(const sddmm_plan *plan, mc_complaints *complaints) {
    bool rows = plan->layout == SDDMM_ROWS;
    int chunk = 4 * plan->unit_k, most = rows ? SDDMM_MAX_ROWS : SDDMM_MAX_PANEL / SDDMM_UNIT * plan->unit_k;
    if (most > SDDMM_MAX_TILE) most = SDDMM_MAX_TILE;
    if (plan->tile_k % chunk || plan->tile_k > most)
        complain(complaints, F_TILE_K, "rhs = \"%s\"%s takes multiples of %d up to %d", plan->rhs.name,
                 rows ? " by rows" : "", chunk, most);
}

/* A's operands, and its next words; from shared memory, those of the units that lie abreast. */
static int held_of_lhs(const sddmm_plan *plan) {
    enum { GUARDS = 8 };
    int unit = plan->steps * 2 * plan->parities * plan->a.count;
    if (plan->lhs_in == SDDMM_LHS_SHARED) return plan->abreast * unit;
    int ahead = plan->prefetch_lhs ? sddmm_words(plan->lhs, plan->tile_k / 4) + GUARDS : 0;
    return plan->chunks * unit + ahead;
}

/* Registers that a thread holds for long, of 255: accumulators, B's buffers, A's operands, columns, scales and mask values. ptxas 13
   spills from about 224 on. */
static void check_registers(const sddmm_plan *plan, mc_complaints *complaints) {
    enum { MOST = 216 };
    int slots = 2 * plan->groups;
    int accs = plan->abreast * plan->sums * 4;
    int held = plan->groups * accs + plan->buffers * sddmm_group_regs(plan);
    held += held_of_lhs(plan) + plan->abreast * slots;
    if (plan->abreast > 1) held += accs; /* of odd chunks */
    if (plan->order != SDDMM_BCRS) held += slots;
    if (plan->output.scale == OUT_PER_COLUMN) held += slots;
    if (plan->mask == SDDMM_VALUES) held += 2 * slots;
    if (held > MOST)
        complain(complaints, F_TILE_K,
                 "%d with %d groups leaves no registers: a smaller one, or fewer groups", plan->tile_k,
                 plan->groups);
}

static void check_reads(const sddmm_plan *plan, mc_complaints *complaints) {
    int line = 4 * plan->unit_k * plan->abreast;
    if (plan->abreast == 1) return;
    if (plan->layout == SDDMM_ROWS)
        complain(complaints, F_READS, "\"lines\" are of columns of B: layout = \"rows\" has none");
    else if (plan->tile_k < line)
        complain(complaints, F_READS, "a line has %d k of rhs = \"%s\": more than tile_k = %d", line,
                 plan->rhs.name, plan->tile_k);
}

static void check_lhs(const sddmm_plan *plan, mc_complaints *complaints) {
    if (plan->shared_bytes > STATIC_SHARED)
        complain(complaints, F_LHS_IN,
                 "panels of A of %d warps take %u bytes of shared memory, a kernel has %d: fewer warps, or a "
                 "smaller tile_k",
                 plan->warps, plan->shared_bytes, STATIC_SHARED);
    if (plan->prefetch_lhs && (!plan->loops || !plan->wide))
        complain(complaints, F_PREFETCH_LHS, "%s: there is no next panel to load, leave it out",
                 plan->wide ? "tile_k holds all of k" : "these shapes have no panels");
}

static void check_overlap(const int64_t *point, mc_complaints *complaints) {
    const mc_arch *arch = &mc_archs[point[FIELD_ARCH]];
    if (point[F_OVERLAP] && !arch->overlap)
        complain(complaints, F_OVERLAP, "%s has no programmatic dependent launch", arch->target);
}

void sddmm_check(const int64_t *point, const sddmm_plan *plan, mc_complaints *complaints) {
    check_shapes(plan, complaints);
    check_output(plan, complaints);
    check_panel(plan, complaints);
    check_registers(plan, complaints);
    check_reads(plan, complaints);
    check_lhs(plan, complaints);
    check_overlap(point, complaints);
    if (plan->groups == 1 && !plan->prefetch)
        complain(complaints, F_PREFETCH, "with one group there is nothing to load ahead: leave it out");
}
