/* Rows that are shorter than a warp. A team of lanes takes one, and a warp several; their elements stay in
   registers. A longer row is taken by all threads of the thread block, before its teams begin. */
#include "parts/rows/rows.h"

rows_plan rows_whole(const rows_plan *plan) {
    rows_plan whole = *plan;
    whole.team = rows_threads(plan);
    whole.lane_bits = MC_WARP - 1U;
    return whole;
}

rows_grid rows_load_grid(mc_builder *b, int64_t m) {
    rows_grid grid;
    grid.first = load_special(b, "first_place", "ctaid.x");
    grid.step = load_special(b, "thread_blocks", "nctaid.x");
    grid.array = load_array(b, "rows");
    grid.m = dim_operand(m, load_shape(b, "m", m == MC_OPEN));
    return grid;
}

/* The row block at PLACE, without vectors where there is none. */
static void load_block(rows_emitter *r, const rows_grid *grid, mc_reg place, bool numbered) {
    mc_builder *b = r->b;
    rows_block *block = &r->block;
    mc_reg found[2];
    mc_reg there = setp_lt(b, "is_row", place, grid->m);
    mc_reg at = mad_wide(b, "row_at", place, I(ROWS_BLOCK_WORDS * WORD), grid->array);
    b32_array(b, "found", 2, found);
    for (int i = 0; i < 2; i++) EMIT(b, mov_b32, found[i], I(0));
    EMIT_IF(b, there, ldg_v2, V2(found), AT(at, 0));
    block->slot = found[0], block->vectors = found[1];
    if (!numbered) return;
    EMIT(b, mov_b32, block->number = b32(b, "row_number"), I(-1));
    EMIT_IF(b, there, ldg_b32, block->number, AT(at, 2 * WORD));
}

static int held_by(const rows_plan *teams) { return teams->team * teams->hold; }

/* Rows follow each other without a barrier between: what warps left of one row's sums is overwritten behind
   the next one's barrier of greatest elements, and the other way round. */
void rows_emit_whole(rows_emitter *r, const rows_grid *grid, const rows_plan *teams, bool numbered,
                     void *user, rows_step take) {
    mc_builder *b = r->b;
    mc_label next = label(b, "NEXT_LONG"), rest = label(b, "SHORT");
    heading(b, "Rows of more than %d elements, one after another by all threads", held_by(teams));
    b->prefix = "whole_";
    mc_reg place = carried(b, "place", grid->first);
    set_label(b, next);
    load_block(r, grid, place, numbered);
    EMIT_IF(b, setp_lt(b, "is_short", r->block.vectors, I(held_by(teams) + 1)), bra_uni, TO(rest));
    rows_count_units(r);
    take(user);
    EMIT(b, add_s32, place, place, grid->step);
    EMIT(b, bra_uni, TO(next));
    b->prefix = NULL;
    set_label(b, rest);
}

void rows_find_team(rows_emitter *r, const rows_plan *plan, const rows_emitter *whole, const rows_grid *grid,
                    bool numbered) {
    mc_builder *b = whole->b;
    *r = *whole;
    r->plan = plan;
    heading(b, "Rows of teams of %d lanes", plan->team);
    mc_reg team = shr_u32(b, "team", whole->thread, I(log2_of(plan->team)));
    r->thread = and_b32(b, "team_lane", whole->thread, I(plan->team - 1));
    load_block(r, grid, mad_s32(b, "place", team, grid->step, grid->first), numbered);
    mc_reg takes = setp_lt(b, "takes_it", r->block.vectors, I(held_by(plan) + 1));
    EMIT(b, selp_b32, r->block.vectors, r->block.vectors, I(0), takes);
    if (numbered) EMIT(b, selp_b32, r->block.number, r->block.number, I(-1), takes);
    rows_count_units(r);
}
