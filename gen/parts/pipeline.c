#include "parts/pipeline.h"
#include <stdio.h>

/* -- Barriers ----------------------------------------------------------------------------------------- */

void pipeline_place(pipeline *p) {
    mc_builder *b = p->b;
    p->full = add_s32(b, "full_at", p->first, I(p->stages * p->stage_bytes + p->gap));
    p->empty = add_s32(b, "empty_at", p->full, I(p->stages * PIPELINE_BARRIER_BYTES));
    p->passed = pred(b, "done"), p->state = b64(b, "state");
}

/* Thread blocks whose consumers leave a stage. */
static int members(const pipeline *p) { return p->cluster > 1 ? p->cluster : 1; }

void pipeline_init(const pipeline *p) {
    mc_builder *b = p->b;
    for (int s = 0; s < p->stages; s++) {
        EMIT(b, mbarrier_init, AT(p->full, s * PIPELINE_BARRIER_BYTES), I(1 + p->fillers));
        EMIT(b, mbarrier_init, AT(p->empty, s * PIPELINE_BARRIER_BYTES), I(p->consumers * members(p)));
    }
    note(b, "the copies see them too");
    EMIT_BARE(b, fence_mbarrier_init);
}

void pipeline_init_stage(const pipeline *p, mc_reg stage) {
    mc_builder *b = p->b;
    mc_reg full = mad_s32(b, "own_full", stage, I(PIPELINE_BARRIER_BYTES), p->full);
    mc_reg empty = mad_s32(b, "own_empty", stage, I(PIPELINE_BARRIER_BYTES), p->empty);
    EMIT(b, mbarrier_init, AT(full, 0), I(1 + p->fillers));
    EMIT(b, mbarrier_init, AT(empty, 0), I(p->consumers * members(p)));
    note(b, "the copies see them too");
    EMIT_BARE(b, fence_mbarrier_init);
}

mc_reg pipeline_behind(mc_builder *b, const mc_reg *loaded, int count, mc_reg no_bits) {
    mc_reg bits = b32(b, "bits");
    EMIT(b, mov_b32, bits, loaded[0]);
    for (int i = 1; i < count; i++) EMIT(b, or_b32, bits, bits, loaded[i]);
    EMIT(b, and_b32, bits, bits, no_bits);
    return bits;
}

void pipeline_await(mc_builder *b, const char *name, mc_reg passed, mc_reg at, mc_reg parity) {
    char passed_name[MC_MAX_NAME];
    snprintf(passed_name, sizeof passed_name, "%s_PASSED", name);
    mc_label again = label(b, name), beyond = label(b, passed_name);
    set_label(b, again);
    EMIT(b, mbarrier_try_wait, passed, AT(at, 0), parity);
    EMIT_IF(b, passed, bra, TO(beyond));
    EMIT(b, bra, TO(again));
    set_label(b, beyond);
}

static void emit_await(const pipeline *p, const char *name, mc_reg at, mc_reg parity) {
    pipeline_await(p->b, name, p->passed, at, parity);
}

/* Moves AT to the next stage's barrier; at END, back to START, where PARITY, if there is one, changes. */
static void emit_next(mc_builder *b, mc_reg at, mc_reg start, mc_reg end, mc_reg wrap, mc_reg parity) {
    EMIT(b, add_s32, at, at, I(PIPELINE_BARRIER_BYTES));
    EMIT(b, setp_eq, wrap, at, end);
    EMIT_IF(b, wrap, mov_b32, at, start);
    if (parity.id) EMIT_IF(b, wrap, xor_b32, parity, parity, I(1));
}

/* -- The producer ------------------------------------------------------------------------------------- */

pipeline_producer pipeline_produce(const pipeline *p) {
    mc_builder *b = p->b;
    pipeline_producer w = {.wrap = pred(b, "wrap")};
    w.to = carried(b, "to", p->first);
    w.full = carried(b, "full", p->full);
    w.empty = carried(b, "empty", p->empty);
    w.parity = carried(b, "parity", I(1));
    return w;
}

void pipeline_await_empty(const pipeline *p, const pipeline_producer *w, const char *name) {
    emit_await(p, name, w->empty, w->parity);
}

void pipeline_expect(const pipeline *p, const pipeline_producer *w) {
    EMIT(p->b, mbarrier_expect, p->state, AT(w->full, 0), I(p->copied ? p->copied : p->stage_bytes));
}

void pipeline_fill(const pipeline *p, const pipeline_producer *w, mc_reg arrives) {
    mc_builder *b = p->b;
    note(b, "what was stored is there for wgmma, which read by another way");
    EMIT_BARE(b, fence_async_shared);
    EMIT(b, bar_warp_sync, H(0xffffffff));
    EMIT_IF(b, arrives, mbarrier_arrive, p->state, AT(w->full, 0));
}

void pipeline_filled(const pipeline *p, const pipeline_producer *w) {
    mc_builder *b = p->b;
    EMIT(b, add_s32, w->to, w->to, I(p->stage_bytes));
    EMIT(b, add_s32, w->empty, w->empty, I(PIPELINE_BARRIER_BYTES));
    emit_next(b, w->full, p->full, p->empty, w->wrap, w->parity);
    EMIT_IF(b, w->wrap, mov_b32, w->to, p->first);
    EMIT_IF(b, w->wrap, mov_b32, w->empty, p->empty);
}

void pipeline_rewind(const pipeline *p, const pipeline_producer *w) {
    mc_builder *b = p->b;
    EMIT(b, mov_b32, w->to, p->first);
    EMIT(b, mov_b32, w->full, p->full);
    EMIT(b, mov_b32, w->empty, p->empty);
    EMIT(b, mov_b32, w->parity, I(1));
}

/* Of more copies than there are stages, the stages from the next one on have the last copies, the oldest
   first, and the producer's parity is that of their phases. Fewer copies lie from stage 0 on. */
void pipeline_drain(const pipeline *p, const pipeline_producer *w, mc_reg copies, mc_reg left, mc_reg more) {
    mc_builder *b = p->b;
    mc_label loop = label(b, "DRAIN");
    note(b, "the last copies have landed before the block ends");
    EMIT(b, setp_lt, more, copies, I(p->stages));
    EMIT_IF(b, more, mov_b32, w->full, p->full);
    EMIT_IF(b, more, mov_b32, w->parity, I(0));
    EMIT(b, min_s32, left, copies, I(p->stages));
    set_label(b, loop);
    emit_await(p, "LANDED", w->full, w->parity);
    emit_next(b, w->full, p->full, p->empty, w->wrap, w->parity);
    EMIT(b, add_s32, left, left, I(-1));
    EMIT(b, setp_gt, more, left, I(0));
    EMIT_IF(b, more, bra, TO(loop));
}

/* -- Consumers ---------------------------------------------------------------------------------------- */

pipeline_consumer pipeline_consume(const pipeline *p, mc_reg arrives) {
    mc_builder *b = p->b;
    pipeline_consumer c = {.arrives = arrives, .wrap = pred(b, "wrap")};
    c.wait_at = carried(b, "wait_at", p->full);
    c.parity = carried(b, "parity", I(0));
    c.start = members(p) > 1 ? mapa(b, "empty_there", p->empty, p->peer) : p->empty;
    c.leave_at = carried(b, "leave_at", c.start);
    c.end = add_s32(b, "empty_end", c.start, I(p->stages * PIPELINE_BARRIER_BYTES));
    if (p->counts) c.waited = carried(b, "waited", I(0)), c.left = carried(b, "left", I(0));
    return c;
}

/* The next stage is there. */
static void emit_waited(const pipeline *p, const pipeline_consumer *c) {
    emit_next(p->b, c->wait_at, p->full, p->empty, c->wrap, c->parity);
    if (p->counts) EMIT(p->b, add_s32, c->waited, c->waited, I(1));
}

void pipeline_wait(const pipeline *p, const pipeline_consumer *c, const char *name) {
    emit_await(p, name, c->wait_at, c->parity);
    emit_waited(p, c);
}

void pipeline_test(const pipeline *p, const pipeline_consumer *c, mc_reg there) {
    EMIT(p->b, mbarrier_test_wait, there, AT(c->wait_at, 0), c->parity);
}

void pipeline_wait_tested(const pipeline *p, const pipeline_consumer *c, const char *name, mc_reg there) {
    char tested[MC_MAX_NAME];
    snprintf(tested, sizeof tested, "%s_TESTED", name);
    mc_label beyond = label(p->b, tested);
    EMIT_IF(p->b, there, bra, TO(beyond));
    emit_await(p, name, c->wait_at, c->parity);
    set_label(p->b, beyond);
    emit_waited(p, c);
}

void pipeline_leave(const pipeline *p, const pipeline_consumer *c) {
    /* Without `.release.cluster`: that is MEMBAR.ALL.GPU in every stage, and the arrival only says that
       reads are over, which they are. */
    if (members(p) > 1) EMIT_IF(p->b, c->arrives, mbarrier_arrive_cluster, AT(c->leave_at, 0));
    else EMIT_IF(p->b, c->arrives, mbarrier_arrive, p->state, AT(c->leave_at, 0));
    emit_next(p->b, c->leave_at, c->start, c->end, c->wrap, (mc_reg){0});
    if (p->counts) EMIT(p->b, add_s32, c->left, c->left, I(1));
}

mc_reg pipeline_seek(const pipeline *p, const pipeline_consumer *c, const char *name, mc_reg copies) {
    mc_builder *b = p->b;
    char reg[MC_MAX_NAME];
    snprintf(reg, sizeof reg, "%s_stage", name);
    mc_reg stage = rem_u32(b, reg, copies, I(p->stages));
    snprintf(reg, sizeof reg, "%s_round", name);
    mc_reg round = div_u32(b, reg, copies, I(p->stages));
    EMIT(b, and_b32, c->parity, round, I(1));
    EMIT(b, mad_s32, c->wait_at, stage, I(PIPELINE_BARRIER_BYTES), p->full);
    EMIT(b, mad_s32, c->leave_at, stage, I(PIPELINE_BARRIER_BYTES), c->start);
    return stage;
}
