/* Stages of A and B on their way to shared memory. All threads copy: each has the same piece of lines of a
 * side that lie a fixed number of lines apart. Lines are those of memory: rows of A, and columns of B or,
 * where B lies by rows, its rows.
 *
 *   whole     a stage inside of k. Pieces of 16 bytes are copied as they are; of lines that are none of the
 *             matrix's, rows beyond m and columns beyond n, zeros are written
 *   by line   all others (lines.c): a stage that k ends in, of a B by rows a tile that n ends in, and all
 *             stages where rows begin at no multiples of 16 bytes. They stand behind the kernel's end, in a
 *             loop: ptxas would make one path of both kinds otherwise */
#include "ops/gemm/mma/mma.h"

/* -- Begin -------------------------------------------------------------------------------------------- */

/* The number of the thread's piece of a line, and its first line, as sides have them. */
typedef struct thread_piece {
    mc_reg line, byte, element;
} thread_piece;

static thread_piece piece_of(const mma_kernel *g, const mma_copier *c) {
    mc_builder *b = g->b;
    int log = log2_of(c->share.pieces), bytes = c->tile->bytes;
    note(b, "of %s a thread copies %d bytes, piece thread mod %d of lines thread / %d + %d i", c->name,
         c->share.width, c->share.pieces, c->share.pieces, c->share.step);
    thread_piece p = {.line = shr_u32(b, "line", g->place.thread, I(log))};
    mc_reg piece = and_b32(b, "piece", g->place.thread, I(c->share.pieces - 1));
    p.byte = shl_b32(b, "byte", piece, I(log2_of(c->share.width)));
    p.element = bytes == 1 ? p.byte : shr_u32(b, "element", p.byte, I(log2_of(bytes)));
    return p;
}

/* Where the piece lies in memory: LINE and ELEMENT are the matrix's. */
static void place_source(const mma_kernel *g, mma_copier *c, mc_operand ld, mc_reg line, mc_reg element) {
    mc_builder *b = g->b;
    int log = log2_of(c->tile->bytes), k = c->tile->k;
    mc_reg array = load_array(b, c->name);
    mc_reg at = mad_wide(b, "at", element, I(1), mul_wide(b, "row_at", line, ld));
    mc_reg first = log ? shl_b64(b, "from_bytes", at, I(log)) : at;
    c->from = carried_b64(b, "from", add_s64(b, "from_first", first, array));
    c->step = mul_wide(b, "line_step", ld, I((int64_t)c->share.step * c->tile->bytes));
    if (c->tile->mn_major) c->stage = mul_wide(b, "stage_step", ld, I((int64_t)k * c->tile->bytes));
}

/* Where it goes in stage 0. */
static void place_target(const mma_kernel *g, mma_copier *c, const thread_piece *p) {
    mc_builder *b = g->b;
    const shared_tile *tile = c->tile;
    mc_reg byte = p->byte;
    mc_reg at = mad_s32(b, "to_line", p->line, I(tile->span), g->shared);
    if (tile_panels(tile) > 1) {
        mc_reg panel = shr_u32(b, "panel", byte, I(log2_of(tile->span)));
        at = mad_s32(b, "to_panel", panel, I(tile_panel(tile)), at);
        byte = and_b32(b, "panel_byte", byte, I(tile->span - 1));
    }
    mc_reg key = mma_emit_key(b, "key", c->key, p->line);
    c->to = add_s32(b, "to", at, xor_b32(b, "to_byte", byte, key));
}

/* How many lines and elements there are from the thread's first ones on. */
static void count_left(const mma_kernel *g, mma_copier *c, mc_reg line, mc_reg element) {
    mc_builder *b = g->b;
    bool mn = c->tile->mn_major;
    mc_reg others = c->name[0] == 'a' ? g->m : g->n;
    mc_reg lines = sub_s32(b, "lines_there", mn ? g->k_held : others, line);
    mc_reg elements = sub_s32(b, "elements_there", mn ? others : g->k_held, element);
    c->lines_left = mn ? carried(b, "lines_left", lines) : lines;
    c->left = mn ? elements : carried(b, "left", elements);
}

static bool divides(int64_t fixed, int size) { return fixed != MC_OPEN && fixed % size == 0; }

/* The side's leading dimension, as mma_held counts. */
static mc_operand leading(const mma_kernel *g, bool is_b) {
    const gemm_problem *p = &g->plan->problem;
    int64_t fixed = is_b ? p->ldb : p->lda;
    int held = mma_held(g->plan);
    mc_reg none = {0};
    if (fixed != MC_OPEN) return dim_operand(fixed / held, none);
    mc_reg ld = ld_param_s32(g->b, "ld", NAME(is_b ? "ldb" : "lda"));
    return dim_operand(MC_OPEN, held > 1 ? shr_u32(g->b, "ld_bytes", ld, I(log2_of(held))) : ld);
}

static void begin_side(mma_feed *f, bool is_b) {
    const mma_kernel *g = f->g;
    const gemm_problem *p = &g->plan->problem;
    mc_builder *b = g->b;
    mma_copier *c = &f->sides[is_b];
    *c = (mma_copier){.name = is_b ? "b" : "a", .tile = is_b ? &g->rhs : &g->lhs};
    b->prefix = is_b ? "b_" : "a_";
    c->share = mma_share_of(g->plan, c->tile), c->key = mma_key_of(c->tile);
    c->at = is_b ? tile_bytes(&g->lhs) : 0;
    c->all_lines = c->tile->mn_major || divides(is_b ? p->n : p->m, c->tile->rows);
    mc_operand ld = leading(g, is_b);
    const thread_piece piece = piece_of(g, c);
    mc_reg first = is_b ? g->column : g->row;
    mc_reg line = c->tile->mn_major ? piece.line : add_s32(b, "memory_line", first, piece.line);
    mc_reg element = c->tile->mn_major ? add_s32(b, "column", first, piece.element) : piece.element;
    place_source(g, c, ld, line, element);
    place_target(g, c, &piece);
    count_left(g, c, line, element);
    c->target = b32(b, "target"), c->part = b32(b, "target_part"), c->inside = pred(b, "inside");
    c->next = b64(b, "next"), c->size = b32(b, "size");
    mma_declare_lines(b, c, g->plan);
    b->prefix = NULL;
}

void mma_begin_feed(mma_feed *f, const mma_kernel *g) {
    const gemm_problem *p = &g->plan->problem;
    mc_builder *b = g->b;
    *f = (mma_feed){.g = g};
    if (p->sparse) mma_begin_packed(f);
    else begin_side(f, false);
    begin_side(f, true);
    f->left = carried(b, "k_left", g->k);
    f->fill = carried(b, "fill", I(0));
    f->wraps = pred(b, "fill_wraps"), f->whole = pred(b, "whole"), f->edge = pred(b, "edge");
    if (!p->b_rows || divides(p->n, g->plan->tile_n)) return;
    mc_reg columns = sub_s32(b, "columns_left", g->n, g->column);
    f->whole_columns = setp_ge(b, "whole_columns", columns, I(g->plan->tile_n));
}

/* -- Whole stages ------------------------------------------------------------------------------------- */

/* Where the thread's I-th piece goes, and comes from; those before it have been asked for. */
static mc_operand target_of(const mma_feed *f, const mma_copier *c, int i) {
    int line = i * c->share.step, key = mma_key_bytes(c->key, line);
    mc_reg to = c->target;
    if (key) EMIT(f->g->b, xor_b32, to = c->part, c->target, I(key));
    return AT(to, c->at + line * c->tile->span);
}

static mc_operand source_of(const mma_feed *f, const mma_copier *c, int i) {
    if (i > 0) EMIT(f->g->b, add_s64, c->next, i > 1 ? c->next : c->from, c->step);
    return AT(i > 0 ? c->next : c->from, 0);
}

/* Pieces I to END - 1. */
static void copy_whole(const mma_feed *f, const mma_copier *c, int i, int end) {
    mc_builder *b = f->g->b;
    int width = c->share.width;
    if (i == 0) EMIT(b, add_s32, c->target, c->to, f->fill);
    for (; i < end; i++) {
        copy_piece piece = {.guard = f->whole, .to = target_of(f, c, i), .from = source_of(f, c, i)};
        if (!c->all_lines) {
            EMIT(b, setp_gt, c->inside, c->lines_left, I((int64_t)i * c->share.step));
            EMIT(b, selp_b32, c->size, I(width), I(0), c->inside);
            piece.size = c->size;
        }
        copy_async(b, width, piece);
    }
}

/* -- A stage ------------------------------------------------------------------------------------------ */

static bool is_async(const mma_plan *plan) { return !mma_by_element(plan) || plan->problem.sparse; }

/* Whether stages are copied by the line, whole or not. */
static bool by_line(const mma_feed *f) { return f->g->plan->copy != COPY_WIDEST; }

/* Whether all of the next stage is there. */
static void look_ahead(const mma_feed *f) {
    mc_builder *b = f->g->b;
    int k = mma_stage_k(f->g->plan);
    if (f->whole_columns.id) EMIT(b, setp_ge_and, f->whole, f->left, I(k), f->whole_columns);
    else EMIT(b, setp_ge, f->whole, f->left, I(k));
}

/* Sets `edge`: whether there is a stage that is to be copied by the line. */
static void find_edge(const mma_feed *f) {
    mc_builder *b = f->g->b;
    EMIT(b, setp_gt, f->edge, f->left, I(0));
    if (!by_line(f)) EMIT_IF(b, f->whole, setp_gt, f->edge, I(0), I(0));
}

static void copy_all_whole(const mma_feed *f, int part, int parts) {
    if (part == 0) look_ahead(f);
    if (part == 0 && f->g->plan->problem.sparse) mma_copy_packed(f, f->whole);
    for (int side = mma_first_side(f); side < MMA_SIDES; side++) {
        const mma_copier *c = &f->sides[side];
        int count = c->share.count;
        copy_whole(f, c, count * part / parts, count * (part + 1) / parts);
    }
}

static void end_stage(const mma_feed *f) {
    mc_builder *b = f->g->b;
    const mma_plan *plan = f->g->plan;
    if (is_async(plan)) EMIT_BARE(b, cp_async_commit);
    note(b, "on to the next stage, which lies where the first one does behind the last");
    for (int side = mma_first_side(f); side < MMA_SIDES; side++) {
        const mma_copier *c = &f->sides[side];
        bool mn = c->tile->mn_major;
        mc_reg shrinks = mn ? c->lines_left : c->left;
        EMIT(b, add_s64, c->from, c->from, mn ? c->stage : I((int64_t)c->tile->k * c->tile->bytes));
        EMIT(b, add_s32, shrinks, shrinks, I(-c->tile->k));
    }
    if (plan->problem.sparse) mma_next_packed(f);
    EMIT(b, add_s32, f->left, f->left, I(-mma_stage_k(plan)));
    EMIT(b, add_s32, f->fill, f->fill, I(mma_stage_bytes(plan)));
    EMIT(b, setp_eq, f->wraps, f->fill, I(mma_shared_bytes(plan)));
    EMIT_IF(b, f->wraps, mov_b32, f->fill, I(0));
}

void mma_feed_part(const mma_feed *f, int part, int parts) {
    if (!by_line(f)) copy_all_whole(f, part, parts);
}

void mma_feed_end(mma_feed *f) {
    mc_builder *b = f->g->b;
    f->lines = label(b, "LINES"), f->copied = label(b, "COPIED");
    find_edge(f);
    EMIT_IF(b, f->edge, bra_uni, TO(f->lines));
    set_label(b, f->copied);
    end_stage(f);
}

void mma_emit_lines(const mma_feed *f) {
    mc_builder *b = f->g->b;
    heading(b, by_line(f) ? "Copies of a stage, line by line"
                          : "Copies of a stage that the matrices end in, line by line");
    set_label(b, f->lines);
    mma_copy_lines(f, false);
    EMIT(b, bra_uni, TO(f->copied));
}

void mma_fill(mma_feed *f) {
    mc_builder *b = f->g->b;
    mc_label fill = label(b, "FILL"), filled = label(b, "FILLED");
    mc_reg turn = carried(b, "fill_turn", I(f->g->plan->stages - 1)), more = pred(b, "fill_more");
    note(b, "all stages but one are on their way before the first product");
    set_label(b, fill);
    mma_feed_part(f, 0, 1);
    find_edge(f);
    EMIT_IF(b, NOT(f->edge), bra_uni, TO(filled));
    mma_copy_lines(f, true);
    set_label(b, filled);
    end_stage(f);
    EMIT(b, add_s32, turn, turn, I(-1));
    EMIT(b, setp_gt, more, turn, I(0));
    EMIT_IF(b, more, bra_uni, TO(fill));
}

void mma_await(const mma_feed *f, int pending) {
    if (is_async(f->g->plan)) EMIT(f->g->b, cp_async_wait, I(pending));
    EMIT(f->g->b, bar_sync, I(0));
}
