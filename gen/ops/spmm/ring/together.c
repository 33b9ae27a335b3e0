/* Row blocks of neighbouring warps that are neighbours in C, too (`together`): their warps put columns into a
 * tile in shared memory, and store pieces of them as long as all their rows, where one row block alone has
 * few bytes of a column.
 *
 * The packer keeps such row blocks together (order_longest_first), and rows.c deals them to warps beside one
 * another. Each group has a tile behind the ring, and a barrier of its own: 1 and the group's number. */
#include "ops/spmm/ring/store.h"

enum { PAD = 16 /* bytes between runs, so that lane groups meet other banks */ };

column_tile ring_tile(const ring_plan *plan) {
    return (column_tile){.columns = plan->base.tile_n,
                         .rows = plan->base.vec * plan->together,
                         .run = ring_run(plan),
                         .pad = PAD,
                         .bytes = out_element_bytes(plan->base.output.element)};
}

/* Rows of one row block, so that they are in C or beyond it together. */
int ring_tile_store(const ring_plan *plan) {
    int rows = RING_STORE_BYTES / out_element_bytes(plan->base.output.element);
    return rows < plan->base.vec ? rows : plan->base.vec;
}

static int tile_bytes(const ring_plan *plan) {
    column_tile tile = ring_tile(plan);
    return (column_tile_bytes(&tile) + PAD - 1) / PAD * PAD;
}

unsigned ring_tile_bytes(const ring_plan *plan) {
    return plan->together > 1 ? (unsigned)(plan->base.warps / plan->together * tile_bytes(plan)) : 0;
}

static void emit_meet(const ring_epilogue *e) {
    EMIT(e->r->at.b, bar_sync_some, e->group.barrier, I(MC_WARP * e->r->plan->together));
}

void ring_emit_tile_start(ring_epilogue *e, column_writer *w) {
    const ring_emitter *r = e->r;
    const ring_plan *plan = r->plan;
    mc_builder *b = r->at.b;
    note(b, "the tile of this warp's group of %d row blocks", plan->together);
    w->tile = ring_tile(plan);
    mc_reg group = shr_u32(b, "tile_group", r->at.place.warp, I(log2_of(plan->together)));
    e->group.barrier = add_s32(b, "tile_barrier", group, I(1));
    e->group.member = and_b32(b, "tile_member", r->at.place.warp, I(plan->together - 1));
    mc_reg tiles = add_s32(b, "tiles", r->ring, I(ring_sum_offset(plan)));
    mc_reg at = mad_s32(b, "tile_at", group, I(tile_bytes(plan)), tiles);
    mc_reg row = ring_is_tall(plan) ? r->at.place.g : shl_b32(b, "tile_pair", r->at.place.t, I(1));
    mc_reg local = mad_s32(b, "tile_row", e->group.member, I(plan->base.vec), row);
    columns_put_at(w, at, local, sub_s32(b, "tile_col_of_lane", e->col, r->at.tile_col));
    if (!plan->resident) return;
    note(b, "what the row blocks before have put there is stored");
    emit_meet(e);
}

void ring_emit_tile_store(ring_epilogue *e, column_writer *w) {
    const ring_emitter *r = e->r;
    const spmm_plan *plan = r->at.plan;
    mc_builder *b = r->at.b;
    int together = r->plan->together;
    heading(b, "Store: pieces of C's columns, once all rows of the group are there");
    emit_meet(e);
    mc_reg first = sub_s32(b, "group_first", e->row_block, e->group.member);
    const tile_copy copy = {
        .thread = and_b32(b, "group_thread", r->at.place.thread, I((int64_t)MC_WARP * together - 1)),
        .threads = MC_WARP * together,
        .first_row = shl_b32(b, "group_row", first, I(log2_of(plan->vec))),
        .first_col = r->at.tile_col,
        .m = dim_operand(plan->m, r->at.m),
        .guard_rows = true};
    columns_store_tile(w, &copy);
}
