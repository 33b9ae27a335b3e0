/* The window SDDMM's instructions, from its plan.
 *
 *   this thread block's window of columns of B -> shared memory, by all its warps (copy.c)
 *   items of the window, one after another: groups of 16 columns from there -> mma -> stores
 *
 * A window's items come longest first (runtime/formats/sampled.h), and are dealt to the warps of all thread
 * blocks that have the window. Of W warps, in Y = gridDim.y thread blocks, warp w of thread block y is number
 * i = w Y + y, so that long items are spread over thread blocks first. It takes the window's item i, then
 * 2 W - 1 - i, then 2 W + i, and so on, while there are items. In two such turns all warps have about the
 * same work. While a warp computes an item, the next item's four words and, with `prefetch`, its rows of A
 * are on their way. Of its first item everything is, while the window is copied.
 *
 * Items are numbered in s32 over all windows. The last that a warp looks at lies less than two turns behind
 * its window's last one: less than 2^22, of 65,535 thread blocks of 32 warps at most. Sums of two items may
 * wrap around; only their differences count.
 *
 * Banks. A quarter of a warp, lane groups 2 q and 2 q + 1, reads a chunk of 64 bytes of each of two columns
 * at once. That is without a conflict if the two chunks lie in different halves of 128 bytes, and so they do
 * if one column is even and the other odd. Columns of an odd number of chunks lie so when they lie one behind
 * the other; of columns with an even number, odd columns have each two chunks changed over. The packer makes
 * such pairs as far as an item's columns go (runtime/formats/sampled_window.c). */
#include "ops/sddmm/window/window.h"

/* The window's items, and which of them are this warp's. */
typedef struct item_range {
    mc_reg item, last;     /* this warp's next item, the window's last */
    mc_reg two_items;      /* what that item and the one behind it add up to */
    mc_reg two_turns;      /* the items of two turns */
    mc_reg more;           /* whether there is a next item */
    mc_reg items, indices; /* addresses of all items and of this lane's indices */
    mc_reg at, clamped;    /* scratch */
    mc_reg next_words[4];
} item_range;

/* This lane's row of A in each octet. */
typedef struct item_lhs {
    mc_reg array, row;           /* A, and a row */
    mc_reg at[SDDMM_MAX_OCTETS]; /* the rows' first units */
    mc_operand row_bytes;
    sddmm_panel panel;
} item_lhs;

/* The columns of the window that this lane reads for a group. */
typedef struct group_columns {
    mc_reg lane;              /* the window's shared address + 16 t */
    mc_reg column, odd;       /* scratch */
    mc_reg at[2], swapped[2]; /* where the even chunks lie, from chunk 0 on; the odd ones, less 128 bytes */
    mc_reg words[2][SDDMM_MAX_ROW]; /* [slots g and g + 8][chunk, word] */
} group_columns;

typedef struct window_emitter {
    const window_plan *plan;
    mc_builder *b;
    thread_place place;
    sddmm_multiplier multiplier;
    item_range range;
    item_lhs lhs;
    group_columns columns;
    mc_reg words[4], index[2 * WINDOW_MAX_GROUPS]; /* of this warp's item */
    mc_reg acc[SDDMM_MAX_OCTETS * SDDMM_MAX_ACCS]; /* of a group: [octet][sum][4] */
    mc_reg last;                                   /* scratch: whether the item lacks the next group */
    sddmm_store store;
} window_emitter;

static int octets_of(const window_emitter *w) { return sddmm_octets(&w->plan->problem); }

/* -- Items -------------------------------------------------------------------------------------------- */

/* Sets this warp's first item, the window's last one, and what leads from an item to the next. */
static void emit_range(window_emitter *w, mc_reg window) {
    mc_builder *b = w->b;
    item_range *r = &w->range;
    mc_reg blocks = load_special(b, "blocks", "nctaid.y");
    r->item = load_special(b, "item", "ctaid.y"), r->last = b32(b, "last_item");
    r->two_items = b32(b, "two_items");
    mc_reg at = mad_wide(b, "window_at", window, I(WORD), load_array(b, "window_ptr"));
    mc_reg first = ldr_b32(b, "first_item", AT(at, 0));
    EMIT(b, ldr_b32, r->last, AT(at, WORD));
    note(b, "what this warp's items of the first two turns add up to");
    r->two_turns = mul_s32(b, "two_turns", blocks, I(2 * w->plan->problem.warps));
    EMIT(b, mad_s32, r->two_items, first, I(2), r->two_turns);
    EMIT(b, sub_s32, r->two_items, r->two_items, I(1));
    EMIT(b, sub_s32, r->last, r->last, I(1));
    if (w->place.warp.id) EMIT(b, mad_s32, r->item, w->place.warp, blocks, r->item);
    EMIT(b, add_s32, r->item, r->item, first);
}

/* Goes on to this warp's next item. */
static void emit_next(const window_emitter *w) {
    mc_builder *b = w->b;
    const item_range *r = &w->range;
    EMIT(b, sub_s32, r->item, r->two_items, r->item);
    EMIT(b, add_s32, r->two_items, r->two_items, r->two_turns);
}

/* Loads the next item's words. A warp without a next item loads the window's last one again. At a warp's
   FIRST one the window may be empty: then it is the item ahead of it, or item 0. */
static void emit_load_words(const window_emitter *w, bool first) {
    mc_builder *b = w->b;
    const item_range *r = &w->range;
    EMIT(b, setp_ge, r->more, r->last, r->item);
    EMIT(b, min_s32, r->clamped, r->item, r->last);
    if (first) EMIT(b, max_s32, r->clamped, r->clamped, I(0));
    EMIT(b, mad_wide, r->at, r->clamped, I(4 * WORD), r->items);
    EMIT(b, ldr_v4, V4(r->next_words), AT(r->at, 0));
}

static void emit_load_indices(const window_emitter *w, mc_reg item) {
    const item_range *r = &w->range;
    int groups = w->plan->items.groups;
    EMIT(w->b, mad_wide, r->at, item, I(MC_SAMPLED_SLOTS * groups * WORD), r->indices);
    sddmm_emit_load_indices(w->b, groups, r->at, 0, w->index);
}

static void emit_load_a(const window_emitter *w, mc_reg row_block) {
    static const mc_reg everywhere[SDDMM_MAX_CHUNKS];
    mc_builder *b = w->b;
    const item_lhs *lhs = &w->lhs;
    const sddmm_arithmetic *a = &w->plan->problem.arithmetic;
    sddmm_emit_row(b, &w->plan->problem, row_block, w->place.g, lhs->row);
    for (int octet = 0; octet < octets_of(w); octet++) {
        mc_reg at = lhs->at[octet];
        if (octet) sddmm_emit_next_octet(b, lhs->row);
        EMIT(b, mad_wide, at, lhs->row, lhs->row_bytes, lhs->array);
        EMIT(b, mad_wide, at, w->place.t, I(values_bytes(a->lhs, a->unit_k)), at);
    }
    sddmm_emit_load_panel(&lhs->panel, lhs->at, everywhere);
}

/* Makes what was loaded this warp's item. */
static void emit_take(const window_emitter *w) {
    mc_builder *b = w->b;
    const item_range *r = &w->range;
    for (int i = 0; i < 3; i++) EMIT(b, mov_b32, w->words[i], r->next_words[i]);
    sddmm_emit_operands(&w->lhs.panel);
}

/* -- A group ------------------------------------------------------------------------------------------ */

/* Sets where the columns of slots g and g + 8 of GROUP lie. */
static void emit_columns(const window_emitter *w, int group) {
    mc_builder *b = w->b;
    const group_columns *c = &w->columns;
    for (int half = 0; half < 2; half++) {
        mc_reg index = w->index[2 * group + half], at = c->at[half];
        EMIT(b, and_b32, c->column, index, H(SAMPLED_COLUMN_MASK));
        EMIT(b, mad_s32, at, c->column, I(window_column_bytes(w->plan)), c->lane);
        if (!window_swaps(w->plan)) continue;
        EMIT(b, shl_b32, c->odd, index, I(WINDOW_CHUNK_SHIFT));
        EMIT(b, lop3, at, at, c->odd, I(WINDOW_CHUNK), H(WINDOW_XOR_AND));
        EMIT(b, xor_b32, c->swapped[half], at, I(WINDOW_CHUNK));
    }
}

static void emit_load_chunk(const window_emitter *w, int chunk) {
    const group_columns *c = &w->columns;
    bool second = window_swaps(w->plan) && chunk % 2;
    for (int half = 0; half < 2; half++) {
        mc_reg at = second ? c->swapped[half] : c->at[half];
        EMIT(w->b, lds_v4, V4(&c->words[half][4 * chunk]), AT(at, WINDOW_CHUNK * (chunk - second)));
    }
}

static void emit_step(const window_emitter *w, int step) {
    const sddmm_arithmetic *a = &w->plan->problem.arithmetic;
    const mc_reg(*words)[SDDMM_MAX_ROW] = w->columns.words;
    sddmm_factor factors[SDDMM_MAX_OCTETS];
    for (int octet = 0; octet < octets_of(w); octet++)
        factors[octet] =
            (sddmm_factor){sddmm_panel_operands(&w->lhs.panel, octet, step), &w->acc[octet * a->accs]};
    sddmm_emit_products(&w->multiplier, &words[0][a->b_words * step], &words[1][a->b_words * step], factors,
                        octets_of(w));
}

static void emit_store(const window_emitter *w, int group) {
    const mc_reg *sums[SDDMM_MAX_OCTETS];
    for (int octet = 0; octet < octets_of(w); octet++) {
        sums[octet] = &w->acc[octet * w->plan->problem.arithmetic.accs];
        sddmm_emit_settle(&w->multiplier, sums[octet]);
    }
    sddmm_emit_store(&w->store, group, sums);
}

/* Multiplies and stores a group. Each chunk is loaded ahead of the mma of the chunk before. */
static void emit_group(const window_emitter *w, int group) {
    const sddmm_arithmetic *a = &w->plan->problem.arithmetic;
    int chunks = w->plan->items.chunks;
    note(w->b, "columns of group %d", group);
    emit_columns(w, group);
    sddmm_emit_group_factors(&w->store, group);
    sddmm_emit_zero(w->b, w->acc, octets_of(w) * a->accs);
    emit_load_chunk(w, 0);
    for (int chunk = 0; chunk < chunks; chunk++) {
        if (chunk + 1 < chunks) emit_load_chunk(w, chunk + 1);
        for (int step = chunk * a->steps; step < (chunk + 1) * a->steps; step++) emit_step(w, step);
    }
    emit_store(w, group);
}

static void emit_groups(const window_emitter *w, mc_label end) {
    mc_builder *b = w->b;
    for (int group = 0; group < w->plan->items.groups; group++) {
        if (group > 0) sddmm_emit_group_end(b, item_count(w->words), group, w->last, end);
        emit_group(w, group);
        if (group == 0 && w->plan->prefetch) emit_load_a(w, item_row_block(w->range.next_words));
    }
}

static void emit_items(window_emitter *w) {
    mc_builder *b = w->b;
    const item_range *r = &w->range;
    mc_label next = label(b, "ITEMS"), first = label(b, "FIRST_ITEM"), end = label(b, "ITEM_END"),
             done = label(b, "DONE");
    heading(b, "Items");
    mc_reg none = setp_lt(b, "none", r->last, r->item);
    EMIT_IF(b, none, bra_uni, TO(done));
    EMIT(b, bra_uni, TO(first));
    set_label(b, next);
    emit_load_indices(w, r->item);
    if (!w->plan->prefetch) emit_load_a(w, item_row_block(r->next_words));
    set_label(b, first);
    emit_take(w);
    emit_next(w);
    emit_load_words(w, false);
    sddmm_emit_item_factors(&w->store, (mc_reg){0});
    emit_groups(w, end);
    set_label(b, end);
    EMIT_IF(b, r->more, bra_uni, TO(next));
    set_label(b, done);
    EMIT_RET(b);
}

/* -- The kernel --------------------------------------------------------------------------------------- */

/* Declares what items write again. */
static void declare_items(window_emitter *w) {
    mc_builder *b = w->b;
    const sddmm_items *items = &w->plan->items;
    item_range *r = &w->range;
    group_columns *c = &w->columns;
    b32_array(b, "record", 4, w->words);
    b32_array(b, "index", 2 * items->groups, w->index);
    b32_array(b, "next_record", 4, r->next_words);
    r->at = b64(b, "item_at"), r->more = pred(b, "more");
    c->column = b32(b, "column"), c->odd = b32(b, "odd");
    r->clamped = c->column; /* scratch of either */
    b32_array(b, "x", 4 * items->chunks, c->words[0]);
    b32_array(b, "y", 4 * items->chunks, c->words[1]);
    b32_array(b, "column_at", 2, c->at);
    if (window_swaps(w->plan)) b32_array(b, "column_swapped", 2, c->swapped);
    w->lhs.row = b32(b, "row"), w->lhs.at[0] = b64(b, "a_at");
    if (octets_of(w) > 1) w->lhs.at[1] = b64(b, "a_at_below");
    b32_array(b, "acc", octets_of(w) * w->plan->problem.arithmetic.accs, w->acc);
    if (items->groups > 1) w->last = pred(b, "last");
}

static void emit_lane_addresses(window_emitter *w, mc_reg columns) {
    mc_builder *b = w->b;
    w->range.items = load_array(b, "items");
    w->range.indices = mad_wide(b, "lane_indices", w->place.g, I(2 * w->plan->items.groups * WORD),
                                load_array(b, "col_idx"));
    w->lhs.array = load_array(b, "a");
    w->columns.lane = mad_s32(b, "lane_columns", w->place.t, I(SDDMM_UNIT), columns);
}

/* Emits what items have in common, and loads this warp's first one, while the window is on its way. */
static void emit_first_item(window_emitter *w, mc_reg first_column) {
    mc_builder *b = w->b;
    const window_plan *plan = w->plan;
    heading(b, "What items have in common, and this warp's first one");
    emit_load_words(w, true);
    emit_load_indices(w, w->range.clamped);
    w->store = (sddmm_store){.b = b,
                             .problem = &plan->problem,
                             .items = &plan->items,
                             .t = w->place.t,
                             .item_words = w->words,
                             .index = w->index};
    sddmm_declare_store(&w->store, first_column);
    w->multiplier = sddmm_declare_multiplier(b, &plan->problem.arithmetic, false);
    sddmm_declare_panel(&w->lhs.panel, &w->multiplier, octets_of(w), plan->items.chunks, plan->prefetch);
    emit_load_a(w, item_row_block(w->range.next_words));
    EMIT_BARE(b, cp_async_wait_all);
    EMIT(b, bar_sync, I(0));
}

/* Loads the shapes and B. Returns where the window's columns come from. */
static window_source emit_source(window_emitter *w, mc_reg first_column) {
    mc_builder *b = w->b;
    const sddmm_problem *p = &w->plan->problem;
    const sddmm_arithmetic *a = &p->arithmetic;
    window_source source = {.first_column = first_column, .n = load_shape(b, "n", p->n == MC_OPEN)};
    mc_reg lda = load_shape(b, "lda", p->lda == MC_OPEN), ldb = load_shape(b, "ldb", p->ldb == MC_OPEN);
    w->lhs.row_bytes = sddmm_emit_row_bytes(b, "a_row_bytes", a->lhs, p->lda, lda);
    source.column_bytes = sddmm_emit_row_bytes(b, "b_row_bytes", a->rhs, p->ldb, ldb);
    source.array = load_array(b, "b");
    return source;
}

void window_emit(const void *data, mc_builder *b) {
    const window_plan *plan = data;
    window_emitter emitter = {.plan = plan, .b = b}, *w = &emitter;
    shared_dynamic(b, "columns", WINDOW_BANKS);
    b->fills_shared = true;
    if (plan->problem.arithmetic.kind->real) b->spare += WINDOW_REAL_SPARE;
    sddmm_begin(&plan->problem, b);
    emit_launch_next(b, plan->problem.overlap);
    heading(b, "This thread block's window; lane = 4 g + t");
    w->place = load_thread_place(b, MC_WARP * plan->problem.warps);
    mc_reg window = load_special(b, "window", "ctaid.x");
    mc_reg columns = mov_shared(b, "shared_columns", NAME("columns"));
    mc_reg first_column = mul_s32(b, "first_column", window, I(plan->items.window));
    window_source source = emit_source(w, first_column);
    emit_range(w, window);
    declare_items(w);
    emit_lane_addresses(w, columns);
    emit_grid_wait(b, plan->problem.overlap, "A or B");
    window_emit_copy(plan, b, &w->place, &source, columns);
    emit_first_item(w, first_column);
    emit_items(w);
}
