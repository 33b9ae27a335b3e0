/* Long rows: their groups' sums are added up, in a warp in a tree, of warps and thread blocks one after
   another (parts/join.h). */
#include "ops/spmm/csr/emit.h"
#include "parts/fragment.h"
#include "parts/join.h"
#include "parts/panels.h"

static join join_of(const csr_emitter *e, const csr_path *path) {
    const csr_plan *plan = e->plan;
    int vector = path->load < JOIN_MOST_VECTOR ? path->load : JOIN_MOST_VECTOR;
    return (join){.b = e->b,
                  .of = "row",
                  .sums = e->sum,
                  .count = csr_sums(plan),
                  .vector = vector,
                  .beside = path->load / vector,
                  .pitch = csr_pitch(plan, path) * WORD,
                  .add = OP_add_f32,
                  .warps = plan->base.warps,
                  .warp = e->at.place.warp,
                  .lane = e->at.place.lane,
                  .block = e->block,
                  .piece_bytes = spmm_csr_piece_bytes(plan),
                  .flags_at = spmm_csr_piece_bytes(plan) - PANEL_FLAGS};
}

/* Warps that do not finish the row go on with the next one, and put its sums beside those that are added. */
void spmm_csr_emit_block_join(csr_emitter *e, const csr_path *path) {
    mc_builder *b = e->b;
    const csr_plan *plan = e->plan;
    csr_block_rows *rows = &e->long_rows;
    join j = join_of(e, path);
    mc_label own = label(b, "OWN_SUMS");
    heading(b, "Sums of a long row: its groups', and then its warps'");
    EMIT_IF(b, NOT(e->is_long), bra_uni, TO(own));
    spmm_csr_add_lanes(e, plan->groups, csr_group_lanes(plan), "other_group");
    if (j.warps > 1) {
        const int set = j.warps * plan->base.tile_n / path->load; /* by lanes' first sums */
        mc_reg place = add_s32(b, "sums_place", e->column, rows->turn);
        EMIT(b, xor_b32, rows->turn, rows->turn, I(set));
        j.keeps = setp_lt(b, "keeps", e->at.place.lane, I(plan->columns));
        j.part = j.warp, j.more_parts = I(j.warps - 1);
        b32_array(b, "other", j.vector, j.other);
        for (int v = 0; v < j.vector; v++) EMIT(b, mov_b32, j.other[v], I(0));
        join_add_parts(&j, "partial", plan->base.tile_n * WORD, place, path->load * WORD, rows->next);
    }
    set_label(b, own);
}

/* Sums lie as their columns do in the tile. */
void spmm_csr_emit_join(csr_emitter *e, const csr_path *path, mc_label end) {
    mc_builder *b = e->b;
    const csr_plan *plan = e->plan;
    join j = join_of(e, path);
    mc_label whole = label(b, "WARP_SUMS"), joined = label(b, "JOINED");
    heading(b, "Sums of a long row");
    EMIT_IF(b, NOT(e->is_long), bra_uni, TO(whole));
    spmm_csr_add_lanes(e, plan->groups, csr_group_lanes(plan), "other_group");
    set_label(b, whole);
    note(b, "and those of one that warps share");
    mc_reg sharing = and_b32(b, "shared", e->sharing, H(~CSR_LONG));
    mc_reg alone = setp_eq(b, "no_sharing", sharing, I(0));
    EMIT_IF(b, alone, bra, TO(joined));
    j.keeps = setp_lt(b, "keeps", e->at.place.lane, I(plan->columns));
    j.part = join_field(b, "this_part", sharing, 0, PANEL_PART_BITS);
    j.more_parts = join_field(b, "more_parts", sharing, PANEL_PARTS_SHIFT, PANEL_PARTS_BITS);
    join_take_pieces_of(&j, sharing);
    join_find_tile(&j);
    j.in_piece = mul_s32(b, "in_piece", e->column, I(path->load * WORD));
    j.flag_in_piece = mov_b32(b, "flag_in_piece", I(0));
    join_declare_pieces(&j);
    join_take_pieces(&j);
    if (j.warps > 1)
        join_add_parts(&j, "partial", plan->base.tile_n * WORD, e->column, path->load * WORD, end);
    mc_reg is_last = setp_eq(b, "finishes", j.piece, j.more_pieces);
    EMIT_IF(b, is_last, bra, TO(joined));
    join_leave_piece(&j);
    EMIT(b, bra, TO(end));
    set_label(b, joined);
}
