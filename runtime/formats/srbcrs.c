/* SR-BCRS as published: Li, Osawa, Hoefler, "Efficient Quantized Sparse Matrix Operations on Tensor Cores"
   (Magicube, SC 2022), section IV-A; the index shuffle is section IV-B3, figure 7;
   digits are section IV-D. */
#include <inttypes.h>
#include "formats/stride.h"

static int64_t value_place(const stride_layout *layout, int64_t slot, int row, int plane) {
    int64_t stride = slot / layout->stride, before = (stride * layout->planes + plane) * layout->vec + row;
    return before * layout->stride + slot % layout->stride;
}

/* Two a row block: its first slot, and the slot behind its last vector. */
static int64_t row_offset(const stride_layout *layout, const mc_vsparse *a, const int64_t *start,
                          int64_t index) {
    (void)layout;
    int64_t block = index / 2, vectors = a->row_ptr[block + 1] - a->row_ptr[block];
    return start[block] + (index % 2 ? vectors : 0);
}

static int64_t row_offsets(int64_t row_blocks) { return 2 * row_blocks; }

static mc_status count_blocks(const stride_layout *layout, const mc_packed *packed, int64_t row_blocks,
                              int64_t *count, mc_diag *diag) {
    const int32_t *row_ptr = mc_packed_find(packed, "row_ptr")->data;
    int64_t start = 0;
    for (int64_t b = 0; b < row_blocks; b++) {
        if (row_ptr[2 * b] != start)
            return mc_fail(diag, MC_FORMAT, "row_ptr[%" PRId64 "] is %" PRId32 ", must be %" PRId64, 2 * b,
                           row_ptr[2 * b], start);
        count[b] = row_ptr[2 * b + 1] - start;
        if (count[b] < 0)
            return mc_fail(diag, MC_FORMAT, "row_ptr[%" PRId64 "] is %" PRId32 ", below its start %" PRId64,
                           2 * b + 1, row_ptr[2 * b + 1], start);
        start += stride_tail_slots(layout, count[b]);
    }
    return MC_OK;
}

static mc_status check_form(const mc_srbcrs *form, mc_diag *diag) {
    if (form->k != 16 && form->k != 32)
        return mc_fail(diag, MC_USAGE, "SR-BCRS with k = %d: must be 16 or 32", form->k);
    if (form->piece_bits != 4 && form->piece_bits != 8)
        return mc_fail(diag, MC_USAGE, "SR-BCRS with digits of %d bits: must be 4 or 8", form->piece_bits);
    if (form->shuffle && form->k != 32)
        return mc_fail(diag, MC_USAGE, "SR-BCRS shuffles indices with k = 32 only");
    return MC_OK;
}

/* Values take the room that they have in memory: those of 12 bits that of 16. */
static mc_status make_layout(mc_type type, int vec, const mc_srbcrs *form, stride_layout *layout,
                             mc_diag *diag) {
    mc_status status = check_form(form, diag);
    value_code code;
    if (status == MC_OK) status = code_make(type, 0, form->piece_bits == 4 ? MC_U4 : MC_U8, &code, diag);
    if (status != MC_OK) return status;
    int room = type_fills_bytes(type) ? code.pieces : (int)(8 * mc_type_bytes(type)) / form->piece_bits;
    *layout = (stride_layout){.code = code,
                              .planes = room,
                              .vec = vec,
                              .stride = form->k,
                              .index_place = form->shuffle ? stride_shuffled_index : stride_plain_index,
                              .value_place = value_place,
                              .row_ptr = row_offset,
                              .row_ptr_count = row_offsets,
                              .count_blocks = count_blocks};
    return MC_OK;
}

mc_status mc_srbcrs_export(const mc_vsparse *a, const mc_srbcrs *form, mc_packed *packed, mc_diag *diag) {
    *packed = (mc_packed){0};
    stride_layout layout;
    mc_status status = make_layout(a->type, a->vec, form, &layout, diag);
    return status == MC_OK ? stride_pack(&layout, a, packed, diag) : status;
}

mc_status mc_srbcrs_export_values(const mc_vsparse *a, const mc_srbcrs *form, mc_packed *packed,
                                  mc_diag *diag) {
    stride_layout layout;
    mc_status status = make_layout(a->type, a->vec, form, &layout, diag);
    return status == MC_OK ? stride_pack_values(&layout, a, packed, diag) : status;
}

mc_status mc_srbcrs_import(const mc_packed *packed, mc_type type, int vec, const mc_srbcrs *form,
                           int64_t rows, int64_t cols, mc_vsparse *a, mc_diag *diag) {
    *a = (mc_vsparse){0};
    stride_layout layout;
    mc_status status = make_layout(type, vec, form, &layout, diag);
    return status == MC_OK ? stride_unpack(&layout, packed, rows, cols, a, diag) : status;
}
