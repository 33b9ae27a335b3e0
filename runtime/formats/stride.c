#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "base/element.h"
#include "parts/integer/nibbles.h"
#include "base/memory.h"
#include "formats/stride.h"
#include "matrix/vsparse.h"

int64_t stride_head_slots(const stride_layout *layout) { return (int64_t)layout->heads * layout->stride; }

int64_t stride_tail_slots(const stride_layout *layout, int64_t count) {
    int64_t tail = count - stride_head_slots(layout);
    if (tail <= 0) return 0;
    return tail / layout->stride * layout->stride + (tail % layout->stride ? layout->stride : 0);
}

int64_t stride_slot(const stride_layout *layout, int64_t start, int64_t block, int64_t vector) {
    int64_t heads = stride_head_slots(layout);
    return vector < heads ? block * heads + vector : start + vector - heads;
}

int64_t stride_plain_index(const stride_layout *layout, int64_t slot) {
    (void)layout;
    return slot;
}

int64_t stride_shuffled_index(const stride_layout *layout, int64_t slot) {
    (void)layout;
    return shuffled_slot(slot);
}

/* -- Named arrays */

void mc_packed_free(mc_packed *packed) {
    for (size_t i = 0; i < packed->array_count; i++) free(packed->arrays[i].data);
    *packed = (mc_packed){0};
}

const mc_packed_array *mc_packed_find(const mc_packed *packed, const char *name) {
    for (size_t i = 0; i < packed->array_count; i++)
        if (strcmp(packed->arrays[i].name, name) == 0) return &packed->arrays[i];
    return NULL;
}

mc_status packed_add(mc_packed *packed, const char *name, mc_type type, int64_t count, mc_diag *diag) {
    void *data = mcrt_array(mc_type_size(type, count), 1);
    if (!data) return mcrt_no_memory(diag, count, "elements of a packed array");
    packed->arrays[packed->array_count++] = (mc_packed_array){name, type, count, data};
    return MC_OK;
}

mc_status packed_get(const mc_packed *packed, const char *name, mc_type type, int64_t count,
                     const mc_packed_array **array, mc_diag *diag) {
    *array = mc_packed_find(packed, name);
    if (!*array) return mc_fail(diag, MC_FORMAT, "there is no packed array %s", name);
    if ((*array)->type != type)
        return mc_fail(diag, MC_FORMAT, "%s holds %s, must hold %s", name, mc_type_text((*array)->type),
                       mc_type_text(type));
    if (count >= 0 && (*array)->count != count)
        return mc_fail(diag, MC_FORMAT, "%s has %" PRId64 " elements, must have %" PRId64, name,
                       (*array)->count, count);
    return MC_OK;
}

static int32_t number_in(const mc_packed_array *array, int64_t i) {
    if (array->type == MC_U16) return ((const uint16_t *)array->data)[i];
    return ((const int32_t *)array->data)[i];
}

/* Arrays of s32 and of u16. */
mc_status packed_check_same(const mc_packed *packed, const mc_packed *want, const char *what, mc_diag *diag) {
    for (size_t a = 0; a < want->array_count; a++) {
        const mc_packed_array *got, *array = &want->arrays[a];
        mc_status status = packed_get(packed, array->name, array->type, array->count, &got, diag);
        if (status != MC_OK) return status;
        for (int64_t i = 0; i < array->count; i++)
            if (number_in(got, i) != number_in(array, i))
                return mc_fail(diag, MC_FORMAT, "%s[%" PRId64 "] is %" PRId32 ", must be %" PRId32 " for %s",
                               array->name, i, number_in(got, i), number_in(array, i), what);
    }
    return MC_OK;
}

mc_status packed_take_values(mc_packed *packed, mc_packed *made, mc_diag *diag) {
    const mc_packed_array *from = &made->arrays[made->array_count - 1], *to = NULL;
    mc_packed pattern = *made;
    pattern.array_count--;
    mc_status status = packed_check_same(packed, &pattern, "this matrix", diag);
    if (status == MC_OK) status = packed_get(packed, from->name, from->type, from->count, &to, diag);
    if (status == MC_OK && from->count > 0)
        memcpy(to->data, from->data, (size_t)mc_type_size(from->type, from->count));
    mc_packed_free(made);
    return status;
}

mc_status packed_check_shape(int vec, int64_t rows, int64_t cols, mc_diag *diag) {
    const int64_t most_rows = (int64_t)INT32_MAX * MC_MAX_VEC;
    if (vec < 1 || vec > MC_MAX_VEC)
        return mc_fail(diag, MC_USAGE, "vectors of %d elements: must be 1 to %d", vec, MC_MAX_VEC);
    if (rows > most_rows)
        return mc_fail(diag, MC_USAGE, "%" PRId64 " rows: must be 0 to %" PRId64, rows, most_rows);
    if (rows < 0 || rows % vec != 0)
        return mc_fail(diag, MC_USAGE, "%" PRId64 " rows are no row blocks of %d", rows, vec);
    if (cols < 0 || cols > INT32_MAX)
        return mc_fail(diag, MC_USAGE, "%" PRId64 " columns: must be 0 to %d", cols, INT32_MAX);
    return MC_OK;
}

/* -- Packing */

/* Adds up no further than s32, so that no sum leaves s64. */
static mc_status check_slots(const stride_layout *layout, const mc_vsparse *a, mc_diag *diag) {
    int64_t slots = mcrt_product(a->row_blocks, stride_head_slots(layout));
    if (slots < 0) return mc_fail(diag, MC_CANNOT, "the heads' slots leave s64");
    for (int64_t b = 0; b < a->row_blocks && slots <= INT32_MAX; b++)
        slots += stride_tail_slots(layout, a->row_ptr[b + 1] - a->row_ptr[b]);
    if (slots <= INT32_MAX) return MC_OK;
    return mc_fail(diag, MC_CANNOT, "%" PRId64 " padded slots or more leave s32", slots);
}

static mc_status check_matrix(const stride_layout *layout, const mc_vsparse *a, mc_diag *diag) {
    if (a->vec > MC_MAX_VEC)
        return mc_fail(diag, MC_CANNOT, "the packed format holds vectors of 1 to %d elements, the matrix %d",
                       MC_MAX_VEC, a->vec);
    return check_slots(layout, a, diag);
}

mc_status stride_starts(const stride_layout *layout, const mc_vsparse *a, int64_t **start, mc_diag *diag) {
    *start = NULL;
    mc_status status = check_matrix(layout, a, diag);
    if (status != MC_OK) return status;
    int64_t *starts = *start = mcrt_array(a->row_blocks + 1, sizeof *starts);
    if (!starts) return mcrt_no_memory(diag, a->row_blocks, "row blocks");
    starts[0] = a->row_blocks * stride_head_slots(layout);
    for (int64_t b = 0; b < a->row_blocks; b++)
        starts[b + 1] = starts[b] + stride_tail_slots(layout, a->row_ptr[b + 1] - a->row_ptr[b]);
    return MC_OK;
}

static int64_t piece_count(const stride_layout *layout, int64_t slots) {
    return mcrt_product(slots, layout->planes * layout->vec + layout->code.ones);
}

/* Of values. */
static int64_t value_bytes(const stride_layout *layout, int64_t slots) {
    return mc_type_size(layout->code.unit, piece_count(layout, slots));
}

static void put_values(const stride_layout *layout, const mc_vsparse *a, int64_t vector, int64_t slot,
                       void *values) {
    const value_code *code = &layout->code;
    for (int r = 0; r < a->vec; r++) {
        int64_t pieces[CODE_PIECES];
        code_split(code, mc_vsparse_value(a, vector, r), pieces);
        for (int p = 0; p < code->pieces; p++)
            element_set(code->unit, values, layout->value_place(layout, slot, r, p), pieces[p]);
    }
    if (code->ones) element_set(code->unit, values, layout->value_place(layout, slot, 0, layout->planes), 1);
}

static void put_all_values(const stride_layout *layout, const mc_vsparse *a, const int64_t *start,
                           void *values) {
    for (int64_t b = 0; b < a->row_blocks; b++)
        for (int64_t v = a->row_ptr[b]; v < a->row_ptr[b + 1]; v++)
            put_values(layout, a, v, stride_slot(layout, start[b], b, v - a->row_ptr[b]), values);
}

static void put_columns(const stride_layout *layout, const mc_vsparse *a, const int64_t *start,
                        int32_t *col_idx) {
    memset(col_idx, -1, (size_t)start[a->row_blocks] * sizeof *col_idx);
    for (int64_t b = 0; b < a->row_blocks; b++)
        for (int64_t v = a->row_ptr[b]; v < a->row_ptr[b + 1]; v++) {
            int64_t slot = stride_slot(layout, start[b], b, v - a->row_ptr[b]);
            col_idx[layout->index_place(layout, slot)] = a->col_idx[v];
        }
}

static mc_status pack_row_ptr(const stride_layout *layout, const mc_vsparse *a, const int64_t *start,
                              mc_packed *packed, mc_diag *diag) {
    int64_t offsets = layout->row_ptr_count(a->row_blocks);
    mc_status status = packed_add(packed, "row_ptr", MC_S32, offsets, diag);
    if (status != MC_OK) return status;
    int32_t *row_ptr = mc_packed_find(packed, "row_ptr")->data;
    for (int64_t i = 0; i < offsets; i++) row_ptr[i] = (int32_t)layout->row_ptr(layout, a, start, i);
    return MC_OK;
}

mc_status stride_add_columns(const stride_layout *layout, const mc_vsparse *a, const int64_t *start,
                             mc_packed *packed, mc_diag *diag) {
    mc_status status = packed_add(packed, "col_idx", MC_S32, start[a->row_blocks], diag);
    if (status == MC_OK) put_columns(layout, a, start, mc_packed_find(packed, "col_idx")->data);
    return status;
}

mc_status stride_add_values(const stride_layout *layout, const mc_vsparse *a, const int64_t *start,
                            mc_packed *packed, mc_diag *diag) {
    mc_status status = packed_add(packed, "values", MC_S8, value_bytes(layout, start[a->row_blocks]), diag);
    if (status == MC_OK) put_all_values(layout, a, start, mc_packed_find(packed, "values")->data);
    return status;
}

static mc_status pack_arrays(const stride_layout *layout, const mc_vsparse *a, const int64_t *start,
                             mc_packed *packed, mc_diag *diag) {
    mc_status status = pack_row_ptr(layout, a, start, packed, diag);
    if (status == MC_OK) status = stride_add_columns(layout, a, start, packed, diag);
    return status == MC_OK ? stride_add_values(layout, a, start, packed, diag) : status;
}

mc_status stride_pack(const stride_layout *layout, const mc_vsparse *a, mc_packed *packed, mc_diag *diag) {
    int64_t *start;
    mc_status status = stride_starts(layout, a, &start, diag);
    if (status == MC_OK) status = code_check(&layout->code, a, diag);
    if (status == MC_OK) status = pack_arrays(layout, a, start, packed, diag);
    free(start);
    if (status != MC_OK) mc_packed_free(packed);
    return status;
}

/* -- Replacing values */

static mc_status check_element(const mc_packed_array *array, int64_t index, int64_t want, mc_diag *diag) {
    int32_t got = ((const int32_t *)array->data)[index];
    if (got == want) return MC_OK;
    return mc_fail(diag, MC_FORMAT,
                   "packed for another pattern: %s[%" PRId64 "] is %" PRId32 ", for this matrix %" PRId64,
                   array->name, index, got, want);
}

static mc_status check_columns(const stride_layout *layout, const mc_vsparse *a, const int64_t *start,
                               const mc_packed_array *col_idx, mc_diag *diag) {
    mc_status status = MC_OK;
    for (int64_t b = 0; b < a->row_blocks; b++) {
        int64_t first = a->row_ptr[b], count = a->row_ptr[b + 1] - first;
        int64_t slots = stride_head_slots(layout) + start[b + 1] - start[b];
        for (int64_t v = 0; v < slots && status == MC_OK; v++) {
            int64_t slot = stride_slot(layout, start[b], b, v);
            status = check_element(col_idx, layout->index_place(layout, slot),
                                   v < count ? a->col_idx[first + v] : -1, diag);
        }
    }
    return status;
}

static mc_status check_pattern(const stride_layout *layout, const mc_vsparse *a, const int64_t *start,
                               const mc_packed *packed, mc_diag *diag) {
    int64_t slots = start[a->row_blocks], offsets = layout->row_ptr_count(a->row_blocks);
    const mc_packed_array *row_ptr = NULL, *col_idx = NULL, *values;
    mc_status status = packed_get(packed, "row_ptr", MC_S32, offsets, &row_ptr, diag);
    if (status == MC_OK) status = packed_get(packed, "col_idx", MC_S32, slots, &col_idx, diag);
    if (status == MC_OK)
        status = packed_get(packed, "values", MC_S8, value_bytes(layout, slots), &values, diag);
    for (int64_t i = 0; i < offsets && status == MC_OK; i++)
        status = check_element(row_ptr, i, layout->row_ptr(layout, a, start, i), diag);
    return status == MC_OK ? check_columns(layout, a, start, col_idx, diag) : status;
}

mc_status stride_pack_values(const stride_layout *layout, const mc_vsparse *a, mc_packed *packed,
                             mc_diag *diag) {
    int64_t *start;
    mc_status status = stride_starts(layout, a, &start, diag);
    if (status == MC_OK) status = check_pattern(layout, a, start, packed, diag);
    if (status == MC_OK) status = code_check(&layout->code, a, diag);
    if (status == MC_OK) put_all_values(layout, a, start, mc_packed_find(packed, "values")->data);
    free(start);
    return status;
}

/* -- Slots */

static void name_pieces(const stride_layout *layout, packed_slots *slots) {
    for (int slot = 0; slot < slots->group; slot++)
        for (int r = 0; r < layout->vec; r++)
            for (int p = 0; p < layout->code.pieces; p++)
                slots->pieces[layout->value_place(layout, slot, r, p)] = packed_piece(slots, slot, r, p);
}

static packed_slots begin_slots(const stride_layout *layout, int group) {
    return (packed_slots){
        .code = layout->code, .vec = layout->vec, .group = group, .period = (int)piece_count(layout, group)};
}

static void add_outline(mc_packed *packed, const char *name, mc_type type, int64_t count) {
    packed->arrays[packed->array_count++] = (mc_packed_array){name, type, count, NULL};
}

mc_status stride_outline(const stride_layout *layout, const mc_vsparse *a, int group, mc_packed *packed,
                         packed_slots *slots, mc_diag *diag) {
    int64_t *start;
    *packed = (mc_packed){0};
    *slots = begin_slots(layout, group);
    mc_status status = stride_starts(layout, a, &start, diag);
    if (status == MC_OK) status = pack_row_ptr(layout, a, start, packed, diag);
    if (status == MC_OK) {
        add_outline(packed, "col_idx", MC_S32, start[a->row_blocks]);
        add_outline(packed, "values", MC_S8, value_bytes(layout, start[a->row_blocks]));
        status = packed_slots_outline("values", start[a->row_blocks] / group, slots, diag);
    }
    if (status == MC_OK) name_pieces(layout, slots);
    free(start);
    return status;
}

mc_status stride_slots(const stride_layout *layout, const mc_vsparse *a, int group, packed_slots *slots,
                       mc_diag *diag) {
    int64_t *start;
    *slots = begin_slots(layout, group);
    mc_status status = stride_starts(layout, a, &start, diag);
    if (status == MC_OK) status = packed_slots_create("values", start[a->row_blocks] / group, slots, diag);
    if (status == MC_OK) name_pieces(layout, slots);
    for (int64_t b = 0; b < a->row_blocks && status == MC_OK; b++)
        for (int64_t v = a->row_ptr[b]; v < a->row_ptr[b + 1]; v++)
            slots->vectors[stride_slot(layout, start[b], b, v - a->row_ptr[b])] = (int32_t)v;
    free(start);
    return status;
}

/* -- Unpacking */

typedef struct packed_source {
    const stride_layout *layout;
    const int32_t *col_idx;
    const void *values;
    mc_diag *diag;
} packed_source;

static int64_t get_piece(const packed_source *s, int64_t slot, int row, int plane) {
    int64_t place = s->layout->value_place(s->layout, slot, row, plane);
    return element_get(s->layout->code.unit, s->values, place);
}

/* The value whose pieces lie in the planes. */
static int64_t join_pieces(const packed_source *s, int64_t slot, int row) {
    int64_t pieces[CODE_PIECES];
    for (int p = 0; p < s->layout->code.pieces; p++) pieces[p] = get_piece(s, slot, row, p);
    return code_join(&s->layout->code, pieces);
}

/* The row of ones, if there is one, holds MARK in SLOT. */
static bool has_mark(const packed_source *s, int64_t slot, int mark) {
    return !s->layout->code.ones || get_piece(s, slot, 0, s->layout->planes) == mark;
}

/* All planes are 0 from FIRST on. */
static bool is_zero(const packed_source *s, int64_t slot, int row, int first) {
    bool zero = true;
    for (int p = first; p < s->layout->planes; p++) zero = zero && get_piece(s, slot, row, p) == 0;
    return zero;
}

static mc_status take_values(const packed_source *s, mc_vsparse *a, int64_t vector, int64_t slot) {
    int pieces = s->layout->code.pieces;
    if (!has_mark(s, slot, 1))
        return mc_fail(s->diag, MC_FORMAT, "slot %" PRId64 " holds a vector, but no 1 behind its digits",
                       slot);
    for (int r = 0; r < a->vec; r++) {
        int64_t value = join_pieces(s, slot, r);
        if (value < mc_type_min(a->type) || value > mc_type_max(a->type))
            return mc_fail(s->diag, MC_FORMAT, "slot %" PRId64 " holds %" PRId64 ", out of %s's range", slot,
                           value, mc_type_text(a->type));
        if (!is_zero(s, slot, r, pieces))
            return mc_fail(s->diag, MC_FORMAT, "slot %" PRId64 " has a digit beyond the %d of %s", slot,
                           pieces, mc_type_text(a->type));
        mc_vsparse_set_value(a, vector, r, value);
    }
    return MC_OK;
}

static mc_status take_block(const packed_source *s, mc_vsparse *a, int64_t block, int64_t start) {
    int32_t before = -1;
    for (int64_t v = a->row_ptr[block]; v < a->row_ptr[block + 1]; v++) {
        int64_t vector = v - a->row_ptr[block], slot = stride_slot(s->layout, start, block, vector);
        int32_t col = s->col_idx[s->layout->index_place(s->layout, slot)];
        if (col < 0 || col >= a->cols)
            return mc_fail(s->diag, MC_FORMAT,
                           "slot %" PRId64 " of row block %" PRId64 " has column %" PRId32 " of %" PRId64,
                           vector, block, col, a->cols);
        if (col <= before)
            return mc_fail(s->diag, MC_FORMAT,
                           "slot %" PRId64 " of row block %" PRId64 " has column %" PRId32
                           " after column %" PRId32 ": columns must ascend",
                           vector, block, col, before);
        a->col_idx[v] = before = col;
        mc_status status = take_values(s, a, v, slot);
        if (status != MC_OK) return status;
    }
    return MC_OK;
}

/* The row block's slots for vectors FIRST to END - 1 are padding. */
static mc_status check_padding(const packed_source *s, int64_t block, int64_t start, int64_t first,
                               int64_t end) {
    for (int64_t vector = first; vector < end; vector++) {
        int64_t slot = stride_slot(s->layout, start, block, vector);
        bool clean = s->col_idx[s->layout->index_place(s->layout, slot)] == -1 && has_mark(s, slot, 0);
        for (int r = 0; r < s->layout->vec; r++) clean = clean && is_zero(s, slot, r, 0);
        if (!clean)
            return mc_fail(s->diag, MC_FORMAT,
                           "row block %" PRId64 ": padding slot %" PRId64 " must have index -1 and values 0",
                           block, slot);
    }
    return MC_OK;
}

static mc_status take_blocks(const packed_source *s, mc_vsparse *a) {
    mc_status status = MC_OK;
    int64_t heads = stride_head_slots(s->layout), start = a->row_blocks * heads;
    for (int64_t b = 0; status == MC_OK && b < a->row_blocks; b++) {
        int64_t count = a->row_ptr[b + 1] - a->row_ptr[b], tail = stride_tail_slots(s->layout, count);
        status = take_block(s, a, b, start);
        if (status == MC_OK) status = check_padding(s, b, start, count, heads + tail);
        start += tail;
    }
    return status;
}

/* The half byte behind an odd number of pieces of 4 bits. */
static mc_status check_last_half(const stride_layout *layout, int64_t slots, const void *values,
                                 mc_diag *diag) {
    int64_t count = piece_count(layout, slots);
    bool halves = mc_type_bytes(layout->code.unit) == 0;
    if (!halves || count % 2 == 0 || element_get(layout->code.unit, values, count) == 0) return MC_OK;
    return mc_fail(diag, MC_FORMAT,
                   "values[%" PRId64 "] ends in half a byte that belongs to no value and must be 0",
                   count / 2);
}

/* Row block b holds COUNT[b] vectors. The row blocks' strides must be all that there is. */
static mc_status unpack_counted(const stride_layout *layout, const mc_packed *packed, const int64_t *count,
                                int64_t row_blocks, int64_t cols, mc_vsparse *a, mc_diag *diag) {
    int64_t vectors = 0, slots = row_blocks * stride_head_slots(layout);
    for (int64_t b = 0; b < row_blocks; b++) {
        vectors += count[b];
        slots += stride_tail_slots(layout, count[b]);
    }
    const mc_packed_array *col_idx, *values;
    mc_status status = packed_get(packed, "col_idx", MC_S32, slots, &col_idx, diag);
    if (status == MC_OK)
        status = packed_get(packed, "values", MC_S8, value_bytes(layout, slots), &values, diag);
    if (status == MC_OK) status = check_last_half(layout, slots, values->data, diag);
    if (status == MC_OK)
        status = mcrt_vsparse_create(layout->code.type, layout->vec, row_blocks, cols, vectors, a, diag);
    if (status != MC_OK) return status;
    for (int64_t b = 0; b < row_blocks; b++) a->row_ptr[b + 1] = a->row_ptr[b] + count[b];
    packed_source source = {layout, col_idx->data, values->data, diag};
    status = take_blocks(&source, a);
    if (status != MC_OK) mc_vsparse_free(a);
    return status;
}

mc_status stride_unpack(const stride_layout *layout, const mc_packed *packed, int64_t rows, int64_t cols,
                        mc_vsparse *a, mc_diag *diag) {
    const mc_packed_array *row_ptr;
    mc_status status = packed_check_shape(layout->vec, rows, cols, diag);
    if (status != MC_OK) return status;
    int64_t row_blocks = rows / layout->vec;
    status = packed_get(packed, "row_ptr", MC_S32, layout->row_ptr_count(row_blocks), &row_ptr, diag);
    if (status != MC_OK) return status;
    int64_t *count = mcrt_array(row_blocks, sizeof *count);
    if (!count) return mcrt_no_memory(diag, row_blocks, "row blocks");
    status = layout->count_blocks(layout, packed, row_blocks, count, diag);
    if (status == MC_OK) status = unpack_counted(layout, packed, count, row_blocks, cols, a, diag);
    free(count);
    return status;
}
