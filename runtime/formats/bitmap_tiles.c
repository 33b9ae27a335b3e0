/* bitmap-tiles: tiles of A as a thread block expands them, stage by stage. */
#include "formats/bitmap_tiles.h"
#include <inttypes.h>
#include <string.h>
#include "formats/bitmap_words.h"
#include "formats/format.h"
#include "formats/stride.h"
#include "parts/bitmap_tiles.h"

extern const packed_format format_bitmap_tiles;

enum {
    MOST_BLOCKS = BITMAP_TILES_ROWS / 8, /* row blocks of a tile */
    SLOT_COLUMNS = 2,
    PAIR_BITS = (1 << BITMAP_TILES_PAIRS) - 1 /* of a word */
};
_Static_assert(BITMAP_TILES_STEP == (int)BITMAP_WORD, "a step's columns are a word of bits");
_Static_assert(BITMAP_TILES_SEGMENT == 8 * (int)SLOT_COLUMNS, "a slot's segments are one run of rows");

/* How a matrix is cut. */
typedef struct tile_cut {
    int vec;
    int64_t row_blocks, cols;
    int64_t blocks;        /* row blocks of a tile */
    int64_t tiles, stages; /* and stages of a tile */
} tile_cut;

/* -- Sizes -------------------------------------------------------------------------------------------- */

static int64_t start_count(const tile_cut *c) { return c->tiles * c->stages + 1; }

static int64_t stage_words(const tile_cut *c) { return BITMAP_TILES_STEPS * c->blocks; }

static int64_t word_count(const tile_cut *c) { return c->tiles * c->stages * stage_words(c); }

static int slot_bytes(int vec) { return SLOT_COLUMNS * vec; }

static mc_status check_rows(int vec, int64_t rows, mc_diag *diag) {
    if (rows >= vec && rows <= BITMAP_TILES_ROWS && rows % vec == 0) return MC_OK;
    return mc_fail(diag, MC_CANNOT,
                   "bitmap-tiles has tiles of a multiple of %d rows up to %d, the kernel's have %" PRId64,
                   vec, BITMAP_TILES_ROWS, rows);
}

static mc_status check_masks(const tile_cut *c, mc_diag *diag) {
    if (c->row_blocks <= INT32_MAX && word_count(c) <= INT32_MAX) return MC_OK;
    return mc_fail(diag, MC_CANNOT,
                   "%" PRId64 " row blocks of %" PRId64 " columns in tiles of %" PRId64
                   " row blocks: the masks leave s32",
                   c->row_blocks, c->cols, c->blocks);
}

/* Cuts a matrix into tiles of ROWS rows. */
static mc_status cut_matrix(const mc_vsparse *a, int64_t rows, tile_cut *c, mc_diag *diag) {
    mc_status status = bitmap_check_elements("bitmap-tiles", a->type, a->vec, diag);
    if (status == MC_OK) status = check_rows(a->vec, rows, diag);
    if (status != MC_OK) return status;
    const int64_t blocks = rows / a->vec;
    *c = (tile_cut){.vec = a->vec,
                    .row_blocks = a->row_blocks,
                    .cols = a->cols,
                    .blocks = blocks,
                    .tiles = a->row_blocks / blocks + (a->row_blocks % blocks != 0),
                    .stages = (a->cols + BITMAP_TILES_STAGE - 1) / BITMAP_TILES_STAGE};
    status = check_masks(c, diag);
    return status == MC_OK ? bitmap_check_vectors(a->vectors, diag) : status;
}

/* -- Words -------------------------------------------------------------------------------------------- */

/* A word of `masks`: which pairs of columns of a step have slots in a row block. */
typedef struct word_place {
    int64_t index; /* of `masks` */
    int64_t tile;
    int64_t step;  /* of the tile */
    int64_t block; /* row block of the tile */
} word_place;

static void go_on(const tile_cut *c, word_place *at) {
    at->index++;
    if (++at->block < c->blocks) return;
    at->block = 0;
    if (++at->step < c->stages * BITMAP_TILES_STEPS) return;
    at->step = 0;
    at->tile++;
}

static bool begins_stage(const word_place *at) {
    return at->block == 0 && at->step % BITMAP_TILES_STEPS == 0;
}

/* Its row block of the matrix, or the number of all for those behind the last one. */
static int64_t row_block(const tile_cut *c, const word_place *at) {
    const int64_t block = at->tile * c->blocks + at->block;
    return block < c->row_blocks ? block : c->row_blocks;
}

/* Bit i: column 2 i or column 2 i + 1 of COLUMNS has a bit. */
static uint32_t pairs_of(uint32_t columns) {
    uint32_t pairs = (columns | columns >> 1) & 0x55555555;
    pairs = (pairs | pairs >> 1) & 0x33333333;
    pairs = (pairs | pairs >> 2) & 0x0f0f0f0f;
    pairs = (pairs | pairs >> 4) & 0x00ff00ff;
    return (pairs | pairs >> 8) & PAIR_BITS;
}

/* The pairs that word AT may have. */
static uint32_t possible_pairs(const tile_cut *c, const word_place *at) {
    return row_block(c, at) == c->row_blocks ? 0 : pairs_of(bitmap_word_columns(c->cols, at->step));
}

/* -- Walks over a matrix in the order of the words ---------------------------------------------------- */

typedef struct tile_word {
    word_place at;
    uint32_t columns; /* bit i: column i of the step has a vector */
    int64_t vector;   /* the first one of these, which follow one another in the matrix */
} tile_word;

typedef void take_word(const tile_word *word, void *to);

/* NEXT is the next vector of the word's row block, and goes on. */
static void find_word(const tile_cut *c, const mc_vsparse *a, const word_place *at, int64_t *next,
                      tile_word *word) {
    const int64_t block = row_block(c, at), end = a->row_ptr[block + (block < c->row_blocks)];
    if (at->step == 0) *next = a->row_ptr[block];
    *word = (tile_word){.at = *at, .vector = *next};
    word->columns = bitmap_take_word(a->col_idx, (at->step + 1) * BITMAP_TILES_STEP, end, next);
}

static void walk_words(const tile_cut *c, const mc_vsparse *a, take_word *take, void *to) {
    int64_t next[MOST_BLOCKS];
    for (word_place at = {0}; at.index < word_count(c); go_on(c, &at)) {
        tile_word word;
        find_word(c, a, &at, &next[at.block], &word);
        take(&word, to);
    }
}

/* VECTOR are the vectors of the slot's columns, -1: none. */
typedef void take_slot(int64_t slot, const int64_t vector[SLOT_COLUMNS], void *to);

typedef struct slot_walk {
    int64_t slot; /* the next one */
    take_slot *take;
    void *to;
} slot_walk;

static void walk_word(const tile_word *word, void *to) {
    slot_walk *walk = to;
    int64_t next = word->vector;
    for (uint32_t pairs = pairs_of(word->columns); pairs != 0; pairs &= pairs - 1) {
        const uint32_t two = word->columns >> SLOT_COLUMNS * __builtin_ctz(pairs);
        int64_t vector[SLOT_COLUMNS] = {-1, -1};
        for (int i = 0; i < SLOT_COLUMNS; i++)
            if (two >> i & 1) vector[i] = next++;
        walk->take(walk->slot++, vector, walk->to);
    }
}

static void walk_slots(const tile_cut *c, const mc_vsparse *a, take_slot *take, void *to) {
    slot_walk walk = {.take = take, .to = to};
    walk_words(c, a, walk_word, &walk);
}

/* -- The pattern -------------------------------------------------------------------------------------- */

/* A pattern: both arrays that say where vectors are. */
typedef struct tile_pattern {
    tile_cut cut;
    const int32_t *starts;
    const uint32_t *masks;
} tile_pattern;

static int64_t slot_count(const tile_pattern *p) { return p->starts[start_count(&p->cut) - 1]; }

typedef struct pattern_fill {
    int32_t *starts; /* the next one */
    uint32_t *masks;
    int64_t slots, start; /* so far, and where the stage began */
} pattern_fill;

static uint32_t make_word(uint32_t pairs, int64_t first) {
    return pairs | (uint32_t)first << BITMAP_TILES_FIRST_SHIFT;
}

static void put_word(const tile_word *word, void *to) {
    pattern_fill *fill = to;
    const uint32_t pairs = pairs_of(word->columns);
    if (begins_stage(&word->at)) *fill->starts++ = (int32_t)(fill->start = fill->slots);
    fill->masks[word->at.index] = make_word(pairs, fill->slots - fill->start);
    fill->slots += __builtin_popcount(pairs);
}

/* PACKED, which is empty, gets the arrays `starts` and `masks`. */
static mc_status pack_pattern(const mc_vsparse *a, int64_t rows, mc_packed *packed, tile_pattern *p,
                              mc_diag *diag) {
    mc_status status = cut_matrix(a, rows, &p->cut, diag);
    if (status == MC_OK) status = packed_add(packed, "starts", MC_S32, start_count(&p->cut), diag);
    if (status == MC_OK) status = packed_add(packed, "masks", MC_S32, word_count(&p->cut), diag);
    if (status != MC_OK) return status;
    p->starts = packed->arrays[0].data;
    p->masks = packed->arrays[1].data;
    pattern_fill fill = {.starts = packed->arrays[0].data, .masks = packed->arrays[1].data};
    walk_words(&p->cut, a, put_word, &fill);
    *fill.starts = (int32_t)fill.slots;
    return MC_OK;
}

/* -- Pack --------------------------------------------------------------------------------------------- */

/* Whose values go where. Elements are bytes. */
typedef struct value_move {
    const mc_vsparse *a;
    uint8_t *values; /* by slots */
} value_move;

/* Row by row, the elements of both columns. */
static void put_slot(int64_t slot, const int64_t vector[SLOT_COLUMNS], void *to) {
    static const uint8_t zeros[MC_MAX_VEC] = {0};
    const value_move *move = to;
    const int vec = move->a->vec;
    const uint8_t *all = move->a->values;
    const uint8_t *first = vector[0] < 0 ? zeros : all + vector[0] * vec;
    const uint8_t *second = vector[1] < 0 ? zeros : all + vector[1] * vec;
    uint8_t *place = move->values + slot * slot_bytes(vec);
    for (int r = 0; r < vec; r++) {
        *place++ = first[r];
        *place++ = second[r];
    }
}

static void put_values(const tile_pattern *p, const mc_vsparse *a, void *values) {
    value_move move = {a, values};
    walk_slots(&p->cut, a, put_slot, &move);
}

static int64_t value_count(const tile_pattern *p) { return slot_count(p) * slot_bytes(p->cut.vec); }

mc_status bitmap_tiles_pack(const mc_vsparse *a, int64_t rows, mc_packed *packed, mc_diag *diag) {
    tile_pattern p;
    *packed = (mc_packed){0};
    mc_status status = pack_pattern(a, rows, packed, &p, diag);
    if (status == MC_OK) status = packed_add(packed, "values", a->type, value_count(&p), diag);
    if (status == MC_OK) put_values(&p, a, packed->arrays[2].data);
    else mc_packed_free(packed);
    return status;
}

mc_status bitmap_tiles_pack_values(const mc_vsparse *a, int64_t rows, mc_packed *packed, mc_diag *diag) {
    mc_packed want = {0};
    const mc_packed_array *values = NULL;
    tile_pattern p;
    mc_status status = pack_pattern(a, rows, &want, &p, diag);
    if (status == MC_OK) status = packed_check_same(packed, &want, "this matrix", diag);
    if (status == MC_OK) status = packed_get(packed, "values", a->type, value_count(&p), &values, diag);
    if (status == MC_OK) put_values(&p, a, values->data);
    mc_packed_free(&want);
    return status;
}

/* -- Slots: the two columns of each are a group ------------------------------------------------------- */

static mc_status create_slots(mc_type type, int vec, int64_t groups, packed_slots *slots, mc_diag *diag) {
    *slots = (packed_slots){.vec = vec, .group = SLOT_COLUMNS, .period = slot_bytes(vec)};
    mc_status status = code_make(type, 0, code_unit(type, MC_U8), &slots->code, diag);
    if (status == MC_OK) status = packed_slots_create("values", groups, slots, diag);
    for (int i = 0; i < slots->period && status == MC_OK; i++)
        slots->pieces[i] = packed_piece(slots, i % SLOT_COLUMNS, i / SLOT_COLUMNS, 0);
    return status;
}

static void number_slot(int64_t slot, const int64_t vector[SLOT_COLUMNS], void *to) {
    int32_t *vectors = to;
    for (int i = 0; i < SLOT_COLUMNS; i++) vectors[slot * SLOT_COLUMNS + i] = (int32_t)vector[i];
}

static mc_status bitmap_tiles_slots(const mc_vsparse *a, int64_t rows, packed_slots *slots, mc_diag *diag) {
    mc_packed pattern = {0};
    tile_pattern p;
    *slots = (packed_slots){0};
    mc_status status = pack_pattern(a, rows, &pattern, &p, diag);
    if (status == MC_OK) status = create_slots(a->type, a->vec, slot_count(&p), slots, diag);
    if (status == MC_OK) walk_slots(&p.cut, a, number_slot, slots->vectors);
    mc_packed_free(&pattern);
    return status;
}

/* -- Unpack: checks ----------------------------------------------------------------------------------- */

static mc_status check_start(const int32_t *starts, int64_t index, int64_t slots, mc_diag *diag) {
    if (starts[index] == slots) return MC_OK;
    return mc_fail(diag, MC_FORMAT,
                   "starts[%" PRId64 "] is %" PRId32 ", must be %" PRId64 ", the slots before", index,
                   starts[index], slots);
}

/* SLOTS are those of the stage before the word. */
static mc_status check_word(const tile_pattern *p, const word_place *at, int64_t slots, mc_diag *diag) {
    const uint32_t word = p->masks[at->index], possible = possible_pairs(&p->cut, at);
    const uint32_t want = make_word(word & possible, slots);
    if (word == want) return MC_OK;
    return mc_fail(diag, MC_FORMAT,
                   "masks[%" PRId64 "] is %08" PRIx32 ", must be %08" PRIx32 ": %" PRId64
                   " slots of the stage come before, and only pairs of %04" PRIx32 " may be there",
                   at->index, word, want, slots, possible);
}

static mc_status check_pattern(const tile_pattern *p, mc_diag *diag) {
    const tile_cut *c = &p->cut;
    mc_status status = MC_OK;
    int64_t slots = 0, start = 0, stage = 0;
    for (word_place at = {0}; at.index < word_count(c) && status == MC_OK; go_on(c, &at)) {
        if (begins_stage(&at)) status = check_start(p->starts, stage++, start = slots, diag);
        if (status == MC_OK) status = check_word(p, &at, slots - start, diag);
        slots += __builtin_popcount(p->masks[at.index] & PAIR_BITS);
    }
    return status == MC_OK ? check_start(p->starts, stage, slots, diag) : status;
}

static int64_t find_slot(const tile_pattern *p, const word_place *at) {
    const int64_t stage = at->tile * p->cut.stages + at->step / BITMAP_TILES_STEPS;
    return (int64_t)p->starts[stage] + (p->masks[at->index] >> BITMAP_TILES_FIRST_SHIFT);
}

/* Where the last slot of a row block lies that has a pair with the column behind the matrix's last one; -1:
   word AT has none. */
static int64_t find_odd_slot(const tile_pattern *p, const word_place *at) {
    const int64_t pair = p->cut.cols / SLOT_COLUMNS - at->step * BITMAP_TILES_PAIRS;
    const uint32_t pairs = p->masks[at->index] & PAIR_BITS;
    if (pair < 0 || pair >= BITMAP_TILES_PAIRS || (pairs >> pair & 1) == 0) return -1;
    return find_slot(p, at) + __builtin_popcount(pairs) - 1;
}

/* The elements in column COLS, which the matrix has not. */
static mc_status check_zeros(const tile_pattern *p, const uint8_t *values, mc_diag *diag) {
    if (p->cut.cols % SLOT_COLUMNS == 0) return MC_OK;
    for (word_place at = {0}; at.index < word_count(&p->cut); go_on(&p->cut, &at)) {
        const int64_t slot = find_odd_slot(p, &at), first = slot * slot_bytes(p->cut.vec);
        for (int64_t i = first + 1; slot >= 0 && i < first + slot_bytes(p->cut.vec); i += SLOT_COLUMNS)
            if (values[i] != 0)
                return mc_fail(diag, MC_FORMAT, "values[%" PRId64 "] is behind the last column and must be 0",
                               i);
    }
    return MC_OK;
}

/* All arrays, which are checked. */
static mc_status find_arrays(const mc_packed *packed, mc_type type, tile_pattern *p, const uint8_t **values,
                             mc_diag *diag) {
    const mc_packed_array *starts = NULL, *masks = NULL, *array = NULL;
    mc_status status = packed_get(packed, "starts", MC_S32, start_count(&p->cut), &starts, diag);
    if (status == MC_OK) status = packed_get(packed, "masks", MC_S32, word_count(&p->cut), &masks, diag);
    if (status != MC_OK) return status;
    p->starts = starts->data, p->masks = masks->data;
    status = check_pattern(p, diag);
    if (status == MC_OK) status = packed_get(packed, "values", type, value_count(p), &array, diag);
    if (status != MC_OK) return status;
    *values = array->data;
    return check_zeros(p, *values, diag);
}

/* -- Unpack ------------------------------------------------------------------------------------------- */

/* Bit i: column i of a slot is not all zeros; both, where both are. */
static uint32_t used_columns(const uint8_t *slot, int vec) {
    uint8_t any[SLOT_COLUMNS] = {0};
    for (int i = 0; i < slot_bytes(vec); i++) any[i % SLOT_COLUMNS] |= slot[i];
    const uint32_t columns = (any[0] != 0) | (uint32_t)(any[1] != 0) << 1;
    return columns != 0 ? columns : 3;
}

/* The columns of word AT to which vectors are given. */
static uint32_t find_columns(const tile_pattern *p, const uint8_t *values, const word_place *at) {
    const int vec = p->cut.vec;
    const uint8_t *slot = values + find_slot(p, at) * slot_bytes(vec);
    uint32_t columns = 0;
    for (uint32_t pairs = p->masks[at->index] & PAIR_BITS; pairs != 0; pairs &= pairs - 1) {
        columns |= used_columns(slot, vec) << SLOT_COLUMNS * __builtin_ctz(pairs);
        slot += slot_bytes(vec);
    }
    return columns & bitmap_word_columns(p->cut.cols, at->step);
}

/* All vectors. ROW_PTR is NULL, or zeros so far. */
static int64_t count_vectors(const tile_pattern *p, const uint8_t *values, int64_t *row_ptr) {
    int64_t vectors = 0;
    for (word_place at = {0}; at.index < word_count(&p->cut); go_on(&p->cut, &at)) {
        const int count = __builtin_popcount(find_columns(p, values, &at));
        if (row_ptr != NULL && count > 0) row_ptr[row_block(&p->cut, &at) + 1] += count;
        vectors += count;
    }
    for (int64_t b = 0; row_ptr != NULL && b < p->cut.row_blocks; b++) row_ptr[b + 1] += row_ptr[b];
    return vectors;
}

static void fill_columns(const tile_pattern *p, const uint8_t *values, mc_vsparse *a) {
    int64_t next[MOST_BLOCKS];
    for (word_place at = {0}; at.index < word_count(&p->cut); go_on(&p->cut, &at)) {
        if (at.step == 0) next[at.block] = a->row_ptr[row_block(&p->cut, &at)];
        next[at.block] +=
            bitmap_put_columns(find_columns(p, values, &at), at.step, a->col_idx + next[at.block]);
    }
}

typedef struct matrix_fill {
    mc_vsparse *a;
    const uint8_t *values; /* by slots */
} matrix_fill;

static void fill_slot(int64_t slot, const int64_t vector[SLOT_COLUMNS], void *to) {
    const matrix_fill *fill = to;
    const int vec = fill->a->vec;
    uint8_t *all = fill->a->values;
    for (int i = 0; i < slot_bytes(vec); i++)
        if (vector[i % SLOT_COLUMNS] >= 0)
            all[vector[i % SLOT_COLUMNS] * vec + i / SLOT_COLUMNS] = fill->values[slot * slot_bytes(vec) + i];
}

mc_status bitmap_tiles_unpack(const mc_packed *packed, mc_type type, int vec, int64_t tile_rows, int64_t rows,
                              int64_t cols, mc_vsparse *a, mc_diag *diag) {
    const uint8_t *values = NULL;
    int64_t vectors = 0;
    tile_pattern p;
    *a = (mc_vsparse){0};
    mc_status status = packed_check_shape(vec, rows, cols, diag);
    if (status != MC_OK) return status;
    const mc_vsparse shape = {.type = type, .vec = vec, .row_blocks = rows / vec, .cols = cols};
    status = cut_matrix(&shape, tile_rows, &p.cut, diag);
    if (status == MC_OK) status = find_arrays(packed, type, &p, &values, diag);
    if (status == MC_OK) status = bitmap_check_vectors(vectors = count_vectors(&p, values, NULL), diag);
    if (status == MC_OK) status = mcrt_vsparse_create(type, vec, shape.row_blocks, cols, vectors, a, diag);
    if (status != MC_OK) return status;
    count_vectors(&p, values, a->row_ptr);
    fill_columns(&p, values, a);
    walk_slots(&p.cut, a, fill_slot, &(matrix_fill){a, values});
    return MC_OK;
}

/* -- As a row ----------------------------------------------------------------------------------------- */

static int64_t rows_of(const mc_kernel *kernel) { return mc_kernel_field(kernel, "block_rows"); }

static mc_status pack(const mc_kernel *kernel, const host_matrix *a, mc_packed *packed, mc_diag *diag) {
    return bitmap_tiles_pack(a->vectors, rows_of(kernel), packed, diag);
}

static mc_status pack_values(const mc_kernel *kernel, const host_matrix *a, mc_packed *packed,
                             mc_diag *diag) {
    return bitmap_tiles_pack_values(a->vectors, rows_of(kernel), packed, diag);
}

static mc_status slots_of(const mc_kernel *kernel, const host_matrix *a, packed_slots *slots, mc_diag *diag) {
    return bitmap_tiles_slots(a->vectors, rows_of(kernel), slots, diag);
}

static mc_status unpack(const mc_kernel *kernel, const mc_packed *packed, mc_type type, int64_t rows,
                        int64_t cols, mc_vsparse *a, mc_diag *diag) {
    return bitmap_tiles_unpack(packed, type, (int)mc_kernel_field(kernel, "vec"), rows_of(kernel), rows, cols,
                               a, diag);
}

const packed_format format_bitmap_tiles = {
    .name = "bitmap-tiles",
    .doc = "tiles of pairs of columns as they are, with a bit for each pair",
    .kind = MATRIX_VECTORS,
    .unit = MC_U8,
    .floats = true,
    .type = "lhs",
    .cols = "k",
    .form = "lhs vec block_rows",
    .pack = pack,
    .pack_values = pack_values,
    .slots = slots_of,
    .unpack = unpack};
