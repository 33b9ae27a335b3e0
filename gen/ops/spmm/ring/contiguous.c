/* Staging "async", rows of 16 bytes: all of a B that has 1, 2, 4 or 8 bytes a row and no gaps between rows.
 *
 * A thread loads 16 bytes of B (a chunk), which are 2 to 16 rows, and stores each row with zeros beside it.
 * All loads of a turn are asked for before the first store. They are relaxed ones, since ptxas moves weak
 * loads down to their use.
 *
 * Eight lanes store 16 bytes each at a time. They hit different banks if their rows differ mod 8. So in step
 * j a lane stores row j xor f of its chunk, where f differs between lanes whose chunks are 128 bytes apart:
 *
 *   bytes of a row   1          2          4            8
 *   rows of a chunk  16         8          4            2
 *   f                lane % 8   lane % 8   lane / 2 % 4   lane / 4 % 2
 *
 * The lane exchanges its words and bytes by f beforehand, so that the row of step j lies in registers that
 * are known when the kernel is made. */
#include "ops/spmm/ring/ring.h"
#include "parts/made_name.h"

enum {
    CHUNK = 16, /* bytes that a thread loads at once */
    CHUNK_WORDS = CHUNK / WORD,
    MOST_CHUNKS = 8,      /* of a thread's turn */
    STORE_LANES = 8,      /* whose stores of 16 bytes go together */
    MOST_ROWS = CHUNK,    /* of a chunk */
    SELECT_ZERO = 0x4444, /* prmt's selector of four bytes of its second source, which is 0 */
};

/* A turn of a thread: WIDTH bytes of B are a row, ROWS of them a chunk. */
typedef struct turn {
    const ring_emitter *r;
    int width, rows, chunks;
    mc_reg chunk, from, to;      /* the thread's first chunk, where it lies in B and where its step 0 goes */
    mc_reg of_b, all;            /* chunks that B has, and the ring's windows of it */
    mc_reg swaps[2];             /* whether words 1 apart are exchanged, and words 2 apart; none: never */
    mc_reg selects[CHUNK_WORDS]; /* narrower than a word: of each row of a word */
    mc_reg zero, done, bytes;    /* bytes: scratch, of a row */
    mc_reg at[MOST_ROWS], swapped[2][CHUNK_WORDS]; /* scratch: where rows go; words that were exchanged */
    mc_reg word[MOST_CHUNKS][CHUNK_WORDS], there[MOST_CHUNKS], number[MOST_CHUNKS];
} turn;

static bool can_be(const ring_plan *plan, int width) {
    const spmm_plan *base = &plan->base;
    return (base->ldb == MC_OPEN || base->ldb == width) && (base->n == MC_OPEN || base->n == width) &&
           (base->k == MC_OPEN || base->k * width % CHUNK == 0);
}

static const int widths[] = {1, 8, 2, 4};
enum { WIDTHS = sizeof widths / sizeof *widths };

bool ring_may_be_contiguous(const ring_plan *plan) {
    bool may = false;
    for (int i = 0; i < WIDTHS; i++) may |= can_be(plan, widths[i]);
    return may && ring_is_narrow(plan) && plan->keeps_all;
}

void ring_emit_contiguous_start(const ring_emitter *r, ring_contiguous *c) {
    mc_builder *b = r->at.b;
    const spmm_plan *plan = r->at.plan;
    if (!ring_may_be_contiguous(r->plan)) return;
    note(b, "ldb, if B has no gaps between rows, and lies and ends at a multiple of 16 bytes; else 0");
    c->bytes = mul_s32(b, "b_bytes", dim_operand(plan->k, r->k), r->at.row_bytes);
    mc_reg bits = carried(b, "b_bits", c->bytes);
    if (plan->align < CHUNK) EMIT(b, or_b32, bits, bits, cvt_low(b, "b_low", r->at.b_array));
    EMIT(b, and_b32, bits, bits, I(CHUNK - 1));
    mc_reg pieces = setp_eq(b, "is_in_chunks", bits, I(0));
    mc_reg whole = setp_eq_and(b, "is_contiguous", dim_operand(plan->n, r->at.n), r->at.row_bytes, pieces);
    c->width = selp_b32(b, "contiguous_width", r->at.row_bytes, I(0), whole);
}

/* -- A turn ------------------------------------------------------------------------------------------- */

/* Sets which rows of a chunk this lane stores when, and how its words and bytes are exchanged for that. */
static void emit_order(turn *t) {
    mc_builder *b = t->r->at.b;
    int together = t->rows < STORE_LANES ? t->rows : STORE_LANES;
    mc_reg flip = t->r->at.place.lane;
    if (together < STORE_LANES) flip = shr_u32(b, "flip_lane", flip, I(log2_of(STORE_LANES / together)));
    flip = and_b32(b, "flip", flip, I(together - 1));
    t->to = b32(b, "chunk_to");
    EMIT(b, mad_s32, t->to, t->chunk, I(t->rows * RING_NARROW_BYTES), t->r->ring);
    EMIT(b, mad_s32, t->to, flip, I(RING_NARROW_BYTES), t->to);
    static const char *const swapped[] = {"words", "pairs"};
    mc_reg bytes = mul_s32(b, "flip_bytes", flip, I(t->width));
    for (int i = 0; i < 2; i++) {
        int bit = WORD << i;
        if (!((together - 1) * t->width & bit)) continue;
        mc_reg swaps = and_b32(b, name_with(swapped[i], "_bit").text, bytes, I(bit));
        t->swaps[i] = setp_ne(b, name_with("swaps_", swapped[i]).text, swaps, I(0));
        b32_array(b, name_with("swapped_", swapped[i]).text, CHUNK_WORDS, t->swapped[i]);
    }
    if (t->width >= WORD) return;
    /* byte i of the word becomes byte i xor flip: of rows of 2 bytes both */
    mc_reg in_word = and_b32(b, "flip_in_word", bytes, I(WORD - t->width));
    if (t->width == 2) in_word = mul_s32(b, "flip_both", in_word, I(0x11));
    for (int i = 0; i < WORD / t->width; i++) {
        int row = t->width == 1 ? (SELECT_ZERO & ~0xf) | i : (SELECT_ZERO & ~0xff) | (0x10 + 0x22 * i);
        t->selects[i] = xor_b32(b, name_nth("select", i).text, in_word, H((unsigned)row));
    }
}

static void emit_turn_start(turn *t) {
    mc_builder *b = t->r->at.b;
    const ring_plan *plan = t->r->plan;
    t->chunk = carried(b, "chunk", t->r->at.place.thread);
    t->from = b64(b, "chunk_from");
    EMIT(b, mad_wide, t->from, t->chunk, I(CHUNK), t->r->at.b_array);
    t->all = mul_s32(b, "ring_chunks", t->r->windows, I(plan->window * t->width / CHUNK));
    t->done = pred(b, "chunks_done");
    t->zero = mov_b32(b, "beside", I(0));
    emit_order(t);
    for (int i = 0; i < t->chunks; i++) {
        const made_name name = name_nth("chunk", i);
        b32_array(b, name_with(name.text, "_word").text, CHUNK_WORDS, t->word[i]);
        t->there[i] = pred(b, name_with(name.text, "_there").text);
        t->number[i] = b32(b, name_with(name.text, "_number").text);
    }
    b32_array(b, "row_to", t->rows, t->at);
    if (t->width < WORD) t->bytes = b32(b, "row_bytes_at_hand");
}

/* Loads the chunks of a turn. Those behind B's end are zeros. */
static void emit_loads(const turn *t) {
    mc_builder *b = t->r->at.b;
    int threads = t->r->plan->base.threads;
    for (int i = 0; i < t->chunks; i++) {
        EMIT(b, add_s32, t->number[i], t->chunk, I(i * threads));
        EMIT(b, setp_lt, t->there[i], t->number[i], t->of_b);
    }
    for (int i = 0; i < t->chunks; i++)
        for (int j = 0; j < CHUNK_WORDS; j++) EMIT(b, mov_b32, t->word[i][j], I(0));
    for (int i = 0; i < t->chunks; i++)
        EMIT_IF(b, t->there[i], ldr_v4, V4(t->word[i]), AT(t->from, i * threads * CHUNK));
}

/* Exchanges words 1 apart (HOW 0) or 2 apart (HOW 1), in the lanes that want it. */
static const mc_reg *emit_swap(const turn *t, int how, const mc_reg word[CHUNK_WORDS]) {
    if (!t->swaps[how].id) return word;
    const mc_reg *swapped = t->swapped[how];
    for (int i = 0; i < CHUNK_WORDS; i++)
        EMIT(t->r->at.b, selp_b32, swapped[i], word[i ^ (1 << how)], word[i], t->swaps[how]);
    return swapped;
}

/* Stores the rows of chunk I. */
static void emit_stores(const turn *t, int i) {
    mc_builder *b = t->r->at.b;
    int offset = i * t->r->plan->base.threads * t->rows * RING_NARROW_BYTES;
    const mc_reg *word = emit_swap(t, 1, emit_swap(t, 0, t->word[i]));
    for (int j = 0; j < t->rows; j++) {
        mc_reg row[CHUNK_WORDS] = {word[j * t->width / WORD], t->zero, t->zero, t->zero};
        if (t->width > WORD) row[1] = word[j * t->width / WORD + 1];
        if (t->width < WORD) {
            EMIT(b, prmt_by, t->bytes, row[0], t->zero, t->selects[j % (WORD / t->width)]);
            row[0] = t->bytes;
        }
        EMIT(b, sts_v4, AT(t->at[j], offset), V4(row));
    }
}

static void emit_turn(const turn *t, mc_label copied) {
    mc_builder *b = t->r->at.b;
    emit_loads(t);
    for (int j = 0; j < t->rows; j++) EMIT(b, xor_b32, t->at[j], t->to, I(j * RING_NARROW_BYTES));
    for (int i = 0; i < t->chunks; i++) {
        EMIT(b, setp_ge, t->done, t->number[i], t->all);
        EMIT_IF(b, t->done, bra, TO(copied));
        emit_stores(t, i);
    }
}

/* -- All of B ----------------------------------------------------------------------------------------- */

static void emit_width(const ring_emitter *r, const ring_contiguous *c, int width, mc_label copied) {
    mc_builder *b = r->at.b;
    const ring_plan *plan = r->plan;
    int threads = plan->base.threads, all = ring_capacity(plan) * width / CHUNK;
    turn t = {.r = r, .width = width, .rows = CHUNK / width, .chunks = 1};
    while (t.chunks < MOST_CHUNKS && t.chunks * threads < all) t.chunks *= 2;
    mc_label loop = label(b, name_nth("CHUNKS", width).text);
    note(b, "%d of B's bytes are a row, %d rows a chunk, %d chunks of a thread at once", width, t.rows,
         t.chunks);
    const made_name prefix = name_with(name_nth("bytes", width).text, "_");
    b->prefix = prefix.text;
    emit_turn_start(&t);
    t.of_b = shr_u32(b, "b_chunks", c->bytes, I(log2_of(CHUNK)));
    set_label(b, loop);
    emit_turn(&t, copied);
    if (t.chunks * threads < all) {
        EMIT(b, add_s32, t.chunk, t.chunk, I(t.chunks * threads));
        EMIT(b, add_s64, t.from, t.from, I(t.chunks * threads * CHUNK));
        EMIT(b, add_s32, t.to, t.to, I(t.chunks * threads * t.rows * RING_NARROW_BYTES));
        EMIT(b, bra, TO(loop));
    } else EMIT(b, bra, TO(copied));
    b->prefix = NULL;
}

void ring_emit_contiguous(const ring_emitter *r, const ring_contiguous *c, mc_label copied) {
    mc_builder *b = r->at.b;
    if (!c->width.id) return;
    mc_reg other = pred(b, "other_width");
    mc_label gaps = label(b, "HAS_GAPS");
    EMIT(b, setp_eq, other, c->width, I(0));
    EMIT_IF(b, other, bra_uni, TO(gaps));
    for (int i = 0; i < WIDTHS; i++) {
        if (!can_be(r->plan, widths[i])) continue;
        mc_label next = label(b, name_nth("NOT_BYTES", widths[i]).text);
        EMIT(b, setp_ne, other, c->width, I(widths[i]));
        EMIT_IF(b, other, bra_uni, TO(next));
        emit_width(r, c, widths[i], copied);
        set_label(b, next);
    }
    set_label(b, gaps);
}
