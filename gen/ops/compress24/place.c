#include "ops/compress24/compress24.h"

static void find_pieces(const compress24_plan *plan, mc_builder *b, compress24_place *p) {
    mc_reg in_warp = p->g, rows = load_shape(b, "rows", true);
    if (!has_two_rows(plan))
        in_warp = mad_s32(b, "in_warp", and_b32(b, "below", p->t, I(1)), I(LOWER_ROW), p->g);
    p->in_slab = has_two_rows(plan) ? p->t : shr_u32(b, "in_slab", p->t, I(1));
    mc_reg warp_row = mad_s32(b, "warp_row", p->warp, I(PACKED24_WARP_ROWS), in_warp);
    p->row[0] = mad_s32(b, "row", p->block, I(PACKED24_ROWS), warp_row);
    p->is_row[0] = setp_lt_u32(b, "is_row", p->row[0], rows);
    p->piece = mad_s32(b, "piece", p->step, I(SLAB_PIECES), p->in_slab);
    if (!has_two_rows(plan)) return;
    p->row[1] = add_s32(b, "lower_row", p->row[0], I(LOWER_ROW));
    p->is_row[1] = setp_lt_u32(b, "is_lower_row", p->row[1], rows);
}

compress24_place compress24_find_place(const compress24_plan *plan, mc_builder *b) {
    const thread_place thread = load_thread_place(b, COMPRESS24_THREADS);
    compress24_place p = {
        .thread = thread.thread, .lane = thread.lane, .warp = thread.warp, .g = thread.g, .t = thread.t};
    mc_reg steps = load_shape(b, "steps", true);
    p.item = load_special(b, "item", "ctaid.x");
    p.block = div_u32(b, "block", p.item, steps);
    p.step = rem_u32(b, "step", p.item, steps);
    find_pieces(plan, b, &p);
    return p;
}
