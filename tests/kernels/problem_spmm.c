#include <math.h>
#include "base/real.h"
#include "products.h"
#include "problem_ops.h"
#include "proof.h"

mc_status problem_spmm_sum(problem *p, mc_diag *diag) {
    mc_dense_free(&p->sums);
    mc_dense_free(&p->bounds);
    mc_status status = mc_reference_spmm(&p->a, &p->b, &p->sums, diag);
    if (status == MC_OK && mc_type_is_real(p->kind.rhs))
        status = mc_reference_spmm_bounds(&p->a, &p->b, &p->bounds, diag);
    return status;
}

/* One element in so many, of either sign. */
static void add_infinities(mc_dense *b, int one_in) {
    for (int64_t i = 0; i < b->rows * b->cols; i++)
        if (i * 7919 % one_in == 0)
            mc_dense_set(b, i / b->cols, i % b->cols, real_to_bits(b->type, i % 2 ? INFINITY : -INFINITY));
}

static mc_status make(problem *p, const mc_csr *mask, mc_diag *diag) {
    const problem_case *spec = p->spec;
    const problem_kind *kind = &p->kind;
    mc_status status = mc_vsparse_dilate(mask, kind->vec, kind->lhs, &p->a, diag);
    if (status == MC_OK)
        status = mc_dense_create(kind->rhs, spec->k, spec->n,
                                 kind->b_columns ? spec->n : problem_ldb(spec, kind), &p->b, diag);
    if (status == MC_OK && kind->residual != MC_RESIDUAL_NONE)
        status = mc_dense_create((mc_type)kind->residual, p->a.rows, spec->n,
                                 kind->c_columns ? spec->n : problem_ldr(spec, kind), &p->residual, diag);
    if (status != MC_OK || spec->unfilled) return status;
    mc_dense_fill(&p->residual, spec->values, 8);
    if (kind->c_columns && p->residual.data != NULL)
        status = mc_dense_transpose(&p->residual, problem_ldr(spec, kind), &p->stored_residual, diag);
    if (status != MC_OK) return status;
    bool finite = kind->panels && mc_type_is_real(kind->rhs);
    mc_vsparse_fill(&p->a, spec->values, 1, NULL);
    if (kind->most) mc_vsparse_clamp(&p->a, kind->most);
    mc_dense_fill(&p->b, finite ? MC_VALUES_FULL : spec->values, 2);
    if (spec->infinities) add_infinities(&p->b, spec->infinities);
    if (kind->b_columns) status = mc_dense_transpose(&p->b, problem_ldb(spec, kind), &p->stored_b, diag);
    if (status != MC_OK) return status;
    return problem_spmm_sum(p, diag);
}

mc_status problem_spmm_want(const problem *p, const mc_output *output, const mc_factors *factors,
                            reference_result *want, mc_diag *diag) {
    sum_range range;
    if (p->bounds.data == NULL) return mc_reference_output(output, factors, &p->sums, &want->low, diag);
    mc_status status = mc_sum_range_make(&p->sums, &p->bounds, &range, diag);
    if (status == MC_OK) status = mc_reference_range(output, factors, &range, want, diag);
    mc_sum_range_free(&range);
    return status;
}

/* As the kernel stores it. */
static mc_status turn(mc_dense *c, mc_diag *diag) {
    mc_dense turned;
    if (c->data == NULL) return MC_OK;
    mc_status status = mc_dense_transpose(c, c->rows, &turned, diag);
    mc_dense_free(c);
    *c = turned;
    return status;
}

static mc_status turn_result(const problem *p, reference_result *want, mc_diag *diag) {
    if (!p->kind.c_columns) return MC_OK;
    mc_status status = turn(&want->low, diag);
    return status == MC_OK ? turn(&want->high, diag) : status;
}

static mc_status run(const problem *p, mc_device *device, const mc_kernel *kernel, const char *ptx,
                     mc_diag *diag) {
    mc_dense c = {0};
    reference_result want = {0};
    const mc_dense *residual = p->kind.residual != MC_RESIDUAL_NONE ? &p->residual : NULL;
    mc_output output;
    mc_status status = mc_output_of(kernel, &output, diag);
    const mc_factors factors = {.scale = output.scale ? p->scale : NULL,
                                .b_scale = output.b_scale ? p->b_scale : NULL,
                                .bias = output.bias ? p->bias : NULL,
                                .c_scale = output.c_scale ? &p->c_scale : NULL,
                                .zero = output.zero ? &p->zero : NULL,
                                .beta = output.beta ? &p->beta : NULL,
                                .residual = residual};
    mc_spmm spmm = {&p->a,
                    p->kind.b_columns ? &p->stored_b : &p->b,
                    p->ldc,
                    p->spec->b_offset,
                    p->spec->c_offset,
                    factors.scale,
                    factors.bias,
                    factors.b_scale,
                    factors.c_scale,
                    factors.zero,
                    residual != NULL && p->kind.c_columns ? &p->stored_residual : residual,
                    p->spec->residual_offset,
                    factors.beta};
    if (status == MC_OK) status = problem_spmm_want(p, &output, &factors, &want, diag);
    if (status == MC_OK) status = turn_result(p, &want, diag);
    reference_result bytes = want; /* a zero fills up the last byte of a row */
    if (mc_type_bytes(output.type) == 0)
        bytes.low.cols += want.low.cols % 2, bytes.high.cols = bytes.low.cols;
    if (status == MC_OK) problem_expect(device, kernel, p->ldc, &bytes);
    if (status == MC_OK) status = mc_spmm_run(device, kernel, ptx, &spmm, NULL, &c, diag);
    if (status == MC_OK) status = mc_result_compare(&c, &want, diag);
    mc_dense_free(&c);
    mc_result_free(&want);
    return status;
}

static void shapes(const problem_case *spec, const problem_kind *kind, int values[PROBLEM_SHAPES]) {
    values[0] = spec->row_blocks * kind->vec;
    values[1] = spec->n;
    values[2] = spec->k;
    values[3] = problem_ldb(spec, kind);
    values[4] = problem_ldc(spec, kind);
}

const problem_ops problem_spmm = {make, run, shapes, {"m", "n", "k", "ldb", "ldc"}};
