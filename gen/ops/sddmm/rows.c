/* A row-major B. Neighbouring k of a column lie ldb apart, so that each value is a load of its own, and words
 * are joined of values. Of 4 bits a load brings the value's neighbour too: the half of the byte that the
 * value is in says whether its column is odd. */
#include "ops/sddmm/emit.h"

void sddmm_declare_rows(sddmm_emitter *e) {
    mc_builder *b = e->b;
    if (e->plan->layout != SDDMM_ROWS) return;
    e->value_at = b64(b, "value_at");
    e->row_k = b32(b, "row_k");
    if (e->plan->rhs.bits == 4) e->shift = b32(b, "shift"), e->byte_column = b32(b, "byte_column");
    if (e->row_bytes.kind != PTX_REG) return;
    e->row_step = b64(b, "row_step");
    EMIT(b, cvt_s64, e->row_step, e->row_bytes);
}

/* Sets value_at: the address of the value in COLUMN of row K + OFFSET. */
static void emit_first(sddmm_emitter *e, mc_reg column, mc_reg k, int offset) {
    mc_builder *b = e->b;
    digit_side side = e->plan->rhs;
    if (side.bits == 4) {
        EMIT(b, shr_u32, e->byte_column, column, I(1));
        column = e->byte_column;
    }
    if (offset) {
        EMIT(b, add_s32, e->row_k, k, I(offset));
        k = e->row_k;
    }
    EMIT(b, mad_wide, e->value_at, column, I(side_bytes(side)), e->b_array);
    EMIT(b, mad_wide, e->value_at, k, e->row_bytes, e->value_at);
}

void sddmm_emit_row_loads(sddmm_emitter *e, mc_reg column, mc_reg k, int offset, int count,
                          const mc_reg *guards, const mc_reg *to) {
    mc_builder *b = e->b;
    mc_operand step = e->row_step.id ? e->row_step : e->row_bytes;
    emit_first(e, column, k, offset);
    for (int i = 0; i < count; i++) {
        if (i > 0) EMIT(b, add_s64, e->value_at, e->value_at, step);
        if (side_bytes(e->plan->rhs) == 2) EMIT_IF(b, guards[i], ldr_u16, to[i], AT(e->value_at, 0));
        else EMIT_IF(b, guards[i], ldr_u8, to[i], AT(e->value_at, 0));
    }
}

/* Takes from bytes their halves of this column, and joins those of two k in the first of each two
   registers. */
static void emit_pairs(sddmm_emitter *e, mc_reg column, const mc_reg *values) {
    mc_builder *b = e->b;
    EMIT(b, and_b32, e->shift, column, I(1));
    EMIT(b, shl_b32, e->shift, e->shift, I(2));
    for (int i = 0; i < e->plan->step_k; i++) {
        EMIT(b, shr_u32, values[i], values[i], e->shift);
        EMIT(b, and_b32, values[i], values[i], I(15));
        if (i % 2) EMIT(b, mad_s32, values[i - 1], values[i], I(16), values[i - 1]);
    }
}

void sddmm_emit_row_words(sddmm_emitter *e, mc_reg column, const mc_reg *values, const mc_reg *words) {
    const sddmm_plan *plan = e->plan;
    mc_reg bytes[SDDMM_MAX_STEP_K];
    if (plan->rhs.bits != 4) {
        sddmm_emit_join(e, plan->rhs, values, sddmm_b_words(plan), words);
        return;
    }
    emit_pairs(e, column, values);
    for (int i = 0; i < plan->step_k / 2; i++) bytes[i] = values[2 * i];
    sddmm_emit_join(e, plan->rhs, bytes, sddmm_b_words(plan), words);
}
