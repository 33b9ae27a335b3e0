/* sampled-list and sampled-windows: what the SDDMM reads of its mask. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "formats/sampled_items.h"
#include "base/memory.h"
#include "formats/format.h"
#include "formats/order.h"
#include "formats/sampled_window.h"

extern const packed_format format_sampled_list, format_sampled_windows;

enum { TENSOR_COPIES_BIT = 2 /* pair_bit: the bit that changes the halves of 128 bytes over there */ };

/* -- Giving out the slots */

/* The window of slot I of the row block; padding goes with the last vector. */
static int64_t window_of(const sampled_plan *p, int64_t block, int64_t i) {
    int64_t first = p->mask->row_ptr[block], last = p->mask->row_ptr[block + 1] - 1;
    if (p->form->window <= 0) return 0;
    return p->mask->col_idx[first + i < last ? first + i : last] / p->form->window;
}

/* Slots of the item that begins with slot I of the row block. */
static int64_t item_length(const sampled_plan *p, int64_t block, int64_t i) {
    int64_t left = p->start[block + 1] - p->start[block] - i, most = sampled_item_slots(p->form), count = 1;
    if (most > left) most = left;
    while (count < most && window_of(p, block, i + count) == window_of(p, block, i)) count++;
    return count;
}

/* In the order of row blocks that take turns. */
static void list_turns(const sampled_plan *p, sampled_entry *items) {
    int64_t turn = p->form->turn, most = sampled_item_slots(p->form), blocks = p->mask->row_blocks;
    for (int64_t first = 0; first < blocks; first += turn) {
        bool more = true;
        for (int64_t i = 0; more; i += most) {
            more = false;
            for (int64_t b = first; b < first + turn && b < blocks; b++) {
                if (i >= p->start[b + 1] - p->start[b]) continue;
                *items++ =
                    (sampled_entry){(int32_t)b, (int32_t)(p->start[b] + i), (int32_t)item_length(p, b, i), 0};
                more = true;
            }
        }
    }
}

/* The number of items, which are put into ITEMS if that is not NULL. */
static int64_t list_items(const sampled_plan *p, sampled_entry *items) {
    int64_t listed = 0, count;
    for (int64_t b = 0; b < p->mask->row_blocks; b++)
        for (int64_t i = 0; i < p->start[b + 1] - p->start[b]; i += count) {
            count = item_length(p, b, i);
            if (items)
                items[listed] = (sampled_entry){(int32_t)b, (int32_t)(p->start[b] + i), (int32_t)count,
                                                (int32_t)window_of(p, b, i)};
            listed++;
        }
    return listed;
}

/* By window; slots ascend with row blocks, and inside them with columns. */
static int compare_items(const void *a, const void *b) {
    const sampled_entry *x = a, *y = b;
    if (x->window != y->window) return x->window < y->window ? -1 : 1;
    return (x->first > y->first) - (x->first < y->first);
}

/* By window, there the longest first, and where they are equally long as above. */
static int compare_lengths(const void *a, const void *b) {
    const sampled_entry *x = a, *y = b;
    if (x->window != y->window || x->count == y->count) return compare_items(a, b);
    return x->count > y->count ? -1 : 1;
}

/* WINDOW_PTR (NULL: not wanted) receives the first item of each window. */
static void put_items(const sampled_plan *p, sampled_entry *items, int64_t count, int32_t *window_ptr) {
    if (p->form->turn > 1) list_turns(p, items);
    else list_items(p, items);
    if (p->form->window > 0)
        qsort(items, (size_t)count, sizeof *items, p->form->windows ? compare_lengths : compare_items);
    for (int64_t w = 0, i = 0; window_ptr && w <= sampled_windows(p->form, p->mask->cols); w++) {
        while (i < count && items[i].window < w) i++;
        window_ptr[w] = (int32_t)i;
    }
    for (int64_t i = 0; i < count; i++) items[i].window = 0;
}

/* COLUMNS of an item, with -1 for padding and for what is beyond its slots. */
static void put_columns(const sampled_plan *p, const sampled_entry *it, int32_t *columns) {
    int64_t block = it->block, vector = p->mask->row_ptr[block] + it->first - p->start[block];
    for (int64_t i = 0; i < sampled_item_slots(p->form); i++) {
        bool used = i < it->count && vector + i < p->mask->row_ptr[block + 1];
        columns[i] = used ? p->mask->col_idx[vector + i] : -1;
    }
}

/* COLUMNS in the rows of the item's mma. */
static void put_indices(const sampled_plan *p, const sampled_entry *it, const int32_t *columns,
                        int32_t *indices) {
    const mc_sampled *form = p->form;
    const int64_t window = window_of(p, it->block, it->first - p->start[it->block]);
    if (form->windows)
        sampled_put_entries(&(sampled_item){.groups = form->groups,
                                            .first_column = window * form->window,
                                            .count = it->count,
                                            .pair_bit = form->pair_bit},
                            columns, indices);
    else
        for (int i = 0; i < sampled_item_slots(form); i++) indices[sampled_list_place(form, i)] = columns[i];
}

static void put_all_indices(const sampled_plan *p, const sampled_entry *items, int64_t count,
                            int32_t *col_idx) {
    int32_t columns[SAMPLED_MAX_ITEM];
    for (int64_t n = 0; n < count; n++) {
        put_columns(p, &items[n], columns);
        put_indices(p, &items[n], columns, col_idx + n * sampled_item_slots(p->form));
    }
}

/* -- Packing */

mc_status sampled_check_form(const mc_sampled *form, mc_diag *diag) {
    if (form->groups != 1 && form->groups != 2 && form->groups != 4 && form->groups != 8)
        return mc_fail(diag, MC_USAGE, "items of %d groups: must be 1, 2, 4 or 8", form->groups);
    if (form->run != 0 && form->run != 1 && form->run != 2 && (form->run != 4 || form->groups == 1))
        return mc_fail(diag, MC_USAGE,
                       "runs of %d slots in items of %d groups: must be 1, 2 or 4, of one group 1 or 2",
                       form->run, form->groups);
    if (form->turn < 0 || (form->turn > 1 && form->window > 0))
        return mc_fail(diag, MC_USAGE,
                       "%d row blocks in turn in windows of %" PRId64 " columns: must be 0, or in one window",
                       form->turn, form->window);
    if (form->window < MC_OPEN)
        return mc_fail(diag, MC_USAGE, "windows of %" PRId64 " columns", form->window);
    if (form->windows && (form->window < 1 || form->window > SAMPLED_MAX_WINDOW))
        return mc_fail(diag, MC_USAGE, "windows of %" PRId64 " columns: must be 1 to %d", form->window,
                       (int)SAMPLED_MAX_WINDOW);
    if (form->pair_bit != 0 && form->pair_bit != TENSOR_COPIES_BIT)
        return mc_fail(diag, MC_USAGE, "pairs of columns by bit %d: must be 0 or %d", form->pair_bit,
                       (int)TENSOR_COPIES_BIT);
    return MC_OK;
}

static mc_status check_mask(const mc_vsparse *mask, const mc_sampled *form, mc_diag *diag) {
    if (mask->vec > MC_MAX_VEC)
        return mc_fail(diag, MC_CANNOT, "the packed format holds vectors of 1 to %d elements, the mask %d",
                       MC_MAX_VEC, mask->vec);
    if (mask->row_blocks > INT32_MAX)
        return mc_fail(diag, MC_CANNOT, "%" PRId64 " row blocks leave s32", mask->row_blocks);
    if (form->values && mask->type != MC_F32)
        return mc_fail(diag, MC_CANNOT, "C is multiplied by the mask's values as f32, the mask holds %s",
                       mc_type_text(mask->type));
    return MC_OK;
}

mc_status sampled_plan_open(sampled_plan *p, const mc_vsparse *mask, const mc_sampled *form, mc_diag *diag) {
    *p = (sampled_plan){.mask = mask, .form = form};
    mc_status status = sampled_check_form(form, diag);
    if (status == MC_OK) status = check_mask(mask, form, diag);
    return status == MC_OK ? order_starts(mask, form->order, &p->start, diag) : status;
}

mc_status sampled_put_pattern(const sampled_plan *p, mc_packed *packed, mc_diag *diag) {
    int64_t count = list_items(p, NULL),
            windows = p->form->windows ? sampled_windows(p->form, p->mask->cols) : 0;
    mc_status status = packed_add(packed, "items", MC_S32, count * SAMPLED_ITEM_FIELDS, diag);
    if (status == MC_OK)
        status =
            packed_add(packed, "col_idx", MC_S32, mcrt_product(count, sampled_item_slots(p->form)), diag);
    if (status == MC_OK && p->form->windows)
        status = packed_add(packed, "window_ptr", MC_S32, windows + 1, diag);
    if (status != MC_OK) return status;
    put_items(p, packed->arrays[0].data, count, p->form->windows ? packed->arrays[2].data : NULL);
    put_all_indices(p, packed->arrays[0].data, count, packed->arrays[1].data);
    return MC_OK;
}

int64_t sampled_value_count(const sampled_plan *p) { return p->start[p->mask->row_blocks] * p->mask->vec; }

static void put_values(const sampled_plan *p, float *values) {
    order_put(p->mask, p->form->order, p->start, MC_F32, p->mask->values, values);
}

mc_status mc_sampled_pack(const mc_vsparse *mask, const mc_sampled *form, mc_packed *packed, mc_diag *diag) {
    sampled_plan p;
    *packed = (mc_packed){0};
    mc_status status = sampled_plan_open(&p, mask, form, diag);
    if (status == MC_OK) status = sampled_put_pattern(&p, packed, diag);
    if (status == MC_OK && form->values)
        status = packed_add(packed, "mask_values", MC_F32, sampled_value_count(&p), diag);
    if (status == MC_OK && form->values) put_values(&p, packed->arrays[packed->array_count - 1].data);
    free(p.start);
    if (status != MC_OK) mc_packed_free(packed);
    return status;
}

int64_t mc_sampled_items(const mc_packed *packed) {
    const mc_packed_array *items = mc_packed_find(packed, "items");
    return items ? items->count / SAMPLED_ITEM_FIELDS : 0;
}

int64_t mc_sampled_longest(const mc_packed *packed) {
    const mc_packed_array *windows = mc_packed_find(packed, "window_ptr");
    const int32_t *first = windows ? windows->data : NULL;
    int64_t longest = 0;
    for (int64_t w = 0; windows && w + 1 < windows->count; w++)
        if (first[w + 1] - first[w] > longest) longest = first[w + 1] - first[w];
    return longest;
}

/* -- Replacing values */

mc_status mc_sampled_pack_values(const mc_vsparse *mask, const mc_sampled *form, mc_packed *packed,
                                 mc_diag *diag) {
    sampled_plan p;
    mc_packed pattern = {0};
    const mc_packed_array *values = NULL;
    mc_status status = sampled_plan_open(&p, mask, form, diag);
    if (status == MC_OK) status = sampled_put_pattern(&p, &pattern, diag);
    if (status == MC_OK) status = packed_check_same(packed, &pattern, "this mask", diag);
    if (status == MC_OK && form->values)
        status = packed_get(packed, "mask_values", MC_F32, sampled_value_count(&p), &values, diag);
    if (status == MC_OK && form->values) put_values(&p, values->data);
    mc_packed_free(&pattern);
    free(p.start);
    return status;
}

/* -- As rows ------------------------------------------------------------------------------------------ */

static mc_status form_of(const mc_kernel *kernel, mc_sampled *form, mc_diag *diag) {
    const char *mask = mc_kernel_field_text(kernel, "mask"), *format = mc_kernel_contract(kernel)->format;
    const char *staging = mc_kernel_field_text(kernel, "staging");
    *form = (mc_sampled){.groups = (int)mc_kernel_field(kernel, "groups"),
                         .window = mc_kernel_field(kernel, "window"),
                         .values = mask != NULL && strcmp(mask, "values") == 0,
                         .run = (int)mc_kernel_field(kernel, "run"),
                         .turn = (int)mc_kernel_field(kernel, "turn"),
                         .windows = strcmp(format, format_sampled_windows.name) == 0};
    if (staging != NULL && strcmp(staging, "tma") == 0) form->pair_bit = TENSOR_COPIES_BIT;
    return mc_order_of(kernel, &form->order, diag);
}

static mc_status pack(const mc_kernel *kernel, const host_matrix *mask, mc_packed *packed, mc_diag *diag) {
    mc_sampled form;
    mc_status status = form_of(kernel, &form, diag);
    return status == MC_OK ? mc_sampled_pack(mask->vectors, &form, packed, diag) : status;
}

static mc_status pack_values(const mc_kernel *kernel, const host_matrix *mask, mc_packed *packed,
                             mc_diag *diag) {
    mc_sampled form;
    mc_status status = form_of(kernel, &form, diag);
    return status == MC_OK ? mc_sampled_pack_values(mask->vectors, &form, packed, diag) : status;
}

static mc_status slots_of(const mc_kernel *kernel, const host_matrix *mask, packed_slots *slots,
                          mc_diag *diag) {
    mc_sampled form;
    mc_status status = form_of(kernel, &form, diag);
    if (status != MC_OK || !form.values) return status;
    return order_slots(mask->vectors, form.order, slots, diag);
}

static mc_status unpack(const mc_kernel *kernel, const mc_packed *packed, mc_type type, int64_t rows,
                        int64_t cols, mc_vsparse *mask, mc_diag *diag) {
    mc_sampled form;
    (void)type; /* a mask's */
    mc_status status = form_of(kernel, &form, diag);
    if (status != MC_OK) return status;
    return mc_sampled_unpack(packed, (int)mc_kernel_field(kernel, "vec"), &form, rows, cols, mask, diag);
}

const packed_format format_sampled_list = {.name = "sampled-list",
                                           .doc = "the slots of a mask, given out as items",
                                           .kind = MATRIX_VECTORS,
                                           .unit = MC_U8,
                                           .cols = "n",
                                           .form = "vec order groups window mask run turn",
                                           .pack = pack,
                                           .pack_values = pack_values,
                                           .slots = slots_of,
                                           .unpack = unpack};

const packed_format format_sampled_windows = {.name = "sampled-windows",
                                              .doc = "the slots of a mask, given out as items of windows",
                                              .kind = MATRIX_VECTORS,
                                              .unit = MC_U8,
                                              .cols = "n",
                                              .form = "vec order groups window mask staging",
                                              .pack = pack,
                                              .pack_values = pack_values,
                                              .slots = slots_of,
                                              .unpack = unpack};
