/* The SDDMM's values in memory: words of elements that were loaded one by one, and how far rows lie apart. */
#include "ops/sddmm/arithmetic.h"
#include "parts/emit.h"

void sddmm_emit_zero(mc_builder *b, const mc_reg *regs, int count) {
    for (int i = 0; i < count; i++) EMIT(b, mov_b32, regs[i], I(0));
}

mc_operand sddmm_emit_row_bytes(mc_builder *b, const char *name, sddmm_values values, int64_t fixed,
                                mc_reg ld) {
    if (fixed != MC_OPEN) return I(values_bytes(values, fixed));
    if (values.bits == 8) return ld;
    if (values_in_pairs(values)) return shr_u32(b, name, ld, I(1));
    return shl_b32(b, name, ld, I(log2_of(element_bytes(values))));
}

void sddmm_emit_join(const sddmm_multiplier *m, sddmm_values values, const mc_reg *elements, int count,
                     const mc_reg *words) {
    mc_builder *b = m->b;
    for (int i = 0; i < count; i++) {
        const mc_reg *of = &elements[i * WORD / element_bytes(values)];
        switch (element_bytes(values)) {
        case 4: EMIT(b, mov_b32, words[i], of[0]); break;
        case 2: EMIT(b, prmt, words[i], of[0], of[1], I(0x5410)); break;
        default:
            EMIT(b, prmt, m->join[0], of[0], of[1], I(0x0040));
            EMIT(b, prmt, m->join[1], of[2], of[3], I(0x0040));
            EMIT(b, prmt, words[i], m->join[0], m->join[1], I(0x5410));
        }
    }
}

/* Takes from bytes their halves of this column, and joins those of two k in the first of each two
   registers. */
static void emit_pairs(const sddmm_multiplier *m, mc_reg column, mc_reg shift, const mc_reg *values) {
    mc_builder *b = m->b;
    EMIT(b, and_b32, shift, column, I(1));
    EMIT(b, shl_b32, shift, shift, I(2));
    for (int i = 0; i < m->arithmetic->step_k; i++) {
        EMIT(b, shr_u32, values[i], values[i], shift);
        EMIT(b, and_b32, values[i], values[i], I(15));
        if (i % 2) EMIT(b, mad_s32, values[i - 1], values[i], I(16), values[i - 1]);
    }
}

void sddmm_emit_row_words(const sddmm_multiplier *m, mc_reg column, mc_reg shift, const mc_reg *elements,
                          const mc_reg *words) {
    const sddmm_arithmetic *a = m->arithmetic;
    mc_reg bytes[SDDMM_MAX_STEP_K];
    if (!values_in_pairs(a->rhs)) {
        sddmm_emit_join(m, a->rhs, elements, a->b_words, words);
        return;
    }
    emit_pairs(m, column, shift, elements);
    for (int i = 0; i < a->step_k / 2; i++) bytes[i] = elements[2 * i];
    sddmm_emit_join(m, a->rhs, bytes, a->b_words, words);
}
