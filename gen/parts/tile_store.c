#include "parts/tile_store.h"
#include "parts/emit.h"
#include "parts/fragment.h"
#include "parts/shared_tile.h"

int store_span(int columns, int bytes) {
    int span = STORE_LINE;
    while (columns * bytes % span) span /= 2;
    return span;
}

static int span_of(const tile_store *s) { return store_span(s->columns, s->bytes); }

static int slot_bytes(const tile_store *s) { return s->slots.rows * STORE_LINE; }
static bool is_half(const tile_store *s) { return s->slots.rows == STORE_HALF; }

/* The number by which the swizzle of a row exchanges its chunks: rows that share 128 bytes have the same. */
static mc_reg chunk_mask(const tile_store *s, mc_reg line) {
    return shr_u32(s->b, "c_pattern", line, I(log2_of(STORE_LINE / span_of(s))));
}

/* For stmatrix: lanes 8 i to 8 i + 7 name the rows of matrix i. Matrices 1 and 3 are rows 8 to 15, matrices 2
   and 3 the next 8 columns: the next chunk. Of 8 rows each matrix is a chunk. */
static void place_matrices(tile_store *s) {
    mc_builder *b = s->b;
    mc_reg row = and_b32(b, "c_lane_row", s->lane, I(s->slots.rows - 1));
    mc_reg line = and_b32(b, "c_line", s->lane, I(TILE_LINES - 1));
    mc_reg own = shr_u32(b, "c_half", s->lane, I(log2_of(s->slots.rows)));
    mc_reg chunk = xor_b32(b, "c_chunk", own, chunk_mask(s, line));
    mc_reg at = mad_s32(b, "c_row_at", row, I(span_of(s)), s->slot);
    s->at = mad_s32(b, "c_lane_at", chunk, I(TILE_CHUNK), at);
}

/* For pairs: lane 4 g + t has columns 2 t and 2 t + 1 of row g, which are half of chunk t / 2. In odd rows
   the chunk is that of 16 columns further on. */
static void place_pairs(tile_store *s) {
    mc_builder *b = s->b;
    mc_reg g = shr_u32(b, "c_line", s->lane, I(FRAG_GROUP_SHIFT)),
           t = and_b32(b, "c_t", s->lane, I(FRAG_THREAD_MASK));
    mc_reg chunk = xor_b32(b, "c_chunk", shr_u32(b, "c_half", t, I(1)), chunk_mask(s, g));
    mc_reg is_odd = and_b32(b, "c_odd", g, I(1));
    mc_reg exchanged = shl_b32(b, "c_exchanged", is_odd, I(2));
    mc_reg place = xor_b32(b, "c_place", chunk, exchanged), low = and_b32(b, "c_low", t, I(1));
    mc_reg at = mad_s32(b, "c_row_at", g, I(span_of(s)), s->slot);
    mc_reg chunk_at = mad_s32(b, "c_chunk_at", place, I(TILE_CHUNK), at);
    s->odd = setp_eq(b, "odd_row", is_odd, I(1));
    s->at = mad_s32(b, "c_lane_at", low, I(2 * WORD), chunk_at);
}

void store_begin(tile_store *s) {
    mc_builder *b = s->b;
    s->map = cvta_param(b, "c_map", mov_param(b, "c_map_param", NAME(s->param)));
    note(b, "the warp's %d slots of %d rows of C, and the lane's place in them", s->slots.count,
         s->slots.rows);
    s->slot = mad_s32(b, "c_slot", s->warp, I(s->slots.count * slot_bytes(s)), s->first);
    if (s->bytes == WORD) place_pairs(s);
    else place_matrices(s);
    s->copies = setp_eq(b, "copies_c", s->lane, I(0));
    s->row = b32(b, "box_row"), s->column = b32(b, "box_column"), s->to = b32(b, "c_to");
    b32_array(b, "put", 4, s->put);
}

/* -- A box -------------------------------------------------------------------------------------------- */

/* Where the lane's element of the box lies CHUNKS chunks further on. */
static mc_reg place_of(const tile_store *s, int chunks) {
    if (chunks == 0) return s->at;
    EMIT(s->b, xor_b32, s->to, s->at, I(chunks * TILE_CHUNK));
    return s->to;
}

/* WORDS has two registers for each 8 columns: (row g, columns 2 t, 2 t + 1), (row g + 8, the same). */
static void put_matrices(const tile_store *s, const mc_reg *words, int slot) {
    for (int chunk = 0; chunk < span_of(s) / TILE_CHUNK; chunk += 2)
        EMIT(s->b, stmatrix_x4, AT(place_of(s, chunk), slot * slot_bytes(s)), V4(&words[2 * chunk]));
}

/* Of 8 rows, the upper ones or, HALF being 1, those below. */
static void put_half_matrices(const tile_store *s, const mc_reg *words, int half, int slot) {
    enum { MATRICES = 4 };
    for (int chunk = 0; chunk < span_of(s) / TILE_CHUNK; chunk += MATRICES) {
        mc_reg of[MATRICES];
        for (int i = 0; i < MATRICES; i++) of[i] = words[2 * (chunk + i) + half];
        EMIT(s->b, stmatrix_x4, AT(place_of(s, chunk), slot * slot_bytes(s)), V4(of));
    }
}

/* Stores a row's pairs of 8 columns from 8 J and from 8 J + 16 on: row g, or, HALF being 1, g + 8, which lies
   OFFSET further on. */
static void put_pairs(const tile_store *s, const mc_reg *sums, int j, int half, int offset) {
    mc_builder *b = s->b;
    const mc_reg *near = &sums[4 * j + 2 * half], *far = &sums[4 * (j + 2) + 2 * half];
    for (int i = 0; i < 2; i++) {
        EMIT(b, selp_b32, s->put[i], far[i], near[i], s->odd);
        EMIT(b, selp_b32, s->put[2 + i], near[i], far[i], s->odd);
    }
    EMIT(b, sts_v2, AT(place_of(s, 2 * j), offset), V2(s->put));
    EMIT(b, sts_v2, AT(place_of(s, 2 * j + 4), offset), V2(s->put + 2));
}

/* HALF: of a box of 8 rows, which those are. */
static void put_box(const tile_store *s, const mc_reg *words, int half, int slot) {
    int at = slot * slot_bytes(s);
    if (s->bytes != WORD) {
        if (is_half(s)) put_half_matrices(s, words, half, slot);
        else put_matrices(s, words, slot);
        return;
    }
    for (int j = 0; j < 2; j++) {
        if (is_half(s)) put_pairs(s, words, j, half, at);
        for (int i = 0; i < 2 && !is_half(s); i++)
            put_pairs(s, words, j, i, at + i * TILE_LINES * span_of(s));
    }
}

static void copy_box(const tile_store *s, int slot) {
    static const mc_opcode stores[][2] = {{OP_tma_store_2d, OP_tma_add_2d}, {OP_tma_store_3d, OP_tma_add_3d}};
    mc_builder *b = s->b;
    bool batch = s->product.id != 0;
    EMIT_BARE(b, fence_async_shared);
    EMIT(b, bar_warp_sync, H(0xffffffff));
    builder_emit(
        b, s->copies, stores[batch][s->adds],
        MC_OPERANDS(batch ? TENSOR(s->map, s->column, s->row, s->product) : TENSOR(s->map, s->column, s->row),
                    AT(s->slot, slot * slot_bytes(s))));
    builder_emit(b, s->copies, OP_bulk_commit, NULL, 0);
}

/* The next box is BOX of all of a tile's: goes to its first column of C, of which LINE are a box's, and its
   first row. With boxes of 8 rows those of the same columns follow each other. */
static void place_box(const tile_store *s, int box, int line, mc_reg column) {
    mc_builder *b = s->b;
    int across = is_half(s) ? box / 2 : box;
    note(b, "columns %d to %d%s, through slot %d, which its copy before has read", across * line,
         across * line + line - 1,
         !is_half(s) ? ""
         : box % 2   ? " of rows 8 to 15"
                     : " of rows 0 to 7",
         box % s->slots.count);
    if (is_half(s) && box) EMIT(b, add_s32, s->row, s->row, I(box % 2 ? STORE_HALF : -STORE_HALF));
    if (is_half(s) && box % 2) return;
    if (across) EMIT(b, add_s32, s->column, column, I(across * line));
    else EMIT(b, mov_b32, s->column, column);
}

void store_tile(const tile_store *s, const mc_reg *words, mc_reg row, int offset, mc_reg column) {
    mc_builder *b = s->b;
    int line = span_of(s) / s->bytes, halves = is_half(s) ? 2 : 1, slots = s->slots.count;
    int boxes = s->columns / line * halves, box_words = line / 8 * s->bytes;
    note(b, "the warp's rows of C");
    EMIT(b, add_s32, s->row, row, s->warp_row);
    if (offset) EMIT(b, add_s32, s->row, s->row, I(offset));
    for (int box = 0; box < boxes; box++) {
        place_box(s, box, line, column);
        EMIT_IF(b, s->copies, bulk_wait_read, I(box == 0 && boxes % slots ? 0 : slots - 1));
        EMIT(b, bar_warp_sync, H(0xffffffff));
        put_box(s, &words[box / halves * box_words], box % halves, box % slots);
        copy_box(s, box % slots);
    }
}

void store_end(const tile_store *s) { EMIT_IF(s->b, s->copies, bulk_wait_read, I(0)); }
