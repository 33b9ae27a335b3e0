/* sampled-panels: what SDDMM kernels in panels read of a matrix without vectors. */
#include "parts/sampled_panels.h"
#include <stdlib.h>
#include <string.h>
#include "base/memory.h"
#include "formats/format.h"
#include "formats/order.h"
#include "formats/panels.h"
#include "formats/sampled.h"

extern const packed_format format_sampled_panels;

enum { MOST_ROWS = 16, MASK_BITS = 32 };

/* Fields of the kernel. */
typedef struct panels_form {
    int rows, slots, share; /* of a panel; of a stride; strides of an item, at most */
    bool values;
} panels_form;

static panels_form form_of(const mc_kernel *kernel) {
    const char *mask = mc_kernel_field_text(kernel, "mask");
    panels_form form = {.rows = (int)mc_kernel_field(kernel, "panel"),
                        .slots = 8 * (int)mc_kernel_field(kernel, "ahead"),
                        .values = mask != NULL && mask[0] == 'v'};
    form.share = (int)mc_kernel_field(kernel, "share") / form.slots;
    return form;
}

static mc_status check(const mc_vsparse *mask, const panels_form *form, mc_diag *diag) {
    if (mask->vec != 1)
        return mc_fail(diag, MC_CANNOT,
                       "sampled-panels is of matrices without vectors, this one has vec = %d", mask->vec);
    if (mask->rows > INT32_MAX - MOST_ROWS)
        return mc_fail(diag, MC_CANNOT, "2^31 - 16 rows or more, which sampled-panels counts in s32");
    if (mask->vectors > INT32_MAX - MASK_BITS)
        return mc_fail(diag, MC_CANNOT, "2^31 - 32 nonzeros or more, which sampled-panels counts in s32");
    if (!form->values || mask->type == MC_F32) return MC_OK;
    return mc_fail(diag, MC_CANNOT, "the kernel multiplies by the mask's values as f32, the mask holds %s",
                   mc_type_text(mask->type));
}

/* -- Who takes what ----------------------------------------------------------------------------------- */

static int64_t ceil_of(int64_t count, int64_t each) { return count / each + (count % each != 0); }

static int64_t strides_of(const panels_form *form, const mc_vsparse *joined, int64_t panel) {
    return ceil_of(joined->row_ptr[panel + 1] - joined->row_ptr[panel], form->slots);
}

/* Strides and items of all panels. */
typedef struct panels_count {
    int64_t strides, items;
} panels_count;

static panels_count count_of(const panels_form *form, const mc_vsparse *joined) {
    panels_count count = {0};
    for (int64_t panel = 0; panel < joined->row_blocks; panel++) {
        const int64_t strides = strides_of(form, joined, panel);
        count.strides += strides;
        count.items += ceil_of(strides, form->share);
    }
    return count;
}

/* The items of a panel of COUNT strides, of about as many each. Returns where the next panel's go. */
static int32_t *put_items(const panels_form *form, int64_t rows, int64_t panel, int64_t first, int64_t count,
                          int32_t *item) {
    const int64_t parts = ceil_of(count, form->share), left = rows - panel * form->rows;
    for (int64_t i = 0; i < parts; i++, item += SAMPLED_PANEL_WORDS) {
        const int64_t begin = count * i / parts, end = count * (i + 1) / parts;
        item[SAMPLED_PANEL] = (int32_t)panel;
        item[SAMPLED_STRIDE] = (int32_t)(first + begin);
        item[SAMPLED_STRIDES] = (int32_t)(end - begin);
        item[SAMPLED_LAST_ROW] = (int32_t)(left < form->rows ? left : form->rows) - 1;
    }
    return item;
}

/* -- Packing ------------------------------------------------------------------------------------------ */

/* Places behind a panel's last column have that column again. */
static void put_columns(const panels_form *form, const mc_vsparse *joined, int64_t panel, int32_t *columns) {
    const int64_t first = joined->row_ptr[panel], count = joined->row_ptr[panel + 1] - first;
    for (int64_t i = 0; i < strides_of(form, joined, panel) * form->slots; i++) {
        const int slot = (int)(i % form->slots);
        columns[i - slot + sampled_panel_column(slot, form->slots)] =
            joined->col_idx[first + (i < count ? i : count - 1)];
    }
}

/* Masks, and numbers of the first nonzeros, which are ascending in a row. */
static void put_rows(const panels_form *form, const panel_matrix *m, int64_t panel, int32_t *words) {
    const int64_t first = m->joined.row_ptr[panel], count = m->joined.row_ptr[panel + 1] - first;
    const int lane_rows = sampled_lane_rows(form->rows);
    for (int64_t i = 0; i < count; i++) {
        int32_t *stride = words + i / form->slots * 2 * form->rows;
        for (int t = 0; t < MC_WARP / 8; t++)
            for (int r = 0; r < lane_rows; r++) {
                const int32_t number = m->element[(first + i) * form->rows + sampled_lane_row(t, r)];
                int32_t *mask = stride + sampled_panel_mask(t, r, form->rows);
                if (number < 0) continue;
                if (*mask == 0) mask[lane_rows] = number;
                *mask = (int32_t)((uint32_t)*mask | 1U << i % form->slots);
            }
    }
}

static void put_panels(const panels_form *form, const mc_vsparse *mask, const panel_matrix *m,
                       const mc_packed *packed) {
    int32_t *item = packed->arrays[0].data, *columns = packed->arrays[1].data,
            *words = packed->arrays[2].data;
    int64_t first = 0;
    for (int64_t panel = 0; panel < m->joined.row_blocks; panel++) {
        const int64_t strides = strides_of(form, &m->joined, panel);
        if (strides == 0) continue;
        item = put_items(form, mask->rows, panel, first, strides, item);
        put_columns(form, &m->joined, panel, columns + first * form->slots);
        put_rows(form, m, panel, words + first * 2 * form->rows);
        first += strides;
    }
}

static mc_status add_arrays(const panels_form *form, const mc_vsparse *mask, const panel_matrix *m,
                            mc_packed *packed, mc_diag *diag) {
    const panels_count count = count_of(form, &m->joined);
    if (count.strides > INT32_MAX / MASK_BITS)
        return mc_fail(diag, MC_CANNOT, "2^31 active columns or more, which sampled-panels counts in s32");
    mc_status status = packed_add(packed, "items", MC_S32, SAMPLED_PANEL_WORDS * count.items, diag);
    if (status == MC_OK) status = packed_add(packed, "col_idx", MC_S32, count.strides * form->slots, diag);
    if (status == MC_OK)
        status = packed_add(packed, "row_slots", MC_S32, count.strides * 2 * form->rows, diag);
    if (status == MC_OK && form->values)
        status = packed_add(packed, "mask_values", MC_F32, mask->vectors, diag);
    if (status != MC_OK || mask->vectors == 0) return status;
    put_panels(form, mask, m, packed);
    if (form->values) memcpy(packed->arrays[3].data, mask->values, (size_t)mask->vectors * sizeof(float));
    return MC_OK;
}

static mc_status pack(const mc_kernel *kernel, const host_matrix *a, mc_packed *packed, mc_diag *diag) {
    const panels_form form = form_of(kernel);
    panel_matrix m;
    mc_vsparse pattern = *a->vectors;
    pattern.values = NULL;
    *packed = (mc_packed){0};
    mc_status status = check(a->vectors, &form, diag);
    if (status == MC_OK) status = panels_join(&pattern, form.rows, &m, diag);
    if (status != MC_OK) return status;
    status = add_arrays(&form, a->vectors, &m, packed, diag);
    if (status != MC_OK) mc_packed_free(packed);
    panels_free(&m);
    return status;
}

static mc_status pack_values(const mc_kernel *kernel, const host_matrix *a, mc_packed *packed,
                             mc_diag *diag) {
    mc_packed again = {0};
    const mc_packed_array *to = NULL;
    mc_status status = pack(kernel, a, &again, diag);
    if (status != MC_OK) return status;
    const mc_packed_array *from = mc_packed_find(&again, "mask_values");
    mc_packed pattern = again;
    if (from != NULL) pattern.array_count--;
    status = packed_check_same(packed, &pattern, "this mask", diag);
    if (status == MC_OK && from != NULL)
        status = packed_get(packed, from->name, MC_F32, from->count, &to, diag);
    if (status == MC_OK && from != NULL && from->count > 0)
        memcpy(to->data, from->data, (size_t)from->count * sizeof(float));
    mc_packed_free(&again);
    return status;
}

static mc_status slots_of(const mc_kernel *kernel, const host_matrix *a, packed_slots *slots, mc_diag *diag) {
    const panels_form form = form_of(kernel);
    return form.values ? order_slots(a->vectors, MC_ORDER_BCRS, slots, diag) : MC_OK;
}

const packed_format format_sampled_panels = {.name = "sampled-panels",
                                             .doc = "rows in panels, and where each has its nonzeros",
                                             .kind = MATRIX_VECTORS,
                                             .unit = MC_U8,
                                             .cols = "n",
                                             .form = "vec order mask panel ahead share",
                                             .pack = pack,
                                             .pack_values = pack_values,
                                             .slots = slots_of};
