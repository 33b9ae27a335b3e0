/* A lane's words of the ring kernel's packed arrays (windowed.h). Those of a stride are loaded while the
   stride before it is computed, or the two before it (`depth` = 3): out of memory, or out of the warp's
   queue, which asked for them long before (queue.c). */
#include "ops/spmm/ring/ring.h"
#include "parts/windowed.h"

enum { LOAD_REGS = 4 /* of a load, at most */ };

/* Registers of a lane's values in a stride. */
static int value_regs(const ring_emitter *r) {
    const spmm_arithmetic *math = &r->at.plan->math;
    return RING_HALVES * math->value_bytes * math->mma;
}

/* Where element INDEX of BYTES lies in ARRAY, whose address is loaded to FROM. With a queue it lies in entry
   0 instead, whose part of the array begins at ENTRY. */
static mc_reg emit_of_lane(const ring_emitter *r, const char *name, mc_reg index, int bytes,
                           const char *array, mc_reg *from, mc_reg entry) {
    mc_builder *b = r->at.b;
    if (ring_is_queued(r->plan)) return mad_s32(b, name, index, I(bytes), entry);
    *from = load_array(b, array);
    return mad_wide(b, name, index, I(bytes), *from);
}

static void emit_places(const ring_emitter *r, ring_packed *p) {
    mc_builder *b = r->at.b;
    mc_reg lane = r->at.place.lane;
    int bytes = MC_LANE_SLOTS * r->at.plan->math.value_bytes;
    bool tall = spmm_is_tall(&r->at.plan->math);
    if (ring_reads_words(r->plan)) {
        note(b, "lane: words 4 t to 4 t + 3 of the places, 8 values at %d lane", bytes);
        p->places = emit_of_lane(r, "places_base", r->at.place.t, RING_MAX_PLACES * WORD, "places",
                                 &p->arrays.places, p->queue.places);
        return;
    }
    if (ring_is_narrow(r->plan)) {
        note(b, "lane: word lane %% 16 of the places, 8 values at %d lane", bytes);
        mc_reg of_both = and_b32(b, "word", lane, I(WINDOWED_HALF - 1));
        p->places =
            emit_of_lane(r, "places_base", of_both, WORD, "places", &p->arrays.places, p->queue.places);
        return;
    }
    mc_reg word = b32(b, "word");
    note(b, "lane: word %s + lane %% 8 of the places, 8 values at %d lane",
         tall ? "8 (lane / 8 % 2)" : "8 (lane / 16)", bytes);
    mc_reg high = shr_u32(b, "word_high", lane, I(tall ? WINDOWED_BESIDE_SHIFT : WINDOWED_SECOND_SHIFT));
    if (tall) high = and_b32(b, "word_second", high, I(1));
    EMIT(b, and_b32, word, lane, I(WINDOWED_ROW_MASK));
    EMIT(b, mad_s32, word, high, I(WINDOWED_GROUP), word);
    p->places = emit_of_lane(r, "places_base", word, WORD, "places", &p->arrays.places, p->queue.places);
}

/* Sets the addresses at which this lane reads stride 0. */
static void emit_start(const ring_emitter *r, ring_packed *p) {
    mc_builder *b = r->at.b;
    mc_reg lane = r->at.place.lane;
    int bytes = MC_LANE_SLOTS * r->at.plan->math.value_bytes;
    heading(b, "Where strides lie in the packed arrays");
    if (ring_is_queued(r->plan)) ring_queue_begin(r, &p->queue, &p->arrays);
    emit_places(r, p);
    p->values = emit_of_lane(r, "values_base", lane, bytes, "values", &p->arrays.values, p->queue.values);
    p->has_values = lanes_with_values(&r->at.plan->math, b, r->at.place.g);
    if (ring_is_queued(r->plan)) p->control = p->queue.control;
    else if (!r->plan->keeps_all || r->plan->prefetch)
        p->control = p->arrays.control = load_array(b, "control");
}

static ring_stride emit_empty(const ring_emitter *r, const char *place, const char *control,
                              const char *value) {
    mc_builder *b = r->at.b;
    int values = value_regs(r);
    ring_stride empty = {0};
    if (ring_place_words(r->plan) == 1) empty.place[0] = carried(b, place, I(0));
    else b32_array(b, place, RING_MAX_PLACES, empty.place);
    for (int i = 0; ring_place_words(r->plan) > 1 && i < RING_MAX_PLACES; i++)
        EMIT(b, mov_b32, empty.place[i], I(0));
    empty.control = carried(b, control, I(0));
    b32_array(b, value, values, empty.value);
    for (int i = 0; i < values; i++) EMIT(b, mov_b32, empty.value[i], I(0));
    return empty;
}

ring_packed ring_emit_packed(const ring_emitter *r) {
    if (ring_is_sparse(r->plan)) return ring_ahead_begin(r);
    static const char *const guards[] = {"some_values", "some_last_values"};
    mc_builder *b = r->at.b;
    ring_packed p = {.fetch = b32(b, "fetch"), .some = pred(b, "some")};
    p.some_values = lanes_declare(&r->at.plan->math, b, guards, p.some);
    mc_reg (*address)(mc_builder *, const char *) = ring_is_queued(r->plan) ? b32 : b64;
    p.places_at = address(b, "places_at"), p.values_at = address(b, "values_at");
    p.control_at = address(b, "control_at");
    emit_start(r, &p);
    p.held[0] = p.at_hand = emit_empty(r, "place", "step", "value");
    p.held[1] = emit_empty(r, "next_place", "next_step", "next_value");
    if (ring_rotates(r->plan)) p.held[2] = emit_empty(r, "third_place", "third_step", "third_value");
    return p;
}

/* Loads of 1, 2 and 4 words, out of memory or out of the queue. */
static const mc_opcode loads[2][LOAD_REGS + 1] = {{[1] = OP_ldg_b32, [2] = OP_ldg_v2, [4] = OP_ldg_v4},
                                                  {[1] = OP_lds_b32, [2] = OP_lds_v2, [4] = OP_lds_v4}};

static void emit_words(const ring_emitter *r, mc_reg guard, const mc_reg *to, int count, mc_reg at,
                       int offset) {
    builder_emit(r->at.b, guard, loads[ring_is_queued(r->plan)][count],
                 MC_OPERANDS(operand_vector(to, count), AT(at, offset)));
}

/* Sets where this lane reads stride AT. */
static void emit_addresses(const ring_emitter *r, const ring_packed *p, mc_reg at) {
    mc_builder *b = r->at.b;
    const struct {
        mc_reg to, from;
        int bytes;
    } all[] = {{p->control_at, p->control, WORD},
               {p->places_at, p->places, WINDOWED_STRIDE_WORDS * WORD},
               {p->values_at, p->values, r->at.plan->stride_values}};
    bool queued = ring_is_queued(r->plan);
    mc_reg entry = p->queue.entry;
    if (queued) EMIT(b, and_b32, entry, at, I(r->plan->depth - 1));
    for (size_t i = r->plan->keeps_all; i < sizeof all / sizeof *all; i++) { /* else without control */
        if (queued) EMIT(b, mad_s32, all[i].to, entry, I(ring_entry_bytes(r->plan)), all[i].from);
        else EMIT(b, mad_wide, all[i].to, at, I(all[i].bytes), all[i].from);
    }
}

/* Loads values from values_at to TO, by the lanes LANES. */
static void emit_values(const ring_emitter *r, const ring_packed *p, const ring_stride *to,
                        const spmm_value_lanes *lanes) {
    const spmm_arithmetic *math = &r->at.plan->math;
    int regs = RING_HALVES * math->value_bytes, load = regs < LOAD_REGS ? regs : LOAD_REGS;
    int mma_bytes = WINDOWED_ROW_VALUES * math->value_bytes * spmm_mma_row(math, 1);
    for (int m = 0; m < math->mma; m++)
        for (int i = 0; i < regs; i += load)
            emit_words(r, lanes->mma[m], &to->value[regs * m + i], load, p->values_at,
                       m * mma_bytes + i * WORD);
}

/* Loads stride AT, if BLOCK has it. */
static void emit_load(const ring_emitter *r, const ring_packed *p, const ring_stride *to, mc_reg at,
                      ring_row_block block) {
    mc_builder *b = r->at.b;
    EMIT(b, setp_lt, p->some, at, block.last);
    emit_addresses(r, p, at);
    if (!r->plan->keeps_all) emit_words(r, p->some, &to->control, 1, p->control_at, 0);
    emit_words(r, p->some, to->place, ring_place_words(r->plan), p->places_at, 0);
    lanes_set(&r->at.plan->math, b, p->has_values, at, block.last, p->some_values);
    emit_values(r, p, to, &p->some_values);
}

/* Loads the stride that is so many AHEAD of BLOCK's `stride`. */
static void emit_load_ahead(const ring_emitter *r, const ring_packed *p, const ring_stride *to, int ahead,
                            ring_row_block block) {
    EMIT(r->at.b, add_s32, p->fetch, block.stride, I(ahead));
    emit_load(r, p, to, p->fetch, block);
}

/* Loads the stride behind the one at hand. The entry of the latter is free then, for another one. */
static void emit_load_next(const ring_emitter *r, const ring_packed *p, ring_row_block block) {
    mc_builder *b = r->at.b;
    int depth = r->plan->depth;
    if (ring_is_queued(r->plan)) ring_queue_await(r, depth - 2);
    emit_load_ahead(r, p, &p->held[1], 1, block);
    if (!ring_is_queued(r->plan)) return;
    EMIT(b, add_s32, p->fetch, block.stride, I(depth));
    ring_queue_ask(r, p, p->fetch, block.last);
}

void ring_emit_first_strides(const ring_emitter *r, const ring_packed *p, ring_row_block block) {
    mc_builder *b = r->at.b;
    if (ring_is_sparse(r->plan)) {
        ring_ahead_ask_first(r, p, block);
        return;
    }
    if (!ring_is_queued(r->plan)) {
        emit_load(r, p, &p->held[0], block.stride, block);
        for (int i = 1; i < r->plan->depth; i++) emit_load_ahead(r, p, &p->held[i], i, block);
        return;
    }
    note(b, "copy the first %d strides to the warp's queue", r->plan->depth);
    for (int i = 0; i < r->plan->depth; i++) {
        EMIT(b, add_s32, p->fetch, block.stride, I(i));
        ring_queue_ask(r, p, p->fetch, block.last);
    }
}

void ring_emit_take_first(const ring_emitter *r, const ring_packed *p, ring_row_block block) {
    if (!ring_is_queued(r->plan)) return;
    ring_queue_await(r, r->plan->depth - 1);
    emit_load(r, p, &p->at_hand, block.stride, block);
    emit_load_next(r, p, block);
}

/* The registers of the stride at hand are free: what is left of it was kept. */
static void emit_next_held(const ring_emitter *r, ring_packed *p, ring_row_block block) {
    note(r->at.b, "load the stride %d behind it", RING_HELD - 1);
    emit_load_ahead(r, p, &p->held[p->hand], RING_HELD - 1, block);
    p->hand = (p->hand + 1) % RING_HELD;
    p->at_hand = p->held[p->hand];
}

/* What moves here was asked for a stride ago; a register that moved right behind its load would wait for
   it. */
void ring_emit_next_stride(const ring_emitter *r, ring_packed *p, ring_row_block block) {
    mc_builder *b = r->at.b;
    EMIT(b, add_s32, block.stride, block.stride, I(1));
    if (ring_rotates(r->plan)) {
        emit_next_held(r, p, block);
        return;
    }
    for (int i = 0; i < ring_place_words(r->plan); i++)
        EMIT(b, mov_b32, p->at_hand.place[i], p->held[1].place[i]);
    if (!r->plan->keeps_all) EMIT(b, mov_b32, p->at_hand.control, p->held[1].control);
    for (int i = 0; i < value_regs(r); i++) EMIT(b, mov_b32, p->at_hand.value[i], p->held[1].value[i]);
    if (ring_is_queued(r->plan))
        note(b, "load the stride behind it, and copy one %d behind it", r->plan->depth);
    else note(b, "prefetch the stride behind it");
    emit_load_next(r, p, block);
}
