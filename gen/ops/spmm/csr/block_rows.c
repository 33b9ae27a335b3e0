/* Long rows without a list of them (`deal` off): the warps of a thread block share each of its long rows.
 *
 * A row is long if it has more than `share` * 32 nonzeros, and more than twice as many as the thread block's
 * rows have on average or than CSR_BLOCK_LONG times as many as the first number (parts/csr_lanes.h). So rows
 * that are alike are not long, unless each of them is enough for the whole thread block.
 *
 * A group that has a long row tells all warps, through shared memory, where it begins and ends. When a warp
 * has stored its groups' other rows, it waits for the other warps, and then all of them take the long rows,
 * one after another: each warp has an equal part of the nonzeros, and each of its groups an equal part of
 * that. A thread block with few nonzeros has no long row, and nobody waits. */
#include "ops/spmm/csr/emit.h"
#include "parts/fragment.h"
#include <stdint.h>

enum {
    BOUNDS = 2 * WORD, /* bytes of what is known of a row: its first nonzero and the one behind its last */
    AND_NOT = 0x30     /* of lop3: the first source without the bits of the second */
};

/* Behind the bounds of rows lie masks of warps: a bit for the first lane of each group with a long row. */
static int masks_offset(const csr_plan *plan) { return csr_rows(plan) * BOUNDS; }

/* -- Which rows are long ------------------------------------------------------------------------------ */

/* How many nonzeros the thread block's rows have together. */
static mc_reg count_nonzeros(const csr_emitter *e, mc_reg first_row) {
    mc_builder *b = e->b;
    mc_reg end_row = add_s32(b, "block_end", first_row, I(csr_rows(e->plan)));
    end_row = min_s32(b, "end_row", end_row, dim_operand(e->plan->base.m, e->at.m));
    mc_reg begin_at = mad_wide(b, "begin_at", first_row, I(WORD), e->row_ptr);
    mc_reg end_at = mad_wide(b, "end_at", end_row, I(WORD), e->row_ptr);
    mc_reg begin = ldr_b32(b, "block_from", AT(begin_at, 0)), end = ldr_b32(b, "block_to", AT(end_at, 0));
    return sub_s32(b, "block_nonzeros", end, begin);
}

/* The most nonzeros of a row that is not long. */
static mc_reg find_most(const csr_emitter *e, mc_reg nonzeros) {
    mc_builder *b = e->b;
    const int share = e->plan->share * CSR_STRIDE;
    mc_reg most = shr_u32(b, "twice_mean", nonzeros, I(log2_of(csr_rows(e->plan)) - 1));
    most = min_s32(b, "most_of_block", most, I(CSR_BLOCK_LONG * share));
    return max_s32(b, "most", most, I(share));
}

static mc_reg find_shared(mc_builder *b, const char *name) {
    return mov_shared(b, name, NAME(CSR_BLOCK_ROWS));
}

/* A lane of each group that has a long row tells its bounds, and a lane of the warp which groups have one. */
static void tell(const csr_emitter *e, mc_reg number, mc_reg is_long) {
    mc_builder *b = e->b;
    const csr_plan *plan = e->plan;
    const mc_reg bounds[] = {e->first, e->last};
    mc_reg shared = find_shared(b, "tell_at"), mask_at = shared;
    mc_reg in_group = and_b32(b, "in_group", e->at.place.lane, I(csr_group_lanes(plan) - 1));
    mc_reg tells = setp_lt_and(b, "tells", in_group, I(1), is_long);
    mc_reg bounds_at = mad_s32(b, "bounds_at", number, I(BOUNDS), shared);
    EMIT_IF(b, tells, sts_v2, AT(bounds_at, 0), V2(bounds));
    mc_reg mask = vote_ballot(b, "long_mask", tells, I(-1));
    if (plan->base.warps > 1) mask_at = mad_s32(b, "mask_at", e->at.place.warp, I(WORD), shared);
    mc_reg first_lane = setp_eq(b, "tells_mask", e->at.place.lane, I(0));
    EMIT_IF(b, first_lane, sts_b32, AT(mask_at, masks_offset(plan)), mask);
}

static void declare(csr_emitter *e) {
    mc_builder *b = e->b;
    e->long_rows.rows = carried(b, "rows_left", I(0)), e->long_rows.turn = carried(b, "turn", I(0));
    e->is_long = pred(b, "is_long");
    EMIT(b, setp_ne, e->is_long, e->long_rows.turn, I(0));
}

void spmm_csr_find_block_rows(csr_emitter *e) {
    mc_builder *b = e->b;
    const csr_plan *plan = e->plan;
    const int share = plan->share * CSR_STRIDE;
    mc_label none = label(b, "NO_LONG_ROWS");
    heading(b, "Rows that the thread block shares: more than %d nonzeros, and twice its rows' mean or %d",
            share, CSR_BLOCK_LONG * share);
    mc_reg first_row = mul_s32(b, "block_row", e->block, I(csr_rows(plan)));
    mc_reg nonzeros = count_nonzeros(e, first_row);
    declare(e);
    e->long_rows.few = setp_lt(b, "few", nonzeros, I(share + 1));
    EMIT_IF(b, e->long_rows.few, bra_uni, TO(none));
    mc_reg most = find_most(e, nonzeros), length = sub_s32(b, "own_length", e->last, e->first);
    mc_reg is_long = setp_gt(b, "own_is_long", length, most);
    tell(e, sub_s32(b, "row_number", e->row, first_row), is_long);
    note(b, "who has a long row has no nonzeros, and stores nothing, before the thread block takes it");
    EMIT_IF(b, is_long, mov_b32, e->last, e->first);
    EMIT(b, setp_ge_and, e->in_rows, most, length, e->in_rows);
    set_label(b, none);
}

/* -- The next row ------------------------------------------------------------------------------------- */

/* Waits until all warps have told. Lane w then knows which of warp w's groups have long rows. */
static void find_rows(const csr_emitter *e) {
    mc_builder *b = e->b;
    EMIT(b, bar_sync, I(0));
    mc_reg has = setp_lt(b, "has_mask", e->at.place.lane, I(e->plan->base.warps));
    mc_reg at = mad_s32(b, "lane_mask_at", e->at.place.lane, I(WORD), find_shared(b, "masks_at"));
    EMIT_IF(b, has, lds_b32, e->long_rows.rows, AT(at, masks_offset(e->plan)));
}

/* The number of the lowest of BITS. */
static mc_reg find_lowest(mc_builder *b, const char *const name[3], mc_reg bits) {
    mc_reg below = add_s32(b, name[0], bits, I(-1));
    return popc_b32(b, name[2], lop3(b, name[1], below, bits, I(0), H(AND_NOT)));
}

/* Takes the first of the long rows that are left, those of WARPS: its number in the thread block. */
static mc_reg take_row(const csr_emitter *e, mc_reg warps) {
    mc_builder *b = e->b;
    static const char *const names[2][3] = {{"below_warp", "before_warp", "of_warp"},
                                            {"below_lane", "before_lane", "of_lane"}};
    mc_reg left = e->long_rows.rows, lane = e->at.place.lane;
    mc_reg warp = find_lowest(b, names[0], warps);
    mc_reg rows = shfl_idx(b, "rows", left, warp, I(MC_WARP - 1), H(0xffffffff));
    mc_reg others = add_s32(b, "other_rows", left, I(-1));
    EMIT_IF(b, setp_eq(b, "takes", lane, warp), and_b32, left, left, others);
    mc_reg group = find_lowest(b, names[1], rows);
    group = shr_u32(b, "of_group", group, I(log2_of(csr_group_lanes(e->plan))));
    return mad_s32(b, "of_number", warp, I(e->plan->groups), group);
}

/* This group's part of the next long row. */
static void take_part(csr_emitter *e, mc_reg warps) {
    mc_builder *b = e->b;
    const csr_plan *plan = e->plan;
    mc_reg bounds[2], number = take_row(e, warps);
    mc_reg at = mad_s32(b, "long_at", number, I(BOUNDS), find_shared(b, "long_rows_at"));
    b32_array(b, "long_bound", 2, bounds);
    EMIT(b, lds_v2, V2(bounds), AT(at, 0));
    EMIT(b, mad_s32, e->row, e->block, I(csr_rows(plan)), number);
    if (plan->base.warps > 1) {
        spmm_csr_cut(e, bounds[0], bounds[1], e->at.place.warp, plan->base.warps, true);
        EMIT(b, mov_b32, bounds[0], e->first);
        EMIT(b, mov_b32, bounds[1], e->last);
    }
    spmm_csr_cut(e, bounds[0], bounds[1], e->group, plan->groups, false);
    EMIT(b, setp_lt, e->in_rows, e->at.place.lane, I(plan->groups > 1 ? csr_group_lanes(plan) : MC_WARP));
}

void spmm_csr_emit_next_row(csr_emitter *e, mc_label row) {
    mc_builder *b = e->b;
    const csr_block_rows *rows = &e->long_rows;
    mc_label done = label(b, "ROWS_DONE");
    heading(b, "The thread block's next long row");
    EMIT_IF(b, e->is_long, bra_uni, TO(rows->next));
    EMIT_IF(b, rows->few, bra_uni, TO(done));
    find_rows(e);
    set_label(b, rows->next);
    mc_reg has = setp_ne(b, "has_rows", rows->rows, I(0)), warps = vote_ballot(b, "warps_left", has, I(-1));
    EMIT(b, setp_ne, e->is_long, warps, I(0));
    EMIT_IF(b, NOT(e->is_long), bra_uni, TO(done));
    take_part(e, warps);
    EMIT(b, bra_uni, TO(row));
    set_label(b, done);
}
