/* The gather SDDMM's instructions, from its plan.
 *
 *   this warp's item and its indices -> scales, mask values
 *                                    -> [wide path] -> [edge path: the rest of k] -> stores
 *
 * A warp computes one item: up to 16 * groups nonzero vectors of one row block. Operands are swapped: the
 * vectors, which are columns of B, are the mma's rows, 16 in each group, and rows of A are its columns. Lane
 * 4 g + t loads its part of columns g and g + 8 of a group (of lines others: lines.c), and of row g of the
 * row block, so that no transpose is needed. A panel of A stays in registers for all groups, or in shared
 * memory (lhs.c). */
#include "ops/sddmm/emit.h"

/* Registers that ptxas 13 takes besides: where both sides have two digits; for lines. */
enum { DIGIT_SPARE = 8, LINE_SPARE = 8 };

/* -- The thread's place and its item ------------------------------------------------------------------ */

static mc_reg emit_place(sddmm_emitter *e, mc_reg *index_row) {
    mc_builder *b = e->b;
    const sddmm_plan *plan = e->plan;
    heading(b, "This warp's item; lane = 4 g + t");
    thread_place place = load_thread_place(b, MC_WARP * plan->warps);
    mc_reg item = load_special(b, "item", "ctaid.x");
    e->lane = place.lane, e->g = place.g, e->t = place.t, e->warp = place.warp;
    *index_row = sddmm_emit_lane(e, place.lane);
    if (plan->warps == 1) return item;
    mc_reg count = load_shape(b, "item_count", true), beyond = pred(b, "beyond");
    EMIT(b, mad_s32, item, item, I(plan->warps), place.warp);
    EMIT(b, setp_ge, beyond, item, count);
    builder_emit(b, beyond, OP_ret, NULL, 0);
    return item;
}

void sddmm_emit_load_indices(sddmm_emitter *e, mc_reg at, int offset, const mc_reg *index) {
    mc_builder *b = e->b;
    int count = 2 * e->plan->groups;
    if (count == 2) EMIT(b, ldr_v2, V2(index), AT(at, offset));
    for (int i = 0; i + 4 <= count; i += 4) EMIT(b, ldr_v4, V4(index + i), AT(at, offset + i * WORD));
}

/* Loads the item and its indices, of which neither waits for the other. The loads are relaxed: ptxas would
   move others down to their use. */
static void emit_item(sddmm_emitter *e) {
    mc_builder *b = e->b;
    int indices = 2 * e->plan->groups;
    mc_reg index_row, item = emit_place(e, &index_row);
    mc_reg items = load_array(b, "items"), col_idx = load_array(b, "col_idx");
    mc_reg at = b64(b, "item_at"), index_at = b64(b, "index_at");
    b32_array(b, "record", 4, e->record);
    const mc_reg *index = sddmm_declare_indices(e);
    EMIT(b, mad_wide, at, item, I(4 * WORD), items);
    EMIT(b, mad_wide, index_at, item, I(8 * indices * WORD), col_idx);
    EMIT(b, mad_wide, index_at, index_row, I(indices * WORD), index_at);
    note(b, "row block, place of the first vector in C, slots in use; columns of slots %s",
         sddmm_slots(e->plan));
    EMIT(b, ldr_v4, V4(e->record), AT(at, 0));
    sddmm_emit_load_indices(e, index_at, 0, index);
    sddmm_emit_more_indices(e, index_at);
}

/* -- Shapes and arrays -------------------------------------------------------------------------------- */

mc_operand sddmm_emit_row_bytes(sddmm_emitter *e, bool is_b) {
    mc_builder *b = e->b;
    digit_side side = is_b ? e->plan->rhs : e->plan->lhs;
    int64_t fixed = is_b ? e->plan->ldb : e->plan->lda;
    mc_reg ld = is_b ? e->ldb : e->lda;
    if (fixed != MC_OPEN) return I(sddmm_bytes(side, fixed));
    if (sddmm_stored_bits(side) == 8) return ld;
    mc_reg bytes = b32(b, is_b ? "b_row_bytes" : "a_row_bytes");
    if (side.bits == 4) EMIT(b, shr_u32, bytes, ld, I(1));
    else EMIT(b, shl_b32, bytes, ld, I(1));
    return bytes;
}

void sddmm_emit_row(sddmm_emitter *e, mc_reg row_block) {
    mc_builder *b = e->b;
    const sddmm_plan *plan = e->plan;
    mc_reg g = e->g;
    if (plan->vec < SDDMM_MMA_ROWS) {
        note(b, "the mma's empty columns get rows again: their sums are not stored");
        EMIT(b, and_b32, e->row, e->g, I(plan->vec - 1));
        g = e->row;
    }
    EMIT(b, mad_s32, e->row, row_block, I(plan->vec), g);
}

/* Sets a_row: the address of this lane's row of the row block. */
static void emit_a_row(sddmm_emitter *e, mc_reg a) {
    mc_builder *b = e->b;
    e->row = b32(b, "row"), e->a_row = b64(b, "a_row");
    sddmm_emit_row(e, sddmm_row_block(e));
    EMIT(b, mad_wide, e->a_row, e->row, sddmm_emit_row_bytes(e, false), a);
}

static void emit_accumulators(sddmm_emitter *e) {
    mc_builder *b = e->b;
    int count = e->plan->groups * e->plan->abreast * e->plan->sums * SDDMM_ACC;
    b32_array(b, "acc", count, e->acc);
    sddmm_emit_zero(b, e->acc, count);
}

void sddmm_emit_group_end(sddmm_emitter *e, int group, mc_label end) {
    mc_builder *b = e->b;
    if (!e->next.id) e->next = pred(b, "last");
    EMIT(b, setp_lt, e->next, sddmm_count(e), I(MC_SAMPLED_SLOTS * group + 1));
    EMIT_IF(b, e->next, bra_uni, TO(end));
}

/* -- Which path --------------------------------------------------------------------------------------- */

/* Registers of the choice. */
typedef struct chooser {
    mc_reg odd, bits;
    mc_label edge;
} chooser;

static void branch_if_odd(sddmm_emitter *e, const chooser *c, mc_reg value, int unit, const char *why) {
    mc_builder *b = e->b;
    note(b, "%s", why);
    EMIT(b, and_b32, c->bits, value, I(unit - 1));
    EMIT(b, setp_ne, c->odd, c->bits, I(0));
    EMIT_IF(b, c->odd, bra_uni, TO(c->edge));
}

static mc_reg low_half(mc_builder *b, const char *name, mc_reg array) {
    mc_reg low = b32(b, name);
    EMIT(b, cvt_low, low, array);
    return low;
}

/* Chooses the path: the same one for every thread of the grid. */
static void emit_choice(sddmm_emitter *e, mc_reg a, mc_label edge) {
    mc_builder *b = e->b;
    const sddmm_plan *plan = e->plan;
    const sddmm_checks *checks = &plan->checks;
    int access = sddmm_a_access(plan);
    bool any = checks->lda || checks->ldb || checks->a_address || checks->b_address;
    if (!any && plan->k != MC_OPEN) return;
    heading(b, "Wide path or edge path: what the spec leaves open");
    chooser c = {pred(b, "odd"), b32(b, "odd_bits"), edge};
    if (plan->k == MC_OPEN) {
        note(b, "k has not even one unit");
        EMIT(b, setp_lt, c.odd, e->k, I(plan->unit_k));
        EMIT_IF(b, c.odd, bra_uni, TO(edge));
    }
    int a_unit = sddmm_row_unit(plan, false);
    if (checks->lda) branch_if_odd(e, &c, e->lda, a_unit, "rows of A are not aligned for vector loads");
    if (checks->ldb) branch_if_odd(e, &c, e->ldb, plan->unit_k, "rows of B are not");
    if (checks->a_address) branch_if_odd(e, &c, low_half(b, "a_low", a), access, "A itself is not");
    if (checks->b_address)
        branch_if_odd(e, &c, low_half(b, "b_low", e->b_array), SDDMM_UNIT, "B itself is not");
}

/* Sets k_left to the k behind the wide path's units. */
static void emit_rest(sddmm_emitter *e) {
    mc_builder *b = e->b;
    const sddmm_plan *plan = e->plan;
    if (plan->k != MC_OPEN) EMIT(b, mov_b32, e->k_left, I(plan->k % plan->unit_k));
    else EMIT(b, and_b32, e->k_left, e->k, I(plan->unit_k - 1));
}

static void emit_stores(sddmm_emitter *e) {
    mc_builder *b = e->b;
    mc_label end = label(b, "END");
    const char *own = sddmm_own_name(e->plan);
    heading(b, "Store: rows 2 t and 2 t + 1 of the vectors in slots 16 j + %s and 16 j + 8 + %s", own, own);
    for (int group = 0; group < e->plan->groups; group++) {
        if (group > 0) sddmm_emit_group_end(e, group, end);
        sddmm_emit_store(e, group);
    }
    set_label(b, end);
    EMIT_RET(b);
}

/* -- The kernel --------------------------------------------------------------------------------------- */

void sddmm_emit(const sddmm_plan *plan, mc_builder *b) {
    sddmm_emitter emitter = {.plan = plan, .b = b}, *e = &emitter;
    if (plan->sums == SDDMM_MAX_SUMS) b->spare += DIGIT_SPARE;
    if (plan->abreast > 1) b->spare += LINE_SPARE;
    emit_launch_next(b, plan->overlap);
    emit_item(e);
    e->k = load_shape(b, "k", plan->k == MC_OPEN);
    e->lda = load_shape(b, "lda", plan->lda == MC_OPEN);
    e->ldb = load_shape(b, "ldb", plan->ldb == MC_OPEN);
    mc_reg a = load_array(b, "a");
    e->b_array = load_array(b, "b");
    emit_accumulators(e);
    emit_grid_wait(b, plan->overlap, "A or B");
    emit_a_row(e, a);
    sddmm_emit_columns(e);
    e->row_bytes = sddmm_emit_row_bytes(e, true);
    sddmm_declare_output(e);
    sddmm_emit_item_factors(e);
    for (int group = 0; group < plan->groups; group++) sddmm_emit_group_factors(e, group);
    sddmm_declare_sides(e);
    if (plan->shared_bytes) shared_array(b, "a_panels", plan->shared_bytes, SDDMM_UNIT);
    sddmm_declare_rows(e);
    if (plan->loops || plan->edge) {
        e->k_left = b32(b, "k_left");
        EMIT(b, mov_b32, e->k_left, dim_operand(plan->k, e->k));
    }
    mc_label edge = label(b, "EDGE");
    if (plan->wide && plan->edge) emit_choice(e, a, edge);
    if (plan->wide) sddmm_emit_wide(e);
    if (plan->store_early) {
        EMIT_RET(b);
        return;
    }
    if (plan->wide && plan->edge) emit_rest(e);
    if (plan->edge) {
        set_label(b, edge);
        sddmm_emit_edge(e);
    }
    emit_stores(e);
}
