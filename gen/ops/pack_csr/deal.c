/* Steps "count" and "deal": a thread block has a block of rows, and a thread a row. "count" counts the items
   of each class, and "deal" writes them, each to the place that the items before it in its class leave. */
#include "ops/pack_csr/pack_csr.h"
#include "parts/lanes.h"
#include "parts/made_name.h"
#include "parts/panels.h"
#include "parts/panels_deal.h"

#define SUMS   "items_of_warps"
#define BEGINS "begins_of_classes"

enum {
    SUMS_WORDS = 4, /* that a thread loads at once */
    SUMS_BYTES = CSR_CLASSES * PACK_CSR_WARPS * WORD,
};
#define BEGINS_BYTES csr_array_bytes(CSR_CLASSES)

unsigned csr_blocks_shared(const pack_csr_plan *plan) {
    return csr_item_shared(plan) + SUMS_BYTES + (plan->step == CSR_DEAL ? BEGINS_BYTES : 0);
}

typedef struct block_emitter {
    mc_builder *b;
    const pack_csr_plan *plan;
    csr_row row;
    mc_reg is_long, long_lanes;         /* whether it is; a bit for each lane of the warp */
    mc_reg class, pieces, parts, count; /* of the row's items; CSR_CLASSES: it begins none */
    mc_reg before;                      /* those of its class of lower lanes; of "deal" alone */
    mc_reg sums_at;                     /* where the warps' items of class 0 lie */
    mc_reg items, warps;                /* of "deal" alone: the array, and a kernel's warps */
    mc_reg shared_end, item_count;      /* likewise: items that several warps share, and all of them */
} block_emitter;

static bool deals(const block_emitter *e) { return e->plan->step == CSR_DEAL; }

/* Where the block's count of CLASS lies in ARRAY. */
static mc_reg class_at(block_emitter *e, mc_reg array, mc_reg class) {
    mc_reg count = load_shape(e->b, "blocks", true);
    mc_reg place = mad_s32(e->b, "place", count, class, e->row.block);
    return mad_wide(e->b, "at", place, I(WORD), array);
}

/* -- What is known ahead ------------------------------------------------------------------------------ */

/* Thread i leaves where the block's items of class i begin. */
static void load_begins(block_emitter *e) {
    mc_builder *b = e->b;
    mc_reg totals = load_array(b, "totals");
    shared_array(b, BEGINS, BEGINS_BYTES, WORD);
    e->items = load_array(b, "items"), e->warps = load_shape(b, "warps", true);
    mc_reg has_class = setp_lt(b, "has_class", e->row.thread, I(CSR_CLASSES));
    mc_reg at = class_at(e, load_array(b, "sums"), e->row.thread), begin = carried(b, "class_begin", I(0));
    EMIT_IF(b, has_class, ldg_b32, begin, AT(at, 0));
    e->shared_end = ldg_b32(b, "shared_end", AT(totals, CSR_TOTAL_SHARED * WORD));
    e->item_count = ldg_b32(b, "item_count", AT(totals, CSR_TOTAL_ALL * WORD));
    mc_reg to = mad_s32(b, "begin_to", e->row.thread, I(WORD), mov_shared(b, "begins_base", NAME(BEGINS)));
    EMIT_IF(b, has_class, sts_b32, AT(to, 0), begin);
}

/* -- Classes ------------------------------------------------------------------------------------------ */

/* Of rows of several thread blocks, whose items are not alike. */
static void count_before(block_emitter *e, const dealt_sharing *s, mc_reg is_shared) {
    mc_builder *b = e->b;
    mc_reg own = selp_b32(b, "items_of_blocks", s->items, I(0), is_shared);
    mc_reg sum = carried(b, "up_to_lane", own);
    lanes_sum(b, e->row.lane, sum);
    EMIT_IF(b, is_shared, sub_s32, e->before, sum, own);
}

static void share_long_rows(block_emitter *e) {
    mc_builder *b = e->b;
    mc_label end = label(b, "ALL_SHORT");
    EMIT_IF(b, setp_eq(b, "no_long_row", e->long_lanes, I(0)), bra_uni, TO(end));
    b->prefix = "row_";
    mc_reg length = sub_s32(b, "length", e->row.end, e->row.begin);
    mc_reg up = add_s32(b, "length_up", length, I(CSR_STRIDE - 1));
    const dealt_sharing s = panels_emit_sharing(b, shr_u32(b, "strides", up, I(log2_of(CSR_STRIDE))));
    mc_reg doubled = popc_b32(b, "doubled", sub_s32(b, "parts_less", s.parts, I(1)));
    mc_reg lone = sub_s32(b, "class_of_parts", I(PANEL_LONE), doubled);
    mc_reg class = selp_b32(b, "class", I(0), lone, s.is_long);
    EMIT_IF(b, e->is_long, mov_b32, e->class, class);
    EMIT_IF(b, e->is_long, mov_b32, e->pieces, s.pieces);
    EMIT_IF(b, e->is_long, mov_b32, e->parts, s.parts);
    EMIT_IF(b, e->is_long, mov_b32, e->count, s.items);
    if (deals(e)) count_before(e, &s, setp_eq(b, "is_shared", e->class, I(0)));
    b->prefix = NULL;
    set_label(b, end);
}

static void find_class(block_emitter *e) {
    mc_builder *b = e->b;
    const csr_row *r = &e->row;
    e->is_long = setp_eq_and(b, "is_long_row", r->rows, I(0), r->is_item);
    e->long_lanes = vote_ballot(b, "long_rows", e->is_long, ALL_LANES);
    e->class = carried(b, "class", selp_b32(b, "short_or_none", I(CSR_SHORT), I(CSR_CLASSES), r->is_item));
    e->pieces = carried(b, "pieces", I(1));
    e->parts = carried(b, "parts", I(1));
    e->count = carried(b, "items_of_row", selp_b32(b, "one_or_none", I(1), I(0), r->is_item));
    if (deals(e)) e->before = carried(b, "before", I(0));
    share_long_rows(e);
}

/* Lane i leaves how many items of class i the warp has. A lane's class has as many items in each row, but for
   rows of several thread blocks. */
static void sum_classes(block_emitter *e) {
    mc_builder *b = e->b;
    const csr_row *r = &e->row;
    shared_array(b, SUMS, SUMS_BYTES, SUMS_WORDS * WORD);
    e->sums_at = mov_shared(b, "sums_base", NAME(SUMS));
    mc_reg at = mad_s32(b, "sum_at", r->warp, I(WORD), e->sums_at), alike = {0};
    if (deals(e)) alike = carried(b, "alike", I(0));
    for (int i = 0; i < CSR_CLASSES; i++) {
        const made_name prefix = name_with(name_nth("class", i).text, "_");
        b->prefix = prefix.text;
        mc_reg is_own = setp_eq(b, "is_own", e->class, I(i));
        mc_reg sum = redux_add_s32(b, "sum", selp_b32(b, "items", e->count, I(0), is_own), ALL_LANES);
        EMIT_IF(b, setp_eq(b, "is_lane", r->lane, I(i)), sts_b32, AT(at, (int64_t)i * PACK_CSR_WARPS * WORD),
                sum);
        if (deals(e) && i > 0) EMIT_IF(b, is_own, mov_b32, alike, vote_ballot(b, "lanes", is_own, ALL_LANES));
        b->prefix = NULL;
    }
    EMIT(b, bar_sync, I(0));
    if (!deals(e)) return;
    mc_reg lower = and_b32(b, "lower_alike", alike, lanes_lower(b, r->lane));
    EMIT(b, mad_s32, e->before, popc_b32(b, "rows_before", lower), e->count, e->before);
}

/* What the block's warps have of CLASS. */
static void load_sums(block_emitter *e, mc_reg class, mc_reg sums[PACK_CSR_WARPS]) {
    mc_builder *b = e->b;
    mc_reg at = mad_s32(b, "sums_at", class, I(PACK_CSR_WARPS * WORD), e->sums_at);
    b32_array(b, "warp_sum", PACK_CSR_WARPS, sums);
    for (int i = 0; i < PACK_CSR_WARPS; i += SUMS_WORDS) EMIT(b, lds_v4, V4(&sums[i]), AT(at, i * WORD));
}

/* Thread i writes the block's count of class i. */
static void store_counts(block_emitter *e) {
    mc_builder *b = e->b;
    mc_reg thread = e->row.thread, counts = load_array(b, "counts"), sums[PACK_CSR_WARPS];
    mc_label end = label(b, "NO_CLASS");
    EMIT_IF(b, setp_ge(b, "is_behind", thread, I(CSR_CLASSES)), bra, TO(end));
    load_sums(e, thread, sums);
    mc_reg all = carried(b, "count", sums[0]);
    for (int i = 1; i < PACK_CSR_WARPS; i++) EMIT(b, add_s32, all, all, sums[i]);
    EMIT(b, stg_b32, AT(class_at(e, counts, thread), 0), all);
    set_label(b, end);
}

/* -- Items -------------------------------------------------------------------------------------------- */

/* The number of the row's first one. */
static mc_reg find_number(block_emitter *e) {
    mc_builder *b = e->b;
    mc_reg class = min_s32(b, "class_there", e->class, I(CSR_SHORT)), sums[PACK_CSR_WARPS];
    mc_reg at = mad_s32(b, "begin_of_class", class, I(WORD), mov_shared(b, "begins_there", NAME(BEGINS)));
    mc_reg begin = lds_b32(b, "class_before", AT(at, 0));
    mc_reg item = carried(b, "item", add_s32(b, "item_of_warp", begin, e->before));
    load_sums(e, class, sums);
    for (int i = 0; i < PACK_CSR_WARPS - 1; i++)
        EMIT_IF(b, setp_gt(b, name_nth("is_lower", i).text, e->row.warp, I(i)), add_s32, item, item, sums[i]);
    return item;
}

static void write_short(block_emitter *e, mc_reg item) {
    mc_builder *b = e->b;
    const csr_row *r = &e->row;
    b->prefix = "short_";
    mc_reg is_short = setp_eq(b, "is_one", e->class, I(CSR_SHORT));
    mc_reg words[PANEL_ITEM_WORDS] = {r->number};
    if (e->plan->segmented) {
        mc_reg nonzeros = shl_b32(b, "nonzeros_there", csr_nonzeros_of_item(b, r), I(CSR_SEGMENT_SHIFT));
        words[1] = or_b32(b, "rows_and_nonzeros", r->rows, nonzeros);
        words[2] = r->begin;
    } else {
        words[1] = add_s32(b, "row_behind", r->number, r->rows);
        words[2] = mov_b32(b, "none", I(0));
    }
    words[3] = panels_emit_shares(b, item, e->warps, e->shared_end);
    mc_reg at = mad_wide(b, "item_at", item, I(PANEL_ITEM_WORDS * WORD), e->items);
    EMIT_IF(b, is_short, stg_v4, AT(at, 0), V4(words));
    b->prefix = NULL;
}

/* A row of one thread block: the thread writes its few items. */
static void write_lone(block_emitter *e, const dealt_panel *row) {
    mc_builder *b = e->b;
    mc_label end = label(b, "NOT_LONE");
    b->prefix = "lone_";
    mc_reg is_lone = setp_lt_and(b, "is_one", I(0), e->class, e->is_long);
    EMIT_IF(b, NOT(is_lone), bra, TO(end));
    dealt_panel p = *row;
    mc_reg shares = panels_emit_shares(b, row->item, e->warps, e->shared_end);
    p.parts = e->parts;
    p.leaf = carried(b, "leaf", I(0)), p.step = mov_b32(b, "leaf_step", I(1));
    p.shares = or_b32(b, "shares", shares, H(CSR_LONG));
    panels_emit_items(b, e->items, "lone_", &p);
    set_label(b, end);
    EMIT(b, bar_warp_sync, ALL_LANES);
}

static void write_long(block_emitter *e, mc_reg item) {
    mc_builder *b = e->b;
    const csr_row *r = &e->row;
    mc_label end = label(b, "NO_LONG_ROWS");
    EMIT_IF(b, setp_eq(b, "no_long_rows", e->long_lanes, I(0)), bra_uni, TO(end));
    const dealt_panel row = {.number = r->number,
                             .begin = r->begin,
                             .strides = sub_s32(b, "length", r->end, r->begin),
                             .pieces = e->pieces,
                             .parts = e->warps,
                             .item = item};
    write_lone(e, &row);
    mc_reg is_shared = setp_eq(b, "is_of_blocks", e->class, I(0));
    panels_emit_long(b, e->items, r->lane, is_shared, &row, H(CSR_LONG | 1u << PANEL_SHARES_SHIFT));
    set_label(b, end);
}

static void write_items(block_emitter *e) {
    mc_reg item = find_number(e);
    write_short(e, item);
    write_long(e, item);
    panels_emit_fill(e->b, e->items,
                     &(dealt_end){.thread = e->row.thread,
                                  .number = e->row.block,
                                  .items = e->item_count,
                                  .warps = e->warps,
                                  .shared_end = e->shared_end,
                                  .none = mov_b32(e->b, "no_row", I(0))});
}

/* -- All of it ---------------------------------------------------------------------------------------- */

void csr_emit_blocks(const pack_csr_plan *plan, mc_builder *b) {
    block_emitter e = {.b = b, .plan = plan};
    heading(b, "The thread's row");
    e.row = csr_load_row(b);
    if (deals(&e)) load_begins(&e);
    heading(b, "Which rows begin an item");
    csr_find_item(plan, b, &e.row);
    heading(b, "Of which class it is");
    find_class(&e);
    sum_classes(&e);
    if (deals(&e)) heading(b, "Items are written"), write_items(&e);
    else heading(b, "Counts are written"), store_counts(&e);
    EMIT_RET(b);
}
