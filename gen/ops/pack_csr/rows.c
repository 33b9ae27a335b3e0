/* Which rows of a block begin an item. Every thread has a row. It finds how many rows an item would have that
   begins there, and so where the next item would begin. The items are those that are reached from the block's
   first row: a warp's lanes follow these steps through its 32 rows, from each of them, and leave which rows
   they met and where they arrived. An item has no more than 32 rows, so that this is in the next warp's
   rows. */
#include "ops/pack_csr/pack_csr.h"
#include "parts/lanes.h"
#include "parts/made_name.h"

#define OFFSETS "offsets_of_rows"
#define FITTING "fitting_rows"
#define CHAINS  "chains"

enum {
    CHAIN_WORDS = 2, /* rows that are met, and where the last one leads */
    CHAINS_BYTES = CSR_DEAL_ROWS * CHAIN_WORDS * WORD,
};
/* Of each row, and behind the last one. */
#define OFFSETS_BYTES csr_array_bytes(CSR_DEAL_ROWS + 1)
/* A bit for each row, and none behind the last one. */
#define FITTING_BYTES csr_array_bytes(PACK_CSR_WARPS + 1)

unsigned csr_item_shared(const pack_csr_plan *plan) {
    return CHAINS_BYTES + (plan->segmented ? OFFSETS_BYTES : FITTING_BYTES);
}

/* -- Offsets ------------------------------------------------------------------------------------------ */

/* Threads whose rows are behind the last one have an empty row there. */
csr_row csr_load_row(mc_builder *b) {
    const thread_place thread = load_thread_place(b, PACK_CSR_THREADS);
    csr_row r = {.thread = thread.thread, .lane = thread.lane, .warp = thread.warp};
    mc_reg rows = load_shape(b, "rows", true), offsets = load_array(b, "offsets");
    r.block = load_special(b, "block", "ctaid.x");
    mc_reg first = mul_s32(b, "first_row", r.block, I(CSR_DEAL_ROWS));
    r.number = add_s32(b, "row", first, r.thread);
    r.left = min_s32(b, "rows_of_block", sub_s32(b, "rows_left", rows, first), I(CSR_DEAL_ROWS));
    mc_reg there = min_s32(b, "row_or_end", r.number, rows);
    mc_reg behind = min_s32(b, "next_or_end", add_s32(b, "next_row", there, I(1)), rows);
    r.begin = ldg_b32(b, "begin", AT(mad_wide(b, "begin_at", there, I(WORD), offsets), 0));
    r.end = ldg_b32(b, "end", AT(mad_wide(b, "end_at", behind, I(WORD), offsets), 0));
    return r;
}

static mc_reg shared_at(mc_builder *b, const char *name, const char *array, mc_reg index) {
    mc_reg base = mov_shared(b, name_with(name, "_base").text, NAME(array));
    return mad_s32(b, name, index, I(WORD), base);
}

/* -- How many rows an item has ------------------------------------------------------------------------ */

/* As many as a warp has groups, up to the first long one, or the block's end. */
static mc_reg rows_of_groups(mc_builder *b, const csr_row *r, mc_reg most) {
    shared_array(b, FITTING, FITTING_BYTES, WORD);
    mc_reg has_room = setp_ge(b, "has_room", most, sub_s32(b, "nonzeros", r->end, r->begin));
    mc_reg fits = setp_lt_and(b, "fits", r->thread, r->left, has_room);
    mc_reg of_warp = vote_ballot(b, "fitting", fits, ALL_LANES);
    mc_reg at = shared_at(b, "fitting_at", FITTING, r->warp);
    EMIT_IF(b, setp_eq(b, "is_first_lane", r->lane, I(0)), sts_b32, AT(at, 0), of_warp);
    mc_reg is_first = setp_eq(b, "is_first_thread", r->thread, I(0));
    mc_reg first_at = mov_shared(b, "fitting_begin", NAME(FITTING));
    EMIT_IF(b, is_first, sts_b32, AT(first_at, PACK_CSR_WARPS * WORD), mov_b32(b, "none_behind", I(0)));
    EMIT(b, bar_sync, I(0));
    mc_reg next = lds_b32(b, "fitting_behind", AT(at, WORD));
    mc_reg from_own = shr_u32(b, "from_own", of_warp, r->lane);
    mc_reg others = sub_s32(b, "lanes_from_own", I(CSR_WARP), r->lane);
    mc_reg window = or_b32(b, "window", from_own, shl_b32(b, "from_next", next, others));
    mc_reg more = add_s32(b, "window_more", window, I(1));
    /* window & ~more: those below the first that does not fit */
    mc_reg below = lop3(b, "rows_below", window, more, I(0), H(0x30));
    return min_s32(b, "rows_of_item", popc_b32(b, "rows_that_fit", below), load_shape(b, "joined", true));
}

/* As many as have at most MOST nonzeros together: the last row is searched. */
static mc_reg rows_of_segment(mc_builder *b, const csr_row *r, mc_reg most) {
    enum { LAST_THREAD = PACK_CSR_THREADS - 1 };
    shared_array(b, OFFSETS, OFFSETS_BYTES, WORD);
    mc_reg base = mov_shared(b, "offsets_base", NAME(OFFSETS));
    mc_reg at = mad_s32(b, "offset_at", r->thread, I(WORD), base);
    EMIT(b, sts_b32, AT(at, 0), r->begin);
    EMIT_IF(b, setp_eq(b, "is_last", r->thread, I(LAST_THREAD)), sts_b32, AT(at, WORD), r->end);
    EMIT(b, bar_sync, I(0));
    mc_reg found = carried(b, "rows_found", I(0));
    for (int bit = CSR_SEGMENT_ROWS; bit >= 1; bit /= 2) {
        const made_name prefix = name_with(name_nth("by", bit).text, "_");
        b->prefix = prefix.text;
        mc_reg tried = add_s32(b, "tried", found, I(bit));
        mc_reg row = min_s32(b, "row", add_s32(b, "row_or_more", r->thread, tried), r->left);
        mc_reg behind = lds_b32(b, "behind", AT(mad_s32(b, "at", row, I(WORD), base), 0));
        mc_reg fits = setp_ge(b, "fits", most, sub_s32(b, "nonzeros", behind, r->begin));
        EMIT(b, selp_b32, found, tried, found, fits);
        b->prefix = NULL;
    }
    mc_reg room =
        min_s32(b, "room", load_shape(b, "joined", true), sub_s32(b, "rows_to_end", r->left, r->thread));
    return min_s32(b, "rows_of_item", found, room);
}

mc_reg csr_nonzeros_of_item(mc_builder *b, const csr_row *r) {
    mc_reg behind = add_s32(b, "row_behind", r->thread, r->rows);
    mc_reg end = lds_b32(b, "end_of_item", AT(shared_at(b, "end_at", OFFSETS, behind), 0));
    return sub_s32(b, "nonzeros_of_item", end, r->begin);
}

/* -- Which rows are reached --------------------------------------------------------------------------- */

/* The rows of the warp that are met from the lane's own one on, a bit each, and behind them the lane of the
   next warp that is met first, with 32 added: each round doubles how many are met. */
static void follow(mc_builder *b, mc_reg met, mc_reg next) {
    for (int items = 1; items < CSR_WARP; items *= 2) {
        const made_name prefix = name_with(name_nth("after", items).text, "_");
        b->prefix = prefix.text;
        mc_reg is_inside = setp_lt(b, "is_inside", next, I(CSR_WARP));
        mc_reg others = shfl_idx(b, "others", met, next, I(LAST_LANE), ALL_LANES);
        mc_reg further = shfl_idx(b, "further", next, next, I(LAST_LANE), ALL_LANES);
        EMIT_IF(b, is_inside, or_b32, met, met, others);
        EMIT_IF(b, is_inside, mov_b32, next, further);
        b->prefix = NULL;
    }
}

static mc_reg begins_item(mc_builder *b, const csr_row *r) {
    shared_array(b, CHAINS, CHAINS_BYTES, CHAIN_WORDS * WORD);
    mc_reg step = max_s32(b, "rows_or_long", r->rows, I(1));
    mc_reg next = carried(b, "next_lane", add_s32(b, "lane_behind", r->lane, step));
    mc_reg met = carried(b, "met", shl_b32(b, "own_bit", I(1), r->lane));
    follow(b, met, next);
    mc_reg base = mov_shared(b, "chains_base", NAME(CHAINS));
    mc_reg of_warp = mad_s32(b, "chains_of_warp", r->warp, I(CSR_WARP * CHAIN_WORDS * WORD), base);
    mc_reg leads_to = mad_s32(b, "leads_to", next, I(CHAIN_WORDS * WORD), of_warp);
    const mc_reg chain[CHAIN_WORDS] = {met, leads_to};
    EMIT(b, sts_v2, AT(mad_s32(b, "chain_at", r->lane, I(CHAIN_WORDS * WORD), of_warp), 0), V2(chain));
    EMIT(b, bar_sync, I(0));
    mc_reg at = carried(b, "entry", base);
    for (int warp = 0; warp < PACK_CSR_WARPS - 1; warp++)
        EMIT_IF(b, setp_gt(b, name_nth("is_behind", warp).text, r->warp, I(warp)), lds_b32, at, AT(at, WORD));
    mc_reg of_entry = lds_b32(b, "begin_items", AT(at, 0));
    mc_reg bit = and_b32(b, "is_begin", shr_u32(b, "own_begin", of_entry, r->lane), I(1));
    return setp_lt_and(b, "is_item", r->thread, r->left, setp_ne(b, "begins", bit, I(0)));
}

void csr_find_item(const pack_csr_plan *plan, mc_builder *b, csr_row *r) {
    mc_reg most = load_shape(b, "most", true);
    r->rows = plan->segmented ? rows_of_segment(b, r, most) : rows_of_groups(b, r, most);
    r->is_item = begins_item(b, r);
}
