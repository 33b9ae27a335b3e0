/* Panels of a matrix without vectors: which one is a warp's, and how warps that share one add up.
 *
 * A warp is told its work by an item (parts/panels.h), since panels are not alike: a graph may have a row
 * with a thousand times as many nonzeros as most have. What is not one warp's alone is added up in a fixed
 * order, so that the bits are the same every time (parts/join.h). */
#include "ops/spmm/gather/store.h"
#include "parts/join.h"
#include "parts/panels.h"

enum { VECTOR = 4 /* sums that are loaded or stored at once */, VECTOR_BYTES = VECTOR * WORD };

static const char *const words[] = {"panel", "first", "last", "sharing"};

/* -- The item ----------------------------------------------------------------------------------------- */

/* Which row of C the R-th of the lane's rows is, all of them STEP apart. */
static mc_reg load_row(gather_emitter *e, mc_reg row_at, int r, int step) {
    e->panel.row[r] = b32(e->b, r ? "next_row_of_c" : "row_of_c");
    EMIT(e->b, ldr_b32, e->panel.row[r], AT(row_at, r * step * WORD));
    return e->panel.row[r];
}

/* Which of the lane's rows A has. */
static void find_rows(gather_emitter *e) {
    mc_builder *b = e->b;
    const spmm_plan *plan = &e->plan->base;
    gather_lane_sums k = gather_lane_sums_of(&plan->math, plan->tile_n);
    mc_reg first = mul_s32(b, "panel_row", e->row_block, I(plan->vec));
    mc_reg row = plan->math.order == SPMM_SWAPPED ? mad_s32(b, "lane_row", e->at.place.t, I(k.rows), first)
                                                  : add_s32(b, "lane_row", e->at.place.g, first);
    mc_reg row_at = {0};
    if (e->plan->reorder) row_at = mad_wide(b, "row_at", row, I(WORD), load_array(b, "row_of"));
    for (int r = 0; r < k.rows; r++) {
        mc_reg of = e->plan->reorder ? load_row(e, row_at, r, k.row_step)
                    : r              ? add_s32(b, "next_row", row, I(r * k.row_step))
                                     : row;
        e->panel.has_row[r] = setp_lt(b, r ? "has_next_row" : "has_row", of, dim_operand(plan->m, e->at.m));
    }
    e->at.stores = e->panel.has_row[0];
}

void spmm_gather_emit_item(gather_emitter *e) {
    mc_builder *b = e->b;
    const spmm_plan *plan = &e->plan->base;
    mc_reg word[PANEL_ITEM_WORDS], block = load_special(b, "block", "ctaid.x");
    heading(b, "This warp's item: a panel of %d rows, and which of its strides", plan->vec);
    mc_reg number = plan->warps > 1 ? mad_s32(b, "item", block, I(plan->warps), e->at.place.warp) : block;
    mc_reg at = mad_wide(b, "item_at", number, I(PANEL_ITEM_WORDS * WORD), load_array(b, "items"));
    for (int i = 0; i < PANEL_ITEM_WORDS; i++) word[i] = b32(b, words[i]);
    EMIT(b, ldr_v4, V4(word), AT(at, 0));
    e->row_block = word[0], e->stream.first = word[1], e->stream.last = word[2];
    e->panel.block = block, e->panel.sharing = word[3];
    find_rows(e);
}

mc_reg spmm_gather_guard(const gather_emitter *e, int row) {
    return e->plan->base.panels ? e->panel.has_row[row] : e->at.stores;
}

/* -- Where sums lie ----------------------------------------------------------------------------------- */

/* Bytes of the sums that a warp has of COLUMNS columns. */
static int sum_bytes(const gather_plan *plan, int columns) { return plan->base.vec * columns * WORD; }

int spmm_gather_panel_sums(const gather_plan *plan) {
    return plan->base.warps > 1 ? sum_bytes(plan, plan->base.tile_n) : 0;
}

int spmm_gather_piece_bytes(const gather_plan *plan) {
    return sum_bytes(plan, plan->base.tile_n) + PANEL_FLAGS;
}

/* -- Sharing ------------------------------------------------------------------------------------------ */

/* Where the path's columns lie in a piece. A lane's vectors of sums lie as far apart as those of all lanes
   take. */
static void find_columns(join *j, const gather_emitter *e, mc_reg path_col) {
    mc_builder *b = j->b;
    const spmm_plan *plan = &e->plan->base;
    mc_reg column = sub_s32(b, "piece_column", path_col, e->at.tile_col);
    mc_reg lane = mul_s32(b, "piece_lane", j->lane, I(VECTOR_BYTES));
    j->in_piece = mad_s32(b, "in_piece", column, I(plan->vec * WORD), lane);
    mc_reg flag = shr_u32(b, "flag_number", column, I(log2_of(PANEL_FLAG_COLUMNS)));
    j->flag_in_piece = mul_s32(b, "flag_in_piece", flag, I(PANEL_FLAG));
}

static join join_of(const gather_emitter *e) {
    const gather_plan *plan = e->plan;
    return (join){.b = e->b,
                  .of = "panel",
                  .sums = sums_result(&e->sums),
                  .count = e->sums.count,
                  .vector = VECTOR,
                  .beside = 1,
                  .pitch = MC_WARP * VECTOR_BYTES,
                  .add = sums_add(&e->sums),
                  .warps = plan->base.warps,
                  .warp = e->at.place.warp,
                  .lane = e->at.place.lane,
                  .block = e->panel.block,
                  .piece_bytes = spmm_gather_piece_bytes(plan),
                  .flags_at = sum_bytes(plan, plan->base.tile_n)};
}

void spmm_gather_emit_join(gather_emitter *e, const gather_path *path, mc_reg path_col, mc_label end) {
    mc_builder *b = e->b;
    const mc_reg sharing = e->panel.sharing;
    join j = join_of(e);
    mc_label joined = label(b, "JOINED");
    heading(b, "Sums of a panel that warps share");
    mc_reg alone = setp_eq(b, "no_sharing", sharing, I(0));
    EMIT_IF(b, alone, bra, TO(joined));
    j.part = join_field(b, "part", sharing, 0, PANEL_PART_BITS);
    j.more_parts = join_field(b, "more_parts", sharing, PANEL_PARTS_SHIFT, PANEL_PARTS_BITS);
    join_take_pieces_of(&j, sharing);
    join_find_tile(&j);
    find_columns(&j, e, path_col);
    join_declare_pieces(&j);
    join_take_pieces(&j);
    if (j.warps > 1)
        join_add_parts(&j, gather_shared_name(e->plan), spmm_gather_share_bytes(e->plan, path), j.lane,
                       VECTOR_BYTES, end);
    mc_reg is_last = setp_eq(b, "finishes", j.piece, j.more_pieces);
    EMIT_IF(b, is_last, bra, TO(joined));
    join_leave_piece(&j);
    EMIT(b, bra, TO(end));
    set_label(b, joined);
}
