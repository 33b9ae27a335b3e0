/* A's strides asked for ahead in registers, with sparse mma. A stride takes less time than a load out of L2.
 *
 * Values: a lane has two sets of them, for strides of even and of odd numbers. Once a stride is taken, the
 * one two further on is asked for. Each set is taken in a block of its own, since a register that is on its
 * way cannot move.
 *
 * Places and control of several strides lie spread over a warp's lanes, and a shuffle brings a stride's to
 * where they are wanted. One load brings the places of two strides, 128 bytes, and another one the control
 * of 32. Those of the next two, and of the next 32, are on their way meanwhile. They are taken one stride
 * before the values, since a stride's rows are gathered before the one in front of it ends. Few loads matter
 * here: ptxas 13 has six scoreboards for what is on its way, and what shares one is waited for together.
 *
 * Strides count over the whole array, and those of a load begin at a multiple of their number. Loads have
 * guards: what none guards ptxas 13 brings to a register beside, and moves it, and waits for it, right
 * behind. */
#include "ops/spmm/ring/ring.h"
#include "parts/windowed.h"

enum { PAIR = RING_SETS, PLANE_REGS = 4 /* of a lane's values of a digit: WINDOWED_LANE_FOURS bytes */ };

static int value_regs(const ring_emitter *r) {
    return PLANE_REGS * (int)(r->at.plan->stride_values / (WINDOWED_LANE_FOURS * MC_WARP));
}

/* -- Declarations -------------------------------------------------------------------------------------- */

static ring_share share_of(const ring_emitter *r, const char *name, const char *next, int strides,
                           int words) {
    mc_builder *b = r->at.b;
    ring_share s = {.strides = strides, .bytes = words * WORD, .stride = r->at.place.lane};
    s.now = carried(b, name, I(0)), s.next = carried(b, next, I(0));
    return s;
}

static void declare_values(const ring_emitter *r, const char *name, mc_reg *value) {
    b32_array(r->at.b, name, value_regs(r), value);
    for (int i = 0; i < value_regs(r); i++) EMIT(r->at.b, mov_b32, value[i], I(0));
}

ring_packed ring_ahead_begin(const ring_emitter *r) {
    static const char *const sets[RING_SETS] = {"ahead_a", "ahead_b"};
    mc_builder *b = r->at.b;
    mc_reg lane = r->at.place.lane;
    ring_packed p = {.fetch = b32(b, "fetch"), .some = pred(b, "some")};
    ring_ahead *a = &p.ahead;
    heading(b, "Where strides lie in the packed arrays");
    note(b, "lane: word lane %% 16 of the places, 16 values at 16 lane");
    p.arrays = (ring_arrays){.places = load_array(b, "places"), .values = load_array(b, "values")};
    p.arrays.control = load_array(b, "control");
    p.values = mad_wide(b, "values_base", lane, I(WINDOWED_LANE_FOURS), p.arrays.values);
    p.values_at = b64(b, "values_at");
    a->word = and_b32(b, "word", lane, I(WINDOWED_HALF - 1));
    a->places = share_of(r, "pair", "pair_next", PAIR, WINDOWED_STRIDE_WORDS);
    a->places.from = mad_wide(b, "pair_base", lane, I(WORD), p.arrays.places);
    a->places.stride = shr_u32(b, "lane_stride", lane, I(log2_of(WINDOWED_STRIDE_WORDS)));
    a->control = share_of(r, "steps", "steps_next", MC_WARP, 1);
    a->control.from = mad_wide(b, "steps_base", lane, I(WORD), p.arrays.control);
    a->first = b32(b, "share_first"), a->at = b32(b, "share_at"), a->from = b64(b, "share_from");
    p.at_hand.place[0] = b32(b, "place"), p.at_hand.control = b32(b, "step");
    declare_values(r, "value", p.at_hand.value);
    for (int i = 0; i < RING_SETS; i++) declare_values(r, sets[i], a->value[i]);
    return p;
}

/* -- Loads --------------------------------------------------------------------------------------------- */

/* Loads to TO this lane's word of the strides that stride OF is one of, or of the MORE behind them, if its
   stride of those is before LAST. */
static void load_share(const ring_emitter *r, const ring_packed *p, const ring_share *share, mc_reg to,
                       mc_reg of, int more, mc_reg last) {
    mc_builder *b = r->at.b;
    const ring_ahead *a = &p->ahead;
    EMIT(b, and_b32, a->first, of, H(~(unsigned)(share->strides - 1)));
    if (more) EMIT(b, add_s32, a->first, a->first, I(more));
    EMIT(b, add_s32, a->at, a->first, share->stride);
    EMIT(b, setp_lt, p->some, a->at, last);
    EMIT(b, mad_wide, a->from, a->first, I(share->bytes), share->from);
    EMIT_IF(b, p->some, ldg_b32, to, AT(a->from, 0));
}

/* OF is a first stride of a load: what is on its way comes up. */
static void come_up(const ring_emitter *r, const ring_packed *p, const ring_share *share, mc_reg of,
                    mc_reg last) {
    EMIT(r->at.b, mov_b32, share->now, share->next);
    load_share(r, p, share, share->next, of, share->strides, last);
}

/* Loads the values of stride AT, which is one of set SET, if it is before LAST. */
static void load_values(const ring_emitter *r, const ring_packed *p, int set, mc_reg at, mc_reg last) {
    mc_builder *b = r->at.b;
    EMIT(b, setp_lt, p->some, at, last);
    EMIT(b, mad_wide, p->values_at, at, I(r->at.plan->stride_values), p->values);
    for (int i = 0; i < value_regs(r); i += PLANE_REGS)
        EMIT_IF(b, p->some, ldg_v4, V4(&p->ahead.value[set][i]),
                AT(p->values_at, i / PLANE_REGS * WINDOWED_LANE_FOURS * MC_WARP));
}

void ring_ahead_ask_first(const ring_emitter *r, const ring_packed *p, ring_row_block block) {
    mc_builder *b = r->at.b;
    const ring_share *const shares[] = {&p->ahead.places, &p->ahead.control};
    note(b, "places of the first strides, two a register, and their control, 32 a register");
    for (int i = 0; i < 2; i++) load_share(r, p, shares[i], shares[i]->now, block.stride, 0, block.last);
    for (int i = 0; i < 2; i++)
        load_share(r, p, shares[i], shares[i]->next, block.stride, shares[i]->strides, block.last);
    note(b, "and the values of %d: set i has the first one that is i mod %d", RING_SETS, RING_SETS);
    for (int i = 0; i < RING_SETS; i++) {
        EMIT(b, sub_s32, p->fetch, I(i), block.stride);
        EMIT(b, and_b32, p->fetch, p->fetch, I(RING_SETS - 1));
        EMIT(b, add_s32, p->fetch, p->fetch, block.stride);
        load_values(r, p, i, p->fetch, block.last);
    }
}

/* -- Taking them --------------------------------------------------------------------------------------- */

static void take_slots(const ring_emitter *r, const ring_packed *p, mc_reg at) {
    mc_builder *b = r->at.b;
    const ring_ahead *a = &p->ahead;
    EMIT(b, mad_s32, a->at, at, I(WINDOWED_STRIDE_WORDS), a->word);
    EMIT(b, shfl_idx, p->at_hand.place[0], a->places.now, a->at, I(MC_WARP - 1), H(0xffffffff));
    EMIT(b, shfl_idx, p->at_hand.control, a->control.now, at, I(MC_WARP - 1), H(0xffffffff));
}

/* Stride AT is the first one of two, and perhaps of 32. */
static void next_slots(const ring_emitter *r, const ring_packed *p, mc_reg at, mc_reg last) {
    mc_builder *b = r->at.b;
    const ring_ahead *a = &p->ahead;
    mc_label same = label(b, "SAME_STEPS");
    come_up(r, p, &a->places, at, last);
    EMIT(b, and_b32, a->at, at, I(MC_WARP - 1));
    EMIT(b, setp_ne, p->some, a->at, I(0));
    EMIT_IF(b, p->some, bra_uni, TO(same));
    come_up(r, p, &a->control, at, last);
    set_label(b, same);
}

/* Takes the values of stride AT, which is in set SET, and where the rows of the one behind it lie. */
static void take(const ring_emitter *r, const ring_packed *p, int set, mc_reg at, mc_reg last) {
    mc_builder *b = r->at.b;
    const mc_reg *from = p->ahead.value[set];
    EMIT(b, add_s32, p->fetch, at, I(1));
    if (set == 1) next_slots(r, p, p->fetch, last);
    take_slots(r, p, p->fetch);
    for (int i = 0; i < value_regs(r); i++) EMIT(b, mov_b32, p->at_hand.value[i], from[i]);
    EMIT(b, add_s32, p->fetch, at, I(RING_SETS));
    load_values(r, p, set, p->fetch, last);
}

void ring_ahead_take_slots(const ring_emitter *r, const ring_packed *p, ring_row_block block) {
    take_slots(r, p, block.stride);
}

void ring_ahead_take(const ring_emitter *r, const ring_packed *p, ring_row_block block) {
    mc_builder *b = r->at.b;
    mc_label odd = label(b, "SET_1"), taken = label(b, "TAKEN");
    note(b, "the stride's values, and places and control of the next one; more of A is asked for");
    EMIT(b, and_b32, p->fetch, block.stride, I(1));
    EMIT(b, setp_eq, p->some, p->fetch, I(1));
    EMIT_IF(b, p->some, bra_uni, TO(odd));
    take(r, p, 0, block.stride, block.last);
    EMIT(b, bra_uni, TO(taken));
    set_label(b, odd);
    take(r, p, 1, block.stride, block.last);
    set_label(b, taken);
}
