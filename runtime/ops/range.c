/* What a kernel may make of sums that are known within bounds: an interval of sums becomes one of elements of
 * C, step by step. A step that is monotone takes ends to ends, and turns them round where a factor is
 * negative. The activations that are not, silu and gelu, fall to a minimum and rise from there
 * (activation_range). Where a step may give a NaN for some of the sums and numbers for others, an element may
 * be anything. */
#include <math.h>
#include "base/element.h"
#include "base/real.h"
#include "ops/output.h"

/* ANY: all numbers, and a NaN. If both ends are NaNs, a NaN is the only result. */
typedef struct real_range {
    float low, high;
    bool any;
} real_range;

static real_range range_between(float a, float b) {
    bool some_nan = isnan(a) != isnan(b), all = isinf(a) && isinf(b) && a != b;
    return a <= b ? (real_range){a, b, all} : (real_range){b, a, some_nan || all};
}

static real_range range_times(real_range r, float factor) {
    bool many = r.low < r.high, nan_inside = isinf(factor) && r.low <= 0 && r.high >= 0;
    real_range product = range_between(r.low * factor, r.high * factor);
    product.any = product.any || r.any || (many && nan_inside);
    return product;
}

static real_range scaled_range(const mc_output *o, const int64_t sums[2], mc_factors f,
                               const float *residual) {
    float least = real_from_bits(MC_F32, (uint32_t)sums[0]), most = real_from_bits(MC_F32, (uint32_t)sums[1]);
    real_range scaled = range_between(output_scaled(o, MC_F32, sums[0], f, residual),
                                      output_scaled(o, MC_F32, sums[1], f, residual));
    scaled.any = scaled.any || range_between(least, most).any;
    return scaled;
}

/* From sums to what is rounded to C. MASK: NULL, or what it is multiplied by at last. */
static real_range finish_range(const mc_output *o, const int64_t sums[2], mc_factors f, const float *residual,
                               const float *mask) {
    real_range r = scaled_range(o, sums, f, residual);
    activation_range(o->activation, &r.low, &r.high);
    if (f.c_scale) r = range_times(r, output_c_factor(f));
    return mask ? range_times(r, *mask) : r;
}

/* The ends of the range of a real TYPE that stands for anything, NaNs too: the infinities, or, where it has
   none, what would be their bits. */
static int64_t real_end(mc_type type, bool high) {
    const float_bits bits = float_bits_of(type);
    return high ? bits.infinity : bits.infinity | (bits.magnitude + 1);
}

static int64_t end_of_all(mc_type type, bool high) {
    if (mc_type_is_real(type)) return real_end(type, high);
    return high ? mc_type_max(type) : mc_type_min(type);
}

/* C[i][j] of WANT. */
static void put_range(const mc_output *o, real_range r, const float *zero, int64_t i, int64_t j,
                      reference_result *want) {
    mc_dense_set(&want->low, i, j, r.any ? end_of_all(o->type, false) : output_element(o->type, r.low, zero));
    mc_dense_set(&want->high, i, j,
                 r.any ? end_of_all(o->type, true) : output_element(o->type, r.high, zero));
}

/* Whether sums are rounded to C as they are. */
static bool is_plain(const mc_output *o, const mc_factors *factors) {
    bool adds = factors->residual != NULL && factors->residual->data != NULL;
    return !adds && o->scale == MC_PER_NONE && o->b_scale == MC_PER_NONE && o->bias == MC_PER_NONE &&
           o->c_scale == MC_PER_NONE && o->zero == MC_PER_NONE && o->activation == MC_ACTIVATION_NONE;
}

/* The same as below where nothing is computed. */
static void put_plain(const mc_output *o, const sum_range *sums, reference_result *want) {
    const float *least = sums->least.data, *most = sums->most.data;
    for (int64_t i = 0; i < want->low.rows; i++)
        for (int64_t j = 0; j < want->low.cols; j++)
            put_range(o, range_between(least[i * sums->least.ld + j], most[i * sums->most.ld + j]), NULL, i,
                      j, want);
}

static mc_status check_sums(const sum_range *sums, mc_diag *diag) {
    if (sums->least.type == MC_F32 && sums->most.type == MC_F32) return MC_OK;
    return mc_fail(diag, MC_USAGE, "sums from %s to %s: both must be f32", mc_type_text(sums->least.type),
                   mc_type_text(sums->most.type));
}

mc_status mc_reference_range(const mc_output *output, const mc_factors *factors, const sum_range *sums,
                             reference_result *want, mc_diag *diag) {
    static const mc_factors none = {0};
    *want = (reference_result){0};
    if (factors == NULL) factors = &none;
    mc_status status = check_sums(sums, diag);
    if (status == MC_OK) status = output_create(output, factors, &sums->least, &want->low, diag);
    if (status == MC_OK) status = output_create(output, factors, &sums->most, &want->high, diag);
    if (status != MC_OK) {
        mc_result_free(want);
        return status;
    }
    if (is_plain(output, factors)) {
        put_plain(output, sums, want);
        return MC_OK;
    }
    const mc_dense *added = factors->residual;
    bool adds = added != NULL && added->data != NULL;
    for (int64_t i = 0; i < want->low.rows; i++)
        for (int64_t j = 0; j < want->low.cols; j++) {
            const mc_factors f = output_factors_at(output, factors, i, j);
            float residual = adds ? (float)mc_dense_real(added, i, j) : 0;
            const int64_t ends[2] = {mc_dense_get(&sums->least, i, j), mc_dense_get(&sums->most, i, j)};
            put_range(output, finish_range(output, ends, f, adds ? &residual : NULL, NULL), f.zero, i, j,
                      want);
        }
    return MC_OK;
}

/* -- Sampled sums ------------------------------------------------------------------------------------- */

static void sample_block(const mc_output *o, const mc_vsparse *mask, int64_t block, const mc_factors *factors,
                         const sum_range *sums, reference_result *vectors) {
    for (int64_t v = mask->row_ptr[block]; v < mask->row_ptr[block + 1]; v++)
        for (int r = 0; r < mask->vec; r++) {
            const mc_factors f = output_factors_at(o, factors, block * mask->vec + r, mask->col_idx[v]);
            const int64_t ends[2] = {mc_dense_get(&sums->least, v, r), mc_dense_get(&sums->most, v, r)};
            float by = o->masked ? output_mask_value(mask, v, r) : 1;
            put_range(o, finish_range(o, ends, f, NULL, o->masked ? &by : NULL), NULL, v, r, vectors);
        }
}

mc_status mc_reference_sampled_range(const mc_output *output, const mc_vsparse *mask, mc_order order,
                                     const float *scale, const sum_range *sums, reference_result *want,
                                     mc_diag *diag) {
    const mc_factors factors = {.scale = scale};
    reference_result vectors = {0};
    *want = (reference_result){0};
    mc_status status = check_sums(sums, diag);
    if (status == MC_OK) status = output_check_sampled(output, mask, &sums->least, diag);
    if (status == MC_OK) status = output_create(output, &factors, &sums->least, &vectors.low, diag);
    if (status == MC_OK) status = output_create(output, &factors, &sums->most, &vectors.high, diag);
    for (int64_t b = 0; status == MC_OK && b < mask->row_blocks; b++)
        sample_block(output, mask, b, &factors, sums, &vectors);
    if (status == MC_OK) status = mc_sampled_arrange(mask, order, &vectors.low, &want->low, diag);
    if (status == MC_OK) status = mc_sampled_arrange(mask, order, &vectors.high, &want->high, diag);
    mc_result_free(&vectors);
    if (status != MC_OK) mc_result_free(want);
    return status;
}
