/* The ring kernel's instructions. With staging "tma" one warp copies the windows of B into the ring in order.
 * Each of the others computes a row block, and waits for windows and leaves them as its strides say
 * (windowed.h).
 *
 *   place -> barriers -> copying warp:  for each window: wait until its stage is empty, copy
 *                     -> other warps:   for each stride: leave, wait; ldmatrix, mma; then store
 *
 * With staging "async" every warp computes, and all copy and pass windows together (ring_async.c).
 *
 * ldmatrix.trans moves elements of 16 bits, so that a lane gets two neighbouring columns (bytes) of two
 * slots. These are not untangled. Instead two mma each take one of the columns: for the one, A's values stand
 * at the even bytes of the operand, for the other at the odd bytes, with zeros between. With a B of 12 or 16
 * bits the two bytes are the digits of one column. */
#include "parts/fragment.h"
#include "ops/spmm/ring.h"
#include "parts/windowed.h"

/* -- A row block's strides ---------------------------------------------------------------------------- */

/* Sets the addresses at which this lane reads the places and values of stride 0. */
static void emit_packed_start(spmm_ring *r) {
    mc_builder *b = r->e.b;
    heading(b, "Where strides lie in the packed arrays");
    mc_reg word = b32(b, "word"), high = b32(b, "word_high");
    r->places_base = b64(b, "places_base"), r->places_at = b64(b, "places_at");
    r->values_base = b64(b, "values_base"), r->values_at = b64(b, "values_at");
    r->control_at = b64(b, "control_at");
    note(b, "lane: word 8 (lane / 16) + lane %% 8 of the places, 8 values at 8 lane");
    EMIT(b, shr_u32, high, r->e.place.lane, I(WINDOWED_SECOND_SHIFT));
    EMIT(b, and_b32, word, r->e.place.lane, I(WINDOWED_ROW_MASK));
    EMIT(b, mad_s32, word, high, I(WINDOWED_GROUP), word);
    EMIT(b, mad_wide, r->places_base, word, I(WORD), load_array(b, "places"));
    EMIT(b, mad_wide, r->values_base, r->e.place.lane, I(MC_LANE_SLOTS), load_array(b, "values"));
    spmm_emit_has_values(&r->e);
    r->control_base = load_array(b, "control");
}

/* Loads the stride OFFSET behind the one at hand, if the row block has it. */
static void emit_load_packed(spmm_ring *r, const packed_stride *to, int offset) {
    mc_builder *b = r->e.b;
    const spmm_plan *plan = r->e.plan;
    int mma_bytes = WINDOWED_ROW_VALUES * plan->vec * plan->planes;
    mc_reg at = offset ? r->fetch : r->stride;
    if (offset) EMIT(b, add_s32, at, r->stride, I(offset));
    EMIT(b, setp_lt, r->some, at, r->row_last);
    EMIT(b, mad_wide, r->control_at, at, I(WORD), r->control_base);
    EMIT(b, mad_wide, r->places_at, at, I(WINDOWED_STRIDE_WORDS * WORD), r->places_base);
    EMIT(b, mad_wide, r->values_at, at, I(plan->stride_values), r->values_base);
    EMIT_IF(b, r->some, ldg_b32, to->control, AT(r->control_at, 0));
    EMIT_IF(b, r->some, ldg_b32, to->place, AT(r->places_at, 0));
    spmm_emit_guards(&r->e, at, r->row_last, r->some_values);
    for (int m = 0; m < plan->mma; m++)
        EMIT_IF(b, r->some_values[m], ldg_v2, V2(&to->value[RING_HALVES * m]),
                AT(r->values_at, m * mma_bytes));
}

/* Makes the next stride the one at hand, and begins to load the one behind it. What moves here was asked for
   a stride ago; a register that moved right behind its load would wait for it. */
static void emit_take_next(spmm_ring *r) {
    mc_builder *b = r->e.b;
    EMIT(b, add_s32, r->stride, r->stride, I(1));
    EMIT(b, mov_b32, r->at_hand.place, r->next_up.place);
    EMIT(b, mov_b32, r->at_hand.control, r->next_up.control);
    for (int i = 0; i < RING_HALVES * r->e.plan->mma; i++)
        EMIT(b, mov_b32, r->at_hand.value[i], r->next_up.value[i]);
    note(b, "prefetch the stride behind it");
    emit_load_packed(r, &r->next_up, 1);
}

static packed_stride declare_packed(spmm_ring *r, const char *place, const char *control, const char *value) {
    mc_builder *b = r->e.b;
    packed_stride p = {.place = b32(b, place), .control = b32(b, control)};
    b32_array(b, value, RING_HALVES * r->e.plan->mma, p.value);
    return p;
}

/* Staging "tma": declares where this warp is in the ring. */
static void declare_barriers(spmm_ring *r) {
    mc_builder *b = r->e.b;
    r->wait_at = b32(b, "wait_at"), r->parity = b32(b, "parity");
    r->leave_at = b32(b, "leave_at"), r->empty_end = b32(b, "empty_end"), r->wrap = pred(b, "wrap");
    r->waited = b32(b, "waited"), r->left = b32(b, "left"), r->first_lane = pred(b, "first_lane");
}

static void declare_strides(spmm_ring *r) {
    mc_builder *b = r->e.b;
    r->at_hand = declare_packed(r, "place", "step", "value");
    r->next_up = declare_packed(r, "next_place", "next_step", "next_value");
    r->stride = b32(b, "stride"), r->fetch = b32(b, "fetch");
    r->some = pred(b, "some"), r->whole = pred(b, "whole");
    static const char *const guards[] = {"some_values", "some_last_values"};
    spmm_declare_guards(&r->e, guards, r->some, r->some_values);
    r->wants = b32(b, "wants");
    r->count = b32(b, "count"), r->again = pred(b, "again");
    r->lane_unit = b32(b, "lane_unit");
    b32_array(b, "at", RING_HALVES, r->at);
    r->matrix_at = b32(b, "matrix_at");
    for (int h = 0; h < RING_HALVES; h++) {
        mc_reg matrices[RING_MAX_LOADS * 4];
        b32_array(b, h ? "high" : "low", ring_loads(r->e.plan) * 4, matrices);
        for (int i = 0; i < ring_loads(r->e.plan) * 4; i++) r->matrix[h][i / 4][i % 4] = matrices[i];
    }
    b32_array(b, "late_value", r->e.plan->mma, r->late_value);
    r->zero = b32(b, "zero");
    int operands = r->e.plan->rhs.bits == 4 ? 2 * r->e.plan->mma : 2;
    b32_array(b, "even", operands, r->even);
    b32_array(b, "odd", operands, r->odd);
    if (r->e.plan->rhs.bits == 4) b32_array(b, "nibble", 4, r->e.nibble);
    spmm_declare_bias(&r->e);
    b32_array(b, "acc", ring_acc_count(r->e.plan) * r->e.plan->sums, r->e.acc);
    ring_declare_sum(r);
}

static void emit_start_values(spmm_ring *r) {
    mc_builder *b = r->e.b;
    note(
        b,
        "lanes 8-15 and 24-31 name the rows of the same slots as the 8 before them, and the next 16 columns");
    EMIT(b, shr_u32, r->lane_unit, r->e.place.lane, I(WINDOWED_BESIDE_SHIFT));
    EMIT(b, and_b32, r->lane_unit, r->lane_unit, I(1));
    EMIT(b, mul_s32, r->lane_unit, r->lane_unit, H(0x00010001));
    EMIT(b, mov_b32, r->zero, I(0));
    note(b, "a second half that nobody gathered may be multiplied by zeros");
    for (int i = 0; i < 4 * ring_loads(r->e.plan); i++) EMIT(b, mov_b32, r->matrix[1][i / 4][i % 4], I(0));
}

static void emit_start_barriers(spmm_ring *r) {
    mc_builder *b = r->e.b;
    EMIT(b, setp_eq, r->first_lane, r->e.place.lane, I(0));
    EMIT(b, mov_b32, r->wait_at, r->full_at);
    EMIT(b, mov_b32, r->parity, I(0));
    EMIT(b, mov_b32, r->leave_at, r->empty_at);
    EMIT(b, add_s32, r->empty_end, r->empty_at, I(r->e.plan->stages * RING_BARRIER_BYTES));
    EMIT(b, mov_b32, r->waited, I(0));
    EMIT(b, mov_b32, r->left, I(0));
}

/* Loads a row block's first two strides. */
static void emit_first_strides(spmm_ring *r) {
    emit_load_packed(r, &r->at_hand, 0);
    emit_load_packed(r, &r->next_up, 1);
}

/* Zeroes the registers of strides, which a load may leave as they are. */
static void emit_no_strides(spmm_ring *r) {
    mc_builder *b = r->e.b;
    const packed_stride *both[] = {&r->at_hand, &r->next_up};
    for (int i = 0; i < 2; i++) {
        const packed_stride *p = both[i];
        EMIT(b, mov_b32, p->place, I(0));
        EMIT(b, mov_b32, p->control, I(0));
        for (int v = 0; v < RING_HALVES * r->e.plan->mma; v++) EMIT(b, mov_b32, p->value[v], I(0));
    }
}

/* -- Into the ring and out of it ---------------------------------------------------------------------- */

/* Waits for the next window. */
static void emit_wait_one(spmm_ring *r, const char *name) {
    mc_builder *b = r->e.b;
    ring_emit_await(r, name, r->wait_at, r->parity);
    ring_emit_next_stage(r, r->wait_at, r->full_at, r->empty_at, r->wrap, r->parity);
    EMIT(b, add_s32, r->waited, r->waited, I(1));
}

/* Leaves the next window. */
static void emit_leave_one(spmm_ring *r) {
    mc_builder *b = r->e.b;
    EMIT_IF(b, r->first_lane, mbarrier_arrive, r->state, AT(r->leave_at, 0));
    ring_emit_next_stage(r, r->leave_at, r->empty_at, r->empty_end, r->wrap, (mc_reg){0});
    EMIT(b, add_s32, r->left, r->left, I(1));
}

/* Counts down, and goes back to LOOP while there is more. */
static void emit_count_down(spmm_ring *r, mc_label loop) {
    mc_builder *b = r->e.b;
    EMIT(b, add_s32, r->count, r->count, I(-1));
    EMIT(b, setp_gt, r->again, r->count, I(0));
    EMIT_IF(b, r->again, bra_uni, TO(loop));
}

void ring_emit_wants(spmm_ring *r) {
    mc_operand mask = r->heed.id ? r->heed : H(WINDOWED_WANTS_MASK);
    EMIT(r->e.b, and_b32, r->wants, r->at_hand.control, mask);
}

static void emit_leave(spmm_ring *r, mc_reg none) {
    mc_builder *b = r->e.b;
    mc_label leave = label(b, "LEAVE"), left = label(b, "HAVE_LEFT");
    note(b, "leave windows that this row block is done with: every lane has read what it wanted");
    EMIT(b, shr_u32, r->count, r->wants, I(WINDOWED_LEAVE_SHIFT));
    EMIT(b, setp_eq, none, r->count, I(0));
    EMIT_IF(b, none, bra_uni, TO(left));
    EMIT(b, bar_warp_sync, H(0xffffffff));
    set_label(b, leave);
    emit_leave_one(r);
    emit_count_down(r, leave);
    set_label(b, left);
}

/* Does what the stride's control says. Most strides want nothing. The first one leaves no window
   (windowed.h). */
static void emit_control(spmm_ring *r, bool first) {
    mc_builder *b = r->e.b;
    mc_reg none = pred(b, "none");
    mc_label wait = label(b, "WAIT"), ready = label(b, "READY");
    ring_emit_wants(r);
    EMIT(b, setp_eq, none, r->wants, I(0));
    EMIT_IF(b, none, bra_uni, TO(ready));
    if (!first) emit_leave(r, none);
    note(b, "wait for windows that the stride reads");
    EMIT(b, and_b32, r->count, r->wants, I(WINDOWED_WAIT_MASK));
    EMIT(b, setp_eq, none, r->count, I(0));
    EMIT_IF(b, none, bra_uni, TO(ready));
    set_label(b, wait);
    emit_wait_one(r, "FULL");
    emit_count_down(r, wait);
    set_label(b, ready);
}

/* Leaves all windows that another one follows in its stage. Every warp must do so, and must have waited for
   them before. */
static void emit_leave_rest(spmm_ring *r) {
    mc_builder *b = r->e.b;
    mc_reg none = pred(b, "none_left"), waited = pred(b, "was_waited");
    mc_label loop = label(b, "LEAVE_REST"), there = label(b, "THERE"), done = label(b, "ALL_LEFT");
    heading(b, "Leave the other windows, but for the last %d: nothing follows those", r->e.plan->stages);
    EMIT(b, add_s32, r->count, r->windows, I(-r->e.plan->stages));
    EMIT(b, sub_s32, r->count, r->count, r->left);
    EMIT(b, setp_lt, none, r->count, I(1));
    EMIT_IF(b, none, bra_uni, TO(done));
    EMIT(b, bar_warp_sync, H(0xffffffff));
    set_label(b, loop);
    EMIT(b, setp_lt, waited, r->left, r->waited);
    EMIT_IF(b, waited, bra_uni, TO(there));
    emit_wait_one(r, "FULL_REST");
    set_label(b, there);
    emit_leave_one(r);
    emit_count_down(r, loop);
    set_label(b, done);
}

/* -- One stride --------------------------------------------------------------------------------------- */

/* Sets `at`: the addresses of the rows that this lane names to ldmatrix, in either half. */
static void emit_row_addresses(spmm_ring *r) {
    mc_builder *b = r->e.b;
    EMIT(b, xor_b32, r->at_hand.place, r->at_hand.place, r->lane_unit);
    EMIT(b, and_b32, r->at[0], r->at_hand.place, H(0xffff));
    EMIT(b, shr_u32, r->at[1], r->at_hand.place, I(16));
    for (int h = 0; h < RING_HALVES; h++) EMIT(b, mad_s32, r->at[h], r->at[h], I(WINDOWED_UNIT), r->ring_at);
}

/* Reads the rows of a half's 16 slots, 32 bytes of each by an ldmatrix, where GUARD holds (none: always). */
static void emit_gather(spmm_ring *r, int half, mc_reg guard) {
    mc_builder *b = r->e.b;
    note(b, "gather the rows of slots %d..%d", WINDOWED_HALF * half, WINDOWED_HALF * half + 15);
    for (int q = 0; q < ring_loads(r->e.plan); q++) {
        mc_reg at = q ? r->matrix_at : r->at[half];
        if (q) EMIT(b, xor_b32, at, r->at[half], I(q * RING_LOAD_BYTES));
        EMIT_IF(b, guard, ldmatrix_x4_trans, V4(r->matrix[half][q]), AT(at, 0));
    }
}

/* Makes operands of the values X: `even` for the columns at even bytes, `odd` for those at odd bytes, with
   zeros between. */
static void emit_operands(spmm_ring *r, mc_reg x, const mc_reg even[2], const mc_reg odd[2]) {
    mc_builder *b = r->e.b;
    EMIT(b, and_b32, even[0], x, H(0x00ff00ff));
    EMIT(b, prmt, even[1], x, r->zero, I(0x4341));
    EMIT(b, prmt, odd[0], x, r->zero, I(0x2404));
    EMIT(b, and_b32, odd[1], x, H(0xff00ff00));
}

/* Multiplies MATRIX by VALUE. MATRIX is the operand A: its rows are the pairs of bytes g of 16 bytes and of
   the 16 beside, its k slots 0-7 and 8-15. */
static void emit_mma(spmm_ring *r, int mma, int rhs_digit, int group, const mc_reg matrix[4],
                     const mc_reg value[2]) {
    const spmm_plan *plan = r->e.plan;
    mc_reg *acc = &r->e.acc[spmm_sum_of(plan, mma, rhs_digit) * ring_acc_count(plan) + 4 * group];
    mc_reg a[4];
    for (int i = 0; i < 4; i++) a[frag_a_reg(i & 1, i >> 1)] = matrix[i];
    builder_emit(r->e.b, (mc_reg){0}, spmm_mma(plan, mma * plan->planes, rhs_digit),
                 MC_OPERANDS(V4(acc), V4(a), V2(value), V4(acc)));
}

/* Multiplies the two bytes of each pair: two columns of 8 bits, or the low and the high digit of one
   column. */
static void emit_multiply_bytes(spmm_ring *r, int half, const mc_reg *x, int step) {
    bool digits = r->e.plan->b.count > 1;
    for (int m = 0; m < r->e.plan->mma; m++) {
        emit_operands(r, x[step * m], r->even, r->odd);
        for (int odd = 0; odd < 2; odd++)
            for (int q = 0; q < ring_loads(r->e.plan); q++)
                emit_mma(r, m, digits ? odd : 0, digits ? q : 2 * q + odd, r->matrix[half][q],
                         odd ? r->odd : r->even);
    }
}

/* The same of 4-bit columns: the low and the high halves of both bytes of a pair. */
static void emit_multiply_nibbles(spmm_ring *r, int half, const mc_reg *x, int step) {
    int count = r->e.plan->mma;
    for (int m = 0; m < count; m++) emit_operands(r, x[step * m], &r->even[2 * m], &r->odd[2 * m]);
    for (int q = 0; q < ring_loads(r->e.plan); q++)
        for (int high = 0; high < 2; high++) {
            mc_reg bytes[4];
            for (int i = 0; i < 4; i++)
                bytes[i] = spmm_emit_half(&r->e, r->matrix[half][q][i], high, r->e.nibble[i]);
            for (int m = 0; m < count; m++)
                for (int odd = 0; odd < 2; odd++)
                    emit_mma(r, m, 0, 4 * q + 2 * odd + high, bytes, odd ? &r->odd[2 * m] : &r->even[2 * m]);
        }
}

/* Multiplies half HALF of the slots. X are the first mma's values of it; the next mma's are STEP registers
   on. */
static void emit_multiply(spmm_ring *r, int half, const mc_reg *x, int step) {
    bool digits = r->e.plan->b.count > 1;
    note(r->e.b, "slots %d..%d: values at even bytes for %s, at odd bytes for %s", 16 * half, 16 * half + 15,
         digits ? "B's low digit" : "even columns", digits ? "the high one" : "odd ones");
    if (r->e.plan->rhs.bits == 4) emit_multiply_nibbles(r, half, x, step);
    else emit_multiply_bytes(r, half, x, step);
}

static void emit_late(spmm_ring *r) { emit_multiply(r, 1, r->late_value, 1); }

/* Begins a stride: once its windows are there, its first half is gathered. */
static void emit_begin_stride(spmm_ring *r, bool first) {
    if (ring_has_copier(r)) emit_control(r, first);
    else if (!first) ring_emit_async_control(r);
    emit_row_addresses(r);
    emit_gather(r, 0, (mc_reg){0});
}

/* The loop's part of a stride that has begun: its second half is gathered while the first one is multiplied.
   Sets `some` if that was the last stride. */
static void emit_first_half(spmm_ring *r) {
    mc_builder *b = r->e.b;
    EMIT(b, setp_ge, r->whole, r->at_hand.control, I(0));
    emit_gather(r, 1, r->whole);
    emit_multiply(r, 0, r->at_hand.value, RING_HALVES);
    for (int m = 0; m < r->e.plan->mma; m++) spmm_emit_add_bias(&r->e, m, &r->at_hand.value[RING_HALVES * m]);
    for (int m = 0; m < r->e.plan->mma; m++)
        EMIT(b, mov_b32, r->late_value[m], r->at_hand.value[RING_HALVES * m + 1]);
    emit_take_next(r);
    EMIT(b, setp_ge, r->some, r->stride, r->row_last);
}

/* A row block's strides. While one half is multiplied the next is gathered: slots 0 to 15 of the next stride
   beside slots 16 to 31 of this one. Where slots 16 to 31 are empty, the last stride ends without them; any
   other stride multiplies what is left in their registers by zeros. */
static void emit_strides(spmm_ring *r) {
    mc_builder *b = r->e.b;
    mc_reg none = pred(b, "no_stride");
    mc_label loop = label(b, "STRIDES"), last = label(b, "LAST"), last_half = label(b, "LAST_HALF"),
             done = label(b, "STRIDES_DONE");
    for (int i = 0; i < ring_acc_count(r->e.plan) * r->e.plan->sums; i++) EMIT(b, mov_b32, r->e.acc[i], I(0));
    spmm_emit_zero_bias(&r->e);
    EMIT(b, setp_ge, none, r->stride, r->row_last);
    EMIT_IF(b, none, bra_uni, TO(done));
    heading(b, "The first stride");
    b->prefix = "first_";
    emit_begin_stride(r, true);
    b->prefix = NULL;
    heading(b, "Loop over strides: 32 nonzero vectors a time");
    set_label(b, loop);
    emit_first_half(r);
    EMIT_IF(b, r->some, bra_uni, TO(last));
    note(b, "the next stride");
    emit_begin_stride(r, false);
    emit_late(r);
    EMIT(b, bra_uni, TO(loop));
    set_label(b, last);
    EMIT_IF(b, r->whole, bra_uni, TO(last_half));
    EMIT(b, bra_uni, TO(done));
    set_label(b, last_half);
    emit_late(r);
    set_label(b, done);
    if (ring_has_copier(r)) emit_leave_rest(r);
    else ring_emit_async_rest(r);
}

/* Waits until all of B is there. */
static void emit_await_all(spmm_ring *r, mc_reg all, mc_label loop) {
    mc_builder *b = r->e.b;
    mc_label await = label(b, "AWAIT_ALL");
    note(b, "the first row block waited for what it read: now for the rest");
    EMIT(b, mov_b32, r->heed, I(0));
    set_label(b, await);
    EMIT(b, setp_ge, all, r->waited, r->windows);
    EMIT_IF(b, all, bra_uni, TO(loop));
    emit_wait_one(r, "FULL_ALL");
    EMIT(b, bra_uni, TO(await));
}

/* Resident: loads the next row block's first strides, which are then on their way during this one's store. */
static void emit_turn(spmm_ring *r) {
    mc_builder *b = r->e.b;
    heading(b, "The first strides of this warp's next row block");
    EMIT(b, mov_b32, r->stride, r->rows.next_first);
    EMIT(b, mov_b32, r->row_last, r->rows.next_last);
    emit_first_strides(r);
}

/* Resident: goes on with the next row block, if there is one, once all of B is there. */
static void emit_next(spmm_ring *r, mc_label loop) {
    mc_builder *b = r->e.b;
    mc_reg gone = pred(b, "gone");
    mc_label end = label(b, "END");
    heading(b, "This warp's next row block");
    EMIT(b, setp_ge_u32, gone, r->rows.place, r->rows.count);
    EMIT_IF(b, gone, bra_uni, TO(end));
    EMIT(b, mov_b32, r->c_row_block, r->rows.next_c_row_block);
    if (ring_has_copier(r)) emit_await_all(r, gone, loop);
    else EMIT(b, bra_uni, TO(loop));
    set_label(b, end);
    EMIT_RET(b);
}

/* -- The kernel --------------------------------------------------------------------------------------- */

static void emit_row_blocks(spmm_ring *r) {
    mc_builder *b = r->e.b;
    const spmm_plan *plan = r->e.plan;
    mc_label loop = label(b, "ROW_BLOCKS");
    if (plan->resident) r->next = label(b, "NEXT");
    if (plan->resident && ring_has_copier(r)) {
        r->heed = b32(b, "heed");
        EMIT(b, mov_b32, r->heed, H(WINDOWED_WANTS_MASK));
    }
    if (ring_has_copier(r)) EMIT(b, bar_sync, I(0));
    else ring_emit_async_start(r);
    set_label(b, loop);
    if (plan->resident) ring_emit_next_row(r);
    ring_emit_row_factors(r);
    emit_strides(r);
    if (plan->resident) emit_turn(r);
    ring_emit_output(r);
    if (!plan->resident) return;
    b->prefix = NULL;
    set_label(b, r->next);
    emit_next(r, loop);
}

/* Sends the copying warp to the label that it returns. */
static mc_label emit_part(spmm_ring *r) {
    mc_builder *b = r->e.b;
    ring_emit_barrier_addresses(r);
    mc_reg copies = pred(b, "copies");
    mc_label copy = label(b, "COPY");
    EMIT(b, setp_eq, copies, r->e.place.warp, I(r->e.plan->warps));
    EMIT_IF(b, copies, bra_uni, TO(copy));
    return copy;
}

void spmm_ring_emit(const spmm_plan *plan, mc_builder *b) {
    spmm_ring kernel = {.e = {.plan = plan, .b = b}}, *r = &kernel;
    spmm_emitter *e = &r->e;
    shared_dynamic(b, "ring", 1024);
    b->fills_shared = true;
    emit_launch_next(b, plan->overlap);
    spmm_emit_thread(e);
    ring_emit_addresses(r);
    mc_label copy = {0};
    if (ring_has_copier(r)) copy = emit_part(r);

    e->m = load_shape(b, "m", plan->guard_rows && plan->m == MC_OPEN);
    e->n = load_shape(b, "n", plan->n == MC_OPEN);
    e->ldc = load_shape(b, "ldc", plan->ldc == MC_OPEN);
    e->ldb = load_shape(b, "ldb", !ring_has_copier(r) && plan->ldb == MC_OPEN);
    declare_strides(r);
    if (ring_has_copier(r)) declare_barriers(r);
    ring_emit_first_row(r);
    ring_declare_turns(r);
    if (!ring_has_copier(r)) ring_emit_async_fill(r);
    emit_packed_start(r);
    emit_no_strides(r);
    emit_first_strides(r);
    e->c_array = load_array(b, "c");
    ring_emit_column(r);
    ring_emit_sum_place(r);
    ring_declare_factors(r);
    emit_start_values(r);
    if (ring_has_copier(r)) emit_start_barriers(r);
    emit_row_blocks(r);
    if (!ring_has_copier(r)) return;
    set_label(b, copy);
    ring_emit_copier(r);
}
