/* Staging "async", where no warp has copying for its job. All threads that multiply copy a window together by
 * cp.async, and the thread block passes from window to window together:
 *
 *   fill    copies all windows if the ring holds them, else one window less than it has stages
 *   pass    waits until all copies have arrived and every warp has left one window more; then copies the
 *           next window over that one
 *
 * After pass s the strides may run whose oldest window is s. They reach to window s + stages - 2 at most
 * (runtime/formats/windowed.c), for which the pass has waited, while window s + stages - 1 is on its way.
 * Every warp takes part in every pass, whatever strides it has. A copy that would reach beyond n or k reads
 * less, or nothing, and fills the rest with zeros (PTX ISA, "cp.async"). */
#include "ops/spmm/ring/ring.h"
#include "parts/made_name.h"
#include "parts/windowed.h"

enum { ROW_OF_BANKS = 128 };

/* -- What a thread copies ----------------------------------------------------------------------------- */

static copy_width emit_width(const ring_emitter *r) {
    mc_builder *b = r->at.b;
    const ring_plan *plan = r->plan;
    int tile_bytes = ring_row_bytes(plan);
    if (plan->copy) return copy_fixed_width(plan->copy, tile_bytes);
    note(b, "the widest copy that B's address and ldb allow: 2^log_width bytes");
    return copy_find_width(b, plan->base.align < COPY_WIDEST ? r->at.b_array : (mc_reg){0}, r->at.row_bytes,
                           tile_bytes);
}

/* The bytes that COLUMNS columns of B have. */
static mc_operand in_bytes(const ring_emitter *r, const char *name, mc_operand columns) {
    int bytes = spmm_b_unit(r->at.plan);
    if (bytes == 1) return columns;
    if (columns.kind == PTX_IMM) return I(columns.imm * bytes);
    return mul_s32(r->at.b, name, columns, I(bytes));
}

/* Sets where the thread's pieces come from, and how much of them lies inside n. */
static void emit_sources(const ring_emitter *r, ring_async *a) {
    mc_builder *b = r->at.b;
    mc_operand tile_byte = in_bytes(r, "tile_byte", r->at.tile_col);
    mc_reg column = add_s32(b, "column", tile_byte, a->pieces.byte);
    a->from = mad_wide(b, "from", column, I(1), r->at.b_array);
    a->inside = b32(b, "inside");
    note(b, "so many of the piece's bytes lie inside n");
    EMIT(b, sub_s32, a->inside, in_bytes(r, "n_bytes", dim_operand(r->at.plan->n, r->at.n)), column);
    EMIT(b, min_s32, a->inside, a->inside, a->width.bytes);
    EMIT(b, setp_lt, a->piece.enough, a->inside, I(0));
    EMIT_IF(b, a->piece.enough, mov_b32, a->inside, I(0));
}

/* Sets where they go. */
static void emit_targets(const ring_emitter *r, ring_async *a) {
    mc_builder *b = r->at.b;
    mc_reg byte = a->pieces.byte;
    a->to_first = b32(b, "to_first");
    if (!ring_is_narrow(r->plan)) {
        note(b, "where it goes: its 16-byte unit is swizzled, what it is of the unit is not");
        a->unit = and_b32(b, "unit", byte, H(0xf0));
        EMIT(b, sub_s32, byte, byte, a->unit);
    }
    EMIT(b, mad_s32, a->to_first, a->pieces.first_row, I(ring_row_bytes(r->plan)), byte);
    EMIT(b, add_s32, a->to_first, a->to_first, r->ring);
}

static ring_piece declare_piece(mc_builder *b) {
    return (ring_piece){.row = b32(b, "row"),
                        .row_end = b32(b, "row_end"),
                        .to = b32(b, "to"),
                        .at = b32(b, "to_at"),
                        .bytes = b32(b, "bytes"),
                        .address = b64(b, "address"),
                        .beyond = pred(b, "beyond"),
                        .enough = pred(b, "enough")};
}

/* A thread's pieces of a window. */
static void emit_pieces(const ring_emitter *r, ring_async *a) {
    mc_builder *b = r->at.b;
    ring_emit_contiguous_start(r, &a->contiguous);
    ring_emit_elements_start(r, &a->elements);
    a->piece = declare_piece(b);
    if (r->plan->copy == RING_BY_ELEMENTS) return;
    a->width = emit_width(r);
    a->pieces = copy_pieces_of(b, &a->width, r->at.place.thread, MC_WARP * r->at.plan->warps);
    a->to_step = mul_s32(b, "to_step", a->pieces.row_step, I(ring_row_bytes(r->plan)));
    emit_sources(r, a);
    emit_targets(r, a);
}

/* -- A window ----------------------------------------------------------------------------------------- */

/* Copies the thread's piece of a row. Its unit goes where windowed_place says: a row of 128 bytes of shared
   memory has `rows` rows of B, and the unit's number is changed, by xor, by the number of that row of 128
   bytes modulo a row's units. */
static void emit_piece(const ring_emitter *r, const ring_async *a) {
    mc_builder *b = r->at.b;
    const ring_piece *p = &a->piece;
    int row_bytes = ring_row_bytes(r->plan), rows = ROW_OF_BANKS / row_bytes,
        units = row_bytes / WINDOWED_UNIT;
    EMIT(b, mov_b32, p->bytes, a->inside);
    EMIT(b, setp_ge, p->beyond, p->row, a->rows);
    EMIT_IF(b, p->beyond, mov_b32, p->bytes, I(0));
    if (units > 1) {
        EMIT(b, shl_b32, p->at, p->row, I(log2_of(WINDOWED_UNIT / rows)));
        EMIT(b, and_b32, p->at, p->at, H((unsigned)((units - 1) * WINDOWED_UNIT)));
        EMIT(b, xor_b32, p->at, p->at, a->unit);
        EMIT(b, add_s32, p->at, p->at, p->to);
    }
    EMIT(b, mad_wide, p->address, p->row, r->at.row_bytes, a->from);
    copy_any_width(
        b, &a->width,
        (copy_piece){.to = AT(units > 1 ? p->at : p->to, 0), .from = AT(p->address, 0), .size = p->bytes});
}

/* Moves on to the window behind the one that was copied. */
static void emit_next_window(const ring_emitter *r, const ring_async *a) {
    mc_builder *b = r->at.b;
    const ring_plan *plan = r->plan;
    EMIT(b, add_s32, a->copied, a->copied, I(1));
    EMIT(b, add_s32, a->stage_row, a->stage_row, I(plan->window));
    EMIT(b, add_s32, a->stage_at, a->stage_at, I(ring_window_bytes(plan)));
    EMIT(b, setp_eq, a->piece.enough, a->stage_at, I(plan->stages * ring_window_bytes(plan)));
    EMIT_IF(b, a->piece.enough, mov_b32, a->stage_at, I(0));
}

void ring_emit_window_rows(const ring_emitter *r, const ring_async *a, mc_reg first, mc_reg place, mc_reg row,
                           mc_reg end, mc_reg to) {
    mc_builder *b = r->at.b;
    if (r->plan->keeps_all) {
        EMIT(b, mov_b32, row, first);
        EMIT(b, mul_s32, end, r->windows, I(r->plan->window));
        if (to.id != place.id) EMIT(b, mov_b32, to, place);
        return;
    }
    EMIT(b, add_s32, row, first, a->stage_row);
    EMIT(b, add_s32, end, a->stage_row, I(r->plan->window));
    EMIT(b, add_s32, to, place, a->stage_at);
}

/* Copies this thread's pieces of the window. */
static void emit_window_pieces(const ring_emitter *r, const ring_async *a, mc_label loop, mc_label copied) {
    mc_builder *b = r->at.b;
    const ring_piece *p = &a->piece;
    ring_emit_window_rows(r, a, a->pieces.first_row, a->to_first, p->row, p->row_end, p->to);
    set_label(b, loop);
    EMIT(b, setp_ge, p->enough, p->row, p->row_end);
    EMIT_IF(b, p->enough, bra, TO(copied));
    emit_piece(r, a);
    EMIT(b, add_s32, p->row, p->row, a->pieces.row_step);
    EMIT(b, add_s32, p->to, p->to, a->to_step);
    EMIT(b, bra, TO(loop));
}

/* Copies this thread's part of the next window. */
static void emit_window(const ring_emitter *r, const ring_async *a, mc_label loop, mc_label copied) {
    mc_builder *b = r->at.b;
    const mc_reg by_elements = a->elements.uses;
    const mc_label elements = by_elements.id ? label(b, name_nth("BY_ELEMENTS", copied.id).text) : copied;
    ring_emit_contiguous(r, &a->contiguous, copied);
    if (by_elements.id) EMIT_IF(b, by_elements, bra_uni, TO(elements));
    if (r->plan->copy != RING_BY_ELEMENTS) emit_window_pieces(r, a, loop, copied);
    if (by_elements.id) set_label(b, elements);
    if (a->elements.count > 0) ring_emit_elements(r, a, copied);
    set_label(b, copied);
    EMIT_BARE(b, cp_async_commit);
}

/* Until all that was asked for is there, of all threads. */
static void emit_await(mc_builder *b) {
    EMIT(b, cp_async_wait, I(0));
    EMIT(b, bar_sync, I(0));
}

/* -- Passing windows ---------------------------------------------------------------------------------- */

static void emit_pass(const ring_feed *f, const char *copy, const char *copied, const char *passed) {
    mc_builder *b = f->r->at.b;
    const ring_async *a = &f->async;
    mc_label copy_label = label(b, copy), copied_label = label(b, copied), passed_label = label(b, passed);
    emit_await(b);
    EMIT(b, add_s32, a->passes, a->passes, I(-1));
    EMIT(b, setp_ge, a->piece.enough, a->copied, f->r->windows);
    EMIT_IF(b, a->piece.enough, bra_uni, TO(passed_label));
    emit_window(f->r, a, copy_label, copied_label);
    emit_next_window(f->r, a);
    set_label(b, passed_label);
}

/* Sets count, the windows that are copied before the first pass, and passes: the first one, and one for each
   later window. */
static void emit_first_windows(const ring_emitter *r, ring_async *a) {
    mc_builder *b = r->at.b;
    int stages = r->plan->stages;
    mc_reg many = a->piece.enough;
    a->copied = carried(b, "copied", I(0));
    a->stage_row = carried(b, "stage_row", I(0));
    a->stage_at = carried(b, "stage_at", I(0));
    a->count = carried(b, "count", r->windows);
    a->passes = carried(b, "passes", I(1));
    EMIT(b, setp_gt, many, r->windows, I(stages));
    EMIT_IF(b, many, mov_b32, a->count, I(stages - 1));
    EMIT_IF(b, many, add_s32, a->passes, r->windows, I(2 - stages));
}

/* Finds B, and this thread's pieces of it. */
static void emit_begin(ring_emitter *r, ring_async *a) {
    mc_builder *b = r->at.b;
    heading(b, "Copy the first windows of B: each thread the same piece of rows that lie row_step apart");
    r->at.b_array = load_array(b, "b");
    spmm_emit_row_bytes(&r->at);
    a->rows = dim_operand(r->at.plan->k, r->k);
    if (r->first_row.id) {
        note(b, "this thread block's part of its rows");
        a->rows = sub_s32(b, "part_rows", a->rows, r->first_row);
        r->at.b_array = mad_wide(b, "part_at", r->first_row, r->at.row_bytes, r->at.b_array);
    }
    emit_pieces(r, a);
}

static void fill(ring_feed *f) {
    ring_emitter *r = f->r;
    ring_async *a = &f->async;
    mc_builder *b = r->at.b;
    mc_label loop = label(b, "FILL"), rows = label(b, "FILL_ROWS"), next = label(b, "FILL_NEXT"),
             filled = label(b, "FILLED");
    emit_begin(r, a);
    emit_first_windows(r, a);
    emit_grid_wait(b, r->at.plan->overlap, "B");
    set_label(b, loop);
    EMIT(b, setp_ge, a->piece.enough, a->copied, a->count);
    EMIT_IF(b, a->piece.enough, bra_uni, TO(filled));
    emit_window(r, a, rows, next);
    emit_next_window(r, a);
    EMIT(b, bra_uni, TO(loop));
    set_label(b, filled);
}

static void begin(ring_feed *f) {
    mc_builder *b = f->r->at.b;
    f->async.again = pred(b, "again");
    note(b, "the first windows are there");
    emit_pass(f, "FIRST_ROWS", "FIRST_NEXT", "FIRST_PASSED");
}

/* Passes as many windows as the control says. */
static void before_stride(const ring_feed *f, mc_reg control, bool first) {
    mc_builder *b = f->r->at.b;
    const ring_async *a = &f->async;
    if (first) return;
    mc_label pass = label(b, "PASS"), done = label(b, "HAVE_PASSED");
    note(b, "pass windows that this row block is done with");
    mc_reg wants = and_b32(b, "wants", control, H(WINDOWED_WANTS_MASK));
    EMIT(b, shr_u32, a->count, wants, I(WINDOWED_LEAVE_SHIFT));
    EMIT(b, min_s32, a->count, a->count, a->passes);
    set_label(b, pass);
    EMIT(b, setp_lt, a->again, a->count, I(1));
    EMIT_IF(b, a->again, bra_uni, TO(done));
    emit_pass(f, "PASS_ROWS", "PASS_NEXT", "PASSED");
    EMIT(b, add_s32, a->count, a->count, I(-1));
    EMIT(b, bra_uni, TO(pass));
    set_label(b, done);
}

/* Passes all other windows. Behind a later row block nothing is left to pass. */
static void rest(const ring_feed *f) {
    mc_builder *b = f->r->at.b;
    const ring_async *a = &f->async;
    mc_label loop = label(b, "REST"), done = label(b, "ALL_PASSED");
    heading(b, "Pass the other windows with the warps that still read them");
    set_label(b, loop);
    EMIT(b, setp_lt, a->again, a->passes, I(1));
    EMIT_IF(b, a->again, bra_uni, TO(done));
    emit_pass(f, "REST_ROWS", "REST_NEXT", "REST_PASSED");
    EMIT(b, bra_uni, TO(loop));
    set_label(b, done);
}

static void turn(ring_feed *f, mc_reg all, mc_label next) {
    (void)all;
    EMIT(f->r->at.b, bra_uni, TO(next));
}

const ring_staging ring_by_async = {
    .fill = fill, .begin = begin, .before_stride = before_stride, .rest = rest, .turn = turn};

/* -- All of B at once --------------------------------------------------------------------------------- */

/* The first thread initialises the barriers of parts that stay. */
static void emit_finisher_init(const ring_emitter *r) {
    mc_builder *b = r->at.b;
    mc_label done = label(b, "INITIALISED");
    EMIT_IF(b, setp_ne(b, "initialises_none", r->at.place.thread, I(0)), bra, TO(done));
    ring_emit_finisher_init(r);
    EMIT_BARE(b, fence_mbarrier_init);
    set_label(b, done);
}

static void fill_all(ring_feed *f) {
    mc_builder *b = f->r->at.b;
    mc_label rows = label(b, "FILL_ROWS"), filled = label(b, "FILLED");
    emit_begin(f->r, &f->async);
    if (ring_finishers(f->r->plan) > 0) emit_finisher_init(f->r);
    emit_grid_wait(b, f->r->at.plan->overlap, "B");
    emit_window(f->r, &f->async, rows, filled);
}

static void begin_all(ring_feed *f) {
    note(f->r->at.b, "the first windows are there");
    emit_await(f->r->at.b);
    ring_emit_parts_begun(f->r);
}

const ring_staging ring_all_at_once = {.fill = fill_all, .begin = begin_all, .turn = turn};
