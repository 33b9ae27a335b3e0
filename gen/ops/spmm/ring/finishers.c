/* Parts with `resident`: the warps of a cluster take row blocks in turn, as many turns each. Others, J of
 * them in each of the P thread blocks, finish these row blocks, so that nobody who multiplies waits for sums.
 * J is warps / P, and finisher j of thread block p has the place of warp P j + p. So it has the same row
 * blocks as that warp, and a thread the same places in C, and nothing is rearranged. All thread blocks send
 * it their sums, its own too, and it adds them up in the order of the parts, from part 0 on. What comes in
 * lies at
 *
 *   [j of J][part of P][quad][lane]    16 bytes: four sums of the lane
 *
 * and behind it each finisher has a barrier. Its phase ends when a lane of it has said how many bytes will
 * come, and they have come by st.async.
 *
 * In each thread block each warp that multiplies has a barrier, too. At all P of them its finisher arrives
 * when it has read the sums of a turn, but for the last one: then those of the next turn may come. So a warp
 * sends at most one turn ahead of what its finisher has read, and waits for no other warp. And a thread block
 * ends when nobody arrives there any more, since its warps have waited for that. */
#include "ops/spmm/ring/ring.h"
#include "parts/fragment.h"

static int quads(const ring_plan *plan) { return ring_acc_count(plan) / RING_QUAD; }
static int part_bytes(const ring_plan *plan) { return quads(plan) * RING_QUAD_BYTES; }
/* Bytes that come in for a row block. */
static int block_bytes(const ring_plan *plan) { return plan->parts * part_bytes(plan); }
static int barrier_offset(const ring_plan *plan) {
    return ring_sum_offset(plan) + ring_finished(plan) * block_bytes(plan);
}

/* The barriers of warps that multiply. */
static int room_offset(const ring_plan *plan) {
    return barrier_offset(plan) + ring_finished(plan) * PIPELINE_BARRIER_BYTES;
}

unsigned ring_finisher_bytes(const ring_plan *plan) {
    return (unsigned)(room_offset(plan) + plan->base.warps * PIPELINE_BARRIER_BYTES - ring_sum_offset(plan));
}

void ring_emit_finisher_init(const ring_emitter *r) {
    mc_builder *b = r->at.b;
    const ring_plan *plan = r->plan;
    note(b, "a barrier for each row block that this thread block finishes");
    for (int j = 0; j < ring_finished(plan); j++)
        EMIT(b, mbarrier_init, AT(r->ring, barrier_offset(plan) + j * PIPELINE_BARRIER_BYTES), I(1));
    note(b, "and for each warp that multiplies: its finisher has read what it sent");
    for (int w = 0; w < plan->base.warps; w++)
        EMIT(b, mbarrier_init, AT(r->ring, room_offset(plan) + w * PIPELINE_BARRIER_BYTES), I(1));
}

/* Where the sums of a warp's row block come in, and their barrier: in the thread block that finishes it. */
typedef struct sum_place {
    mc_reg owner, in, full;
} sum_place;

static sum_place find_place(const ring_emitter *r) {
    mc_builder *b = r->at.b;
    const ring_plan *plan = r->plan;
    int data = ring_sum_offset(plan), barriers = barrier_offset(plan);
    sum_place at = {.owner = and_b32(b, "owner", r->at.place.warp, I(plan->parts - 1))};
    mc_reg number = shr_u32(b, "owned", r->at.place.warp, I(log2_of(plan->parts)));
    mc_reg of_lane = mad_s32(b, "sums_of_lane", r->at.place.lane, I(RING_QUAD * WORD), r->ring);
    mc_reg of_block = mad_s32(b, "sums_of_block", number, I(block_bytes(plan)), of_lane);
    at.in = add_s32(b, "sums_in", of_block, I(data));
    mc_reg barrier = mad_s32(b, "sums_barrier", number, I(PIPELINE_BARRIER_BYTES), r->ring);
    at.full = add_s32(b, "sums_full", barrier, I(barriers));
    return at;
}

static void emit_send(const ring_emitter *r, const sum_place *at, const mc_reg *acc) {
    mc_builder *b = r->at.b;
    mc_reg own = mad_s32(b, "sums_out", r->rank, I(part_bytes(r->plan)), at->in);
    mc_reg to = mapa(b, "sums_there", own, at->owner), full = mapa(b, "full_there", at->full, at->owner);
    for (int q = 0; q < quads(r->plan); q++)
        EMIT(b, st_async_v4, AT(to, q * RING_QUAD_BYTES), V4(&acc[q * RING_QUAD]), AT(full, 0));
}

static void emit_take(const ring_emitter *r, const sum_place *at, const spmm_sums *sums) {
    mc_builder *b = r->at.b;
    const mc_reg *acc = sums->acc;
    mc_reg part[RING_QUAD];
    b32_array(b, "part", RING_QUAD, part);
    for (int q = 0; q < quads(r->plan); q++) {
        EMIT(b, lds_v4, V4(&acc[q * RING_QUAD]), AT(at->in, q * RING_QUAD_BYTES));
        for (int p = 1; p < r->plan->parts; p++) {
            mc_operand from = AT(at->in, p * part_bytes(r->plan) + q * RING_QUAD_BYTES);
            ring_emit_add_quad(sums, from, part, &acc[q * RING_QUAD]);
        }
    }
}

/* The sums of all parts, once they are there in PHASE. */
static void emit_finish(const ring_emitter *r, const sum_place *at, mc_reg phase, const spmm_sums *sums) {
    mc_builder *b = r->at.b;
    mc_reg expects = setp_eq(b, "expects", r->at.place.lane, I(0)), state = b64(b, "sums_state");
    EMIT_IF(b, expects, mbarrier_expect, state, AT(at->full, 0), I(block_bytes(r->plan)));
    note(b, "the sums of all parts are there: they are added up from part 0 on");
    pipeline_await(b, "SUMS_FULL", pred(b, "sums_passed"), at->full, phase);
    emit_take(r, at, sums);
}

void ring_emit_finisher(ring_emitter *r) {
    mc_builder *b = r->at.b;
    const ring_plan *plan = r->plan;
    int first = plan->base.warps + plan->tensor;
    note(b, "warps from %d on finish row blocks, and have the places of warps that multiply", first);
    r->finishes = setp_ge(b, "finishes", r->at.place.warp, I(first));
    mc_reg number = sub_s32(b, "finisher", r->at.place.warp, I(first)), worker = b32(b, "worker");
    EMIT(b, mov_b32, worker, r->at.place.warp);
    EMIT_IF(b, r->finishes, mad_s32, worker, number, I(plan->parts), r->rank);
    r->at.place.warp = worker;
}

/* The barrier of the warp's sums of a turn, in its own thread block. */
static mc_reg find_room(const ring_emitter *r) {
    mc_builder *b = r->at.b;
    mc_reg of_warp = mad_s32(b, "room_of_warp", r->at.place.warp, I(PIPELINE_BARRIER_BYTES), r->ring);
    return add_s32(b, "room", of_warp, I(room_offset(r->plan)));
}

void ring_emit_send_sums(const ring_emitter *r, const spmm_sums *sums) {
    mc_builder *b = r->at.b;
    heading(b, "Sums go to the thread block that finishes the row block");
    sum_place at = find_place(r);
    note(b, "those of the turn before were read");
    pipeline_await(b, "ROOM", pred(b, "room_passed"), find_room(r), r->sums_phase);
    EMIT(b, xor_b32, r->sums_phase, r->sums_phase, I(1));
    emit_send(r, &at, sums->acc);
}

/* A thread block whose last sums were read may have ended: it is told nothing. The first sum of each quad
   came with a load of each part. */
static void emit_tell(const ring_emitter *r, const ring_rows *rows, const mc_reg *acc) {
    mc_builder *b = r->at.b;
    mc_reg loaded[SPMM_MAX_ACC / RING_QUAD];
    note(b, "thread blocks that send again learn that this warp has read its sums");
    mc_reg more = setp_lt_u32(b, "more", rows->block_place, rows->count);
    mc_reg tells = setp_lt_and(b, "tells", r->at.place.lane, I(r->plan->parts), more);
    mc_reg peer = and_b32(b, "sender", r->at.place.lane, I(r->plan->parts - 1));
    mc_reg there = mapa(b, "room_there", find_room(r), peer);
    note(b, "behind what was loaded: bits of it that are 0 are added to the address");
    for (int q = 0; q < quads(r->plan); q++) loaded[q] = acc[q * RING_QUAD];
    mc_reg no_bits = shr_u32(b, "no_bits", rows->blocks, I(31));
    mc_reg bits = pipeline_behind(b, loaded, quads(r->plan), no_bits);
    EMIT(b, bar_warp_sync, H(0xffffffff));
    EMIT_IF(b, tells, mbarrier_arrive_cluster, AT(add_s32(b, "room_behind", there, bits), 0));
}

void ring_emit_take_sums(const ring_emitter *r, const ring_rows *rows, const spmm_sums *sums) {
    mc_builder *b = r->at.b;
    heading(b, "Sums of the cluster's %d thread blocks", r->plan->parts);
    sum_place at = find_place(r);
    emit_finish(r, &at, r->sums_phase, sums);
    emit_tell(r, rows, sums->acc);
    EMIT(b, xor_b32, r->sums_phase, r->sums_phase, I(1));
}
