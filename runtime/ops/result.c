/* Sums that are right within bounds, and results that are: range.c makes the ones of the others. */
#include <math.h>
#include "ops/reference.h"

void reference_bound(const arithmetic *of, int64_t terms, float *bounds, int64_t count) {
    for (int64_t i = 0; i < count; i++) {
        double bound = of->bound(bounds[i], terms);
        float rounded = (float)bound;
        bounds[i] = (double)rounded < bound ? nextafterf(rounded, INFINITY) : rounded;
    }
}

static float moved_sum(float sum, float bound, bool up) {
    if (isinf(bound)) return up ? INFINITY : -INFINITY;
    if (bound == 0 || isnan(sum)) return sum;
    double exact = up ? (double)sum + bound : (double)sum - bound;
    float rounded = (float)exact;
    if (up ? (double)rounded < exact : (double)rounded > exact)
        rounded = nextafterf(rounded, up ? INFINITY : -INFINITY);
    return rounded;
}

static mc_status move(const mc_dense *sums, const mc_dense *bounds, bool up, mc_dense *moved, mc_diag *diag) {
    mc_status status = mc_dense_create(MC_F32, sums->rows, sums->cols, sums->cols, moved, diag);
    if (status != MC_OK) return status;
    const float *sum = sums->data, *bound = bounds->data;
    float *to = moved->data;
    for (int64_t i = 0; i < sums->rows; i++)
        for (int64_t j = 0; j < sums->cols; j++)
            to[i * moved->ld + j] = moved_sum(sum[i * sums->ld + j], bound[i * bounds->ld + j], up);
    return MC_OK;
}

mc_status mc_sum_range_make(const mc_dense *sums, const mc_dense *bounds, sum_range *range, mc_diag *diag) {
    *range = (sum_range){0};
    if (sums->type != MC_F32 || bounds->type != MC_F32)
        return mc_fail(diag, MC_USAGE, "sums of %s with bounds of %s: both must be f32",
                       mc_type_text(sums->type), mc_type_text(bounds->type));
    mc_status status = move(sums, bounds, false, &range->least, diag);
    if (status == MC_OK) status = move(sums, bounds, true, &range->most, diag);
    if (status != MC_OK) mc_sum_range_free(range);
    return status;
}

void mc_sum_range_free(sum_range *sums) {
    mc_dense_free(&sums->least);
    mc_dense_free(&sums->most);
}

void mc_result_free(reference_result *result) {
    mc_dense_free(&result->low);
    mc_dense_free(&result->high);
}

mc_status mc_result_compare_named(const char *name, const mc_dense *got, const reference_result *want,
                                  mc_diag *diag) {
    if (want->high.data == NULL) return mc_dense_compare_named(name, got, &want->low, diag);
    return mc_dense_within_named(name, got, &want->low, &want->high, diag);
}

mc_status mc_result_compare(const mc_dense *got, const reference_result *want, mc_diag *diag) {
    return mc_result_compare_named("C", got, want, diag);
}
