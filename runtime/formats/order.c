#include "formats/sampled.h"
#include "formats/order.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "base/element.h"
#include "base/memory.h"

/* -- What a kernel reads and writes */

/* The index of FIELD's value among COUNT names. */
static mc_status find_name(const mc_kernel *kernel, const char *field, const char *const *names, int count,
                           int *index, mc_diag *diag) {
    const char *text = mc_kernel_field_text(kernel, field);
    if (!text) return mc_fail(diag, MC_CANNOT, "the kernel has no field %s", field);
    for (*index = 0; *index < count; ++*index)
        if (strcmp(text, names[*index]) == 0) return MC_OK;
    return mc_fail(diag, MC_CANNOT, "%s = %s is not known here", field, text);
}

mc_status mc_layout_of(const mc_kernel *kernel, mc_layout *layout, mc_diag *diag) {
    static const char *const names[] = {"columns", "rows"};
    int index;
    mc_status status = find_name(kernel, "layout", names, 2, &index, diag);
    *layout = status == MC_OK ? (mc_layout)index : MC_LAYOUT_COLUMNS;
    return status;
}

int64_t mc_layout_n(mc_layout layout, const mc_dense *dense) {
    return layout == MC_LAYOUT_COLUMNS ? dense->rows : dense->cols;
}

int64_t mc_layout_k(mc_layout layout, const mc_dense *dense) {
    return layout == MC_LAYOUT_COLUMNS ? dense->cols : dense->rows;
}

mc_status mc_order_of(const mc_kernel *kernel, mc_order *order, mc_diag *diag) {
    static const char *const names[] = {"bcrs", "srbcrs16", "srbcrs32"};
    static const mc_order orders[] = {MC_ORDER_BCRS, MC_ORDER_SRBCRS16, MC_ORDER_SRBCRS32};
    int index;
    mc_status status = find_name(kernel, "order", names, 3, &index, diag);
    *order = status == MC_OK ? orders[index] : MC_ORDER_BCRS;
    return status;
}

/* -- Slots */

static int64_t slots_of(mc_order order, int64_t vectors) {
    const int64_t stride = (int64_t)order;
    return order == MC_ORDER_BCRS ? vectors : (vectors + stride - 1) / stride * stride;
}

mc_status order_starts(const mc_vsparse *mask, mc_order order, int64_t **start, mc_diag *diag) {
    int64_t *starts = *start = mcrt_array(mask->row_blocks + 1, sizeof *starts);
    if (!starts) return mcrt_no_memory(diag, mask->row_blocks, "row blocks");
    for (int64_t b = 0; b < mask->row_blocks; b++) {
        starts[b + 1] = starts[b] + slots_of(order, mask->row_ptr[b + 1] - mask->row_ptr[b]);
        if (starts[b + 1] <= INT32_MAX) continue;
        mc_fail(diag, MC_CANNOT, "C has %" PRId64 " slots or more, which leave s32", starts[b + 1]);
        free(starts);
        *start = NULL;
        return MC_CANNOT;
    }
    return MC_OK;
}

int64_t order_place(mc_order order, int vec, int64_t slot, int row) {
    const int64_t stride = (int64_t)order;
    if (order == MC_ORDER_BCRS) return slot * vec + row;
    return slot / stride * vec * stride + row * stride + slot % stride;
}

void order_put(const mc_vsparse *mask, mc_order order, const int64_t *start, mc_type type, const void *values,
               void *c) {
    for (int64_t b = 0; b < mask->row_blocks; b++)
        for (int64_t v = mask->row_ptr[b]; v < mask->row_ptr[b + 1]; v++)
            for (int r = 0; r < mask->vec; r++) {
                int64_t place = order_place(order, mask->vec, start[b] + v - mask->row_ptr[b], r);
                element_set(type, c, place, element_get(type, values, v * mask->vec + r));
            }
}

/* -- C */

static mc_dense shape_of(const mc_vsparse *mask, mc_order order, mc_type type, int64_t slots) {
    int64_t vec = mask->vec;
    if (order == MC_ORDER_BCRS) return (mc_dense){.type = type, .rows = slots, .cols = vec, .ld = vec};
    return (mc_dense){.type = type, .rows = mcrt_product(slots / order, vec), .cols = order, .ld = order};
}

static mc_status create(const mc_vsparse *mask, mc_order order, mc_type type, int64_t slots, mc_dense *c,
                        mc_diag *diag) {
    const mc_dense shape = shape_of(mask, order, type, slots);
    return mc_dense_create(type, shape.rows, shape.cols, shape.ld, c, diag);
}

mc_status mc_sampled_shape(const mc_vsparse *mask, mc_order order, mc_type type, mc_dense *shape,
                           mc_diag *diag) {
    int64_t *start;
    *shape = (mc_dense){0};
    mc_status status = order_starts(mask, order, &start, diag);
    if (status == MC_OK) *shape = shape_of(mask, order, type, start[mask->row_blocks]);
    free(start);
    return status;
}

mc_status mc_sampled_create(const mc_vsparse *mask, mc_order order, mc_type type, mc_dense *c,
                            mc_diag *diag) {
    int64_t *start;
    *c = (mc_dense){0};
    mc_status status = order_starts(mask, order, &start, diag);
    if (status == MC_OK) status = create(mask, order, type, start[mask->row_blocks], c, diag);
    free(start);
    return status;
}

mc_status mc_sampled_arrange(const mc_vsparse *mask, mc_order order, const mc_dense *vectors, mc_dense *c,
                             mc_diag *diag) {
    int64_t *start;
    *c = (mc_dense){0};
    if (vectors->rows != mask->vectors || vectors->cols != mask->vec || vectors->ld != mask->vec)
        return mc_fail(diag, MC_USAGE,
                       "the mask has %" PRId64 " vectors of %d elements, the matrix to arrange is %" PRId64
                       " x %" PRId64 " with rows %" PRId64 " apart",
                       mask->vectors, mask->vec, vectors->rows, vectors->cols, vectors->ld);
    mc_status status = order_starts(mask, order, &start, diag);
    if (status == MC_OK) status = create(mask, order, vectors->type, start[mask->row_blocks], c, diag);
    if (status == MC_OK) order_put(mask, order, start, vectors->type, vectors->data, c->data);
    free(start);
    return status;
}

static mc_status check_size(const mc_vsparse *mask, int64_t slots, const mc_dense *c, mc_diag *diag) {
    if (c->ld == c->cols && mcrt_product(c->rows, c->cols) == mcrt_product(slots, mask->vec)) return MC_OK;
    return mc_fail(diag, MC_USAGE,
                   "C has %" PRId64 " slots of %d elements, the matrix is %" PRId64 " x %" PRId64
                   " with rows %" PRId64 " apart",
                   slots, mask->vec, c->rows, c->cols, c->ld);
}

static void collect(const mc_vsparse *mask, mc_order order, const int64_t *start, const mc_dense *c,
                    mc_dense *vectors) {
    for (int64_t b = 0; b < mask->row_blocks; b++)
        for (int64_t v = mask->row_ptr[b]; v < mask->row_ptr[b + 1]; v++)
            for (int r = 0; r < mask->vec; r++) {
                int64_t place = order_place(order, mask->vec, start[b] + v - mask->row_ptr[b], r);
                mc_dense_set(vectors, v, r, element_get(c->type, c->data, place));
            }
}

mc_status mc_sampled_collect(const mc_vsparse *mask, mc_order order, const mc_dense *c, mc_dense *vectors,
                             mc_diag *diag) {
    int64_t *start;
    *vectors = (mc_dense){0};
    mc_status status = order_starts(mask, order, &start, diag);
    if (status == MC_OK) status = check_size(mask, start[mask->row_blocks], c, diag);
    if (status == MC_OK)
        status = mc_dense_create(c->type, mask->vectors, mask->vec, mask->vec, vectors, diag);
    if (status == MC_OK) collect(mask, order, start, c, vectors);
    free(start);
    return status;
}

/* Neighbouring row blocks from FIRST on, and the most vectors that one of them has. */
typedef struct row_group {
    int64_t vectors, first;
} row_group;

static int longer_first(const void *a, const void *b) {
    const row_group *x = a, *y = b;
    if (x->vectors != y->vectors) return x->vectors < y->vectors ? 1 : -1;
    return (x->first > y->first) - (x->first < y->first);
}

mc_status order_longest_first(const mc_vsparse *a, int together, int32_t *order, mc_diag *diag) {
    int64_t whole = a->row_blocks / together, place = 0;
    row_group *groups = mcrt_array(whole, sizeof *groups);
    if (!groups) return mcrt_no_memory(diag, whole, "row blocks");
    for (int64_t g = 0; g < whole; g++)
        groups[g] = (row_group){mcrt_vsparse_longest(a, g * together, together), g * together};
    qsort(groups, (size_t)whole, sizeof *groups, longer_first);
    for (int64_t g = 0; g < whole; g++)
        for (int i = 0; i < together; i++) order[place++] = (int32_t)(groups[g].first + i);
    for (; place < a->row_blocks; place++) order[place] = (int32_t)place;
    free(groups);
    return MC_OK;
}
