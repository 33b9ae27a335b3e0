/* A warp walks through a block of rows. In each turn every lane looks at a row, from the first one on that is
   not dealt out yet, and says whether it may be in an item with all rows before it. Those that may are an
   item. If the first one may not, it is long, and alone. "count" counts items of each class, and "deal"
   writes them. */
#include "ops/pack_csr/pack_csr.h"
#include "parts/lanes.h"
#include "parts/made_name.h"
#include "parts/panels.h"
#include "parts/panels_deal.h"

typedef struct block_emitter {
    mc_builder *b;
    const pack_csr_plan *plan;
    mc_reg lane;
    mc_reg number, count;          /* of the block, and of all */
    mc_reg row, end;               /* the first row that is not dealt out, and the one behind the block */
    mc_reg next[CSR_CLASSES];      /* items of each class, or the next one's number */
    mc_reg items, warps;           /* of "deal" alone: the array, and a kernel's warps */
    mc_reg shared_end, item_count; /* likewise: items that several warps share, and all of them */
} block_emitter;

/* What lanes see in a turn. */
typedef struct turn {
    mc_reg begin, end; /* of the lane's row: its first nonzero, and the one behind its last */
    mc_reg rows;       /* that are an item; 0: the first one is long */
} turn;

static bool deals(const block_emitter *e) { return e->plan->step == CSR_DEAL; }

static mc_reg of_lane(mc_builder *b, const char *name, mc_reg word, mc_operand lane) {
    return shfl_idx(b, name, word, lane, I(LAST_LANE), ALL_LANES);
}

/* Where the block's count of CLASS lies in ARRAY. */
static mc_reg class_at(block_emitter *e, mc_reg array, mc_operand class) {
    mc_reg place = mad_s32(e->b, "place", e->count, class, e->number);
    return mad_wide(e->b, "at", place, I(WORD), array);
}

/* -- The block ---------------------------------------------------------------------------------------- */

static void find_block(block_emitter *e, mc_label none) {
    mc_builder *b = e->b;
    const thread_place thread = load_thread_place(b, PACK_CSR_THREADS);
    mc_reg block = load_special(b, "block", "ctaid.x");
    e->lane = thread.lane;
    e->number = mad_s32(b, "block_of_rows", block, I(PACK_CSR_WARPS), thread.warp);
    e->count = load_shape(b, "blocks", true);
    EMIT_IF(b, setp_ge(b, "is_behind", e->number, e->count), bra, TO(none));
    e->row = carried(b, "row", mul_s32(b, "first_row", e->number, I(CSR_DEAL_ROWS)));
    mc_reg behind = add_s32(b, "rows_end", e->row, I(CSR_DEAL_ROWS));
    e->end = min_s32(b, "end_row", behind, load_shape(b, "rows", true));
}

static void find_items(block_emitter *e) {
    mc_builder *b = e->b;
    mc_reg totals = load_array(b, "totals"), sums = load_array(b, "sums");
    e->items = load_array(b, "items"), e->warps = load_shape(b, "warps", true);
    e->shared_end = ldg_b32(b, "shared_end", AT(totals, CSR_TOTAL_SHARED * WORD));
    e->item_count = ldg_b32(b, "item_count", AT(totals, CSR_TOTAL_ALL * WORD));
    for (int i = 0; i < CSR_CLASSES; i++) {
        const made_name prefix = name_with(name_nth("class", i).text, "_");
        b->prefix = prefix.text;
        e->next[i] = carried(b, "next", ldg_b32(b, "sum", AT(class_at(e, sums, I(i)), 0)));
        b->prefix = NULL;
    }
}

/* Lane i writes the count of class i. */
static void store_counts(block_emitter *e) {
    mc_builder *b = e->b;
    mc_reg at = class_at(e, load_array(b, "counts"), e->lane);
    for (int i = 0; i < CSR_CLASSES; i++)
        EMIT_IF(b, setp_eq(b, name_nth("is_of_class", i).text, e->lane, I(i)), stg_b32, AT(at, 0),
                e->next[i]);
}

/* -- A turn ------------------------------------------------------------------------------------------- */

static turn look_at_rows(block_emitter *e, mc_reg offsets, mc_reg most, mc_reg joined) {
    mc_builder *b = e->b;
    turn t;
    mc_reg own = add_s32(b, "own_row", e->row, e->lane);
    mc_reg there = min_s32(b, "row_or_end", own, e->end);
    mc_reg behind = min_s32(b, "next_or_end", add_s32(b, "next_row", there, I(1)), e->end);
    t.begin = ldg_b32(b, "begin", AT(mad_wide(b, "begin_at", there, I(WORD), offsets), 0));
    t.end = ldg_b32(b, "end", AT(mad_wide(b, "end_at", behind, I(WORD), offsets), 0));
    mc_reg from = e->plan->segmented ? of_lane(b, "first_nonzero", t.begin, I(0)) : t.begin;
    mc_reg fits = setp_ge(b, "has_room", most, sub_s32(b, "nonzeros", t.end, from));
    fits = setp_lt_and(b, "is_joined", e->lane, joined, fits);
    fits = setp_lt_and(b, "fits", own, e->end, fits);
    mc_reg lanes = vote_ballot(b, "lanes", fits, ALL_LANES);
    mc_reg more = add_s32(b, "lanes_more", lanes, I(1));
    /* lanes & ~more: those below the first that does not fit */
    t.rows = popc_b32(b, "rows_of_item", lop3(b, "lanes_below", lanes, more, I(0), H(0x30)));
    return t;
}

/* -- Short rows --------------------------------------------------------------------------------------- */

static void write_short(block_emitter *e, const turn *t) {
    mc_builder *b = e->b;
    mc_reg item = e->next[CSR_SHORT], behind = add_s32(b, "row_behind", e->row, t->rows);
    mc_reg words[PANEL_ITEM_WORDS] = {e->row, behind};
    if (e->plan->segmented) {
        mc_reg last = sub_s32(b, "last_lane", t->rows, I(1));
        mc_reg nonzeros = sub_s32(b, "nonzeros_of_item", of_lane(b, "item_end", t->end, last), t->begin);
        words[1] = or_b32(b, "rows_and_nonzeros", t->rows,
                          shl_b32(b, "nonzeros_there", nonzeros, I(CSR_SEGMENT_SHIFT)));
        words[2] = t->begin;
    } else words[2] = mov_b32(b, "none", I(0));
    words[3] = panels_emit_shares(b, item, e->warps, e->shared_end);
    mc_reg at = mad_wide(b, "item_at", item, I(PANEL_ITEM_WORDS * WORD), e->items);
    EMIT_IF(b, setp_eq(b, "is_first_lane", e->lane, I(0)), stg_v4, AT(at, 0), V4(words));
}

static void take_short(block_emitter *e, const turn *t) {
    mc_builder *b = e->b;
    b->prefix = "short_";
    if (deals(e)) write_short(e, t);
    EMIT(b, add_s32, e->next[CSR_SHORT], e->next[CSR_SHORT], I(1));
    EMIT(b, add_s32, e->row, e->row, t->rows);
    b->prefix = NULL;
}

/* -- A long row --------------------------------------------------------------------------------------- */

static void write_long(block_emitter *e, mc_reg begin, mc_reg length, const dealt_sharing *s, mc_reg item) {
    mc_builder *b = e->b;
    mc_reg shares = panels_emit_shares(b, item, s->warps, e->shared_end);
    const dealt_panel row = {.number = e->row,
                             .begin = begin,
                             .strides = length,
                             .pieces = s->pieces,
                             .parts = s->parts,
                             .item = item,
                             .leaf = carried(b, "leaf", e->lane),
                             .step = mov_b32(b, "leaf_step", I(CSR_WARP)),
                             .shares = or_b32(b, "shares", shares, H(CSR_LONG))};
    panels_emit_items(b, e->items, "leaf_", &row);
    EMIT(b, bar_warp_sync, ALL_LANES);
}

/* Moves on by the items of the row's class. Returns the first of them. */
static mc_reg take_items(block_emitter *e, const dealt_sharing *s) {
    mc_builder *b = e->b;
    mc_reg item = carried(b, "item", I(0));
    mc_reg parts = selp_b32(b, "parts_of_one", I(0), s->parts, s->is_long);
    for (int i = 0; i < PANEL_CLASSES; i++) {
        mc_reg is_class = i == 0 ? s->is_long
                                 : setp_eq(b, name_nth("in_class", i).text, parts,
                                           I((int64_t)1 << (PANEL_CLASSES - 1 - i)));
        EMIT_IF(b, is_class, mov_b32, item, e->next[i]);
        EMIT_IF(b, is_class, add_s32, e->next[i], e->next[i], s->items);
    }
    return item;
}

static void take_long(block_emitter *e, const turn *t) {
    mc_builder *b = e->b;
    b->prefix = "long_";
    mc_reg begin = of_lane(b, "begin", t->begin, I(0));
    mc_reg length = sub_s32(b, "length", of_lane(b, "end", t->end, I(0)), begin);
    mc_reg up = add_s32(b, "length_up", length, I(CSR_STRIDE - 1));
    const dealt_sharing s = panels_emit_sharing(b, shr_u32(b, "strides", up, I(log2_of(CSR_STRIDE))));
    mc_reg item = take_items(e, &s);
    if (deals(e)) write_long(e, begin, length, &s, item);
    EMIT(b, add_s32, e->row, e->row, I(1));
    b->prefix = NULL;
}

/* -- The last thread block ---------------------------------------------------------------------------- */

/* Block 0 writes the items of its warps that have no rows. */
static void fill_block(block_emitter *e) {
    mc_builder *b = e->b;
    b->prefix = "fill_";
    mc_reg item = add_s32(b, "item", e->item_count, e->lane);
    mc_reg over = rem_u32(b, "over", e->item_count, e->warps);
    mc_reg missing = sub_s32(b, "missing", e->warps, over);
    mc_reg is_over = setp_gt(b, "is_over", over, I(0));
    mc_reg is_missing = setp_lt_and(b, "is_missing", e->lane, missing, is_over);
    mc_reg is_filled = setp_eq_and(b, "is_filled", e->number, I(0), is_missing);
    mc_reg none = mov_b32(b, "none", I(0));
    const mc_reg words[PANEL_ITEM_WORDS] = {none, none, none,
                                            panels_emit_shares(b, item, e->warps, e->shared_end)};
    mc_reg at = mad_wide(b, "item_at", item, I(PANEL_ITEM_WORDS * WORD), e->items);
    EMIT_IF(b, is_filled, stg_v4, AT(at, 0), V4(words));
    b->prefix = NULL;
}

/* -- All of it ---------------------------------------------------------------------------------------- */

static void walk(block_emitter *e) {
    mc_builder *b = e->b;
    mc_label loop = label(b, "ITEM"), is_long = label(b, "LONG"), end = label(b, "ROWS_END");
    mc_reg offsets = load_array(b, "offsets"), most = load_shape(b, "most", true);
    mc_reg joined = load_shape(b, "joined", true);
    set_label(b, loop);
    EMIT_IF(b, setp_ge(b, "is_end", e->row, e->end), bra_uni, TO(end));
    const turn t = look_at_rows(e, offsets, most, joined);
    EMIT_IF(b, setp_eq(b, "is_long_row", t.rows, I(0)), bra_uni, TO(is_long));
    take_short(e, &t);
    EMIT(b, bra_uni, TO(loop));
    set_label(b, is_long);
    take_long(e, &t);
    EMIT(b, bra_uni, TO(loop));
    set_label(b, end);
}

void csr_emit_blocks(const pack_csr_plan *plan, mc_builder *b) {
    block_emitter e = {.b = b, .plan = plan};
    mc_label none = label(b, "END");
    heading(b, "The warp's rows");
    find_block(&e, none);
    if (deals(&e)) find_items(&e);
    else
        for (int i = 0; i < CSR_CLASSES; i++) e.next[i] = carried(b, name_nth("count", i).text, I(0));
    heading(b, "Item by item");
    walk(&e);
    if (deals(&e)) fill_block(&e);
    else store_counts(&e);
    set_label(b, none);
    EMIT_RET(b);
}
