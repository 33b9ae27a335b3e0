#include "sampled.h"
#include <inttypes.h>
#include "published.h"

mc_status sampled_check_format(const mc_kernel *kernel, int format, mc_diag *diag) {
    mc_type type;
    mc_status status = mc_type_of(kernel, "out", &type, diag);
    if (status != MC_OK || format <= SAMPLED_NPY || !mc_type_is_real(type)) return status;
    return mc_fail(diag, MC_CANNOT, "--format: published formats hold integers, C is %s: want out = \"s32\"",
                   mc_type_text(type));
}

/* The narrowest type of whole bytes for C's elements, of those that a matrix in a published format has. */
static mc_status find_type(const mc_dense *c, mc_type *type, mc_diag *diag) {
    int64_t least = 0, most = 0;
    for (int64_t i = 0; i < c->rows; i++)
        for (int64_t j = 0; j < c->cols; j++) {
            int64_t value = mc_dense_get(c, i, j);
            if (value < least) least = value;
            if (value > most) most = value;
        }
    for (int i = 0; i < MC_TYPE_COUNT; i++) { /* narrow types come first */
        *type = (mc_type)i;
        bool whole = mc_type_bytes(*type) > 0 && type_fills_bytes(*type);
        if (!element_rows[i].is_side || !whole || mc_type_is_real(*type)) continue;
        if (least >= mc_type_min(*type) && most <= mc_type_max(*type)) return MC_OK;
    }
    return mc_fail(diag, MC_CANNOT,
                   "--format: C's elements are from %" PRId64 " to %" PRId64
                   ", published formats hold integers of 16 bits",
                   least, most);
}

mc_status sampled_write(int format, const mc_vsparse *mask, mc_order order, const mc_dense *c,
                        const char *directory, bool force, mc_diag *diag) {
    const published_form form = {
        .name = format == SAMPLED_BCRS ? PUBLISHED_BCRS : PUBLISHED_SRBCRS,
        .srbcrs = {.k = order == MC_ORDER_SRBCRS32 ? 32 : 16, .piece_bits = 8, .shuffle = false}};
    mc_type type;
    mc_dense sums, values = {0};
    mc_status status = mc_sampled_collect(mask, order, c, &sums, diag);
    if (status == MC_OK) status = find_type(&sums, &type, diag);
    if (status == MC_OK) status = mc_dense_convert(&sums, "C", type, mask->vec, &values, diag);
    if (status == MC_OK) {
        mc_vsparse sparse = *mask; /* with other values; the rest stays the mask's */
        sparse.type = type, sparse.values = values.data;
        status = published_write(&form, &sparse, NULL, 0, directory, force, false, diag);
    }
    mc_dense_free(&values);
    mc_dense_free(&sums);
    return status;
}
