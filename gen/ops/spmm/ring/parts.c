/* Thread blocks of a cluster that share row blocks: each takes a part of the windows of k, and their sums are
 * added up through the cluster's shared memory.
 *
 * Part p of P has the windows floor(W p / P) to floor(W (p + 1) / P) - 1 of all W. Its strides are a sequence
 * of their own (windowed.h), which counts windows and rows of the ring from the part's first window on.
 *
 * Warp w has the same row block in all of them, and thread block p stores the p-th part of its columns. So a
 * warp keeps its sums of these columns, sends the others to the same warp of the thread blocks that store
 * them, and adds what comes. What thread block q sends to thread block p lies there at
 *
 *   [w][(p xor q) - 1][quad][lane]    16 bytes: four sums of the lane
 *
 * and behind it each warp has a barrier. Its phase ends when a lane of the warp has said how many bytes will
 * come, and they have come by st.async. A warp ends when its own sums have come: then nobody writes to its
 * thread block's memory for it any more. Sums are integers, whose order does not matter.
 *
 * With `resident` the thread blocks take row blocks in turn, and other warps finish them (finishers.c). */
#include "ops/spmm/ring/store.h"
#include "parts/fragment.h"

enum { MOST_PARTS = 8 };

/* A lane's sums of the columns that a thread block stores; the bytes of a warp's, and of all that come in for
   a warp. */
static int part_sums(const ring_plan *plan) { return ring_acc_count(plan) / plan->parts; }
static int part_bytes(const ring_plan *plan) { return part_sums(plan) / RING_QUAD * RING_QUAD_BYTES; }
static int warp_bytes(const ring_plan *plan) { return (plan->parts - 1) * part_bytes(plan); }
static int barrier_offset(const ring_plan *plan) {
    return ring_sum_offset(plan) + plan->base.warps * warp_bytes(plan);
}

unsigned ring_parts_bytes(const ring_plan *plan) {
    if (plan->parts == 1) return 0;
    if (plan->resident) return ring_finisher_bytes(plan);
    return (unsigned)(plan->base.warps * (warp_bytes(plan) + PIPELINE_BARRIER_BYTES));
}

void ring_emit_part(ring_emitter *r) {
    mc_builder *b = r->at.b;
    const ring_plan *plan = r->plan;
    if (plan->parts == 1) return;
    mc_operand shift = I(log2_of(plan->parts));
    note(b, "this thread block's part of them");
    r->rank = load_special(b, "rank", "cluster_ctarank");
    mc_reg before = mul_s32(b, "windows_before", r->rank, r->windows);
    mc_reg first = shr_u32(b, "part_first", before, shift);
    mc_reg end = shr_u32(b, "part_end", add_s32(b, "windows_to_end", before, r->windows), shift);
    r->windows = sub_s32(b, "part_windows", end, first);
    r->first_row = mul_s32(b, "part_row", first, I(plan->window));
}

void ring_emit_parts_begun(const ring_emitter *r) {
    mc_builder *b = r->at.b;
    if (r->plan->parts == 1) return;
    note(b, "the other thread blocks learn that this one has begun, and that its barriers are there");
    EMIT_BARE(b, cluster_arrive_relaxed);
}

void ring_emit_parts_meet(const ring_emitter *r) {
    note(r->at.b, "all thread blocks of the cluster have begun");
    EMIT_BARE(r->at.b, cluster_wait);
}

/* -- Columns shared out ------------------------------------------------------------------------------- */

/* The warp's number, for which a thread block of one warp has no register. */
static mc_operand warp_of(const ring_emitter *r) {
    return r->plan->base.threads > MC_WARP ? r->at.place.warp : I(0);
}

void ring_emit_parts_barrier(ring_emitter *r) {
    mc_builder *b = r->at.b;
    if (!ring_shares_columns(r->plan)) return;
    note(b, "this warp's barrier: what the other thread blocks send it has come");
    mc_reg barrier = mad_s32(b, "sums_barrier", warp_of(r), I(PIPELINE_BARRIER_BYTES), r->ring);
    r->sums_full = add_s32(b, "sums_full", barrier, I(barrier_offset(r->plan)));
    mc_reg expects = setp_eq(b, "expects", r->at.place.lane, I(0)), state = b64(b, "sums_state");
    EMIT_IF(b, expects, mbarrier_init, AT(r->sums_full, 0), I(1));
    EMIT_IF(b, expects, mbarrier_expect, state, AT(r->sums_full, 0), I(warp_bytes(r->plan)));
    EMIT_BARE(b, fence_mbarrier_init);
}

/* A warp's sums, those of each thread block's columns by themselves, in the order in which they are stored.
   The first ones are where the epilogue looks for a warp's only ones. */
typedef struct shares {
    int count; /* of a thread block's columns */
    mc_reg sums[MOST_PARTS][SPMM_MAX_ACC];
} shares;

static shares deal_out(const ring_epilogue *e) {
    enum { ROWS = 2 }; /* of a lane, of which vec = 1 has one */
    const ring_plan *plan = e->r->plan;
    const int runs = ring_runs(plan);
    shares s = {.count = part_sums(plan)};
    for (int p = 0; p < plan->parts; p++) {
        mc_reg *to = s.sums[p];
        for (int c = runs * p; c < runs * (p + 1); c++)
            for (int row = 0; row < ROWS; row++, to += ring_run(plan)) ring_run_of_sums(e, c, row, to);
    }
    return s;
}

/* Makes those of columns p those of columns p xor RANK. */
static void emit_own_first(const ring_emitter *r, const shares *s) {
    mc_builder *b = r->at.b;
    mc_reg bits = b32(b, "rank_bits"), odd = pred(b, "rank_is_odd"), kept = b32(b, "kept");
    note(b, "this thread block's own columns come first");
    for (int bit = 1; bit < r->plan->parts; bit *= 2) {
        EMIT(b, and_b32, bits, r->rank, I(bit));
        EMIT(b, setp_ne, odd, bits, I(0));
        for (int p = 0; p < r->plan->parts; p++)
            for (int i = 0; (p & bit) == 0 && i < s->count; i++) {
                mc_reg low = s->sums[p][i], high = s->sums[p | bit][i];
                EMIT(b, selp_b32, kept, high, low, odd);
                EMIT(b, selp_b32, high, low, high, odd);
                EMIT(b, mov_b32, low, kept);
            }
    }
}

/* Where a lane's sums come in: at the same place in all thread blocks. */
static mc_reg find_place(const ring_emitter *r) {
    mc_builder *b = r->at.b;
    mc_reg of_lane = mad_s32(b, "sums_of_lane", r->at.place.lane, I(RING_QUAD * WORD), r->ring);
    mc_reg of_warp = mad_s32(b, "sums_of_warp", warp_of(r), I(warp_bytes(r->plan)), of_lane);
    return add_s32(b, "sums_in", of_warp, I(ring_sum_offset(r->plan)));
}

/* To each other thread block, the one whose rank differs by p, the sums of its columns. */
static void emit_send(const ring_emitter *r, const shares *s, mc_reg in) {
    mc_builder *b = r->at.b;
    mc_reg other = b32(b, "other_rank"), to = b32(b, "sums_there"), full = b32(b, "full_there");
    for (int p = 1; p < r->plan->parts; p++) {
        EMIT(b, xor_b32, other, r->rank, I(p));
        EMIT(b, mapa, to, in, other);
        EMIT(b, mapa, full, r->sums_full, other);
        for (int i = 0; i < s->count; i += RING_QUAD)
            EMIT(b, st_async_v4, AT(to, (p - 1) * part_bytes(r->plan) + i / RING_QUAD * RING_QUAD_BYTES),
                 V4(&s->sums[p][i]), AT(full, 0));
    }
}

/* Adds what the other thread blocks have sent. */
static void emit_take(const ring_emitter *r, const shares *s, mc_reg in, const spmm_sums *sums) {
    mc_builder *b = r->at.b;
    mc_reg part[RING_QUAD];
    b32_array(b, "part", RING_QUAD, part);
    pipeline_await(b, "SUMS_FULL", pred(b, "sums_passed"), r->sums_full, mov_b32(b, "sums_phase", I(0)));
    for (int p = 1; p < r->plan->parts; p++)
        for (int i = 0; i < s->count; i += RING_QUAD) {
            mc_operand from = AT(in, (p - 1) * part_bytes(r->plan) + i / RING_QUAD * RING_QUAD_BYTES);
            ring_emit_add_quad(sums, from, part, &s->sums[0][i]);
        }
}

void ring_emit_parts_sum(const ring_epilogue *e) {
    const ring_emitter *r = e->r;
    mc_builder *b = r->at.b;
    if (!ring_shares_columns(r->plan)) return;
    heading(b, "Sums of the cluster's %d thread blocks: each stores %d columns", r->plan->parts,
            r->plan->base.tile_n / r->plan->parts);
    mc_reg in = find_place(r);
    shares s = deal_out(e);
    emit_own_first(r, &s);
    ring_emit_parts_meet(r);
    emit_send(r, &s, in);
    emit_take(r, &s, in, e->sums);
}
