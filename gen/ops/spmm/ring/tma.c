/* Staging "tma": one warp copies the windows of B into the ring in order, by tensor copies, each one when
 * every warp that multiplies has left the window before it in its stage. Those warps wait for windows and
 * leave them as their strides say (windowed.h).
 *
 * Each of those warps is a consumer of its own. It must wait for all windows in turn, and leave them but for
 * the last ones, whatever strides it has. */
#include "ops/spmm/ring/ring.h"
#include "parts/windowed.h"

/* Sends the copying warp to its label. */
static void split(ring_feed *f) {
    const ring_emitter *r = f->r;
    const ring_plan *plan = r->plan;
    mc_builder *b = r->at.b;
    f->tma.pipe = (pipeline){.b = b,
                             .stages = plan->stages,
                             .stage_bytes = ring_window_bytes(plan),
                             .gap = ring_zero_bytes(plan),
                             .consumers = plan->base.warps,
                             .counts = true,
                             .first = r->ring};
    note(b, "each stage's barriers: full, when its copy has arrived; empty, when %d warps have left it",
         plan->base.warps);
    pipeline_place(&f->tma.pipe);
    f->tma.copier = label(b, "COPY");
    mc_reg copies = setp_eq(b, "copies", r->at.place.warp, I(plan->base.warps));
    EMIT_IF(b, copies, bra_uni, TO(f->tma.copier));
}

/* -- The warps that compute --------------------------------------------------------------------------- */

static void begin(ring_feed *f) {
    ring_tma *t = &f->tma;
    mc_builder *b = f->r->at.b;
    t->wants = b32(b, "wants"), t->count = b32(b, "count"), t->again = pred(b, "again");
    t->warp = pipeline_consume(&t->pipe, setp_eq(b, "first_lane", f->r->at.place.lane, I(0)));
    if (f->r->plan->resident) t->heed = carried(b, "heed", H(WINDOWED_WANTS_MASK));
    EMIT(b, bar_sync, I(0));
    ring_emit_parts_begun(f->r);
}

/* Counts down, and goes back to LOOP while there is more. */
static void emit_count_down(const ring_tma *t, mc_label loop) {
    mc_builder *b = t->pipe.b;
    EMIT(b, add_s32, t->count, t->count, I(-1));
    EMIT(b, setp_gt, t->again, t->count, I(0));
    EMIT_IF(b, t->again, bra_uni, TO(loop));
}

/* What a stride reads must have been read before a window is left. */
static void emit_await_loads(const ring_feed *f) {
    mc_builder *b = f->tma.pipe.b;
    if (f->pending_count == 0) return;
    note(b, "behind what ldmatrix brings: bits of it that are 0 are added to the address of the arrival");
    mc_reg bits = pipeline_behind(b, f->pending, f->pending_count, f->zero);
    EMIT(b, add_s32, f->tma.warp.leave_at, f->tma.warp.leave_at, bits);
}

/* All lanes have read what they wanted of the windows. With queues they have met since (queue.c). */
static void emit_all_have_read(const ring_feed *f) {
    if (!ring_is_queued(f->r->plan)) EMIT(f->tma.pipe.b, bar_warp_sync, H(0xffffffff));
}

static void emit_leave(const ring_feed *f, mc_reg none) {
    const ring_tma *t = &f->tma;
    mc_builder *b = t->pipe.b;
    mc_label leave = label(b, "LEAVE"), left = label(b, "HAVE_LEFT");
    note(b, "leave windows that this row block is done with: every lane has read what it wanted");
    EMIT(b, shr_u32, t->count, t->wants, I(WINDOWED_LEAVE_SHIFT));
    EMIT(b, setp_eq, none, t->count, I(0));
    EMIT_IF(b, none, bra_uni, TO(left));
    emit_await_loads(f);
    emit_all_have_read(f);
    set_label(b, leave);
    pipeline_leave(&t->pipe, &t->warp);
    emit_count_down(t, leave);
    set_label(b, left);
}

/* Waits for as many windows as the stride wants, or goes to READY. NONE is scratch. */
static void emit_wait(const ring_tma *t, mc_reg none, mc_label ready) {
    mc_builder *b = t->pipe.b;
    mc_label wait = label(b, "WAIT");
    note(b, "wait for windows that the stride reads");
    EMIT(b, and_b32, t->count, t->wants, I(WINDOWED_WAIT_MASK));
    EMIT(b, setp_eq, none, t->count, I(0));
    EMIT_IF(b, none, bra_uni, TO(ready));
    set_label(b, wait);
    pipeline_wait(&t->pipe, &t->warp, "FULL");
    emit_count_down(t, wait);
}

/* Does what the stride's control says. Most strides want nothing. A row block's first one leaves no window
   (windowed.h). */
static void before_stride(const ring_feed *f, mc_reg control, bool first) {
    const ring_tma *t = &f->tma;
    mc_builder *b = t->pipe.b;
    mc_reg none = pred(b, "none");
    mc_label ready = label(b, "READY");
    EMIT(b, and_b32, t->wants, control, t->heed.id ? t->heed : H(WINDOWED_WANTS_MASK));
    EMIT(b, setp_eq, none, t->wants, I(0));
    EMIT_IF(b, none, bra_uni, TO(ready));
    if (!first) emit_leave(f, none);
    emit_wait(t, none, ready);
    set_label(b, ready);
}

/* -- Known before (sparse.c) ---------------------------------------------------------------------------- */

/* A predicate takes longer than another result until a branch may ask for it. So all are asked for a good
   while before the stride begins; ptxas 13 moves some of them down again. Nearly all strides that want
   something leave one window, wait for one, or both. */
enum { ONE_WAITED = 1, ONE_LEFT = 1 << WINDOWED_LEAVE_SHIFT };

void ring_tma_wants_begin(ring_feed *f) {
    ring_tma *t = &f->tma;
    mc_builder *b = t->pipe.b;
    t->any = pred(b, "wants_any"), t->many = pred(b, "wants_many");
    t->leaves = pred(b, "leaves_one"), t->waits = pred(b, "waits_for_one");
    t->there = pred(b, "window_there");
}

void ring_tma_find_wants(const ring_feed *f, mc_reg control) {
    const ring_tma *t = &f->tma;
    mc_builder *b = t->pipe.b;
    EMIT(b, and_b32, t->wants, control, H(WINDOWED_WANTS_MASK));
    EMIT(b, setp_ne, t->any, t->wants, I(0));
    EMIT(b, and_b32, t->count, t->wants, I(ONE_LEFT));
    EMIT(b, setp_ne, t->leaves, t->count, I(0));
    EMIT(b, and_b32, t->count, t->wants, I(ONE_WAITED));
    EMIT(b, setp_ne, t->waits, t->count, I(0));
    pipeline_test(&t->pipe, &t->warp, t->there);
}

void ring_tma_do_wants(const ring_feed *f) {
    const ring_tma *t = &f->tma;
    mc_builder *b = t->pipe.b;
    mc_label many = label(b, "MANY"), left = label(b, "HAS_LEFT"), ready = label(b, "READY");
    EMIT_IF(b, NOT(t->any), bra_uni, TO(ready));
    EMIT(b, and_b32, t->count, t->wants, H(WINDOWED_WANTS_MASK & ~(ONE_WAITED | ONE_LEFT)));
    EMIT(b, setp_ne, t->many, t->count, I(0));
    emit_await_loads(f);
    emit_all_have_read(f);
    EMIT_IF(b, t->many, bra_uni, TO(many));
    EMIT_IF(b, NOT(t->leaves), bra_uni, TO(left));
    note(b, "leave a window that this row block is done with: every lane has read what it wanted");
    pipeline_leave(&t->pipe, &t->warp);
    set_label(b, left);
    EMIT_IF(b, NOT(t->waits), bra_uni, TO(ready));
    note(b, "wait for the window that the stride reads");
    pipeline_wait_tested(&t->pipe, &t->warp, "FULL_ONE", t->there);
    EMIT(b, bra_uni, TO(ready));
    set_label(b, many);
    b->prefix = "many_";
    mc_reg none = pred(b, "none");
    emit_leave(f, none);
    emit_wait(t, none, ready);
    b->prefix = NULL;
    set_label(b, ready);
}

/* Leaves all windows that another one follows in its stage. Every warp must do so, and must have waited for
   them before. */
static void rest(const ring_feed *f) {
    const ring_tma *t = &f->tma;
    mc_builder *b = t->pipe.b;
    mc_label loop = label(b, "LEAVE_REST"), there = label(b, "THERE"), done = label(b, "ALL_LEFT");
    heading(b, "Leave the other windows, but for the last %d: nothing follows those", t->pipe.stages);
    EMIT(b, add_s32, t->count, f->r->windows, I(-t->pipe.stages));
    EMIT(b, sub_s32, t->count, t->count, t->warp.left);
    mc_reg none = setp_lt(b, "none_left", t->count, I(1));
    EMIT_IF(b, none, bra_uni, TO(done));
    emit_all_have_read(f);
    set_label(b, loop);
    mc_reg waited = setp_lt(b, "was_waited", t->warp.left, t->warp.waited);
    EMIT_IF(b, waited, bra_uni, TO(there));
    pipeline_wait(&t->pipe, &t->warp, "FULL_REST");
    set_label(b, there);
    pipeline_leave(&t->pipe, &t->warp);
    emit_count_down(t, loop);
    set_label(b, done);
}

static void turn(ring_feed *f, mc_reg all, mc_label next) {
    const ring_tma *t = &f->tma;
    mc_builder *b = t->pipe.b;
    mc_label await = label(b, "AWAIT_ALL");
    note(b, "the first row block waited for what it read: now for the rest");
    EMIT(b, mov_b32, t->heed, I(0));
    set_label(b, await);
    EMIT(b, setp_ge, all, t->warp.waited, f->r->windows);
    EMIT_IF(b, all, bra_uni, TO(next));
    pipeline_wait(&t->pipe, &t->warp, "FULL_ALL");
    EMIT(b, bra_uni, TO(await));
}

/* -- The copying warp --------------------------------------------------------------------------------- */

/* The window to copy next, and where it lies in B. */
typedef struct copier {
    const ring_emitter *r;
    const pipeline *pipe;
    pipeline_producer stage;
    mc_reg window, row, column, map;
    mc_reg count, more; /* scratch */
} copier;

/* Its instructions. The first, of which only what the prologue wrote is read, are those of all its lanes. */
static copier emit_copier_start(const ring_feed *f) {
    mc_builder *b = f->r->at.b;
    copier c = {.r = f->r, .pipe = &f->tma.pipe, .count = b32(b, "count"), .more = pred(b, "more")};
    c.window = carried(b, "window", I(0));
    c.row = carried(b, "row", f->r->first_row.id ? f->r->first_row : I(0));
    c.column = f->r->at.tile_col;
    if (spmm_b_is_paired(f->r->at.plan)) c.column = shr_u32(b, "byte", f->r->at.tile_col, I(1));
    c.stage = pipeline_produce(c.pipe);
    c.map = carried_b64(b, "map", I(0));
    return c;
}

static void emit_copy(const copier *c) {
    mc_builder *b = c->r->at.b;
    pipeline_expect(c->pipe, &c->stage);
    EMIT(b, tma_load_2d, AT(c->stage.to, 0), TENSOR(c->map, c->column, c->row), AT(c->stage.full, 0));
    EMIT(b, add_s32, c->window, c->window, I(1));
    EMIT(b, add_s32, c->row, c->row, I(c->r->plan->window));
    pipeline_filled(c->pipe, &c->stage);
}

/* One lane initialises the barriers and fills the ring at once. The other warps meet it at barrier 0 when
   they have asked for their first strides. */
static void emit_fill(const copier *c, mc_label filled) {
    mc_builder *b = c->r->at.b;
    mc_label loop = label(b, "FILL");
    if (ring_finishers(c->r->plan) > 0) ring_emit_finisher_init(c->r);
    pipeline_init(c->pipe);
    /* Where B has no rows, too: behind barrier 0 the other warps read scales and biases. */
    emit_grid_wait(b, c->r->at.plan->overlap, "B");
    EMIT(b, setp_lt, c->more, c->r->windows, I(1));
    EMIT_IF(b, c->more, bra, TO(filled));
    EMIT(b, mov_param, c->map, NAME("b_map"));
    EMIT(b, cvta_param, c->map, c->map);
    EMIT(b, min_s32, c->count, c->r->windows, I(c->pipe->stages));
    set_label(b, loop);
    emit_copy(c);
    EMIT(b, setp_lt, c->more, c->window, c->count);
    EMIT_IF(b, c->more, bra, TO(loop));
}

/* Copies the windows behind the first `stages`. */
static void emit_refill(const copier *c) {
    mc_builder *b = c->r->at.b;
    mc_label loop = label(b, "REFILL"), all = label(b, "ALL");
    set_label(b, loop);
    EMIT(b, setp_ge, c->more, c->window, c->r->windows);
    EMIT_IF(b, c->more, bra, TO(all));
    pipeline_await_empty(c->pipe, &c->stage, "LEFT");
    emit_copy(c);
    EMIT(b, bra, TO(loop));
    set_label(b, all);
}

/* The copying warp's instructions. A copy may be one that no row block waits for, so that it waits for the
   last ones itself. */
static void end(ring_feed *f) {
    mc_builder *b = f->r->at.b;
    set_label(b, f->tma.copier);
    b->prefix = "copy_";
    heading(b, "The copying warp: one lane asks for %d rows of B at a time", f->r->plan->window);
    mc_label filled = label(b, "FILLED"), done = label(b, "END");
    copier c = emit_copier_start(f);
    mc_reg idle = setp_ne(b, "idle", f->r->at.place.lane, I(0));
    EMIT_IF(b, idle, bra, TO(filled));
    emit_fill(&c, filled);
    set_label(b, filled);
    EMIT(b, bar_sync, I(0));
    ring_emit_parts_begun(f->r);
    EMIT(b, setp_lt, c.more, c.window, I(1));
    EMIT_IF(b, c.more, bra, TO(done));
    emit_refill(&c);
    pipeline_drain(c.pipe, &c.stage, c.window, c.count, c.more);
    set_label(b, done);
    EMIT_RET(b);
    b->prefix = NULL;
}

const ring_staging ring_by_tma = {
    .split = split, .begin = begin, .before_stride = before_stride, .rest = rest, .turn = turn, .end = end};
