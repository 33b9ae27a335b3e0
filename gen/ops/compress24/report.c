#include "ops/compress24/compress24.h"
#include "parts/compress24.h"
#include "parts/segments.h"

/* The first group of PIECE that is too full, or -1. */
static mc_reg first_of(const compress24_plan *plan, mc_builder *b, int piece, mc_reg full) {
    mc_reg first = carried(b, "first", I(-1));
    for (int group = piece_groups(plan) - 1; group >= 0; group--) {
        int unit = piece * PIECE_UNITS + group / unit_groups(plan);
        uint32_t bit = 1U << full_bit(plan, unit, group % unit_groups(plan));
        mc_reg is_full = setp_ne(b, name_nth("is", group).text,
                                 and_b32(b, name_nth("this", group).text, full, H(bit)), I(0));
        EMIT_IF(b, is_full, mov_b32, first, I(group));
    }
    return first;
}

/* The least `row << 32 | group` has the greatest complement. */
static void report_first(const compress24_plan *plan, mc_builder *b, const compress24_place *place,
                         mc_reg slot, mc_reg full) {
    for (int i = 0; i < THREAD_PIECES; i++) {
        made_name prefix = piece_prefix(i);
        b->prefix = prefix.text;
        mc_reg first = first_of(plan, b, i, full), key = b64(b, "key");
        mc_reg piece = add_s32(b, "report_piece", place->piece, I(piece_step(plan, i)));
        mc_reg group = mad_s32(b, "group", piece, I(piece_groups(plan)), first);
        mc_reg row = place->row[piece_row(plan, i)];
        const mc_reg turned[] = {xor_b32(b, "group_turned", group, I(-1)),
                                 xor_b32(b, "row_turned", row, I(-1))};
        EMIT(b, join_b64, key, V2(turned));
        EMIT_IF(b, setp_ge(b, "is_any", first, I(0)), red_max_u64, AT(slot, 0), key);
        b->prefix = NULL;
    }
}

mc_reg emit_count(mc_builder *b, const compress24_place *place, mc_reg own, mc_label end) {
    mc_reg count = redux_add_s32(b, "count", own, H(segment_lanes));
    EMIT_IF(b, setp_eq(b, "is_none", count, I(0)), bra, TO(end));
    mc_reg number = and_b32(b, "slot", place->item, I(COMPRESS24_SLOTS - 1));
    mc_reg slot = mad_wide(b, "slot_at", number, I(COMPRESS24_SLOT_BYTES), load_array(b, "report"));
    mc_reg is_first = setp_eq(b, "is_first", place->lane, I(0));
    EMIT_IF(b, is_first, red_add_u32, AT(slot, COMPRESS24_COUNT_AT), count);
    return slot;
}

void emit_report(const compress24_plan *plan, mc_builder *b, const compress24_place *place, mc_reg full) {
    mc_label end = label(b, "END");
    mc_reg slot = emit_count(b, place, popc_b32(b, "own", full), end);
    if (plan->mode == COMPRESS24_STRICT) report_first(plan, b, place, slot, full);
    set_label(b, end);
}
