/* sampled-rows: what a kernel reads of a pattern whose values it takes row block by row block. */
#include <stdlib.h>
#include <string.h>
#include "formats/sampled.h"
#include "base/memory.h"
#include "formats/format.h"
#include "formats/order.h"
#include "formats/stride.h"
#include "matrix/vsparse.h"

extern const packed_format format_sampled_rows;

enum { SAMPLED_ROW_WORDS = 4 };

typedef struct rows_form {
    mc_order order;
    bool values; /* the mask's own count */
} rows_form;

static mc_status form_of(const mc_kernel *kernel, rows_form *form, mc_diag *diag) {
    const char *mask = mc_kernel_field_text(kernel, "mask");
    form->values = mask != NULL && mask[0] == 'v';
    return mc_order_of(kernel, &form->order, diag);
}

static mc_status check_values(const mc_vsparse *mask, const rows_form *form, mc_diag *diag) {
    if (!form->values || mask->type == MC_F32) return MC_OK;
    return mc_fail(diag, MC_CANNOT, "the kernel adds the mask's values as f32, the mask holds %s",
                   mc_type_text(mask->type));
}

/* The longest row blocks come first, for thread blocks begin in this order. */
static mc_status put_rows(const mc_vsparse *mask, const int64_t *start, int32_t *rows, mc_diag *diag) {
    int32_t *order = mcrt_array(mask->row_blocks, sizeof *order);
    if (order == NULL) return mcrt_no_memory(diag, mask->row_blocks, "row blocks");
    mc_status status = order_longest_first(mask, 1, order, diag);
    for (int64_t i = 0; i < mask->row_blocks && status == MC_OK; i++) {
        int32_t b = order[i], *row = &rows[SAMPLED_ROW_WORDS * i];
        row[0] = (int32_t)start[b];
        row[1] = (int32_t)(mask->row_ptr[b + 1] - mask->row_ptr[b]);
        row[2] = b, row[3] = 0;
    }
    free(order);
    return status;
}

static mc_status pack_rows(const mc_vsparse *mask, const rows_form *form, const int64_t *start,
                           mc_packed *packed, mc_diag *diag) {
    mc_status status = packed_add(packed, "rows", MC_S32, SAMPLED_ROW_WORDS * mask->row_blocks, diag);
    if (status == MC_OK) status = put_rows(mask, start, packed->arrays[0].data, diag);
    if (status != MC_OK || !form->values) return status;
    status = packed_add(packed, "mask_values", MC_F32, start[mask->row_blocks] * mask->vec, diag);
    if (status == MC_OK) order_put(mask, form->order, start, MC_F32, mask->values, packed->arrays[1].data);
    return status;
}

static mc_status pack(const mc_kernel *kernel, const host_matrix *a, mc_packed *packed, mc_diag *diag) {
    rows_form form;
    int64_t *start = NULL;
    mc_status status = form_of(kernel, &form, diag);
    if (status == MC_OK) status = check_values(a->vectors, &form, diag);
    if (status == MC_OK) status = order_starts(a->vectors, form.order, &start, diag);
    if (status == MC_OK) status = pack_rows(a->vectors, &form, start, packed, diag);
    free(start);
    if (status != MC_OK) mc_packed_free(packed);
    return status;
}

/* What mc_pack makes of another matrix replaces the values, if it has the same rows. */
static mc_status pack_values(const mc_kernel *kernel, const host_matrix *a, mc_packed *packed,
                             mc_diag *diag) {
    mc_packed again = {0}, rows;
    mc_status status = pack(kernel, a, &again, diag);
    if (status != MC_OK) return status;
    const mc_packed_array *to = NULL, *from = again.array_count > 1 ? &again.arrays[1] : NULL;
    rows = again;
    rows.array_count = 1;
    status = packed_check_same(packed, &rows, "this mask", diag);
    if (status == MC_OK && from != NULL)
        status = packed_get(packed, "mask_values", MC_F32, from->count, &to, diag);
    if (status == MC_OK && from != NULL) memcpy(to->data, from->data, (size_t)from->count * sizeof(float));
    mc_packed_free(&again);
    return status;
}

static mc_status slots_of(const mc_kernel *kernel, const host_matrix *a, packed_slots *slots, mc_diag *diag) {
    rows_form form;
    mc_status status = form_of(kernel, &form, diag);
    if (status != MC_OK || !form.values) return status;
    return order_slots(a->vectors, form.order, slots, diag);
}

const packed_format format_sampled_rows = {.name = "sampled-rows",
                                           .doc = "where a pattern's row blocks begin",
                                           .kind = MATRIX_VECTORS,
                                           .unit = MC_U8,
                                           .cols = "n",
                                           .form = "vec order mask",
                                           .pack = pack,
                                           .pack_values = pack_values,
                                           .slots = slots_of};
