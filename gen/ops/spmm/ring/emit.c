/* The ring kernel's instructions. With staging "tma" one warp copies the windows of B into the ring in order.
 * Each of the others computes a row block, and waits for windows and leaves them as its strides say
 * (windowed.h).
 *
 *   place -> barriers -> copying warp:  for each window: wait until its stage is empty, copy
 *                     -> other warps:   for each stride: leave, wait; ldmatrix, mma; then store
 *
 * With staging "async" every warp computes, and all copy and pass windows together (async.c).
 *
 * The products of what ldmatrix gives are those of pairs of bytes (integer/pairs.c). */
#include "parts/fragment.h"
#include "ops/spmm/ring/ring.h"
#include "parts/windowed.h"

/* -- A row block's strides ---------------------------------------------------------------------------- */

/* Sets the addresses at which this lane reads the places and values of stride 0. */
static void emit_packed_start(ring_emitter *r) {
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
    r->has_values = lanes_with_values(&r->plan->base.math, b, r->e.place.g);
    r->control_base = load_array(b, "control");
}

/* Loads the stride OFFSET behind the one at hand, if the row block has it. */
static void emit_load_packed(ring_emitter *r, const packed_stride *to, int offset) {
    mc_builder *b = r->e.b;
    const ring_plan *plan = r->plan;
    int mma_bytes = WINDOWED_ROW_VALUES * spmm_mma_row(&plan->base.math, 1);
    mc_reg at = offset ? r->fetch : r->stride;
    if (offset) EMIT(b, add_s32, at, r->stride, I(offset));
    EMIT(b, setp_lt, r->some, at, r->row_last);
    EMIT(b, mad_wide, r->control_at, at, I(WORD), r->control_base);
    EMIT(b, mad_wide, r->places_at, at, I(WINDOWED_STRIDE_WORDS * WORD), r->places_base);
    EMIT(b, mad_wide, r->values_at, at, I(plan->base.stride_values), r->values_base);
    EMIT_IF(b, r->some, ldg_b32, to->control, AT(r->control_at, 0));
    EMIT_IF(b, r->some, ldg_b32, to->place, AT(r->places_at, 0));
    lanes_set(&plan->base.math, b, r->has_values, at, r->row_last, r->some_values);
    for (int m = 0; m < plan->base.math.mma; m++)
        EMIT_IF(b, r->some_values.mma[m], ldg_v2, V2(&to->value[RING_HALVES * m]),
                AT(r->values_at, m * mma_bytes));
}

/* Makes the next stride the one at hand, and begins to load the one behind it. What moves here was asked for
   a stride ago; a register that moved right behind its load would wait for it. */
static void emit_take_next(ring_emitter *r) {
    mc_builder *b = r->e.b;
    EMIT(b, add_s32, r->stride, r->stride, I(1));
    EMIT(b, mov_b32, r->at_hand.place, r->next_up.place);
    EMIT(b, mov_b32, r->at_hand.control, r->next_up.control);
    for (int i = 0; i < RING_HALVES * r->plan->base.math.mma; i++)
        EMIT(b, mov_b32, r->at_hand.value[i], r->next_up.value[i]);
    note(b, "prefetch the stride behind it");
    emit_load_packed(r, &r->next_up, 1);
}

static packed_stride declare_packed(ring_emitter *r, const char *place, const char *control,
                                    const char *value) {
    mc_builder *b = r->e.b;
    packed_stride p = {.place = b32(b, place), .control = b32(b, control)};
    b32_array(b, value, RING_HALVES * r->plan->base.math.mma, p.value);
    return p;
}

/* Staging "tma": declares where this warp is in the ring. */
static void declare_barriers(ring_emitter *r) {
    mc_builder *b = r->e.b;
    r->wait_at = b32(b, "wait_at"), r->parity = b32(b, "parity");
    r->leave_at = b32(b, "leave_at"), r->empty_end = b32(b, "empty_end"), r->wrap = pred(b, "wrap");
    r->waited = b32(b, "waited"), r->left = b32(b, "left"), r->first_lane = pred(b, "first_lane");
}

static void declare_strides(ring_emitter *r) {
    mc_builder *b = r->e.b;
    r->at_hand = declare_packed(r, "place", "step", "value");
    r->next_up = declare_packed(r, "next_place", "next_step", "next_value");
    r->stride = b32(b, "stride"), r->fetch = b32(b, "fetch");
    r->some = pred(b, "some"), r->whole = pred(b, "whole");
    static const char *const guards[] = {"some_values", "some_last_values"};
    r->some_values = lanes_declare(&r->plan->base.math, b, guards, r->some);
    r->wants = b32(b, "wants");
    r->count = b32(b, "count"), r->again = pred(b, "again");
    r->lane_unit = b32(b, "lane_unit");
    b32_array(b, "at", RING_HALVES, r->at);
    r->matrix_at = b32(b, "matrix_at");
    for (int h = 0; h < RING_HALVES; h++) {
        mc_reg matrices[RING_MAX_LOADS * 4];
        b32_array(b, h ? "high" : "low", ring_loads(r->plan) * 4, matrices);
        for (int i = 0; i < ring_loads(r->plan) * 4; i++) r->matrix[h][i / 4][i % 4] = matrices[i];
    }
    b32_array(b, "late_value", r->plan->base.math.mma, r->late_value);
    pairs_declare(&r->pairs);
    sums_begin(&r->sums);
    sums_declare(&r->sums, ring_acc_count(r->plan));
    ring_declare_sum(r);
}

static void emit_start_values(ring_emitter *r) {
    mc_builder *b = r->e.b;
    note(
        b,
        "lanes 8-15 and 24-31 name the rows of the same slots as the 8 before them, and the next 16 columns");
    EMIT(b, shr_u32, r->lane_unit, r->e.place.lane, I(WINDOWED_BESIDE_SHIFT));
    EMIT(b, and_b32, r->lane_unit, r->lane_unit, I(1));
    EMIT(b, mul_s32, r->lane_unit, r->lane_unit, H(0x00010001));
    pairs_start(&r->pairs);
    note(b, "a second half that nobody gathered may be multiplied by zeros");
    for (int i = 0; i < 4 * ring_loads(r->plan); i++) EMIT(b, mov_b32, r->matrix[1][i / 4][i % 4], I(0));
}

static void emit_start_barriers(ring_emitter *r) {
    mc_builder *b = r->e.b;
    EMIT(b, setp_eq, r->first_lane, r->e.place.lane, I(0));
    EMIT(b, mov_b32, r->wait_at, r->full_at);
    EMIT(b, mov_b32, r->parity, I(0));
    EMIT(b, mov_b32, r->leave_at, r->empty_at);
    EMIT(b, add_s32, r->empty_end, r->empty_at, I(r->plan->stages * RING_BARRIER_BYTES));
    EMIT(b, mov_b32, r->waited, I(0));
    EMIT(b, mov_b32, r->left, I(0));
}

/* Loads a row block's first two strides. */
static void emit_first_strides(ring_emitter *r) {
    emit_load_packed(r, &r->at_hand, 0);
    emit_load_packed(r, &r->next_up, 1);
}

/* Zeroes the registers of strides, which a load may leave as they are. */
static void emit_no_strides(ring_emitter *r) {
    mc_builder *b = r->e.b;
    const packed_stride *both[] = {&r->at_hand, &r->next_up};
    for (int i = 0; i < 2; i++) {
        const packed_stride *p = both[i];
        EMIT(b, mov_b32, p->place, I(0));
        EMIT(b, mov_b32, p->control, I(0));
        for (int v = 0; v < RING_HALVES * r->plan->base.math.mma; v++) EMIT(b, mov_b32, p->value[v], I(0));
    }
}

/* -- Into the ring and out of it ---------------------------------------------------------------------- */

/* Waits for the next window. */
static void emit_wait_one(ring_emitter *r, const char *name) {
    mc_builder *b = r->e.b;
    ring_emit_await(r, name, r->wait_at, r->parity);
    ring_emit_next_stage(r, r->wait_at, r->full_at, r->empty_at, r->wrap, r->parity);
    EMIT(b, add_s32, r->waited, r->waited, I(1));
}

/* Leaves the next window. */
static void emit_leave_one(ring_emitter *r) {
    mc_builder *b = r->e.b;
    EMIT_IF(b, r->first_lane, mbarrier_arrive, r->state, AT(r->leave_at, 0));
    ring_emit_next_stage(r, r->leave_at, r->empty_at, r->empty_end, r->wrap, (mc_reg){0});
    EMIT(b, add_s32, r->left, r->left, I(1));
}

/* Counts down, and goes back to LOOP while there is more. */
static void emit_count_down(ring_emitter *r, mc_label loop) {
    mc_builder *b = r->e.b;
    EMIT(b, add_s32, r->count, r->count, I(-1));
    EMIT(b, setp_gt, r->again, r->count, I(0));
    EMIT_IF(b, r->again, bra_uni, TO(loop));
}

void ring_emit_wants(ring_emitter *r) {
    mc_operand mask = r->heed.id ? r->heed : H(WINDOWED_WANTS_MASK);
    EMIT(r->e.b, and_b32, r->wants, r->at_hand.control, mask);
}

static void emit_leave(ring_emitter *r, mc_reg none) {
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
static void emit_control(ring_emitter *r, bool first) {
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
static void emit_leave_rest(ring_emitter *r) {
    mc_builder *b = r->e.b;
    mc_reg none = pred(b, "none_left"), waited = pred(b, "was_waited");
    mc_label loop = label(b, "LEAVE_REST"), there = label(b, "THERE"), done = label(b, "ALL_LEFT");
    heading(b, "Leave the other windows, but for the last %d: nothing follows those", r->plan->stages);
    EMIT(b, add_s32, r->count, r->windows, I(-r->plan->stages));
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
static void emit_row_addresses(ring_emitter *r) {
    mc_builder *b = r->e.b;
    EMIT(b, xor_b32, r->at_hand.place, r->at_hand.place, r->lane_unit);
    EMIT(b, and_b32, r->at[0], r->at_hand.place, H(0xffff));
    EMIT(b, shr_u32, r->at[1], r->at_hand.place, I(16));
    for (int h = 0; h < RING_HALVES; h++) EMIT(b, mad_s32, r->at[h], r->at[h], I(WINDOWED_UNIT), r->ring_at);
}

/* Reads the rows of a half's 16 slots, 32 bytes of each by an ldmatrix, where GUARD holds (none: always). */
static void emit_gather(ring_emitter *r, int half, mc_reg guard) {
    mc_builder *b = r->e.b;
    note(b, "gather the rows of slots %d..%d", WINDOWED_HALF * half, WINDOWED_HALF * half + 15);
    for (int q = 0; q < ring_loads(r->plan); q++) {
        mc_reg at = q ? r->matrix_at : r->at[half];
        if (q) EMIT(b, xor_b32, at, r->at[half], I(q * RING_LOAD_BYTES));
        EMIT_IF(b, guard, ldmatrix_x4_trans, V4(r->matrix[half][q]), AT(at, 0));
    }
}

static void emit_late(ring_emitter *r) { pairs_multiply(&r->pairs, 1, r->matrix[1], r->late_value, 1); }

/* Begins a stride: once its windows are there, its first half is gathered. */
static void emit_begin_stride(ring_emitter *r, bool first) {
    if (r->plan->tensor) emit_control(r, first);
    else if (!first) ring_emit_async_control(r);
    emit_row_addresses(r);
    emit_gather(r, 0, (mc_reg){0});
}

/* The loop's part of a stride that has begun: its second half is gathered while the first one is multiplied.
   Sets `some` if that was the last stride. */
static void emit_first_half(ring_emitter *r) {
    mc_builder *b = r->e.b;
    EMIT(b, setp_ge, r->whole, r->at_hand.control, I(0));
    emit_gather(r, 1, r->whole);
    pairs_multiply(&r->pairs, 0, r->matrix[0], r->at_hand.value, RING_HALVES);
    pairs_add_bias(&r->pairs, r->at_hand.value);
    for (int m = 0; m < r->plan->base.math.mma; m++)
        EMIT(b, mov_b32, r->late_value[m], r->at_hand.value[RING_HALVES * m + 1]);
    emit_take_next(r);
    EMIT(b, setp_ge, r->some, r->stride, r->row_last);
}

/* A row block's strides. While one half is multiplied the next is gathered: slots 0 to 15 of the next stride
   beside slots 16 to 31 of this one. Where slots 16 to 31 are empty, the last stride ends without them; any
   other stride multiplies what is left in their registers by zeros. */
static void emit_strides(ring_emitter *r) {
    mc_builder *b = r->e.b;
    mc_reg none = pred(b, "no_stride");
    mc_label loop = label(b, "STRIDES"), last = label(b, "LAST"), last_half = label(b, "LAST_HALF"),
             done = label(b, "STRIDES_DONE");
    sums_zero(&r->sums);
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
    if (r->plan->tensor) emit_leave_rest(r);
    else ring_emit_async_rest(r);
}

/* Waits until all of B is there. */
static void emit_await_all(ring_emitter *r, mc_reg all, mc_label loop) {
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
static void emit_turn(ring_emitter *r) {
    mc_builder *b = r->e.b;
    heading(b, "The first strides of this warp's next row block");
    EMIT(b, mov_b32, r->stride, r->rows.next_first);
    EMIT(b, mov_b32, r->row_last, r->rows.next_last);
    emit_first_strides(r);
}

/* Resident: goes on with the next row block, if there is one, once all of B is there. */
static void emit_next(ring_emitter *r, mc_label loop) {
    mc_builder *b = r->e.b;
    mc_reg gone = pred(b, "gone");
    mc_label end = label(b, "END");
    heading(b, "This warp's next row block");
    EMIT(b, setp_ge_u32, gone, r->rows.place, r->rows.count);
    EMIT_IF(b, gone, bra_uni, TO(end));
    EMIT(b, mov_b32, r->c_row_block, r->rows.next_c_row_block);
    if (r->plan->tensor) emit_await_all(r, gone, loop);
    else EMIT(b, bra_uni, TO(loop));
    set_label(b, end);
    EMIT_RET(b);
}

/* -- The kernel --------------------------------------------------------------------------------------- */

static void emit_row_blocks(ring_emitter *r) {
    mc_builder *b = r->e.b;
    const ring_plan *plan = r->plan;
    mc_label loop = label(b, "ROW_BLOCKS");
    if (plan->resident) r->next = label(b, "NEXT");
    if (plan->resident && r->plan->tensor) {
        r->heed = b32(b, "heed");
        EMIT(b, mov_b32, r->heed, H(WINDOWED_WANTS_MASK));
    }
    if (r->plan->tensor) EMIT(b, bar_sync, I(0));
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
static mc_label emit_part(ring_emitter *r) {
    mc_builder *b = r->e.b;
    ring_emit_barrier_addresses(r);
    mc_reg copies = pred(b, "copies");
    mc_label copy = label(b, "COPY");
    EMIT(b, setp_eq, copies, r->e.place.warp, I(r->plan->base.warps));
    EMIT_IF(b, copies, bra_uni, TO(copy));
    return copy;
}

void ring_emit(const void *data, mc_builder *b) {
    const ring_plan *plan = data;
    spmm_batch batch = spmm_batch_of(&plan->base);
    ring_emitter kernel = {.e = {.plan = &plan->base, .b = b}, .plan = plan}, *r = &kernel;
    r->sums = (spmm_sums){.of = &plan->base.math, .b = b};
    r->pairs = (spmm_pairs){.sums = &r->sums, .loads = ring_loads(plan)};
    if (plan->base.batch) batch_begin(b, batch.arrays, SPMM_BATCH_ARRAYS);
    spmm_emitter *e = &r->e;
    shared_dynamic(b, "ring", 1024);
    b->fills_shared = true;
    emit_launch_next(b, plan->base.overlap);
    spmm_emit_lane(e);
    spmm_emit_tile_column(e);
    ring_emit_addresses(r);
    mc_label copy = {0};
    if (r->plan->tensor) copy = emit_part(r);

    e->m = load_shape(b, "m", plan->base.guard_rows && plan->base.m == MC_OPEN);
    e->n = load_shape(b, "n", plan->base.n == MC_OPEN);
    e->ldc = load_shape(b, "ldc", plan->base.ldc == MC_OPEN);
    e->ldb = load_shape(b, "ldb", !r->plan->tensor && plan->base.ldb == MC_OPEN);
    declare_strides(r);
    if (r->plan->tensor) declare_barriers(r);
    ring_emit_first_row(r);
    ring_declare_turns(r);
    if (!r->plan->tensor) ring_emit_async_fill(r);
    emit_packed_start(r);
    emit_no_strides(r);
    emit_first_strides(r);
    e->c_array = load_array(b, "c");
    ring_emit_column(r);
    ring_emit_sum_place(r);
    ring_declare_factors(r);
    emit_start_values(r);
    if (r->plan->tensor) emit_start_barriers(r);
    emit_row_blocks(r);
    if (!r->plan->tensor) return;
    set_label(b, copy);
    ring_emit_copier(r);
}
