/* A lane's words of the ring kernel's packed arrays (windowed.h). Those of a stride are loaded while the
   stride before it is computed. */
#include "ops/spmm/ring/ring.h"
#include "parts/windowed.h"

enum { LOAD_REGS = 4 /* of a load, at most */ };

/* Registers of a lane's values in a stride. */
static int value_regs(const ring_emitter *r) {
    const spmm_arithmetic *math = &r->at.plan->math;
    return RING_HALVES * math->value_bytes * math->mma;
}

static void emit_places(const ring_emitter *r, ring_packed *p) {
    mc_builder *b = r->at.b;
    mc_reg lane = r->at.place.lane;
    int bytes = MC_LANE_SLOTS * r->at.plan->math.value_bytes;
    bool tall = spmm_is_tall(&r->at.plan->math);
    if (ring_reads_words(r->plan)) {
        note(b, "lane: words 4 t to 4 t + 3 of the places, 8 values at %d lane", bytes);
        p->places =
            mad_wide(b, "places_base", r->at.place.t, I(RING_MAX_PLACES * WORD), load_array(b, "places"));
        return;
    }
    mc_reg word = b32(b, "word");
    note(b, "lane: word %s + lane %% 8 of the places, 8 values at %d lane",
         tall ? "8 (lane / 8 % 2)" : "8 (lane / 16)", bytes);
    mc_reg high = shr_u32(b, "word_high", lane, I(tall ? WINDOWED_BESIDE_SHIFT : WINDOWED_SECOND_SHIFT));
    if (tall) high = and_b32(b, "word_second", high, I(1));
    EMIT(b, and_b32, word, lane, I(WINDOWED_ROW_MASK));
    EMIT(b, mad_s32, word, high, I(WINDOWED_GROUP), word);
    p->places = mad_wide(b, "places_base", word, I(WORD), load_array(b, "places"));
}

/* Sets the addresses at which this lane reads stride 0. */
static void emit_start(const ring_emitter *r, ring_packed *p) {
    mc_builder *b = r->at.b;
    mc_reg lane = r->at.place.lane;
    int bytes = MC_LANE_SLOTS * r->at.plan->math.value_bytes;
    heading(b, "Where strides lie in the packed arrays");
    emit_places(r, p);
    p->values = mad_wide(b, "values_base", lane, I(bytes), load_array(b, "values"));
    p->has_values = lanes_with_values(&r->at.plan->math, b, r->at.place.g);
    p->control = load_array(b, "control");
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
    static const char *const guards[] = {"some_values", "some_last_values"};
    mc_builder *b = r->at.b;
    ring_packed p = {.fetch = b32(b, "fetch"), .some = pred(b, "some")};
    p.some_values = lanes_declare(&r->at.plan->math, b, guards, p.some);
    p.places_at = b64(b, "places_at"), p.values_at = b64(b, "values_at"), p.control_at = b64(b, "control_at");
    emit_start(r, &p);
    p.at_hand = emit_empty(r, "place", "step", "value");
    p.next = emit_empty(r, "next_place", "next_step", "next_value");
    return p;
}

/* Loads stride AT, if BLOCK has it. */
static void emit_load(const ring_emitter *r, const ring_packed *p, const ring_stride *to, mc_reg at,
                      ring_row_block block) {
    mc_builder *b = r->at.b;
    const spmm_plan *plan = r->at.plan;
    int regs = RING_HALVES * plan->math.value_bytes;
    int mma_bytes = WINDOWED_ROW_VALUES * plan->math.value_bytes * spmm_mma_row(&plan->math, 1);
    EMIT(b, setp_lt, p->some, at, block.last);
    EMIT(b, mad_wide, p->control_at, at, I(WORD), p->control);
    EMIT(b, mad_wide, p->places_at, at, I(WINDOWED_STRIDE_WORDS * WORD), p->places);
    EMIT(b, mad_wide, p->values_at, at, I(plan->stride_values), p->values);
    EMIT_IF(b, p->some, ldg_b32, to->control, AT(p->control_at, 0));
    if (ring_place_words(r->plan) == 1) EMIT_IF(b, p->some, ldg_b32, to->place[0], AT(p->places_at, 0));
    else EMIT_IF(b, p->some, ldg_v4, V4(to->place), AT(p->places_at, 0));
    lanes_set(&plan->math, b, p->has_values, at, block.last, p->some_values);
    int load = regs < LOAD_REGS ? regs : LOAD_REGS;
    for (int m = 0; m < plan->math.mma; m++)
        for (int i = 0; i < regs; i += load)
            builder_emit(b, p->some_values.mma[m], load == 2 ? OP_ldg_v2 : OP_ldg_v4,
                         MC_OPERANDS(operand_vector(&to->value[regs * m + i], load),
                                     AT(p->values_at, m * mma_bytes + i * WORD)));
}

/* Loads the stride behind the one at hand. */
static void emit_load_next(const ring_emitter *r, const ring_packed *p, ring_row_block block) {
    EMIT(r->at.b, add_s32, p->fetch, block.stride, I(1));
    emit_load(r, p, &p->next, p->fetch, block);
}

void ring_emit_first_strides(const ring_emitter *r, const ring_packed *p, ring_row_block block) {
    emit_load(r, p, &p->at_hand, block.stride, block);
    emit_load_next(r, p, block);
}

/* What moves here was asked for a stride ago; a register that moved right behind its load would wait for
   it. */
void ring_emit_next_stride(const ring_emitter *r, const ring_packed *p, ring_row_block block) {
    mc_builder *b = r->at.b;
    EMIT(b, add_s32, block.stride, block.stride, I(1));
    for (int i = 0; i < ring_place_words(r->plan); i++)
        EMIT(b, mov_b32, p->at_hand.place[i], p->next.place[i]);
    EMIT(b, mov_b32, p->at_hand.control, p->next.control);
    for (int i = 0; i < value_regs(r); i++) EMIT(b, mov_b32, p->at_hand.value[i], p->next.value[i]);
    note(b, "prefetch the stride behind it");
    emit_load_next(r, p, block);
}
