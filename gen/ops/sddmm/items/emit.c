/* Items of the SDDMM: what the kernels of `gather` and `window` load of an item, and how they leave it. */
#include "ops/sddmm/items/items.h"

void sddmm_emit_load_indices(mc_builder *b, int groups, mc_reg at, int offset, const mc_reg *index) {
    int count = 2 * groups;
    if (count == 2) EMIT(b, ldr_v2, V2(index), AT(at, offset));
    for (int i = 0; i + 4 <= count; i += 4) EMIT(b, ldr_v4, V4(index + i), AT(at, offset + i * WORD));
}

void sddmm_emit_row(mc_builder *b, const sddmm_problem *p, mc_reg row_block, mc_reg g, mc_reg row) {
    if (p->vec < SDDMM_MMA_ROWS) {
        note(b, "the mma's empty columns get rows again: their sums are not stored");
        EMIT(b, and_b32, row, g, I(p->vec - 1));
        g = row;
    }
    EMIT(b, mad_s32, row, row_block, I(p->vec), g);
}

void sddmm_emit_next_octet(mc_builder *b, mc_reg row) { EMIT(b, add_s32, row, row, I(SDDMM_MMA_ROWS)); }

void sddmm_emit_group_end(mc_builder *b, mc_reg count, int group, mc_reg last, mc_label end) {
    EMIT(b, setp_lt, last, count, I(MC_SAMPLED_SLOTS * group + 1));
    EMIT_IF(b, last, bra_uni, TO(end));
}
