/* Copies of a stage line by line, in a loop that takes a few lines of the thread's at a time:
 *
 *   pieces     by cp.async, of pieces of 4 and 8 bytes, and of all stages that the matrices end in. A piece
 *              has as many bytes as there are, and the rest becomes zeros
 *   elements   of rows that begin anywhere. Elements are loaded one by one, if they are there, and go to
 *              shared memory by the word, one of each line */
#include "ops/gemm/mma/mma.h"

enum { AT_ONCE = 4, PATTERN = 8 /* lines behind which keys repeat */ };

static int elements_of(const mma_copier *c) { return WORD / c->tile->bytes; }

/* Lines of a turn of the loop, so that the next ones lie as these do. */
static int at_once(const mma_copier *c) {
    int lines = c->share.step < PATTERN ? PATTERN / c->share.step : 1;
    if (lines < AT_ONCE && c->share.width < COPY_WIDEST) lines = AT_ONCE;
    return lines < c->share.count ? lines : c->share.count;
}

void mma_declare_lines(mc_builder *b, mma_copier *c, bool elements) {
    c->by_line.lines = b32(b, "lines"), c->by_line.turns = b32(b, "turns");
    c->by_line.again = pred(b, "again"), c->by_line.line = b64(b, "line_from");
    if (elements)
        b32_array(b, "one", at_once(c) * elements_of(c), c->by_line.elements),
            c->by_line.there = pred(b, "there");
    else c->by_line.bytes = b32(b, "piece_bytes"), c->by_line.line_bytes = b32(b, "line_bytes");
}

static mc_operand target_of(mc_builder *b, const mma_copier *c, int i) {
    int line = i * c->share.step, key = mma_key_bytes(c->key, line);
    mc_reg to = c->target;
    if (key) EMIT(b, xor_b32, to = c->part, c->target, I(key));
    return AT(to, c->at + line * c->tile->span);
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

/* -- A stage ------------------------------------------------------------------------------------------ */

static void copy_side(const mma_feed *f, const mma_copier *c, mc_label again) {
    mc_builder *b = f->g->b;
    bool elements = mma_by_element(f->g->plan);
    int lines = at_once(c), step = lines * c->share.step;
    if (!elements) count_bytes(b, c);
    EMIT(b, add_s32, c->target, c->to, f->fill);
    EMIT(b, mov_b64, c->by_line.line, c->from);
    EMIT(b, mov_b32, c->by_line.lines, c->lines_left);
    EMIT(b, mov_b32, c->by_line.turns, I(c->share.count / lines));
    set_label(b, again);
    (elements ? copy_ones : copy_some)(b, c, lines);
    EMIT(b, add_s32, c->target, c->target, I(step * c->tile->span));
    EMIT(b, add_s32, c->by_line.lines, c->by_line.lines, I(-step));
    EMIT(b, add_s32, c->by_line.turns, c->by_line.turns, I(-1));
    EMIT(b, setp_gt, c->by_line.again, c->by_line.turns, I(0));
    EMIT_IF(b, c->by_line.again, bra_uni, TO(again));
}

void mma_copy_lines(const mma_feed *f, bool first) {
    static const char *const names[][MMA_SIDES] = {{"A_LINES", "B_LINES"},
                                                   {"FIRST_A_LINES", "FIRST_B_LINES"}};
    for (int side = mma_first_side(f); side < MMA_SIDES; side++)
        copy_side(f, &f->sides[side], label(f->g->b, names[first][side]));
    if (f->g->plan->problem.sparse) mma_copy_packed(f, (mc_reg){0});
}
