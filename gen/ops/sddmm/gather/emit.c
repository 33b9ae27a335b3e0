/* The gather SDDMM's instructions, from its plan.
 *
 *   this warp's item and its indices -> scales, mask values
 *                                    -> [wide path] -> [edge path: the rest of k] -> stores
 *
 * A warp computes one item: up to 16 * groups nonzero vectors of one row block. Operands are swapped: the
 * vectors, which are columns of B, are the mma's rows, 16 in each group, and rows of A are its columns. Lane
 * 4 g + t loads its part of columns g and g + 8 of a group (of lines others: lines.c), and of row g of the
 * row block, so that no transpose is needed. Of a row block of 16 rows it loads rows g and g + 8, which are
 * in an mma each. A panel of A stays in registers for all groups, or in shared memory (lhs.c). */
#include "ops/sddmm/gather/gather.h"

/* Registers that ptxas 13 takes besides: for lines, and for vectors of 1 and 16 rows. */
enum { LINE_SPARE = 8, VEC_SPARE = 8 };

/* -- Which path --------------------------------------------------------------------------------------- */

/* The matrices, as far as the paths are chosen by them. */
typedef struct matrices {
    mc_reg a, lda, ldb;
} matrices;

/* Registers of the choice. */
typedef struct chooser {
    mc_builder *b;
    mc_reg odd, bits;
    mc_label edge;
} chooser;

static void branch_if_odd(const chooser *c, mc_reg value, int unit, const char *why) {
    mc_builder *b = c->b;
    note(b, "%s", why);
    EMIT(b, and_b32, c->bits, value, I(unit - 1));
    EMIT(b, setp_ne, c->odd, c->bits, I(0));
    EMIT_IF(b, c->odd, bra_uni, TO(c->edge));
}

/* Chooses the path: the same one for every thread of the grid. */
static void emit_choice(gather_emitter *e, const matrices *m, mc_label edge) {
    mc_builder *b = e->b;
    const gather_checks *checks = &e->plan->checks;
    const sddmm_arithmetic *a = &e->plan->problem.arithmetic;
    bool open = e->plan->problem.k == MC_OPEN;
    if (!checks->lda && !checks->ldb && !checks->a_address && !checks->b_address && !open) return;
    heading(b, "Wide path or edge path: what the spec leaves open");
    chooser c = {b, pred(b, "odd"), b32(b, "odd_bits"), edge};
    if (open) {
        note(b, "k has not even one unit");
        EMIT(b, setp_lt, c.odd, e->k, I(a->unit_k));
        EMIT_IF(b, c.odd, bra_uni, TO(edge));
    }
    if (checks->lda)
        branch_if_odd(&c, m->lda, sddmm_a_multiple(a), "rows of A are not aligned for vector loads");
    if (checks->ldb) branch_if_odd(&c, m->ldb, a->unit_k, "rows of B are not");
    if (checks->a_address) branch_if_odd(&c, cvt_low(b, "a_low", m->a), sddmm_a_access(a), "A itself is not");
    if (checks->b_address)
        branch_if_odd(&c, cvt_low(b, "b_low", e->rhs.array), SDDMM_UNIT, "B itself is not");
}

/* Sets k_left to the k behind the wide path's units. */
static void emit_rest(const gather_emitter *e) {
    int64_t k = e->plan->problem.k;
    int unit_k = e->plan->problem.arithmetic.unit_k;
    if (k != MC_OPEN) EMIT(e->b, mov_b32, e->k_left, I(k % unit_k));
    else EMIT(e->b, and_b32, e->k_left, e->k, I(unit_k - 1));
}

/* Emits the paths that there are. */
static void emit_paths(gather_emitter *e, const matrices *m) {
    mc_builder *b = e->b;
    const gather_plan *plan = e->plan;
    mc_label edge = label(b, "EDGE");
    if (plan->loops || plan->edge) e->k_left = carried(b, "k_left", dim_operand(plan->problem.k, e->k));
    if (plan->wide && plan->edge) emit_choice(e, m, edge);
    if (plan->wide) gather_emit_wide(e);
    if (plan->wide && plan->edge) emit_rest(e);
    if (!plan->edge) return;
    set_label(b, edge);
    gather_emit_edge(e);
}

static void emit_stores(gather_emitter *e) {
    mc_builder *b = e->b;
    mc_label end = label(b, "END");
    const char *own = gather_own_text(e->plan);
    if (e->plan->items.run > 1) heading(b, "Store: rows 2 t and 2 t + 1 of the runs of %s", own);
    else
        heading(b, "Store: rows 2 t and 2 t + 1 of the vectors in slots 16 j + %s and 16 j + 8 + %s", own,
                own);
    for (int group = 0; group < e->plan->items.groups; group++) {
        if (group > 0) gather_emit_group_end(e, group, end);
        gather_emit_store(e, group);
    }
    set_label(b, end);
}

/* -- The kernel --------------------------------------------------------------------------------------- */

/* Sets the address of this lane's row of A, the columns that it reads of B, and how far rows lie apart. */
static void emit_operands(gather_emitter *e, const matrices *m) {
    mc_builder *b = e->b;
    const sddmm_problem *p = &e->plan->problem;
    const sddmm_arithmetic *a = &p->arithmetic;
    mc_reg row = b32(b, "row");
    sddmm_emit_row(b, p, item_row_block(e->words), e->place.g, row);
    mc_operand row_bytes = sddmm_emit_row_bytes(b, "a_row_bytes", a->lhs, p->lda, m->lda);
    e->a_row[0] = mad_wide(b, "a_row", row, row_bytes, m->a);
    if (sddmm_octets(p) > 1) {
        sddmm_emit_next_octet(b, row);
        e->a_row[1] = mad_wide(b, "a_row_below", row, row_bytes, m->a);
    }
    gather_emit_columns(e);
    e->rhs.row_bytes = sddmm_emit_row_bytes(b, "b_row_bytes", a->rhs, p->ldb, m->ldb);
}

/* Loads scales and mask values. */
static void emit_factors(gather_emitter *e) {
    const gather_plan *plan = e->plan;
    e->store = (sddmm_store){.b = e->b,
                             .problem = &plan->problem,
                             .items = &plan->items,
                             .t = e->place.t,
                             .item_words = e->words,
                             .index = e->slots.index};
    sddmm_declare_store(&e->store, (mc_reg){0});
    sddmm_emit_item_factors(&e->store, e->lanes.own);
    for (int group = 0; group < plan->items.groups; group++) sddmm_emit_group_factors(&e->store, group);
}

/* Loads shapes and arrays. */
static matrices emit_matrices(gather_emitter *e) {
    mc_builder *b = e->b;
    const sddmm_problem *p = &e->plan->problem;
    matrices m;
    e->k = load_shape(b, "k", p->k == MC_OPEN);
    m.lda = load_shape(b, "lda", p->lda == MC_OPEN);
    m.ldb = load_shape(b, "ldb", p->ldb == MC_OPEN);
    m.a = load_array(b, "a");
    e->rhs.array = load_array(b, "b");
    return m;
}

void sddmm_gather_emit(const void *data, mc_builder *b) {
    const gather_plan *plan = data;
    gather_emitter emitter = {.plan = plan, .b = b}, *e = &emitter;
    bool rows = plan->problem.layout == SDDMM_ROWS;
    b->spare += plan->problem.arithmetic.spare + (plan->abreast > 1 ? LINE_SPARE : 0);
    if (plan->problem.vec == 1 || plan->problem.vec == 16) b->spare += VEC_SPARE;
    sddmm_begin(&plan->problem, b);
    emit_launch_next(b, plan->problem.overlap);
    gather_emit_item(e);
    matrices m = emit_matrices(e);
    gather_emit_accumulators(e);
    emit_grid_wait(b, plan->problem.overlap, "A or B");
    emit_operands(e, &m);
    emit_factors(e);
    e->multiplier = sddmm_declare_multiplier(b, &plan->problem.arithmetic, plan->edge || rows);
    if (plan->shared_bytes) shared_array(b, "a_panels", plan->shared_bytes, SDDMM_UNIT);
    gather_declare_rows(e);
    emit_paths(e, &m);
    if (!plan->store_early) emit_stores(e);
    EMIT_RET(b);
}
