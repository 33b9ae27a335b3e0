/* How the warps add up that share a row block in the ring kernel. Each part owns as many of the tile's
 * columns as any other, gets the other parts' sums of these through shared memory, and stores them.
 *
 * Behind the ring each part of each row block has room for what every other part gives to it: a gift, 16
 * bytes a lane one after another. The gifts are ordered by the giver's part xor the own part, 1 .. split -
 * 1. */
#include "parts/fragment.h"
#include "ops/spmm/ring/ring.h"

enum {
    QUAD = 4, /* accumulators that move at once */
    QUAD_BYTES = MC_WARP * QUAD * WORD,
};

/* A lane's accumulators of one part's columns. */
static int accumulators(const ring_plan *plan) { return plan->base.tile_n / 16 * 4 / plan->base.split; }
static int gift_bytes(const ring_plan *plan) { return accumulators(plan) / QUAD * QUAD_BYTES; }
static int part_bytes(const ring_plan *plan) { return (plan->base.split - 1) * gift_bytes(plan); }

unsigned ring_sum_bytes(const ring_plan *plan) { return (unsigned)(plan->base.warps * part_bytes(plan)); }

void ring_declare_sum(ring_emitter *r) {
    mc_builder *b = r->e.b;
    int split = r->plan->base.split;
    if (split == 1) return;
    r->sum = (ring_sum){
        .at = b32(b, "sum_at"), .part_at = b32(b, "sum_part_at"), .barrier = b32(b, "sum_barrier")};
    r->sum.to = b32(b, "gift_at"), r->sum.other = pred(b, "other");
    b32_array(b, "gift", QUAD, r->sum.gift);
}

/* Sets where the sums of this lane's row block lie, and those of its own part. */
void ring_emit_sum_place(ring_emitter *r) {
    mc_builder *b = r->e.b;
    const ring_plan *plan = r->plan;
    const ring_sum *s = &r->sum;
    if (plan->base.split == 1) return;
    heading(b, "The row block's sums behind the ring; its warps' barrier");
    EMIT(b, shr_u32, s->barrier, r->e.place.warp, I(log2_of(plan->base.split)));
    EMIT(b, mad_s32, s->at, s->barrier, I(plan->base.split * part_bytes(plan)), r->ring_at);
    EMIT(b, mad_s32, s->at, r->e.place.lane, I(QUAD * WORD), s->at);
    EMIT(b, mad_s32, s->part_at, r->e.part, I(part_bytes(plan)), s->at);
    EMIT(b, add_s32, s->barrier, s->barrier, I(1));
}

static void emit_meet(ring_emitter *r) {
    EMIT(r->e.b, bar_sync_some, r->sum.barrier, I(MC_WARP * r->plan->base.split));
}

static void emit_give(ring_emitter *r) {
    mc_builder *b = r->e.b;
    const ring_plan *plan = r->plan;
    const ring_sum *s = &r->sum;
    int first = ring_sum_offset(plan) - gift_bytes(plan);
    for (int part = 0; part < plan->base.split; part++) {
        note(b, "to part %d", part);
        EMIT(b, setp_ne, s->other, r->e.part, I(part));
        EMIT(b, xor_b32, s->to, r->e.part, I(part));
        EMIT(b, mad_s32, s->to, s->to, I(gift_bytes(plan)), s->at);
        for (int i = 0; i < accumulators(plan); i += QUAD)
            EMIT_IF(b, s->other, sts_v4, AT(s->to, first + part * part_bytes(plan) + i / QUAD * QUAD_BYTES),
                    V4(&r->sums.acc[part * accumulators(plan) + i]));
    }
}

static void emit_take(ring_emitter *r) {
    mc_builder *b = r->e.b;
    const ring_plan *plan = r->plan;
    const ring_sum *s = &r->sum;
    note(b, "this part's own");
    for (int part = 1; part < plan->base.split; part++) {
        EMIT(b, setp_eq, s->other, r->e.part, I(part));
        for (int i = 0; i < accumulators(plan); i++)
            EMIT_IF(b, s->other, mov_b32, r->sums.acc[i], r->sums.acc[part * accumulators(plan) + i]);
    }
    note(b, "and what the others have");
    for (int other = 0; other < plan->base.split - 1; other++)
        for (int i = 0; i < accumulators(plan); i += QUAD) {
            int offset = ring_sum_offset(plan) + other * gift_bytes(plan) + i / QUAD * QUAD_BYTES;
            EMIT(b, lds_v4, V4(s->gift), AT(s->part_at, offset));
            for (int j = 0; j < QUAD; j++)
                EMIT(b, add_s32, r->sums.acc[i + j], r->sums.acc[i + j], s->gift[j]);
        }
}

void ring_emit_sum(ring_emitter *r) {
    mc_builder *b = r->e.b;
    const ring_plan *plan = r->plan;
    if (plan->base.split == 1) return;
    heading(b, "Sums of the %d warps that share the row block: %d columns for each", plan->base.split,
            plan->base.tile_n / plan->base.split);
    if (plan->resident) note(b, "those of the row block before have been read");
    if (plan->resident) emit_meet(r);
    emit_give(r);
    emit_meet(r);
    emit_take(r);
}
