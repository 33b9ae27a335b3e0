/* How strides of the packed arrays are asked for long before they are multiplied (`depth`, `prefetch_l2`). It
 * is for an A that comes out of memory, and for few columns.
 *
 * Each warp has a queue in shared memory, behind all else there. It has `depth` entries, and stride s belongs
 * to entry s mod depth:
 *
 *   values of the stride | 64 bytes of places | 4 of control, and 12 unused ones
 *
 * The warp's lanes copy a stride there by cp.async, 16 bytes each. A stride's copies are a group (PTX ISA,
 * "cp.async.commit_group"). Waiting for a group is waiting for all groups before it, too. So a warp waits for
 * a stride by the number of groups that it has begun since, and behind a row block's last stride it begins
 * groups without copies.
 *
 *   first strides      copies strides 0 to depth - 1 of the row block
 *   take first         waits for stride 0 and loads it to registers, then does what follows for s = 0
 *   next stride s      waits for stride s + 1 and loads it, then copies stride s + depth
 *
 * Lanes read what others have copied, so that behind each wait all lanes meet. That meeting also says that
 * all lanes have read stride s, whose entry stride s + depth takes. Behind a row block's last stride it says
 * that the entries are free for the next row block.
 *
 * `depth` = 3 has no queue, but registers in a loop of three strides (strides.c). A warp has six scoreboards
 * to wait for loads by, and ptxas 13 may put all loads of a loop's next turn on one of them, so that a wait
 * for the first of these loads is one for the last of them. Longer loops so gained nothing. */
#include "ops/spmm/ring/ring.h"
#include "parts/windowed.h"

enum {
    PLACE_BYTES = WINDOWED_STRIDE_WORDS * WORD,
    ROW_BYTES = MC_WARP * RING_PIECE, /* that all lanes copy at once */
    CONTROLS = RING_PIECE / WORD,     /* strides whose control is a piece */
};

/* A stride's pieces of values: whole rows of a piece for each lane, and so many more. These are at most 18,
   so that the 4 pieces of places have room in the same row. */
static int whole_rows(const ring_plan *plan) { return plan->base.stride_values / ROW_BYTES; }
static int last_pieces(const ring_plan *plan) { return plan->base.stride_values % ROW_BYTES / RING_PIECE; }

int ring_entry_bytes(const ring_plan *plan) { return plan->base.stride_values + PLACE_BYTES + RING_PIECE; }

static int warp_bytes(const ring_plan *plan) { return plan->depth * ring_entry_bytes(plan); }

unsigned ring_queue_bytes(const ring_plan *plan) { return (unsigned)(plan->base.warps * warp_bytes(plan)); }

/* Sets which pieces this lane copies: one in each whole row, and perhaps one in the last row. */
static void emit_pieces(const ring_emitter *r, ring_queue *q, const ring_arrays *arrays) {
    mc_builder *b = r->at.b;
    mc_reg lane = r->at.place.lane;
    int rows = whole_rows(r->plan), last = last_pieces(r->plan);
    q->values_from = mad_wide(b, "queue_values", lane, I(RING_PIECE), arrays->values);
    q->from = b64(b, "queue_from"), q->step = carried(b, "queue_step", I(r->at.plan->stride_values));
    note(b, "lane: 16 bytes of values, or of places from lane %d on", last);
    EMIT(b, mad_wide, q->from, add_s32(b, "queue_piece", lane, I(rows * MC_WARP)), I(RING_PIECE),
         arrays->values);
    mc_reg piece = sub_s32(b, "queue_place", lane, I(last));
    mc_reg places = setp_ge(b, "copies_places", piece, I(0));
    EMIT_IF(b, places, mad_wide, q->from, piece, I(RING_PIECE), arrays->places);
    EMIT_IF(b, places, mov_b32, q->step, I(PLACE_BYTES));
    q->copies = setp_lt(b, "copies_some", piece, I(PLACE_BYTES / RING_PIECE));
    q->first = setp_eq(b, "copies_control", lane, I(0));
}

void ring_queue_begin(const ring_emitter *r, ring_queue *q, ring_arrays *arrays) {
    mc_builder *b = r->at.b;
    int values = r->at.plan->stride_values;
    arrays->values = load_array(b, "values"), arrays->places = load_array(b, "places");
    arrays->control = load_array(b, "control");
    mc_reg base = r->ring, warp = r->at.place.warp; /* none of one */
    if (warp.id) base = mad_s32(b, "queue_of_warp", warp, I(warp_bytes(r->plan)), base);
    q->values = add_s32(b, "queue", base, I(r->plan->queues));
    q->places = add_s32(b, "queue_places_at", q->values, I(values));
    q->control = add_s32(b, "queue_control_at", q->values, I(values + PLACE_BYTES));
    q->to = mad_s32(b, "queue_to", r->at.place.lane, I(RING_PIECE), q->values);
    emit_pieces(r, q, arrays);
    q->there = pred(b, "asked"), q->entry = b32(b, "entry");
    q->from_at = b64(b, "queue_from_at"), q->to_at = b32(b, "queue_to_at");
}

static void emit_copy(const ring_emitter *r, const ring_queue *q, int bytes, int to, int from) {
    copy_async(r->at.b, bytes,
               (copy_piece){.guard = q->there, .to = AT(q->to_at, to), .from = AT(q->from_at, from)});
}

void ring_queue_ask(const ring_emitter *r, const ring_packed *p, mc_reg at, mc_reg last) {
    mc_builder *b = r->at.b;
    const ring_queue *q = &p->queue;
    int rows = whole_rows(r->plan), values = r->at.plan->stride_values;
    EMIT(b, and_b32, q->entry, at, I(r->plan->depth - 1));
    EMIT(b, mad_s32, q->to_at, q->entry, I(ring_entry_bytes(r->plan)), q->to);
    if (rows > 0) {
        EMIT(b, setp_lt, q->there, at, last);
        EMIT(b, mad_wide, q->from_at, at, I(values), q->values_from);
        for (int i = 0; i < rows; i++) emit_copy(r, q, RING_PIECE, i * ROW_BYTES, i * ROW_BYTES);
    }
    EMIT(b, setp_lt_and, q->there, at, last, q->copies);
    EMIT(b, mad_wide, q->from_at, at, q->step, q->from);
    emit_copy(r, q, RING_PIECE, rows * ROW_BYTES, 0);
    EMIT(b, setp_lt_and, q->there, at, last, q->first);
    EMIT(b, mad_wide, q->from_at, at, I(WORD), p->arrays.control);
    emit_copy(r, q, WORD, values + PLACE_BYTES, 0);
    EMIT_BARE(b, cp_async_commit);
}

void ring_queue_await(const ring_emitter *r, int count) {
    EMIT(r->at.b, cp_async_wait, I(count));
    EMIT(r->at.b, bar_warp_sync, H(0xffffffff));
}

/* -- What L2 is asked for ----------------------------------------------------------------------------- */

/* Asks for the control of strides FIRST to END - 1, in whole pieces. The first piece is the one that stride
   FIRST is in. The piece that stride END is in does not count: the array may end within it. */
static void emit_ask_control(const ring_emitter *r, const ring_packed *p, mc_reg first, mc_reg end,
                             mc_reg one) {
    mc_builder *b = r->at.b;
    mc_reg from = and_b32(b, "ask_from", first, H(~(CONTROLS - 1U)));
    mc_reg to = and_b32(b, "ask_to", end, H(~(CONTROLS - 1U)));
    mc_reg any = setp_lt_and(b, "ask_control", from, to, one);
    mc_reg at = mad_wide(b, "ask_control_at", from, I(WORD), p->arrays.control);
    mc_reg count = sub_s32(b, "ask_controls", to, from);
    EMIT_IF(b, any, bulk_prefetch, AT(at, 0), mul_s32(b, "ask_control_bytes", count, I(WORD)));
}

void ring_emit_prefetch(const ring_emitter *r, const ring_packed *p, ring_row_block block) {
    mc_builder *b = r->at.b;
    const struct {
        mc_reg array;
        int stride_bytes;
    } arrays[] = {{p->arrays.values, r->at.plan->stride_values}, {p->arrays.places, PLACE_BYTES}};
    int most = RING_PREFETCH_BYTES / arrays[0].stride_bytes;
    note(b, "one lane asks L2 for the row block's strides, at most %d of them", most);
    mc_reg one = setp_eq(b, "ask_lane", r->at.place.lane, I(0));
    mc_reg any = setp_lt_and(b, "asks", block.stride, block.last, one);
    mc_reg all = sub_s32(b, "ask_all", block.last, block.stride);
    mc_reg count = min_s32(b, "ask_count", all, I(most));
    mc_reg at = b64(b, "ask_at"), bytes = b32(b, "ask_bytes");
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        EMIT(b, mad_wide, at, block.stride, I(arrays[i].stride_bytes), arrays[i].array);
        EMIT(b, mul_s32, bytes, count, I(arrays[i].stride_bytes));
        EMIT_IF(b, any, bulk_prefetch, AT(at, 0), bytes);
    }
    emit_ask_control(r, p, block.stride, add_s32(b, "ask_end", block.stride, count), one);
}
