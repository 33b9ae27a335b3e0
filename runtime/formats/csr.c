/* csr: what SpMM kernels without tensor cores read of a matrix without vectors. */
#include <stdlib.h>
#include <string.h>
#include "base/memory.h"
#include "formats/csr.h"
#include "formats/format.h"
#include "formats/long_rows.h"
#include "formats/slots.h"
#include "parts/panels.h"

extern const packed_format format_csr;

enum {
    MOST_WARPS = 8,
    MOST_SHARE = INT32_MAX / CSR_STRIDE,
    LEAST_ROOM = 1024 /* items */
};

/* -- Who takes what ----------------------------------------------------------------------------------- */

bool csr_is_long(const mc_csr_form *form, const mc_vsparse *a, int64_t row) {
    const int64_t length = a->row_ptr[row + 1] - a->row_ptr[row], share = (int64_t)form->share * CSR_STRIDE;
    if (form->share == 0 || length <= share) return false;
    if (!form->by_blocks || length > share * CSR_BLOCK_LONG) return true;
    const int64_t rows = form->warps * form->groups, first = row / rows * rows,
                  end = first + rows < a->rows ? first + rows : a->rows;
    return length > 2 * (a->row_ptr[end] - a->row_ptr[first]) / rows;
}

/* As a panel of so many strides, of which a warp takes what its groups take of a row each. */
panel_sharing csr_share(const mc_csr_form *form, int64_t length) {
    if (form->by_blocks) return (panel_sharing){.parts = form->warps, .pieces = 1};
    const mc_panels panels = {.warps = form->warps, .share = form->share * form->groups};
    return panels_share(&panels, length / CSR_STRIDE + (length % CSR_STRIDE != 0));
}

typedef struct dealing {
    const mc_csr_form *form;
    const mc_vsparse *a;
    int32_t *items;
    int64_t count, room; /* of items */
    bool full;           /* there was no memory for more */
} dealing;

static int64_t length_of(const mc_vsparse *a, int64_t row) { return a->row_ptr[row + 1] - a->row_ptr[row]; }

static void grow(dealing *d) {
    const int64_t room = 2 * d->room + LEAST_ROOM;
    int32_t *items = d->full ? NULL : realloc(d->items, (size_t)room * PANEL_ITEM_WORDS * sizeof *items);
    d->full = items == NULL;
    if (items != NULL) d->items = items, d->room = room;
}

static void put_item(dealing *d, int64_t row, int64_t from, int64_t to, unsigned sharing) {
    if (d->count == d->room) grow(d);
    if (!d->full) panels_put_item(d->items, d->count++, row, from, to, sharing);
}

static void put_long_row(dealing *d, const long_row *of) {
    const panel_sharing s = of->sharing;
    const int64_t first = d->a->row_ptr[of->row];
    row_cutter cutter = row_cutter_of(s, length_of(d->a, of->row));
    for (int64_t piece = 0; piece < s.pieces; piece++)
        for (int part = 0; part < s.parts; part++) {
            const int64_t from = first + cutter.at, to = first + row_cutter_next(&cutter);
            put_item(d, of->row, from, to, long_row_sharing(s, piece, part));
        }
}

int64_t csr_segment_end(const mc_csr_form *form, const mc_vsparse *a, int64_t first) {
    const int64_t most = a->row_ptr[first] + (int64_t)form->share * CSR_STRIDE,
                  border = first - first % CSR_DEAL_ROWS + CSR_DEAL_ROWS,
                  behind = border < a->rows ? border : a->rows;
    int64_t row = first;
    while (row < behind && row < first + CSR_SEGMENT_ROWS && a->row_ptr[row + 1] <= most) row++;
    return row;
}

static void put_segments(dealing *d) {
    const mc_vsparse *a = d->a;
    for (int64_t first = 0, end; first < a->rows; first = end) {
        end = first + 1;
        if (csr_is_long(d->form, a, first)) continue;
        end = csr_segment_end(d->form, a, first);
        const int64_t nonzeros = a->row_ptr[end] - a->row_ptr[first];
        put_item(d, first, (end - first) | nonzeros << CSR_SEGMENT_SHIFT, a->row_ptr[first], 0);
    }
}

static void put_other_rows(dealing *d) {
    int64_t first = 0;
    for (int64_t row = 0; row < d->a->rows; row++) {
        const bool is_long = csr_is_long(d->form, d->a, row);
        if (row > first && (row - first == d->form->groups || is_long || row % CSR_DEAL_ROWS == 0)) {
            put_item(d, first, row, 0, 0);
            first = row;
        }
        if (is_long) first = row + 1;
    }
    if (first < d->a->rows) put_item(d, first, d->a->rows, 0, 0);
}

static void deal(dealing *d, const long_rows *shared) {
    for (int64_t i = 0; i < shared->count; i++) put_long_row(d, &shared->rows[i]);
    (d->form->segmented ? put_segments : put_other_rows)(d);
    while (d->count % d->form->warps != 0 && !d->full) put_item(d, 0, 0, 0, 0);
    if (!d->full) panels_mark_sharing(d->items, d->count, d->form->warps);
}

static panel_sharing share_of(const void *form, int64_t length) { return csr_share(form, length); }

bool csr_has_list(const mc_csr_form *form) { return form->share > 0 && !form->by_blocks; }

mc_status csr_add_items(const mc_vsparse *a, const mc_csr_form *form, mc_packed *packed, mc_diag *diag) {
    dealing d = {.form = form, .a = a};
    long_rows shared;
    if (!csr_has_list(form)) return MC_OK;
    mc_status status =
        long_rows_find(a, (int64_t)form->share * CSR_STRIDE, form->warps, share_of, form, &shared, diag);
    if (status != MC_OK) return status;
    deal(&d, &shared);
    packed->pieces = shared.pieces;
    long_rows_free(&shared);
    if (d.full) {
        free(d.items);
        return mcrt_no_memory(diag, a->rows, "rows");
    }
    packed->arrays[packed->array_count++] =
        (mc_packed_array){"items", MC_S32, mcrt_product(d.count, PANEL_ITEM_WORDS), d.items};
    return MC_OK;
}

/* -- Packing ------------------------------------------------------------------------------------------ */

static bool is_power(int number, int most) {
    return number >= 1 && number <= most && (number & (number - 1)) == 0;
}

mc_status csr_check_form(const mc_csr_form *form, mc_diag *diag) {
    if (form->segmented &&
        (form->lanes != 1 || form->groups != 1 || form->share < 1 || form->share > CSR_SEGMENT_SHARE))
        return mc_fail(diag, MC_USAGE,
                       "csr of segments has one lane, one group and a share of 1 to %d, not %d, %d and %d",
                       CSR_SEGMENT_SHARE, form->lanes, form->groups, form->share);
    if (form->by_blocks && (form->segmented || form->share < 1))
        return mc_fail(diag, MC_USAGE, "csr without a list has a share of 1 and more, and no segments");
    if (is_power(form->lanes, CSR_WARP) && is_power(form->groups, CSR_WARP) &&
        is_power(form->warps, MOST_WARPS) && form->share >= 0 && form->share <= MOST_SHARE)
        return MC_OK;
    return mc_fail(
        diag, MC_USAGE,
        "csr of %d lanes, %d groups, %d warps and a share of %d: must be powers of two up to 32, 32 "
        "and 8, and 0 to %d",
        form->lanes, form->groups, form->warps, form->share, MOST_SHARE);
}

mc_status csr_check(const mc_vsparse *a, const mc_csr_form *form, mc_diag *diag) {
    mc_status status = csr_check_form(form, diag);
    if (status != MC_OK) return status;
    if (a->vec != 1)
        return mc_fail(diag, MC_CANNOT, "csr is of matrices without vectors, this one has vec = %d", a->vec);
    if (!mc_type_is_real(a->type))
        return mc_fail(diag, MC_CANNOT, "csr is packed of floats, this matrix holds %s",
                       mc_type_text(a->type));
    if (a->rows > INT32_MAX) return mc_fail(diag, MC_CANNOT, "2^31 rows or more, which csr counts in s32");
    if (a->vectors <= INT32_MAX) return MC_OK;
    return mc_fail(diag, MC_CANNOT, "2^31 nonzeros or more, which csr counts in s32");
}

/* Whole groups of slots, as a device puts new values in place; zeros behind the last nonzero. */
static int64_t padded(int64_t nonzeros) { return (nonzeros + SLOTS_PLAIN - 1) / SLOTS_PLAIN * SLOTS_PLAIN; }

static mc_status add_row_ptr(const mc_vsparse *a, mc_packed *packed, mc_diag *diag) {
    mc_status status = packed_add(packed, "row_ptr", MC_S32, a->rows + 1, diag);
    if (status != MC_OK) return status;
    int32_t *row_ptr = mc_packed_find(packed, "row_ptr")->data;
    for (int64_t row = 0; row <= a->rows; row++) row_ptr[row] = (int32_t)a->row_ptr[row];
    return MC_OK;
}

static mc_status add_arrays(const mc_vsparse *a, const mc_csr_form *form, mc_packed *packed, mc_diag *diag) {
    mc_status status = csr_add_items(a, form, packed, diag);
    if (status == MC_OK) status = add_row_ptr(a, packed, diag);
    if (status == MC_OK) status = packed_add(packed, "col_idx", MC_S32, a->vectors, diag);
    if (status == MC_OK) status = packed_add(packed, "values", a->type, padded(a->vectors), diag);
    if (status != MC_OK) return status;
    const size_t count = (size_t)a->vectors;
    if (count == 0) return MC_OK;
    memcpy(mc_packed_find(packed, "col_idx")->data, a->col_idx, count * sizeof *a->col_idx);
    if (a->values != NULL)
        memcpy(mc_packed_find(packed, "values")->data, a->values, (size_t)mc_type_size(a->type, a->vectors));
    return MC_OK;
}

mc_status mc_csr_pack(const mc_vsparse *a, const mc_csr_form *form, mc_packed *packed, mc_diag *diag) {
    *packed = (mc_packed){0};
    mc_status status = csr_check(a, form, diag);
    if (status == MC_OK) status = add_arrays(a, form, packed, diag);
    if (status != MC_OK) mc_packed_free(packed);
    return status;
}

/* -- As a row ----------------------------------------------------------------------------------------- */

bool csr_reads_as_it_comes(const mc_kernel *kernel) {
    const char *format = mc_kernel_contract(kernel)->format;
    return format != NULL && strcmp(format, format_csr.name) == 0 && mc_kernel_field(kernel, "deal") == 0;
}

mc_csr_form csr_form_of(const mc_kernel *kernel, mc_type type) {
    const int lanes = (int)mc_kernel_field(kernel, "lanes"), warps = (int)mc_kernel_field(kernel, "warps");
    const bool segmented = mc_kernel_field(kernel, "segmented") != 0;
    const int tile_n = (int)mc_kernel_field(kernel, "tile_n"), bytes = (int)mc_type_bytes(type);
    const csr_lanes of = segmented ? csr_lanes_segmented(tile_n, bytes) : csr_lanes_of(tile_n, lanes, bytes);
    return (mc_csr_form){.lanes = lanes,
                         .groups = of.groups,
                         .warps = warps,
                         .share = (int)mc_kernel_field(kernel, "share"),
                         .segmented = segmented,
                         .by_blocks = mc_kernel_field(kernel, "deal") == 0};
}

static mc_status pack(const mc_kernel *kernel, const host_matrix *a, mc_packed *packed, mc_diag *diag) {
    const mc_csr_form form = csr_form_of(kernel, a->vectors->type);
    return mc_csr_pack(a->vectors, &form, packed, diag);
}

static void outline_array(mc_packed *packed, const char *name, mc_type type, int64_t count) {
    packed->arrays[packed->array_count++] = (mc_packed_array){name, type, count, NULL};
}

mc_status csr_outline(const mc_csr_form *form, const mc_vsparse *a, const csr_sizes *sizes, mc_packed *packed,
                      packed_slots *slots, mc_diag *diag) {
    *packed = (mc_packed){.pieces = sizes->pieces};
    *slots = (packed_slots){0};
    mc_status status = csr_check(a, form, diag);
    if (status == MC_OK) status = packed_slots_plain("values", a->type, 1, a->vectors, slots, diag);
    if (status != MC_OK) return status;
    if (csr_has_list(form)) outline_array(packed, "items", MC_S32, sizes->items * PANEL_ITEM_WORDS);
    outline_array(packed, "row_ptr", MC_S32, a->rows + 1);
    outline_array(packed, "col_idx", MC_S32, a->vectors);
    outline_array(packed, "values", a->type, padded(a->vectors));
    return MC_OK;
}

static mc_status pack_values(const mc_kernel *kernel, const host_matrix *a, mc_packed *packed,
                             mc_diag *diag) {
    mc_packed made;
    mc_status status = pack(kernel, a, &made, diag);
    return status == MC_OK ? packed_take_values(packed, &made, diag) : status;
}

/* Values lie as they do in the matrix. */
static mc_status slots_of(const mc_kernel *kernel, const host_matrix *a, packed_slots *slots, mc_diag *diag) {
    (void)kernel;
    const int64_t count = a->vectors->vectors;
    mc_status status = packed_slots_plain("values", a->vectors->type, 1, count, slots, diag);
    if (status == MC_OK) status = packed_slots_empty(slots, diag);
    for (int64_t i = 0; i < count && status == MC_OK; i++) slots->vectors[i] = (int32_t)i;
    return status;
}

const packed_format format_csr = {.name = "csr",
                                  .doc = "rows as CSR has them",
                                  .kind = MATRIX_VECTORS,
                                  .unit = MC_U8,
                                  .floats = true,
                                  .type = "lhs",
                                  .cols = "k",
                                  .form = "lhs tile_n lanes warps share deal segmented",
                                  .pack = pack,
                                  .pack_values = pack_values,
                                  .slots = slots_of};
