#include <stdlib.h>
#include <string.h>
#include "base/real.h"
#include "formats.h"
#include "formats/panels.h"
#include "matrix/random.h"

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

static size_t bytes_of(const mc_vsparse *a, format_values kept) {
    static const size_t bytes[] = {[FORMAT_PATTERN] = 0, [FORMAT_HALVES] = 2, [FORMAT_F32] = 4};
    return kept == FORMAT_OWN ? mc_type_bytes(a->type) : bytes[kept];
}

/* OUT has its shape and the sizes of its arrays. */
static mc_status allocate(sparse_arrays *out, mc_diag *diag) {
    if (out->indices > INT32_MAX || out->value_count > INT32_MAX)
        return mc_fail(diag, MC_CANNOT, "%lld stored values: more than 32-bit indices reach",
                       (long long)out->value_count);
    if (out->block > 1 && (uint64_t)out->value_count * out->value_bytes > FORMATS_MOST_BYTES)
        return mc_fail(diag, MC_CANNOT, "%lld stored values: more than %d GiB", (long long)out->value_count,
                       FORMATS_MOST_BYTES >> 30);
    out->row_ptr = calloc((size_t)out->rows + 1, sizeof *out->row_ptr);
    out->col_idx = calloc((size_t)out->indices + 1, sizeof *out->col_idx);
    if (out->kept != FORMAT_PATTERN) out->values = calloc((size_t)out->value_count + 1, out->value_bytes);
    if (out->row_ptr != NULL && out->col_idx != NULL && (out->values != NULL || out->kept == FORMAT_PATTERN))
        return MC_OK;
    mc_status status =
        mc_fail(diag, MC_NOMEM, "no memory for %lld stored values", (long long)out->value_count);
    sparse_arrays_free(out);
    return status;
}

/* ROWS rows, or block rows. */
static mc_status allocate_for(const mc_vsparse *a, int block, int64_t rows, int64_t indices,
                              format_values kept, sparse_arrays *out, mc_diag *diag) {
    int64_t size = (int64_t)block * block;
    *out = (sparse_arrays){.rows = rows,
                           .indices = indices,
                           .block = block,
                           .matrix_rows = a->rows,
                           .matrix_cols = (a->cols + block - 1) / block * block,
                           .value_count = indices * size,
                           .kept = kept,
                           .value_bytes = bytes_of(a, kept)};
    return allocate(out, diag);
}

/* Row ROW of A's nonzero vector V. */
static void store(sparse_arrays *out, int64_t place, const mc_vsparse *a, int64_t v, int64_t row) {
    if (out->kept == FORMAT_PATTERN) return;
    int64_t value = mc_vsparse_value(a, v, (int)row);
    if (out->kept == FORMAT_F32) ((float *)out->values)[place] = real_factor_value(a->type, value);
    else if (out->kept == FORMAT_HALVES) ((uint16_t *)out->values)[place] = half_of_s8((int8_t)value);
    else if (out->value_bytes == 1) ((int8_t *)out->values)[place] = (int8_t)value;
    else ((uint16_t *)out->values)[place] = (uint16_t)value;
}

static double fill_of(const mc_vsparse *a, const sparse_arrays *out) {
    return out->value_count == 0 ? 1 : (double)(a->vectors * a->vec) / (double)out->value_count;
}

mc_status formats_csr(const mc_vsparse *a, format_values values, sparse_arrays *out, mc_diag *diag) {
    int64_t count = a->vectors * a->vec, at = 0;
    mc_status status = allocate_for(a, 1, a->rows, count, values, out, diag);
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

mc_status formats_coo(const mc_vsparse *a, format_values values, sparse_arrays *out, mc_diag *diag) {
    mc_status status = formats_csr(a, values, out, diag);
    int32_t *rows = status == MC_OK ? malloc(((size_t)out->indices + 1) * sizeof *rows) : NULL;
    if (status == MC_OK && rows == NULL) {
        sparse_arrays_free(out);
        return mc_fail(diag, MC_NOMEM, "no memory for the rows of a matrix");
    }
    if (status != MC_OK) return status;
    for (int64_t row = 0; row < out->rows; row++)
        for (int32_t i = out->row_ptr[row]; i < out->row_ptr[row + 1]; i++) rows[i] = (int32_t)row;
    free(out->row_ptr);
    out->row_ptr = rows;
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
    mc_status status = allocate_for(a, a->vec, a->row_blocks, blocks, values, out, diag);
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

mc_status formats_bsr_joined(const mc_vsparse *a, int block, format_values values, sparse_arrays *out,
                             mc_diag *diag) {
    panel_matrix panels;
    mc_status status = panels_join(a, block, &panels, diag);
    if (status != MC_OK) return status;
    status = formats_bsr(&panels.joined, values, out, diag);
    if (status == MC_OK) out->fill = fill_of(a, out);
    panels_free(&panels);
    return status;
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
    mc_status status = allocate_for(a, a->vec, a->row_blocks, a->row_blocks * widest, values, out, diag);
    if (status != MC_OK) return status;
    out->ell_blocks = widest;
    for (int64_t row = 0; row < a->row_blocks; row++) fill_ell_row(a, row, out);
    out->fill = fill_of(a, out);
    return MC_OK;
}

/* -- Whole blocks at random places */

/* COUNT of COLUMNS block columns, ascending: each with the chance that leaves exactly so many (Knuth, The Art
   of Computer Programming 2, 3.4.2, algorithm S). */
static void draw_columns(mcrt_random *random, int64_t columns, int64_t count, int32_t *to) {
    for (int64_t column = 0; column < columns && count > 0; column++) {
        if ((double)(columns - column) * random_unit(random) > (double)count) continue;
        *to++ = (int32_t)column;
        count--;
    }
}

mc_status formats_uniform_ell(const uniform_blocks *of, sparse_arrays *out, mc_diag *diag) {
    int64_t block = of->block, rows = (of->rows + block - 1) / block, cols = (of->cols + block - 1) / block,
            kept = (int64_t)((1 - of->sparsity) * (double)cols + 0.5);
    if (kept < 1) kept = 1;
    if (kept > cols) kept = cols;
    *out = (sparse_arrays){.rows = rows,
                           .indices = rows * kept,
                           .ell_blocks = kept,
                           .block = of->block,
                           .matrix_rows = rows * block,
                           .matrix_cols = cols * block,
                           .value_count = rows * kept * block * block,
                           .kept = FORMAT_OWN,
                           .value_bytes = mc_type_bytes(of->type),
                           .fill = 1};
    mc_status status = allocate(out, diag);
    mcrt_random random = random_start(of->seed, (uint64_t)block);
    for (int64_t row = 0; row < rows && status == MC_OK; row++)
        draw_columns(&random, cols, kept, out->col_idx + row * kept);
    for (int64_t i = 0; i < out->value_count && status == MC_OK; i++)
        ((uint16_t *)out->values)[i] = (uint16_t)random_value(&random, of->type, MC_VALUES_FULL);
    return status;
}

uint16_t *formats_expand_ell(const sparse_arrays *ell) {
    int64_t block = ell->block, width = ell->ell_blocks * block;
    uint16_t *dense = calloc((size_t)(ell->matrix_rows * ell->matrix_cols), sizeof *dense);
    for (int64_t row = 0; dense != NULL && row < ell->matrix_rows; row++)
        for (int64_t i = 0; i < ell->ell_blocks; i++)
            memcpy(dense + row * ell->matrix_cols + ell->col_idx[row / block * ell->ell_blocks + i] * block,
                   (const uint16_t *)ell->values + row * width + i * block, (size_t)block * sizeof *dense);
    return dense;
}
