#include "formats/dense.h"
#include <inttypes.h>
#include <string.h>
#include "base/element.h"
#include "base/memory.h"
#include "formats/stride.h"
#include "matrix/vsparse.h"

int64_t dense_elements(mc_type type, int64_t rows, int64_t cols) {
    const int64_t all = mcrt_product(rows, type_leading(type, cols));
    if (all < 0 || all > INT32_MAX - SLOTS_PLAIN) return -1;
    return (all + SLOTS_PLAIN - 1) / SLOTS_PLAIN * SLOTS_PLAIN;
}

static mc_status count_elements(const mc_vsparse *a, int64_t *count, mc_diag *diag) {
    *count = dense_elements(a->type, a->rows, a->cols);
    if (*count >= 0) return MC_OK;
    return mc_fail(diag, MC_CANNOT,
                   "%" PRId64 " x %" PRId64 " elements with their zeros: they are counted in s32", a->rows,
                   a->cols);
}

/* -- Where an element lies */

typedef void element_at(void *user, int64_t place, int64_t vector, int row);

/* Tells VISIT the place of each element that A's vectors hold. */
static void walk(const mc_vsparse *a, element_at *visit, void *user) {
    const int64_t ld = type_leading(a->type, a->cols);
    for (int64_t b = 0; b < a->row_blocks; b++)
        for (int64_t v = a->row_ptr[b]; v < a->row_ptr[b + 1]; v++)
            for (int r = 0; r < a->vec; r++) visit(user, (b * a->vec + r) * ld + a->col_idx[v], v, r);
}

/* -- Pack */

typedef struct filling {
    const mc_vsparse *a;
    void *values;
} filling;

static void put_value(void *user, int64_t place, int64_t vector, int row) {
    const filling *f = user;
    element_set(f->a->type, f->values, place, mc_vsparse_value(f->a, vector, row));
}

static mc_status pack(const mc_kernel *kernel, const host_matrix *a, mc_packed *packed, mc_diag *diag) {
    (void)kernel;
    int64_t count = 0;
    *packed = (mc_packed){0};
    mc_status status = count_elements(a->vectors, &count, diag);
    if (status == MC_OK) status = packed_add(packed, "values", a->vectors->type, count, diag);
    if (status != MC_OK) return status;
    filling f = {a->vectors, packed->arrays[0].data};
    walk(a->vectors, put_value, &f);
    return MC_OK;
}

static mc_status pack_values(const mc_kernel *kernel, const host_matrix *a, mc_packed *packed,
                             mc_diag *diag) {
    (void)kernel;
    const mc_packed_array *values = NULL;
    int64_t count = 0;
    mc_status status = count_elements(a->vectors, &count, diag);
    if (status == MC_OK) status = packed_get(packed, "values", a->vectors->type, count, &values, diag);
    if (status != MC_OK) return status;
    filling f = {a->vectors, values->data};
    walk(a->vectors, put_value, &f);
    return MC_OK;
}

/* -- Slots: each element is one, whatever the vectors' length is */

static void place_element(void *user, int64_t place, int64_t vector, int row) {
    const filling *f = user;
    ((int32_t *)f->values)[place] = (int32_t)(vector * f->a->vec + row);
}

static mc_status slots_of(const mc_kernel *kernel, const host_matrix *a, packed_slots *slots, mc_diag *diag) {
    (void)kernel;
    int64_t count = 0;
    mc_status status = count_elements(a->vectors, &count, diag);
    if (status == MC_OK) status = packed_slots_plain("values", a->vectors->type, 1, count, slots, diag);
    if (status == MC_OK) status = packed_slots_empty(slots, diag);
    if (status != MC_OK) return status;
    filling f = {a->vectors, slots->vectors};
    walk(a->vectors, place_element, &f);
    return MC_OK;
}

const packed_format format_dense = {.name = "dense",
                                    .doc = "the matrix with its zeros",
                                    .kind = MATRIX_VECTORS,
                                    .unit = MC_U8,
                                    .floats = true,
                                    .form = "",
                                    .pack = pack,
                                    .pack_values = pack_values,
                                    .slots = slots_of};
