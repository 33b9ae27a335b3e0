#include "products.h"
#include "problem_ops.h"
#include "proof.h"
#include <math.h>

/* Powers of two up to 2^4: the scales' are so small that products of both would leave f16. */
static void fill_mask(mc_vsparse *mask, mc_value_law values) {
    float *of = mask->values;
    mc_scale_fill(of, mask->vectors * mask->vec, values, 5);
    for (int64_t i = 0; i < mask->vectors * mask->vec; i++) of[i] = ldexpf(of[i], 12);
}

static mc_status make(problem *p, const mc_csr *mask, mc_diag *diag) {
    const problem_case *spec = p->spec;
    const problem_kind *kind = &p->kind;
    int rows = spec->row_blocks * kind->vec;
    bool columns = kind->layout == MC_LAYOUT_COLUMNS;
    mc_status status = mc_vsparse_dilate(mask, kind->vec, MC_F32, &p->a, diag);
    if (status == MC_OK)
        status = mc_dense_create(kind->lhs, rows, spec->k, problem_lda(spec, kind), &p->dense_a, diag);
    if (status == MC_OK)
        status = mc_dense_create(kind->rhs, columns ? spec->n : spec->k, columns ? spec->k : spec->n,
                                 problem_ldb(spec, kind), &p->b, diag);
    if (status != MC_OK) return status;
    fill_mask(&p->a, spec->values);
    if (spec->unfilled) return MC_OK;
    mc_dense_fill(&p->dense_a, spec->values, 1);
    mc_dense_fill(&p->b, spec->values, 2);
    status = mc_reference_sddmm(&p->a, &p->dense_a, &p->b, kind->layout, &p->sums, diag);
    if (status == MC_OK && mc_type_is_real(kind->lhs))
        status = mc_reference_sddmm_bounds(&p->a, &p->dense_a, &p->b, kind->layout, &p->bounds, diag);
    return status;
}

static mc_status expect(const problem *p, const mc_output *output, mc_order order, const float *scale,
                        reference_result *want, mc_diag *diag) {
    sum_range range;
    if (p->bounds.data == NULL)
        return mc_reference_sampled(output, &p->a, order, scale, &p->sums, &want->low, diag);
    mc_status status = mc_sum_range_make(&p->sums, &p->bounds, &range, diag);
    if (status == MC_OK) status = mc_reference_sampled_range(output, &p->a, order, scale, &range, want, diag);
    mc_sum_range_free(&range);
    return status;
}

static mc_status run(const problem *p, mc_device *device, const mc_kernel *kernel, const char *ptx,
                     mc_diag *diag) {
    mc_dense c = {0};
    reference_result want = {0};
    mc_output output;
    mc_order order = MC_ORDER_BCRS;
    const problem_case *spec = p->spec;
    mc_status status = mc_output_of(kernel, &output, diag);
    if (status == MC_OK) status = mc_order_of(kernel, &order, diag);
    const float *scale = output.scale ? p->scale : NULL;
    mc_sddmm sddmm = {&p->a, &p->dense_a, &p->b, spec->a_offset, spec->b_offset, spec->c_offset, scale};
    if (status == MC_OK) status = expect(p, &output, order, scale, &want, diag);
    if (status == MC_OK) problem_expect(device, kernel, want.low.ld, &want);
    if (status == MC_OK) status = mc_sddmm_run(device, kernel, ptx, &sddmm, NULL, &c, diag);
    if (status == MC_OK) status = mc_result_compare(&c, &want, diag);
    mc_dense_free(&c);
    mc_result_free(&want);
    return status;
}

static void shapes(const problem_case *spec, const problem_kind *kind, int values[PROBLEM_SHAPES]) {
    values[0] = spec->row_blocks * kind->vec;
    values[1] = spec->n;
    values[2] = spec->k;
    values[3] = problem_lda(spec, kind);
    values[4] = problem_ldb(spec, kind);
}

const problem_ops problem_sddmm = {make, run, shapes, {"m", "n", "k", "lda", "ldb"}};
