#include "ops/pack_windowed/choose.h"

/* A part of the row block's strides, in the lane of its number: its windows so far, and its strides, those of
   padding with them. */
typedef struct part_state {
    mc_reg left, waited, strides;
} part_state;

/* Where the chosen strides go, and how many there are. */
typedef struct chosen_strides {
    mc_reg start;                /* the number of the row block's first one */
    mc_reg chosen, windows;      /* addresses: of the lane's slot of the next stride, and of its windows */
    mc_reg slots_at, windows_at; /* the same of all strides */
    mc_reg slot;                 /* the lane's of the stride at hand, in shared memory */
    mc_reg count, fewest;
} chosen_strides;

typedef struct row_emitter {
    choose_emitter e;
    mc_reg place, split, stages;
    mc_label next, again, done;
    part_state part;
    chosen_strides to;
} row_emitter;

/* -- The row block ------------------------------------------------------------------------------------ */

static void load_row_block(row_emitter *r) {
    vector_stream *s = &r->e.stream;
    mc_builder *b = r->e.b;
    r->place = load_special(b, "place", "ctaid.x");
    mc_reg block = ldg_b32(b, "row_block",
                           AT(mad_wide(b, "order_at", r->place, I(WORD), load_array(b, "row_order")), 0));
    mc_reg offset_at = mad_wide(b, "offset_at", block, I(WORD), load_array(b, "offsets"));
    mc_reg first = ldg_b32(b, "first", AT(offset_at, 0)), end = ldg_b32(b, "end", AT(offset_at, WORD));
    s->count = sub_s32(b, "vectors", end, first);
    s->columns = mad_wide(b, "columns_at", first, I(WORD), load_array(b, "columns"));
    r->to.start =
        ldg_b32(b, "start", AT(mad_wide(b, "start_at", r->place, I(WORD), load_array(b, "starts")), 0));
    mc_reg rounded = add_s32(b, "vectors_rounded", s->count, I(WINDOWED_SLOTS - 1));
    r->to.fewest = shr_u32(b, "fewest", rounded, I(log2_of(WINDOWED_SLOTS)));
}

static void set_bank(choose_emitter *e) {
    bank_queue *q = &e->bank;
    mc_builder *b = e->b;
    mc_reg bank = shr_u32(b, "own_bank", e->lane, I(BANK_SHIFT));
    q->item = and_b32(b, "own_item", e->lane, I(BANK_LANES - 1));
    q->at = mad_s32(b, "queue_begin", bank, I(QUEUE_BYTES), mov_shared(b, "queues_begin", NAME("queues")));
    mc_reg first = sub_s32(b, "first_lane", e->lane, q->item);
    q->lanes = shl_b32(b, "bank_lanes", I((1 << BANK_LANES) - 1), first);
    b32_array(b, "is_lower", BANKS, q->lower);
    for (int i = 0; i < BANKS; i++)
        EMIT(b, selp_b32, q->lower[i], I(1), I(0), setp_lt(b, name_nth("is_below", i).text, I(i), bank));
    for (int i = 0; i < BANK_BITS; i++) q->bit[i] = choose_spread_bit(b, "bank_bit", bank, i);
}

/* What a pass begins with is set behind the label `again`. */
static void declare_state(row_emitter *r) {
    choose_emitter *e = &r->e;
    mc_builder *b = e->b;
    mc_reg *const words[] = {&e->bank.head,     &e->bank.available, &e->stream.seen,  &e->stream.taken,
                             &e->stream.column, &e->stream.window,  &e->stride.front, &e->stride.oldest,
                             &e->stride.last,   &r->part.left,      &r->part.waited,  &r->part.strides,
                             &r->to.count};
    static const char *const names[] = {"head",      "in_queue",     "seen",   "taken", "column",
                                        "window_of", "front_vector", "oldest", "last",  "left",
                                        "waited",    "part_strides", "strides"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) *words[i] = b32(b, names[i]);
    r->to.chosen = b64(b, "chosen_next");
    r->to.windows = b64(b, "windows_next");
}

static void begin_pass(row_emitter *r) {
    choose_emitter *e = &r->e;
    mc_builder *b = e->b;
    const mc_reg zeros[] = {e->bank.head, e->bank.available, e->stream.seen,  e->stream.taken,
                            r->part.left, r->part.waited,    r->part.strides, r->to.count};
    for (size_t i = 0; i < sizeof zeros / sizeof *zeros; i++) EMIT(b, mov_b32, zeros[i], I(0));
    EMIT(b, mov_b64, r->to.chosen, r->to.slots_at);
    EMIT(b, mov_b64, r->to.windows, r->to.windows_at);
    b->prefix = "first_";
    choose_load_columns(e);
    b->prefix = NULL;
}

static void begin(row_emitter *r) {
    choose_emitter *e = &r->e;
    mc_builder *b = e->b;
    shared_array(b, "queues", BANKS * QUEUE_BYTES, ENTRY);
    shared_array(b, "slots", WINDOWED_SLOTS * WORD, WORD);
    r->next = label(b, "STRIDE"), r->again = label(b, "AGAIN"), r->done = label(b, "DONE");
    e->lane = load_special(b, "lane", "tid.x");
    e->window = load_shape(b, "window", true), e->span = load_shape(b, "span", true);
    r->split = load_shape(b, "split", true), r->stages = load_shape(b, "stages", true);
    load_row_block(r);
    set_bank(e);
    declare_state(r);
    mc_reg slot = mul_wide(b, "slot_of_stride", e->lane, I(WORD));
    mc_reg slots = add_s64(b, "lane_slots", load_array(b, "chosen"), slot);
    r->to.slots_at = mad_wide(b, "chosen_begin", r->to.start, I(WINDOWED_SLOTS * WORD), slots);
    r->to.windows_at =
        mad_wide(b, "windows_begin", r->to.start, I(WINDOWS_WORDS * WORD), load_array(b, "windows"));
    e->stride.slots = mov_shared(b, "slots_begin", NAME("slots"));
    r->to.slot = mad_s32(b, "own_slot_at", e->lane, I(WORD), e->stride.slots);
    EMIT(b, sts_b32, AT(r->to.slot, 0), mov_b32(b, "none", I(-1)));
    e->spare = carried(b, "spare", I(1));
}

/* -- A stride ----------------------------------------------------------------------------------------- */

/* With slots left empty early there may be a stride more than must be. As soon as that is certain all is
   chosen again without. */
static void start_stride(row_emitter *r) {
    choose_emitter *e = &r->e;
    mc_builder *b = e->b;
    mc_label go = label(b, "GO");
    EMIT_IF(b, setp_ge(b, "is_done", e->stream.taken, e->stream.count), bra_uni, TO(r->done));
    mc_reg spares = setp_gt(b, "spares", e->spare, I(0));
    mc_reg rest = sub_s32(b, "vectors_left", e->stream.count, e->stream.taken);
    mc_reg strides = shr_u32(b, "strides_left", add_s32(b, "left_rounded", rest, I(WINDOWED_SLOTS - 1)),
                             I(log2_of(WINDOWED_SLOTS)));
    mc_reg all = add_s32(b, "strides_at_least", r->to.count, strides);
    mc_reg is_more = setp_lt_and(b, "is_one_more", r->to.fewest, all, spares);
    EMIT_IF(b, NOT(is_more), bra_uni, TO(go));
    EMIT(b, mov_b32, e->spare, I(0));
    EMIT(b, bra_uni, TO(r->again));
    set_label(b, go);
}

/* The lane's slot leaves shared memory. */
static void store_slots(row_emitter *r) {
    choose_emitter *e = &r->e;
    mc_builder *b = e->b;
    EMIT(b, bar_warp_sync, ALL_LANES);
    mc_reg vector = lds_b32(b, "slot_vector", AT(r->to.slot, 0));
    EMIT(b, stg_b32, AT(r->to.chosen, 0), vector);
    EMIT(b, sts_b32, AT(r->to.slot, 0), mov_b32(b, "no_vector", I(-1)));
    EMIT(b, redux_max_u32, e->stride.last, e->stride.last, ALL_LANES);
}

/* One step of the windows of the lane's part, as step_windows of formats/windowed.c; again while the stride's
   are not there. */
static void pass_windows(row_emitter *r) {
    part_state *p = &r->part;
    const stride_state *s = &r->e.stride;
    mc_builder *b = r->e.b;
    mc_label pass = label(b, "PASS");
    mc_reg behind = add_s32(b, "behind_last", s->last, I(1));
    set_label(b, pass);
    EMIT(b, add_s32, p->strides, p->strides, I(1));
    EMIT(b, min_s32, p->left, s->oldest, p->waited);
    mc_reg most = add_s32(b, "most_waited", p->left, r->stages);
    EMIT(b, max_s32, p->waited, p->waited, min_s32(b, "wait_for", behind, most));
    mc_reg span_end = add_s32(b, "span_end", p->left, r->e.span);
    mc_reg end = min_s32(b, "reach", span_end, p->waited);
    EMIT_IF(b, setp_ge(b, "is_beyond", s->last, end), bra, TO(pass));
}

static void store_windows(row_emitter *r) {
    const part_state *p = &r->part;
    const stride_state *s = &r->e.stride;
    mc_builder *b = r->e.b;
    mc_label others = label(b, "OTHERS");
    mc_reg mask = sub_s32(b, "part_mask", r->split, I(1));
    mc_reg part = and_b32(b, "part", r->to.count, mask);
    EMIT_IF(b, setp_ne(b, "is_other", r->e.lane, part), bra, TO(others));
    const mc_reg windows[] = {[WINDOWS_OLDEST] = s->oldest,
                              [WINDOWS_LAST] = s->last,
                              [WINDOWS_LEFT] = p->left,
                              [WINDOWS_WAITED] = p->waited};
    EMIT(b, stg_v4, AT(r->to.windows, 0), V4(windows));
    EMIT(b, stg_b32, AT(r->to.windows, WINDOWS_STRIDES * WORD), p->strides);
    pass_windows(r);
    set_label(b, others);
}

static void emit_stride(row_emitter *r) {
    choose_emitter *e = &r->e;
    mc_builder *b = e->b;
    note(b, "vectors come into the pool");
    choose_fill_pool(e);
    EMIT(b, mov_b32, e->stride.last, e->stride.oldest);
    for (int group = 0; group < WINDOWED_GROUPS; group++) choose_take_group(e, group);
    note(b, "the stride, and what its part does before it");
    store_slots(r);
    store_windows(r);
    EMIT(b, add_s32, r->to.count, r->to.count, I(1));
    EMIT(b, add_s64, r->to.chosen, r->to.chosen, I(WINDOWED_SLOTS * WORD));
    EMIT(b, add_s64, r->to.windows, r->to.windows, I(WINDOWS_WORDS * WORD));
}

/* A lane has the strides of its part, and the one behind these those that were chosen. */
static void store_counts(row_emitter *r) {
    mc_builder *b = r->e.b;
    mc_reg chosen = setp_eq(b, "has_chosen", r->e.lane, r->split);
    mc_reg count = selp_b32(b, "count", r->to.count, r->part.strides, chosen);
    mc_reg row_blocks = load_shape(b, "row_blocks", true);
    mc_reg index = mad_s32(b, "count_index", r->e.lane, row_blocks, r->place);
    mc_reg has = setp_ge(b, "has_count", r->split, r->e.lane);
    EMIT_IF(b, has, stg_b32, AT(mad_wide(b, "count_at", index, I(WORD), load_array(b, "counts")), 0), count);
}

void choose_emit(const void *data, mc_builder *b) {
    row_emitter r = {.e.b = b};
    (void)data;
    heading(b, "The row block, and the lane's bank class");
    begin(&r);
    heading(b, "Its strides");
    set_label(b, r.again);
    begin_pass(&r);
    set_label(b, r.next);
    start_stride(&r);
    emit_stride(&r);
    EMIT(b, bra_uni, TO(r.next));
    set_label(b, r.done);
    heading(b, "How many there are");
    store_counts(&r);
    EMIT_RET(b);
}
