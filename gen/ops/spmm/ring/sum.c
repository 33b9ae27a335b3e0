/* How the warps add up that share a row block in the ring kernel. Each part owns as many of the tile's
 * columns as any other, gets the other parts' sums of these through shared memory, and stores them.
 *
 * Behind the ring each part of each row block has room for what every other part gives to it: a gift, 16
 * bytes a lane one after another. The gifts are ordered by the giver's part xor the own part, 1 .. split -
 * 1. */
#include "parts/fragment.h"
#include "ops/spmm/ring/ring.h"

/* A lane's accumulators of one part's columns. */
static int accumulators(const ring_plan *plan) { return ring_acc_count(plan) / ring_owners(plan); }
static int gift_bytes(const ring_plan *plan) { return accumulators(plan) / RING_QUAD * RING_QUAD_BYTES; }
static int part_bytes(const ring_plan *plan) { return (plan->base.split - 1) * gift_bytes(plan); }

/* Where the first part gets all sums, no other part has room. */
static int block_bytes(const ring_plan *plan) { return ring_owners(plan) * part_bytes(plan); }

unsigned ring_sum_bytes(const ring_plan *plan) {
    return (unsigned)(plan->base.row_blocks * block_bytes(plan));
}

/* Sets where the sums of this lane's row block lie, and those of its own part. */
ring_sum ring_emit_sum_place(const ring_emitter *r) {
    mc_builder *b = r->at.b;
    const ring_plan *plan = r->plan;
    if (plan->base.split == 1) return (ring_sum){0};
    heading(b, "The row block's sums behind the ring; its warps' barrier");
    ring_sum place = {.at = b32(b, "sum_at"), .barrier = b32(b, "sum_barrier")};
    EMIT(b, shr_u32, place.barrier, r->at.place.warp, I(log2_of(plan->base.split)));
    EMIT(b, mad_s32, place.at, place.barrier, I(block_bytes(plan)), r->ring);
    EMIT(b, mad_s32, place.at, r->at.place.lane, I(RING_QUAD * WORD), place.at);
    if (ring_sums_to_first(plan)) place.part_at = place.at;
    else place.part_at = mad_s32(b, "sum_part_at", r->at.part, I(part_bytes(plan)), place.at);
    EMIT(b, add_s32, place.barrier, place.barrier, I(1));
    return place;
}

static void emit_meet(const ring_emitter *r, ring_sum place) {
    EMIT(r->at.b, bar_sync_some, place.barrier, I(MC_WARP * r->plan->base.split));
}

static void emit_give(const ring_emitter *r, ring_sum place, const mc_reg *acc, mc_reg other) {
    mc_builder *b = r->at.b;
    const ring_plan *plan = r->plan;
    mc_reg to = b32(b, "gift_at");
    int first = ring_sum_offset(plan) - gift_bytes(plan);
    for (int part = 0; part < plan->base.split; part++) {
        note(b, "to part %d", part);
        EMIT(b, setp_ne, other, r->at.part, I(part));
        EMIT(b, xor_b32, to, r->at.part, I(part));
        EMIT(b, mad_s32, to, to, I(gift_bytes(plan)), place.at);
        for (int i = 0; i < accumulators(plan); i += RING_QUAD)
            EMIT_IF(b, other, sts_v4,
                    AT(to, first + part * part_bytes(plan) + i / RING_QUAD * RING_QUAD_BYTES),
                    V4(&acc[part * accumulators(plan) + i]));
    }
}

static void emit_take_own(const ring_emitter *r, const mc_reg *acc, mc_reg other) {
    mc_builder *b = r->at.b;
    const ring_plan *plan = r->plan;
    note(b, "this part's own");
    for (int part = 1; part < plan->base.split; part++) {
        EMIT(b, setp_eq, other, r->at.part, I(part));
        for (int i = 0; i < accumulators(plan); i++)
            EMIT_IF(b, other, mov_b32, acc[i], acc[part * accumulators(plan) + i]);
    }
}

void ring_emit_add_quad(const spmm_sums *sums, mc_operand at, const mc_reg got[RING_QUAD],
                        const mc_reg to[RING_QUAD]) {
    EMIT(sums->b, lds_v4, V4(got), at);
    for (int i = 0; i < RING_QUAD; i++)
        builder_emit(sums->b, (mc_reg){0}, sums_add(sums), MC_OPERANDS(to[i], to[i], got[i]));
}

static void emit_take_gifts(const ring_emitter *r, ring_sum place, const spmm_sums *sums) {
    mc_builder *b = r->at.b;
    const ring_plan *plan = r->plan;
    const mc_reg *acc = sums->acc;
    mc_reg gift[RING_QUAD];
    b32_array(b, "gift", RING_QUAD, gift);
    note(b, "and what the others have");
    for (int other = 0; other < plan->base.split - 1; other++)
        for (int i = 0; i < accumulators(plan); i += RING_QUAD) {
            int offset = ring_sum_offset(plan) + other * gift_bytes(plan) + i / RING_QUAD * RING_QUAD_BYTES;
            ring_emit_add_quad(sums, AT(place.part_at, offset), gift, &acc[i]);
        }
}

/* All parts but the first give it their sums, and are done. */
static void emit_give_to_first(const ring_emitter *r, ring_sum place, const mc_reg *acc, mc_reg other,
                               mc_label given) {
    mc_builder *b = r->at.b;
    const ring_plan *plan = r->plan;
    note(b, "to the first part");
    EMIT(b, setp_ne, other, r->at.part, I(0));
    mc_reg to = mad_s32(b, "gift_at", r->at.part, I(gift_bytes(plan)), place.at);
    for (int i = 0; i < accumulators(plan); i += RING_QUAD)
        EMIT_IF(b, other, sts_v4,
                AT(to, ring_sum_offset(plan) - gift_bytes(plan) + i / RING_QUAD * RING_QUAD_BYTES),
                V4(&acc[i]));
    emit_meet(r, place);
    EMIT_IF(b, other, bra_uni, TO(given));
}

void ring_emit_sum(const ring_emitter *r, ring_sum place, const spmm_sums *sums, mc_label given) {
    mc_builder *b = r->at.b;
    const ring_plan *plan = r->plan;
    if (plan->base.split == 1) return;
    const bool to_first = ring_sums_to_first(plan);
    heading(b, "Sums of the %d warps that share the row block: %d columns for %s", plan->base.split,
            plan->base.tile_n / ring_owners(plan), to_first ? "the first" : "each");
    if (plan->resident) note(b, "those of the row block before have been read");
    if (plan->resident) emit_meet(r, place);
    mc_reg other = pred(b, "other");
    if (to_first) {
        emit_give_to_first(r, place, sums->acc, other, given);
        emit_take_gifts(r, place, sums);
        return;
    }
    emit_give(r, place, sums->acc, other);
    emit_meet(r, place);
    emit_take_own(r, sums->acc, other);
    emit_take_gifts(r, place, sums);
}
