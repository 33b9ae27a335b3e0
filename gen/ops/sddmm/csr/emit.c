/* The csr SDDMM's instructions, from its plan.
 *
 *   this group's nonzeros -> [wide path] or [edge path]
 *   a path: loop.c (a nonzero's products) -> store.c (their sum over lanes, C) */
#include "ops/sddmm/csr/emit.h"
#include "parts/fragment.h"

/* -- Which nonzeros ----------------------------------------------------------------------------------- */

static void emit_place(csr_emitter *e) {
    mc_builder *b = e->b;
    const csr_plan *plan = e->plan;
    const int warps = plan->problem.warps;
    heading(b, "lane = group * %d + part; groups have %d neighbouring nonzeros in turn", plan->lanes,
            plan->ahead);
    const thread_place place = load_thread_place(b, MC_WARP * warps);
    e->lane = place.lane;
    if (plan->lanes > 1) e->part = and_b32(b, "part", e->lane, I(plan->lanes - 1));
    mc_reg number = load_special(b, "block", "ctaid.x");
    if (warps > 1) number = mad_s32(b, "warp_of_grid", number, I(warps), place.warp);
    e->first = mul_s32(b, "warp_first", number, I(plan->groups * plan->share));
    if (plan->groups == 1) return;
    e->group = shr_u32(b, "group", e->lane, I(log2_of(plan->lanes)));
    e->first = mad_s32(b, "first", e->group, I(plan->ahead), e->first);
}

/* An odd last nonzero shares its item with none, whose column is -1. */
static void emit_count(csr_emitter *e) {
    mc_builder *b = e->b;
    e->items = load_array(b, "items");
    mc_reg count = load_shape(b, "item_count", true), last = add_s32(b, "last_item", count, I(-1));
    mc_reg at = mad_wide(b, "last_item_at", last, I(4 * WORD), e->items);
    mc_reg column = ldr_b32(b, "last_column", AT(at, 3 * WORD));
    e->listed = shl_b32(b, "listed", count, I(1));
    mc_reg odd = shr_u32(b, "odd", column, I(31));
    e->nonzeros = sub_s32(b, "nonzeros", e->listed, odd);
}

/* -- Which path --------------------------------------------------------------------------------------- */

static void emit_choice(const csr_emitter *e, mc_label edge) {
    mc_builder *b = e->b;
    const csr_checks *c = &e->plan->checks;
    const int unit = csr_unit(e->plan);
    mc_reg bits = b32(b, "odd_bits"), odd = pred(b, "is_odd");
    const struct {
        bool tested;
        mc_reg value;
        int unit;
        const char *why;
    } choices[] = {
        {c->k, e->k, unit, "k is no multiple of a load's elements"},
        {c->lda, e->lda, unit, "rows of A are not aligned for vector loads"},
        {c->ldb, e->ldb, unit, "columns of B are not"},
        {c->a_address, c->a_address ? cvt_low(b, "a_low", e->a) : e->a, SDDMM_UNIT, "A itself is not"},
        {c->b_address, c->b_address ? cvt_low(b, "b_low", e->b_array) : e->b_array, SDDMM_UNIT,
         "B itself is not"}};
    heading(b, "Wide path or edge path: what the spec leaves open");
    for (size_t i = 0; i < sizeof choices / sizeof *choices; i++) {
        if (!choices[i].tested) continue;
        note(b, "%s", choices[i].why);
        EMIT(b, and_b32, bits, choices[i].value, I(choices[i].unit - 1));
        EMIT(b, setp_ne, odd, bits, I(0));
        EMIT_IF(b, odd, bra_uni, TO(edge));
    }
}

/* -- The kernel --------------------------------------------------------------------------------------- */

static void load_operands(csr_emitter *e) {
    mc_builder *b = e->b;
    const sddmm_problem *p = &e->plan->problem;
    e->k = load_shape(b, "k", p->k == MC_OPEN);
    e->lda = load_shape(b, "lda", p->lda == MC_OPEN);
    e->ldb = load_shape(b, "ldb", p->ldb == MC_OPEN);
    e->a = load_array(b, "a"), e->b_array = load_array(b, "b");
}

static void emit_kernel(csr_emitter *e) {
    mc_builder *b = e->b;
    const csr_plan *plan = e->plan;
    mc_label edge = label(b, "EDGE");
    sddmm_begin(&plan->problem, b);
    emit_launch_next(b, plan->problem.overlap);
    emit_place(e);
    emit_count(e);
    load_operands(e);
    sddmm_csr_declare_store(e);
    emit_grid_wait(b, plan->problem.overlap, "A or B");
    if (plan->wide.emitted && plan->edge.emitted) emit_choice(e, edge);
    if (plan->wide.emitted) {
        heading(b, "Wide path: whole units of 16 bytes");
        sddmm_csr_emit_loop(e, &plan->wide);
        EMIT_RET(b);
    }
    if (!plan->edge.emitted) return;
    b->prefix = "edge_";
    heading(b, "Edge path: any rows, any k, in loads of an element");
    set_label(b, edge);
    sddmm_csr_emit_loop(e, &plan->edge);
    EMIT_RET(b);
    b->prefix = NULL;
}

void sddmm_csr_emit(const void *data, mc_builder *b) {
    const csr_plan *plan = data;
    csr_emitter e = {.plan = plan, .b = b};
    emit_kernel(&e);
}
