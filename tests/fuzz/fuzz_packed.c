/* Any bytes as packed arrays: refused with a message, or a matrix that packs into these very arrays. */
#include "arithmetic/integer/digit.h"
#include <stdlib.h>
#include <string.h>
#include "formats/bitmap.h"
#include "formats/bitmap_tiles.h"
#include "mcrt_internal.h"
#include "parts/bitmap.h"
#include "parts/bitmap_tiles.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Bits of the first four bytes: which format in which form, and the matrix's type and shape. */
typedef struct input {
    int format;
    mc_srbcrs srbcrs;
    mc_strided strided;
    mc_sampled sampled;
    mc_hrpb hrpb;
    int64_t tile_rows; /* of bitmap-tiles */
    mc_type type;
    int vec;
    int64_t rows, cols;
} input;

/* The first byte chooses one of FORMATS; bitmap-tiles is a BITMAP with a bit of the second one. */
enum { BCRS, SRBCRS, STRIDED, SAMPLED, HRPB, BITMAP, FORMATS, TILES = FORMATS, HEAD = 4 };

static input choose(const uint8_t head[HEAD]) {
    static const mc_type types[] = {MC_S4, MC_U4, MC_S8, MC_U8, MC_S12, MC_U12, MC_S16, MC_U16};
    static const mc_order orders[] = {MC_ORDER_BCRS, MC_ORDER_SRBCRS16, MC_ORDER_SRBCRS32, MC_ORDER_BCRS};
    input in = {.format = head[0] % FORMATS, .type = types[head[0] >> 5], .vec = (head[1] & 7) + 1};
    in.srbcrs = (mc_srbcrs){head[1] & 8 ? 32 : 16, head[1] & 16 ? 4 : 8, head[1] & 32};
    in.strided = (mc_strided){.stride = head[1] & 8 ? 64 : 32,
                              .heads = (head[1] >> 6) + 1,
                              .coding = (mc_coding)((head[0] >> 3 & 3) % 3),
                              .int4 = head[1] & 16,
                              .shuffle = head[1] & 32};
    if (in.format == STRIDED && (head[0] & 4)) in.type = head[0] & 32 ? MC_BF16 : MC_F16;
    in.sampled = (mc_sampled){.groups = 1 << (head[1] >> 3 & 3),
                              .window = head[1] & 32 ? 5 : MC_OPEN,
                              .order = orders[head[1] >> 6],
                              .values = head[0] & 4,
                              .windows = (head[1] & 32) && (head[0] & 16)};
    in.hrpb = (mc_hrpb){.tile_rows = head[1] & 8 ? 32 : 16, .tile_cols = head[1] & 16 ? 16 : 4};
    if (in.format == BITMAP) in.type = head[0] & 32 ? MC_U8 : MC_S8, in.vec = head[1] & 8 ? 16 : 8;
    if (in.format == BITMAP && (head[1] & 16)) in.format = TILES;
    in.tile_rows = in.vec << (head[1] >> 5 & 3);
    in.rows = (int64_t)in.vec * (head[2] & 7);
    if (in.format == HRPB) in.rows = head[2] & 63;
    in.cols = head[3];
    return in;
}

/* Of SLOTS slots. */
static int64_t value_bytes(const input *in, int64_t slots) {
    int bits = mc_type_bits(in->type), digits = in->srbcrs.piece_bits;
    int planes = bits == 12 ? 16 / digits : bits < digits ? 1 : bits / digits;
    bool ones = in->strided.coding == MC_DIGITS_OFFSET, int4 = in->strided.int4;
    if (in->format == BCRS) return mc_type_size(in->type, slots * in->vec);
    if (in->format == SRBCRS) return slots * in->vec * planes * digits / 8;
    if (mc_type_is_real(in->type)) return mc_type_size(in->type, slots * in->vec);
    digits = int4 ? 4 : 8;
    return slots * ((bits + digits - 1) / digits * in->vec + ones) * digits / 8;
}

static mc_status unpack(const input *in, const mc_packed *packed, mc_vsparse *a, mc_diag *diag) {
    if (in->format == BCRS) return mc_bcrs_import(packed, in->type, in->vec, in->rows, in->cols, a, diag);
    if (in->format == SRBCRS)
        return mc_srbcrs_import(packed, in->type, in->vec, &in->srbcrs, in->rows, in->cols, a, diag);
    if (in->format == HRPB) return mc_hrpb_import(packed, in->type, &in->hrpb, in->rows, in->cols, a, diag);
    if (in->format == SAMPLED)
        return mc_sampled_unpack(packed, in->vec, &in->sampled, in->rows, in->cols, a, diag);
    if (in->format == BITMAP) return bitmap_unpack(packed, in->type, in->vec, in->rows, in->cols, a, diag);
    if (in->format == TILES)
        return bitmap_tiles_unpack(packed, in->type, in->vec, in->tile_rows, in->rows, in->cols, a, diag);
    return mc_strided_unpack(packed, in->type, in->vec, &in->strided, in->rows, in->cols, a, diag);
}

static mc_status pack(const input *in, const mc_vsparse *a, mc_packed *packed, mc_diag *diag) {
    if (in->format == BCRS) return mc_bcrs_export(a, packed, diag);
    if (in->format == SRBCRS) return mc_srbcrs_export(a, &in->srbcrs, packed, diag);
    if (in->format == HRPB) return mc_hrpb_export(a, &in->hrpb, packed, diag);
    if (in->format == SAMPLED) return mc_sampled_pack(a, &in->sampled, packed, diag);
    if (in->format == BITMAP) return bitmap_pack(a, packed, diag);
    if (in->format == TILES) return bitmap_tiles_pack(a, in->tile_rows, packed, diag);
    return mc_strided_pack(a, &in->strided, packed, diag);
}

/* Takes COUNT elements off the input; those that it lacks are 0. Indices are a byte each, 255 is -1. */
static mc_packed_array take(const char *name, mc_type type, int64_t count, const uint8_t **data,
                            size_t *size) {
    size_t element = mc_type_bytes(type), given = *size < (size_t)count ? *size : (size_t)count;
    mc_packed_array array = {name, type, count, calloc((size_t)count + 1, element)};
    if (!array.data) abort();
    for (size_t i = 0; i < given; i++) {
        if (type == MC_S32) ((int32_t *)array.data)[i] = (*data)[i] == 255 ? -1 : (*data)[i];
        else ((uint8_t *)array.data)[i] = (*data)[i];
    }
    *data += given, *size -= given;
    return array;
}

static bool same(const mc_packed *a, const mc_packed *b) {
    bool same = a->array_count == b->array_count;
    for (size_t i = 0; same && i < a->array_count; i++)
        same = a->arrays[i].count == b->arrays[i].count &&
               memcmp(a->arrays[i].data, b->arrays[i].data,
                      (size_t)mc_type_size(a->arrays[i].type, a->arrays[i].count)) == 0;
    return same;
}

static void check(const input *in, const mc_packed *packed, mc_diag *diag) {
    mc_vsparse a;
    mc_packed again;
    mc_status status = unpack(in, packed, &a, diag);
    if ((status != MC_OK) != (mc_diag_count(diag) > 0)) abort();
    if (status != MC_OK) {
        if (a.values) abort();
        return;
    }
    if (pack(in, &a, &again, diag) != MC_OK || !same(packed, &again)) abort();
    mc_packed_free(&again);
    mc_vsparse_free(&a);
}

static void take_slots(const input *in, int64_t slots, const uint8_t *data, size_t size, mc_packed *packed) {
    int64_t blocks = in->rows / in->vec;
    bool pairs = in->format == SRBCRS;
    if (in->format != BCRS) slots = (slots & 15) * (pairs ? in->srbcrs.k : in->strided.stride);
    packed->arrays[0] = take("row_ptr", MC_S32, pairs ? 2 * blocks : blocks + 1, &data, &size);
    packed->arrays[1] = take("col_idx", MC_S32, slots, &data, &size);
    packed->arrays[2] = take("values", MC_S8, value_bytes(in, slots), &data, &size);
    packed->array_count = 3;
}

/* Bytes become indices of sampled-windows: the slot in the high half, the column in the low one; 15: none. */
static void make_entries(const mc_packed_array *array) {
    int32_t *index = array->data;
    for (int64_t i = 0; i < array->count; i++) {
        int32_t slot = (index[i] >> 4 & 15) << 16, column = index[i] & 15;
        index[i] = column == 15 ? INT32_MIN | slot : slot | column;
    }
}

/* As many values as the items have slots. */
static void take_items(const input *in, int64_t items, const uint8_t *data, size_t size, mc_packed *packed) {
    packed->arrays[0] = take("items", MC_S32, 4 * items, &data, &size);
    packed->arrays[1] = take("col_idx", MC_S32, items * 16 * in->sampled.groups, &data, &size);
    packed->array_count = 2;
    if (in->sampled.windows) {
        make_entries(&packed->arrays[1]);
        packed->arrays[packed->array_count++] = take(
            "window_ptr", MC_S32, (in->cols + in->sampled.window - 1) / in->sampled.window + 1, &data, &size);
    }
    if (!in->sampled.values) return;
    int64_t slots = 0;
    const int32_t *fields = packed->arrays[0].data;
    for (int64_t n = 0; n < items; n++) slots += fields[4 * n + 2] > 0 ? fields[4 * n + 2] : 0;
    packed->arrays[packed->array_count++] = take("mask_values", MC_F32, slots * in->vec, &data, &size);
}

/* BLOCKS blocks; offsets are a byte of the input for each 16. */
static void take_blocks(const input *in, int64_t blocks, const uint8_t *data, size_t size,
                        mc_packed *packed) {
    const int64_t panels = (in->rows + in->hrpb.tile_rows - 1) / in->hrpb.tile_rows;
    packed->arrays[0] = take("blocked_row_ptr", MC_S32, panels + 1, &data, &size);
    packed->arrays[1] = take("size_ptr", MC_S32, blocks + 1, &data, &size);
    packed->arrays[2] = take("active_cols", MC_S32, blocks * in->hrpb.tile_cols, &data, &size);
    int32_t *sizes = packed->arrays[1].data;
    for (int64_t i = 0; i <= blocks; i++) sizes[i] *= 16;
    packed->arrays[3] = take("packed_blocks", MC_S8, sizes[blocks] > 0 ? sizes[blocks] : 0, &data, &size);
    packed->array_count = 4;
}

/* Room for VECTORS vectors; a byte of the input is a number, or the first eight bits of a word. */
static void take_masks(const input *in, int64_t vectors, const uint8_t *data, size_t size,
                       mc_packed *packed) {
    const int64_t pairs = in->rows / in->vec * ((in->cols + 127) / 128 * 4) + BITMAP_END;
    packed->arrays[0] = take("masks", MC_S32, 2 * pairs, &data, &size);
    packed->arrays[1] = take("values", in->type, (vectors * in->vec + 15) / 16 * 16 + 32, &data, &size);
    packed->array_count = 2;
}

/* Bytes become words of bitmap-tiles: the first slot's number in the high half, pairs in the low one. */
static void make_words(const mc_packed_array *array) {
    int32_t *word = array->data;
    for (int64_t i = 0; i < array->count; i++)
        word[i] = (word[i] >> 4 & 15) << BITMAP_TILES_FIRST_SHIFT | (word[i] & 15);
}

/* Room for SLOTS slots of pairs. */
static void take_tiles(const input *in, int64_t slots, const uint8_t *data, size_t size, mc_packed *packed) {
    const int64_t tiles = (in->rows + in->tile_rows - 1) / in->tile_rows;
    const int64_t stages = tiles * ((in->cols + BITMAP_TILES_STAGE - 1) / BITMAP_TILES_STAGE);
    const int64_t words = stages * BITMAP_TILES_STEPS * (in->tile_rows / in->vec);
    packed->arrays[0] = take("starts", MC_S32, stages + 1, &data, &size);
    packed->arrays[1] = take("masks", MC_S32, words, &data, &size);
    packed->arrays[2] = take("values", in->type, slots * 2 * in->vec, &data, &size);
    packed->array_count = 3;
    make_words(&packed->arrays[1]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < HEAD + 1) return 0;
    const input in = choose(data);
    mc_packed packed = {0};
    if (in.format == SAMPLED) take_items(&in, data[HEAD], data + HEAD + 1, size - HEAD - 1, &packed);
    else if (in.format == HRPB) take_blocks(&in, data[HEAD] & 15, data + HEAD + 1, size - HEAD - 1, &packed);
    else if (in.format == BITMAP) take_masks(&in, data[HEAD], data + HEAD + 1, size - HEAD - 1, &packed);
    else if (in.format == TILES) take_tiles(&in, data[HEAD], data + HEAD + 1, size - HEAD - 1, &packed);
    else take_slots(&in, data[HEAD], data + HEAD + 1, size - HEAD - 1, &packed);
    mc_diag *diag = mc_diag_create();
    check(&in, &packed, diag);
    mc_diag_destroy(diag);
    mc_packed_free(&packed);
    return 0;
}
