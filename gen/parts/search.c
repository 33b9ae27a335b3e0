#include "parts/search.h"

/* It is between `low`, which is not above, and `high`, which is or is behind all. */
mc_reg search_last(mc_builder *b, mc_reg array, int bytes, const char *count, mc_reg value) {
    mc_label loop = label(b, "HALVE"), found = label(b, "FOUND");
    mc_reg more = pred(b, "more");
    mc_reg low = carried(b, "low", I(0)), high = carried(b, "high", load_shape(b, count, true));
    set_label(b, loop);
    EMIT(b, setp_gt, more, sub_s32(b, "between", high, low), I(1));
    EMIT_IF(b, NOT(more), bra, TO(found));
    mc_reg sum = add_s32(b, "sum", low, high);
    mc_reg middle = shr_u32(b, "middle", sum, I(1));
    mc_reg offset = ldg_b32(b, "offset", AT(mad_wide(b, "offset_at", middle, I(bytes), array), 0));
    mc_reg is_behind = setp_gt(b, "begins_behind", offset, value);
    EMIT(b, selp_b32, high, middle, high, is_behind);
    EMIT(b, selp_b32, low, low, middle, is_behind);
    EMIT(b, bra, TO(loop));
    set_label(b, found);
    return low;
}
