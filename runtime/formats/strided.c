/* strided-bcrs: what the gather SpMM reads. */
#include <inttypes.h>
#include <string.h>
#include "parts/integer/nibbles.h"
#include "base/memory.h"
#include "formats/format.h"
#include "formats/stride.h"

extern const packed_format format_strided, format_strided_int4;

enum {
    MAX_HEADS = 32, /* the warps of a thread block */
    MAX_DEPTH = 64, /* of an int4 mma */
};

static int64_t value_place(const stride_layout *layout, int64_t slot, int row, int plane) {
    int64_t before = slot / MC_GROUP_SLOTS * code_rows(&layout->code, layout->vec) + plane * layout->vec;
    return before * MC_GROUP_SLOTS + slot_value_offset(row, (int)(slot % MC_GROUP_SLOTS));
}

/* Of pieces of 4 bits. An mma takes a whole stride. */
static int64_t half_place(const stride_layout *layout, int64_t slot, int row, int plane) {
    int64_t before = slot / layout->stride * code_rows(&layout->code, layout->vec) + plane * layout->vec;
    return before * layout->stride + slot4_value_place(row, (int)(slot % layout->stride), layout->stride);
}

/* In strides. */
static int64_t row_offset(const stride_layout *layout, const mc_vsparse *a, const int64_t *start,
                          int64_t index) {
    (void)a;
    return start[index] / layout->stride;
}

static int64_t row_offsets(int64_t row_blocks) { return row_blocks + 1; }

/* -- row_ptr of packed arrays, checked */

static mc_status check_row_ptr(const stride_layout *layout, const mc_packed_array *row_ptr,
                               const mc_packed_array *col_idx, mc_diag *diag) {
    const int32_t *offset = row_ptr->data;
    int64_t last = row_ptr->count - 1, heads = mcrt_product(last, layout->heads);
    if (offset[0] != heads)
        return mc_fail(diag, MC_FORMAT, "row_ptr[0] is %" PRId32 ", must be %" PRId64 ", the heads",
                       offset[0], heads);
    for (int64_t b = 1; b <= last; b++)
        if (offset[b] < offset[b - 1])
            return mc_fail(diag, MC_FORMAT,
                           "row_ptr[%" PRId64 "] is %" PRId32 ", below the one before, %" PRId32, b,
                           offset[b], offset[b - 1]);
    if ((int64_t)offset[last] * layout->stride == col_idx->count) return MC_OK;
    return mc_fail(diag, MC_FORMAT,
                   "row_ptr ends at %" PRId32 " strides of %d slots, col_idx has %" PRId64 " slots",
                   offset[last], layout->stride, col_idx->count);
}

/* A row block's vectors come before its padding, which is less than a stride. */
static mc_status count_block(const stride_layout *layout, const int32_t *offset, const int32_t *col_idx,
                             int64_t block, int64_t *count, mc_diag *diag) {
    int64_t start = (int64_t)offset[block] * layout->stride,
            tail = (int64_t)offset[block + 1] * layout->stride - start;
    int64_t vector = 0, end = stride_head_slots(layout) + tail;
    while (vector < end &&
           col_idx[layout->index_place(layout, stride_slot(layout, start, block, vector))] != -1)
        vector++;
    *count = vector;
    if (stride_tail_slots(layout, vector) == tail) return MC_OK;
    return mc_fail(diag, MC_FORMAT,
                   "row block %" PRId64 " has %" PRId64 " vectors before its padding, but %" PRId32
                   " strides of %d slots behind its heads",
                   block, *count, offset[block + 1] - offset[block], layout->stride);
}

static mc_status count_blocks(const stride_layout *layout, const mc_packed *packed, int64_t row_blocks,
                              int64_t *count, mc_diag *diag) {
    const mc_packed_array *row_ptr = mc_packed_find(packed, "row_ptr"), *col_idx = NULL;
    mc_status status = packed_get(packed, "col_idx", MC_S32, -1, &col_idx, diag);
    if (status == MC_OK) status = check_row_ptr(layout, row_ptr, col_idx, diag);
    for (int64_t b = 0; status == MC_OK && b < row_blocks; b++)
        status = count_block(layout, row_ptr->data, col_idx->data, b, &count[b], diag);
    return status;
}

/* -- */

static mc_status check_form(const mc_strided *form, mc_diag *diag) {
    if (form->stride < MC_GROUP_SLOTS || form->stride % MC_GROUP_SLOTS != 0)
        return mc_fail(diag, MC_USAGE, "strides of %d slots: must be a multiple of %d", form->stride,
                       MC_GROUP_SLOTS);
    if (form->heads < 0 || form->heads > MAX_HEADS)
        return mc_fail(diag, MC_USAGE, "%d heads a row block: must be 0 to %d", form->heads, MAX_HEADS);
    if (form->int4 && form->stride > MAX_DEPTH)
        return mc_fail(diag, MC_USAGE, "strides of %d slots: an int4 mma takes %d or %d", form->stride,
                       MC_GROUP_SLOTS, MAX_DEPTH);
    if (form->shuffle && !form->int4)
        return mc_fail(diag, MC_USAGE, "indices are shuffled for an int4 mma only");
    return MC_OK;
}

mc_status strided_layout(mc_type type, int vec, const mc_strided *form, stride_layout *layout,
                         mc_diag *diag) {
    value_code code;
    mc_type unit = form->int4 ? MC_U4 : form->heads == 0 ? type : code_unit(type, MC_U8);
    mc_status status = check_form(form, diag);
    if (status == MC_OK) status = code_make(type, form->coding, unit, &code, diag);
    if (status != MC_OK) return status;
    *layout = (stride_layout){.code = code,
                              .planes = code.pieces,
                              .vec = vec,
                              .stride = form->stride,
                              .heads = form->heads,
                              .index_place = form->shuffle ? stride_shuffled_index : stride_plain_index,
                              .value_place = form->int4 ? half_place : value_place,
                              .row_ptr = row_offset,
                              .row_ptr_count = row_offsets,
                              .count_blocks = count_blocks};
    return MC_OK;
}

mc_status mc_strided_pack(const mc_vsparse *a, const mc_strided *form, mc_packed *packed, mc_diag *diag) {
    *packed = (mc_packed){0};
    stride_layout layout;
    mc_status status = strided_layout(a->type, a->vec, form, &layout, diag);
    return status == MC_OK ? stride_pack(&layout, a, packed, diag) : status;
}

mc_status mc_strided_pack_values(const mc_vsparse *a, const mc_strided *form, mc_packed *packed,
                                 mc_diag *diag) {
    stride_layout layout;
    mc_status status = strided_layout(a->type, a->vec, form, &layout, diag);
    return status == MC_OK ? stride_pack_values(&layout, a, packed, diag) : status;
}

mc_status mc_strided_unpack(const mc_packed *packed, mc_type type, int vec, const mc_strided *form,
                            int64_t rows, int64_t cols, mc_vsparse *a, mc_diag *diag) {
    *a = (mc_vsparse){0};
    stride_layout layout;
    mc_status status = strided_layout(type, vec, form, &layout, diag);
    return status == MC_OK ? stride_unpack(&layout, packed, rows, cols, a, diag) : status;
}

/* -- As rows ------------------------------------------------------------------------------------------ */

static mc_strided form_of(const mc_kernel *kernel, bool int4) {
    return (mc_strided){.stride = (int)mc_kernel_field(kernel, "stride"),
                        .heads = mc_kernel_field(kernel, "heads") ? (int)mc_kernel_field(kernel, "split") : 0,
                        .coding = code_of_kernel(kernel),
                        .int4 = int4,
                        .shuffle = int4 && mc_kernel_field(kernel, "shuffle") == 1};
}

static bool is_int4(const mc_kernel *kernel) {
    return strcmp(mc_kernel_contract(kernel)->format, format_strided_int4.name) == 0;
}

static mc_status pack(const mc_kernel *kernel, const host_matrix *a, mc_packed *packed, mc_diag *diag) {
    const mc_strided form = form_of(kernel, is_int4(kernel));
    return mc_strided_pack(a->vectors, &form, packed, diag);
}

static mc_status pack_values(const mc_kernel *kernel, const host_matrix *a, mc_packed *packed,
                             mc_diag *diag) {
    const mc_strided form = form_of(kernel, is_int4(kernel));
    return mc_strided_pack_values(a->vectors, &form, packed, diag);
}

/* Of int4 a stride is laid out as a whole. */
static int group_of(const mc_strided *form) { return form->int4 ? form->stride : MC_GROUP_SLOTS; }

static mc_status slots_of(const mc_kernel *kernel, const host_matrix *a, packed_slots *slots, mc_diag *diag) {
    const mc_strided form = form_of(kernel, is_int4(kernel));
    stride_layout layout;
    mc_status status = strided_layout(a->vectors->type, a->vectors->vec, &form, &layout, diag);
    if (status != MC_OK) return status;
    return stride_slots(&layout, a->vectors, group_of(&form), slots, diag);
}

mc_status strided_outline(const mc_kernel *kernel, const mc_vsparse *a, mc_strided *form, mc_packed *packed,
                          packed_slots *slots, mc_diag *diag) {
    stride_layout layout;
    *packed = (mc_packed){0};
    *slots = (packed_slots){0};
    *form = form_of(kernel, is_int4(kernel));
    mc_status status = strided_layout(a->type, a->vec, form, &layout, diag);
    return status == MC_OK ? stride_outline(&layout, a, group_of(form), packed, slots, diag) : status;
}

static mc_status unpack(const mc_kernel *kernel, const mc_packed *packed, mc_type type, int64_t rows,
                        int64_t cols, mc_vsparse *a, mc_diag *diag) {
    const mc_strided form = form_of(kernel, is_int4(kernel));
    int vec = (int)mc_kernel_field(kernel, "vec");
    return mc_strided_unpack(packed, type, vec, &form, rows, cols, a, diag);
}

const packed_format format_strided = {.name = "strided-bcrs",
                                      .doc = "row blocks padded to whole strides",
                                      .kind = MATRIX_VECTORS,
                                      .unit = MC_U8,
                                      .floats = true,
                                      .type = "lhs",
                                      .cols = "k",
                                      .form = "lhs vec stride split heads digits",
                                      .pack = pack,
                                      .pack_values = pack_values,
                                      .slots = slots_of,
                                      .unpack = unpack};

const packed_format format_strided_int4 = {
    .name = "strided-bcrs-int4",
    .doc = "row blocks padded to whole strides, for an mma of 4-bit integers",
    .kind = MATRIX_VECTORS,
    .unit = MC_U4,
    .type = "lhs",
    .cols = "k",
    .form = "lhs vec stride split heads digits shuffle",
    .pack = pack,
    .pack_values = pack_values,
    .slots = slots_of,
    .unpack = unpack};
