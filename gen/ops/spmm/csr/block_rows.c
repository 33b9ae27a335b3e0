/* Long rows without a list of them (`deal` off): the warps of a thread block share each of its long rows.
 *
 * A row is long if it has more than `share` * 32 nonzeros, and more than twice as many as the thread block's
 * rows have on average or than CSR_BLOCK_LONG times as many as the first number (parts/csr_lanes.h). So rows
 * that are alike are not long, unless each of them is enough for the whole thread block.
 *
 * Each warp looks at all rows of its thread block, a lane at one or several, before it takes those of its
 * groups. Where none has more than `share` * 32 nonzeros that is all. Otherwise all warps take the long ones
 * together, behind their own rows, one after another: each warp has an equal part of the nonzeros, and each
 * of its groups an equal part of that.
 *
 * A row's number may wrap behind the last row. It is compared by its difference from m, which does not. */
#include "ops/spmm/csr/emit.h"
#include "parts/fragment.h"

enum {
    MOST_CHUNKS = 8, /* of a thread block's rows, of which a warp looks at 32 at a time */
    AND_NOT = 0x30   /* of lop3: the first source without the bits of the second */
};

static int chunks_of(const csr_plan *plan) { return (csr_rows(plan) + MC_WARP - 1) / MC_WARP; }

/* -- Which rows are long ------------------------------------------------------------------------------ */

/* How many nonzeros the thread block's rows have together. */
static mc_reg count_nonzeros(const csr_emitter *e) {
    mc_builder *b = e->b;
    mc_reg first_row = mul_s32(b, "block_row", e->block, I(csr_rows(e->plan)));
    mc_reg rows = sub_s32(b, "rows_from", dim_operand(e->plan->base.m, e->at.m), first_row);
    mc_reg end_row = add_s32(b, "end_row", first_row, min_s32(b, "rows", rows, I(csr_rows(e->plan))));
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

/* The lengths of this lane's rows of all chunks, and the longest one's. Where there is no row it is 0. */
static mc_reg find_lengths(const csr_emitter *e, mc_reg *length) {
    mc_builder *b = e->b;
    const csr_plan *plan = e->plan;
    const int chunks = chunks_of(plan), rows = csr_rows(plan);
    mc_reg from[MOST_CHUNKS], to[MOST_CHUNKS], has[MOST_CHUNKS];
    mc_reg row = mad_s32(b, "lane_row", e->block, I(rows), e->at.place.lane);
    mc_reg at = mad_wide(b, "lane_row_at", row, I(WORD), e->row_ptr);
    mc_reg behind = sub_s32(b, "rows_behind", row, dim_operand(plan->base.m, e->at.m));
    pred_array(b, "has_row", chunks, has);
    b32_array(b, "row_from", chunks, from);
    b32_array(b, "row_to", chunks, to);
    b32_array(b, "lane_length", chunks, length);
    for (int c = 0; c < chunks; c++) {
        EMIT(b, setp_lt, has[c], behind, I(-c * MC_WARP));
        if (rows < MC_WARP) EMIT(b, setp_lt_and, has[c], e->at.place.lane, I(rows), has[c]);
        EMIT(b, mov_b32, from[c], I(0));
        EMIT(b, mov_b32, to[c], I(0));
        EMIT_IF(b, has[c], ldr_b32, from[c], AT(at, c * MC_WARP * WORD));
        EMIT_IF(b, has[c], ldr_b32, to[c], AT(at, (c * MC_WARP + 1) * WORD));
    }
    for (int c = 0; c < chunks; c++) EMIT(b, sub_s32, length[c], to[c], from[c]);
    if (chunks == 1) return length[0];
    mc_reg longest = carried(b, "longest", length[0]);
    for (int c = 1; c < chunks; c++) EMIT(b, max_s32, longest, longest, length[c]);
    return longest;
}

/* Lane c learns which rows of chunk c have more than MOST nonzeros. */
static void mark_rows(const csr_emitter *e, const mc_reg *length, mc_reg most) {
    mc_builder *b = e->b;
    mc_reg is_long = pred(b, "row_is_long"), is_lane = pred(b, "has_chunk"), mask = b32(b, "long_mask");
    for (int c = 0; c < chunks_of(e->plan); c++) {
        EMIT(b, setp_gt, is_long, length[c], most);
        EMIT(b, vote_ballot, mask, is_long, I(-1));
        EMIT(b, setp_eq, is_lane, e->at.place.lane, I(c));
        EMIT_IF(b, is_lane, mov_b32, e->long_rows.rows, mask);
    }
}

static void declare(csr_emitter *e) {
    mc_builder *b = e->b;
    e->long_rows.rows = carried(b, "rows_left", I(0)), e->long_rows.turn = carried(b, "turn", I(0));
    e->is_long = pred(b, "is_long");
    EMIT(b, setp_ne, e->is_long, e->long_rows.turn, I(0));
}

void spmm_csr_find_block_rows(csr_emitter *e) {
    mc_builder *b = e->b;
    const int share = e->plan->share * CSR_STRIDE;
    mc_label none = label(b, "NO_LONG_ROWS");
    mc_reg lengths[MOST_CHUNKS];
    heading(b, "Rows that the thread block shares: more than %d nonzeros, and twice its rows' mean or %d",
            share, CSR_BLOCK_LONG * share);
    declare(e);
    mc_reg longer = setp_gt(b, "is_longer", find_lengths(e, lengths), I(share));
    mc_reg any = vote_ballot(b, "longer_rows", longer, I(-1));
    e->long_rows.none = setp_eq(b, "none_is_long", any, I(0));
    EMIT_IF(b, e->long_rows.none, bra_uni, TO(none));
    mc_reg most = find_most(e, count_nonzeros(e)), length = sub_s32(b, "own_length", e->last, e->first);
    mark_rows(e, lengths, most);
    note(b, "who has a long row has no nonzeros, and stores nothing, before the thread block takes it");
    mc_reg is_long = setp_gt(b, "own_is_long", length, most);
    EMIT_IF(b, is_long, mov_b32, e->last, e->first);
    EMIT(b, setp_ge_and, e->in_rows, most, length, e->in_rows);
    set_label(b, none);
}

/* -- The next row ------------------------------------------------------------------------------------- */

/* The number of the lowest of BITS. */
static mc_reg find_lowest(mc_builder *b, const char *const name[3], mc_reg bits) {
    mc_reg below = add_s32(b, name[0], bits, I(-1));
    return popc_b32(b, name[2], lop3(b, name[1], below, bits, I(0), H(AND_NOT)));
}

/* Takes the first of the long rows that are left, those of CHUNKS: its number in the thread block. */
static mc_reg take_row(const csr_emitter *e, mc_reg chunks) {
    static const char *const names[2][3] = {{"below_chunk", "before_chunk", "of_chunk"},
                                            {"below_row", "before_row", "in_chunk"}};
    mc_builder *b = e->b;
    mc_reg left = e->long_rows.rows, lane = e->at.place.lane;
    mc_reg chunk = find_lowest(b, names[0], chunks);
    mc_reg rows = shfl_idx(b, "chunk_rows", left, chunk, I(MC_WARP - 1), H(0xffffffff));
    mc_reg others = add_s32(b, "other_rows", left, I(-1));
    EMIT_IF(b, setp_eq(b, "takes", lane, chunk), and_b32, left, left, others);
    return mad_s32(b, "of_number", chunk, I(MC_WARP), find_lowest(b, names[1], rows));
}

/* This group's part of the next long row. */
static void take_part(csr_emitter *e, mc_reg chunks) {
    mc_builder *b = e->b;
    const csr_plan *plan = e->plan;
    mc_reg bounds[2];
    EMIT(b, mad_s32, e->row, e->block, I(csr_rows(plan)), take_row(e, chunks));
    mc_reg at = mad_wide(b, "long_at", e->row, I(WORD), e->row_ptr);
    b32_array(b, "long_bound", 2, bounds);
    for (int i = 0; i < 2; i++) EMIT(b, ldr_b32, bounds[i], AT(at, i * WORD));
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
    EMIT_IF(b, rows->none, bra_uni, TO(done));
    set_label(b, rows->next);
    mc_reg has = setp_ne(b, "has_rows", rows->rows, I(0)), chunks = vote_ballot(b, "chunks_left", has, I(-1));
    EMIT(b, setp_ne, e->is_long, chunks, I(0));
    EMIT_IF(b, NOT(e->is_long), bra_uni, TO(done));
    take_part(e, chunks);
    EMIT(b, bra_uni, TO(row));
    set_label(b, done);
}
