#include "ops/pack_windowed/place.h"

/* What a thread block has of its row block. */
typedef struct placed_block {
    mc_reg first;                             /* its first vector */
    mc_reg start;                             /* its first chosen stride */
    mc_reg strides;                           /* chosen ones */
    mc_reg columns, chosen, windows, row_ptr; /* addresses */
} placed_block;

/* Where packed arrays lie. */
typedef struct placed_arrays {
    mc_reg control, places, values, vectors;
    mc_reg units; /* of values of a stride, without the row of ones, 16 bytes each */
} placed_arrays;

typedef struct block_emitter {
    place_emitter e;
    mc_reg place, row_blocks, split;
    placed_block block;
    placed_arrays to;
    mc_reg number;  /* of the chosen stride, in the row block */
    mc_reg out;     /* of the packed one */
    mc_reg is_half; /* slots 16 to 31 of the chosen stride are empty */
} block_emitter;

/* -- The row block ------------------------------------------------------------------------------------ */

static void load_shapes(block_emitter *k) {
    place_emitter *e = &k->e;
    mc_builder *b = e->b;
    k->row_blocks = load_shape(b, "row_blocks", true), k->split = load_shape(b, "split", true);
    e->ring.window = load_shape(b, "window", true), e->ring.span = load_shape(b, "span", true);
    e->ring.stages = load_shape(b, "stages", true);
    e->ring.rows = mul_s32(b, "ring_rows", e->ring.window, e->ring.stages);
    k->to.units = load_shape(b, "units", true);
}

static void load_arrays(block_emitter *k) {
    mc_builder *b = k->e.b;
    k->block.chosen = load_array(b, "chosen"), k->block.windows = load_array(b, "windows");
    k->block.columns = load_array(b, "columns"), k->block.row_ptr = load_array(b, "row_ptr");
    k->to.control = load_array(b, "control"), k->to.places = load_array(b, "places");
    k->to.values = load_array(b, "values"), k->to.vectors = load_array(b, "vectors");
}

static mc_reg load_word(mc_builder *b, const char *name, mc_reg index, mc_reg array) {
    return ldg_b32(b, name, AT(mad_wide(b, name_with(name, "_at").text, index, I(WORD), array), 0));
}

static void begin(block_emitter *k) {
    place_emitter *e = &k->e;
    mc_builder *b = e->b;
    thread_place thread = load_thread_place(b, PLACE_THREADS);
    e->lane = thread.lane, e->warp = thread.warp;
    e->lanes_below = load_special(b, "lanes_below", "lanemask_lt");
    k->place = load_special(b, "place", "ctaid.x");
    load_shapes(k);
    load_arrays(k);
    mc_reg row_block = load_word(b, "row_block", k->place, load_array(b, "row_order"));
    k->block.first = load_word(b, "first", row_block, load_array(b, "offsets"));
    k->block.start = load_word(b, "start", k->place, load_array(b, "starts"));
    mc_reg count = mad_s32(b, "count_index", k->split, k->row_blocks, k->place);
    k->block.strides = load_word(b, "strides", count, load_array(b, "counts"));
}

/* -- A chosen stride ---------------------------------------------------------------------------------- */

static void load_windows(block_emitter *k, mc_reg stride) {
    placed_windows *w = &k->e.windows;
    mc_builder *b = k->e.b;
    mc_reg words[4];
    b32_array(b, "windows_of", 4, words);
    mc_reg at = mad_wide(b, "windows_at", stride, I(WINDOWS_WORDS * WORD), k->block.windows);
    EMIT(b, ldg_v4, V4(words), AT(at, 0));
    w->oldest = words[WINDOWS_OLDEST], w->last = words[WINDOWS_LAST];
    w->left = words[WINDOWS_LEFT], w->waited = words[WINDOWS_WAITED];
    mc_reg part = and_b32(b, "part", k->number, sub_s32(b, "part_mask", k->split, I(1)));
    mc_reg begin =
        load_word(b, "part_begin", mad_s32(b, "part_index", part, k->row_blocks, k->place), k->block.row_ptr);
    k->out = carried(b, "packed", begin);
    EMIT(b, add_s32, k->out, k->out, ldg_b32(b, "strides_before", AT(at, WINDOWS_STRIDES * WORD)));
}

static void load_slot(block_emitter *k, mc_reg stride) {
    placed_slot *s = &k->e.slot;
    mc_builder *b = k->e.b;
    mc_reg slot = mad_s32(b, "slot_index", stride, I(WINDOWED_SLOTS), k->e.lane);
    s->vector = carried(b, "vector", load_word(b, "chosen_vector", slot, k->block.chosen));
    s->column = carried(b, "column", I(0));
    mc_reg index = add_s32(b, "vector_index", k->block.first, s->vector);
    mc_reg there = setp_ge(b, "is_chosen", s->vector, I(0));
    EMIT_IF(b, there, ldg_b32, s->column, AT(mad_wide(b, "column_at", index, I(WORD), k->block.columns), 0));
    mc_reg upper =
        shr_u32(b, "upper_slots", vote_ballot(b, "chosen_slots", there, ALL_LANES), I(WINDOWED_HALF));
    k->is_half = setp_eq(b, "is_half", upper, I(0));
    if (k->e.plan->padding == PADDING_WORDS) place_deal_words(&k->e);
    s->row = rem_u32(b, "row", s->column, k->e.ring.rows);
}

/* -- A packed stride ---------------------------------------------------------------------------------- */

/* step_windows of formats/windowed.c. Returns whether the stride's windows are there then. */
static mc_reg step_windows(block_emitter *k, mc_reg control) {
    placed_windows *w = &k->e.windows;
    mc_builder *b = k->e.b;
    mc_reg left = min_s32(b, "left", w->oldest, w->waited);
    mc_reg most = add_s32(b, "most_waited", left, k->e.ring.stages);
    mc_reg wait = min_s32(b, "wait_for", add_s32(b, "behind_last", w->last, I(1)), most);
    mc_reg waited = max_s32(b, "waited", wait, w->waited);
    mc_reg leaves = sub_s32(b, "leaves", left, w->left), waits = sub_s32(b, "waits", waited, w->waited);
    EMIT(b, mad_s32, control, leaves, I(1 << WINDOWED_LEAVE_SHIFT), waits);
    EMIT(b, mov_b32, w->left, left);
    EMIT(b, mov_b32, w->waited, waited);
    mc_reg span_end = add_s32(b, "span_end", left, k->e.ring.span);
    return setp_lt(b, "is_there", w->last, min_s32(b, "reach", span_end, waited));
}

static void store_control(block_emitter *k, mc_reg control, mc_reg there) {
    mc_builder *b = k->e.b;
    mc_reg one_half = selp_b32(b, "one_half", H((uint32_t)WINDOWED_ONE_HALF), I(0), k->is_half);
    mc_reg half = selp_b32(b, "half_bit", one_half, H((uint32_t)WINDOWED_ONE_HALF), there);
    mc_reg word = or_b32(b, "control_half", control, half);
    mc_reg at = mad_wide(b, "control_at", k->out, I(WORD), k->to.control);
    EMIT_IF(b, setp_eq(b, "is_first_lane", k->e.lane, I(0)), stg_b32, AT(at, 0), word);
}

static void store_places(block_emitter *k, mc_reg held) {
    place_emitter *e = &k->e;
    mc_builder *b = e->b;
    mc_reg word = place_word(e, place_in_ring(e, held));
    mc_reg index = mad_s32(b, "places_index", k->out, I(WINDOWED_STRIDE_WORDS), e->lane);
    mc_reg has = setp_lt(b, "has_places", e->lane, I(WINDOWED_STRIDE_WORDS));
    EMIT_IF(b, has, stg_b32, AT(mad_wide(b, "places_at", index, I(WORD), k->to.places), 0), word);
}

static void store_vectors(block_emitter *k, mc_reg held) {
    place_emitter *e = &k->e;
    mc_builder *b = e->b;
    mc_reg number = add_s32(b, "vector_number", k->block.first, e->slot.vector);
    mc_reg vector = selp_b32(b, "vector_or_none", number, I(-1), held);
    mc_reg index = mad_s32(b, "vectors_index", k->out, I(WINDOWED_SLOTS), e->lane);
    EMIT(b, stg_b32, AT(mad_wide(b, "vectors_at", index, I(WORD), k->to.vectors), 0), vector);
}

/* A word of the row of ones: 1 in the byte of each slot that holds a vector. */
static mc_reg ones_word(block_emitter *k, mc_reg held) {
    mc_builder *b = k->e.b;
    mc_reg slots = vote_ballot(b, "held_slots", held, ALL_LANES), word = carried(b, "ones_word", I(0));
    mc_reg pair = shr_u32(b, "ones_pair", k->e.lane, I(1)), half = and_b32(b, "ones_half", k->e.lane, I(1));
    mc_reg first = mad_s32(b, "ones_slot", half, I(WINDOWED_HALF), shl_b32(b, "pair_slot", pair, I(1)));
    mc_reg own = shr_u32(b, "own_slots", slots, first);
    for (int slot = 0; slot < WINDOWED_HALF; slot++) {
        int place = windowed_value_offset(0, slot);
        if (place < WORD)
            EMIT(b, bfi, word, shr_u32(b, name_nth("own_slot", slot).text, own, I(slot)), word, I(8 * place),
                 I(1));
    }
    return word;
}

static void store_ones(block_emitter *k, mc_reg held, mc_reg values) {
    mc_builder *b = k->e.b;
    mc_reg word = ones_word(k, held);
    mc_reg units = mad_wide(b, "ones_begin", k->to.units, I(ZERO_UNIT), values);
    mc_reg has = setp_lt(b, "has_ones", k->e.lane, I(WINDOWED_ONES_BYTES / WORD));
    EMIT_IF(b, has, stg_b32, AT(mad_wide(b, "ones_at", k->e.lane, I(WORD), units), 0), word);
}

/* Values are zeros until somebody puts them. */
static void store_values(block_emitter *k, mc_reg held) {
    mc_builder *b = k->e.b;
    mc_label more = label(b, "MORE_VALUES"), none = label(b, "NO_VALUES");
    mc_reg bytes =
        mad_s32(b, "stride_bytes", k->to.units, I(ZERO_UNIT), I(k->e.plan->ones ? WINDOWED_ONES_BYTES : 0));
    mc_reg values = mad_wide(b, "values_begin", k->out, bytes, k->to.values), zero[4];
    b32_array(b, "zero", 4, zero);
    for (int i = 0; i < 4; i++) EMIT(b, mov_b32, zero[i], I(0));
    mc_reg unit = carried(b, "unit", k->e.lane);
    set_label(b, more);
    EMIT_IF(b, setp_ge(b, "is_behind", unit, k->to.units), bra, TO(none));
    EMIT(b, stg_v4, AT(mad_wide(b, "values_at", unit, I(ZERO_UNIT), values), 0), V4(zero));
    EMIT(b, add_s32, unit, unit, I(MC_WARP));
    EMIT(b, bra, TO(more));
    set_label(b, none);
    EMIT(b, bar_warp_sync, ALL_LANES);
    if (k->e.plan->ones) store_ones(k, held, values);
}

/* Strides of padding while windows pass, then the chosen one. */
static void emit_packed(block_emitter *k) {
    place_emitter *e = &k->e;
    mc_builder *b = e->b;
    mc_label pass = label(b, "PASS");
    mc_reg control = b32(b, "control_word");
    set_label(b, pass);
    mc_reg there = step_windows(k, control);
    mc_reg vector = selp_b32(b, "vector_here", e->slot.vector, I(-1), there);
    mc_reg held = setp_ge(b, "is_held", vector, I(0));
    store_control(k, control, there);
    store_places(k, held);
    store_vectors(k, held);
    store_values(k, held);
    EMIT(b, add_s32, k->out, k->out, I(1));
    EMIT_IF(b, NOT(there), bra_uni, TO(pass));
}

void place_emit(const void *data, mc_builder *b) {
    block_emitter k = {.e = {.b = b, .plan = data}};
    mc_label next = label(b, "STRIDE"), end = label(b, "END");
    heading(b, "The row block");
    begin(&k);
    heading(b, "Its chosen strides, a warp each");
    k.number = carried(b, "number", k.e.warp);
    set_label(b, next);
    EMIT_IF(b, setp_ge(b, "is_done", k.number, k.block.strides), bra_uni, TO(end));
    mc_reg stride = add_s32(b, "stride", k.block.start, k.number);
    load_windows(&k, stride);
    load_slot(&k, stride);
    note(b, "strides of padding while windows pass, then the chosen one");
    emit_packed(&k);
    EMIT(b, add_s32, k.number, k.number, I(PLACE_WARPS));
    EMIT(b, bra_uni, TO(next));
    set_label(b, end);
    EMIT_RET(b);
}
