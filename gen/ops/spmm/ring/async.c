/* The ring kernel's copies with staging "async", where no warp has copying for its job. All threads copy a
 * window together by cp.async, and the thread block passes from window to window together:
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
#include "parts/windowed.h"

enum { ROW_OF_BANKS = 128, WIDEST = 16 };

/* -- How wide a copy is ------------------------------------------------------------------------------- */

/* Finds out at launch how wide copies are: the widest of 16, 8 and 4 bytes that B's address and ldb are
   multiples of. */
static void emit_width(ring_emitter *r) {
    mc_builder *b = r->e.b;
    const ring_plan *plan = r->plan;
    ring_async *a = &r->async;
    mc_reg bits = b32(b, "odd_bits"), low = b32(b, "low_bits"), odd = pred(b, "odd_copy");
    mc_reg log = b32(b, "log_width"), pieces = b32(b, "log_pieces"), width = b32(b, "width");
    note(b, "the widest copy that B's address and ldb allow: 2^log_width bytes");
    EMIT(b, mov_b32, bits, r->e.row_bytes);
    if (plan->base.align < WIDEST) {
        EMIT(b, cvt_low, low, r->e.b_array);
        EMIT(b, or_b32, bits, bits, low);
    }
    EMIT(b, mov_b32, log, I(4));
    for (int next = 3; next >= 2; next--) {
        EMIT(b, and_b32, low, bits, I((2 << next) - 1));
        EMIT(b, setp_ne, odd, low, I(0));
        EMIT_IF(b, odd, mov_b32, log, I(next));
    }
    EMIT(b, sub_s32, pieces, I(log2_of(ring_row_bytes(plan))), log);
    EMIT(b, mov_b32, width, I(1));
    EMIT(b, shl_b32, width, width, log);
    pred_array(b, "wide", RING_WIDTHS, a->wide);
    for (int i = 0; i < RING_WIDTHS; i++) EMIT(b, setp_eq, a->wide[i], log, I(4 - i));
    a->log_width = log, a->log_pieces = pieces, a->width = width;
}

static void settle_width(ring_emitter *r) {
    const ring_plan *plan = r->plan;
    int log = log2_of(plan->copy);
    r->async.log_width = I(log);
    r->async.log_pieces = I(log2_of(ring_row_bytes(plan)) - log);
    r->async.width = I(plan->copy);
}

/* -- What a thread copies ----------------------------------------------------------------------------- */

static void declare_async(ring_emitter *r) {
    mc_builder *b = r->e.b;
    r->async = (ring_async){.inside = b32(b, "inside"),
                            .unit = b32(b, "unit"),
                            .row_step = b32(b, "row_step"),
                            .to_step = b32(b, "to_step"),
                            .first = b32(b, "first_row"),
                            .to_first = b32(b, "to_first"),
                            .from = b64(b, "from"),
                            .copied = b32(b, "copied"),
                            .passes = b32(b, "passes"),
                            .stage_row = b32(b, "stage_row"),
                            .stage_at = b32(b, "stage_at"),
                            .row = b32(b, "row"),
                            .row_end = b32(b, "row_end"),
                            .to = b32(b, "to"),
                            .at = b32(b, "to_at"),
                            .bytes = b32(b, "bytes"),
                            .address = b64(b, "address"),
                            .beyond = pred(b, "beyond"),
                            .enough = pred(b, "enough")};
}

/* The bytes that COLUMNS columns of B have. */
static mc_operand in_bytes(ring_emitter *r, const char *name, mc_operand columns) {
    mc_builder *b = r->e.b;
    int bytes = spmm_b_unit(&r->plan->base);
    if (bytes == 1) return columns;
    if (columns.kind == PTX_IMM) return I(columns.imm * bytes);
    mc_reg reg = b32(b, name);
    EMIT(b, mul_s32, reg, columns, I(bytes));
    return reg;
}

/* A thread's copies of a window: always the same piece of a row, of every row_step-th row. */
static void emit_share(ring_emitter *r) {
    mc_builder *b = r->e.b;
    const ring_plan *plan = r->plan;
    ring_async *a = &r->async;
    mc_reg piece = b32(b, "piece"), column = b32(b, "column"), test = a->enough;
    EMIT(b, shr_u32, a->first, r->e.place.thread, a->log_pieces);
    EMIT(b, shl_b32, piece, a->first, a->log_pieces);
    EMIT(b, sub_s32, piece, r->e.place.thread, piece);
    EMIT(b, shl_b32, piece, piece, a->log_width);
    EMIT(b, mov_b32, a->row_step, I(plan->base.threads));
    EMIT(b, shr_u32, a->row_step, a->row_step, a->log_pieces);
    EMIT(b, mul_s32, a->to_step, a->row_step, I(ring_row_bytes(plan)));
    EMIT(b, add_s32, column, in_bytes(r, "tile_byte", r->e.tile_col), piece);
    EMIT(b, mad_wide, a->from, column, I(1), r->e.b_array);
    note(b, "so many of the piece's bytes lie inside n");
    EMIT(b, sub_s32, a->inside, in_bytes(r, "n_bytes", dim_operand(plan->base.n, r->e.n)), column);
    EMIT(b, min_s32, a->inside, a->inside, a->width);
    EMIT(b, setp_lt, test, a->inside, I(0));
    EMIT_IF(b, test, mov_b32, a->inside, I(0));
    note(b, "where it goes: its 16-byte unit is swizzled, what it is of the unit is not");
    EMIT(b, and_b32, a->unit, piece, H(0xf0));
    EMIT(b, sub_s32, piece, piece, a->unit);
    EMIT(b, mad_s32, a->to_first, a->first, I(ring_row_bytes(plan)), piece);
    EMIT(b, add_s32, a->to_first, a->to_first, r->ring_at);
}

/* -- A window ----------------------------------------------------------------------------------------- */

static void emit_cp_async(ring_emitter *r) {
    mc_builder *b = r->e.b;
    ring_async *a = &r->async;
    static const mc_opcode ops[RING_WIDTHS] = {OP_cp_async_unit, OP_cp_async_narrow, OP_cp_async_narrow};
    for (int i = 0; i < RING_WIDTHS; i++) {
        int bytes = WIDEST >> i;
        if (r->plan->copy && r->plan->copy != bytes) continue;
        builder_emit(b, a->wide[i], ops[i], MC_OPERANDS(AT(a->at, 0), AT(a->address, 0), I(bytes), a->bytes));
    }
}

/* Copies the thread's piece of a row. Its unit goes where windowed_place says: a row of 128 bytes of shared
   memory has `rows` rows of B, and the unit's number is changed, by xor, by the number of that row of 128
   bytes modulo a row's units. */
static void emit_piece(ring_emitter *r) {
    mc_builder *b = r->e.b;
    const ring_plan *plan = r->plan;
    ring_async *a = &r->async;
    int rows = ROW_OF_BANKS / ring_row_bytes(plan), units = ring_row_bytes(plan) / WINDOWED_UNIT;
    EMIT(b, mov_b32, a->bytes, a->inside);
    EMIT(b, setp_ge, a->beyond, a->row, dim_operand(plan->base.k, r->k));
    EMIT_IF(b, a->beyond, mov_b32, a->bytes, I(0));
    EMIT(b, shl_b32, a->at, a->row, I(log2_of(WINDOWED_UNIT / rows)));
    EMIT(b, and_b32, a->at, a->at, H((unsigned)((units - 1) * WINDOWED_UNIT)));
    EMIT(b, xor_b32, a->at, a->at, a->unit);
    EMIT(b, add_s32, a->at, a->at, a->to);
    EMIT(b, mad_wide, a->address, a->row, r->e.row_bytes, a->from);
    emit_cp_async(r);
}

/* Copies this thread's pieces of the next window, and moves on to the window behind it. */
static void emit_window(ring_emitter *r, mc_label loop, mc_label copied) {
    mc_builder *b = r->e.b;
    const ring_plan *plan = r->plan;
    ring_async *a = &r->async;
    EMIT(b, add_s32, a->row, a->first, a->stage_row);
    EMIT(b, add_s32, a->row_end, a->stage_row, I(plan->window));
    EMIT(b, add_s32, a->to, a->to_first, a->stage_at);
    set_label(b, loop);
    EMIT(b, setp_ge, a->enough, a->row, a->row_end);
    EMIT_IF(b, a->enough, bra, TO(copied));
    emit_piece(r);
    EMIT(b, add_s32, a->row, a->row, a->row_step);
    EMIT(b, add_s32, a->to, a->to, a->to_step);
    EMIT(b, bra, TO(loop));
    set_label(b, copied);
    EMIT_BARE(b, cp_async_commit);
    EMIT(b, add_s32, a->copied, a->copied, I(1));
    EMIT(b, add_s32, a->stage_row, a->stage_row, I(plan->window));
    EMIT(b, add_s32, a->stage_at, a->stage_at, I(ring_window_bytes(plan)));
    EMIT(b, setp_eq, a->enough, a->stage_at, I(plan->stages * ring_window_bytes(plan)));
    EMIT_IF(b, a->enough, mov_b32, a->stage_at, I(0));
}

/* -- Passing windows ---------------------------------------------------------------------------------- */

static void emit_pass(ring_emitter *r, const char *copy, const char *copied, const char *passed) {
    mc_builder *b = r->e.b;
    ring_async *a = &r->async;
    mc_label copy_label = label(b, copy), copied_label = label(b, copied), passed_label = label(b, passed);
    EMIT(b, cp_async_wait, I(0));
    EMIT(b, bar_sync, I(0));
    EMIT(b, add_s32, a->passes, a->passes, I(-1));
    EMIT(b, setp_ge, a->enough, a->copied, r->windows);
    EMIT_IF(b, a->enough, bra_uni, TO(passed_label));
    emit_window(r, copy_label, copied_label);
    set_label(b, passed_label);
}

/* Sets count, the windows that are copied before the first pass, and passes: the first one, and one for each
   later window. */
static void emit_first_windows(ring_emitter *r) {
    mc_builder *b = r->e.b;
    ring_async *a = &r->async;
    int stages = r->plan->stages;
    EMIT(b, mov_b32, a->copied, I(0));
    EMIT(b, mov_b32, a->stage_row, I(0));
    EMIT(b, mov_b32, a->stage_at, I(0));
    EMIT(b, mov_b32, r->count, r->windows);
    EMIT(b, mov_b32, a->passes, I(1));
    EMIT(b, setp_gt, a->enough, r->windows, I(stages));
    EMIT_IF(b, a->enough, mov_b32, r->count, I(stages - 1));
    EMIT_IF(b, a->enough, add_s32, a->passes, r->windows, I(2 - stages));
}

void ring_emit_async_fill(ring_emitter *r) {
    mc_builder *b = r->e.b;
    mc_label fill = label(b, "FILL"), rows = label(b, "FILL_ROWS"), next = label(b, "FILL_NEXT"),
             filled = label(b, "FILLED");
    heading(b, "Copy the first windows of B: each thread the same piece of rows that lie row_step apart");
    r->e.b_array = load_array(b, "b");
    spmm_emit_row_bytes(&r->e);
    declare_async(r);
    if (r->plan->copy) settle_width(r);
    else emit_width(r);
    emit_share(r);
    emit_first_windows(r);
    emit_grid_wait(r->e.b, r->plan->base.overlap, "B");
    set_label(b, fill);
    EMIT(b, setp_ge, r->async.enough, r->async.copied, r->count);
    EMIT_IF(b, r->async.enough, bra_uni, TO(filled));
    emit_window(r, rows, next);
    EMIT(b, bra_uni, TO(fill));
    set_label(b, filled);
}

void ring_emit_async_start(ring_emitter *r) {
    note(r->e.b, "the first windows are there");
    emit_pass(r, "FIRST_ROWS", "FIRST_NEXT", "FIRST_PASSED");
}

void ring_emit_async_control(ring_emitter *r) {
    mc_builder *b = r->e.b;
    ring_async *a = &r->async;
    mc_label pass = label(b, "PASS"), done = label(b, "HAVE_PASSED");
    note(b, "pass windows that this row block is done with");
    ring_emit_wants(r);
    EMIT(b, shr_u32, r->count, r->wants, I(WINDOWED_LEAVE_SHIFT));
    EMIT(b, min_s32, r->count, r->count, a->passes);
    set_label(b, pass);
    EMIT(b, setp_lt, r->again, r->count, I(1));
    EMIT_IF(b, r->again, bra_uni, TO(done));
    emit_pass(r, "PASS_ROWS", "PASS_NEXT", "PASSED");
    EMIT(b, add_s32, r->count, r->count, I(-1));
    EMIT(b, bra_uni, TO(pass));
    set_label(b, done);
}

void ring_emit_async_rest(ring_emitter *r) {
    mc_builder *b = r->e.b;
    mc_label rest = label(b, "REST"), done = label(b, "ALL_PASSED");
    heading(b, "Pass the other windows with the warps that still read them");
    set_label(b, rest);
    EMIT(b, setp_lt, r->again, r->async.passes, I(1));
    EMIT_IF(b, r->again, bra_uni, TO(done));
    emit_pass(r, "REST_ROWS", "REST_NEXT", "REST_PASSED");
    EMIT(b, bra_uni, TO(rest));
    set_label(b, done);
}
