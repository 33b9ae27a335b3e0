/* A row-major B. Neighbouring k of a column lie ldb apart, so that each value is a load of its own, and words
 * are joined of values. Of 4 bits a load brings the value's neighbour too: the half of the byte that the
 * value is in says whether its column is odd. */
#include "ops/sddmm/gather/gather.h"
#include "parts/words.h"

void gather_declare_rows(gather_emitter *e) {
    mc_builder *b = e->b;
    gather_rhs *r = &e->rhs;
    if (e->plan->problem.layout != SDDMM_ROWS) return;
    r->value_at = b64(b, "value_at");
    r->row_k = b32(b, "row_k");
    if (values_in_pairs(e->plan->problem.arithmetic.rhs))
        r->shift = b32(b, "shift"), r->byte_column = b32(b, "byte_column");
    if (r->row_bytes.kind == PTX_REG) r->row_step = cvt_s64(b, "row_step", r->row_bytes);
}

/* Sets value_at: the address of the value in COLUMN of row K + OFFSET. */
static void emit_first(const gather_emitter *e, mc_reg column, mc_reg k, int offset) {
    mc_builder *b = e->b;
    const gather_rhs *r = &e->rhs;
    sddmm_values values = e->plan->problem.arithmetic.rhs;
    if (values_in_pairs(values)) {
        EMIT(b, shr_u32, r->byte_column, column, I(1));
        column = r->byte_column;
    }
    if (offset) {
        EMIT(b, add_s32, r->row_k, k, I(offset));
        k = r->row_k;
    }
    EMIT(b, mad_wide, r->value_at, column, I(element_bytes(values)), r->array);
    EMIT(b, mad_wide, r->value_at, k, r->row_bytes, r->value_at);
}

void gather_emit_row_loads(const gather_emitter *e, mc_reg column, mc_reg k, int offset, int count,
                           const mc_reg *guards, const mc_reg *to) {
    mc_builder *b = e->b;
    const gather_rhs *r = &e->rhs;
    mc_operand step = r->row_step.id ? r->row_step : r->row_bytes;
    emit_first(e, column, k, offset);
    for (int i = 0; i < count; i++) {
        if (i > 0) EMIT(b, add_s64, r->value_at, r->value_at, step);
        emit_load_words(b, guards[i], WORDS_RELAXED, element_bytes(e->plan->problem.arithmetic.rhs), &to[i],
                        AT(r->value_at, 0));
    }
}

void gather_emit_row_words(const gather_emitter *e, mc_reg column, const mc_reg *values,
                           const mc_reg *words) {
    sddmm_emit_row_words(&e->multiplier, column, e->rhs.shift, values, words);
}
