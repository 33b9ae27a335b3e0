/* What comes to shared memory of the solver `hrpb`: a block of A as it is, and the rows of B of its active
 * columns. All threads copy by cp.async. Of a column that is not there, and beyond n, zeros are written. */
#include "ops/spmm/hrpb/emit.h"
#include "parts/copy.h"

enum { WIDE = 16, NARROW = 4, GROUP = HRPB_GROUP };
static const char *const prefixes[HRPB_WIDTHS] = {"wide_", "narrow_"};

/* -- Rows of B: which pieces are a thread's ----------------------------------------------------------- */

static hrpb_pieces shape_of(const hrpb_plan *plan, int width) {
    const int row = (int)spmm_b_bytes(&plan->base, plan->base.tile_n) / width, threads = plan->base.threads;
    hrpb_pieces p = {.width = width, .columns = 1, .row_step = 1};
    if (threads < row) p.columns = row / threads;
    else p.row_step = threads / row;
    p.step = threads * width;
    p.rows = (plan->block_cols + p.row_step - 1) / p.row_step;
    return p;
}

/* Sets the sizes: bytes of each piece that are inside of n columns; the first one is at byte BYTE of B's
   rows. */
static void find_sizes(hrpb_emitter *e, hrpb_pieces *p, mc_reg byte) {
    mc_builder *b = e->b;
    const int64_t n = e->plan->base.n;
    mc_reg left = b32(b, "bytes_left");
    if (n == MC_OPEN) EMIT(b, shl_b32, left, e->at.n, I(log2_of(NARROW)));
    EMIT(b, sub_s32, left, n == MC_OPEN ? left : I(n * NARROW), byte);
    b32_array(b, "piece_bytes", p->columns, p->size);
    for (int c = 0; c < p->columns; c++) {
        if (c > 0) EMIT(b, add_s32, left, left, I(-p->step));
        EMIT(b, max_s32, p->size[c], left, I(0));
        EMIT(b, min_s32, p->size[c], p->size[c], I(p->width));
    }
}

static void declare_scratch(hrpb_emitter *e, hrpb_pieces *p) {
    mc_builder *b = e->b;
    b32_array(b, "index", p->rows < GROUP ? p->rows : GROUP, p->index);
    p->used = pred(b, "is_active"), p->bytes = b32(b, "bytes");
    p->source = b64(b, "row_from");
}

static void begin_pieces(hrpb_emitter *e, hrpb_pieces *p, int width) {
    mc_builder *b = e->b;
    const hrpb_plan *plan = e->plan;
    *p = shape_of(plan, width);
    const int in_row = (int)spmm_b_bytes(&plan->base, plan->base.tile_n) / width / p->columns;
    mc_reg piece = and_b32(b, "row_piece", e->at.place.thread, I(in_row - 1));
    if (p->row_step > 1) p->row = shr_u32(b, "piece_row", e->at.place.thread, I(log2_of(in_row)));
    mc_reg in_tile = shl_b32(b, "piece_byte", piece, I(log2_of(width)));
    mc_reg byte = mad_s32(b, "b_byte", e->at.tile_col, I(NARROW), in_tile);
    p->from = mad_wide(b, "b_from", byte, I(1), e->at.b_array);
    p->to = add_s32(b, "rows_to", e->rows_shared, in_tile);
    if (p->row.id) p->to = mad_s32(b, "row_to", p->row, I(plan->row_bytes), p->to);
    if (p->row_step > plan->block_cols) p->has = setp_lt(b, "has_piece", p->row, I(plan->block_cols));
    find_sizes(e, p, byte);
    declare_scratch(e, p);
}

/* -- Which width -------------------------------------------------------------------------------------- */

/* Whether rows of B may begin, and surely begin, at multiples of 16 bytes. */
static bool may_be_wide(const spmm_plan *base) {
    return base->ldb == MC_OPEN || base->ldb % (WIDE / NARROW) == 0;
}
static bool is_surely_wide(const spmm_plan *base) {
    return base->ldb != MC_OPEN && may_be_wide(base) && base->align >= WIDE;
}

static void find_width(hrpb_emitter *e, hrpb_copier *c) {
    mc_builder *b = e->b;
    const spmm_plan *base = &e->plan->base;
    note(b, "rows of B are copied 16 bytes at a time where all begin at multiples of these");
    mc_reg bits = carried(b, "odd_bits", e->at.row_bytes);
    if (base->align < WIDE) EMIT(b, or_b32, bits, bits, cvt_low(b, "b_low", e->at.b_array));
    EMIT(b, and_b32, bits, bits, I(WIDE - 1));
    c->is_wide = setp_eq(b, "is_wide", bits, I(0));
}

void spmm_hrpb_begin_copies(hrpb_emitter *e, hrpb_copier *c) {
    mc_builder *b = e->b;
    const spmm_plan *base = &e->plan->base;
    *c = (hrpb_copier){.has = {may_be_wide(base), !is_surely_wide(base)}};
    heading(b, "Which pieces of A's blocks and of rows of B are this thread's");
    mc_reg byte = shl_b32(b, "a_byte", e->at.place.thread, I(log2_of(HRPB_ALIGN)));
    c->a_lane = byte;
    c->a_to = add_s32(b, "a_to", e->block_shared, byte);
    if (c->has[0] && c->has[1]) find_width(e, c);
    for (int i = 0; i < HRPB_WIDTHS; i++) {
        b->prefix = prefixes[i];
        if (c->has[i]) begin_pieces(e, &c->pieces[i], i == 0 ? WIDE : NARROW);
    }
    b->prefix = NULL;
}

/* -- Copies ------------------------------------------------------------------------------------------- */

static void copy_block(hrpb_emitter *e, const hrpb_copier *c) {
    mc_builder *b = e->b;
    const int each = e->plan->base.threads * HRPB_ALIGN;
    note(b, "the block of A");
    mc_reg start = ldg_b32(b, "block_start", AT(e->size_at, 0)),
           end = ldg_b32(b, "block_end", AT(e->size_at, WORD));
    mc_reg bytes = sub_s32(b, "block_bytes", end, start);
    mc_reg from = mad_wide(b, "a_from", add_s32(b, "a_at", start, c->a_lane), I(1), e->packed);
    mc_reg there = carried(b, "a_next", c->a_lane), is_in = pred(b, "is_in_block");
    for (int at = 0; at < e->plan->block_bytes; at += each) {
        if (at > 0) EMIT(b, add_s32, there, there, I(each));
        EMIT(b, setp_lt, is_in, there, bytes);
        copy_async(b, HRPB_ALIGN, (copy_piece){.guard = is_in, .to = AT(c->a_to, at), .from = AT(from, at)});
    }
}

/* Rows FIRST to FIRST + COUNT - 1 of the thread's, whose indices lie at COLUMNS. */
static void copy_rows(hrpb_emitter *e, const hrpb_pieces *p, mc_reg columns, int first, int count) {
    mc_builder *b = e->b;
    for (int i = 0; i < count; i++) {
        if (p->has.id) EMIT(b, mov_b32, p->index[i], I(-1));
        EMIT_IF(b, p->has, ldg_b32, p->index[i], AT(columns, (int64_t)(first + i) * p->row_step * WORD));
    }
    for (int i = 0; i < count; i++) {
        const int64_t to = (int64_t)(first + i) * p->row_step * e->plan->row_bytes;
        EMIT(b, setp_ge, p->used, p->index[i], I(0));
        EMIT(b, max_s32, p->index[i], p->index[i], I(0));
        EMIT(b, mad_wide, p->source, p->index[i], e->at.row_bytes, p->from);
        for (int c = 0; c < p->columns; c++) {
            EMIT(b, selp_b32, p->bytes, p->size[c], I(0), p->used);
            copy_async(b, p->width,
                       (copy_piece){.guard = p->has,
                                    .to = AT(p->to, to + c * p->step),
                                    .from = AT(p->source, c * p->step),
                                    .size = p->bytes});
        }
    }
}

static void copy_pieces_of_rows(hrpb_emitter *e, const hrpb_pieces *p) {
    mc_builder *b = e->b;
    mc_reg columns = e->columns_at;
    if (p->row.id) columns = mad_wide(b, "index_at", p->row, I(WORD), e->columns_at);
    for (int first = 0; first < p->rows; first += GROUP)
        copy_rows(e, p, columns, first, p->rows - first < GROUP ? p->rows - first : GROUP);
}

void spmm_hrpb_emit_copies(hrpb_emitter *e, const hrpb_copier *c) {
    mc_builder *b = e->b;
    mc_label narrow = label(b, "NARROW"), copied = label(b, "COPIED");
    copy_block(e, c);
    note(b, "the rows of B of its active columns");
    if (c->is_wide.id) EMIT_IF(b, NOT(c->is_wide), bra_uni, TO(narrow));
    for (int i = 0; i < HRPB_WIDTHS; i++) {
        b->prefix = prefixes[i];
        if (c->has[i]) copy_pieces_of_rows(e, &c->pieces[i]);
        if (i == 0 && c->is_wide.id) EMIT(b, bra_uni, TO(copied));
        if (i == 0) set_label(b, narrow);
    }
    b->prefix = NULL;
    set_label(b, copied);
}
