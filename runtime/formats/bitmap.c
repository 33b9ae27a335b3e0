/* bitmap-bcrs: what the SpMM reads that expands A's vectors into dense tiles. */
#include "formats/bitmap.h"
#include <inttypes.h>
#include <string.h>
#include "formats/bitmap_words.h"
#include "formats/format.h"
#include "formats/stride.h"
#include "parts/bitmap.h"

extern const packed_format format_bitmap;

enum {
    TILE_WORDS = BITMAP_TILE / BITMAP_WORD,
    VALUES_UNIT = 16, /* bytes, to a multiple of which zeros fill up the values */
    VALUES_TAIL = 32  /* zeros behind these */
};

/* As the array `masks` holds them. */
typedef struct mask_pair {
    int32_t first;
    uint32_t bits;
} mask_pair;

/* -- Sizes -------------------------------------------------------------------------------------------- */

static int64_t words_of(int64_t cols) { return (cols + BITMAP_TILE - 1) / BITMAP_TILE * TILE_WORDS; }

/* With those behind all others. */
static int64_t pair_count(int64_t row_blocks, int64_t cols) {
    return row_blocks * words_of(cols) + BITMAP_END;
}

/* Elements, which are bytes. */
static int64_t value_count(int64_t vectors, int vec) {
    return (vectors * vec + VALUES_UNIT - 1) / VALUES_UNIT * VALUES_UNIT + VALUES_TAIL;
}

static mc_status check_masks(int64_t row_blocks, int64_t cols, mc_diag *diag) {
    if (row_blocks <= INT32_MAX && pair_count(row_blocks, cols) <= INT32_MAX / 2) return MC_OK;
    return mc_fail(diag, MC_CANNOT,
                   "%" PRId64 " row blocks of %" PRId64 " words of 32 columns: the masks leave s32",
                   row_blocks, words_of(cols));
}

static mc_status check_matrix(const mc_vsparse *a, mc_diag *diag) {
    mc_status status = bitmap_check_elements("bitmap-bcrs", a->type, a->vec, diag);
    if (status == MC_OK) status = check_masks(a->row_blocks, a->cols, diag);
    return status == MC_OK ? bitmap_check_vectors(a->vectors, diag) : status;
}

/* -- Pack --------------------------------------------------------------------------------------------- */

static void put_masks(const mc_vsparse *a, mask_pair *pairs) {
    const int64_t words = words_of(a->cols);
    int64_t vector = 0;
    for (int64_t b = 0; b < a->row_blocks; b++)
        for (int64_t w = 0; w < words; w++, pairs++) {
            pairs->first = (int32_t)vector;
            pairs->bits = bitmap_take_word(a->col_idx, (w + 1) * BITMAP_WORD, a->row_ptr[b + 1], &vector);
        }
    for (int i = 0; i < BITMAP_END; i++) *pairs++ = (mask_pair){.first = (int32_t)vector};
}

static void put_values(const mc_vsparse *a, void *values) {
    if (a->vectors > 0) memcpy(values, a->values, (size_t)(a->vectors * a->vec));
}

/* PACKED, which is empty, gets the array `masks`. */
static mc_status pack_masks(const mc_vsparse *a, mc_packed *packed, mc_diag *diag) {
    mc_status status = check_matrix(a, diag);
    if (status == MC_OK)
        status = packed_add(packed, "masks", MC_S32, 2 * pair_count(a->row_blocks, a->cols), diag);
    if (status == MC_OK) put_masks(a, packed->arrays[0].data);
    return status;
}

mc_status bitmap_pack(const mc_vsparse *a, mc_packed *packed, mc_diag *diag) {
    *packed = (mc_packed){0};
    mc_status status = pack_masks(a, packed, diag);
    if (status == MC_OK)
        status = packed_add(packed, "values", a->type, value_count(a->vectors, a->vec), diag);
    if (status == MC_OK) put_values(a, packed->arrays[1].data);
    else mc_packed_free(packed);
    return status;
}

mc_status bitmap_pack_values(const mc_vsparse *a, mc_packed *packed, mc_diag *diag) {
    mc_packed want = {0};
    const mc_packed_array *values = NULL;
    mc_status status = pack_masks(a, &want, diag);
    if (status == MC_OK) status = packed_check_same(packed, &want, "this matrix", diag);
    if (status == MC_OK)
        status = packed_get(packed, "values", a->type, value_count(a->vectors, a->vec), &values, diag);
    if (status == MC_OK) put_values(a, values->data);
    mc_packed_free(&want);
    return status;
}

/* -- Slots: a vector is one, and a group of its own --------------------------------------------------- */

static mc_status bitmap_slots(const mc_vsparse *a, packed_slots *slots, mc_diag *diag) {
    *slots = (packed_slots){.vec = a->vec, .group = 1, .period = a->vec};
    mc_status status = check_matrix(a, diag);
    if (status == MC_OK) status = code_make(a->type, 0, code_unit(a->type, MC_U8), &slots->code, diag);
    if (status == MC_OK) status = packed_slots_create("values", a->vectors, slots, diag);
    if (status != MC_OK) return status;
    for (int r = 0; r < a->vec; r++) slots->pieces[r] = packed_piece(slots, 0, r, 0);
    for (int64_t v = 0; v < a->vectors; v++) slots->vectors[v] = (int32_t)v;
    return MC_OK;
}

/* -- Unpack ------------------------------------------------------------------------------------------- */

static mc_status check_first(const mask_pair *pairs, int64_t index, int64_t vectors, mc_diag *diag) {
    if (pairs[index].first == vectors) return MC_OK;
    return mc_fail(diag, MC_FORMAT,
                   "masks[%" PRId64 "] is %" PRId32 ", must be %" PRId64 ", the vectors before", 2 * index,
                   pairs[index].first, vectors);
}

static mc_status check_bits(const mask_pair *pairs, int64_t index, uint32_t columns, mc_diag *diag) {
    if ((pairs[index].bits & ~columns) == 0) return MC_OK;
    return mc_fail(diag, MC_FORMAT,
                   "masks[%" PRId64 "] is %08" PRIx32 ", which has vectors beyond the last column: only bits "
                   "of %08" PRIx32 " may be set",
                   2 * index + 1, pairs[index].bits, columns);
}

/* VECTORS receives how many there are. */
static mc_status check_pairs(const mask_pair *pairs, int64_t row_blocks, int64_t cols, int64_t *vectors,
                             mc_diag *diag) {
    const int64_t words = words_of(cols), end = row_blocks * words, all = pair_count(row_blocks, cols);
    mc_status status = MC_OK;
    *vectors = 0;
    for (int64_t i = 0; i < all && status == MC_OK; i++) {
        const uint32_t columns = i < end ? bitmap_word_columns(cols, i % words) : 0;
        status = check_first(pairs, i, *vectors, diag);
        if (status == MC_OK) status = check_bits(pairs, i, columns, diag);
        *vectors += __builtin_popcount(pairs[i].bits);
    }
    return status;
}

static mc_status check_tail(const mc_packed_array *values, int64_t first, mc_diag *diag) {
    const uint8_t *bytes = values->data;
    for (int64_t i = first; i < values->count; i++)
        if (bytes[i] != 0)
            return mc_fail(diag, MC_FORMAT, "values[%" PRId64 "] is behind the last vector and must be 0", i);
    return MC_OK;
}

static void take_pattern(const mask_pair *pairs, mc_vsparse *a) {
    const int64_t words = words_of(a->cols);
    int64_t vector = 0;
    for (int64_t b = 0; b < a->row_blocks; b++) {
        for (int64_t w = 0; w < words; w++)
            vector += bitmap_put_columns(pairs[b * words + w].bits, w, a->col_idx + vector);
        a->row_ptr[b + 1] = vector;
    }
}

/* Both arrays, which are checked but for the vectors' own bytes: these may be any. */
static mc_status find_arrays(const mc_packed *packed, const mc_vsparse *shape, const mc_packed_array **masks,
                             const mc_packed_array **values, int64_t *vectors, mc_diag *diag) {
    mc_status status = check_masks(shape->row_blocks, shape->cols, diag);
    if (status == MC_OK)
        status =
            packed_get(packed, "masks", MC_S32, 2 * pair_count(shape->row_blocks, shape->cols), masks, diag);
    if (status == MC_OK) status = check_pairs((*masks)->data, shape->row_blocks, shape->cols, vectors, diag);
    if (status == MC_OK)
        status = packed_get(packed, "values", shape->type, value_count(*vectors, shape->vec), values, diag);
    return status == MC_OK ? check_tail(*values, *vectors * shape->vec, diag) : status;
}

mc_status bitmap_unpack(const mc_packed *packed, mc_type type, int vec, int64_t rows, int64_t cols,
                        mc_vsparse *a, mc_diag *diag) {
    const mc_packed_array *masks = NULL, *values = NULL;
    int64_t vectors = 0;
    *a = (mc_vsparse){0};
    mc_status status = bitmap_check_elements("bitmap-bcrs", type, vec, diag);
    if (status == MC_OK) status = packed_check_shape(vec, rows, cols, diag);
    if (status != MC_OK) return status;
    const mc_vsparse shape = {.type = type, .vec = vec, .row_blocks = rows / vec, .cols = cols};
    status = find_arrays(packed, &shape, &masks, &values, &vectors, diag);
    if (status == MC_OK) status = mcrt_vsparse_create(type, vec, shape.row_blocks, cols, vectors, a, diag);
    if (status != MC_OK) return status;
    take_pattern(masks->data, a);
    if (vectors > 0) memcpy(a->values, values->data, (size_t)(vectors * vec));
    return MC_OK;
}

/* -- As a row ----------------------------------------------------------------------------------------- */

static mc_status pack(const mc_kernel *kernel, const host_matrix *a, mc_packed *packed, mc_diag *diag) {
    (void)kernel;
    return bitmap_pack(a->vectors, packed, diag);
}

static mc_status pack_values(const mc_kernel *kernel, const host_matrix *a, mc_packed *packed,
                             mc_diag *diag) {
    (void)kernel;
    return bitmap_pack_values(a->vectors, packed, diag);
}

static mc_status slots_of(const mc_kernel *kernel, const host_matrix *a, packed_slots *slots, mc_diag *diag) {
    (void)kernel;
    return bitmap_slots(a->vectors, slots, diag);
}

static mc_status unpack(const mc_kernel *kernel, const mc_packed *packed, mc_type type, int64_t rows,
                        int64_t cols, mc_vsparse *a, mc_diag *diag) {
    return bitmap_unpack(packed, type, (int)mc_kernel_field(kernel, "vec"), rows, cols, a, diag);
}

const packed_format format_bitmap = {.name = "bitmap-bcrs",
                                     .doc = "values as they are, with a bit for each column of a row block",
                                     .kind = MATRIX_VECTORS,
                                     .unit = MC_U8,
                                     .floats = true,
                                     .type = "lhs",
                                     .cols = "k",
                                     .form = "lhs vec",
                                     .pack = pack,
                                     .pack_values = pack_values,
                                     .slots = slots_of,
                                     .unpack = unpack};
