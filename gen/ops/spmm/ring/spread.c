/* `joined`: places and control of several strides lie spread over a warp's lanes, and a shuffle brings a
 * stride's to where they are wanted. One load brings the places of two strides, 128 bytes, and another one
 * the control of 32. Those of the next two, and of the next 32, are on their way meanwhile: out of L2 they
 * take longer than a stride does. Values of two strides are a group of copies to the warp's queue (queue.c).
 *
 * The strides of a load begin at a multiple of their number, counted over the whole array. Loads have
 * guards: what none guards ptxas 13 brings to a register beside, and moves it, and waits for it, right
 * behind. */
#include "ops/spmm/ring/ring.h"
#include "parts/windowed.h"

enum { PAIR = 2 };

static ring_share share_of(const ring_emitter *r, const char *name, const char *next, int strides,
                           int words) {
    mc_builder *b = r->at.b;
    ring_share s = {.strides = strides, .bytes = words * WORD};
    s.now = carried(b, name, I(0)), s.next = carried(b, next, I(0));
    s.stride = r->at.place.lane;
    return s;
}

ring_spread ring_spread_begin(const ring_emitter *r, const ring_arrays *arrays, mc_reg word) {
    mc_builder *b = r->at.b;
    mc_reg lane = r->at.place.lane;
    ring_spread s = {.word = word};
    s.places = share_of(r, "pair", "pair_next", PAIR, WINDOWED_STRIDE_WORDS);
    s.places.from = mad_wide(b, "pair_base", lane, I(WORD), arrays->places);
    s.places.stride = shr_u32(b, "lane_stride", lane, I(log2_of(WINDOWED_STRIDE_WORDS)));
    s.control = share_of(r, "steps", "steps_next", MC_WARP, 1);
    s.control.from = mad_wide(b, "steps_base", lane, I(WORD), arrays->control);
    s.first = b32(b, "spread_first"), s.at = b32(b, "spread_at"), s.from = b64(b, "spread_from");
    s.is = pred(b, "is_spread");
    return s;
}

/* Loads to TO this lane's word of the strides that stride OF is one of, or of the MORE behind them, if its
   stride of those is before LAST. */
static void emit_load(mc_builder *b, const ring_spread *s, const ring_share *share, mc_reg to, mc_reg of,
                      int more, mc_reg last) {
    EMIT(b, and_b32, s->first, of, H(~(unsigned)(share->strides - 1)));
    if (more) EMIT(b, add_s32, s->first, s->first, I(more));
    EMIT(b, add_s32, s->at, s->first, share->stride);
    EMIT(b, setp_lt, s->is, s->at, last);
    EMIT(b, mad_wide, s->from, s->first, I(share->bytes), share->from);
    EMIT_IF(b, s->is, ldg_b32, to, AT(s->from, 0));
}

/* OF is a first stride of a load: what is on its way comes up. */
static void emit_come_up(mc_builder *b, const ring_spread *s, const ring_share *share, mc_reg of,
                         mc_reg last) {
    EMIT(b, mov_b32, share->now, share->next);
    emit_load(b, s, share, share->next, of, share->strides, last);
}

/* Values of two strides are asked for so many strides before the first of them is taken. The queue has room
   for these, and for two pairs at hand. */
static int ahead(const ring_emitter *r) { return r->plan->depth - 2 * PAIR; }

/* Waits for the values of the two strides at hand: those ahead may still be on their way. */
static void emit_await_pair(const ring_emitter *r) { ring_queue_await(r, ahead(r) / PAIR); }

void ring_spread_row(const ring_emitter *r, const ring_packed *p, ring_row_block block) {
    mc_builder *b = r->at.b;
    const ring_spread *s = &p->spread;
    const ring_share *const shares[] = {&s->places, &s->control};
    note(b, "places of the first strides, two a register, and their control, 32 a register");
    for (int i = 0; i < 2; i++) emit_load(b, s, shares[i], shares[i]->now, block.stride, 0, block.last);
    for (int i = 0; i < 2; i++)
        emit_load(b, s, shares[i], shares[i]->next, block.stride, shares[i]->strides, block.last);
    EMIT(b, mov_b32, p->queue.to_at, p->queue.to);
    EMIT(b, and_b32, s->first, block.stride, H(~(unsigned)(PAIR - 1)));
    for (int i = 0; i <= ahead(r); i += PAIR) {
        if (i > 0) EMIT(b, add_s32, s->first, s->first, I(PAIR));
        ring_queue_ask_two(r, &p->queue, s->first, block.last);
    }
}

/* AT is a first stride of two. */
static void emit_turn(const ring_emitter *r, const ring_packed *p, mc_reg at, mc_reg last) {
    mc_builder *b = r->at.b;
    const ring_spread *s = &p->spread;
    mc_label same = label(b, "SAME_STEPS");
    emit_come_up(b, s, &s->places, at, last);
    EMIT(b, add_s32, s->first, at, I(ahead(r)));
    ring_queue_ask_two(r, &p->queue, s->first, last);
    EMIT(b, and_b32, s->at, at, I(MC_WARP - 1));
    EMIT(b, setp_ne, s->is, s->at, I(0));
    EMIT_IF(b, s->is, bra_uni, TO(same));
    emit_come_up(b, s, &s->control, at, last);
    set_label(b, same);
}

static void emit_take(const ring_emitter *r, const ring_packed *p, mc_reg at) {
    mc_builder *b = r->at.b;
    const ring_spread *s = &p->spread;
    EMIT(b, mad_s32, s->at, at, I(WINDOWED_STRIDE_WORDS), s->word);
    EMIT(b, shfl_idx, p->at_hand.place[0], s->places.now, s->at, I(MC_WARP - 1), H(0xffffffff));
    EMIT(b, shfl_idx, p->at_hand.control, s->control.now, at, I(MC_WARP - 1), H(0xffffffff));
}

void ring_spread_take_first(const ring_emitter *r, const ring_packed *p, mc_reg at) {
    emit_await_pair(r);
    emit_take(r, p, at);
}

/* Shuffles come before the branches meet, since what comes behind is long, and asks for them at its end. */
void ring_spread_take(const ring_emitter *r, const ring_packed *p, mc_reg at, mc_reg last) {
    mc_builder *b = r->at.b;
    const ring_spread *s = &p->spread;
    mc_label second = label(b, "SECOND"), taken = label(b, "TAKEN");
    EMIT(b, and_b32, s->at, at, I(PAIR - 1));
    EMIT(b, setp_ne, s->is, s->at, I(0));
    EMIT_IF(b, s->is, bra_uni, TO(second));
    emit_turn(r, p, at, last);
    emit_take(r, p, at);
    EMIT(b, bra_uni, TO(taken));
    set_label(b, second);
    emit_take(r, p, at);
    emit_await_pair(r);
    set_label(b, taken);
}
