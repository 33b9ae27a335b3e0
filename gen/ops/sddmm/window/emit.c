/* The window SDDMM's instructions, from its plan.
 *
 *   this thread block's window of columns of B -> shared memory, by all its warps (copy.c)
 *                                                      or by one thread (tma.c)
 *   items of the window, one after another: groups of 16 columns from there -> mma -> stores
 *
 * A window's items come longest first (runtime/formats/sampled.h), and are dealt to the warps of all thread
 * blocks that have the window. Of W warps, in Y = gridDim.y thread blocks, warp w of thread block y is number
 * i = w Y + y, so that long items are spread over thread blocks first. It takes the window's item i, then
 * 2 W - 1 - i, then 2 W + i, and so on, while there are items. In two such turns all warps have about the
 * same work. While a warp computes an item, the next item's words and, with `prefetch`, its rows of A are on
 * their way. Of its first item everything is, while the window is copied.
 *
 * Items are numbered in s32 over all windows. The last that a warp looks at lies less than two turns behind
 * its window's last one: less than 2^22, of 65,535 thread blocks of 32 warps at most. Sums of two items may
 * wrap around; only their differences count. */
#include "ops/sddmm/window/window.h"

/* -- Items -------------------------------------------------------------------------------------------- */

/* Asks for the window's first item, which it returns, and the one behind its last. */
static mc_reg emit_bounds(window_emitter *w, mc_reg window) {
    mc_builder *b = w->b;
    window_items *r = &w->range;
    r->last = b32(b, "last_item");
    mc_reg at = mad_wide(b, "window_at", window, I(WORD), load_array(b, "window_ptr"));
    mc_reg first = ldr_b32(b, "first_item", AT(at, 0));
    EMIT(b, ldr_b32, r->last, AT(at, WORD));
    return first;
}

/* Sets this warp's first item, the window's last one, and what leads from an item to the next. */
static void emit_range(window_emitter *w, mc_reg first) {
    mc_builder *b = w->b;
    window_items *r = &w->range;
    mc_reg blocks = load_special(b, "blocks", "nctaid.y");
    r->item = load_special(b, "item", "ctaid.y");
    r->two_items = b32(b, "two_items");
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
    const window_items *r = &w->range;
    EMIT(b, sub_s32, r->item, r->two_items, r->item);
    EMIT(b, add_s32, r->two_items, r->two_items, r->two_turns);
}

/* Loads the next item's words, one by one: a vector's registers are neighbours, and ptxas 13 makes room for
   them by waiting. A warp without a next item loads the window's last one again. MAY_LACK: the window may be
   empty; then it is the item ahead of it, or item 0. */
static void emit_load_words(const window_emitter *w, bool may_lack) {
    mc_builder *b = w->b;
    const window_items *r = &w->range;
    EMIT(b, setp_ge, r->more, r->last, r->item);
    EMIT(b, min_s32, r->clamped, r->item, r->last);
    if (may_lack) EMIT(b, max_s32, r->clamped, r->clamped, I(0));
    EMIT(b, mad_wide, r->at, r->clamped, I(4 * WORD), r->items);
    for (int i = 0; i < WINDOW_RECORD; i++) EMIT(b, ldr_b32, r->next_words[i], AT(r->at, i * WORD));
}

static void emit_load_indices(const window_emitter *w, mc_reg item) {
    const window_items *r = &w->range;
    int groups = w->plan->items.groups;
    EMIT(w->b, mad_wide, r->at, item, I(MC_SAMPLED_SLOTS * groups * WORD), r->indices);
    sddmm_emit_load_indices(w->b, groups, r->at, 0, w->index);
}

static void emit_load_a(const window_emitter *w, mc_reg row_block) {
    static const mc_reg everywhere[SDDMM_MAX_CHUNKS];
    mc_builder *b = w->b;
    const window_lhs *lhs = &w->lhs;
    const sddmm_arithmetic *a = &w->plan->problem.arithmetic;
    sddmm_emit_row(b, &w->plan->problem, row_block, w->place.g, lhs->row);
    for (int octet = 0; octet < window_octets(w); octet++) {
        mc_reg at = lhs->at[octet];
        if (octet) sddmm_emit_next_octet(b, lhs->row);
        EMIT(b, mad_wide, at, lhs->row, lhs->row_bytes, lhs->array);
        EMIT(b, mad_wide, at, w->place.t, I(values_bytes(a->lhs, a->unit_k)), at);
    }
    sddmm_emit_load_panel(&lhs->panel, lhs->at, everywhere);
}

/* Makes the item whose words were loaded, number ITEM, this warp's item. Asks for its indices, its rows of A
   if ASKS_A, and the next item's words: all at once, since ptxas may wait for the words as soon as for A. */
static void emit_ask(const window_emitter *w, mc_reg item, bool asks_a, bool may_lack) {
    mc_builder *b = w->b;
    const window_items *r = &w->range;
    emit_load_indices(w, item);
    for (int i = 0; i < WINDOW_RECORD; i++) EMIT(b, mov_b32, w->words[i], r->next_words[i]);
    emit_next(w);
    emit_load_words(w, may_lack);
    if (asks_a) emit_load_a(w, item_row_block(w->words));
}

/* The groups from FIRST on that are multiplied at once. */
static int groups_at(const window_plan *plan, int first) {
    int left = plan->items.groups - first;
    return left < plan->items.at_once ? left : plan->items.at_once;
}

/* Goes to ALONE if the item has of groups FIRST and FIRST + 1 only one, which then becomes group 0. */
static void emit_alone(const window_emitter *w, int first, mc_label alone) {
    mc_builder *b = w->b;
    EMIT(b, setp_lt, w->last, item_count(w->words), I(MC_SAMPLED_SLOTS * (first + 1) + 1));
    if (first > 0)
        for (int half = 0; half < 2; half++)
            EMIT_IF(b, w->last, mov_b32, w->index[half], w->index[2 * first + half]);
    EMIT_IF(b, w->last, bra_uni, TO(alone));
}

/* Multiplies an item's groups. A last group that has no other one beside it goes alone, as group 0. */
static void emit_groups(const window_emitter *w, mc_label end) {
    mc_builder *b = w->b;
    const window_plan *plan = w->plan;
    mc_label alone = label(b, "ALONE");
    for (int group = 0; group < plan->items.groups; group += plan->items.at_once) {
        int count = groups_at(plan, group);
        if (group > 0) sddmm_emit_group_end(b, item_count(w->words), group, w->last, end);
        if (count > 1) emit_alone(w, group, alone);
        window_emit_groups(w, group, count);
        if (group == 0 && plan->prefetch) emit_load_a(w, item_row_block(w->range.next_words));
    }
    if (groups_at(plan, 0) == 1) return;
    EMIT(b, bra_uni, TO(end));
    set_label(b, alone);
    window_emit_groups(w, 0, 1);
}

static void emit_items(window_emitter *w) {
    mc_builder *b = w->b;
    const window_items *r = &w->range;
    mc_label next = label(b, "ITEMS"), first = label(b, "FIRST_ITEM"), end = label(b, "ITEM_END"),
             done = label(b, "DONE"), lacking = w->plan->tensor ? label(b, "NO_ITEM") : done;
    heading(b, "Items");
    EMIT_IF(b, r->none, bra_uni, TO(lacking));
    EMIT(b, bra_uni, TO(first));
    set_label(b, next);
    emit_ask(w, r->item, !w->plan->prefetch, false);
    set_label(b, first);
    sddmm_emit_operands(&w->lhs.panel);
    sddmm_emit_item_factors(&w->store, (mc_reg){0});
    emit_groups(w, end);
    set_label(b, end);
    EMIT_IF(b, r->more, bra_uni, TO(next));
    if (w->plan->tensor) {
        EMIT(b, bra_uni, TO(done));
        set_label(b, lacking);
        note(b, "copies have landed before the thread block ends");
        for (int pair = 0; pair < window_pairs(w->plan); pair++) window_tma_wait(w, "LAST", pair);
    }
    set_label(b, done);
    EMIT_RET(b);
}

/* -- The kernel --------------------------------------------------------------------------------------- */

/* Declares what items write again. */
static void declare_items(window_emitter *w) {
    mc_builder *b = w->b;
    const sddmm_items *items = &w->plan->items;
    window_items *r = &w->range;
    b32_array(b, "record", WINDOW_RECORD, w->words);
    b32_array(b, "index", 2 * items->groups, w->index);
    b32_array(b, "next_record", WINDOW_RECORD, r->next_words);
    r->at = b64(b, "item_at"), r->more = pred(b, "more");
    window_declare_groups(w);
    r->clamped = w->columns.column; /* scratch of either */
    w->lhs.row = b32(b, "row"), w->lhs.at[0] = b64(b, "a_at");
    if (window_octets(w) > 1) w->lhs.at[1] = b64(b, "a_at_below");
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
    w->store = (sddmm_store){.b = b,
                             .problem = &plan->problem,
                             .items = &plan->items,
                             .t = w->place.t,
                             .item_words = w->words,
                             .index = w->index};
    sddmm_declare_store(&w->store, first_column);
    w->multiplier = sddmm_declare_multiplier(b, &plan->problem.arithmetic, false);
    sddmm_declare_panel(&w->lhs.panel, &w->multiplier, window_octets(w), plan->items.chunks, plan->prefetch);
    w->range.none = setp_lt(b, "none", w->range.last, w->range.item);
    emit_ask(w, w->range.clamped, true, true);
    if (plan->tensor) return;
    EMIT_BARE(b, cp_async_wait_all);
    EMIT(b, bar_sync, I(0));
}

/* Loads the shapes and B. Returns where the window's columns come from. */
static window_source emit_source(window_emitter *w, mc_reg first_column) {
    mc_builder *b = w->b;
    const sddmm_problem *p = &w->plan->problem;
    const sddmm_arithmetic *a = &p->arithmetic;
    bool tensor = w->plan->tensor; /* B is a map then, which has its own n and ldb */
    window_source source = {.first_column = first_column,
                            .n = load_shape(b, "n", p->n == MC_OPEN && !tensor)};
    mc_reg lda = load_shape(b, "lda", p->lda == MC_OPEN),
           ldb = load_shape(b, "ldb", p->ldb == MC_OPEN && !tensor);
    w->lhs.row_bytes = sddmm_emit_row_bytes(b, "a_row_bytes", a->lhs, p->lda, lda);
    if (tensor) return source;
    source.column_bytes = sddmm_emit_row_bytes(b, "b_row_bytes", a->rhs, p->ldb, ldb);
    source.array = load_array(b, "b");
    return source;
}

void window_emit(const void *data, mc_builder *b) {
    const window_plan *plan = data;
    window_emitter emitter = {.plan = plan, .b = b}, *w = &emitter;
    shared_dynamic(b, "columns", plan->tensor ? WINDOW_SWIZZLED : WINDOW_BANKS);
    b->fills_shared = true;
    if (plan->problem.arithmetic.kind->real) b->spare += WINDOW_REAL_SPARE * plan->items.at_once;
    sddmm_begin(&plan->problem, b);
    emit_launch_next(b, plan->problem.overlap);
    heading(b, "This thread block's window; lane = 4 g + t");
    w->place = load_thread_place(b, MC_WARP * plan->problem.warps);
    mc_reg window = load_special(b, "window", "ctaid.x");
    mc_reg columns = mov_shared(b, "shared_columns", NAME("columns"));
    mc_reg first_column = mul_s32(b, "first_column", window, I(plan->items.window));
    window_source source = emit_source(w, first_column);
    mc_reg first_item = emit_bounds(w, window);
    if (plan->tensor) {
        emit_grid_wait(b, plan->problem.overlap, "A or B");
        window_tma_copy(w, first_column, columns);
        EMIT(b, bar_sync, I(0));
    }
    emit_range(w, first_item);
    declare_items(w);
    emit_lane_addresses(w, columns);
    if (!plan->tensor) {
        emit_grid_wait(b, plan->problem.overlap, "A or B");
        window_emit_copy(plan, b, &w->place, &source, columns);
    }
    emit_first_item(w, first_column);
    emit_items(w);
}
