/* Staging "shared": the rows of B of a stride go through shared memory, as in Magicube (section IV-B2). All
 * else is as in the direct kernel. Each warp has a share of its own, so that no warp waits for another.
 *
 *   copy    8 neighbouring lanes copy 128 bytes, 16 each, by cp.async: a row, or rows that lie side by side
 *   wait    each lane waits for its copies, then the warp for its lanes
 *   read    lane 4 g + t takes its columns of slots 8 t .. 8 t + 7, as the direct kernel loads them
 *
 * Banks. The rows of 8 slots lie together: an octet. The i-th copies of the lanes fill 128 bytes of each
 * octet, so that they meet no bank twice. What the lanes of neighbouring g read lies side by side, 32 bytes
 * in all where lanes are served together. What the four t read lies in four octets. The rows of an octet fill
 * a multiple of 128 bytes, so that without padding the four t would meet in the same banks. 32 bytes of
 * padding behind each octet send them to four different quarters of the banks (the paper's 8 words behind
 * every 64, Figure 4). */
#include "ops/spmm/gather/emit.h"
#include "parts/copy.h"
#include "parts/words.h"

enum { COPY = GATHER_COPY, ROW_OF_BANKS = 128 };
enum { SPARE = 16 }; /* registers: ptxas 13 computes the addresses of all copies before it copies */

/* Where step STEP's octets begin. Octets lie one behind the other. */
static int step_place(const gather_plan *plan, int step) {
    return step * (MC_GROUP_SLOTS / MC_LANE_SLOTS) * plan->rows.octet;
}

/* Where copy I of a lane goes, counted from its first copy. */
static int copy_place(const gather_plan *plan, int step, int i) {
    return step_place(plan, step) + i * ROW_OF_BANKS;
}

/* Where the row of slot 8 t + J lies, counted from that of slot 8 t. It was copy J mod copies of its lanes,
   and is the (J / copies)-th row among those copies in the octet. */
static int slot_place(const gather_plan *plan, int step, int j) {
    const gather_rows *rows = &plan->rows;
    return copy_place(plan, step, j % rows->copies) + j / rows->copies * rows->row;
}

/* Lane l copies unit l mod copies of the rows of `copies` slots, from slot l - l mod copies on. */
void spmm_gather_shared_index_lane(gather_emitter *e) {
    mc_builder *b = e->b;
    int copies = e->plan->rows.copies;
    note(b, "lane: %d indices at slot lane - lane mod %d, whose rows it copies; 8 values at 8 lane", copies,
         copies);
    mc_reg slot = and_b32(b, "copy_slot", e->at.place.lane, I(MC_WARP - copies));
    EMIT(b, mad_wide, e->stream.index_lane, slot, I(WORD), e->stream.col_idx);
}

mc_reg spmm_gather_shared_first_column(gather_emitter *e, mc_reg path_col) {
    mc_builder *b = e->b;
    mc_reg column = b32(b, "copy_col");
    int copies = e->plan->rows.copies;
    note(b, "and it copies columns %d (lane mod %d) and up", gather_access_columns(e->plan), copies);
    EMIT(b, and_b32, column, e->at.place.lane, I(copies - 1));
    EMIT(b, mad_s32, column, column, I(gather_access_columns(e->plan)), path_col);
    return column;
}

static void emit_zero(gather_emitter *e, const gather_stager *s) {
    mc_builder *b = e->b;
    const gather_plan *plan = e->plan;
    if (plan->base.math.kind->real) {
        note(b, "a padding slot copies no bytes, and zeros in their place: these meet values of zero");
        return;
    }
    note(b, "a padding slot copies nothing: its old bytes stay, and meet a value of zero");
    mc_reg zero = mov_b32(b, "zero", I(0));
    const mc_reg zeros[] = {zero, zero, zero, zero};
    for (int step = 0; step < plan->stride_steps; step++)
        for (int i = 0; i < plan->rows.copies; i++)
            EMIT(b, sts_v4, AT(s->to, copy_place(plan, step, i)), V4(zeros));
}

void spmm_gather_shared_start(gather_emitter *e, gather_stager *s) {
    mc_builder *b = e->b;
    const gather_plan *plan = e->plan;
    mc_reg share = b32(b, "share_at");
    b->spare += SPARE;
    s->to = b32(b, "copy_to"), s->from = b32(b, "read_from");
    if (plan->base.math.kind->real) s->size = b32(b, "copy_size"), s->index = b32(b, "copy_index");
    EMIT(b, mov_shared, share, NAME(gather_shared_name(plan)));
    if (e->at.place.warp.id)
        EMIT(b, mad_s32, share, e->at.place.warp, I(spmm_gather_share_bytes(plan, &plan->wide)), share);
    note(b, "lanes 8 i .. 8 i + 7 copy to octet i; lane 4 g + t reads from octet t");
    EMIT(b, shr_u32, s->to, e->at.place.lane, I(log2_of(MC_LANE_SLOTS)));
    EMIT(b, mad_s32, s->to, s->to, I(plan->rows.octet - ROW_OF_BANKS), share);
    EMIT(b, mad_s32, s->to, e->at.place.lane, I(COPY), s->to);
    EMIT(b, mad_s32, s->from, e->at.place.t, I(plan->rows.octet), share);
    EMIT(b, mad_s32, s->from, e->at.place.g, I(plan->wide.unit), s->from);
    emit_zero(e, s);
}

void spmm_gather_shared_copy(gather_emitter *e, const gather_stager *s, mc_reg guard) {
    mc_builder *b = e->b;
    const gather_plan *plan = e->plan;
    for (int step = 0; step < plan->stride_steps; step++)
        for (int i = 0; i < plan->rows.copies; i++) {
            mc_reg index = e->stream.index[step * MC_LANE_SLOTS + i], used = s->used[i],
                   address = s->address[i];
            mc_operand to = AT(s->to, copy_place(plan, step, i));
            bool clears = plan->base.math.kind->real;
            if (guard.id && !clears) EMIT(b, setp_ge_and, used, index, I(0), guard);
            else EMIT(b, setp_ge, used, index, I(0));
            if (clears) EMIT(b, selp_b32, s->size, I(COPY), I(0), used);
            if (clears) EMIT(b, max_s32, s->index, index, I(0));
            EMIT(b, mad_wide, address, clears ? s->index : index, e->at.row_bytes, s->base);
            if (clears) copy_async(b, COPY, (copy_piece){guard, to, AT(address, 0), s->size});
            else copy_async(b, COPY, (copy_piece){used, to, AT(address, 0), {0}});
        }
}

void spmm_gather_shared_read(gather_emitter *e, const gather_stager *s, const mc_reg *row, int words) {
    mc_builder *b = e->b;
    const gather_plan *plan = e->plan;
    note(b, "all of the warp's copies have arrived");
    EMIT_BARE(b, cp_async_wait_all);
    EMIT(b, bar_warp_sync, I(-1));
    for (int step = 0; step < plan->stride_steps; step++)
        for (int j = 0; j < MC_LANE_SLOTS; j++, row += words)
            emit_load_words(b, (mc_reg){0}, WORDS_SHARED, words * WORD, row,
                            AT(s->from, slot_place(plan, step, j)));
    note(b, "all lanes have read: the rows may be overwritten");
    EMIT(b, bar_warp_sync, I(-1));
}
