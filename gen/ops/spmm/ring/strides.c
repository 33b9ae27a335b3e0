/* The ring kernel's loop over the strides of a row block. The products of what ldmatrix gives are those of
   pairs of bytes (integer/pairs.c), or of floats (real/windows.c). */
#include "ops/spmm/ring/ring.h"
#include "parts/windowed.h"

static mc_reg emit_lane_unit(const ring_emitter *r) {
    mc_builder *b = r->at.b;
    bool tall = spmm_is_tall(&r->at.plan->math);
    mc_reg unit = b32(b, "lane_unit");
    note(b, "lanes %s name the rows of the same slots as the %s before them, and the next %d columns",
         tall ? "16-31" : "8-15 and 24-31", tall ? "16" : "8", tall ? 128 / r->at.plan->math.b_bits : 16);
    EMIT(b, shr_u32, unit, r->at.place.lane, I(tall ? WINDOWED_SECOND_SHIFT : WINDOWED_BESIDE_SHIFT));
    EMIT(b, and_b32, unit, unit, I(1));
    EMIT(b, mul_s32, unit, unit, H(0x00010001));
    return unit;
}

/* Narrow rows, or sparse mma: prmt's selector of the half of its word that is the lane's place. */
static mc_reg emit_lane_half(const ring_emitter *r) {
    enum { LOW = 0x4410, HIGH = 0x4432 };
    mc_builder *b = r->at.b;
    note(b, "lanes 0-15 name the rows of the low halves of their words, lanes 16-31 those of the high ones");
    mc_reg is_high = setp_ge(b, "is_high", r->at.place.lane, I(WINDOWED_HALF));
    return selp_b32(b, "lane_half", H(HIGH), H(LOW), is_high);
}

/* Whether an ldmatrix brings 16 bytes of the rows of all 32 slots, of which lane l names that of slot l. */
static bool by_slots(const ring_plan *plan) { return ring_is_narrow(plan) || ring_is_sparse(plan); }

void ring_emit_strides_start(ring_strides *s) {
    mc_builder *b = s->r->at.b;
    int loads = ring_loads(s->r->plan);
    if (by_slots(s->r->plan)) {
        const int operands = ring_is_sparse(s->r->plan) ? RING_OPERANDS : 1;
        mc_reg rows[4 * RING_OPERANDS];
        b32_array(b, "rows", 4 * operands, rows);
        for (int i = 0; i < 4 * operands; i++) s->matrix[0][i / 4][i % 4] = rows[i];
        s->at[0] = b32(b, "at");
        if (ring_is_sparse(s->r->plan)) s->matrix_at = b32(b, "matrix_at");
        s->lane_half = emit_lane_half(s->r), s->none = mov_b32(b, "no_place", I(0));
        s->pairs = pairs_begin(s->sums, loads);
        return;
    }
    for (int h = 0; h < RING_HALVES; h++) {
        mc_reg matrices[RING_MAX_LOADS * 4];
        b32_array(b, h ? "high" : "low", loads * 4, matrices);
        for (int i = 0; i < loads * 4; i++) s->matrix[h][i / 4][i % 4] = matrices[i];
    }
    if (!ring_reads_words(s->r->plan)) b32_array(b, "at", RING_HALVES, s->at);
    s->matrix_at = b32(b, "matrix_at");
    s->lane_unit = ring_reads_words(s->r->plan) ? ring_words_unit(s->r) : emit_lane_unit(s->r);
    s->pairs = pairs_begin(s->sums, loads);
    note(b, "a second half that nobody gathered may be multiplied by zeros");
    for (int i = 0; i < loads * 4; i++) EMIT(b, mov_b32, s->matrix[1][i / 4][i % 4], I(0));
}

/* -- One stride --------------------------------------------------------------------------------------- */

void ring_emit_row_addresses(const ring_strides *s) {
    mc_builder *b = s->r->at.b;
    mc_reg place = s->packed->at_hand.place[0];
    if (by_slots(s->r->plan)) {
        EMIT(b, prmt_by, s->at[0], place, s->none, s->lane_half);
        EMIT(b, mad_s32, s->at[0], s->at[0], I(WINDOWED_UNIT), s->r->ring);
        return;
    }
    EMIT(b, xor_b32, place, place, s->lane_unit);
    EMIT(b, and_b32, s->at[0], place, H(0xffff));
    EMIT(b, shr_u32, s->at[1], place, I(16));
    for (int h = 0; h < RING_HALVES; h++) EMIT(b, mad_s32, s->at[h], s->at[h], I(WINDOWED_UNIT), s->r->ring);
}

static void emit_gather_load(const ring_strides *s, int half, int load, mc_reg guard) {
    mc_builder *b = s->r->at.b;
    mc_reg at = load ? s->matrix_at : s->at[half];
    if (load) EMIT(b, xor_b32, at, s->at[half], I(load * RING_LOAD_BYTES));
    EMIT_IF(b, guard, ldmatrix_x4_trans, V4(s->matrix[half][load]), AT(at, 0));
}

/* Reads the rows of a half's 16 slots, 32 bytes of each by an ldmatrix, where GUARD holds (none: always).
   Narrow rows of both halves come with the first. */
static void emit_gather(const ring_strides *s, int half, mc_reg guard) {
    mc_builder *b = s->r->at.b;
    if (ring_is_narrow(s->r->plan)) {
        if (half == 0) note(b, "gather the rows of slots 0..31");
        if (half == 0) EMIT(b, ldmatrix_x4_trans, V4(s->matrix[0][0]), AT(s->at[0], 0));
        return;
    }
    note(b, "gather the rows of slots %d..%d", WINDOWED_HALF * half, WINDOWED_HALF * half + 15);
    if (ring_reads_words(s->r->plan)) {
        ring_words_gather(s, half);
        return;
    }
    for (int q = 0; q < ring_loads(s->r->plan); q++) emit_gather_load(s, half, q, guard);
}

/* Begins a stride: once its windows are there, its first half is gathered. */
static void emit_begin(const ring_strides *s, bool first) {
    if (s->staging->before_stride) s->staging->before_stride(s->feed, s->packed->at_hand.control, first);
    (ring_reads_words(s->r->plan) ? ring_words_find : ring_emit_row_addresses)(s);
    emit_gather(s, 0, (mc_reg){0});
}

/* What the loop keeps of a stride for its second half: whether anything is in its slots from 16 on, and their
   values, since those of the next stride move up. Where an mma takes both halves, the values of both are
   kept, and nobody asks whether the second one is empty. Where all of B is there nobody asks either, since no
   control is read. */
typedef struct second_half {
    mc_reg whole, value[RING_MAX_LATE];
    int regs; /* of values, for each mma */
} second_half;

/* Keeps the values of the stride at hand. */
static void keep_values(const ring_strides *s, second_half *late) {
    mc_builder *b = s->r->at.b;
    const spmm_arithmetic *math = &s->r->at.plan->math;
    int regs = late->regs, all = RING_HALVES * math->value_bytes; /* kept, and there, for each mma */
    if (!late->value[0].id) b32_array(b, "late_value", math->mma * regs, late->value);
    for (int i = 0; i < math->mma * regs; i++)
        EMIT(b, mov_b32, late->value[i], s->packed->at_hand.value[i / regs * all + all - regs + i % regs]);
}

/* Asks whether there is a second half. */
static void keep_whole(const ring_strides *s, second_half *late) {
    mc_builder *b = s->r->at.b;
    const mc_reg control = s->packed->at_hand.control;
    if (s->r->at.plan->math.joins_halves || s->r->plan->keeps_all) return;
    if (!late->whole.id) late->whole = pred(b, "whole");
    EMIT(b, setp_ge, late->whole, control, I(0));
}

/* The loop's part of a stride that has begun: its second half is gathered while the first one is multiplied.
   What LATE keeps is declared by the first such part. */
static void emit_first_half(ring_strides *s, second_half *late) {
    const ring_stride *at_hand = &s->packed->at_hand;
    const spmm_arithmetic *math = &s->r->at.plan->math;
    const mc_reg always = {0};
    keep_whole(s, late);
    emit_gather(s, 1, math->kind->real ? always : late->whole);
    pairs_multiply(&s->pairs, 0, s->matrix[0], at_hand->value, RING_HALVES * math->value_bytes);
    pairs_add_bias(&s->pairs, at_hand->value);
    keep_values(s, late);
    ring_emit_next_stride(s->r, s->packed, s->block);
}

static void emit_second_half(ring_strides *s, const second_half *late) {
    pairs_multiply(&s->pairs, 1, s->matrix[1], late->value, late->regs);
}

/* -- All of them -------------------------------------------------------------------------------------- */

/* Behind the last stride, whose second half may be empty, and is left out then if it has mma of its own. */
static void emit_last(ring_strides *s, const second_half *late, mc_label last, mc_label done) {
    mc_builder *b = s->r->at.b;
    set_label(b, last);
    if (late->whole.id) {
        mc_label last_half = label(b, "LAST_HALF");
        EMIT_IF(b, late->whole, bra_uni, TO(last_half));
        EMIT(b, bra_uni, TO(done));
        set_label(b, last_half);
    }
    emit_second_half(s, late);
}

/* From a stride to the next one; to LAST, where there is none. */
static void emit_stride(ring_strides *s, second_half *late, mc_label last) {
    mc_builder *b = s->r->at.b;
    mc_reg no_more = s->packed->some;
    emit_first_half(s, late);
    EMIT(b, setp_ge, no_more, s->block.stride, s->block.last);
    EMIT_IF(b, no_more, bra_uni, TO(last));
    note(b, "the next stride");
    emit_begin(s, false);
    emit_second_half(s, late);
}

/* While one half is multiplied the next is gathered: slots 0 to 15 of the next stride beside slots 16 to 31
   of this one. Where slots 16 to 31 are empty, the last stride ends without them; any other stride multiplies
   what is left in their registers by zeros. Where it goes through all strides that registers hold, it is as
   many strides long, and a row block begins with the first one's registers. */
static void emit_loop(ring_strides *s, mc_label done) {
    mc_builder *b = s->r->at.b;
    const spmm_arithmetic *math = &s->r->at.plan->math;
    static const char *const prefixes[RING_HELD] = {NULL, "second_", "third_"};
    const int strides = ring_rotates(s->r->plan) ? RING_HELD : 1;
    second_half late = {.regs = math->value_bytes * (math->joins_halves ? RING_HALVES : 1)};
    mc_label loop = label(b, "STRIDES"), last = label(b, "LAST");
    heading(b, "Loop over strides: 32 nonzero vectors a time");
    set_label(b, loop);
    for (int i = 0; i < strides; i++) {
        b->prefix = prefixes[i];
        emit_stride(s, &late, last);
    }
    b->prefix = NULL;
    EMIT(b, bra_uni, TO(loop));
    emit_last(s, &late, last, done);
}

/* What says where the next row block's strides lie was loaded before the first stride, and may be there by
   now. */
static void emit_prefetch_next(const ring_strides *s) {
    mc_builder *b = s->r->at.b;
    b->prefix = "next_";
    ring_emit_prefetch(s->r, s->packed, s->next);
    b->prefix = NULL;
}

void ring_emit_strides(ring_strides *s) {
    mc_builder *b = s->r->at.b;
    mc_label done = label(b, "STRIDES_DONE");
    sums_zero(s->sums);
    mc_reg none = setp_ge(b, "no_stride", s->block.stride, s->block.last);
    EMIT_IF(b, none, bra_uni, TO(done));
    heading(b, "The first stride");
    b->prefix = "first_";
    ring_emit_take_first(s->r, s->packed, s->block);
    if (ring_is_sparse(s->r->plan)) {
        ring_emit_sparse(s);
    } else {
        emit_begin(s, true);
        b->prefix = NULL;
        if (s->next.last.id) emit_prefetch_next(s);
        emit_loop(s, done);
    }
    set_label(b, done);
    if (s->staging->rest) s->staging->rest(s->feed);
}
