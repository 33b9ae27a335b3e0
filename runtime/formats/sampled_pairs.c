/* sampled-pairs: what SDDMM kernels without tensor cores read of a matrix without vectors. */
#include <string.h>
#include "formats/sampled.h"
#include "formats/format.h"
#include "formats/order.h"
#include "formats/stride.h"

extern const packed_format format_sampled_pairs;

enum {
    ITEM_WORDS = 4,
    ROOM = 1 << 16 /* nonzeros of a thread block, by which a kernel counts beyond the last */
};

static bool has_values(const mc_kernel *kernel) {
    const char *mask = mc_kernel_field_text(kernel, "mask");
    return mask != NULL && mask[0] == 'v';
}

static mc_status check(const mc_vsparse *mask, bool values, mc_diag *diag) {
    if (mask->vec != 1)
        return mc_fail(diag, MC_CANNOT, "sampled-pairs is of matrices without vectors, this one has vec = %d",
                       mask->vec);
    if (mask->rows > INT32_MAX)
        return mc_fail(diag, MC_CANNOT, "2^31 rows or more, which sampled-pairs counts in s32");
    if (mask->vectors > INT32_MAX - ROOM)
        return mc_fail(diag, MC_CANNOT, "2^31 - 2^16 nonzeros or more, which sampled-pairs counts in s32");
    if (!values || mask->type == MC_F32) return MC_OK;
    return mc_fail(diag, MC_CANNOT, "the kernel multiplies by the mask's values as f32, the mask holds %s",
                   mc_type_text(mask->type));
}

/* Behind an odd last nonzero its row stands again, with column -1. */
static void put_pairs(const mc_vsparse *mask, int32_t *pairs) {
    for (int64_t row = 0; row < mask->rows; row++)
        for (int64_t i = mask->row_ptr[row]; i < mask->row_ptr[row + 1]; i++)
            pairs[2 * i] = (int32_t)row, pairs[2 * i + 1] = mask->col_idx[i];
    if (mask->vectors % 2 == 0) return;
    int32_t *last = pairs + 2 * mask->vectors;
    last[0] = last[-2], last[1] = -1;
}

static mc_status pack_all(const mc_vsparse *mask, bool values, mc_packed *packed, mc_diag *diag) {
    const int64_t items = mask->vectors / 2 + mask->vectors % 2;
    mc_status status = packed_add(packed, "items", MC_S32, ITEM_WORDS * items, diag);
    if (status == MC_OK && mask->vectors > 0) put_pairs(mask, packed->arrays[0].data);
    if (status != MC_OK || !values) return status;
    status = packed_add(packed, "mask_values", MC_F32, mask->vectors, diag);
    if (status == MC_OK && mask->vectors > 0)
        memcpy(packed->arrays[1].data, mask->values, (size_t)mask->vectors * sizeof(float));
    return status;
}

static mc_status pack(const mc_kernel *kernel, const host_matrix *a, mc_packed *packed, mc_diag *diag) {
    const bool values = has_values(kernel);
    mc_status status = check(a->vectors, values, diag);
    if (status == MC_OK) status = pack_all(a->vectors, values, packed, diag);
    if (status != MC_OK) mc_packed_free(packed);
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
    pattern.array_count = 1;
    status = packed_check_same(packed, &pattern, "this mask", diag);
    if (status == MC_OK && from != NULL)
        status = packed_get(packed, from->name, MC_F32, from->count, &to, diag);
    if (status == MC_OK && from != NULL && from->count > 0)
        memcpy(to->data, from->data, (size_t)from->count * sizeof(float));
    mc_packed_free(&again);
    return status;
}

static mc_status slots_of(const mc_kernel *kernel, const host_matrix *a, packed_slots *slots, mc_diag *diag) {
    return has_values(kernel) ? order_slots(a->vectors, MC_ORDER_BCRS, slots, diag) : MC_OK;
}

const packed_format format_sampled_pairs = {.name = "sampled-pairs",
                                            .doc = "row and column of each nonzero",
                                            .kind = MATRIX_VECTORS,
                                            .unit = MC_U8,
                                            .cols = "n",
                                            .form = "vec order mask",
                                            .pack = pack,
                                            .pack_values = pack_values,
                                            .slots = slots_of};
