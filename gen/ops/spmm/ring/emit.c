/* The ring kernel's instructions, stage by stage. With staging "tma" one warp copies the windows of B into
 * the ring in order. Each of the others computes a row block, and waits for windows and leaves them as its
 * strides say (windowed.h). Parts that stay have a third kind of warps, which finish row blocks (turns.c).
 *
 *   place -> barriers -> copying warp:  for each window: wait until its stage is empty, copy
 *                     -> other warps:   for each stride: leave, wait; ldmatrix, mma; then store
 *
 * With staging "async" every warp computes, and all copy and pass windows together (async.c). */
#include "ops/spmm/ring/ring.h"
#include "parts/fragment.h"
#include "parts/schedule.h"

/* Registers that ptxas 13 takes beyond those alive where all of B is there. Where one of several warps gets
   all sums it takes twice as many. With fewer it spilled in small rings. */
enum { KEEPS_SPARE = 16 };

/* -- The prologue ------------------------------------------------------------------------------------- */

static void emit_window_count(ring_emitter *r) {
    mc_builder *b = r->at.b;
    int window = r->plan->window;
    if (r->at.plan->k != MC_OPEN) {
        r->windows = mov_b32(b, "windows", I((r->at.plan->k + window - 1) / window));
        return;
    }
    r->k = load_shape(b, "k", true);
    r->windows = b32(b, "windows");
    EMIT(b, add_s32, r->windows, r->k, I(window - 1));
    EMIT(b, shr_u32, r->windows, r->windows, I(log2_of(window)));
}

static void load_sizes(ring_emitter *r) {
    mc_builder *b = r->at.b;
    const spmm_plan *plan = r->at.plan;
    r->at.m = load_shape(b, "m", plan->guard_rows && plan->m == MC_OPEN);
    r->at.n = load_shape(b, "n", plan->n == MC_OPEN);
}

/* The tile of the thread block's number, where rows of tiles go in groups. */
static void emit_tile(ring_emitter *r) {
    const spmm_plan *plan = r->at.plan;
    load_sizes(r);
    tile_schedule s = {.b = r->at.b,
                       .tile_rows = plan->vec * plan->row_blocks,
                       .tile_columns = plan->tile_n,
                       .group = plan->group};
    schedule_only(&s, dim_operand(plan->m, r->at.m), dim_operand(plan->n, r->at.n));
    r->block = s.unit_row, r->blocks = s.units, r->at.tile_col = s.column;
}

static void emit_place(ring_emitter *r) {
    mc_builder *b = r->at.b;
    shared_dynamic(b, "ring", 1024);
    b->fills_shared = true;
    emit_launch_next(b, r->at.plan->overlap);
    spmm_emit_lane(&r->at);
    if (r->at.plan->group > 0) emit_tile(r);
    else spmm_emit_tile_column(&r->at);
    heading(b, "The ring, and how many windows go through it");
    r->ring = mov_shared(b, "ring_at", NAME("ring"));
    emit_window_count(r);
    ring_emit_part(r);
}

static void emit_shapes(ring_emitter *r) {
    mc_builder *b = r->at.b;
    const spmm_plan *plan = r->at.plan;
    if (plan->group == 0) load_sizes(r);
    r->at.ldc = load_shape(b, "ldc", plan->ldc == MC_OPEN);
    r->at.ldb = load_shape(b, "ldb", !r->plan->tensor && plan->ldb == MC_OPEN);
}

/* The row that padding slots name, of floats; and zeros for note_pending. */
static void emit_zero_row(const ring_emitter *r) {
    enum { PIECE = 16 };
    mc_builder *b = r->at.b;
    const ring_plan *plan = r->plan;
    if (ring_zero_bytes(plan) == 0) return;
    if (ring_is_sparse(plan)) note(b, "zeros, whose bits make arrivals wait for what was read");
    else note(b, "a row of zeros, for slots of padding: no infinity of B meets their zeros");
    mc_reg zeros[4];
    b32_array(b, "zero", 4, zeros);
    for (int i = 0; i < 4; i++) EMIT(b, mov_b32, zeros[i], I(0));
    mc_reg writes = setp_lt(b, "writes_zeros", r->at.place.thread, I(ring_zero_bytes(plan) / PIECE));
    mc_reg at = mad_s32(b, "zero_at", r->at.place.thread, I(PIECE), r->ring);
    EMIT_IF(b, writes, sts_v4, AT(at, ring_zero_offset(plan)), V4(zeros));
}

static void emit_row_block(ring_strides *s, ring_epilogue *epilogue) {
    set_label(s->r->at.b, label(s->r->at.b, "ROW_BLOCKS"));
    const bool gives = ring_sums_to_first(s->r->plan);
    if (gives) epilogue->next = label(s->r->at.b, "SENT");
    ring_emit_row_factors(epilogue);
    ring_emit_strides(s);
    ring_emit_output(epilogue);
    if (!gives) return;
    s->r->at.b->prefix = NULL;
    set_label(s->r->at.b, epilogue->next);
    EMIT_RET(s->r->at.b);
}

static void note_register(ring_feed *feed, mc_reg reg) { feed->pending[feed->pending_count++] = reg; }

/* The second half of a stride is gathered last before windows are left. Where an mma takes both halves, none
   has taken what the first one brought by then. With sparse mma the last pieces are on their way then. */
static void note_pending(const ring_strides *s, ring_feed *feed) {
    const ring_emitter *r = s->r;
    const int pieces = ring_pieces(r->plan), loads = ring_loads(r->plan);
    if (ring_is_sparse(r->plan)) {
        for (int i = pieces - ring_pieces_ahead(r->plan); i < pieces; i++)
            note_register(feed, s->matrix[0][i % RING_OPERANDS][0]);
    } else {
        for (int q = 0; q < loads; q++) {
            if (r->at.plan->math.joins_halves) note_register(feed, s->pairs.first[q][0]);
            note_register(feed, s->matrix[1][q][0]);
        }
    }
    feed->zero = lds_b32(r->at.b, "no_bits", AT(r->ring, ring_zero_offset(r->plan)));
}

/* -- The kernel --------------------------------------------------------------------------------------- */

static void begin_epilogue(ring_emitter *r, ring_epilogue *epilogue) {
    r->at.c_array = load_array(r->at.b, "c");
    ring_emit_epilogue_start(epilogue);
}

/* Sends warps that finish row blocks to their label. */
static mc_label emit_part_ways(const ring_emitter *r) {
    mc_builder *b = r->at.b;
    mc_label finish = label(b, "FINISH");
    EMIT_IF(b, r->finishes, bra_uni, TO(finish));
    return finish;
}

/* What all warps do that copy nothing, from the thread's place and the shapes on. */
static void emit_products(ring_emitter *r, const ring_staging *staging, ring_feed *feed) {
    mc_builder *b = r->at.b;
    spmm_sums sums = {.of = &r->at.plan->math, .b = b};
    ring_row_block block;
    sums_begin(&sums);
    sums_declare(&sums, ring_acc_count(r->plan));
    const bool finishers = ring_finishers(r->plan) > 0;
    mc_label finish = {0};
    if (finishers) ring_emit_finisher(r);
    ring_rows rows = ring_emit_rows(r, &block);
    if (finishers) finish = emit_part_ways(r);
    const bool first_a = r->plan->keeps_all; /* which may be asked for while another kernel makes B */
    ring_packed packed = {0};
    if (r->plan->prefetch) {
        packed = ring_emit_packed(r);
        ring_emit_prefetch(r, &packed, block);
    }
    if (staging->fill && !first_a) staging->fill(feed);
    if (!r->plan->prefetch) packed = ring_emit_packed(r);
    ring_emit_first_strides(r, &packed, block);
    if (first_a) staging->fill(feed);
    ring_epilogue epilogue = {.r = r, .sums = &sums, .row_block = block.number};
    if (!finishers) begin_epilogue(r, &epilogue);
    ring_strides strides = {
        .r = r, .staging = staging, .feed = feed, .packed = &packed, .block = block, .sums = &sums};
    ring_emit_strides_start(&strides);
    emit_zero_row(r);
    ring_emit_parts_barrier(r);
    staging->begin(feed);
    if (ring_is_sparse(r->plan)) ring_tma_wants_begin(feed);
    if (ring_zero_bytes(r->plan) > 0) note_pending(&strides, feed);
    if (r->plan->resident) ring_emit_turns(&strides, feed, &epilogue, &rows);
    else emit_row_block(&strides, &epilogue);
    if (!finishers) return;
    set_label(b, finish);
    b->prefix = "finish_";
    begin_epilogue(r, &epilogue);
    ring_emit_finishes(r, &epilogue, &rows, block);
    b->prefix = NULL;
}

void ring_emit(const void *data, mc_builder *b) {
    const ring_plan *plan = data;
    const ring_staging *staging = plan->tensor      ? &ring_by_tma
                                  : plan->keeps_all ? &ring_all_at_once
                                                    : &ring_by_async;
    spmm_batch batch = spmm_batch_of(&plan->base);
    ring_emitter r = {.plan = plan, .at = {.plan = &plan->base, .b = b}};
    ring_feed feed = {.r = &r};
    if (plan->keeps_all && !ring_is_narrow(plan))
        b->spare += KEEPS_SPARE * (ring_sums_to_first(plan) ? 2 : 1);
    if (plan->base.batch) batch_begin(b, batch.arrays, batch.count);
    emit_place(&r);
    if (staging->split) staging->split(&feed);
    emit_shapes(&r);
    emit_products(&r, staging, &feed);
    if (staging->end) staging->end(&feed);
}
