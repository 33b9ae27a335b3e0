/* The solver `gather` of the SDDMM: what its fields have against each other. */
#include "ops/sddmm/gather/gather.h"
#include "ops/sddmm/fields.h"

/* Registers that A's operands and its next words take in an octet; from shared memory, the operands of the
   units that lie abreast. */
static int held_of_lhs(const gather_plan *plan) {
    enum { GUARDS = 8 };
    const sddmm_arithmetic *a = &plan->problem.arithmetic;
    int unit = a->steps * a->a_operands, ahead = 0;
    if (plan->lhs_in == GATHER_LHS_SHARED) return plan->abreast * unit;
    if (plan->prefetch_lhs) ahead = values_words(a->lhs, plan->items.tile_k / 4) + GUARDS * plan->abreast;
    return plan->items.chunks * unit + ahead;
}

/* Complains of too many registers that a thread holds for long, of 255: accumulators, B's buffers, A's
   operands, columns, scales and mask values. ptxas 13 spills from about 224 on, and where there are two
   octets somewhat before. */
static void check_registers(const gather_plan *plan, mc_complaints *complaints) {
    enum { MOST = 216, MOST_OF_TWO = 200 };
    const sddmm_problem *p = &plan->problem;
    int groups = plan->items.groups, slots = 2 * groups, octets = sddmm_octets(p);
    int accs = octets * plan->abreast * p->arithmetic.accs;
    int held = groups * accs + plan->buffers * gather_group_regs(plan);
    held += octets * held_of_lhs(plan) + plan->abreast * slots;
    if (plan->abreast > 1) held += accs; /* of odd chunks */
    if (p->order != SDDMM_BCRS) held += slots;
    if (p->output.scale == OUT_PER_COLUMN) held += slots;
    if (p->mask == SDDMM_VALUES) held += 2 * octets * slots;
    if (held > (octets > 1 ? MOST_OF_TWO : MOST))
        complain(complaints, F_TILE_K,
                 "%d with %d groups leaves no registers: a smaller one, or fewer groups", plan->items.tile_k,
                 groups);
}

static void check_reads(const gather_plan *plan, mc_complaints *complaints) {
    const sddmm_arithmetic *a = &plan->problem.arithmetic;
    int line = sddmm_chunk_k(a) * plan->abreast;
    if (plan->abreast == 1) return;
    if (plan->problem.layout == SDDMM_ROWS)
        complain(complaints, F_READS, "\"lines\" are of columns of B: layout = \"rows\" has none");
    else if (plan->items.tile_k < line)
        complain(complaints, F_READS, "a line has %d k of rhs = \"%s\": more than tile_k = %d", line,
                 a->rhs.name, plan->items.tile_k);
}

/* A row's slots lie side by side in strides alone; and runs are whole where items begin with multiples of 16
   slots of a row block. */
static void check_run(const gather_plan *plan, mc_complaints *complaints) {
    const sddmm_items *items = &plan->items;
    int bytes = items->run * out_element_bytes(plan->problem.output.element);
    if (items->run == 1) return;
    if (!sddmm_stride(&plan->problem))
        complain(complaints, F_RUN, "%d wants order = \"srbcrs16\" or \"srbcrs32\"", items->run);
    else if (items->window != MC_OPEN)
        complain(complaints, F_RUN, "%d wants window = \"open\": items begin anywhere else", items->run);
    else if (plan->problem.mask == SDDMM_VALUES)
        complain(complaints, F_RUN, "%d wants mask = \"pattern\"", items->run);
    else if (plan->problem.align < bytes)
        complain(complaints, F_RUN, "%d stores %d bytes at once: align = 16", items->run, bytes);
    else if (items->run > 2 * items->groups)
        complain(complaints, F_RUN, "%d wants groups of 2 or more", items->run);
}

static void check_turn(const gather_plan *plan, mc_complaints *complaints) {
    if (plan->items.turn > 1 && plan->items.window != MC_OPEN)
        complain(complaints, F_TURN, "%d wants window = \"open\": else items go by windows",
                 plan->items.turn);
}

static void check_lhs(const gather_plan *plan, mc_complaints *complaints) {
    if (plan->shared_bytes > STATIC_SHARED)
        complain(complaints, F_LHS_IN,
                 "panels of A of %d warps take %u bytes of shared memory, a kernel has %d: fewer warps, or a "
                 "smaller tile_k",
                 plan->problem.warps, plan->shared_bytes, STATIC_SHARED);
    if (plan->prefetch_lhs && (!plan->loops || !plan->wide))
        complain(complaints, F_PREFETCH_LHS, "%s: there is no next panel to load, leave it out",
                 plan->wide ? "tile_k holds all of k" : "these shapes have no panels");
}

void sddmm_gather_check(const gather_plan *plan, mc_complaints *complaints) {
    sddmm_check_panel(&plan->problem, &plan->items, complaints);
    check_reads(plan, complaints);
    check_registers(plan, complaints);
    check_lhs(plan, complaints);
    check_run(plan, complaints);
    check_turn(plan, complaints);
    if (plan->problem.warps > GATHER_MAX_WARPS)
        complain(complaints, F_WARPS, "method = \"gather\" takes up to %d", GATHER_MAX_WARPS);
    if (plan->items.groups == 1 && !plan->prefetch)
        complain(complaints, F_PREFETCH, "with one group there is nothing to load ahead: leave it out");
}
