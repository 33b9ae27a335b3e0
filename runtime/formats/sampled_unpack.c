/* Masks out of sampled-list and sampled-windows. Everything that is read is checked. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "base/memory.h"
#include "formats/order.h"
#include "formats/sampled_items.h"
#include "formats/sampled_window.h"
#include "matrix/vsparse.h"

typedef struct source {
    const mc_sampled *form;
    const sampled_entry *items;
    int64_t count;
    int32_t *columns; /* [item][slot]; -1: none */
    int64_t row_blocks, cols;
} source;

static int32_t column_at(const source *s, int64_t n, int i) {
    return s->columns[n * sampled_item_slots(s->form) + i];
}

static mc_status check_item(const source *s, int64_t n, mc_diag *diag) {
    const sampled_entry *it = &s->items[n];
    if (it->block < 0 || it->block >= s->row_blocks)
        return mc_fail(diag, MC_FORMAT, "item %" PRId64 " is of row block %" PRId32 " of %" PRId64, n,
                       it->block, s->row_blocks);
    if (it->count < 1 || it->count > sampled_item_slots(s->form))
        return mc_fail(diag, MC_FORMAT, "item %" PRId64 " has %" PRId32 " slots, must have 1 to %" PRId64, n,
                       it->count, sampled_item_slots(s->form));
    return MC_OK;
}

/* COUNT receives the vectors of each row block. */
static mc_status count_vectors(const source *s, int64_t *count, mc_diag *diag) {
    for (int64_t n = 0; n < s->count; n++) {
        mc_status status = check_item(s, n, diag);
        if (status != MC_OK) return status;
        for (int i = 0; i < s->items[n].count; i++) {
            int32_t col = column_at(s, n, i);
            if (col < -1 || col >= s->cols)
                return mc_fail(diag, MC_FORMAT,
                               "slot %d of item %" PRId64 " has column %" PRId32 " of %" PRId64, i, n, col,
                               s->cols);
            count[s->items[n].block] += col >= 0;
        }
    }
    return MC_OK;
}

static mc_status take_columns(const source *s, const int64_t *start, mc_vsparse *mask, mc_diag *diag) {
    memset(mask->col_idx, -1, (size_t)mask->vectors * sizeof *mask->col_idx);
    for (int64_t n = 0; n < s->count; n++) {
        int64_t block = s->items[n].block, vector = mask->row_ptr[block] + s->items[n].first - start[block];
        for (int i = 0; i < s->items[n].count; i++) {
            int32_t col = column_at(s, n, i);
            if (col < 0) continue;
            if (vector + i < mask->row_ptr[block] || vector + i >= mask->row_ptr[block + 1])
                return mc_fail(diag, MC_FORMAT,
                               "slot %d of item %" PRId64 " holds a vector, but is none of the %" PRId64
                               " that row block %" PRId64 " has",
                               i, n, mask->row_ptr[block + 1] - mask->row_ptr[block], block);
            mask->col_idx[vector + i] = col;
        }
    }
    return MC_OK;
}

/* A slot that no item has is one with column -1 here. */
static mc_status check_ascending(const mc_vsparse *mask, mc_diag *diag) {
    for (int64_t b = 0; b < mask->row_blocks; b++) {
        int32_t before = -1;
        for (int64_t v = mask->row_ptr[b]; v < mask->row_ptr[b + 1]; before = mask->col_idx[v++])
            if (mask->col_idx[v] <= before)
                return mc_fail(diag, MC_FORMAT,
                               "vector %" PRId64 " of row block %" PRId64 " has column %" PRId32
                               " after column %" PRId32 ": columns must ascend",
                               v - mask->row_ptr[b], b, mask->col_idx[v], before);
    }
    return MC_OK;
}

/* The values of C's vectors; those of its padding must be 0. */
static mc_status take_values(const sampled_plan *p, const mc_packed *packed, mc_vsparse *mask,
                             mc_diag *diag) {
    const mc_packed_array *array;
    mc_status status = packed_get(packed, "mask_values", MC_F32, sampled_value_count(p), &array, diag);
    if (status != MC_OK) return status;
    const uint32_t *values = array->data;
    for (int64_t b = 0; b < mask->row_blocks; b++)
        for (int64_t slot = p->start[b]; slot < p->start[b + 1]; slot++) {
            int64_t vector = mask->row_ptr[b] + slot - p->start[b];
            for (int r = 0; r < mask->vec; r++) {
                int64_t place = order_place(p->form->order, mask->vec, slot, r);
                if (vector < mask->row_ptr[b + 1]) mc_vsparse_set_value(mask, vector, r, values[place]);
                else if (values[place] != 0)
                    return mc_fail(diag, MC_FORMAT, "mask_values[%" PRId64 "] is of padding and must be 0",
                                   place);
            }
        }
    return MC_OK;
}

/* MASK has its row_ptr. What its columns do not say (places, padding, how slots are given out) is right if
   packing it again gives the same. */
static mc_status take_all(const source *s, const mc_packed *packed, mc_vsparse *mask, mc_diag *diag) {
    sampled_plan p;
    mc_packed again = {0};
    mc_status status = sampled_plan_open(&p, mask, s->form, diag);
    if (status == MC_OK) status = take_columns(s, p.start, mask, diag);
    if (status == MC_OK) status = check_ascending(mask, diag);
    if (status == MC_OK) status = sampled_put_pattern(&p, &again, diag);
    if (status == MC_OK) status = packed_check_same(packed, &again, "the mask that the columns make", diag);
    if (status == MC_OK && s->form->values) status = take_values(&p, packed, mask, diag);
    mc_packed_free(&again);
    free(p.start);
    return status;
}

static mc_status unpack_counted(const source *s, const mc_packed *packed, int vec, const int64_t *count,
                                mc_vsparse *mask, mc_diag *diag) {
    int64_t vectors = 0;
    for (int64_t b = 0; b < s->row_blocks; b++) vectors += count[b];
    mc_status status = mcrt_vsparse_create(MC_F32, vec, s->row_blocks, s->cols, vectors, mask, diag);
    if (status != MC_OK) return status;
    for (int64_t b = 0; b < s->row_blocks; b++) mask->row_ptr[b + 1] = mask->row_ptr[b] + count[b];
    status = take_all(s, packed, mask, diag);
    if (status != MC_OK) mc_vsparse_free(mask);
    return status;
}

static mc_status find_items(const mc_packed *packed, source *s, mc_diag *diag) {
    const mc_packed_array *items;
    mc_status status = packed_get(packed, "items", MC_S32, -1, &items, diag);
    if (status != MC_OK) return status;
    if (items->count % SAMPLED_ITEM_FIELDS != 0)
        return mc_fail(diag, MC_FORMAT, "items has %" PRId64 " elements, must have %d for each item",
                       items->count, (int)SAMPLED_ITEM_FIELDS);
    s->items = items->data;
    s->count = items->count / SAMPLED_ITEM_FIELDS;
    return MC_OK;
}

static void get_listed(const source *s, const int32_t *col_idx) {
    int64_t slots = sampled_item_slots(s->form);
    for (int64_t i = 0; i < s->count * slots; i++)
        s->columns[i] = col_idx[i - i % slots + sampled_list_place(s->form, (int)(i % slots))];
}

/* WINDOW_PTR may hold anything: what is taken from it is compared in the end. */
static mc_status get_windowed(const source *s, const int32_t *col_idx, const int32_t *window_ptr,
                              mc_diag *diag) {
    int64_t slots = sampled_item_slots(s->form), windows = sampled_windows(s->form, s->cols), w = 0;
    mc_status status = MC_OK;
    for (int64_t n = 0; n < s->count && status == MC_OK; n++) {
        while (w + 1 < windows && window_ptr[w + 1] <= n) w++;
        const sampled_item of = {
            .groups = s->form->groups, .first_column = w * s->form->window, .number = n, .cols = s->cols};
        status = sampled_get_entries(&of, col_idx + n * slots, s->columns + n * slots, diag);
    }
    return status;
}

/* s->columns, malloc'ed. */
static mc_status get_columns(const mc_packed *packed, source *s, mc_diag *diag) {
    const mc_packed_array *col_idx, *window_ptr = NULL;
    int64_t slots = mcrt_product(s->count, sampled_item_slots(s->form));
    mc_status status = packed_get(packed, "col_idx", MC_S32, slots, &col_idx, diag);
    if (status == MC_OK && s->form->windows)
        status = packed_get(packed, "window_ptr", MC_S32, sampled_windows(s->form, s->cols) + 1, &window_ptr,
                            diag);
    if (status != MC_OK) return status;
    s->columns = mcrt_array(slots, sizeof *s->columns);
    if (!s->columns) return mcrt_no_memory(diag, slots, "slots");
    if (window_ptr) return get_windowed(s, col_idx->data, window_ptr->data, diag);
    get_listed(s, col_idx->data);
    return MC_OK;
}

static mc_status unpack_source(source *s, const mc_packed *packed, int vec, mc_vsparse *mask, mc_diag *diag) {
    int64_t *count = mcrt_array(s->row_blocks, sizeof *count);
    if (!count) return mcrt_no_memory(diag, s->row_blocks, "row blocks");
    mc_status status = count_vectors(s, count, diag);
    if (status == MC_OK) status = unpack_counted(s, packed, vec, count, mask, diag);
    free(count);
    return status;
}

mc_status mc_sampled_unpack(const mc_packed *packed, int vec, const mc_sampled *form, int64_t rows,
                            int64_t cols, mc_vsparse *mask, mc_diag *diag) {
    source s = {.form = form, .cols = cols};
    *mask = (mc_vsparse){0};
    mc_status status = packed_check_shape(vec, rows, cols, diag);
    if (status == MC_OK) status = sampled_check_form(form, diag);
    if (status == MC_OK) status = find_items(packed, &s, diag);
    if (status != MC_OK) return status;
    s.row_blocks = rows / vec;
    status = get_columns(packed, &s, diag);
    if (status == MC_OK) status = unpack_source(&s, packed, vec, mask, diag);
    free(s.columns);
    return status;
}
