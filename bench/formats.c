#include <stdlib.h>
#include <string.h>
#include "formats.h"

void sparse_arrays_free(sparse_arrays *arrays) {
    free(arrays->row_ptr);
    free(arrays->col_idx);
    free(arrays->values);
    *arrays = (sparse_arrays){0};
}

/* |value| <= 128 = 2^7 has at most 8 significant bits of the 11 that a half holds. */
uint16_t half_of_s8(int8_t value) {
    unsigned magnitude = (unsigned)(value < 0 ? -value : value), sign = value < 0 ? 0x8000u : 0;
    if (magnitude == 0) return 0;
    unsigned top = 31u - (unsigned)__builtin_clz(magnitude); /* magnitude = 1.f * 2^top */
    unsigned fraction = (magnitude << (10 - top)) & 0x3ffu;
    return (uint16_t)(sign | (top - 7 + 15) << 10 | fraction);
}

static mc_status allocate(sparse_arrays *out, int64_t rows, int64_t indices, int64_t values,
                          format_values value_bytes, mc_diag *diag) {
    *out =
        (sparse_arrays){.rows = rows, .indices = indices, .value_count = values, .value_bytes = value_bytes};
    if (indices > INT32_MAX || values > INT32_MAX)
        return mc_fail(diag, MC_CANNOT, "%lld stored values: more than 32-bit indices reach",
                       (long long)values);
    out->row_ptr = calloc((size_t)rows + 1, sizeof *out->row_ptr);
    out->col_idx = calloc((size_t)indices + 1, sizeof *out->col_idx);
    if (value_bytes > 0) out->values = calloc((size_t)values + 1, value_bytes);
    if (out->row_ptr != NULL && out->col_idx != NULL && (out->values != NULL || value_bytes == 0))
        return MC_OK;
    sparse_arrays_free(out);
    return mc_fail(diag, MC_NOMEM, "no memory for %lld stored values", (long long)values);
}

/* Row ROW of A's nonzero vector V. */
static void store(sparse_arrays *out, int64_t place, const mc_vsparse *a, int64_t v, int64_t row) {
    if (out->values == NULL) return;
    int8_t value = ((const int8_t *)a->values)[v * a->vec + row];
    if (out->value_bytes == FORMAT_S8) ((int8_t *)out->values)[place] = value;
    else ((uint16_t *)out->values)[place] = half_of_s8(value);
}

static double fill_of(const mc_vsparse *a, const sparse_arrays *out) {
    return out->value_count == 0 ? 1 : (double)(a->vectors * a->vec) / (double)out->value_count;
}

mc_status formats_csr(const mc_vsparse *a, format_values values, sparse_arrays *out, mc_diag *diag) {
    int64_t count = a->vectors * a->vec, at = 0;
    mc_status status = allocate(out, a->rows, count, count, values, diag);
    if (status != MC_OK) return status;
    for (int64_t row = 0; row < a->rows; row++) {
        int64_t block = row / a->vec;
        for (int64_t v = a->row_ptr[block]; v < a->row_ptr[block + 1]; v++, at++) {
            out->col_idx[at] = a->col_idx[v];
            store(out, at, a, v, row % a->vec);
        }
        out->row_ptr[row + 1] = (int32_t)at;
    }
    out->fill = fill_of(a, out);
    return MC_OK;
}

/* -- Blocks: columns ascend inside a row block, so a block's vectors are neighbours */

bool formats_starts_block(const mc_vsparse *a, int64_t block, int64_t v) {
    return v == a->row_ptr[block] || a->col_idx[v] / a->vec != a->col_idx[v - 1] / a->vec;
}

static int64_t blocks_of_row(const mc_vsparse *a, int64_t block) {
    int64_t count = 0;
    for (int64_t v = a->row_ptr[block]; v < a->row_ptr[block + 1]; v++)
        count += formats_starts_block(a, block, v);
    return count;
}

mc_status formats_bsr(const mc_vsparse *a, format_values values, sparse_arrays *out, mc_diag *diag) {
    int64_t blocks = 0, at = -1;
    for (int64_t row = 0; row < a->row_blocks; row++) blocks += blocks_of_row(a, row);
    mc_status status = allocate(out, a->row_blocks, blocks, blocks * a->vec * a->vec, values, diag);
    if (status != MC_OK) return status;
    for (int64_t row = 0; row < a->row_blocks; row++) {
        for (int64_t v = a->row_ptr[row]; v < a->row_ptr[row + 1]; v++) {
            at += formats_starts_block(a, row, v);
            out->col_idx[at] = a->col_idx[v] / a->vec;
            for (int r = 0; r < a->vec; r++)
                store(out, (at * a->vec + r) * a->vec + a->col_idx[v] % a->vec, a, v, r);
        }
        out->row_ptr[row + 1] = (int32_t)(at + 1);
    }
    out->fill = fill_of(a, out);
    return MC_OK;
}

/* One block row of Blocked-ELL. */
static void fill_ell_row(const mc_vsparse *a, int64_t row, sparse_arrays *out) {
    int64_t slot = -1, width = out->ell_blocks * a->vec;
    int32_t *columns = out->col_idx + row * out->ell_blocks;
    for (int64_t i = 0; i < out->ell_blocks; i++) columns[i] = -1;
    for (int64_t v = a->row_ptr[row]; v < a->row_ptr[row + 1]; v++) {
        slot += formats_starts_block(a, row, v);
        columns[slot] = a->col_idx[v] / a->vec;
        for (int r = 0; r < a->vec; r++)
            store(out, (row * a->vec + r) * width + slot * a->vec + a->col_idx[v] % a->vec, a, v, r);
    }
}

mc_status formats_blocked_ell(const mc_vsparse *a, format_values values, sparse_arrays *out, mc_diag *diag) {
    int64_t widest = 1;
    for (int64_t row = 0; row < a->row_blocks; row++) {
        int64_t count = blocks_of_row(a, row);
        if (count > widest) widest = count;
    }
    mc_status status =
        allocate(out, a->row_blocks, a->row_blocks * widest, a->rows * widest * a->vec, values, diag);
    if (status != MC_OK) return status;
    out->ell_blocks = widest;
    for (int64_t row = 0; row < a->row_blocks; row++) fill_ell_row(a, row, out);
    out->fill = fill_of(a, out);
    return MC_OK;
}
