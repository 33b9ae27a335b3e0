#include <stdlib.h>
#include "formats.h"
#include "orders.h"

/* One vector at a time: SLOT is its place in the list, FIRST and PITCH say where its elements lie. */
static void put_vector(const mc_vsparse *mask, int64_t block, int64_t vector, sampled_slot slot,
                       int64_t place, sampled_order *out) {
    slot.row_block = (int32_t)block;
    slot.column = mask->col_idx[vector];
    out->slots[place] = slot;
    for (int row = 0; out->values != NULL && row < mask->vec; row++)
        out->values[slot.first + row * slot.pitch] = ((const float *)mask->values)[vector * mask->vec + row];
}

static mc_status allocate(const mc_vsparse *mask, int64_t count, bool values, sampled_order *out,
                          mc_diag *diag) {
    *out = (sampled_order){.count = count, .elements = count * mask->vec};
    if (out->elements > INT32_MAX)
        return mc_fail(diag, MC_CANNOT, "%lld elements of C: more than 32 bits count",
                       (long long)out->elements);
    out->slots = calloc((size_t)count + 1, sizeof *out->slots);
    if (values) out->values = calloc((size_t)out->elements + 1, sizeof *out->values);
    if (out->slots != NULL && (out->values != NULL || !values)) return MC_OK;
    order_free(out);
    return mc_fail(diag, MC_NOMEM, "no memory for %lld elements of C", (long long)count * mask->vec);
}

void order_free(sampled_order *order) {
    free(order->slots);
    free(order->values);
    *order = (sampled_order){0};
}

/* -- Strides of STRIDE slots; BCRS is those of one */

static int64_t padded(const mc_vsparse *mask, int64_t block, int stride) {
    int64_t vectors = mask->row_ptr[block + 1] - mask->row_ptr[block];
    return (vectors + stride - 1) / stride * stride;
}

static sampled_slot strided_slot(const mc_vsparse *mask, int64_t place, int stride) {
    int64_t first = place / stride * stride * mask->vec + place % stride;
    return (sampled_slot){.column = -1, .first = (int32_t)first, .pitch = stride};
}

static mc_status make_strided(const mc_vsparse *mask, int stride, bool values, sampled_order *out,
                              mc_diag *diag) {
    int64_t count = 0, place = 0;
    for (int64_t block = 0; block < mask->row_blocks; block++) count += padded(mask, block, stride);
    mc_status status = allocate(mask, count, values, out, diag);
    for (int64_t block = 0; block < mask->row_blocks && status == MC_OK; block++) {
        int64_t end = place + padded(mask, block, stride);
        for (int64_t v = mask->row_ptr[block]; v < mask->row_ptr[block + 1]; v++, place++)
            put_vector(mask, block, v, strided_slot(mask, place, stride), place, out);
        for (; place < end; place++) out->slots[place] = strided_slot(mask, place, stride);
    }
    return status;
}

/* -- Row by row */

static mc_status make_csr(const mc_vsparse *mask, bool values, sampled_order *out, mc_diag *diag) {
    mc_status status = allocate(mask, mask->vectors, values, out, diag);
    for (int64_t block = 0; block < mask->row_blocks && status == MC_OK; block++) {
        int64_t first = mask->row_ptr[block], length = mask->row_ptr[block + 1] - first;
        for (int64_t v = first; v < first + length; v++) {
            const sampled_slot slot = {.first = (int32_t)(first * mask->vec + v - first),
                                       .pitch = (int32_t)length};
            put_vector(mask, block, v, slot, v, out);
        }
    }
    return status;
}

/* -- Blocks */

static void put_block(const mc_vsparse *mask, int64_t block, int32_t column, int64_t number,
                      sampled_order *out) {
    int vec = mask->vec;
    for (int c = 0; c < vec; c++)
        out->slots[number * vec + c] = (sampled_slot){.row_block = (int32_t)block,
                                                      .column = column / vec * vec + c,
                                                      .first = (int32_t)(number * vec * vec + c),
                                                      .pitch = vec};
}

static mc_status make_bsr(const mc_vsparse *mask, sampled_order *out, mc_diag *diag) {
    int64_t blocks = 0, number = 0;
    for (int64_t block = 0; block < mask->row_blocks; block++)
        for (int64_t v = mask->row_ptr[block]; v < mask->row_ptr[block + 1]; v++)
            blocks += formats_starts_block(mask, block, v);
    mc_status status = allocate(mask, blocks * mask->vec, false, out, diag);
    for (int64_t block = 0; block < mask->row_blocks && status == MC_OK; block++)
        for (int64_t v = mask->row_ptr[block]; v < mask->row_ptr[block + 1]; v++)
            if (formats_starts_block(mask, block, v)) put_block(mask, block, mask->col_idx[v], number++, out);
    return status;
}

mc_status order_make(const mc_vsparse *mask, result_order order, bool values, sampled_order *out,
                     mc_diag *diag) {
    switch (order) {
    case ORDER_SRBCRS16: return make_strided(mask, 16, values, out, diag);
    case ORDER_SRBCRS32: return make_strided(mask, 32, values, out, diag);
    case ORDER_CSR: return make_csr(mask, values, out, diag);
    case ORDER_BSR: return make_bsr(mask, out, diag);
    default: return make_strided(mask, 1, values, out, diag);
    }
}
