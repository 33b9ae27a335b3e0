/* The ring kernel's copying warp. It copies the windows of B into the ring in order, each one when every warp
 * has left the window before it in its stage. */
#include "ops/spmm/ring/ring.h"
#include <stdio.h>

/* -- Barriers ----------------------------------------------------------------------------------------- */

static void emit_window_count(ring_emitter *r) {
    mc_builder *b = r->e.b;
    const ring_plan *plan = r->plan;
    r->windows = b32(b, "windows");
    if (plan->base.k != MC_OPEN) {
        EMIT(b, mov_b32, r->windows, I((plan->base.k + plan->window - 1) / plan->window));
        return;
    }
    r->k = load_shape(b, "k", true);
    EMIT(b, add_s32, r->windows, r->k, I(plan->window - 1));
    EMIT(b, shr_u32, r->windows, r->windows, I(log2_of(plan->window)));
}

void ring_emit_addresses(ring_emitter *r) {
    mc_builder *b = r->e.b;
    heading(b, "The ring, and how many windows go through it");
    r->ring_at = b32(b, "ring_at");
    EMIT(b, mov_shared, r->ring_at, NAME("ring"));
    emit_window_count(r);
}

void ring_emit_barrier_addresses(ring_emitter *r) {
    mc_builder *b = r->e.b;
    const ring_plan *plan = r->plan;
    note(b,
         "each stage's barriers: full, when its copy has arrived; empty, when %d warps have "
         "left it",
         plan->base.warps);
    r->full_at = b32(b, "full_at"), r->empty_at = b32(b, "empty_at");
    EMIT(b, add_s32, r->full_at, r->ring_at, I(plan->stages * ring_window_bytes(plan)));
    EMIT(b, add_s32, r->empty_at, r->full_at, I(plan->stages * RING_BARRIER_BYTES));
    r->done = pred(b, "done"), r->state = b64(b, "state");
}

static void emit_barriers(ring_emitter *r) {
    mc_builder *b = r->e.b;
    for (int s = 0; s < r->plan->stages; s++) {
        EMIT(b, mbarrier_init, AT(r->full_at, s * RING_BARRIER_BYTES), I(1));
        EMIT(b, mbarrier_init, AT(r->empty_at, s * RING_BARRIER_BYTES), I(r->plan->base.warps));
    }
    note(b, "the copies see them too");
    EMIT_BARE(b, fence_mbarrier_init);
}

void ring_emit_await(ring_emitter *r, const char *name, mc_reg at, mc_reg parity) {
    mc_builder *b = r->e.b;
    char passed_name[MC_MAX_NAME];
    snprintf(passed_name, sizeof passed_name, "%s_PASSED", name);
    mc_label again = label(b, name), passed = label(b, passed_name);
    set_label(b, again);
    EMIT(b, mbarrier_try_wait, r->done, AT(at, 0), parity);
    EMIT_IF(b, r->done, bra, TO(passed));
    EMIT(b, bra, TO(again));
    set_label(b, passed);
}

void ring_emit_next_stage(ring_emitter *r, mc_reg at, mc_reg start, mc_reg end, mc_reg wrap, mc_reg parity) {
    mc_builder *b = r->e.b;
    EMIT(b, add_s32, at, at, I(RING_BARRIER_BYTES));
    EMIT(b, setp_eq, wrap, at, end);
    EMIT_IF(b, wrap, mov_b32, at, start);
    if (parity.id) EMIT_IF(b, wrap, xor_b32, parity, parity, I(1));
}

/* -- The copying warp --------------------------------------------------------------------------------- */

/* Registers of the copying warp. */
typedef struct copier {
    mc_reg window, column, row, to, full, empty, parity, count, map;
    mc_reg wrap, more;
} copier;

static copier declare_copier(mc_builder *b) {
    return (copier){.window = b32(b, "window"),
                    .row = b32(b, "row"),
                    .to = b32(b, "to"),
                    .full = b32(b, "full"),
                    .empty = b32(b, "empty"),
                    .parity = b32(b, "parity"),
                    .count = b32(b, "count"),
                    .map = b64(b, "map"),
                    .wrap = pred(b, "wrap"),
                    .more = pred(b, "more")};
}

static void emit_copy(ring_emitter *r, const copier *c) {
    mc_builder *b = r->e.b;
    const ring_plan *plan = r->plan;
    EMIT(b, mbarrier_expect, r->state, AT(c->full, 0), I(ring_window_bytes(plan)));
    EMIT(b, tma_load_2d, AT(c->to, 0), TENSOR(c->map, c->column, c->row), AT(c->full, 0));
    EMIT(b, add_s32, c->window, c->window, I(1));
    EMIT(b, add_s32, c->row, c->row, I(plan->window));
    EMIT(b, add_s32, c->to, c->to, I(ring_window_bytes(plan)));
    EMIT(b, add_s32, c->empty, c->empty, I(RING_BARRIER_BYTES));
    ring_emit_next_stage(r, c->full, r->full_at, r->empty_at, c->wrap, c->parity);
    EMIT_IF(b, c->wrap, mov_b32, c->to, r->ring_at);
    EMIT_IF(b, c->wrap, mov_b32, c->empty, r->empty_at);
}

/* One lane initialises the barriers and fills the ring at once. The other warps meet it at barrier 0 when
   they have asked for their first strides. */
static void emit_fill(ring_emitter *r, const copier *c, mc_label filled) {
    mc_builder *b = r->e.b;
    mc_label loop = label(b, "FILL");
    mc_reg first = c->count;
    emit_barriers(r);
    /* Where B has no rows, too: behind barrier 0 the other warps read scales and biases. */
    emit_grid_wait(r->e.b, r->plan->base.overlap, "B");
    EMIT(b, setp_lt, c->more, r->windows, I(1));
    EMIT_IF(b, c->more, bra, TO(filled));
    EMIT(b, mov_param, c->map, NAME("b_map"));
    EMIT(b, cvta_param, c->map, c->map);
    EMIT(b, min_s32, first, r->windows, I(r->plan->stages));
    set_label(b, loop);
    emit_copy(r, c);
    EMIT(b, setp_lt, c->more, c->window, first);
    EMIT_IF(b, c->more, bra, TO(loop));
}

/* Copies the windows behind the first `stages`. Each waits until every warp has left the window before it in
   its stage. */
static void emit_refill(ring_emitter *r, const copier *c) {
    mc_builder *b = r->e.b;
    mc_label loop = label(b, "REFILL"), all = label(b, "ALL");
    set_label(b, loop);
    EMIT(b, setp_ge, c->more, c->window, r->windows);
    EMIT_IF(b, c->more, bra, TO(all));
    ring_emit_await(r, "LEFT", c->empty, c->parity);
    emit_copy(r, c);
    EMIT(b, bra, TO(loop));
    set_label(b, all);
}

/* Waits for the last copies. A copy may be one that no row block waits for, but it must have landed before
   the block ends, since its shared memory is then another block's. The stages from `full` on have the last
   copies, the oldest first, in the phases that this parity names. */
static void emit_drain(ring_emitter *r, const copier *c) {
    mc_builder *b = r->e.b;
    mc_label loop = label(b, "DRAIN");
    note(b, "the last copies have landed before the block ends");
    EMIT(b, setp_lt, c->more, c->window, I(r->plan->stages));
    EMIT_IF(b, c->more, mov_b32, c->full, r->full_at);
    EMIT_IF(b, c->more, mov_b32, c->parity, I(0));
    EMIT(b, min_s32, c->count, c->window, I(r->plan->stages));
    set_label(b, loop);
    ring_emit_await(r, "LANDED", c->full, c->parity);
    ring_emit_next_stage(r, c->full, r->full_at, r->empty_at, c->wrap, c->parity);
    EMIT(b, add_s32, c->count, c->count, I(-1));
    EMIT(b, setp_gt, c->more, c->count, I(0));
    EMIT_IF(b, c->more, bra, TO(loop));
}

void ring_emit_copier(ring_emitter *r) {
    mc_builder *b = r->e.b;
    b->prefix = "copy_";
    heading(b, "The copying warp: one lane asks for %d rows of B at a time", r->plan->window);
    mc_reg idle = pred(b, "idle");
    copier c = declare_copier(b);
    c.column = spmm_b_is_paired(&r->plan->base) ? b32(b, "byte") : r->e.tile_col;
    mc_label filled = label(b, "FILLED"), end = label(b, "END");
    EMIT(b, mov_b32, c.window, I(0));
    EMIT(b, mov_b32, c.row, I(0));
    if (spmm_b_is_paired(&r->plan->base)) EMIT(b, shr_u32, c.column, r->e.tile_col, I(1));
    EMIT(b, mov_b32, c.to, r->ring_at);
    EMIT(b, mov_b32, c.full, r->full_at);
    EMIT(b, mov_b32, c.empty, r->empty_at);
    EMIT(b, mov_b32, c.parity, I(1));
    EMIT(b, mov_b64, c.map, I(0));
    EMIT(b, setp_ne, idle, r->e.place.lane, I(0));
    EMIT_IF(b, idle, bra, TO(filled));
    emit_fill(r, &c, filled);
    set_label(b, filled);
    EMIT(b, bar_sync, I(0));
    EMIT(b, setp_lt, c.more, c.window, I(1));
    EMIT_IF(b, c.more, bra, TO(end));
    emit_refill(r, &c);
    emit_drain(r, &c);
    set_label(b, end);
    EMIT_RET(b);
    b->prefix = NULL;
}
