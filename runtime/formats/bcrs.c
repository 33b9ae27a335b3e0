/* BCRS of column vectors, as published: Chen, Qu, Liu, Ding, Xie, "Efficient Tensor Core-Based GPU Kernels
   for Structured Sparsity under Reduced Precision" (vectorSparse, SC 2021), the column-vector sparse
   encoding. To the code here it is a format of strides of one slot, whose values are as many bytes (or half a
   byte) one after another as the type has in memory. */
#include <inttypes.h>
#include "formats/stride.h"

static int64_t value_place(const stride_layout *layout, int64_t slot, int row, int plane) {
    return (slot * layout->vec + row) * layout->planes + plane;
}

static int64_t row_offset(const stride_layout *layout, const mc_vsparse *a, const int64_t *start,
                          int64_t index) {
    (void)layout, (void)a;
    return start[index];
}

static int64_t row_offsets(int64_t row_blocks) { return row_blocks + 1; }

static mc_status count_blocks(const stride_layout *layout, const mc_packed *packed, int64_t row_blocks,
                              int64_t *count, mc_diag *diag) {
    (void)layout;
    const int32_t *row_ptr = mc_packed_find(packed, "row_ptr")->data;
    if (row_ptr[0] != 0) return mc_fail(diag, MC_FORMAT, "row_ptr[0] is %" PRId32 ", must be 0", row_ptr[0]);
    for (int64_t b = 0; b < row_blocks; b++) {
        count[b] = (int64_t)row_ptr[b + 1] - row_ptr[b];
        if (count[b] < 0)
            return mc_fail(diag, MC_FORMAT,
                           "row_ptr[%" PRId64 "] is %" PRId32 ", below the one before, %" PRId32, b + 1,
                           row_ptr[b + 1], row_ptr[b]);
    }
    return MC_OK;
}

static mc_status make_layout(mc_type type, int vec, stride_layout *layout, mc_diag *diag) {
    value_code code;
    mc_type digits = mc_type_bytes(type) == 0 ? MC_U4 : MC_U8;
    mc_status status = code_make(type, 0, code_unit(type, digits), &code, diag);
    *layout = (stride_layout){.code = code,
                              .planes = code.pieces,
                              .vec = vec,
                              .stride = 1,
                              .index_place = stride_plain_index,
                              .value_place = value_place,
                              .row_ptr = row_offset,
                              .row_ptr_count = row_offsets,
                              .count_blocks = count_blocks};
    return status;
}

mc_status mc_bcrs_export(const mc_vsparse *a, mc_packed *packed, mc_diag *diag) {
    *packed = (mc_packed){0};
    stride_layout layout;
    mc_status status = make_layout(a->type, a->vec, &layout, diag);
    return status == MC_OK ? stride_pack(&layout, a, packed, diag) : status;
}

mc_status mc_bcrs_export_values(const mc_vsparse *a, mc_packed *packed, mc_diag *diag) {
    stride_layout layout;
    mc_status status = make_layout(a->type, a->vec, &layout, diag);
    return status == MC_OK ? stride_pack_values(&layout, a, packed, diag) : status;
}

mc_status mc_bcrs_import(const mc_packed *packed, mc_type type, int vec, int64_t rows, int64_t cols,
                         mc_vsparse *a, mc_diag *diag) {
    *a = (mc_vsparse){0};
    stride_layout layout;
    mc_status status = make_layout(type, vec, &layout, diag);
    return status == MC_OK ? stride_unpack(&layout, packed, rows, cols, a, diag) : status;
}
