/* Sums of the SDDMM without tensor cores in its kernels' order, to the bit (docs/sddmm.md, "Without tensor
   cores"). The order depends on how many lanes share a nonzero, and on nothing else. */
#include <math.h>
#include "base/real.h"
#include "ops/reference.h"

enum {
    NAN_OF_GPU = 0x7fffffff, /* what every operation of f32 makes that gives none of the numbers */
    UNIT_BITS = 128,         /* of a row or column, that a lane has at a time */
    MOST_LANES = 32,
    CHAINS = 2 /* sums of a lane: of elements 0, 2, ... of its units, and of 1, 3, ... */
};

/* A row of A and a column of B. */
typedef struct csr_pair {
    const mc_dense *a, *b;
    int64_t row, column;
} csr_pair;

static float value(const mc_dense *of, int64_t row, int64_t k) {
    return real_factor_value(of->type, mc_dense_get(of, row, k));
}

static float add_lane(const csr_pair *p, int lane, int lanes) {
    const int unit = UNIT_BITS / mc_type_bits(p->a->type);
    float sums[CHAINS] = {0};
    for (int64_t first = (int64_t)lane * unit; first < p->a->cols; first += (int64_t)lanes * unit)
        for (int64_t k = first; k < first + unit && k < p->a->cols; k++)
            sums[k % CHAINS] = fmaf(value(p->a, p->row, k), value(p->b, p->column, k), sums[k % CHAINS]);
    return sums[0] + sums[1];
}

static float add_lanes(const csr_pair *p, int lanes) {
    float sums[MOST_LANES] = {0};
    for (int lane = 0; lane < lanes; lane++) sums[lane] = add_lane(p, lane, lanes);
    for (int half = lanes / 2; half >= 1; half /= 2)
        for (int i = 0; i < half; i++) sums[i] += sums[half + i];
    return sums[0];
}

static mc_status check(const mc_vsparse *mask, const mc_dense *a, const mc_dense *b, int lanes,
                       mc_diag *diag) {
    mc_status status = reference_check_sddmm(mask, a, b, MC_LAYOUT_COLUMNS, diag);
    if (status != MC_OK) return status;
    if (lanes < 1 || lanes > MOST_LANES || (lanes & (lanes - 1)) != 0)
        return mc_fail(diag, MC_USAGE, "%d lanes share a nonzero: must be a power of two up to %d", lanes,
                       MOST_LANES);
    if (mc_type_is_real(a->type) && a->type == b->type && mask->vec == 1) return MC_OK;
    return mc_fail(
        diag, MC_CANNOT,
        "A is %s, B is %s, the mask has vec = %d: the order of csr is of floats of one type, vec = 1",
        mc_type_text(a->type), mc_type_text(b->type), mask->vec);
}

mc_status mc_reference_sddmm_csr_ordered(const mc_vsparse *mask, const mc_dense *a, const mc_dense *b,
                                         int lanes, mc_dense *sums, mc_diag *diag) {
    *sums = (mc_dense){0};
    mc_status status = check(mask, a, b, lanes, diag);
    if (status == MC_OK) status = mc_dense_create(MC_F32, mask->vectors, 1, 1, sums, diag);
    for (int64_t row = 0; status == MC_OK && row < mask->rows; row++)
        for (int64_t i = mask->row_ptr[row]; i < mask->row_ptr[row + 1]; i++) {
            const csr_pair pair = {.a = a, .b = b, .row = row, .column = mask->col_idx[i]};
            const float sum = add_lanes(&pair, lanes);
            mc_dense_set(sums, i, 0, isnan(sum) ? NAN_OF_GPU : real_to_bits(MC_F32, sum));
        }
    return status;
}
