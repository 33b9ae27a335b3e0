#include "ops/pattern/pattern.h"
#include "parts/search.h"

/* Threads without a slot go to END. */
static mc_reg find_slot(mc_builder *b, mc_label end) {
    mc_reg thread = load_special(b, "thread", "tid.x");
    mc_reg slot = mad_s32(b, "slot", load_special(b, "block", "ctaid.x"), I(PATTERN_THREADS), thread);
    EMIT_IF(b, setp_ge(b, "is_behind", slot, load_shape(b, "slots", true)), bra, TO(end));
    return slot;
}

void pattern_emit_number(mc_builder *b) {
    mc_label end = label(b, "END");
    mc_reg slot = find_slot(b, end);
    mc_reg is_there = setp_lt(b, "is_there", slot, load_shape(b, "count", true));
    mc_reg vector = selp_b32(b, "vector", slot, I(-1), is_there);
    EMIT(b, stg_b32, AT(mad_wide(b, "at", slot, I(WORD), load_array(b, "vectors")), 0), vector);
    set_label(b, end);
    EMIT_RET(b);
}

void pattern_emit_places(const pattern_plan *plan, mc_builder *b) {
    mc_label end = label(b, "END"), write = label(b, "WRITE");
    mc_reg slot = find_slot(b, end), place[2];
    mc_reg vector =
        ldg_b32(b, "vector", AT(mad_wide(b, "vector_at", slot, I(WORD), load_array(b, "vectors")), 0));
    mc_reg out = mad_wide(b, "out_at", slot, I(2 * WORD), load_array(b, "places"));
    b32_array(b, "place", 2, place);
    EMIT(b, mov_b32, place[0], I(-1));
    EMIT(b, mov_b32, place[1], I(0));
    EMIT_IF(b, setp_lt(b, "is_empty", vector, I(0)), bra, TO(write));
    heading(b, "The row block that has the vector");
    mc_reg block = search_last(b, load_array(b, "offsets"), WORD, "row_blocks", vector);
    EMIT(b, mul_s32, place[0], block, I(plan->vec));
    EMIT(b, ldg_b32, place[1], AT(mad_wide(b, "column_at", vector, I(WORD), load_array(b, "columns")), 0));
    set_label(b, write);
    EMIT(b, stg_v2, AT(out, 0), V2(place));
    set_label(b, end);
    EMIT_RET(b);
}
