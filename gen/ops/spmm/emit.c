#include "ops/spmm/emit.h"

void spmm_emit_lane(spmm_emitter *e) {
    mc_builder *b = e->b;
    const spmm_plan *plan = e->plan;
    heading(b, "This thread's place: lane = 4 g + t of a warp%s",
            plan->split > 1 ? ", part of the warps that share a row block" : "");
    e->place = load_thread_place(b, plan->threads);
    if (plan->split > 1) e->part = and_b32(b, "part", e->place.warp, I(plan->split - 1));
}

void spmm_emit_tile_column(spmm_emitter *e) {
    mc_reg tile = load_special(e->b, "tile", "ctaid.y");
    e->tile_col = mul_s32(e->b, "tile_col", tile, I(e->plan->tile_n));
}

void spmm_emit_shapes(spmm_emitter *e) {
    mc_builder *b = e->b;
    const spmm_plan *plan = e->plan;
    e->m = load_shape(b, "m", plan->guard_rows && plan->m == MC_OPEN);
    e->n = load_shape(b, "n", plan->n == MC_OPEN);
    e->ldb = load_shape(b, "ldb", plan->ldb == MC_OPEN);
    e->ldc = load_shape(b, "ldc", plan->ldc == MC_OPEN);
}

/* Lane 4 g + t has sums of rows 2 t and 2 t + 1 (of one row, of row 0 where t is 0), in the paper's order of
   row g. */
void spmm_emit_sum_guards(spmm_emitter *e, bool share_sums) {
    mc_builder *b = e->b;
    const spmm_plan *plan = e->plan;
    e->stores = e->in_rows;
    if (plan->vec >= SPMM_MMA_ROWS) return;
    note(b, "lanes of the mma's empty columns have no sums");
    bool swapped = plan->math.order == SPMM_SWAPPED;
    mc_reg row = swapped ? e->place.t : e->place.g;
    int rows = swapped ? (plan->vec + 1) / 2 : plan->vec;
    e->has_sums = setp_lt(b, "has_sums", row, I(rows));
    if (share_sums) return;
    e->stores = e->in_rows.id ? setp_lt_and(b, "stores", row, I(rows), e->in_rows) : e->has_sums;
}

out_residual spmm_emit_residual(const spmm_emitter *e) {
    const spmm_plan *plan = e->plan;
    if (plan->output.residual == OUT_NO_ADDEND) return (out_residual){.load = 0};
    mc_reg array = load_array(e->b, "residual"), ldr = load_shape(e->b, "ldr", plan->ldr == MC_OPEN);
    return (out_residual){.array = array, .ld = dim_operand(plan->ldr, ldr)};
}

/* Where two elements share a byte it has two columns of B; elements of 12 and 16 bits take two bytes. */
void spmm_emit_row_bytes(spmm_emitter *e) {
    mc_builder *b = e->b;
    const spmm_plan *plan = e->plan;
    if (plan->ldb != MC_OPEN) e->row_bytes = I(spmm_b_bytes(plan, plan->ldb));
    else if (spmm_b_is_paired(plan)) e->row_bytes = shr_u32(b, "row_bytes", e->ldb, I(1));
    else if (plan->math.b_bits > 8)
        e->row_bytes = shl_b32(b, "row_bytes", e->ldb, I(log2_of(spmm_b_unit(plan))));
    else e->row_bytes = e->ldb;
}

static void branch_if_odd(mc_builder *b, spmm_choice c, mc_reg odd, mc_reg bits, mc_label edge) {
    if (!c.tested) return;
    mc_reg value = c.low ? cvt_low(b, c.low, c.value) : c.value;
    note(b, "%s", c.otherwise);
    EMIT(b, and_b32, bits, value, I(c.unit - 1));
    EMIT(b, setp_ne, odd, bits, I(0));
    EMIT_IF(b, odd, bra_uni, TO(edge));
}

void spmm_emit_choice(const spmm_emitter *e, bool full_tile, const spmm_choice *choices, size_t count,
                      mc_label edge) {
    mc_builder *b = e->b;
    mc_reg odd = pred(b, "odd"), bits = b32(b, "odd_bits");
    if (full_tile) {
        note(b, "the tile reaches beyond n");
        EMIT(b, add_s32, bits, e->tile_col, I(e->plan->tile_n));
        EMIT(b, setp_gt, odd, bits, dim_operand(e->plan->n, e->n));
        EMIT_IF(b, odd, bra_uni, TO(edge));
    }
    for (size_t i = 0; i < count; i++) branch_if_odd(b, choices[i], odd, bits, edge);
}
