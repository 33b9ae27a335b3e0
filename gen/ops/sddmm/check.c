/* The family `sddmm`: what fields have against each other. */
#include "schema/family.h"
#include "ops/sddmm/fields.h"

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

/* Complains of a panel that is not whole chunks, or does not fit into registers. */
static void check_panel(const sddmm_plan *plan, mc_complaints *complaints) {
    bool rows = plan->layout == SDDMM_ROWS;
    int chunk = sddmm_chunk_k(plan),
        most = rows ? SDDMM_MAX_ROWS : SDDMM_MAX_PANEL / SDDMM_UNIT * plan->unit_k;
    if (most > SDDMM_MAX_TILE) most = SDDMM_MAX_TILE;
    if (plan->tile_k % chunk || plan->tile_k > most)
        complain(complaints, F_TILE_K, "rhs = \"%s\"%s takes multiples of %d up to %d", plan->rhs.name,
                 rows ? " by rows" : "", chunk, most);
}

/* Registers that A's operands and its next words take; from shared memory, the operands of the units that lie
   abreast. */
static int held_of_lhs(const sddmm_plan *plan) {
    enum { GUARDS = 8 };
    int unit = plan->steps * 2 * plan->parities * plan->a.count;
    if (plan->lhs_in == SDDMM_LHS_SHARED) return plan->abreast * unit;
    int ahead = plan->prefetch_lhs ? sddmm_words(plan->lhs, plan->tile_k / 4) + GUARDS * plan->abreast : 0;
    return plan->chunks * unit + ahead;
}

/* Complains of too many registers that a thread holds for long, of 255: accumulators, B's buffers, A's
   operands, columns, scales and mask values. ptxas 13 spills from about 224 on. */
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
    int line = sddmm_chunk_k(plan) * plan->abreast;
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

/* -- Method window ------------------------------------------------------------------------------------- */

static void check_window_k(const sddmm_plan *plan, mc_complaints *complaints) {
    if (plan->k == MC_OPEN) complain(complaints, F_K, "method = \"window\" wants it fixed");
    else if (plan->k == 0 || plan->k % sddmm_chunk_k(plan))
        complain(complaints, F_K, "method = \"window\" wants a multiple of %d: 64 bytes of \"%s\"",
                 sddmm_chunk_k(plan), plan->rhs.name);
    else if (plan->k > plan->tile_k)
        complain(complaints, F_TILE_K, "method = \"window\" takes all of k at once: not less than %lld",
                 (long long)plan->k);
}

static void check_window_ld(const sddmm_plan *plan, bool is_b, int64_t ld, mc_complaints *complaints) {
    int unit = sddmm_row_unit(plan, is_b);
    if (ld != MC_OPEN && ld % unit)
        complain(complaints, is_b ? F_LDB : F_LDA, "method = \"window\" wants a multiple of %d", unit);
}

static void check_shared(const int64_t *point, const sddmm_plan *plan, mc_complaints *complaints) {
    const mc_arch *arch = &mc_archs[point[FIELD_ARCH]];
    if (plan->window == MC_OPEN || plan->window < 1 || plan->window > SAMPLED_MAX_WINDOW)
        complain(complaints, F_WINDOW, "method = \"window\" wants a number of columns, 1 to %d",
                 SAMPLED_MAX_WINDOW);
    else if (plan->shared_bytes > arch->shared << 10)
        complain(complaints, F_WINDOW, "%lld columns take %u bytes of shared memory, %s has %u",
                 (long long)plan->window, plan->shared_bytes, arch->target, arch->shared << 10);
}

static void check_window(const int64_t *point, const sddmm_plan *plan, mc_complaints *complaints) {
    check_window_k(plan, complaints);
    check_window_ld(plan, false, plan->lda, complaints);
    check_window_ld(plan, true, plan->ldb, complaints);
    check_shared(point, plan, complaints);
    if (plan->layout != SDDMM_COLUMNS)
        complain(complaints, F_LAYOUT, "method = \"window\" wants \"columns\"");
    if (plan->abreast > 1) complain(complaints, F_READS, "method = \"window\" wants \"chunks\"");
    if (plan->lhs_in != SDDMM_LHS_REGISTERS)
        complain(complaints, F_LHS_IN, "method = \"window\" wants \"registers\"");
    if (plan->prefetch_lhs)
        complain(complaints, F_PREFETCH_LHS, "method = \"window\" has `prefetch` for that: leave it out");
    if (plan->align < SDDMM_UNIT) complain(complaints, F_ALIGN, "method = \"window\" wants %d", SDDMM_UNIT);
    if (plan->groups > SDDMM_WINDOW_GROUPS)
        complain(complaints, F_GROUPS, "method = \"window\" takes up to %d", SDDMM_WINDOW_GROUPS);
}

void sddmm_check_unused(const int64_t *point, const char *method, const int *unused, size_t count,
                        mc_complaints *complaints) {
    const mc_field *fields = mc_family_sddmm.fields;
    for (size_t i = 0; i < count; i++)
        if (point[unused[i]] != fields[unused[i]].standard)
            complain(complaints, unused[i], "method = \"%s\" has none: leave it out", method);
}

static void check_gather(const sddmm_plan *plan, mc_complaints *complaints) {
    check_registers(plan, complaints);
    check_lhs(plan, complaints);
    if (plan->warps > SDDMM_GATHER_WARPS)
        complain(complaints, F_WARPS, "method = \"gather\" takes up to %d", SDDMM_GATHER_WARPS);
    if (plan->groups == 1 && !plan->prefetch)
        complain(complaints, F_PREFETCH, "with one group there is nothing to load ahead: leave it out");
}

/* Checks what methods "gather" and "window" have in common, which take items. */
static void check_items(const int64_t *point, const sddmm_plan *plan, mc_complaints *complaints) {
    static const int unused[] = {F_TILE_N, F_TILE_ROWS};
    sddmm_check_unused(point, plan->method == SDDMM_WINDOW ? "window" : "gather", unused,
                       sizeof unused / sizeof *unused, complaints);
    check_panel(plan, complaints);
    check_reads(plan, complaints);
    if (plan->method == SDDMM_WINDOW) check_window(point, plan, complaints);
    else check_gather(plan, complaints);
}

static void check_split(const int64_t *point, const sddmm_plan *plan, mc_complaints *complaints) {
    char bytes[DIGIT_SPLIT_TEXT];
    digit_split_text(plan->lhs, plan->a.bits, bytes);
    if (!digit_split_fits(point[F_PRECISION_SPLIT], plan->lhs, plan->a.bits))
        complain(complaints, F_PRECISION_SPLIT,
                 "lhs = \"%s\" takes \"%s\": an SDDMM multiplies digits of 8 bits", plan->lhs.name, bytes);
}

void sddmm_check(const int64_t *point, const sddmm_plan *plan, mc_complaints *complaints) {
    check_shapes(plan, complaints);
    check_split(point, plan, complaints);
    check_output(plan, complaints);
    check_overlap(point, F_OVERLAP, complaints);
    if (plan->method == SDDMM_DENSE) sddmm_dense_check(point, plan, complaints);
    else check_items(point, plan, complaints);
}
