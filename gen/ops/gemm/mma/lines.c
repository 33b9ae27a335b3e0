/* Copies of a stage line by line, in a loop that takes a few lines of the thread's at a time:
 *
 *   pieces     by cp.async, of pieces of 4 and 8 bytes, and of all stages that the matrices end in. A piece
 *              has as many bytes as there are, and the rest becomes zeros
 *   elements   of rows that begin anywhere. Elements are loaded one by one, if they are there, and go to
 *              shared memory by the word, one of each line
 *
 * Of 4 bits two elements are copied as one of a byte. Where k is odd the last byte of a line has half an
 * element too much. That half of A's bytes is cleared in shared memory, so that it does not matter what B has
 * there. */
#include "ops/gemm/mma/mma.h"

enum { AT_ONCE = 4, PATTERN = 8 /* lines behind which keys repeat */ };
enum { LOW_HALF = 0xf };

static int elements_of(const mma_copier *c) { return WORD / c->tile->bytes; }

/* Lines of a turn of the loop, so that the next ones lie as these do. */
static int at_once(const mma_copier *c) {
    int lines = c->share.step < PATTERN ? PATTERN / c->share.step : 1;
    if (lines < AT_ONCE && c->share.width < COPY_WIDEST) lines = AT_ONCE;
    return lines < c->share.count ? lines : c->share.count;
}

/* Whether A's lines may end with half a byte that is none of theirs. A packed A's never do. */
static bool may_clear(const mma_plan *plan) {
    int64_t k = plan->problem.k;
    return plan->form.two_in_byte && !plan->problem.sparse && (k == MC_OPEN || k % 2 != 0);
}

void mma_declare_lines(mc_builder *b, mma_copier *c, const mma_plan *plan) {
    bool elements = mma_by_element(plan);
    c->by_line.lines = b32(b, "lines"), c->by_line.turns = b32(b, "turns");
    c->by_line.again = pred(b, "again"), c->by_line.line = b64(b, "line_from");
    if (elements)
        b32_array(b, "one", at_once(c) * elements_of(c), c->by_line.elements),
            c->by_line.there = pred(b, "there");
    else c->by_line.bytes = b32(b, "piece_bytes"), c->by_line.line_bytes = b32(b, "line_bytes");
    if (c->name[0] == 'a' && may_clear(plan)) {
        c->by_line.last = b32(b, "last_byte"), c->by_line.half = b32(b, "half");
        c->by_line.odd = pred(b, "k_is_odd"), c->by_line.ends = pred(b, "ends");
    }
}

/* Line I of those at hand lies `offset_of` bytes behind the address in this register. */
static mc_reg base_of(mc_builder *b, const mma_copier *c, int i) {
    int key = mma_key_bytes(c->key, i * c->share.step);
    mc_reg to = c->target;
    if (key) EMIT(b, xor_b32, to = c->part, c->target, I(key));
    return to;
}

static int64_t offset_of(const mma_copier *c, int i) { return c->at + i * c->share.step * c->tile->span; }

static mc_operand target_of(mc_builder *b, const mma_copier *c, int i) {
    return AT(base_of(b, c, i), offset_of(c, i));
}

/* -- Pieces ------------------------------------------------------------------------------------------- */

/* The bytes of the thread's pieces that lie inside of lines. */
static void count_bytes(mc_builder *b, const mma_copier *c) {
    int log = log2_of(c->tile->bytes);
    EMIT(b, max_s32, c->by_line.bytes, c->left, I(0));
    EMIT(b, min_s32, c->by_line.bytes, c->by_line.bytes, I(c->share.width >> log));
    if (log) EMIT(b, shl_b32, c->by_line.bytes, c->by_line.bytes, I(log));
}

static void copy_some(mc_builder *b, const mma_copier *c, int lines) {
    for (int i = 0; i < lines; i++) {
        EMIT(b, setp_gt, c->inside, c->by_line.lines, I((int64_t)i * c->share.step));
        EMIT(b, selp_b32, c->by_line.line_bytes, c->by_line.bytes, I(0), c->inside);
        copy_async(b, c->share.width,
                   (copy_piece){.to = target_of(b, c, i),
                                .from = AT(c->by_line.line, 0),
                                .size = c->by_line.line_bytes});
        EMIT(b, add_s64, c->by_line.line, c->by_line.line, c->step);
    }
}

/* -- Elements ----------------------------------------------------------------------------------------- */

/* The elements of line I of those at hand; what is not there is zero. */
static void load_line(mc_builder *b, const mma_copier *c, int i) {
    int count = elements_of(c), bytes = c->tile->bytes;
    EMIT(b, setp_gt, c->inside, c->by_line.lines, I((int64_t)i * c->share.step));
    for (int j = 0; j < count; j++) {
        mc_reg element = c->by_line.elements[i * count + j];
        EMIT(b, mov_b32, element, I(0));
        EMIT(b, setp_lt_and, c->by_line.there, I(j), c->left, c->inside);
        if (bytes == 1) EMIT_IF(b, c->by_line.there, ldg_u8, element, AT(c->by_line.line, j));
        else EMIT_IF(b, c->by_line.there, ldg_u16, element, AT(c->by_line.line, (int64_t)j * bytes));
    }
    EMIT(b, add_s64, c->by_line.line, c->by_line.line, c->step);
}

static void store_line(mc_builder *b, const mma_copier *c, int i) {
    int count = elements_of(c);
    const mc_reg *elements = &c->by_line.elements[i * count];
    for (int j = 1; j < count; j++) {
        EMIT(b, shl_b32, elements[j], elements[j], I(j * 8 * c->tile->bytes));
        EMIT(b, or_b32, elements[0], elements[0], elements[j]);
    }
    mc_operand to = target_of(b, c, i);
    EMIT(b, sts_b32, to, elements[0]);
}

static void copy_ones(mc_builder *b, const mma_copier *c, int lines) {
    for (int i = 0; i < lines; i++) load_line(b, c, i);
    for (int i = 0; i < lines; i++) store_line(b, c, i);
}

/* -- Halves of bytes ---------------------------------------------------------------------------------- */

/* Of the last bytes of some of the thread's lines the high halves. */
static void clear_some(mc_builder *b, const mma_copier *c, int lines) {
    for (int i = 0; i < lines; i++) {
        EMIT(b, add_s32, c->part, base_of(b, c, i), c->by_line.last);
        mc_operand at = AT(c->part, offset_of(c, i));
        EMIT_IF(b, c->by_line.ends, lds_u8, c->by_line.half, at);
        EMIT(b, and_b32, c->by_line.half, c->by_line.half, I(LOW_HALF));
        EMIT_IF(b, c->by_line.ends, sts_b8, at, c->by_line.half);
    }
}

/* Sets `odd`: whether k is odd and ends in the stage that is copied; and `ends`, whether it does in the
   thread's piece. */
static void find_last(const mma_feed *f, const mma_copier *c) {
    mc_builder *b = f->g->b;
    EMIT(b, and_b32, c->by_line.last, f->left, I(1));
    EMIT(b, setp_eq, c->by_line.odd, c->by_line.last, I(1));
    EMIT(b, setp_lt_and, c->by_line.odd, f->left, I(mma_stage_k(f->g->plan)), c->by_line.odd);
    EMIT(b, add_s32, c->by_line.last, c->left, I(-1));
    EMIT(b, setp_lt_u32, c->by_line.ends, c->by_line.last, I(c->share.width));
    EMIT(b, mov_b32, c->by_line.half, I(0));
}

/* -- A stage ------------------------------------------------------------------------------------------ */

typedef void lines_work(mc_builder *b, const mma_copier *c, int lines);

/* WORK on all of the thread's lines of a stage, from AGAIN on. */
static void for_lines(const mma_feed *f, const mma_copier *c, mc_label again, lines_work *work) {
    mc_builder *b = f->g->b;
    int lines = at_once(c), step = lines * c->share.step;
    EMIT(b, add_s32, c->target, c->to, f->fill);
    EMIT(b, mov_b64, c->by_line.line, c->from);
    EMIT(b, mov_b32, c->by_line.lines, c->lines_left);
    EMIT(b, mov_b32, c->by_line.turns, I(c->share.count / lines));
    set_label(b, again);
    work(b, c, lines);
    EMIT(b, add_s32, c->target, c->target, I(step * c->tile->span));
    EMIT(b, add_s32, c->by_line.lines, c->by_line.lines, I(-step));
    EMIT(b, add_s32, c->by_line.turns, c->by_line.turns, I(-1));
    EMIT(b, setp_gt, c->by_line.again, c->by_line.turns, I(0));
    EMIT_IF(b, c->by_line.again, bra_uni, TO(again));
}

static void copy_side(const mma_feed *f, const mma_copier *c, mc_label again) {
    bool elements = mma_by_element(f->g->plan);
    if (!elements) count_bytes(f->g->b, c);
    for_lines(f, c, again, elements ? copy_ones : copy_some);
}

/* Clears what A's lines have behind k. Each thread does it in its own pieces, when they have arrived. */
static void clear_side(const mma_feed *f, const mma_copier *c, bool first) {
    mc_builder *b = f->g->b;
    mc_label again = label(b, first ? "FIRST_A_HALVES" : "A_HALVES"),
             even = label(b, first ? "FIRST_A_IS_WHOLE" : "A_IS_WHOLE");
    note(b, "of an odd k the last byte of A's rows has half an element too much");
    find_last(f, c);
    EMIT_IF(b, NOT(c->by_line.odd), bra_uni, TO(even));
    if (!mma_by_element(f->g->plan)) EMIT_BARE(b, cp_async_wait_all);
    for_lines(f, c, again, clear_some);
    set_label(b, even);
}

void mma_copy_lines(const mma_feed *f, bool first) {
    static const char *const names[][MMA_SIDES] = {{"A_LINES", "B_LINES"},
                                                   {"FIRST_A_LINES", "FIRST_B_LINES"}};
    for (int side = mma_first_side(f); side < MMA_SIDES; side++)
        copy_side(f, &f->sides[side], label(f->g->b, names[first][side]));
    if (may_clear(f->g->plan)) clear_side(f, &f->sides[0], first);
    if (f->g->plan->problem.sparse) mma_copy_packed(f, (mc_reg){0});
}
