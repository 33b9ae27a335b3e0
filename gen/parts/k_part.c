#include "parts/k_part.h"
#include "parts/emit.h"

k_part k_part_of(mc_builder *b, mc_reg rank, int parts, mc_reg all) {
    note(b, "the thread block's part of k, in stages: it lies behind k's end if there are too few");
    mc_reg each = shr_u32(b, "part_least", all, I(log2_of(parts)));
    mc_reg more = and_b32(b, "parts_with_more", all, I(parts - 1));
    mc_reg before = min_s32(b, "more_before", rank, more);
    mc_reg first = mad_s32(b, "part_first", rank, each, before);
    mc_reg one = setp_lt(b, "part_has_more", rank, more);
    mc_reg stages = carried(b, "part_stages", each);
    EMIT_IF(b, one, add_s32, stages, stages, I(1));
    return (k_part){first, max_s32(b, "part_k_stages", stages, I(1))};
}
